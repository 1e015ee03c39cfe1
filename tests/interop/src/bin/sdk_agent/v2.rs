//! The agent on version 2.

mod turn;

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::v2::schema::{
    AbsolutePath, AgentCapabilities, CancelSessionNotification, CloseSessionRequest,
    CloseSessionResponse, ContentBlock, Error as WireError, ErrorStopReason, IdleStateUpdate,
    Implementation, InitializeRequest, InitializeResponse, ListSessionsRequest,
    ListSessionsResponse, NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse,
    ReplayFrom, ResumeSessionRequest, ResumeSessionResponse, RunningStateUpdate,
    SessionCapabilities, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigSelectOption, SessionId, SessionInfo, SessionUpdate,
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, StateUpdate, StopReason,
    UpdateSessionNotification,
};
use agent_client_protocol::v2::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client, Error, Result, Stdio, on_receive_notification, on_receive_request,
};

use crate::script::{End, perform};
use crate::sessions::{MODES, Session as Stored, Sessions};
use turn::Turn;

type Session = Stored<SessionUpdate>;

struct SdkAgent {
    sessions: Sessions<SessionUpdate>,
}

/// Serves on stdio until the client closes the connection.
pub(crate) async fn serve() -> Result<()> {
    let agent = Arc::new(SdkAgent {
        sessions: Sessions::new(),
    });
    let [new, resume, list, close, option, prompt] = std::array::from_fn(|_| Arc::clone(&agent));
    Agent
        .v2()
        .name("sdk-agent")
        .on_receive_request(
            async move |request: InitializeRequest, responder: Responder<_>, _client| {
                let info = Implementation::new("sdk-agent", env!("CARGO_PKG_VERSION"));
                responder.respond(
                    InitializeResponse::new(request.protocol_version, info)
                        .capabilities(AgentCapabilities::new().session(SessionCapabilities::new())),
                )
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder: Responder<_>, client| {
                let cwd = native(&request.cwd);
                // It offers no MCP servers of any kind.
                if !cwd.is_absolute() || !request.mcp_servers.is_empty() {
                    return responder.respond_with_error(Error::invalid_params());
                }
                let session = new.sessions.create(cwd);
                responder.respond(
                    NewSessionResponse::new(session.id.clone()).config_options(options(&session)),
                )?;
                // A client that takes this state for the end of its first prompt is wrong.
                tell(&client, &session, idle(None))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder: Responder<_>, client| {
                responder.respond_with_result(resume.resume(&request, &client))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder: Responder<_>, _client| {
                // It has one page, so no cursor was ever given out.
                if request.cursor.is_some() {
                    return responder.respond_with_error(Error::invalid_params());
                }
                let cwd = request.cwd.as_ref().map(native);
                let sessions = list.sessions.list(cwd.as_deref());
                responder.respond(ListSessionsResponse::new(
                    sessions.iter().map(|session| info(session)).collect(),
                ))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest,
                        responder: Responder<_>,
                        client: ConnectionTo<Client>| {
                let session = close.sessions.get(&request.session_id.0);
                client.spawn(async move {
                    if let Some(session) = session {
                        session.close().await;
                    }
                    responder.respond(CloseSessionResponse::new())
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest,
                        responder: Responder<_>,
                        _client| {
                // There is one option.
                let value = request.value.as_id().map(|id| &*id.0);
                let value = value.filter(|_| &*request.config_id.0 == "mode");
                responder.respond_with_result(
                    option
                        .set(&request.session_id, value.unwrap_or_default())
                        .map(|session| SetSessionConfigOptionResponse::new(options(&session))),
                )
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, client| {
                prompt.prompt(request, responder, &client)
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelSessionNotification, _client| {
                if let Some(session) = agent.sessions.get(&cancel.session_id.0) {
                    session.cancel();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(Stdio::new())
        .await
}

impl SdkAgent {
    fn resume(
        &self,
        request: &ResumeSessionRequest,
        client: &ConnectionTo<Client>,
    ) -> Result<ResumeSessionResponse> {
        let id = &request.session_id;
        let session = self
            .sessions
            .get(&id.0)
            .ok_or_else(|| unknown_session(id))?;
        let history = match &request.replay_from {
            None => Vec::new(),
            Some(ReplayFrom::Start(_)) => session.state().history.clone(),
            Some(_) => return Err(Error::invalid_params()),
        };
        session.state().open = true;
        for update in history {
            tell(client, &session, update)?;
        }
        let state = if session.is_running() {
            SessionUpdate::StateUpdate(StateUpdate::Running(RunningStateUpdate::new()))
        } else {
            idle(None)
        };
        tell(client, &session, state)?;
        Ok(ResumeSessionResponse::new().config_options(options(&session)))
    }

    fn set(&self, id: &SessionId, mode: &str) -> Result<Arc<Session>> {
        let session = self.open(id)?;
        if MODES.iter().all(|(known, _)| *known != mode) {
            return Err(Error::invalid_params());
        }
        mode.clone_into(&mut session.state().mode);
        Ok(session)
    }

    fn open(&self, id: &SessionId) -> Result<Arc<Session>> {
        self.sessions.open(&id.0).ok_or_else(|| unknown_session(id))
    }

    fn prompt(
        &self,
        request: PromptRequest,
        responder: Responder<PromptResponse>,
        client: &ConnectionTo<Client>,
    ) -> Result<()> {
        let session = match self.open(&request.session_id) {
            Ok(session) => session,
            Err(error) => return responder.respond_with_error(error),
        };
        if !request.prompt.iter().all(is_taken) {
            return responder.respond_with_error(Error::invalid_params());
        }
        let ticket = session.queue();
        let connection = client.clone();
        client.spawn(async move {
            let Some((running, cancelled)) = ticket.insert(responder.cancellation()).await else {
                return responder.respond_with_error(Error::request_cancelled());
            };
            let prompt = text(&request.prompt);
            let (mut turn, message) =
                Turn::begin(connection.clone(), Arc::clone(&session), cancelled);
            responder.respond(PromptResponse::new(message.clone()))?;
            turn.start(message, request.prompt)?;
            let stop = match perform(&mut turn, &prompt).await? {
                End::Finished => StopReason::EndTurn,
                End::MaxTokens => StopReason::MaxTokens,
                End::MaxTurnRequests => StopReason::MaxTurnRequests,
                End::Refusal => StopReason::Refusal,
                End::Cancelled => StopReason::Cancelled,
                End::Failed => StopReason::Error(
                    ErrorStopReason::new().error(WireError::new(-32603, "the model is gone")),
                ),
            };
            let told = tell(&connection, &session, idle(Some(stop)));
            drop(running);
            told
        })
    }
}

fn tell(client: &ConnectionTo<Client>, session: &Session, update: SessionUpdate) -> Result<()> {
    client.send_notification(UpdateSessionNotification::new(session.id.clone(), update))
}

fn idle(stop: Option<StopReason>) -> SessionUpdate {
    SessionUpdate::StateUpdate(StateUpdate::Idle(IdleStateUpdate::new().stop_reason(stop)))
}

fn text(prompt: &[ContentBlock]) -> String {
    let first = prompt.iter().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    });
    first.unwrap_or_default()
}

/// Returns whether a block is of a kind that every agent takes.
fn is_taken(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Text(_) | ContentBlock::ResourceLink(_))
}

fn unknown_session(id: &SessionId) -> Error {
    WireError::session_not_found(id.clone()).into()
}

fn native(path: &AbsolutePath) -> PathBuf {
    AsRef::<std::path::Path>::as_ref(path).to_owned()
}

fn info(session: &Session) -> SessionInfo {
    SessionInfo::new(session.id.clone(), session.cwd.as_path()).title(session.state().title.clone())
}

fn options(session: &Session) -> Vec<SessionConfigOption> {
    let values = MODES.map(|(id, name)| SessionConfigSelectOption::new(id, name));
    let mode = session.state().mode.clone();
    vec![
        SessionConfigOption::select("mode", "Mode", mode, values.to_vec())
            .category(SessionConfigOptionCategory::Mode),
    ]
}
