//! Commands that the agent runs itself, shown as they go.

use std::future::{Future, IntoFuture};
use std::path::Path;
use std::pin::Pin;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ply_session::Entity;
use ply_wire::v2;

use super::Turn;
use super::stoppable::Stoppable;
use crate::Result;

/// A terminal of the agent's own to be shown. Await it.
#[derive(Debug)]
#[must_use = "a terminal is shown when this is awaited"]
pub struct NewOwnTerminal<'t> {
    turn: &'t Turn,
    update: v2::TerminalUpdate,
    can_be_cancelled: bool,
}

impl Turn {
    /// Shows a terminal in which the agent runs `command` itself; await the result. A tool call refers to it by
    /// [`ToolCall::add_terminal`](crate::ToolCall::add_terminal).
    ///
    /// ```no_run
    /// # use ply_agent::{Result, Turn};
    /// # async fn example(turn: &Turn) -> Result<()> {
    /// let call = turn.tool_call("Run the tests").await?;
    /// let terminal = turn.own_terminal("cargo test").cancellable().await?;
    /// call.add_terminal(&terminal).await?;
    /// terminal.write(b"running 12 tests\n").await?;
    /// terminal.exit(0).await?;
    /// call.finish().await?;
    /// # Ok(()) }
    /// ```
    pub fn own_terminal(&self, command: impl Into<String>) -> NewOwnTerminal<'_> {
        let id = self.fresh_id("terminal");
        NewOwnTerminal {
            turn: self,
            update: v2::TerminalUpdate::new(id).command(command.into()),
            can_be_cancelled: false,
        }
    }
}

impl NewOwnTerminal<'_> {
    /// Says where the command runs; a relative path is meant in the session's directory.
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        let cwd = v2::AbsolutePath::new(self.turn.context.absolute(cwd));
        self.update = self.update.cwd(cwd);
        self
    }

    /// Says how many cells the command believes to have.
    pub fn size(mut self, cols: u16, rows: u16) -> Self {
        self.update = self.update.size(v2::TerminalSize::new(cols, rows));
        self
    }

    /// Lets the user cancel this command alone, where the client can; see [`OwnTerminal::cancelled`].
    pub fn cancellable(mut self) -> Self {
        let offers = v2::TerminalCapabilities::new().cancel(v2::TerminalCancelCapabilities::new());
        self.update = self.update.capabilities(offers);
        self.can_be_cancelled = true;
        self
    }
}

impl<'t> IntoFuture for NewOwnTerminal<'t> {
    type Output = Result<OwnTerminal>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 't>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let id = self.update.terminal_id.clone();
            let entity = Entity::Terminal(id.clone());
            let work = Stoppable::new(self.turn, entity, self.can_be_cancelled);
            let update = v2::SessionUpdate::TerminalUpdate(self.update);
            self.turn.update(update).await?;
            Ok(OwnTerminal {
                work,
                id,
                ended: false,
            })
        })
    }
}

/// A command that the agent runs itself. Dropped without an [`exit`](Self::exit), it has ended in a way that nobody knows.
#[derive(Debug)]
#[must_use = "a terminal that is dropped has ended"]
pub struct OwnTerminal {
    work: Stoppable,
    id: v2::TerminalId,
    ended: bool,
}

impl OwnTerminal {
    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> &v2::TerminalId {
        &self.id
    }

    /// Shows what the command printed, as it printed it.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is shown.
    pub async fn write(&self, output: &[u8]) -> Result<()> {
        if output.is_empty() {
            return Ok(());
        }
        let chunk = v2::TerminalOutputChunk::new(self.id.clone(), STANDARD.encode(output));
        let chunk = v2::SessionUpdate::TerminalOutputChunk(chunk);
        self.work.context.update(chunk).await
    }

    /// Reports that the command has ended with this code.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the command has ended in a way that nobody knows.
    pub async fn exit(self, code: i64) -> Result<()> {
        self.exit_with(v2::TerminalExitStatus::new().exit_code(code))
            .await
    }

    /// Reports how the command has ended.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// As for [`exit`](Self::exit).
    pub async fn exit_with(mut self, status: v2::TerminalExitStatus) -> Result<()> {
        let update = v2::TerminalUpdate::new(self.id.clone()).exit_status(status);
        let update = v2::SessionUpdate::TerminalUpdate(update);
        self.work.context.update(update).await?;
        self.ended = true;
        Ok(())
    }

    /// Returns whether the user wants it to stop: the turn, or this command alone if it is
    /// [`cancellable`](NewOwnTerminal::cancellable).
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.work.is_cancelled()
    }

    /// Waits until the user wants it to stop. End the command then, and report its [`exit`](Self::exit).
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn cancelled(&self) {
        self.work.cancelled().await;
    }

    /// Lets the command go on after its turn, in the background: neither the turn's end nor its cancel ends it. Clients are
    /// told that it runs until it exits; [`cancelled`](Self::cancelled) tells when the session closes.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the command has ended in a way that nobody knows.
    pub async fn detach(mut self) -> Result<Self> {
        self.work.detach().await?;
        Ok(self)
    }
}

impl AsRef<v2::TerminalId> for OwnTerminal {
    fn as_ref(&self) -> &v2::TerminalId {
        &self.id
    }
}

impl Drop for OwnTerminal {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let ended = v2::TerminalExitStatus::new();
        let update = v2::TerminalUpdate::new(self.id.clone()).exit_status(ended);
        self.work
            .report_now(v2::SessionUpdate::TerminalUpdate(update));
    }
}
