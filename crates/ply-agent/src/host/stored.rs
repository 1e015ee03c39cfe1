//! Sessions that are not open: what is known of them, and what is changed in their journal without opening them.

use ply_journal::{Description, Durability, Error, Journal};

/// Changes a session that is not open; returns whether there is one.
pub(crate) async fn change(
    journal: &dyn Journal,
    id: &str,
    records: Vec<Vec<u8>>,
    description: Description,
) -> Result<bool, Error> {
    let Some(opened) = journal.open(id).await? else {
        return Ok(false);
    };
    let changed = opened
        .log
        .append(records, Durability::Durable, Some(description));
    let changed = changed.await;
    let closed = opened.log.close().await;
    changed?;
    closed?;
    Ok(true)
}

#[cfg(feature = "unstable_session_status")]
mod status {
    use ply_rpc::{Responder, RpcError};
    use ply_wire::negotiate::Version;
    use ply_wire::{convert, v2};

    use std::sync::Arc;

    use crate::error::no_such_session;
    use crate::host::Host;
    use crate::session::control::Control;

    /// A client that wants to know the status of a session.
    #[derive(Debug)]
    pub(crate) struct StatusAsked {
        pub(crate) version: Version,
        pub(crate) responder: Responder,
    }

    impl StatusAsked {
        /// Answers for a session that is open.
        pub(crate) fn open(self, state: v2::StateUpdate) {
            let open = v2::SessionStatusResponse::new(v2::SessionStatus::Open);
            self.respond(Ok(open.state(state)));
        }

        pub(crate) fn respond(self, answer: Result<v2::SessionStatusResponse, RpcError>) {
            match self.version {
                Version::V2 => self.responder.respond(answer),
                Version::V1 => {
                    let down = |answer| convert::unstable::status_response_down(&answer);
                    self.responder.respond(answer.map(down));
                }
            }
        }
    }

    impl Host {
        /// Tells the status of a session. It is neither opened nor changed by that.
        pub(crate) fn status(&self, id: &v2::SessionId, asked: StatusAsked) {
            let mut asked = asked;
            if let Some(session) = self.open_session(id) {
                match session.control(Control::Status(asked)) {
                    Err(Control::Status(given_back)) => asked = given_back,
                    _ => return,
                }
            }
            let (journal, id) = (Arc::clone(&self.journal), id.clone());
            tokio::spawn(async move {
                let found = journal.look(&id.0).await;
                asked.respond(match found {
                    Ok(Some(_)) => Ok(v2::SessionStatusResponse::new(v2::SessionStatus::Saved)),
                    Ok(None) => Err(no_such_session(&id)),
                    Err(error) => Err(crate::Error::from(error).to_rpc()),
                });
            });
        }
    }
}

#[cfg(feature = "unstable_session_status")]
pub(crate) use status::StatusAsked;

#[cfg(feature = "unstable_session_set_title")]
mod title {
    use ply_journal::Description;
    use ply_rpc::Responder;
    use ply_session::{Input, Title, title_record};
    use ply_wire::v2;

    use crate::host::{Host, told_of};
    use crate::session::control::{Control, Waiter};

    impl Host {
        /// Names a session, also one that is not open.
        pub(crate) fn set_title(&self, id: &v2::SessionId, title: String, responder: Responder) {
            let (request, named) = (self.next_request(), title.clone());
            let title = Box::new(Input::SetTitle { request, title });
            let control = Control::Request(title, Waiter::Client(responder));
            let Some((Control::Request(_, Waiter::Client(responder)), place)) =
                self.pass_on(id, control)
            else {
                return;
            };
            let (journal, id, title) = (self.journal(), id.clone(), named);
            tokio::spawn(async move {
                place.comes().await;
                let records = vec![title_record(&title)];
                let description = Description::default().title(Some(title.clone()));
                let changed = super::change(&*journal, &id.0, records, description).await;
                responder.respond(told_of(&id, changed).map(|()| Title { title }));
            });
        }
    }
}

#[cfg(feature = "unstable_session_archive")]
mod archive {
    use ply_journal::Description;
    use ply_rpc::Responder;
    use ply_session::Keep;
    use ply_wire::v2;

    use crate::host::{Host, Place, told_of};
    use crate::session::close_by_host;
    use crate::session::control::{Control, Waiter};

    impl Host {
        /// Archives a session; one that is open is closed first.
        pub(crate) fn archive(&self, id: &v2::SessionId, responder: Responder) {
            let close = close_by_host(self.next_request(), Keep::Archived);
            let control = Control::Request(close, Waiter::Client(responder));
            if let Some((Control::Request(_, Waiter::Client(responder)), place)) =
                self.pass_on(id, control)
            {
                self.set_archived(id, true, responder, place);
            }
        }

        /// Takes a session out of the archive. One that is open stays open.
        pub(crate) fn unarchive(&self, id: &v2::SessionId, responder: Responder) {
            let control = Control::Unarchive(responder);
            if let Some((Control::Unarchive(responder), place)) = self.pass_on(id, control) {
                self.set_archived(id, false, responder, place);
            }
        }

        fn set_archived(
            &self,
            id: &v2::SessionId,
            archived: bool,
            responder: Responder,
            place: Place,
        ) {
            let (journal, id) = (self.journal(), id.clone());
            tokio::spawn(async move {
                place.comes().await;
                let description = Description::default().archived(archived);
                let changed = super::change(&*journal, &id.0, Vec::new(), description).await;
                responder.respond(told_of(&id, changed).map(|()| serde_json::Map::new()));
            });
        }
    }
}
