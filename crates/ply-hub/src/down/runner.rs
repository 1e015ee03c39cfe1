//! What runs one session: its process, started again when that is gone.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex as SyncMutex, MutexGuard, PoisonError};
use std::time::Duration;

use ply_agent::event::Runner as Record;
use ply_agent::{Error, Result, Session};
use ply_wire::v2;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::Caller;
use super::agent::Shared;
use super::link::Wish;
use super::options::{self, Setting};
use super::process::{Process, Trouble};
use super::reopen::{self, Setup};
use super::reporting::{Live, between_turns};
use super::serve::Hands;

/// How often an agent is started again within [`RESTARTS_WITHIN`].
const RESTARTS_MAX: usize = 3;
/// See [`RESTARTS_MAX`].
const RESTARTS_WITHIN: Duration = Duration::from_secs(5 * 60);
/// How long closing waits for the agent's answer.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(1);

/// What runs one session.
#[derive(Debug)]
pub(super) struct Runner {
    shared: Arc<Shared>,
    caller: Caller,
    setup: Setup,
    /// The process; one at a time is started.
    live: Mutex<Option<Arc<Live>>>,
    state: SyncMutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The agent's own id for the session.
    id: Option<v2::SessionId>,
    /// What the journal says of who runs the session.
    recorded: Option<Record>,
    /// When the process was started again.
    restarts: VecDeque<Instant>,
    /// What options are to be set back to.
    wanted: Vec<Setting>,
    /// How the last process ended.
    last: Option<String>,
    telling: Option<AbortHandle>,
}

impl Runner {
    pub(super) fn new(shared: Arc<Shared>, caller: Caller, setup: Setup) -> Self {
        Self {
            shared,
            caller,
            setup,
            live: Mutex::default(),
            state: SyncMutex::default(),
        }
    }

    /// Opens a session that nothing was said in.
    pub(super) async fn open_new(&self, session: &Session) -> Result<()> {
        let mut live = self.live.lock().await;
        let process = self.shared.process(&self.caller).await;
        let process = process.map_err(Trouble::error)?;
        let fresh = self.meet(session, &process);
        match self.setup.make(&process, &prefix()).await {
            Ok(id) => {
                self.lock().id = Some(id);
                self.settle(&process).await;
                *live = Some(fresh);
                Ok(())
            }
            Err(trouble) => {
                self.part(&trouble, process);
                Err(trouble.error())
            }
        }
    }

    /// Opens a session again. That the agent cannot is told, but the history can be read.
    pub(super) async fn open_again(&self, session: &Session) -> Result<()> {
        let history = session.history().await?;
        let recorded = history.runner().cloned();
        let is_empty = history.transcript().entries().next().is_none();
        let id = recorded.as_ref().and_then(|runner| runner.session.clone());
        {
            let mut state = self.lock();
            state.id = id.clone().map(v2::SessionId::new);
            state.recorded = recorded;
            state.wanted = options::values(history.transcript().config_options());
        }
        if id.is_none() && is_empty {
            return self.open_new(session).await;
        }
        let mut live = self.live.lock().await;
        match self.attach(session).await {
            Ok(open) => {
                self.settle(&open.process).await;
                *live = Some(open);
                Ok(())
            }
            Err(Unattached::Login(error)) => Err(error),
            Err(Unattached::Told(words)) => {
                session.notice(v2::NoticeSeverity::Warning, words).await
            }
        }
    }

    /// Returns the process, started again if it is gone.
    pub(super) async fn ready(&self, session: &Session) -> Result<Arc<Live>> {
        let mut live = self.live.lock().await;
        if let Some(open) = live.as_ref().filter(|open| !open.process.is_gone()) {
            let wanted = self.lock().wanted.clone();
            self.restore(&open.process, &wanted)
                .await
                .map_err(Error::msg)?;
            return Ok(Arc::clone(open));
        }
        if let Some(gone) = live.take() {
            self.lock().last = Some(gone.process.gone().to_string());
        }
        self.may_start()?;
        let opened = self.attach(session).await.map_err(|error| match error {
            Unattached::Login(error) => error,
            Unattached::Told(words) => Error::msg(words),
        })?;
        *live = Some(Arc::clone(&opened));
        let wanted = self.lock().wanted.clone();
        self.restore(&opened.process, &wanted)
            .await
            .map_err(Error::msg)?;
        Ok(opened)
    }

    /// Returns the process for a change of an option, which need not be as it was.
    pub(super) async fn set_option(
        &self,
        session: &Session,
        option: v2::SessionConfigId,
        value: v2::SessionConfigOptionValue,
    ) -> Result<()> {
        self.lock().wanted.retain(|(wanted, _)| *wanted != option);
        let live = self.ready(session).await?;
        let set = options::set(&live.process, option, value).await;
        set.map_err(Trouble::error)?;
        live.process.reported().await;
        Ok(())
    }

    /// Notes in the journal who runs the session, if that is not there.
    pub(super) async fn note(&self, session: &Session, live: &Live) -> Result<()> {
        let record = {
            let state = self.lock();
            let info = &live.process.hello.info;
            let mut record = Record::new(&*info.name).version(&*info.version);
            record.session = state.id.as_ref().map(|id| id.0.to_string());
            if state.recorded.as_ref() == Some(&record) {
                return Ok(());
            }
            record
        };
        session.set_runner(record.clone()).await?;
        self.lock().recorded = Some(record);
        Ok(())
    }

    /// Closes the session and ends its process.
    pub(super) async fn close(&self) {
        let Some(live) = self.live.lock().await.take() else {
            return;
        };
        if live.process.hello.can_close && !live.process.is_gone() {
            let closing = live.process.ask("session/close", Wish::Close);
            if let Ok(Err(trouble)) = tokio::time::timeout(CLOSE_TIME_MAX, closing).await {
                tracing::debug!(%trouble, "an agent did not close its session");
            }
        }
    }

    /// Goes on with the session on another process.
    async fn attach(&self, session: &Session) -> Result<Arc<Live>, Unattached> {
        let Some(id) = self.lock().id.clone() else {
            return Err(Unattached::Told(reopen::read_only(None)));
        };
        let told = |error: Error| Unattached::Told(error.to_string());
        let history = session.history().await.map_err(told)?;
        let wanted = options::values(history.transcript().config_options());
        let process = self.shared.process(&self.caller).await;
        let process = process.map_err(|trouble| Unattached::Told(self.unstarted(&trouble)))?;
        let live = self.meet(session, &process);
        match self.setup.go_on(&process, &id, &prefix()).await {
            Ok(replay) => {
                let differs =
                    replay.and_then(|replay| reopen::differs(&replay, history.transcript()));
                if let Some(words) = differs {
                    let told = session.notice(v2::NoticeSeverity::Warning, words).await;
                    told.map_err(|error| Unattached::Told(error.to_string()))?;
                }
                self.lock().wanted = wanted;
                Ok(live)
            }
            Err(trouble) => {
                self.part(&trouble, process);
                Err(match trouble {
                    trouble if trouble.wants_login() => Unattached::Login(trouble.error()),
                    trouble @ Trouble::Gone(_) => Unattached::Told(self.unstarted(&trouble)),
                    trouble => Unattached::Told(reopen::read_only(Some(&trouble))),
                })
            }
        }
    }

    /// Sets options back, and has the session know what the agent told, before any client does. An option that cannot be set
    /// back is told of when something is prompted.
    async fn settle(&self, process: &Process) {
        let wanted = self.lock().wanted.clone();
        if let Err(words) = self.restore(process, &wanted).await {
            tracing::warn!(words, "an option is not what it was");
        }
        process.reported().await;
    }

    async fn restore(&self, process: &Process, wanted: &[Setting]) -> Result<(), String> {
        if wanted.is_empty() {
            return Ok(());
        }
        options::restore(process, wanted).await?;
        self.lock().wanted.clear();
        Ok(())
    }

    /// Has what a process does reported to the session.
    fn meet(&self, session: &Session, process: &Arc<Process>) -> Arc<Live> {
        let hands = Hands::new(session, prefix(), Arc::clone(&process.screen));
        let live = Live::new(Arc::clone(process), hands);
        let queue = Arc::clone(&process.queue);
        let telling = between_turns(session.clone(), Arc::downgrade(&live), queue);
        let telling = tokio::spawn(telling).abort_handle();
        self.lock().telling = Some(telling);
        live
    }

    /// Lets go of a process that did not open the session. One that wants a login first may be logged in to.
    fn part(&self, trouble: &Trouble, process: Arc<Process>) {
        if let Some(telling) = self.lock().telling.take() {
            telling.abort();
        }
        if trouble.wants_login() {
            self.shared.keep(self.caller.clone(), process);
        }
    }

    /// Notes that the process is started again, unless that was too often.
    fn may_start(&self) -> Result<()> {
        let mut state = self.lock();
        let now = Instant::now();
        let is_old = |at: &Instant| now.duration_since(*at) > RESTARTS_WITHIN;
        while state.restarts.front().is_some_and(is_old) {
            state.restarts.pop_front();
        }
        if state.restarts.len() >= RESTARTS_MAX {
            let last = state.last.clone().unwrap_or_default();
            let minutes = RESTARTS_WITHIN.as_secs() / 60;
            return Err(Error::msg(format!(
                "The agent was started again {RESTARTS_MAX} times in {minutes} minutes and does not stay. It is left alone \
                 for now; try again later, or look at what it says: {last}"
            )));
        }
        state.restarts.push_back(now);
        Ok(())
    }

    fn unstarted(&self, trouble: &Trouble) -> String {
        format!(
            "The agent could not be started again: {trouble}. The history can be read; send a prompt to try again."
        )
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why no process has the session.
enum Unattached {
    /// A login is needed.
    Login(Error),
    /// In words.
    Told(String),
}

/// Returns what the ids begin with that are made up for one life of a process: no other life has it.
fn prefix() -> String {
    let random = RandomState::new().hash_one(0_u8);
    format!("d{random:016x}-")
}
