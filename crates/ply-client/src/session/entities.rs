//! Single calls and terminals of an agent, and its work in the background.

use ply_wire::v2;

use super::Session;
use crate::Error;
use crate::connection::done;
use crate::hello::offered;

/// What to do instead, where one thing cannot be cancelled by itself.
const HINT: &str = "cancel the turn, or look at `can_be_cancelled` of its snapshot first";

impl Session {
    /// Cancels one tool call and leaves the rest of the turn alone. It is over when its status says so, and not when this
    /// returns. Only calls that say so can be cancelled by themselves, and none of a version 1 agent.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if this call cannot; [`Error::Refused`] if the agent says no, which it may if the call has just
    /// ended.
    ///
    /// # Cancel safety
    ///
    /// The request is not taken back: the agent cancels the call all the same.
    pub async fn cancel_tool_call(&self, id: &v2::ToolCallId) -> Result<(), Error> {
        let call = self.tool_call(id);
        let can = call.is_some_and(|call| call.can_be_cancelled());
        offered(can, "cancelling this tool call", HINT)?;
        let connection = self.attached().await?;
        let request = v2::CancelToolCallRequest::new(self.id().clone(), id.clone());
        connection.ask_to_end(&request, done).await
    }

    /// Cancels the command of one terminal of the agent. As for [`cancel_tool_call`](Self::cancel_tool_call); it is over when
    /// the terminal has an exit status, and the tool call that shows it is not affected.
    ///
    /// # Errors
    ///
    /// As for [`cancel_tool_call`](Self::cancel_tool_call).
    ///
    /// # Cancel safety
    ///
    /// The request is not taken back: the agent ends the command all the same.
    pub async fn cancel_terminal(&self, id: &v2::TerminalId) -> Result<(), Error> {
        let can = self.with_transcript(|transcript| {
            let terminal = transcript.terminal(id);
            terminal.is_some_and(|terminal| terminal.can_be_cancelled())
        });
        offered(can, "cancelling this terminal", HINT)?;
        let connection = self.attached().await?;
        let request = v2::CancelTerminalRequest::new(self.id().clone(), id.clone());
        connection.ask_to_end(&request, done).await
    }

    /// Returns the work that goes on beside turns; none if the agent does not report it, which is not the same as no work.
    #[must_use]
    pub fn background(&self) -> Option<Vec<v2::BackgroundWork>> {
        self.with_transcript(|transcript| transcript.background().map(<[_]>::to_vec))
    }
}
