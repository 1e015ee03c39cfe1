//! What a client may put in place of the bounded files and terminals.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ply_rpc::RpcError;
use ply_wire::{v1, v2};

use super::{Files, Roots, Show, Terminals};
use crate::session::cell::SessionCell;

/// The session that a service works for.
#[derive(Debug, Clone)]
pub struct Scope(Of);

#[derive(Debug, Clone)]
enum Of {
    Session(Arc<SessionCell>),
    Other(Arc<Other>),
}

/// A session that is not one of this crate's.
struct Other {
    id: v2::SessionId,
    cwd: PathBuf,
    roots: Vec<PathBuf>,
    bounds: Roots,
    show: Box<ShowUpdate>,
}

type ShowUpdate = dyn Fn(v2::SessionUpdate) + Send + Sync;

impl std::fmt::Debug for Other {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Other").field(&self.id).finish()
    }
}

impl Scope {
    pub(crate) fn new(session: Arc<SessionCell>) -> Self {
        Self(Of::Session(session))
    }

    /// Returns the scope of a session that is not one of this crate's, for programs that serve agents by themselves: its id,
    /// its working directory and further ones. `show` gets what happens in its terminals, in the order that it happens, and
    /// must not block.
    #[must_use]
    pub fn of(
        id: v2::SessionId,
        cwd: PathBuf,
        roots: Vec<PathBuf>,
        show: impl Fn(v2::SessionUpdate) + Send + Sync + 'static,
    ) -> Self {
        let bounds = Roots::new(std::iter::once(cwd.clone()).chain(roots.clone()));
        let show = Box::new(show);
        Self(Of::Other(Arc::new(Other {
            id,
            cwd,
            roots,
            bounds,
            show,
        })))
    }

    /// Returns the agent's id for the session.
    #[must_use]
    pub fn id(&self) -> &v2::SessionId {
        match &self.0 {
            Of::Session(session) => &session.id,
            Of::Other(other) => &other.id,
        }
    }

    /// Returns the directory in which the session works.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        match &self.0 {
            Of::Session(session) => &session.setup.cwd,
            Of::Other(other) => &other.cwd,
        }
    }

    /// Returns the further directories that belong to the work.
    #[must_use]
    pub fn roots(&self) -> &[PathBuf] {
        match &self.0 {
            Of::Session(session) => &session.setup.roots,
            Of::Other(other) => &other.roots,
        }
    }

    fn bounds(&self) -> &Roots {
        match &self.0 {
            Of::Session(session) => &session.roots,
            Of::Other(other) => &other.bounds,
        }
    }
}

/// Text files for agents of version 1. [`Files`] is the one that comes with this crate: it stays beneath the session's
/// directories.
///
/// An editor that only wants to show its unsaved buffers gives [`Files`] a [`Buffers`](crate::Buffers). One that keeps its files
/// elsewhere, or wants to decide by itself, implements this. **Nothing checks the paths then**: the agent may name any file.
/// Pass on to [`Files`] whatever you have no opinion about.
///
/// ```
/// use ply_client::{Client, FileService, Files, RpcError, Scope, v1};
///
/// struct Editor {
///     scratchpad: String,
///     disk: Files,
/// }
///
/// impl FileService for Editor {
///     async fn read_text_file(&self, session: &Scope, request: v1::ReadTextFileRequest) -> Result<String, RpcError> {
///         match request.path.ends_with("SCRATCHPAD") {
///             true => Ok(self.scratchpad.clone()),
///             false => self.disk.read_text_file(session, request).await,
///         }
///     }
///
///     async fn write_text_file(&self, session: &Scope, request: v1::WriteTextFileRequest) -> Result<(), RpcError> {
///         self.disk.write_text_file(session, request).await
///     }
/// }
///
/// let editor = Editor { scratchpad: "buy milk".to_owned(), disk: Files::new() };
/// let client = Client::new().files(editor);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot serve files",
    label = "use `Files::new()`, or implement `FileService` for this type",
    note = "for the unsaved content of an editor, implement `Buffers` and use `Files::new().with_buffers(…)`"
)]
pub trait FileService: Send + Sync + 'static {
    /// Returns whether agents are told that they may write. Asked once for each start of an agent; a request to write that
    /// comes all the same is refused.
    fn can_write(&self) -> bool {
        true
    }

    /// Reads a text file, or the lines of it that are asked for.
    ///
    /// # Errors
    ///
    /// What the agent is answered.
    fn read_text_file(
        &self,
        session: &Scope,
        request: v1::ReadTextFileRequest,
    ) -> impl Future<Output = Result<String, RpcError>> + Send;

    /// Writes a text file as a whole.
    ///
    /// # Errors
    ///
    /// What the agent is answered.
    fn write_text_file(
        &self,
        session: &Scope,
        request: v1::WriteTextFileRequest,
    ) -> impl Future<Output = Result<(), RpcError>> + Send;
}

impl FileService for Files {
    fn can_write(&self) -> bool {
        Self::can_write(self)
    }

    async fn read_text_file(
        &self,
        session: &Scope,
        request: v1::ReadTextFileRequest,
    ) -> Result<String, RpcError> {
        // The one that looks at the session's directories.
        let answer = Self::read_text_file(self, session.bounds(), request).await?;
        Ok(answer.content)
    }

    async fn write_text_file(
        &self,
        session: &Scope,
        request: v1::WriteTextFileRequest,
    ) -> Result<(), RpcError> {
        Self::write_text_file(self, session.bounds(), request).await?;
        Ok(())
    }
}

/// Commands for agents of version 1. [`Terminals`] is the one that comes with this crate: commands run in the session's
/// directories, each in a process tree of its own, with bounded output.
///
/// A client that shows commands in terminals of its own, or runs them elsewhere, implements this. **Nothing checks the working
/// directory then**, and ending what was started is up to the implementation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot serve terminals",
    label = "use `Terminals::new()`, or implement `TerminalService` for this type"
)]
pub trait TerminalService: Send + Sync + 'static {
    /// Returns terminals of the same kind for one life of an agent. They end with it, by [`end_all`](Self::end_all).
    #[must_use]
    fn fresh(&self) -> Self
    where
        Self: Sized;

    /// Runs a command and returns a name for it that no other has.
    ///
    /// # Errors
    ///
    /// What the agent is answered.
    fn create(
        &self,
        session: &Scope,
        request: v1::CreateTerminalRequest,
    ) -> impl Future<Output = Result<v1::CreateTerminalResponse, RpcError>> + Send;

    /// Returns the output so far, and how the command ended, if it has.
    ///
    /// # Errors
    ///
    /// What the agent is answered.
    fn output(
        &self,
        request: v1::TerminalOutputRequest,
    ) -> impl Future<Output = Result<v1::TerminalOutputResponse, RpcError>> + Send;

    /// Waits until the command ends.
    ///
    /// # Errors
    ///
    /// What the agent is answered.
    fn wait_for_exit(
        &self,
        request: v1::WaitForTerminalExitRequest,
    ) -> impl Future<Output = Result<v1::WaitForTerminalExitResponse, RpcError>> + Send;

    /// Ends the command and keeps its output.
    ///
    /// # Errors
    ///
    /// What the agent is answered.
    fn kill(
        &self,
        request: v1::KillTerminalRequest,
    ) -> impl Future<Output = Result<v1::KillTerminalResponse, RpcError>> + Send;

    /// Ends the command and forgets it.
    ///
    /// # Errors
    ///
    /// What the agent is answered.
    fn release(
        &self,
        request: v1::ReleaseTerminalRequest,
    ) -> impl Future<Output = Result<v1::ReleaseTerminalResponse, RpcError>> + Send;

    /// Releases every terminal of a session that was closed.
    fn end_session(&self, session: &v1::SessionId) -> impl Future<Output = ()> + Send;

    /// Releases every terminal: the agent is gone.
    fn end_all(&self) -> impl Future<Output = ()> + Send;
}

impl TerminalService for Terminals {
    fn fresh(&self) -> Self {
        Self::fresh(self)
    }

    async fn create(
        &self,
        session: &Scope,
        request: v1::CreateTerminalRequest,
    ) -> Result<v1::CreateTerminalResponse, RpcError> {
        let show: Show = match &session.0 {
            Of::Session(session) => {
                let shown = Arc::downgrade(session);
                Arc::new(move |id, scene| {
                    if let Some(session) = shown.upgrade() {
                        session.terminal_shows(id, scene);
                    }
                })
            }
            Of::Other(other) => {
                let other = Arc::clone(other);
                Arc::new(move |id, scene| (other.show)(scene.update(id)))
            }
        };
        Self::create(self, session.bounds(), request, show).await
    }

    async fn output(
        &self,
        request: v1::TerminalOutputRequest,
    ) -> Result<v1::TerminalOutputResponse, RpcError> {
        Self::output(self, request).await
    }

    async fn wait_for_exit(
        &self,
        request: v1::WaitForTerminalExitRequest,
    ) -> Result<v1::WaitForTerminalExitResponse, RpcError> {
        Self::wait_for_exit(self, request).await
    }

    async fn kill(
        &self,
        request: v1::KillTerminalRequest,
    ) -> Result<v1::KillTerminalResponse, RpcError> {
        Self::kill(self, request).await
    }

    async fn release(
        &self,
        request: v1::ReleaseTerminalRequest,
    ) -> Result<v1::ReleaseTerminalResponse, RpcError> {
        Self::release(self, request).await
    }

    async fn end_session(&self, session: &v1::SessionId) {
        Self::end_session(self, session).await;
    }

    async fn end_all(&self) {
        Self::end_all(self).await;
    }
}
