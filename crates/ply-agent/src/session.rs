//! A session, as the agent's code sees it.

mod alarm;
mod ask;
pub(crate) mod control;
mod inbox;
pub(crate) mod op;
mod run;
mod state;
pub(crate) mod steering;
mod store;
mod task;
mod watched;

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ply_journal::Head;
use ply_session::{AskId, Edit, History, Input, Reply, Stop, TurnId, ViewId};
use ply_wire::{MaybeUndefined, v2};
use tokio::sync::oneshot;

use self::control::Control;
use self::inbox::Inbox;
use self::op::Op;
use self::state::State;
use self::steering::Steering;
pub(crate) use self::store::read_back;
pub(crate) use self::task::{Origin, Task, close_by_host, core_setup, refuse};
pub(crate) use self::watched::Watched;
use self::watched::Watches;
use crate::turn::Context;
use crate::{Decision, Error, Permission, Result, Turn};

/// Questions of one owner are numbered with so many bits; the number of the owner is above them.
const ASKS_PER_OWNER_BITS: u32 = 32;

/// A session. Clones are the same session.
///
/// With it the agent's code reports what belongs to no turn, at any time, and starts turns by
/// itself. What belongs to a turn goes through [`Turn`].
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    id: v2::SessionId,
    cwd: PathBuf,
    additional_directories: Vec<PathBuf>,
    inbox: Inbox,
    /// While it runs. Whoever drives the session takes it for a step at a time.
    task: Mutex<Option<Box<Task>>>,
    state: State,
    asks: AtomicU64,
    watches: Watches,
    /// What the user said to the turn that runs.
    steering: Steering,
    /// What listings say of the session while it is not in the journal.
    unlisted: Mutex<Option<Unlisted>>,
}

/// A session that waits in memory, and its place there.
type Unlisted = (Head, Arc<()>);

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&self.0.id).finish()
    }
}

impl Session {
    pub(crate) fn new(id: v2::SessionId, cwd: PathBuf, additional: Vec<PathBuf>) -> Self {
        Self(Arc::new(Shared {
            id,
            cwd,
            additional_directories: additional,
            inbox: Inbox::default(),
            task: Mutex::new(None),
            state: State::default(),
            asks: AtomicU64::new(1),
            watches: Watches::default(),
            steering: Steering::default(),
            unlisted: Mutex::new(None),
        }))
    }

    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> &v2::SessionId {
        &self.0.id
    }

    /// Returns its working directory.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.0.cwd
    }

    /// Returns the directories the session is about besides its working directory.
    #[must_use]
    pub fn additional_directories(&self) -> &[PathBuf] {
        &self.0.additional_directories
    }

    /// Says something outside any turn.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is said.
    pub async fn say(&self, content: impl Into<v2::ContentBlock>) -> Result<()> {
        self.report(Op::say(None, false, content.into())).await
    }

    /// Shows a notice, which is not part of the history.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is shown.
    pub async fn notice(
        &self,
        severity: v2::NoticeSeverity,
        message: impl Into<String>,
    ) -> Result<()> {
        let notice = v2::Notice::new(severity, message.into());
        self.update(v2::SessionUpdate::Notice(notice)).await
    }

    /// Names the session, for listings. A name that the user gave it in a client stays.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing changes.
    pub async fn set_title(&self, title: impl Into<String>) -> Result<()> {
        let info = v2::SessionInfoUpdate::new().title(MaybeUndefined::Value(title.into()));
        self.update(v2::SessionUpdate::SessionInfoUpdate(info))
            .await
    }

    /// Gives the session metadata of the agent's own, which clients see and listings do not. Keys that are not named keep their
    /// values; null takes one away.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing changes.
    pub async fn set_meta(&self, meta: v2::Meta) -> Result<()> {
        let info = v2::SessionInfoUpdate::new().meta(meta);
        self.update(v2::SessionUpdate::SessionInfoUpdate(info))
            .await
    }

    /// Reports how full the context is, and perhaps what it cost.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub async fn set_usage(&self, usage: v2::UsageUpdate) -> Result<()> {
        self.update(v2::SessionUpdate::UsageUpdate(usage)).await
    }

    /// Sets the slash commands, all of them.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing changes.
    pub async fn set_commands(&self, commands: Vec<v2::AvailableCommand>) -> Result<()> {
        let update = v2::AvailableCommandsUpdate::new(commands);
        self.update(v2::SessionUpdate::AvailableCommandsUpdate(update))
            .await
    }

    /// Sets the config options, all of them, with their values. The first one of category `mode`
    /// also stands for the modes of version 1.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing changes.
    pub async fn set_options(&self, options: Vec<v2::SessionConfigOption>) -> Result<()> {
        let update = v2::ConfigOptionUpdate::new(options);
        self.update(v2::SessionUpdate::ConfigOptionUpdate(update))
            .await
    }

    /// Reports anything else outside a turn. States and user messages are not the agent's to
    /// report and are dropped.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    #[doc(alias = "session_update")]
    #[doc(alias = "send_notification")]
    pub async fn update(&self, update: v2::SessionUpdate) -> Result<()> {
        self.report(Op::Update {
            turn: None,
            update: Box::new(update),
            edits: Vec::new(),
        })
        .await
    }

    /// Asks whether something may be done that belongs to no turn. See [`Turn::ask`].
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    pub async fn ask(&self, permission: impl Into<Permission>) -> Result<Decision> {
        let context = Context::outside(self.clone());
        permission.into().ask_about(&context, None).await
    }

    /// Returns everything that was said so far.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn history(&self) -> Result<History> {
        let (tell, told) = oneshot::channel();
        self.report(Op::History(tell)).await?;
        told.await.map_err(|_| Error::session_closed())
    }

    /// Starts a turn with no prompt, when those before it are over, and waits for its end.
    ///
    /// # Errors
    ///
    /// The session is closed, or the user cancelled before the turn began.
    ///
    /// # Cancel safety
    ///
    /// Once the turn is asked for it goes on, also if this is dropped.
    pub async fn start_turn<F, W>(&self, work: F) -> Result<v2::StopReason>
    where
        F: FnOnce(Turn) -> W + Send + 'static,
        W: Future<Output = Result<Stop>> + Send + 'static,
    {
        let (ended, end) = oneshot::channel();
        let work = Box::new(
            move |turn| -> std::pin::Pin<Box<dyn Future<Output = _> + Send>> {
                Box::pin(work(turn))
            },
        );
        self.report(Op::Begin { work, ended }).await?;
        end.await.map_err(|_| Error::cancelled())
    }

    pub(crate) async fn report(&self, op: Op) -> Result<()> {
        self.0.inbox.report(op).await
    }

    pub(crate) fn report_now(&self, op: Op) {
        // Nobody is interested once the session is over.
        drop(self.0.inbox.report_now(op));
    }

    /// Does something once everything that was reported before is safe and a client was sent it; it is told whether that came
    /// to pass.
    pub(crate) fn after_reports(
        &self,
        view: Option<ViewId>,
        then: impl FnOnce(bool) + Send + 'static,
    ) {
        let then = Box::new(then);
        if let Some(Op::Then { then, .. }) = self.0.inbox.report_now(Op::Then { view, then }) {
            then(false);
        }
    }

    pub(crate) async fn update_in(
        &self,
        turn: Option<TurnId>,
        update: v2::SessionUpdate,
        edits: Vec<Edit>,
    ) -> Result<()> {
        self.report(Op::Update {
            turn,
            update: Box::new(update),
            edits,
        })
        .await
    }

    /// Passes on a request of a client; gives it back if the session is over.
    pub(crate) fn control(&self, control: Control) -> Result<(), Control> {
        self.0.inbox.control(control)
    }

    #[cfg(test)]
    pub(crate) fn take_controls(&self) -> std::collections::VecDeque<Control> {
        self.0.inbox.take(inbox::Ops::Leave).controls
    }

    /// Passes on something that means nothing once the session is over.
    pub(crate) fn input_if_open(&self, input: Input) {
        if let Err(control) = self.control(Control::Input(Box::new(input))) {
            tracing::debug!(session = %self.0.id.0, ?control, "the session is closed");
        }
    }

    /// Returns what listings say of the session while it is not in the journal.
    pub(crate) fn unlisted(&self) -> Option<Head> {
        self.lock_unlisted().as_ref().map(|(head, _)| head.clone())
    }

    fn set_unlisted(&self, head: Head, place: Arc<()>) {
        *self.lock_unlisted() = Some((head, place));
    }

    fn change_unlisted(&self, change: impl FnOnce(&mut Head)) {
        if let Some((head, _)) = &mut *self.lock_unlisted() {
            change(head);
        }
    }

    /// Notes that the session is in the journal, or is over.
    pub(crate) fn set_listed(&self) {
        *self.lock_unlisted() = None;
    }

    fn lock_unlisted(&self) -> std::sync::MutexGuard<'_, Option<Unlisted>> {
        // No code that can panic runs under the lock, so a poisoned head is whole.
        self.0
            .unlisted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether both are the same life of the same session.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.inbox.is_closed()
    }

    /// Numbers questions from here on so that no other owner of the session has the same: a client that comes back knows them by
    /// their numbers, and must not take one for another.
    pub(crate) fn number_asks(&self, epoch: u64) {
        let first = (epoch.saturating_sub(1) << ASKS_PER_OWNER_BITS) + 1;
        self.0.asks.store(first, Ordering::Relaxed);
    }

    pub(crate) fn next_ask(&self) -> AskId {
        AskId(self.0.asks.fetch_add(1, Ordering::Relaxed))
    }

    fn answered(&self, ask: AskId, view: ViewId, reply: Reply) {
        self.input_if_open(Input::Answer { ask, view, reply });
    }
}
