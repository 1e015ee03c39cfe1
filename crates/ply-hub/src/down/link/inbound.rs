//! What the agent sends: updates, questions, requests for files and terminals.

use ply_rpc::envelope::{self, Answer as To, Message, Rejected};
use ply_rpc::{CANCEL_REQUEST, RequestId, RpcError, clean};
use ply_wire::direct::Update;
use ply_wire::lift::PermissionUp;
use ply_wire::method::v1 as methods_v1;
use ply_wire::method::{DecodeError, decode_params, is_extension};
use ply_wire::negotiate::Version;
use ply_wire::{convert, v1, v2};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::session::{Early, Raw};
use super::{
    Answer, Asked, EARLY_UPDATES_MAX, Kind, Link, Output, Question, REQUESTS_OPEN_MAX, Service,
    named,
};

impl Link {
    pub(super) fn take(&mut self, line: &[u8], out: &mut Vec<Output>) {
        let line = clean::strip(line);
        if line.is_empty() || self.is_plain_update(line, out) {
            return;
        }
        match envelope::parse(line) {
            Ok(Message::Request { id, method, params }) => self.request(id, &method, params, out),
            Ok(Message::Notification { method, params }) => self.notified(&method, params, out),
            Ok(Message::Response { id, outcome }) => self.response(&id, &outcome, out),
            Err(Rejected { error, answer, .. }) => {
                out.push(Output::Odd(format!(
                    "a line is no message: {}",
                    reason(&error)
                )));
                match answer {
                    To::To(id) => self.refuse(&id, &error, out),
                    To::EndsCall(id) => self.unreadable(&id, out),
                    _ => {}
                }
            }
        }
    }

    /// Takes the updates that come most by the short way.
    fn is_plain_update(&mut self, line: &[u8], out: &mut Vec<Output>) -> bool {
        let Some(update) = str::from_utf8(line).ok().and_then(Update::read) else {
            return false;
        };
        if self.session().is_none_or(|id| &*id.0 != update.session()) {
            return false;
        }
        let update = match self.version() {
            Some(Version::V1) => Raw::V1(update.into_v1()),
            _ => match update.into_v2() {
                Some(update) => Raw::V2(update),
                None => return false,
            },
        };
        self.update(update, out);
        true
    }

    fn notified(&mut self, method: &str, params: Option<&RawValue>, out: &mut Vec<Output>) {
        match method {
            "session/update" => match self.read_update(params) {
                Ok((session, update)) => self.update_of(session, update, out),
                Err(error) => out.push(Output::Odd(format!("an update: {error}"))),
            },
            CANCEL_REQUEST => self.retracted(params, out),
            "elicitation/complete" => {
                // Both versions say it alike.
                match decode_params::<v2::CompleteElicitationNotification>(params) {
                    Ok(complete) => out.push(Output::VisitOver(complete.elicitation_id)),
                    Err(error) => out.push(Output::Odd(format!("the end of a visit: {error}"))),
                }
            }
            method => out.push(Output::Odd(format!(
                "unknown notification `{}`",
                named(method)
            ))),
        }
    }

    fn read_update(&self, params: Option<&RawValue>) -> Result<(v2::SessionId, Raw), DecodeError> {
        if self.version() != Some(Version::V1) {
            let update: v2::UpdateSessionNotification = decode_params(params)?;
            return Ok((update.session_id, Raw::V2(update.update)));
        }
        let id = |id: v1::SessionId| v2::SessionId::new(id.0);
        match methods_v1::lenient_session_update(params)? {
            methods_v1::LenientSessionUpdate::Known(known) => {
                Ok((id(known.session_id), Raw::V1(known.update)))
            }
            methods_v1::LenientSessionUpdate::Unknown {
                session_id, update, ..
            } => Ok((
                id(session_id),
                Raw::UnknownV1(decode_params(Some(&update))?),
            )),
            _ => Err(DecodeError::MethodNotFound),
        }
    }

    fn update_of(&mut self, session: v2::SessionId, update: Raw, out: &mut Vec<Output>) {
        match &mut self.session {
            Some(open) if open.id.as_ref() == Some(&session) => self.update(update, out),
            // Many agents tell of a session before they have answered which id it has.
            Some(open) if open.id.is_none() && open.early.len() < EARLY_UPDATES_MAX => {
                open.early.push(Early { session, update });
            }
            _ => out.push(Output::Odd("an update names another session".to_owned())),
        }
    }

    fn request(
        &mut self,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
        out: &mut Vec<Output>,
    ) {
        let Some(version) = self.version() else {
            out.push(Output::Odd(
                "a request came before the handshake".to_owned(),
            ));
            let error = RpcError::invalid_request("the connection is not initialized");
            self.refuse(&id, &error, out);
            if method == "initialize" {
                self.echoes(out);
            }
            return;
        };
        if self.requests.values().any(|asked| asked.id == id) {
            out.push(Output::Odd(
                "a request has the id of another that is open".to_owned(),
            ));
            let error = RpcError::invalid_request("the id belongs to a request that is open");
            return self.refuse(&id, &error, out);
        }
        if self.requests.len() >= REQUESTS_OPEN_MAX {
            out.push(Output::Odd("too many requests are open".to_owned()));
            return self.refuse(&id, &RpcError::internal("too many requests are open"), out);
        }
        let taken = match (version, method) {
            (_, "session/request_permission") => self.permission(version, &id, params, out),
            (_, "elicitation/create") if self.greeting.is_some_and(|hub| hub.elicitation) => {
                self.elicitation(version, &id, params, out)
            }
            (Version::V1, method) => self.service(&id, method, params, out),
            _ => Err(DecodeError::MethodNotFound),
        };
        if let Err(error) = taken {
            if !is_extension(method) {
                out.push(Output::Odd(format!("`{}`: {error}", named(method))));
            }
            self.refuse(&id, &error.into(), out);
        }
    }

    fn keep(&mut self, id: &RequestId, kind: Kind) -> u64 {
        self.last_request += 1;
        let id = id.clone();
        self.requests.insert(self.last_request, Asked { id, kind });
        self.last_request
    }

    fn permission(
        &mut self,
        version: Version,
        id: &RequestId,
        params: Option<&RawValue>,
        out: &mut Vec<Output>,
    ) -> Result<(), DecodeError> {
        let (ask, request) = match version {
            Version::V2 => {
                let request: v2::RequestPermissionRequest = decode_params(params)?;
                self.tell_foreign(&request.session_id, out);
                if let Some(v2::RequestPermissionSubject::ToolCall(subject)) = &request.subject {
                    let call = v2::SessionUpdate::ToolCallUpdate(subject.tool_call.clone());
                    self.update(Raw::V2(call), out);
                }
                (None, request)
            }
            Version::V1 => {
                let asked = methods_v1::lenient_permission_request(params)?;
                let session = v2::SessionId::new(asked.request.session_id.0.clone());
                self.tell_foreign(&session, out);
                let Some(session) = &mut self.session else {
                    return Err(DecodeError::InvalidParams("no session is open".into()));
                };
                let edits = session.edits_of_call(&asked.request.tool_call);
                let mut up = None;
                session.lift(edits, out, |lifter, lifted| {
                    up = Some(lifter.permission_asked(&asked, lifted));
                });
                match up {
                    Some(PermissionUp::Ask(ask, request)) => (Some(ask), *request),
                    _ => {
                        out.push(Output::Odd(
                            "a permission request has no options".to_owned(),
                        ));
                        let outcome = v1::RequestPermissionOutcome::Cancelled;
                        let answer = v1::RequestPermissionResponse::new(outcome);
                        self.respond(id, Ok(&answer), out);
                        return Ok(());
                    }
                }
            }
        };
        let options = request.options.iter();
        let options = options.map(|option| option.option_id.clone()).collect();
        let number = self.keep(id, Kind::Permission { ask, options });
        // Nothing may be allowed any more in a turn that was cancelled.
        if self.is_cancelling() || request.options.is_empty() {
            self.answer(number, Answer::Cancelled, out);
        } else {
            out.push(Output::Ask {
                request: number,
                question: Question::Permission(Box::new(request)),
            });
        }
        Ok(())
    }

    /// Notes a question about another session. It is asked all the same: agents give subagents sessions of their own, and one
    /// that is not asked about would wait for ever.
    fn tell_foreign(&self, session: &v2::SessionId, out: &mut Vec<Output>) {
        if self.session() != Some(session) {
            out.push(Output::Odd("a question names another session".to_owned()));
        }
    }

    fn elicitation(
        &mut self,
        version: Version,
        id: &RequestId,
        params: Option<&RawValue>,
        out: &mut Vec<Output>,
    ) -> Result<(), DecodeError> {
        let mut request: v2::CreateElicitationRequest = match version {
            Version::V2 => decode_params(params)?,
            Version::V1 => {
                let method = "elicitation/create";
                let inbound = methods_v1::ClientInbound::decode(method, params)?;
                let methods_v1::ClientInbound::CreateElicitation(asked) = inbound else {
                    return Err(DecodeError::MethodNotFound);
                };
                // The ids of requests are the same in both readings of one connection.
                let same = |id: &v1::RequestId| {
                    let id = serde_json::to_value(id).ok()?;
                    serde_json::from_value(id).ok()
                };
                let up = convert::elicitation::request_up(&asked, same);
                up.ok_or_else(|| DecodeError::InvalidParams("it names no request".into()))?
            }
        };
        let scope = match &mut request.mode {
            v2::ElicitationMode::Form(form) => {
                if !convert::elicitation::is_flat(&form.requested_schema) {
                    let words = "a form holds plain values and choices only";
                    return Err(DecodeError::InvalidParams(words.into()));
                }
                &mut form.scope
            }
            v2::ElicitationMode::Url(url) => &mut url.scope,
            _ => {
                return Err(DecodeError::InvalidParams(
                    "the mode is not known here".into(),
                ));
            }
        };
        let mut ask = None;
        if let Some(session) = &mut self.session {
            if let (v2::ElicitationScope::Session(scope), Some(lifter)) = (scope, &session.lifter) {
                let call = scope.tool_call_id.take();
                let meant = call.map(|id| v1::ToolCallId::new(id.0));
                scope.tool_call_id = meant.and_then(|id| lifter.tool_call_id(&id));
            }
            session.lift(Vec::new(), out, |lifter, lifted| {
                ask = Some(lifter.ask_opened(None, lifted));
            });
        }
        let number = self.keep(id, Kind::Elicitation { ask });
        if self.is_cancelling() {
            self.answer(number, Answer::Cancelled, out);
        } else {
            out.push(Output::Ask {
                request: number,
                question: Question::Elicitation(Box::new(request)),
            });
        }
        Ok(())
    }

    fn service(
        &mut self,
        id: &RequestId,
        method: &str,
        params: Option<&RawValue>,
        out: &mut Vec<Output>,
    ) -> Result<(), DecodeError> {
        fn read<T: DeserializeOwned>(
            params: Option<&RawValue>,
            service: impl FnOnce(T) -> Service,
        ) -> Result<Service, DecodeError> {
            decode_params(params).map(service)
        }
        let hub = self.greeting.ok_or(DecodeError::MethodNotFound)?;
        let service = match method {
            "fs/read_text_file" if hub.files => read(params, Service::ReadFile),
            "fs/write_text_file" if hub.files => read(params, Service::WriteFile),
            "terminal/create" if hub.terminals => read(params, Service::CreateTerminal),
            "terminal/output" if hub.terminals => read(params, Service::TerminalOutput),
            "terminal/wait_for_exit" if hub.terminals => read(params, Service::WaitForTerminal),
            "terminal/kill" if hub.terminals => read(params, Service::KillTerminal),
            "terminal/release" if hub.terminals => read(params, Service::ReleaseTerminal),
            _ => Err(DecodeError::MethodNotFound),
        }?;
        let request = self.keep(id, Kind::Service);
        out.push(Output::Service { request, service });
        Ok(())
    }

    /// The agent takes a request of its own back.
    fn retracted(&mut self, params: Option<&RawValue>, out: &mut Vec<Output>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancel {
            request_id: RequestId,
        }
        let Ok(Cancel { request_id }) = decode_params(params) else {
            return out.push(Output::Odd("a cancelled request has no id".to_owned()));
        };
        let mut requests = self.requests.iter();
        // It may have been answered meanwhile.
        let Some((number, _)) = requests.find(|(_, asked)| asked.id == request_id) else {
            return;
        };
        let number = *number;
        if let Some(asked) = self.close(number, out) {
            self.refuse(&asked.id, &RpcError::cancelled(), out);
            out.push(Output::Retracted { request: number });
        }
    }

    pub(super) fn answer(&mut self, request: u64, answer: Answer, out: &mut Vec<Output>) {
        let version = self.version();
        let is_offered = match (self.requests.get(&request), &answer) {
            (Some(asked), Answer::Selected(option)) => match &asked.kind {
                Kind::Permission { options, .. } => options.contains(option),
                _ => false,
            },
            (Some(_), _) => true,
            (None, _) => {
                return out.push(Output::Odd("a question was answered twice".to_owned()));
            }
        };
        if !is_offered {
            return out.push(Output::Odd(
                "an answer was not among the options".to_owned(),
            ));
        }
        let Some(Asked { id, kind }) = self.close(request, out) else {
            return;
        };
        match (kind, answer) {
            (Kind::Permission { .. }, Answer::Selected(option)) => {
                let outcome = v2::SelectedPermissionOutcome::new(option);
                self.decide(&id, v2::RequestPermissionOutcome::Selected(outcome), out);
            }
            (Kind::Permission { .. }, Answer::Cancelled) => {
                self.decide(
                    &id,
                    v2::RequestPermissionOutcome::from(v2::CancelledPermissionOutcome::new()),
                    out,
                );
            }
            (Kind::Elicitation { .. }, answer @ (Answer::Elicited(_) | Answer::Cancelled)) => {
                let action = match answer {
                    Answer::Elicited(action) => action,
                    _ => v2::ElicitationAction::Cancel,
                };
                let answer = v2::CreateElicitationResponse::new(action);
                match version {
                    Some(Version::V1) => {
                        let answer = convert::elicitation::response_down(&answer);
                        self.respond(&id, Ok(&answer), out);
                    }
                    _ => self.respond(&id, Ok(&answer), out),
                }
            }
            _ => self.refuse(&id, &RpcError::internal("nobody could be asked"), out),
        }
    }

    fn decide(
        &mut self,
        id: &RequestId,
        outcome: v2::RequestPermissionOutcome,
        out: &mut Vec<Output>,
    ) {
        match self.version() {
            Some(Version::V1) => {
                let outcome = convert::permission::outcome_down(&outcome);
                let answer = v1::RequestPermissionResponse::new(outcome);
                self.respond(id, Ok(&answer), out);
            }
            _ => {
                let answer = v2::RequestPermissionResponse::new(outcome);
                self.respond(id, Ok(&answer), out);
            }
        }
    }

    pub(super) fn served(
        &mut self,
        request: u64,
        terminal: Option<v1::TerminalId>,
        result: Option<Result<Value, RpcError>>,
        out: &mut Vec<Output>,
    ) {
        let Some(asked) = self.close(request, out) else {
            return out.push(Output::Odd("a request was answered twice".to_owned()));
        };
        // Before the agent learns the id, so that no update can name it earlier.
        let session = self.session.as_mut();
        if let (Some(terminal), Some(session)) = (terminal, session)
            && let Some(lifter) = &mut session.lifter
        {
            lifter.terminal_created(terminal);
        }
        match result {
            Some(Ok(result)) => self.respond(&asked.id, Ok(&result), out),
            Some(Err(error)) => self.refuse(&asked.id, &error, out),
            None => self.refuse(&asked.id, &RpcError::internal("the answer was lost"), out),
        }
    }

    /// Answers the questions that are open as dismissed: the work they belong to is over or cancelled.
    pub(super) fn dismiss_questions(&mut self, out: &mut Vec<Output>) {
        let asks = |asked: &Asked| !matches!(asked.kind, Kind::Service);
        let open = self.requests.iter().filter(|(_, asked)| asks(asked));
        let open: Vec<u64> = open.map(|(number, _)| *number).collect();
        for request in open {
            self.answer(request, Answer::Cancelled, out);
            out.push(Output::Retracted { request });
        }
    }

    /// Forgets a request that is about to be answered.
    fn close(&mut self, request: u64, out: &mut Vec<Output>) -> Option<Asked> {
        let asked = self.requests.remove(&request)?;
        let (Kind::Permission { ask, .. } | Kind::Elicitation { ask }) = &asked.kind else {
            return Some(asked);
        };
        if let (Some(ask), Some(session)) = (*ask, &mut self.session) {
            session.lift(Vec::new(), out, |lifter, lifted| {
                lifter.ask_closed(ask, lifted)
            });
        }
        Some(asked)
    }
}

/// Returns why a line is no message.
fn reason(error: &RpcError) -> String {
    let data = error.data.as_ref();
    let words = data.and_then(|data| serde_json::from_str(data.get()).ok());
    words.unwrap_or_else(|| error.message.clone())
}
