//! A session, as the agent's code sees it.

mod answer;
pub(crate) mod control;
mod inbox;
mod offer;
pub(crate) mod op;
mod run;
mod task;
mod view;

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use ply_rpc::RpcError;
use ply_session::{AskId, Edit, History, Reply, Stop, TurnId, ViewId};
use ply_wire::{MaybeUndefined, v2};
use tokio::sync::oneshot;

use self::control::Control;
use self::inbox::Inbox;
use self::op::Op;
pub(crate) use self::task::{Kept, Task, refuse};
use crate::{Error, Result, Turn};

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
    asks: AtomicU64,
    /// Why the session ended, if its journal failed.
    failure: OnceLock<RpcError>,
}

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
            asks: AtomicU64::new(1),
            failure: OnceLock::new(),
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

    /// Names the session, for listings.
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
    pub async fn update(&self, update: v2::SessionUpdate) -> Result<()> {
        self.report(Op::Update {
            turn: None,
            update: Box::new(update),
            edits: Vec::new(),
        })
        .await
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

    /// Returns whether reports are still taken: the session is not over, and its journal works.
    pub(crate) fn takes_reports(&self) -> bool {
        self.0.inbox.takes_ops()
    }

    /// Does something once everything that was reported before is written, or the session is over.
    pub(crate) fn after_reports(&self, then: impl FnOnce() + Send + 'static) {
        if let Some(Op::Then(then)) = self.0.inbox.report_now(Op::Then(Box::new(then))) {
            then();
        }
    }

    pub(crate) async fn update_in(
        &self,
        turn: TurnId,
        update: v2::SessionUpdate,
        edits: Vec<Edit>,
    ) -> Result<()> {
        self.report(Op::Update {
            turn: Some(turn),
            update: Box::new(update),
            edits,
        })
        .await
    }

    /// Passes on a wish of a client; gives it back if the session is over.
    pub(crate) fn control(&self, control: Control) -> Result<(), Control> {
        self.0.inbox.control(control)
    }

    /// Passes on a wish that means nothing once the session is over.
    pub(crate) fn control_if_open(&self, control: Control) {
        if let Err(control) = self.control(control) {
            tracing::debug!(session = %self.0.id.0, ?control, "the session is closed");
        }
    }

    /// Notes that the session ends because its journal failed.
    fn fail(&self, error: RpcError) {
        self.0.failure.get_or_init(|| error);
    }

    /// Returns why the session ended, if its journal failed.
    pub(crate) fn failure(&self) -> Option<&RpcError> {
        self.0.failure.get()
    }

    /// Returns whether both are the same life of the same session.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.inbox.is_closed()
    }

    pub(crate) fn next_ask(&self) -> AskId {
        AskId(self.0.asks.fetch_add(1, Ordering::Relaxed))
    }

    fn answered(&self, ask: AskId, view: ViewId, reply: Reply) {
        self.control_if_open(Control::Answered { ask, view, reply });
    }
}
