//! Files as the client sees them, with what is not saved yet. Version 1 only.

use std::future::{Future, IntoFuture};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use ply_rpc::CallOptions;
use ply_session::ViewId;
use ply_wire::link::Typed as _;
use ply_wire::method::Request;
use ply_wire::v1;
use tokio::sync::oneshot;

use super::{Context, Turn};
use crate::{Error, Result};

/// How long a client may take to read or write a file.
const FILE_TIME_MAX: Duration = Duration::from_secs(60);

/// A file to be read through the client. Await it.
#[derive(Debug)]
#[must_use = "a file is read when this is awaited"]
pub struct ReadFile<'t> {
    context: &'t Context,
    path: PathBuf,
    line: Option<NonZeroU32>,
    limit: Option<u32>,
}

impl ReadFile<'_> {
    /// Begins at a line, counted from 1.
    pub fn line(mut self, line: u32) -> Self {
        self.line = NonZeroU32::new(line);
        self
    }

    /// Reads no more than so many lines.
    pub fn limit(mut self, lines: u32) -> Self {
        self.limit = Some(lines);
        self
    }
}

impl<'t> IntoFuture for ReadFile<'t> {
    type Output = Result<String>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 't>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (client, _) = self
                .context
                .client("reading files", |client| client.services.read_text_file)?;
            let session = self.context.session.id().0.clone();
            let request = v1::ReadTextFileRequest::new(session, self.path)
                .line(self.line.map(NonZeroU32::get))
                .limit(self.limit);
            let answer = self
                .context
                .call(client, &request, Some(FILE_TIME_MAX))
                .await?;
            Ok(answer.content)
        })
    }
}

impl Turn {
    /// Returns whether the client lets the agent read its files.
    #[must_use]
    pub fn can_read_files(&self) -> bool {
        let client = self.context.client.as_ref();
        client.is_some_and(|(client, _)| client.services.read_text_file)
    }

    /// Returns whether the client lets the agent write its files.
    #[must_use]
    pub fn can_write_files(&self) -> bool {
        let client = self.context.client.as_ref();
        client.is_some_and(|(client, _)| client.services.write_text_file)
    }

    /// Reads a text file through the client; await the result. A relative path is meant in the
    /// session's working directory. It fails if the client does not offer this or refuses.
    pub fn read_text_file(&self, path: impl AsRef<Path>) -> ReadFile<'_> {
        ReadFile {
            context: &self.context,
            path: self.context.absolute(path),
            line: None,
            limit: None,
        }
    }

    /// Writes a text file through the client. A relative path is meant in the session's working
    /// directory.
    ///
    /// # Errors
    ///
    /// The client does not offer this, or refuses; or the turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the file may be written or not.
    pub async fn write_text_file(
        &self,
        path: impl AsRef<Path>,
        content: impl Into<String>,
    ) -> Result<()> {
        let context = &self.context;
        let (client, _) =
            context.client("writing files", |client| client.services.write_text_file)?;
        let session = context.session.id().0.clone();
        let path = context.absolute(path);
        let request = v1::WriteTextFileRequest::new(session, path, content.into());
        context.call(client, &request, Some(FILE_TIME_MAX)).await?;
        Ok(())
    }
}

impl Context {
    /// Asks the client for a service, unless the turn is cancelled.
    pub(super) async fn call<Q: Request>(
        &self,
        client: &crate::client::Client,
        request: &Q,
        within: Option<Duration>,
    ) -> Result<Q::Response>
    where
        Q::Response: serde::de::DeserializeOwned,
    {
        let options = match within {
            Some(within) => CallOptions::default().deadline(within),
            None => CallOptions::default().patient(),
        };
        self.unless_cancelled(async {
            self.written().await?;
            let call = client.peer.ask_with(request, options);
            call.await.map_err(Error::client)
        })
        .await
    }

    /// Waits until what was reported is safe and the client was sent it, so that it hears of a tool call before it is asked to
    /// do what the call is about (V1-PROMPT-05).
    ///
    /// A journal that failed is an error: what was reported is not known to anybody then.
    pub(crate) async fn written(&self) -> Result<()> {
        self.passed(self.client.as_ref().map(|(_, view)| *view))
            .await
    }

    /// Waits until what was reported is safe, whether anybody reads it or not.
    ///
    /// A journal that failed is an error, as above.
    pub(super) async fn kept(&self) -> Result<()> {
        self.passed(None).await
    }

    async fn passed(&self, view: Option<ViewId>) -> Result<()> {
        let (tell, told) = oneshot::channel();
        self.session.after_reports(view, move |is_safe| {
            // Whoever waited may have gone away.
            tell.send(is_safe).ok();
        });
        match told.await {
            Ok(true) => Ok(()),
            _ => Err(Error::session_closed()),
        }
    }
}
