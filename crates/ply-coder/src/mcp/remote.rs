//! A tool of a server, as the agent's own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ply_agent::v2;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, JsonObject,
    RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::catalog::Listing;
use super::host::Progress;
use super::link::Link;
use super::server::Server;
use super::{outcome, words};
use crate::model::ToolSpec;
use crate::tool::{
    Access, Order, Outcome, Prepared, Preparing, Surface, Tool, ToolContext, object,
};

/// How long it may take to tell a server that nobody waits any more.
const CANCEL_TIME_MAX: Duration = Duration::from_millis(500);
/// The least time between two shows of how far a call is.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);
/// How long the name of a tool may be in a title, in characters.
const TITLE_CHARS_MAX: usize = 80;

/// A tool of a server.
#[derive(Debug)]
pub(super) struct Remote {
    /// The name under which models call it.
    pub(super) name: String,
    pub(super) listing: Arc<Listing>,
    pub(super) server: Arc<Server>,
}

impl Tool for Remote {
    fn spec(&self) -> ToolSpec {
        let Listing {
            name, description, ..
        } = &*self.listing;
        let (name, server) = (words::line(name, TITLE_CHARS_MAX), &self.server.name);
        ToolSpec {
            name: self.name.clone(),
            // A model should know whose words these are, whatever they tell it to do.
            description: format!(
                "The tool `{name}` of the MCP server `{server}`, described by the server itself: {description}"
            ),
            schema: self.listing.schema.clone(),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Other
    }

    fn only_looks(&self) -> bool {
        self.listing.read_only
    }

    fn tidies_up(&self) -> bool {
        true
    }

    fn prepare<'t>(&'t self, arguments: Value, context: ToolContext<'t>) -> Preparing<'t> {
        let prepared = self.prepared(arguments, context.surface);
        Box::pin(std::future::ready(prepared))
    }
}

impl Remote {
    /// Returns what the server says of it, without our words.
    pub(super) fn own_words(&self) -> String {
        format!("{} {}", self.listing.name, self.listing.description)
    }

    fn prepared<'t>(
        &'t self,
        arguments: Value,
        surface: &'t dyn Surface,
    ) -> Result<Prepared<'t>, Outcome> {
        let arguments = object(arguments)?;
        let tool = words::line(&self.listing.name, TITLE_CHARS_MAX);
        let shown = serde_json::to_string_pretty(&arguments);
        Ok(Prepared {
            title: format!("{}: {tool}", self.server.name),
            kind: self.kind(),
            locations: Vec::new(),
            changes: Vec::new(),
            // A server that says of a tool that it only reads is believed by nobody.
            access: vec![Access::Mcp {
                server: self.server.name.clone(),
                tool: self.listing.name.clone(),
                arguments: shown.unwrap_or_default(),
                version: self.listing.version(),
            }],
            // Servers often have a state, such as a page in a browser, on which the calls of one answer build: they go one after
            // the other, unless the server says that they only read. Servers know nothing of each other. No file has such a path.
            order: match self.listing.read_only {
                true => Order::Shared,
                false => Order::Paths(vec![PathBuf::from(format!("mcp:{}", self.server.key))]),
            },
            work: Box::pin(self.work(arguments, surface)),
        })
    }

    async fn work(&self, arguments: JsonObject, surface: &dyn Surface) -> Outcome {
        let link = tokio::select! {
            link = self.server.link() => link,
            () = surface.cancelled() => return cancelled(),
        };
        let link = match link {
            Ok(link) => link,
            Err(problem) => return self.unreachable(&problem),
        };
        let call = tokio::select! {
            call = Call::begin(&link, &self.listing.name, arguments) => call,
            () = surface.cancelled() => return cancelled(),
        };
        let ended = match call {
            Ok(call) => call.wait(surface, self.server.settings.silence).await,
            Err(error) => Err(error),
        };
        match ended {
            Ok(Ended::Answered(answer)) => outcome::outcome(*answer),
            Ok(Ended::Cancelled) => cancelled(),
            Ok(Ended::Silent) => {
                let silence = self.server.settings.silence.as_secs();
                Outcome::failed(format!(
                    "The MCP server `{}` said nothing for {silence} s and was told to stop. It may have done some of the work.",
                    self.server.name
                ))
            }
            Err(error) => self.failed(&link, &error).await,
        }
    }

    async fn failed(&self, link: &Link, error: &ServiceError) -> Outcome {
        let server = &self.server.name;
        if !matches!(
            error,
            ServiceError::TransportClosed | ServiceError::TransportSend(_)
        ) {
            let problem = words::request(error);
            return Outcome::failed(format!("The MCP server `{server}` failed: {problem}."));
        }
        link.give_up();
        let reason = link.reason().await;
        let reason = reason.unwrap_or_else(|| words::request(error));
        Outcome::failed(format!(
            "The MCP server `{server}` was lost during the call: {reason}. It may have done some of the work. The next call connects anew."
        ))
    }

    fn unreachable(&self, problem: &str) -> Outcome {
        let server = &self.server.name;
        Outcome::failed(format!(
            "The MCP server `{server}` cannot be reached: {problem}. The next call tries again."
        ))
    }
}

fn cancelled() -> Outcome {
    Outcome::failed("The call was cancelled. The server may have done some of the work.")
}

/// How a call ended.
enum Ended {
    Answered(Box<ServerResult>),
    Cancelled,
    Silent,
}

/// A call that was sent. Dropped before the answer, it tells the server that nobody waits.
struct Call {
    answer: oneshot::Receiver<Result<ServerResult, ServiceError>>,
    progress: watch::Receiver<Option<Progress>>,
    peer: Peer<RoleClient>,
    /// The request, until it is answered.
    open: Option<RequestId>,
}

impl Call {
    async fn begin(link: &Link, tool: &str, arguments: JsonObject) -> Result<Self, ServiceError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let mut calls = link.told.calls.lock().await;
        let options = PeerRequestOptions::no_options();
        let sent = link.peer.send_request_with_option(request, options).await?;
        let (tell, progress) = watch::channel(None);
        calls.retain(|_, call| !call.is_closed());
        calls.insert(sent.progress_token, tell);
        Ok(Self {
            answer: sent.rx,
            progress,
            peer: link.peer.clone(),
            open: Some(sent.id),
        })
    }

    async fn wait(
        mut self,
        surface: &dyn Surface,
        silence: Duration,
    ) -> Result<Ended, ServiceError> {
        let mut deadline = Instant::now() + silence;
        let mut show_at = Instant::now();
        let mut unseen = false;
        let reason = loop {
            tokio::select! {
                biased;
                answer = &mut self.answer => {
                    self.open = None;
                    let answer = answer.map_err(|_| ServiceError::TransportClosed)?;
                    return answer.map(|answer| Ended::Answered(Box::new(answer)));
                }
                () = surface.cancelled() => break Ended::Cancelled,
                Ok(()) = self.progress.changed() => {
                    deadline = Instant::now() + silence;
                    unseen = true;
                }
                () = sleep_until(show_at), if unseen => {
                    unseen = false;
                    let words = self.progress.borrow_and_update().as_ref().map(Progress::words);
                    surface.progress(&words.unwrap_or_default()).await;
                    show_at = Instant::now() + PROGRESS_PAUSE;
                }
                () = sleep_until(deadline) => break Ended::Silent,
            }
        };
        if let Some(open) = self.open.take() {
            withdraw(self.peer.clone(), open).await;
        }
        Ok(reason)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let runtime = tokio::runtime::Handle::try_current();
        if let (Some(open), Ok(runtime)) = (self.open.take(), runtime) {
            runtime.spawn(withdraw(self.peer.clone(), open));
        }
    }
}

/// Tells a server that nobody waits for an answer any more.
async fn withdraw(peer: Peer<RoleClient>, request: RequestId) {
    let reason = Some("nobody waits for the answer any more".to_owned());
    let params = CancelledNotificationParam::new(Some(request), reason);
    match timeout(CANCEL_TIME_MAX, peer.notify_cancelled(params)).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) | Err(_) => tracing::debug!("a server could not be told to stop"),
    }
}
