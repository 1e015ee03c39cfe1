//! The agent: it serves one request after the other, each to its end.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use agent_client_protocol_schema::v1::{
    ContentBlock, ContentChunk, InitializeRequest, NewSessionRequest, NewSessionResponse,
    PermissionOption, PermissionOptionKind, PromptRequest, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SessionId, SessionNotification,
    SessionUpdate, SetSessionModeRequest, ToolCallUpdate, ToolCallUpdateFields,
};
use memchr::memmem;

use super::super::task::Task;
use super::QUESTION;
use crate::Result;
use crate::payload::{self, CHUNK_TEXT, LARGE_TEXT_BYTES, large_text};
use crate::peer::floor::lines::Lines;
use crate::peer::floor::{
    AnswerIn, CallIn, METHOD_WITHIN, WRITE_BYTES, encode_answer, encode_call, encode_notice,
};
use crate::process::agent_pipes;

/// Serves until the input closes.
pub(in crate::sdks) fn serve() -> Result<()> {
    let (input, output) = agent_pipes()?;
    let mut agent = Agent {
        lines: Lines::new(input),
        out: BufWriter::with_capacity(WRITE_BYTES, output),
        sessions: 0,
    };
    while agent.serve_one()? {
        if !agent.lines.has_line() {
            agent.out.flush()?;
        }
    }
    Ok(())
}

struct Agent {
    lines: Lines<File>,
    out: BufWriter<File>,
    sessions: u64,
}

impl Agent {
    fn serve_one(&mut self) -> Result<bool> {
        let Some(line) = self.lines.next()? else {
            return Ok(false);
        };
        let head = line.get(..METHOD_WITHIN).unwrap_or(line);
        let names = |method: &str| memmem::find(head, method.as_bytes()).is_some();
        if names("session/set_mode") {
            let call: CallIn<SetSessionModeRequest> = serde_json::from_slice(line)?;
            encode_answer(&mut self.out, call.id, &payload::mode_set())?;
        } else if names("session/prompt") {
            let call: CallIn<PromptRequest> = serde_json::from_slice(line)?;
            self.prompt(call.params)?;
            encode_answer(&mut self.out, call.id, &payload::end_turn())?;
        } else if names("session/new") {
            let call: CallIn<NewSessionRequest> = serde_json::from_slice(line)?;
            let id = SessionId::new(format!("sess-{:032x}", self.sessions));
            self.sessions += 1;
            encode_answer(&mut self.out, call.id, &NewSessionResponse::new(id))?;
        } else {
            let call: CallIn<InitializeRequest> = serde_json::from_slice(line)?;
            let answer = payload::initialized(call.params.protocol_version);
            encode_answer(&mut self.out, call.id, &answer)?;
        }
        Ok(true)
    }

    fn prompt(&mut self, request: PromptRequest) -> Result<()> {
        let Some(ContentBlock::Text(text)) = request.prompt.first() else {
            return Err("there is no text in the prompt".into());
        };
        let session = request.session_id;
        match Task::of(&text.text) {
            Task::Stream(count) => {
                for _ in 0..count {
                    self.say(&session, CHUNK_TEXT.to_owned())?;
                }
            }
            Task::Ask(count) => {
                for id in 0..count {
                    self.ask(&session, id)?;
                }
            }
            Task::Big => self.say(&session, large_text(LARGE_TEXT_BYTES))?,
            Task::Measure => self.say(&session, text.text.len().to_string())?,
            _ => return Err("the floor does not do this work".into()),
        }
        Ok(())
    }

    fn say(&mut self, session: &SessionId, text: String) -> Result<()> {
        let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into()));
        let update = SessionNotification::new(session.clone(), update);
        encode_notice(&mut self.out, "session/update", &update)
    }

    /// Asks and waits for the answer, which is all that can come.
    fn ask(&mut self, session: &SessionId, id: u64) -> Result<()> {
        encode_call(
            &mut self.out,
            id,
            "session/request_permission",
            &permission(session),
        )?;
        self.out.flush()?;
        let line = self.lines.next()?.ok_or("the client closed its output")?;
        let answer: AnswerIn<RequestPermissionResponse> = serde_json::from_slice(line)?;
        match answer.result.outcome {
            RequestPermissionOutcome::Selected(_) if answer.id == id => Ok(()),
            _ => Err("a permission was not granted".into()),
        }
    }
}

fn permission(session: &SessionId) -> RequestPermissionRequest {
    use PermissionOptionKind as Kind;
    let call = ToolCallUpdate::new("tool-1", ToolCallUpdateFields::new().title(QUESTION));
    let options = [
        ("allow_once", "Allow once", Kind::AllowOnce),
        ("allow_always", "Always allow", Kind::AllowAlways),
        ("reject_once", "Reject once", Kind::RejectOnce),
        ("reject_always", "Always reject", Kind::RejectAlways),
    ];
    let options = options.map(|(id, name, kind)| PermissionOption::new(id, name, kind));
    RequestPermissionRequest::new(session.clone(), call, options.to_vec())
}
