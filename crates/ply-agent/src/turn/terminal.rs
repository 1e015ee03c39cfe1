//! Commands that the client runs. Version 1 only.

use std::future::{Future, IntoFuture};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ply_rpc::{CallOptions, InFlight};
use ply_wire::link::Typed as _;
use ply_wire::{v1, v2};
use tokio::sync::oneshot;

use super::{Context, Turn};
use crate::client::Client;
use crate::session::op::Op;
use crate::{Error, Result};

/// How long a client may take for anything but waiting for a command.
const TERMINAL_TIME_MAX: Duration = Duration::from_secs(30);

/// A command to be run by the client. Await it.
#[derive(Debug)]
#[must_use = "a command is run when this is awaited"]
pub struct NewTerminal<'t> {
    context: &'t Context,
    command: String,
    args: Vec<String>,
    env: Vec<v1::EnvVariable>,
    cwd: Option<PathBuf>,
    output_bytes: Option<u64>,
}

impl NewTerminal<'_> {
    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Sets a variable of the command's environment.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env
            .push(v1::EnvVariable::new(name.into(), value.into()));
        self
    }

    /// Sets the command's directory; a relative one is meant in the session's.
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        self.cwd = Some(self.context.absolute(cwd));
        self
    }

    /// Keeps only the last bytes of the output.
    pub fn output_bytes(mut self, bytes: u64) -> Self {
        self.output_bytes = Some(bytes);
        self
    }
}

impl<'t> IntoFuture for NewTerminal<'t> {
    type Output = Result<Terminal>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 't>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let context = self.context;
            let (client, view) = context.client("terminals", |client| client.services.terminal)?;
            let session = context.session.id().0.clone();
            let request = v1::CreateTerminalRequest::new(session, self.command.clone())
                .args(self.args.clone())
                .env(self.env)
                .cwd(self.cwd.clone())
                .output_byte_limit(self.output_bytes);
            let made = context.create(client, request).await?;
            let id = v2::TerminalId::new(made.0.clone());
            let terminal = Terminal {
                context: context.clone(),
                client: Arc::clone(client),
                id: id.clone(),
                line: std::iter::once(self.command).chain(self.args).collect(),
                released: false,
            };
            context
                .session
                .report(Op::ClientTerminal(*view, id))
                .await?;
            Ok(terminal)
        })
    }
}

/// A command that the client runs. Dropped, it is released, which kills it if it still runs.
#[derive(Debug)]
pub struct Terminal {
    context: Context,
    client: Arc<Client>,
    id: v2::TerminalId,
    line: Vec<String>,
    released: bool,
}

impl Turn {
    /// Returns whether the client runs commands for the agent.
    #[must_use]
    pub fn has_terminals(&self) -> bool {
        let client = self.context.client.as_ref();
        client.is_some_and(|(client, _)| client.services.terminal)
    }

    /// Has the client run a command; await the result. It fails if the client does not offer this
    /// or refuses.
    pub fn terminal(&self, command: impl Into<String>) -> NewTerminal<'_> {
        NewTerminal {
            context: &self.context,
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            output_bytes: None,
        }
    }
}

impl Terminal {
    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> &v2::TerminalId {
        &self.id
    }

    /// Returns the output so far, and how the command ended if it has.
    ///
    /// # Errors
    ///
    /// The client refuses or is gone, or the turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn output(&self) -> Result<v1::TerminalOutputResponse> {
        let (session, id) = self.names();
        let request = v1::TerminalOutputRequest::new(session, id);
        self.context
            .call(&self.client, &request, Some(TERMINAL_TIME_MAX))
            .await
    }

    /// Waits for the command to end.
    ///
    /// # Errors
    ///
    /// The client refuses or is gone, or the turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn wait(&self) -> Result<v1::TerminalExitStatus> {
        let (session, id) = self.names();
        let request = v1::WaitForTerminalExitRequest::new(session, id);
        let answer = self.context.call(&self.client, &request, None).await?;
        Ok(answer.exit_status)
    }

    /// Ends the command. Its output can still be read.
    ///
    /// # Errors
    ///
    /// The client refuses or is gone.
    ///
    /// # Cancel safety
    ///
    /// Once sent, the command is ended also if this is dropped.
    pub async fn kill(&self) -> Result<()> {
        let (session, id) = self.names();
        let request = v1::KillTerminalRequest::new(session, id);
        let options = CallOptions::default().deadline(TERMINAL_TIME_MAX);
        // Also after a cancel: that is when it is needed.
        let killed = self.client.peer.ask_with(&request, options).await;
        killed.map(|_| ()).map_err(Error::client)
    }

    /// Lets the client forget the terminal. What it showed goes into the history.
    ///
    /// # Errors
    ///
    /// The client refuses or is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the terminal is released all the same.
    pub async fn release(mut self) -> Result<()> {
        if let Ok(output) = self.output().await {
            self.keep(&output).await?;
        }
        // A call that shows it must come before the release (V1-TERM-13).
        self.context.written().await?;
        self.released = true;
        // In a task of its own: given up, it would tell the client to forget about it.
        let call = release(&self.client, self.names());
        match tokio::spawn(call).await {
            Ok(Err(error)) => Err(Error::client(error)),
            Ok(Ok(_)) | Err(_) => Ok(()),
        }
    }

    /// Keeps the output, since nobody can ask this client for it later.
    async fn keep(&self, output: &v1::TerminalOutputResponse) -> Result<()> {
        let data = v2::TerminalOutput::new(STANDARD.encode(&output.output));
        let mut update = v2::TerminalUpdate::new(self.id.clone())
            .command(self.line.join(" "))
            .output(data);
        // A command that still runs ends with its terminal, and nobody learns how.
        let mut ended = v2::TerminalExitStatus::new();
        if let Some(exit) = &output.exit_status {
            ended = ended
                .exit_code(exit.exit_code.map(i64::from))
                .signal(exit.signal.clone());
        }
        update = update.exit_status(ended);
        self.context
            .update(v2::SessionUpdate::TerminalUpdate(update))
            .await
    }

    fn names(&self) -> (v1::SessionId, v1::TerminalId) {
        let session = v1::SessionId::new(self.context.session.id().0.clone());
        (session, v1::TerminalId::new(self.id.0.clone()))
    }
}

impl AsRef<v2::TerminalId> for Terminal {
    fn as_ref(&self) -> &v2::TerminalId {
        &self.id
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.released {
            return;
        }
        let (client, names) = (Arc::clone(&self.client), self.names());
        // A call that shows it must come before the release (V1-TERM-13).
        let view = self.context.client.as_ref().map(|(_, view)| *view);
        self.context
            .session
            .after_reports(view, move |_| release_behind(&client, names));
    }
}

impl Context {
    /// Has the client make a terminal. One that is made although nobody waits for it any more is
    /// released again (V1-TERM-11).
    async fn create(
        &self,
        client: &Arc<Client>,
        request: v1::CreateTerminalRequest,
    ) -> Result<v1::TerminalId> {
        self.written().await?;
        let (tell, told) = oneshot::channel();
        let (client, session) = (Arc::clone(client), request.session_id.clone());
        tokio::spawn(async move {
            let options = CallOptions::default().deadline(TERMINAL_TIME_MAX);
            let made = client.peer.ask_with(&request, options).await;
            if let Err(Ok(made)) = tell.send(made) {
                release_behind(&client, (session, made.terminal_id));
            }
        });
        let made = async {
            let made = told.await.map_err(|_| Error::session_closed())?;
            made.map_err(Error::client)
        };
        Ok(self.unless_cancelled(made).await?.terminal_id)
    }
}

fn release(
    client: &Client,
    (session, id): (v1::SessionId, v1::TerminalId),
) -> InFlight<v1::ReleaseTerminalResponse> {
    let request = v1::ReleaseTerminalRequest::new(session, id);
    let options = CallOptions::default().deadline(TERMINAL_TIME_MAX);
    client.peer.ask_with(&request, options)
}

/// Releases a terminal without waiting for it.
fn release_behind(client: &Client, names: (v1::SessionId, v1::TerminalId)) {
    // Without a runtime there is no link either.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return;
    };
    // Asked here and not in the task, so that it keeps its place.
    let call = release(client, names);
    runtime.spawn(async move {
        if let Err(error) = call.await {
            tracing::debug!(%error, "a terminal was not released");
        }
    });
}
