//! A request for information, as a program gets it.

use std::sync::Arc;

use ply_wire::v2;

use super::{Answer, Held};
use crate::Error;

/// A request for information that waits for its answer. Clones are the same request; the first answer counts.
///
/// It stays open, and is left to other clients when it is dropped, as a [`Permission`](crate::Permission) is.
#[derive(Debug, Clone)]
pub struct Elicitation {
    request: Arc<v2::CreateElicitationRequest>,
    held: Held,
}

impl Elicitation {
    pub(super) fn new(request: Arc<v2::CreateElicitationRequest>, held: Held) -> Self {
        Self { request, held }
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
        self.held.answer(Answer::Elicitation(action))
    }

    /// Declines to answer.
    ///
    /// # Cancel safety
    ///
    /// As for [`Elicitation::answer`].
    pub async fn decline(&self) {
        let decline = v2::ElicitationAction::Decline;
        self.held.answer_if_open(Answer::Elicitation(decline));
    }

    /// Leaves it to the other clients of the session.
    ///
    /// # Cancel safety
    ///
    /// As for [`Elicitation::answer`].
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
}
