//! What runs one session: its process, started again when that is gone.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex as SyncMutex, MutexGuard, PoisonError};
use std::time::Duration;

use ply_agent::event::{Entity, Runner as Record};
use ply_agent::{Error, Extension, History, Result, Session, Stop, Turn, Value};
use ply_wire::v2;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::agent::{Found, Shared};
use super::link::Wish;
use super::options::{self, Setting};
use super::process::{AUTH_REQUIRED, Process, Trouble};
use super::reopen::{self, Setup};
use super::reporting::{Live, Worked, between_turns};
use super::serve::Hands;
use super::{Caller, Kept, Launched};

/// How often an agent is started again within [`RESTARTS_WITHIN`].
const RESTARTS_MAX: usize = 3;
/// See [`RESTARTS_MAX`].
const RESTARTS_WITHIN: Duration = Duration::from_secs(5 * 60);
/// How long closing waits for the agent's answer.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(1);

/// What methods of Ply's own begin with.
const OWN_METHODS: &str = "_ply/";

/// What runs one session.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) shared: Arc<Shared>,
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
        loop {
            let found = self.shared.process(&self.caller).await;
            let Found { process, was_kept } = found.map_err(Trouble::error)?;
            let fresh = self.meet(session, &process);
            match self.setup.make(&process, &prefix()).await {
                Ok(id) => {
                    self.lock().id = Some(id);
                    self.settle(&process).await;
                    *live = Some(fresh);
                    return Ok(());
                }
                Err(trouble) => {
                    self.part(&trouble, process);
                    if !(was_kept && matches!(trouble, Trouble::Gone(_))) {
                        return Err(trouble.error());
                    }
                }
            }
        }
    }

    /// Opens a session again. That the agent cannot is told, but the history can be read.
    pub(super) async fn open_again(&self, session: &Session) -> Result<()> {
        let history = session.history().await?;
        self.remember(&history);
        let is_empty = history.transcript().entries().next().is_none();
        self.lock().wanted = options::values(history.transcript().config_options());
        if self.lock().id.is_none() && is_empty {
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

    /// Works on a prompt. An agent that stopped before it got the prompt is started again, once: it may have ended while it had
    /// nothing to do, and nobody had noticed.
    pub(super) async fn prompt(&self, turn: &Turn) -> Result<Stop> {
        match self.try_prompt(turn).await? {
            Worked::Ended(stop) => Ok(stop),
            Worked::Unread(words) => {
                tracing::info!(words, "a prompt is sent to another process of the agent");
                self.try_prompt(turn).await?.stop()
            }
        }
    }

    async fn try_prompt(&self, turn: &Turn) -> Result<Worked> {
        let session = turn.session();
        let live = turn.unless_cancelled(self.ready(session)).await??;
        let message = turn.prompt().message_id();
        let message = message.ok_or_else(|| Error::msg("the prompt has no message"))?;
        let holder = live.process.holder.clone();
        self.note(session, &live, holder).await?;
        if !live.process.record(session).await {
            // Nobody else could go on with it.
            self.note(session, &live, None).await?;
        }
        let content = turn.prompt().content().to_vec();
        let worked = live.prompt(turn, message.clone(), content).await;
        if let Err(error) = &worked {
            self.note_login(error, &live);
        }
        worked
    }

    /// Notes a process that does not go on without a login.
    fn note_login(&self, error: &Error, live: &Live) {
        let refusal = error.as_rpc();
        if refusal.is_some_and(|error| error.code == AUTH_REQUIRED) {
            self.shared.wants_login(&live.process);
        }
    }

    /// Passes on a message that the protocol does not know, with the agent's own id of the session.
    pub(super) async fn extend(&self, session: &Session, request: &Extension) -> Result<Value> {
        let wish = self.extension(request, true)?;
        let live = self.ready(session).await?;
        live.process.extend(wish).await.map_err(Trouble::error)
    }

    /// The same for one that is not answered, if there is a process to hear it.
    pub(super) async fn notify(&self, notification: &Extension) -> Result<()> {
        let wish = self.extension(notification, false)?;
        if let Some(live) = &*self.live.lock().await {
            live.process.tell(wish).await;
        }
        Ok(())
    }

    fn extension(&self, message: &Extension, is_request: bool) -> Result<Wish> {
        let method = message.method();
        // Ply's own are between clients and the hub.
        if method.starts_with(OWN_METHODS) {
            return Err(Error::method_not_found());
        }
        if !message.caller().rights.prompt {
            return Err(Error::msg(
                "This client may watch the session and not change it.",
            ));
        }
        let mut params: Value = message.params()?;
        let id = self.lock().id.clone().ok_or_else(Error::method_not_found)?;
        if let Some(named) = params.get_mut("sessionId") {
            *named = Value::from(&*id.0);
        }
        Ok(Wish::Extend {
            method: method.to_owned(),
            params,
            is_request,
        })
    }

    /// Takes from the history who ran the session.
    pub(super) fn remember(&self, history: &History) {
        let recorded = history.runner().cloned();
        let id = recorded.as_ref().and_then(|runner| runner.session.clone());
        let mut state = self.lock();
        state.id = id.map(v2::SessionId::new);
        state.recorded = recorded;
    }

    /// Connects to a process that another hub started.
    pub(super) async fn reach(&self, holder: &str) -> Result<Launched> {
        let reached = self.shared.launch.reach(holder).await;
        reached.map_err(|error| Error::msg(error.to_string()))
    }

    /// Has this process run the session.
    pub(super) async fn set_live(&self, live: Arc<Live>) {
        *self.live.lock().await = Some(live);
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
        set.map_err(|trouble| {
            if trouble.wants_login() {
                self.shared.wants_login(&live.process);
            }
            trouble.error()
        })?;
        live.process.reported().await;
        Ok(())
    }

    /// Notes in the journal who runs the session, if that is not there.
    async fn note(&self, session: &Session, live: &Live, holder: Option<String>) -> Result<()> {
        let record = {
            let state = self.lock();
            let info = &live.process.hello.info;
            let mut record = Record::new(&*info.name).version(&*info.version);
            record.session = state.id.as_ref().map(|id| id.0.to_string());
            if holder.is_some() {
                record.kept = self.kept(&live.process);
            }
            record.holder = holder;
            if state.recorded.as_ref() == Some(&record) {
                return Ok(());
            }
            record
        };
        session.set_runner(record.clone()).await?;
        self.lock().recorded = Some(record);
        Ok(())
    }

    /// Returns what another hub has to know of the agent.
    fn kept(&self, process: &Process) -> Option<String> {
        let command = self.shared.launch.command()?;
        let cwd = self.caller.cwd.clone().unwrap_or_else(|| "/".into());
        Kept::new(command, cwd, &process.hello).to_json()
    }

    /// Returns whether nothing is lost when the process ends.
    pub(super) async fn may_end(&self) -> bool {
        let is_gone = match &*self.live.lock().await {
            Some(live) => live.process.is_gone(),
            None => true,
        };
        let (id, was_used) = {
            let state = self.lock();
            (state.id.clone(), state.recorded.is_some())
        };
        let Some(id) = id.filter(|_| was_used && !is_gone) else {
            return true;
        };
        if let Some(known) = self.shared.goes_on() {
            return known;
        }
        let goes_on = self.goes_on_elsewhere(&id).await;
        self.shared.set_goes_on(goes_on);
        goes_on
    }

    /// Tries whether the session goes on in another process.
    async fn goes_on_elsewhere(&self, id: &v2::SessionId) -> bool {
        let Ok(process) = self.shared.start(&self.caller).await else {
            return false;
        };
        let went_on = self.setup.go_on(&process, id, &prefix()).await;
        if let Err(trouble) = &went_on {
            tracing::info!(%trouble, "an agent is kept, since it would forget its session");
        }
        process.end().await;
        went_on.is_ok()
    }

    /// Returns whether another hub could go on with what the process does.
    pub(super) fn outlives(&self) -> bool {
        // One that is being started is not at work for this session.
        let live = self.live.try_lock();
        live.is_ok_and(|live| live.as_ref().is_some_and(|live| live.process.outlives()))
    }

    /// Lets go of the process, if another hub could go on with it.
    pub(super) async fn let_go(&self) -> bool {
        match &*self.live.lock().await {
            Some(live) if live.process.outlives() => live.process.let_go().await,
            _ => false,
        }
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
        live.process.end().await;
    }

    /// Goes on with the session on another process.
    async fn attach(&self, session: &Session) -> Result<Arc<Live>, Unattached> {
        let Some(id) = self.lock().id.clone() else {
            return Err(Unattached::Told(reopen::read_only(None)));
        };
        let told = |error: Error| Unattached::Told(error.to_string());
        let history = session.history().await.map_err(told)?;
        let wanted = options::values(history.transcript().config_options());
        let (live, resumed) = loop {
            let found = self.shared.process(&self.caller).await;
            let found = found.map_err(|trouble| Unattached::Told(self.unstarted(&trouble)))?;
            let live = self.meet(session, &found.process);
            let resumed = self.setup.go_on(&found.process, &id, &prefix()).await;
            match resumed {
                Err(trouble @ Trouble::Gone(_)) if found.was_kept => {
                    self.part(&trouble, found.process);
                }
                resumed => break (live, resumed),
            }
        };
        match resumed {
            Ok(replay) => {
                self.shared.set_goes_on(true);
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
                self.part(&trouble, Arc::clone(&live.process));
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
    pub(super) fn meet(&self, session: &Session, process: &Arc<Process>) -> Arc<Live> {
        let hands = Hands::new(session, prefix(), Arc::clone(&process.screen));
        let live = Live::new(Arc::clone(process), hands);
        let queue = Arc::clone(&process.queue);
        let cancelled = Arc::downgrade(&live);
        session.on_cancel(move |entity| {
            let wish = match entity {
                Entity::ToolCall(call) => Wish::CancelCall { call },
                Entity::Terminal(terminal) => Wish::CancelTerminal { terminal },
                _ => return,
            };
            if let Some(live) = cancelled.upgrade() {
                live.process.tell_now(wish);
            }
        });
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
