//! Where the task of a session comes from: a new session, or one that is in the journal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ply_journal::{Error, Head, Journal};
use ply_session::{Close, Core, Input, Keep, Opening, Setup, no_such_session};
use ply_wire::link::rpc_error_v2;
use ply_wire::v2;
use tokio::task::JoinHandle;

use super::early::Early;
use super::{Origin, Task};
use crate::host::{Host, Place};
use crate::session::Session;
use crate::session::control::{Control, Waiter};
use crate::session::run::guarded;
use crate::session::store::{Store, told};
use crate::{SessionSetup, clock};

/// Why a session is not opened.
enum Unopened {
    /// There is no such session.
    Missing,
    Refused(v2::Error),
    /// The journal was given up, since a client does not wait for it any longer.
    GivenUp(v2::Error),
    /// Whoever wants it gives another working directory than this, which is its own.
    Elsewhere(PathBuf),
}

/// What came of opening a session.
type Read = Result<(Store, Core, SessionSetup), Unopened>;

impl Task {
    /// Starts the task of a new session.
    pub(crate) fn start(session: Session, host: Arc<Host>, setup: SessionSetup) {
        tokio::spawn(async move { Self::create(session, host, setup).run().await });
    }

    /// Starts the task of a session that is in the journal, when its `place` there comes.
    pub(crate) fn start_again(
        session: Session,
        host: Arc<Host>,
        setup: SessionSetup,
        origin: Origin,
        place: Place,
    ) {
        tokio::spawn(Self::reopen(session, host, setup, origin, place));
    }

    fn create(session: Session, host: Arc<Host>, setup: SessionSetup) -> Box<Self> {
        let id = session.id().clone();
        let mut head = Head::new(&*id.0, setup.cwd.clone(), clock::now_ms());
        head.host = setup.caller.host.as_deref().map(str::to_owned);
        let settings = host.settings(&setup.caller);
        let mut core = Core::new(id, settings, core_setup(&setup));
        match host.place_in_memory() {
            Some(place) => session.set_unlisted(head.clone(), place),
            None => core.keep(),
        }
        let store = Store::new(host.journal(), head);
        Self::prepared(session, host, (store, core), setup)
    }

    /// Returns the task of a session that the agent prepares. It is in a box, since futures are moved about and may hold things
    /// more than once.
    fn prepared(
        session: Session,
        host: Arc<Host>,
        (store, core): (Store, Core),
        mut setup: SessionSetup,
    ) -> Box<Self> {
        setup.host.clone_from(&store.head().host);
        let mut task = Box::new(Self::new(session, host, core, store));
        task.prepare(setup);
        task
    }

    async fn reopen(
        session: Session,
        host: Arc<Host>,
        setup: SessionSetup,
        origin: Origin,
        place: Place,
    ) {
        let mut early = Early::default();
        match open(&session, &host, &setup, &mut early, place).await {
            Ok((store, mut core, setup)) => {
                if !matches!(origin, Origin::Journal | Origin::Keyed) {
                    core.set_unknown();
                }
                let task = Self::prepared(session, host, (store, core), setup);
                task.run_with(early).await;
            }
            Err(Unopened::Missing) if origin == Origin::Keyed => {
                let mut setup = setup;
                setup.reopened = false;
                Self::create(session, host, setup).run_with(early).await;
            }
            Err(Unopened::Missing) => {
                let error = no_such_session(session.id());
                fail(&session, &host, early, &error);
            }
            Err(Unopened::Refused(error)) => fail(&session, &host, early, &error),
            Err(Unopened::GivenUp(error)) => {
                for control in give_up(&session, &host, early) {
                    refuse(control, &error);
                }
            }
            Err(Unopened::Elsewhere(cwd)) => fail_elsewhere(&session, &host, early, &cwd),
        }
    }
}

impl Task {
    async fn run_with(mut self: Box<Self>, early: Early) {
        for control in early.0 {
            self.control(control);
        }
        self.run().await;
    }
}

/// Opens a session from the journal, and takes what comes for it meanwhile.
async fn open(
    session: &Session,
    host: &Arc<Host>,
    setup: &SessionSetup,
    early: &mut Early,
    place: Place,
) -> Read {
    let id = session.id();
    // On its own, since a journal that is given up may still open the session, which then has to be given back.
    let reading = read(Arc::clone(host), id.clone(), setup.clone(), place);
    let mut reading = tokio::spawn(reading);
    match early.come_until(session, &mut reading).await {
        Some(Ok((opened, _place))) => opened,
        Some(Err(broken)) => Err(Unopened::Refused(told(&Error::Io(broken.into())))),
        None => {
            tokio::spawn(give_back(
                reading,
                host.journal(),
                id.clone(),
                early.deletes(),
            ));
            let error = Error::Io(std::io::Error::other("it does not answer"));
            Err(Unopened::GivenUp(told(&error)))
        }
    }
}

/// Gives back a session that nobody waits for any more, and deletes it if that was wanted: it must not come back.
async fn give_back(
    reading: JoinHandle<(Read, Place)>,
    journal: Arc<dyn Journal>,
    id: v2::SessionId,
    delete: bool,
) {
    // Whoever is next at the journal waits for that.
    let mut kept = None;
    if let Ok((read, place)) = reading.await {
        kept = Some(place);
        if let Ok((store, ..)) = read
            && let Err(error) = store.give_back().await
        {
            tracing::error!(session = %id.0, %error, "a session that was opened late is not given back");
        }
    }
    if delete && let Err(error) = journal.delete(&id.0).await {
        tracing::error!(session = %id.0, %error, "a session is not deleted");
    }
    drop(kept);
}

/// Reads a session when its place at the journal comes, which is kept until whoever reads it has it.
async fn read(
    host: Arc<Host>,
    id: v2::SessionId,
    setup: SessionSetup,
    place: Place,
) -> (Read, Place) {
    place.comes().await;
    (read_now(&host, id, setup).await, place)
}

async fn read_now(host: &Host, id: v2::SessionId, mut setup: SessionSetup) -> Read {
    let opened = Store::open(host.journal(), &id.0).await;
    let opened = opened.map_err(|error| Unopened::Refused(told(&error)))?;
    let Some((store, mut opening, opened)) = opened else {
        return Err(Unopened::Missing);
    };
    if store.head().cwd != setup.cwd {
        return Err(Unopened::Elsewhere(store.head().cwd.clone()));
    }
    let damaged = Opening::damaged(&opening);
    if damaged > 0 {
        tracing::warn!(session = %id.0, damaged, "records of a session cannot be read");
    }
    setup.host.clone_from(&store.head().host);
    let handover = opening.take_handover();
    setup.adopted = handover.is_held().then(|| Arc::new(handover));
    match adopts(host, &id, &setup).await {
        Ok(true) => {}
        Ok(false) => setup.adopted = None,
        Err(error) => {
            if let Err(error) = store.give_back().await {
                tracing::error!(session = %id.0, %error, "a session that was not opened is not given back");
            }
            return Err(Unopened::Refused(error));
        }
    }
    let open = match setup.adopted {
        Some(_) => Core::adopt,
        None => Core::open,
    };
    let settings = host.settings(&setup.caller);
    let core = open(id, settings, core_setup(&setup), opening, &opened);
    Ok((store, core, setup))
}

/// Returns whether what ran the turns of the session is still there.
async fn adopts(host: &Host, id: &v2::SessionId, setup: &SessionSetup) -> Result<bool, v2::Error> {
    if setup.adopted.is_none() {
        return Ok(false);
    }
    let adopts = host.agent().adopts(id.clone(), setup.clone());
    guarded(adopts).await.map_err(|error| error.to_v2())
}

/// Refuses the clients for which a session could not be opened. What else came for it is served or refused on its own.
fn fail(session: &Session, host: &Arc<Host>, early: Early, error: &v2::Error) {
    let unopened = no_such_session(session.id());
    for control in give_up(session, host, early) {
        match control {
            Control::Attach(_) => refuse(control, error),
            control => host.refuse_late(session.id(), control, &unopened),
        }
    }
}

/// Refuses the clients that are wrong about the directory of a session. The one for which it was to be opened is among them,
/// but need not be the first to come.
fn fail_elsewhere(session: &Session, host: &Arc<Host>, early: Early, cwd: &Path) {
    let left = give_up(session, host, early);
    let (wrong, right) = left.into_iter().partition(|control| {
        matches!(control, Control::Attach(attaching) if attaching.attach.setup.cwd != cwd)
    });
    let wrong: Vec<Control> = wrong;
    for control in wrong {
        refuse(control, &ply_session::wrong_directory());
    }
    host.come_late(session, right);
}

fn give_up(session: &Session, host: &Host, early: Early) -> Vec<Control> {
    session.0.inbox.close_ops();
    let mut left = early.0;
    left.extend(session.0.inbox.close());
    host.forget(session);
    left
}

/// Answers what a session that is over cannot serve.
pub(crate) fn refuse(control: Control, error: &v2::Error) {
    let (waiter, is_close) = match control {
        Control::Attach(attaching) => (attaching.waiter, false),
        Control::Request(input, waiter) => {
            let is_close = matches!(
                *input,
                Input::Close(Close {
                    journal: Keep::All | Keep::IfUsed,
                    ..
                })
            );
            (waiter, is_close)
        }
        #[cfg(feature = "unstable_session_status")]
        Control::Status(asked) => return asked.respond(Err(rpc_error_v2(error))),
        #[cfg(feature = "unstable_session_archive")]
        Control::Unarchive(responder) => (Waiter::Client(responder), false),
        Control::Withdraw(..) | Control::Look(_) | Control::Input(_) => return,
    };
    match waiter {
        Waiter::Leaver(responder, leaving) => {
            leaving.closed();
            responder.respond(Ok(serde_json::Map::new()));
        }
        Waiter::Client(responder) if is_close => responder.respond(Ok(serde_json::Map::new())),
        Waiter::Client(responder) | Waiter::Prompter(responder, _) => {
            responder.respond::<()>(Err(rpc_error_v2(error)));
        }
        // Whoever waited may have gone away.
        Waiter::Host(tell) => drop(tell.send(())),
        Waiter::Told(tell) => drop(tell.send(Err(error.clone()))),
        Waiter::Steering(tell) => drop(tell.send(Err(error.clone()))),
        // It looks for the session anew.
        #[cfg(feature = "unstable_session_fork")]
        Waiter::Fork(tell) => drop(tell),
    }
}

/// Returns the part of a setup that clients may agree about or not.
pub(crate) fn core_setup(setup: &SessionSetup) -> Arc<Setup> {
    let mut own = Setup::new(setup.cwd.clone());
    own.additional_directories
        .clone_from(&setup.additional_directories);
    own.mcp_servers.clone_from(&setup.mcp_servers);
    Arc::new(own)
}

#[cfg(test)]
mod tests {
    use ply_rpc::{Handler, Notification, Options, Peer, Request, Responder};
    use ply_session::{Attach, How, Settings};
    use tokio::sync::oneshot;

    use super::*;
    use crate::client::Client;
    use crate::connection::Views;
    use crate::host::Erased;
    use crate::session::control::Attaching;
    use crate::{Agent, Stop, Turn};

    struct Silent;

    impl Agent for Silent {
        async fn prompt(&self, _: &mut Turn) -> crate::Result<Stop> {
            Ok(Stop::EndTurn)
        }
    }

    impl Handler for Silent {
        fn request(&mut self, _: &Peer, _: Request<'_>, _: Responder) {}
        fn notification(&mut self, _: &Peer, _: Notification<'_>) {}
    }

    fn attach(host: &Host, cwd: &str) -> (Control, oneshot::Receiver<()>) {
        let (tell, told) = oneshot::channel();
        let (peer, _) = ply_rpc::connect(
            tokio::io::empty(),
            tokio::io::sink(),
            Silent,
            Options::agent(),
        );
        let info = v2::Implementation::new("test", "1");
        let hello = v2::InitializeRequest::new(ply_wire::negotiate::Version::V2.wire(), info);
        let hello = ply_wire::negotiate::InitializeParams::V2(hello);
        let client = Arc::new(Client::new(peer, hello, Arc::default()));
        let attach = Attach {
            request: host.next_request(),
            view: host.next_view(),
            viewer: client.viewer(),
            how: How::Resume,
            setup: Arc::new(Setup::new(cwd)),
            after: None,
        };
        let attaching = Attaching {
            attach,
            client,
            waiter: Waiter::Host(tell),
            views: Views::default(),
        };
        (Control::Attach(Box::new(attaching)), told)
    }

    #[tokio::test]
    async fn a_client_that_is_right_about_the_directory_is_not_refused_for_one_that_is_wrong() {
        let journal = Arc::new(ply_journal::Memory::new());
        let host = Host::new(Arc::new(Erased(Silent)), journal, Settings::default());
        let session = Session::new(v2::SessionId::new("s"), "/wrong".into(), Vec::new());
        // The first to come is not the one for which the session was opened.
        let (right, mut is_right_told) = attach(&host, "/right");
        let (wrong, mut is_wrong_told) = attach(&host, "/wrong");
        let early = Early(vec![right, wrong]);
        fail_elsewhere(&session, &host, early, Path::new("/right"));
        assert_eq!(is_wrong_told.try_recv(), Ok(()));
        assert!(is_right_told.try_recv().is_err(), "it waits to be served");
    }
}
