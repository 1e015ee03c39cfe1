//! Looks whether the agent's code blocks the thread of its session.
//!
//! That takes a thread of its own. What a worker of the runtime woke last waits for that worker, and while no other worker has anything
//! to do, none of them may be looking at timers and streams. A task that comes from elsewhere makes one of them look again.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};

use super::drive::Driver;
use crate::session::Session;
use crate::session::inbox::Look;

/// How long the code may be at work, without waiting for anything, before somebody else does what its session has to do. It may take
/// twice as long to notice.
const BLOCKED_AFTER: Duration = Duration::from_millis(10);
/// How long the thread stays when there is nothing to look at.
const IDLE_FOR: Duration = Duration::from_secs(5);

/// Somebody who looks at the code of a session, on its runtime.
#[derive(Debug)]
pub(super) struct Watch(Handle);

impl Watch {
    /// Returns the watch of a session that runs here. A runtime with one thread has no other that could take over.
    pub(super) fn new() -> Option<Self> {
        let runtime = Handle::current();
        let has_others = runtime.runtime_flavor() != RuntimeFlavor::CurrentThread;
        has_others.then_some(Self(runtime))
    }

    /// Has the code, which was polled so many times, looked at until it waits.
    pub(super) fn look_at(&self, session: &Session, polls: u64) {
        static WATCHMAN: OnceLock<Watchman> = OnceLock::new();
        let looked_at = LookedAt {
            session: session.clone(),
            runtime: self.0.clone(),
            polls,
        };
        WATCHMAN.get_or_init(Watchman::default).look_at(looked_at);
    }
}

struct LookedAt {
    session: Session,
    runtime: Handle,
    polls: u64,
}

impl LookedAt {
    /// Looks. Returns whether that is to be done again.
    fn look(&mut self) -> bool {
        match self.session.0.inbox.look_at_code(self.polls) {
            Look::Goes(polls) => self.polls = polls,
            Look::Waits => return false,
            Look::Blocks { driver } => {
                tracing::debug!("the agent's code does not let its thread go");
                let driver = Driver::numbered(self.session.clone(), driver);
                self.runtime.spawn(driver.run());
                return false;
            }
        }
        true
    }
}

/// The thread that looks, and what it looks at.
#[derive(Default)]
struct Watchman {
    state: Mutex<Watched>,
    came: Condvar,
}

#[derive(Default)]
struct Watched {
    all: Vec<LookedAt>,
    is_there: bool,
    is_asleep: bool,
}

impl Watchman {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_at(&'static self, looked_at: LookedAt) {
        let mut state = self.lock();
        state.all.push(looked_at);
        if state.is_asleep {
            state.is_asleep = false;
            self.came.notify_one();
        }
        if !std::mem::replace(&mut state.is_there, true) {
            drop(state);
            let thread = std::thread::Builder::new().name("ply-watch".to_owned());
            if let Err(error) = thread.spawn(|| self.keep_watch()) {
                // Code that blocks then holds up its session.
                tracing::warn!(%error, "there is no thread that looks for code that blocks");
                let mut state = self.lock();
                state.is_there = false;
                state.all.clear();
            }
        }
    }

    fn keep_watch(&self) {
        let mut state = self.lock();
        loop {
            if state.all.is_empty() {
                state.is_asleep = true;
                let waited = self.came.wait_timeout(state, IDLE_FOR);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                if state.all.is_empty() {
                    state.is_asleep = false;
                    state.is_there = false;
                    return;
                }
            }
            let mut all = std::mem::take(&mut state.all);
            drop(state);
            std::thread::park_timeout(BLOCKED_AFTER);
            all.retain_mut(LookedAt::look);
            state = self.lock();
            state.all.append(&mut all);
        }
    }
}
