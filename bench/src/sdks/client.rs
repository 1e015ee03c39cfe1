//! What every SDK's client can do, so that all are driven and timed by the same code.

use crate::Result;

/// A connected and initialized client. Text of updates goes to the [`Tally`](super::tally::Tally) it was made with.
pub(super) trait Client: Clone + Send + Sync + 'static {
    type Session: Session;

    /// Opens a session.
    fn open(&self) -> impl Future<Output = Result<Self::Session>> + Send;

    /// Asks for the list of sessions.
    fn ping(&self) -> impl Future<Output = Result<()>> + Send;
}

/// An open session.
pub(super) trait Session: Send + Sync + 'static {
    type Stopper: Stopper;

    /// Returns the means to cancel a turn that somebody else reads.
    fn stopper(&self) -> Self::Stopper;

    /// Sends a prompt and reads its turn to the end.
    fn turn(&mut self, prompt: String) -> impl Future<Output = Result<End>> + Send;

    /// Sets the session's one option.
    fn set_option(&self, value: &'static str) -> impl Future<Output = Result<()>> + Send;

    /// Sets the session's mode.
    fn set_mode(&self, mode: &'static str) -> impl Future<Output = Result<()>> + Send;
}

/// Cancels the running turn of a session.
pub(super) trait Stopper: Send + Sync + 'static {
    fn cancel(&self) -> impl Future<Output = Result<()>> + Send;
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Regular,
    Cancelled,
    Other,
}

impl End {
    /// Makes sure that a turn ended as it should.
    pub(super) fn expect(self, end: End) -> Result<()> {
        if self == end {
            return Ok(());
        }
        Err(format!("the turn ended with {self:?} instead of {end:?}").into())
    }
}
