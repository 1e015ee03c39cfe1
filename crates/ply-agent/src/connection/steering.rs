//! Words for a turn that runs: `_session/steering`, as agents of others have it, and prompts that are marked.

use std::sync::Arc;

use ply_rpc::{Responder, RpcError};
use ply_session::{Input, Prompt};
use ply_wire::convert::content::Malformed;
use ply_wire::negotiate::Version;
use ply_wire::{convert, method, v1, v2};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Connection;
use super::views::Attached;
use crate::About;
use crate::client::Client;
use crate::error::no_such_session;
use crate::session;
use crate::session::control::{Control, Heard, Waiter};

/// The method.
const METHOD: &str = "_session/steering";
/// The name under which a request says more about it, and under which a prompt is marked.
const KEY: &str = "steering";

/// Returns what clients are told in the answer to `initialize`, where other agents have it. It is among the capabilities as well.
pub(super) fn advertised(about: &About) -> Option<v2::Meta> {
    let mut meta = v2::Meta::new();
    meta.insert(KEY.to_owned(), json!({"supported": true}));
    about.steering.then_some(meta)
}

/// Returns whether a prompt is marked as words for the turn that runs.
pub(super) fn is_marked(meta: &v2::Meta) -> bool {
    match meta.get(KEY) {
        Some(Value::Bool(is_marked)) => *is_marked,
        Some(Value::Object(_)) => true,
        _ => false,
    }
}

/// Returns whether the client wants to send a prompt itself if no turn runs: the answer to that is whose end it waits for.
fn wants_to_prompt(meta: Option<&v2::Meta>) -> bool {
    let behavior = meta.and_then(|meta| meta.get(KEY)?.get("idleBehavior")?.as_str());
    behavior == Some("promptRequired")
}

impl Connection {
    /// Returns whether a message is one of words for a turn, of an agent that takes them.
    pub(super) fn steers(&self, extension: &method::Extension) -> bool {
        self.about().steering && &*extension.method == METHOD
    }

    /// Adds to the turn that runs. Without one, it begins a turn like any prompt, or does nothing if the client says so.
    pub(super) fn steer(
        &self,
        client: &Arc<Client>,
        extension: &method::Extension,
        responder: Responder,
    ) {
        let (id, content, meta) = match read(client.version, extension) {
            Ok(read) => read,
            Err(error) => return responder.respond::<()>(Err(error)),
        };
        let Some(Attached { session, view, .. }) = self.attached(&id) else {
            return responder.respond::<()>(Err(no_such_session(&id)));
        };
        let is_unreadable = |block| convert::content::check(block) == Err(Malformed::Data);
        if content.iter().any(is_unreadable) {
            let error = RpcError::invalid_params(Malformed::Data.to_string());
            return responder.respond::<()>(Err(error));
        }
        let steers = session.is_steered();
        if !steers && wants_to_prompt(meta.as_ref()) {
            let answer = json!({"outcome": "promptRequired", "reason": "noRunningTurn"});
            return responder.respond(Ok(answer));
        }
        let (tell, told) = oneshot::channel();
        let prompt = Prompt {
            request: self.host.next_request(),
            view,
            content,
            operation: None,
            steers,
        };
        let input = Box::new(Input::Prompt(prompt));
        if let Err(control) = session.control(Control::Request(input, Waiter::Steering(tell))) {
            session::refuse(control, &ply_session::no_such_session(&id));
        }
        responder.run(async move {
            match told.await {
                Ok(Ok(Heard::Injected)) => Ok(json!({"outcome": "injected"})),
                Ok(Ok(Heard::StartedNewTurn)) => Ok(json!({"outcome": "startedNewTurn"})),
                Ok(Err(error)) => Err(ply_wire::link::rpc_error_v2(&error)),
                // The session ended before anybody heard it.
                Err(_) => Ok(json!({"outcome": "failed", "reason": "sessionClosed"})),
            }
        });
    }
}

type Read = (v2::SessionId, Vec<v2::ContentBlock>, Option<v2::Meta>);

/// Reads the params, which are those of a prompt.
fn read(version: Version, extension: &method::Extension) -> Result<Read, RpcError> {
    let params = extension
        .params
        .as_ref()
        .map_or("{}", |params| params.get());
    let odd = |error: serde_json::Error| RpcError::from_decode(&error);
    match version {
        Version::V1 => {
            let request: v1::PromptRequest = serde_json::from_str(params).map_err(odd)?;
            let content = request.prompt.into_iter().map(convert::content::up);
            let id = v2::SessionId::new(request.session_id.0);
            Ok((id, content.collect(), request.meta))
        }
        Version::V2 => {
            let request: v2::PromptRequest = serde_json::from_str(params).map_err(odd)?;
            Ok((request.session_id, request.prompt, request.meta))
        }
    }
}
