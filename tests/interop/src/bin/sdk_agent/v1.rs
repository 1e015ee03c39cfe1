//! The agent on version 1.

mod turn;

use std::sync::{Arc, Mutex};

use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ClientCapabilities, CloseSessionRequest,
    CloseSessionResponse, ContentBlock, Error as WireError, Implementation, InitializeRequest,
    InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse,
    ResumeSessionRequest, ResumeSessionResponse, SessionCapabilities, SessionCloseCapabilities,
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption, SessionId,
    SessionInfo, SessionListCapabilities, SessionMode, SessionModeState, SessionNotification,
    SessionResumeCapabilities, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse, StopReason,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client, Error, Result, Stdio, on_receive_notification, on_receive_request,
};

use crate::script::{End, perform};
use crate::sessions::{MODES, Session as Stored, Sessions};
use turn::Turn;

type Session = Stored<SessionUpdate>;

struct SdkAgent {
    sessions: Sessions<SessionUpdate>,
    client: Mutex<ClientCapabilities>,
}

/// Serves on stdio until the client closes the connection.
pub(crate) async fn serve() -> Result<()> {
    let agent = Arc::new(SdkAgent {
        sessions: Sessions::new(),
        client: Mutex::default(),
    });
    let [
        initialize,
        new,
        load,
        resume,
        list,
        close,
        mode,
        option,
        prompt,
    ] = std::array::from_fn(|_| Arc::clone(&agent));
    Agent
        .v1()
        .name("sdk-agent")
        .on_receive_request(
            async move |request: InitializeRequest, responder: Responder<_>, _client| {
                responder.respond(initialize.initialize(request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder: Responder<_>, _client| {
                if !request.cwd.is_absolute() {
                    return responder.respond_with_error(Error::invalid_params());
                }
                let session = new.sessions.create(request.cwd);
                responder.respond(
                    NewSessionResponse::new(session.id.clone())
                        .modes(modes(&session))
                        .config_options(options(&session)),
                )
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder: Responder<_>, client| {
                responder.respond_with_result(load.load(&request, &client))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder: Responder<_>, _client| {
                responder.respond_with_result(resume.resume(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder: Responder<_>, _client| {
                // It has one page, so no cursor was ever given out.
                if request.cursor.is_some() {
                    return responder.respond_with_error(Error::invalid_params());
                }
                let sessions = list.sessions.list(request.cwd.as_deref());
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
            async move |request: SetSessionModeRequest, responder: Responder<_>, _client| {
                responder.respond_with_result(
                    mode.set(&request.session_id, &request.mode_id.0)
                        .map(|_| SetSessionModeResponse::new()),
                )
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest,
                        responder: Responder<_>,
                        _client| {
                // There is one option.
                let value = request.value.as_value_id().map(|id| &*id.0);
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
            async move |cancel: CancelNotification, _client| {
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
    fn initialize(&self, request: InitializeRequest) -> InitializeResponse {
        *self.client.lock().expect("nothing panics holding it") = request.client_capabilities;
        InitializeResponse::new(request.protocol_version)
            .agent_info(Implementation::new("sdk-agent", env!("CARGO_PKG_VERSION")))
            .agent_capabilities(
                AgentCapabilities::new()
                    .load_session(true)
                    .session_capabilities(
                        SessionCapabilities::new()
                            .list(SessionListCapabilities::new())
                            .resume(SessionResumeCapabilities::new())
                            .close(SessionCloseCapabilities::new()),
                    ),
            )
    }

    fn load(
        &self,
        request: &LoadSessionRequest,
        client: &ConnectionTo<Client>,
    ) -> Result<LoadSessionResponse> {
        let session = self.reopen(&request.session_id)?;
        let history = session.state().history.clone();
        for update in history {
            client.send_notification(SessionNotification::new(session.id.clone(), update))?;
        }
        Ok(LoadSessionResponse::new()
            .modes(modes(&session))
            .config_options(options(&session)))
    }

    fn resume(&self, request: &ResumeSessionRequest) -> Result<ResumeSessionResponse> {
        let session = self.reopen(&request.session_id)?;
        Ok(ResumeSessionResponse::new()
            .modes(modes(&session))
            .config_options(options(&session)))
    }

    fn reopen(&self, id: &SessionId) -> Result<Arc<Session>> {
        let session = self.sessions.get(&id.0).ok_or_else(unknown_session)?;
        session.state().open = true;
        Ok(session)
    }

    fn set(&self, id: &SessionId, mode: &str) -> Result<Arc<Session>> {
        let session = self.sessions.open(&id.0).ok_or_else(unknown_session)?;
        if MODES.iter().all(|(known, _)| *known != mode) {
            return Err(Error::invalid_params());
        }
        mode.clone_into(&mut session.state().mode);
        Ok(session)
    }

    fn prompt(
        &self,
        request: PromptRequest,
        responder: Responder<PromptResponse>,
        client: &ConnectionTo<Client>,
    ) -> Result<()> {
        let Some(session) = self.sessions.open(&request.session_id.0) else {
            return responder.respond_with_error(unknown_session());
        };
        if !request.prompt.iter().all(is_taken) {
            return responder.respond_with_error(Error::invalid_params());
        }
        let ticket = session.queue();
        let services = self.client.lock().expect("nothing panics holding it");
        let services = services.clone();
        let connection = client.clone();
        client.spawn(async move {
            let Some((running, cancelled)) = ticket.insert(responder.cancellation()).await else {
                return responder.respond(PromptResponse::new(StopReason::Cancelled));
            };
            let prompt = text(&request.prompt);
            let mut turn = Turn::begin(connection, session, services, cancelled, request.prompt);
            let end = perform(&mut turn, &prompt).await?;
            let answered = responder.respond_with_result(match end {
                End::Finished => Ok(PromptResponse::new(StopReason::EndTurn)),
                End::MaxTokens => Ok(PromptResponse::new(StopReason::MaxTokens)),
                End::MaxTurnRequests => Ok(PromptResponse::new(StopReason::MaxTurnRequests)),
                End::Refusal => Ok(PromptResponse::new(StopReason::Refusal)),
                End::Cancelled => Ok(PromptResponse::new(StopReason::Cancelled)),
                End::Failed => Err(Error::new(-32603, "the model is gone")),
            });
            drop(running);
            answered
        })
    }
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

fn unknown_session() -> Error {
    WireError::resource_not_found(None).into()
}

fn info(session: &Session) -> SessionInfo {
    SessionInfo::new(session.id.clone(), &session.cwd).title(session.state().title.clone())
}

fn modes(session: &Session) -> SessionModeState {
    let known = MODES.map(|(id, name)| SessionMode::new(id, name));
    SessionModeState::new(session.state().mode.clone(), known.to_vec())
}

fn options(session: &Session) -> Vec<SessionConfigOption> {
    let values = MODES.map(|(id, name)| SessionConfigSelectOption::new(id, name));
    let mode = session.state().mode.clone();
    vec![
        SessionConfigOption::select("mode", "Mode", mode, values.to_vec())
            .category(SessionConfigOptionCategory::Mode),
    ]
}
