//! A permission request, as a program gets it.

use std::sync::Arc;

use ply_wire::transcript::{ToolCall, Transcript};
use ply_wire::v2;

use super::{Answer, Held};
use crate::Error;

/// A permission request that waits for its answer. Clones are the same request; the first answer counts.
///
/// It stays open until it is answered here, its turn ends, the agent takes it back, or the session or the connection ends. When
/// the last clone is dropped without an answer and no other reader of the session is still to see it, the agent is told with an
/// error that nobody answers here, which leaves the question to other clients of the session.
#[derive(Debug, Clone)]
pub struct Permission {
    request: Arc<v2::RequestPermissionRequest>,
    held: Held,
}

impl Permission {
    pub(super) fn new(request: Arc<v2::RequestPermissionRequest>, held: Held) -> Self {
        Self { request, held }
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

    /// Returns the tool call that it is about as it is now, with all that its updates and this request said of it.
    #[must_use]
    pub fn tool_call(&self) -> Option<ToolCall> {
        let session = self.held.session()?;
        session.read(|transcript| call_of(&self.request, transcript).cloned())
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

    /// Rejects it by the option `option` because nobody is there to decide. An agent made with Ply tells its
    /// model so; any other takes it as a rejection like others.
    ///
    /// # Errors
    ///
    /// As for [`Permission::select`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Permission::allow_once`].
    pub async fn reject_unattended(&self, option: &v2::PermissionOptionId) -> Result<(), Error> {
        use v2::PermissionOptionKind::{RejectAlways, RejectOnce};
        let rejects = |known: &v2::PermissionOption| {
            known.option_id == *option && matches!(known.kind, RejectOnce | RejectAlways)
        };
        if !self.options().iter().any(rejects) {
            return Err(Error::NoSuchOption);
        }
        let outcome = ply_wire::convert::permission::unattended(option.clone());
        let outcome = v2::RequestPermissionOutcome::Selected(outcome);
        self.held.answer(Answer::Permission(outcome))
    }

    /// Dismisses it: the agent takes it as not allowed, and one of version 1 cancels the turn.
    ///
    /// # Cancel safety
    ///
    /// As for [`Permission::allow_once`].
    pub async fn cancel(&self) {
        self.held.dismiss();
    }

    /// Leaves it to the other clients of the session. If there are none, the agent takes it as not allowed.
    ///
    /// # Cancel safety
    ///
    /// As for [`Permission::allow_once`].
    pub async fn leave_to_others(&self) {
        self.held.answer_if_open(Answer::NotMine);
    }

    /// Returns whether it still waits for an answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.held.is_open()
    }

    /// Waits until it was answered, here or elsewhere, or taken back by the agent.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn closed(&self) {
        self.held.closed().await;
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
        self.held.answer(Answer::Permission(outcome))
    }
}

/// Returns the tool call that a request is about.
pub(crate) fn call_of<'a>(
    request: &v2::RequestPermissionRequest,
    transcript: &'a Transcript,
) -> Option<&'a ToolCall> {
    match &request.subject {
        Some(v2::RequestPermissionSubject::ToolCall(subject)) => {
            transcript.tool_call(&subject.tool_call.tool_call_id)
        }
        _ => None,
    }
}
