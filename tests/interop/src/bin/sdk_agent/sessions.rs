//! The agent's sessions in memory: history, mode, and one turn at a time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use agent_client_protocol::RequestCancellation;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{Mutex as TurnLock, OwnedMutexGuard, watch};

/// The values of the config option `mode`, the first one at the start.
pub(crate) const MODES: [(&str, &str); 2] = [("ask", "Ask first"), ("code", "Write code")];

const UNPOISONED: &str = "nothing panics while it holds the lock";

/// Every session of this process; `U` is an update of the spoken version.
pub(crate) struct Sessions<U> {
    all: Mutex<BTreeMap<String, Arc<Session<U>>>>,
}

impl<U> Sessions<U> {
    pub(crate) fn new() -> Self {
        Self {
            all: Mutex::new(BTreeMap::new()),
        }
    }

    pub(crate) fn create(&self, cwd: PathBuf) -> Arc<Session<U>> {
        let mut all = self.all.lock().expect(UNPOISONED);
        let id = format!("sdk-session-{}-{}", std::process::id(), all.len() + 1);
        let session = Arc::new(Session {
            id: id.clone(),
            cwd,
            turn: Arc::new(TurnLock::new(())),
            cancels: watch::Sender::new(()),
            state: Mutex::new(State {
                history: Vec::new(),
                mode: MODES[0].0.to_owned(),
                open: true,
                turns: 0,
                title: None,
            }),
        });
        all.insert(id, Arc::clone(&session));
        session
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session<U>>> {
        self.all.lock().expect(UNPOISONED).get(id).cloned()
    }

    /// Returns the session if it is open for prompts.
    pub(crate) fn open(&self, id: &str) -> Option<Arc<Session<U>>> {
        self.get(id).filter(|session| session.state().open)
    }

    /// Returns all sessions, or those of a directory.
    pub(crate) fn list(&self, cwd: Option<&Path>) -> Vec<Arc<Session<U>>> {
        let all = self.all.lock().expect(UNPOISONED);
        let is_wanted = |session: &&Arc<Session<U>>| cwd.is_none_or(|cwd| session.cwd == cwd);
        all.values().filter(is_wanted).cloned().collect()
    }
}

pub(crate) struct Session<U> {
    pub(crate) id: String,
    pub(crate) cwd: PathBuf,
    /// Held by the running turn. The lock is fair, so waiting for it is the queue of held prompts.
    turn: Arc<TurnLock<()>>,
    cancels: watch::Sender<()>,
    state: Mutex<State<U>>,
}

pub(crate) struct State<U> {
    pub(crate) history: Vec<U>,
    pub(crate) mode: String,
    pub(crate) open: bool,
    pub(crate) turns: u32,
    pub(crate) title: Option<String>,
}

impl<U> Session<U> {
    pub(crate) fn state(&self) -> MutexGuard<'_, State<U>> {
        self.state.lock().expect(UNPOISONED)
    }

    /// Takes the prompt's place in the queue, in the order of the calls.
    pub(crate) fn queue(&self) -> Ticket {
        let mut waiting = Arc::clone(&self.turn).lock_owned().boxed();
        // Polled once here: a place in the queue is taken by the first poll, and spawned tasks may start in any order.
        let entry = match (&mut waiting).now_or_never() {
            Some(turn) => futures::future::ready(turn).boxed(),
            None => waiting,
        };
        Ticket {
            entry,
            cancelled: self.cancels.subscribe(),
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.turn.try_lock().is_err()
    }

    /// Cancels the running turn and the prompts held behind it.
    pub(crate) fn cancel(&self) {
        self.cancels.send_replace(());
    }

    /// Cancels the work, waits for its end and closes the session.
    pub(crate) async fn close(&self) {
        self.state().open = false;
        self.cancel();
        drop(self.turn.lock().await);
    }
}

/// A prompt's place in the queue.
pub(crate) struct Ticket {
    entry: BoxFuture<'static, OwnedMutexGuard<()>>,
    cancelled: watch::Receiver<()>,
}

impl Ticket {
    /// Waits for the prompt's turn; `None` when it was cancelled or withdrawn before.
    pub(crate) async fn insert(
        mut self,
        withdrawn: RequestCancellation,
    ) -> Option<(OwnedMutexGuard<()>, watch::Receiver<()>)> {
        tokio::select! {
            biased;
            _ = self.cancelled.changed() => None,
            () = withdrawn.cancelled() => None,
            turn = self.entry => Some((turn, self.cancelled)),
        }
    }
}
