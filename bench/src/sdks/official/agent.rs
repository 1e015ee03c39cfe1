//! The agent, with the handlers that the works need and as little behind them as possible.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse,
    ListSessionsRequest, ListSessionsResponse, NewSessionRequest, NewSessionResponse,
    PermissionOption, PermissionOptionKind, PromptRequest, PromptResponse,
    RequestPermissionOutcome, RequestPermissionRequest, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigSelectOption, SessionId, SessionInfo, SessionMode,
    SessionModeState, SessionNotification, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse, StopReason,
    ToolCallUpdate, ToolCallUpdateFields,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client, ConnectTo, Error, on_receive_notification, on_receive_request,
};

use super::super::drive::MODES;
use super::super::task::Task;
use super::OPTION;
use crate::Result;
use crate::allocations;
use crate::payload::{CHUNK_TEXT, LARGE_TEXT_BYTES, large_text};
use crate::peer::sdk::{UPDATES_PER_YIELD, yield_once};

/// The open sessions, each with the flag that cancels its turn.
#[derive(Clone, Default)]
struct Sessions(Arc<Mutex<HashMap<SessionId, Arc<AtomicBool>>>>);

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<AtomicBool>>> {
        self.0.lock().expect("nothing panics holding it")
    }
}

/// Serves until the client closes the connection.
pub(super) async fn serve(transport: impl ConnectTo<Agent> + 'static) -> Result<()> {
    let sessions = Sessions::default();
    let [opened, listed, prompted] = std::array::from_fn(|_| sessions.clone());
    Agent
        .v1()
        .name("ply-bench")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _client| {
                responder.respond(InitializeResponse::new(request.protocol_version))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_request: NewSessionRequest, responder, _client| {
                let mut opened = opened.lock();
                // As long as an id that nobody can guess.
                let id = SessionId::new(format!("sess-{:032x}", opened.len()));
                opened.insert(id.clone(), Arc::default());
                let [first, _] = MODES;
                let answer = NewSessionResponse::new(id).modes(modes(first));
                responder.respond(answer.config_options(options(first)))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_request: ListSessionsRequest, responder, _client| {
                let infos = listed.lock().keys().map(info).collect();
                responder.respond(ListSessionsResponse::new(infos))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest, responder, _client| {
                let value = request.value.as_value_id().map(|id| &*id.0);
                let options = options(value.unwrap_or_default());
                responder.respond(SetSessionConfigOptionResponse::new(options))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_request: SetSessionModeRequest, responder, _client| {
                responder.respond(SetSessionModeResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, client| {
                let cancelled = prompted.lock().get(&request.session_id).cloned();
                let cancelled = cancelled.ok_or_else(Error::invalid_params)?;
                prompt(request, cancelled, responder, &client)
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _client| {
                if let Some(flag) = sessions.lock().get(&cancel.session_id) {
                    flag.store(true, Ordering::Relaxed);
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(transport)
        .await
        .map_err(Into::into)
}

/// Works on a prompt in a task, as a handler must not wait.
fn prompt(
    request: PromptRequest,
    cancelled: Arc<AtomicBool>,
    responder: Responder<PromptResponse>,
    connection: &ConnectionTo<Client>,
) -> agent_client_protocol::Result<()> {
    allocations::note().map_err(|error| Error::internal_error().data(error.to_string()))?;
    let (task, length) = match request.prompt.first() {
        Some(ContentBlock::Text(text)) => (Task::of(&text.text), text.text.len()),
        _ => return responder.respond_with_error(Error::invalid_params()),
    };
    let (client, session) = (connection.clone(), request.session_id);
    connection.spawn(async move {
        let say = |text: String| {
            let chunk = ContentChunk::new(text.into());
            let update = SessionUpdate::AgentMessageChunk(chunk);
            client.send_notification(SessionNotification::new(session.clone(), update))
        };
        match task {
            Task::Stream(count) => {
                cancelled.store(false, Ordering::Relaxed);
                for sent in 1..=count {
                    if cancelled.load(Ordering::Relaxed) {
                        return responder.respond(PromptResponse::new(StopReason::Cancelled));
                    }
                    say(CHUNK_TEXT.to_owned())?;
                    if sent % UPDATES_PER_YIELD == 0 {
                        yield_once().await;
                    }
                }
            }
            Task::Ask(count) => {
                for _ in 0..count {
                    let ask = client.send_request(permission(&session));
                    if ask.block_task().await?.outcome == RequestPermissionOutcome::Cancelled {
                        return responder.respond_with_error(Error::internal_error());
                    }
                }
            }
            Task::Big => say(allocations::own(large_text(LARGE_TEXT_BYTES)))?,
            Task::Measure => say(length.to_string())?,
            // Nothing is kept here, so nobody asks.
            Task::Work(_)
            | Task::Alternate(_)
            | Task::Talk(_)
            | Task::Monologue(_)
            | Task::Progress(_) => {}
        }
        responder.respond(PromptResponse::new(StopReason::EndTurn))
    })
}

fn permission(session: &SessionId) -> RequestPermissionRequest {
    use PermissionOptionKind as Kind;
    let call = ToolCallUpdate::new("tool-1", ToolCallUpdateFields::new().title("Run the tests"));
    let options = [
        ("allow_once", "Allow once", Kind::AllowOnce),
        ("allow_always", "Always allow", Kind::AllowAlways),
        ("reject_once", "Reject once", Kind::RejectOnce),
        ("reject_always", "Always reject", Kind::RejectAlways),
    ];
    let options = options.map(|(id, name, kind)| PermissionOption::new(id, name, kind));
    RequestPermissionRequest::new(session.clone(), call, options.to_vec())
}

fn info(id: &SessionId) -> SessionInfo {
    SessionInfo::new(id.clone(), "/").updated_at("2026-01-01T00:00:00Z".to_owned())
}

fn modes(current: &str) -> SessionModeState {
    let modes = MODES.map(|mode| SessionMode::new(mode, mode));
    SessionModeState::new(current.to_owned(), modes.to_vec())
}

fn options(value: &str) -> Vec<SessionConfigOption> {
    let values = MODES.map(|mode| SessionConfigSelectOption::new(mode, mode));
    let value = value.to_owned();
    vec![
        SessionConfigOption::select(OPTION, "Mode", value, values.to_vec())
            .category(SessionConfigOptionCategory::Mode),
    ]
}
