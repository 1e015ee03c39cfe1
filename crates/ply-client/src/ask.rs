//! The agent's open questions, each answered exactly once.

use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use ply_rpc::Responder;
use ply_wire::convert;
use ply_wire::lift::AskId;
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};
use tokio::sync::Notify;

use crate::Error;
use crate::lock::lock;
use crate::session::cell::SessionCell;

/// The answer to a question.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Permission(v2::RequestPermissionOutcome),
    Elicitation(v2::ElicitationAction),
}

/// What sort of question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Permission,
    Elicitation,
}

/// A question that waits for its answer. Dropped, it is answered as cancelled.
pub(crate) struct Pending {
    kind: Kind,
    version: Version,
    responder: Mutex<Option<Responder>>,
    session: Weak<SessionCell>,
    /// The name of the question in the reading of a version 1 session.
    ask: Option<AskId>,
    closed: Notify,
}

impl Pending {
    pub(crate) fn new(
        kind: Kind,
        version: Version,
        responder: Responder,
        session: Weak<SessionCell>,
        ask: Option<AskId>,
    ) -> Arc<Self> {
        Arc::new(Self {
            kind,
            version,
            responder: Mutex::new(Some(responder)),
            session,
            ask,
            closed: Notify::new(),
        })
    }

    /// Gives the answer, unless one was given before; returns whether it was this one.
    ///
    /// Takes the lock of the session, so it must not be called under it.
    pub(crate) fn answer(&self, answer: Answer) -> bool {
        let Some(responder) = lock(&self.responder).take() else {
            return false;
        };
        // Before the agent has its answer, so that whatever it does next is told after this.
        if let (Some(session), Some(ask)) = (self.session.upgrade(), self.ask) {
            session.ask_closed(ask);
        }
        send(responder, self.version, answer);
        self.closed.notify_waiters();
        true
    }

    pub(crate) fn cancel(&self) -> bool {
        self.answer(match self.kind {
            Kind::Permission => Answer::Permission(cancelled()),
            Kind::Elicitation => Answer::Elicitation(v2::ElicitationAction::Cancel),
        })
    }

    pub(crate) fn is_open(&self) -> bool {
        lock(&self.responder).is_some()
    }

    /// Closes the question when the agent takes it back.
    pub(crate) fn watch(self: &Arc<Self>) {
        let Some(cancellation) = lock(&self.responder).as_ref().map(Responder::cancellation) else {
            return;
        };
        let question = Arc::downgrade(self);
        cancellation.on_asked(move || {
            if let Some(question) = question.upgrade() {
                question.cancel();
            }
        });
    }

    async fn closed(&self) {
        loop {
            let closed = self.closed.notified();
            if !self.is_open() {
                return;
            }
            closed.await;
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // After an answer this finds nothing to do.
        self.cancel();
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("kind", &self.kind)
            .field("open", &self.is_open())
            .finish_non_exhaustive()
    }
}

/// Returns the outcome of a permission request that nobody decided.
pub(crate) fn cancelled() -> v2::RequestPermissionOutcome {
    v2::RequestPermissionOutcome::Cancelled(v2::CancelledPermissionOutcome::new())
}

/// Writes an answer in the words of the version spoken.
pub(crate) fn send(responder: Responder, version: Version, answer: Answer) {
    match (answer, version) {
        (Answer::Permission(outcome), Version::V1) => {
            let outcome = convert::permission::outcome_down(&outcome);
            responder.respond(Ok(v1::RequestPermissionResponse::new(outcome)));
        }
        (Answer::Permission(outcome), Version::V2) => {
            responder.respond(Ok(v2::RequestPermissionResponse::new(outcome)));
        }
        (Answer::Elicitation(action), version) => {
            let response = v2::CreateElicitationResponse::new(action);
            match version {
                Version::V1 => {
                    responder.respond(Ok(convert::elicitation::response_down(&response)));
                }
                Version::V2 => responder.respond(Ok(response)),
            }
        }
    }
}

/// A permission request that waits for its answer. Clones are the same request; the first answer counts.
///
/// When the last clone is dropped without an answer, the answer is `cancelled`: a question never hangs.
#[derive(Debug, Clone)]
pub struct Permission {
    request: Arc<v2::RequestPermissionRequest>,
    pending: Arc<Pending>,
}

impl Permission {
    pub(crate) fn new(request: v2::RequestPermissionRequest, pending: Arc<Pending>) -> Self {
        let request = Arc::new(request);
        Self { request, pending }
    }

    /// Returns the request as it is to be shown.
    #[must_use]
    pub fn request(&self) -> &v2::RequestPermissionRequest {
        &self.request
    }

    /// Returns the options to choose from, at least one.
    #[must_use]
    pub fn options(&self) -> &[v2::PermissionOption] {
        &self.request.options
    }

    /// Allows it, this time. For a question that is closed by now this does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchOption`] if this was not offered.
    ///
    /// # Cancel safety
    ///
    /// The answer is queued at once; dropped later, it is sent all the same.
    pub async fn allow_once(&self) -> Result<(), Error> {
        self.select_kind(&v2::PermissionOptionKind::AllowOnce)
    }

    /// Allows it, and the like from now on.
    ///
    /// # Errors
    ///
    /// As for [`Permission::allow_once`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Permission::allow_once`].
    pub async fn allow_always(&self) -> Result<(), Error> {
        self.select_kind(&v2::PermissionOptionKind::AllowAlways)
    }

    /// Rejects it, this time.
    ///
    /// # Errors
    ///
    /// As for [`Permission::allow_once`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Permission::allow_once`].
    pub async fn reject_once(&self) -> Result<(), Error> {
        self.select_kind(&v2::PermissionOptionKind::RejectOnce)
    }

    /// Rejects it, and the like from now on.
    ///
    /// # Errors
    ///
    /// As for [`Permission::allow_once`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Permission::allow_once`].
    pub async fn reject_always(&self) -> Result<(), Error> {
        self.select_kind(&v2::PermissionOptionKind::RejectAlways)
    }

    /// Chooses an option by its id, and tells if that came too late.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchOption`] if this was not offered, [`Error::Answered`] if the question is closed.
    ///
    /// # Cancel safety
    ///
    /// As for [`Permission::allow_once`].
    pub async fn select(&self, option: &v2::PermissionOptionId) -> Result<(), Error> {
        let offered = self
            .options()
            .iter()
            .any(|known| known.option_id == *option);
        if !offered {
            return Err(Error::NoSuchOption);
        }
        self.selected(option.clone())
    }

    /// Decides nothing; the agent takes it as not allowed.
    ///
    /// # Cancel safety
    ///
    /// As for [`Permission::allow_once`].
    pub async fn cancel(&self) {
        self.pending.cancel();
    }

    /// Returns whether it still waits for an answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.pending.is_open()
    }

    /// Waits until it was answered, here or elsewhere, or taken back by the agent.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn closed(&self) {
        self.pending.closed().await;
    }

    fn select_kind(&self, kind: &v2::PermissionOptionKind) -> Result<(), Error> {
        let mut options = self.options().iter();
        let option = options.find(|option| option.kind == *kind);
        let option = option.ok_or(Error::NoSuchOption)?;
        match self.selected(option.option_id.clone()) {
            // It was taken back, or somebody else was faster: there is nothing left to decide.
            Err(Error::Answered) => Ok(()),
            answered => answered,
        }
    }

    fn selected(&self, option: v2::PermissionOptionId) -> Result<(), Error> {
        let outcome = v2::SelectedPermissionOutcome::new(option);
        let outcome = v2::RequestPermissionOutcome::Selected(outcome);
        let answered = self.pending.answer(Answer::Permission(outcome));
        answered.then_some(()).ok_or(Error::Answered)
    }
}

/// A request for information that waits for its answer. Clones are the same request; the first answer counts.
///
/// When the last clone is dropped without an answer, the answer is `cancel`.
#[derive(Debug, Clone)]
pub struct Elicitation {
    request: Arc<v2::CreateElicitationRequest>,
    pending: Arc<Pending>,
}

impl Elicitation {
    pub(crate) fn new(request: v2::CreateElicitationRequest, pending: Arc<Pending>) -> Self {
        let request = Arc::new(request);
        Self { request, pending }
    }

    /// Returns the request as it is to be shown.
    #[must_use]
    pub fn request(&self) -> &v2::CreateElicitationRequest {
        &self.request
    }

    /// Gives an answer, and tells if that came too late.
    ///
    /// # Errors
    ///
    /// [`Error::Answered`] if the question is closed.
    ///
    /// # Cancel safety
    ///
    /// The answer is queued at once; dropped later, it is sent all the same.
    pub async fn answer(&self, action: v2::ElicitationAction) -> Result<(), Error> {
        let answered = self.pending.answer(Answer::Elicitation(action));
        answered.then_some(()).ok_or(Error::Answered)
    }

    /// Declines to answer.
    ///
    /// # Cancel safety
    ///
    /// As for [`Elicitation::answer`].
    pub async fn decline(&self) {
        self.pending
            .answer(Answer::Elicitation(v2::ElicitationAction::Decline));
    }

    /// Returns whether it still waits for an answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.pending.is_open()
    }

    /// Waits until it was answered, here or elsewhere, or taken back by the agent.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn closed(&self) {
        self.pending.closed().await;
    }
}
