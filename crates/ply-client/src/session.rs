//! A session with an agent.

pub(crate) mod asking;
mod attaching;
pub(crate) mod cell;
mod config;
mod entities;
pub(crate) mod hold;
mod known;
mod lag;
pub(crate) mod locked;
mod matching;
mod options;
pub(crate) mod readers;
mod restore;
mod stopping;
mod turns;
#[cfg(any(
    feature = "unstable_session_fork",
    feature = "unstable_session_status",
    feature = "unstable_session_set_title",
    feature = "unstable_session_archive"
))]
mod unstable;

use std::path::Path;
use std::sync::Arc;

use ply_wire::convert;
use ply_wire::negotiate::Version;
use ply_wire::transcript::{ToolCall, Transcript};
use ply_wire::v2;

use crate::Error;
use crate::agent::Agent;
use crate::connection::runtime;
use crate::events::Events;
use crate::hello::offered;
use crate::prompt::Prompt;
use crate::turn::Turn;

use self::cell::SessionCell;
use self::hold::Hold;
use self::stopping::Held;

/// A session with an agent. Clones are the same session.
///
/// Dropping it does not end it at the agent: it can be opened again, also while a prompt of it runs. Until then its updates are
/// ignored; afterwards they are told to the new one, like those of a turn of another client.
#[derive(Debug, Clone)]
pub struct Session {
    agent: Agent,
    cell: Hold,
}

impl Session {
    pub(crate) fn new(agent: Agent, cell: Arc<SessionCell>) -> Self {
        let cell = Hold::new(cell);
        Self { agent, cell }
    }

    /// Returns the agent's id for the session.
    #[must_use]
    pub fn id(&self) -> &v2::SessionId {
        &self.cell.id
    }

    /// Returns the directory in which the session works.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cell.setup.cwd
    }

    /// Returns the agent.
    #[must_use]
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Says something to the agent. While a turn runs, an agent of version 2 gets the prompt at once; for one of version 1 it
    /// is held until that turn has ended.
    ///
    /// Events go to the oldest turn of the session that runs. Those of a turn that was dropped are only told to streams of
    /// [`Session::events`]; so are its questions, which wait until somebody answers.
    ///
    /// If the agent died and was started by this client, it is started again and the session is opened again first, with the mode
    /// and the options that it had.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] for content that the agent does not take; whatever can fail in starting the agent again, such as
    /// [`Error::NotRestored`] for an option that cannot be set back.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the prompt is not sent, and a request to open the session again is cancelled. Once there is a
    /// [`Turn`], the prompt stands: dropping the turn only stops the reading, and [`Turn::cancel`] ends the work.
    #[doc(alias = "send_prompt")]
    pub async fn prompt(&self, prompt: impl Into<Prompt>) -> Result<Turn, Error> {
        let connection = self.attached().await?;
        let content = prompt.into().fit(&connection.hello)?;
        let id = self.cell.prompt(content)?;
        Ok(Turn::new(self.cell.clone(), self.agent.clone(), id))
    }

    /// Cancels all work of the session: held prompts are dropped, open questions are answered as cancelled, unfinished tool
    /// calls are shown as cancelled at once. What the agent still says is taken in. Without work nothing happens.
    ///
    /// # Errors
    ///
    /// None today; a session whose agent is gone has no work.
    ///
    /// # Cancel safety
    ///
    /// Everything happens at once.
    pub async fn cancel(&self) -> Result<(), Error> {
        self.cell.cancel(Held::Drop);
        Ok(())
    }

    /// Looks at the transcript. The agent's updates wait meanwhile, so `look` should be quick, and it must not call anything of
    /// this session.
    pub fn with_transcript<T>(&self, look: impl FnOnce(&Transcript) -> T) -> T {
        self.cell.read(look)
    }

    /// Returns a copy of the transcript.
    #[must_use]
    pub fn transcript(&self) -> Transcript {
        self.cell.read(Transcript::clone)
    }

    /// Returns a tool call as it is now.
    #[must_use]
    pub fn tool_call(&self, id: &v2::ToolCallId) -> Option<ToolCall> {
        self.cell
            .read(|transcript| transcript.tool_call(id).cloned())
    }

    /// Returns everything that happens in the session from now on, inside turns and outside. First come the questions that are
    /// open.
    pub fn events(&self) -> Events {
        let fate = Arc::clone(&self.agent.inner.fate);
        Events::new(self.cell.clone(), fate)
    }

    /// Returns the commands that can be used in prompts now.
    #[must_use]
    pub fn commands(&self) -> Vec<v2::AvailableCommand> {
        self.cell.read(|transcript| transcript.commands().to_vec())
    }

    /// Returns the metadata that the agent gave the session, with the answer that opened it or later.
    #[must_use]
    pub fn meta(&self) -> v2::Meta {
        self.cell.read(|transcript| transcript.info().meta.clone())
    }

    /// Closes the session. Running turns end; the agent keeps it for later.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if the agent cannot; then dropping the session is all there is.
    ///
    /// # Cancel safety
    ///
    /// The request is not taken back: the agent closes the session all the same, and then it is closed here too.
    pub async fn close(&self) -> Result<(), Error> {
        runtime()?;
        // A life of the agent that does not have the session open has nothing to close.
        let living = self.agent.inner.living();
        if let Some(connection) = living.filter(|living| self.is_on(living)) {
            let can = connection.hello.can_close();
            offered(can, "closing sessions", "drop the session instead")?;
            let request = v2::CloseSessionRequest::new(self.id().clone());
            match connection.hello.version {
                Version::V1 => {
                    let request = convert::session::close_down(&request);
                    connection.ask_to_end_session(&request, self.id()).await?;
                }
                Version::V2 => connection.ask_to_end_session(&request, self.id()).await?,
            }
        }
        self.cell.close();
        Ok(())
    }
}

impl std::fmt::Debug for SessionCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
