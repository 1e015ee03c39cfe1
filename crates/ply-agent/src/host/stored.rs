//! Sessions that are not open: what is known of them, and what is changed in their journal without opening them.

use ply_journal::{Description, Durability, Error, Journal, Log};

/// Changes a session that is not open; returns whether there is one.
pub(crate) async fn change(
    journal: &dyn Journal,
    id: &str,
    records: Vec<Vec<u8>>,
    description: Description,
) -> Result<bool, Error> {
    let Some(opened) = super::open_stored(journal, id).await? else {
        return Ok(false);
    };
    write(opened.log, records, description).await?;
    Ok(true)
}

/// Writes the last of a session and gives it back.
async fn write(
    log: Box<dyn Log>,
    records: Vec<Vec<u8>>,
    description: Description,
) -> Result<(), Error> {
    let written = log.append(records, Durability::Durable, Some(description));
    let written = written.await;
    let closed = log.close().await;
    written?;
    closed
}

#[cfg(feature = "unstable_session_status")]
mod status {
    use ply_rpc::{Responder, RpcError};
    use ply_wire::negotiate::Version;
    use ply_wire::{convert, v2};

    use std::sync::Arc;

    use crate::error::no_such_session;
    use crate::host::{Host, is_partial};
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
                    Ok(Some((head, _))) if is_partial(&head) => Err(no_such_session(&id)),
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
    use std::sync::Arc;

    use ply_journal::{Description, Error, Journal};
    use ply_rpc::{Responder, RpcError};
    use ply_session::{Input, RequestId, Title, title_record};
    use ply_wire::v2;

    use crate::client::Client;
    use crate::host::{Host, Place, open_stored, told_of};
    use crate::session::control::{Control, Waiter};

    impl Host {
        /// Names a session, also one that is not open.
        pub(crate) fn set_title(
            self: &Arc<Self>,
            id: &v2::SessionId,
            title: String,
            client: &Arc<Client>,
            responder: Responder,
        ) {
            let request = self.next_request();
            let (host, client, of) = (Arc::clone(self), Arc::clone(client), id.clone());
            responder.on_cancel(move || {
                if let Some(session) = host.open_session(&of) {
                    // Nothing is left to take back once the session is over.
                    drop(session.control(Control::Withdraw(request, client)));
                }
            });
            self.pass_title_on(id, request, title, responder);
        }

        /// Names a session for a request that was taken before.
        pub(in crate::host) fn pass_title_on(
            &self,
            id: &v2::SessionId,
            request: RequestId,
            title: String,
            responder: Responder,
        ) {
            let set = Input::SetTitle {
                request,
                title: title.clone(),
            };
            let control = Control::Request(Box::new(set), Waiter::Client(responder));
            let Some((Control::Request(_, Waiter::Client(responder)), place)) =
                self.pass_on(id, control)
            else {
                return;
            };
            let (journal, id) = (self.journal(), id.clone());
            tokio::spawn(async move {
                let named = name(journal, &id, title.clone(), place, &responder).await;
                responder.respond(named.map(|()| Title { title }));
            });
        }
    }

    /// Names a session that is not open. It can be taken back until it is with the journal; from then on only nobody waits.
    async fn name(
        journal: Arc<dyn Journal>,
        id: &v2::SessionId,
        title: String,
        place: Place,
        responder: &Responder,
    ) -> Result<(), RpcError> {
        let opened = async {
            place.comes().await;
            open_stored(&*journal, &id.0).await
        };
        let opened = tokio::select! {
            biased;
            opened = opened => opened,
            () = responder.cancelled() => return Err(RpcError::cancelled()),
        };
        let log = match opened {
            Ok(Some(opened)) => opened.log,
            Ok(None) => return told_of(id, Ok(false)),
            Err(error) => return told_of(id, Err(error)),
        };
        let writing = tokio::spawn(async move {
            let records = vec![title_record(&title)];
            let description = Description::default().title(Some(title));
            let written = super::write(log, records, description).await;
            drop(place);
            written
        });
        tokio::select! {
            biased;
            written = writing => {
                let written = written.unwrap_or_else(|broken| Err(Error::Io(broken.into())));
                told_of(id, written.map(|()| true))
            }
            () = responder.cancelled() => Err(RpcError::cancelled()),
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
