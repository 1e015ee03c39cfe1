//! The end of a session that the agent was asked for.

use std::sync::{Arc, Weak};

use ply_rpc::{CallError, RawAnswer};
use ply_wire::method::Request;
use ply_wire::{v1, v2};
use tokio::task::JoinHandle;

use super::{Connection, Failure};
use crate::Error;
use crate::error::NOT_FOUND;
use crate::routes::{Route, Routes};
use crate::session::cell::SessionCell;

/// A session whose end was asked for. It ends here where the agent says so, on the link's task: whoever asked may have lost
/// patience, and the session is over all the same.
pub(crate) struct Ending {
    id: v2::SessionId,
    /// The one that was open when its end was asked for. Whoever opens it anew does so after that.
    session: Weak<SessionCell>,
    routes: Arc<Routes>,
}

impl Ending {
    pub(crate) fn new(connection: &Connection, id: &v2::SessionId) -> Self {
        let routes = Arc::clone(&connection.parts.routes);
        let session = match routes.find(&id.0) {
            Route::Session(session) => Arc::downgrade(&session),
            Route::Nobody | Route::Unknown => Weak::new(),
        };
        Self {
            id: id.clone(),
            session,
            routes,
        }
    }

    /// Takes the agent's answer; what should be gone and is gone already is as wished.
    fn answered(self, answer: RawAnswer) -> Result<LastCommands, Failure> {
        match answer {
            Ok(_) => Ok(self.ended()),
            Err(CallError::Peer(error)) if error.code == NOT_FOUND => Ok(self.ended()),
            Err(error) => Err(Failure::Call(error)),
        }
    }

    /// Ends the session, on a task.
    pub(crate) fn ended(self) -> LastCommands {
        if let Some(session) = self.session.upgrade() {
            session.close();
        }
        self.routes.forget(&self.id);
        let terminals = self.routes.terminals.clone();
        LastCommands(terminals.map(|terminals| {
            let id = v1::SessionId::new(Arc::clone(&self.id.0));
            tokio::spawn(terminals.end_session(id))
        }))
    }
}

/// The commands that still run in the terminals of a session that has ended. They are being ended, whoever waits.
#[must_use]
pub(crate) struct LastCommands(Option<JoinHandle<()>>);

impl LastCommands {
    pub(crate) async fn ended(self) {
        if let Some(commands) = self.0
            && let Err(error) = commands.await
        {
            tracing::error!(%error, "the commands of a session that was closed cannot be ended");
        }
    }
}

impl Connection {
    /// Asks for the end of a session and waits for it. Like all such requests it is not taken back.
    pub(crate) async fn ask_to_end_session<Q: Request>(
        &self,
        params: &Q,
        id: &v2::SessionId,
    ) -> Result<(), Error> {
        let ending = Ending::new(self, id);
        let then = |answer| ending.answered(answer);
        self.ask_to_end(params, then).await?.ended().await;
        Ok(())
    }
}
