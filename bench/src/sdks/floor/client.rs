//! The client: it times what every SDK's client is timed on.

use std::collections::HashMap;
use std::io::{BufWriter, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use agent_client_protocol_schema::v1::{
    ContentBlock, InitializeResponse, NewSessionRequest, NewSessionResponse, PermissionOptionKind,
    PromptRequest, PromptResponse, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionId, SessionNotification,
    SessionUpdate, SetSessionModeRequest, SetSessionModeResponse,
};
use serde::{Deserialize, Serialize};

use super::super::drive::MODES;
use super::super::task::Task;
use super::super::work::{Plan, Work};
use super::QUESTION;
use crate::Result;
use crate::drive::expect_end_turn;
use crate::measure::{IN_FLIGHT, Outcome, median_ms, to_f64};
use crate::payload::{self, CHUNK_TEXT, LARGE_TEXT_BYTES};
use crate::peer::floor::lines::Lines;
use crate::peer::floor::{AnswerIn, CallIn, NoticeIn, WRITE_BYTES, encode_answer, encode_call};
use crate::process::Launch;

/// Does one work and measures.
pub(in crate::sdks) fn run(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    let (agent, stdin, stdout) = launch.spawn()?;
    let mut client = Client {
        lines: Lines::new(stdout),
        stdin,
        out: Vec::new(),
        requests: 0,
    };
    client.call::<InitializeResponse>("initialize", &payload::initialize())?;
    let outcome = match plan.work {
        Work::Updates => client.sessions(plan.count, 1),
        Work::Sessions10 => client.sessions(plan.count, 10),
        Work::Sessions1000 => client.sessions(plan.count, 1000),
        Work::SetMode => client.modes(plan),
        Work::SetMode64 => client.modes_inflight(plan.count),
        Work::Permission => client.permissions(plan.count),
        Work::Large => client.large(plan.count),
        _ => Err("the floor does not do this work".into()),
    }?;
    drop(client);
    agent.finish()?;
    Ok(outcome.noted("official types on blocking pipes, no history and no checks"))
}

struct Client {
    lines: Lines<ChildStdout>,
    stdin: ChildStdin,
    out: Vec<u8>,
    requests: u64,
}

impl Client {
    fn open(&mut self) -> Result<SessionId> {
        let answer: NewSessionResponse = self.call("session/new", &NewSessionRequest::new("/"))?;
        Ok(answer.session_id)
    }

    /// Prompts every session at once and reads all turns.
    fn sessions(&mut self, count: u64, sessions: u64) -> Result<Outcome> {
        let each = (count / sessions).max(1);
        let opening = Instant::now();
        let ids: Vec<SessionId> = (0..sessions).map(|_| self.open()).collect::<Result<_>>()?;
        let opened = opening.elapsed();
        let start = Instant::now();
        let prompt = Task::Stream(each).prompt();
        for id in &ids {
            self.queue("session/prompt", &prompt_of(id, prompt.clone()))?;
        }
        let mut texts: HashMap<SessionId, u64> = HashMap::new();
        let (out, stdin, lines) = (&self.out, &mut self.stdin, &mut self.lines);
        // By a thread of its own: the agent may want its updates read before it reads the last prompt.
        let took = std::thread::scope(|scope| {
            let writing = scope.spawn(move || stdin.write_all(out));
            for _ in 0..sessions {
                for _ in 0..each {
                    let (session, text) = text_of(lines.expect_next()?)?;
                    *texts.entry(session).or_default() += text.len() as u64;
                }
                answer::<PromptResponse>(lines.expect_next()?)
                    .and_then(|answer| expect_end_turn(&answer.result))?;
            }
            let took = start.elapsed();
            writing
                .join()
                .map_err(|_| "the writing thread panicked")??;
            Result::Ok(took)
        })?;
        self.out.clear();
        let whole = each * CHUNK_TEXT.len() as u64;
        if ids.iter().any(|id| texts.get(id) != Some(&whole)) {
            return Err("a session did not get all of its text".into());
        }
        Ok(Outcome::rate(sessions * each, took)
            .with("sessions", to_f64(sessions))
            .with("opening_ms", opened.as_secs_f64() * 1e3))
    }

    fn modes(&mut self, plan: &Plan) -> Result<Outcome> {
        let session = self.open()?;
        let mut waits = Vec::with_capacity(usize::try_from(plan.count)?);
        let modes = MODES.into_iter().cycle();
        for (number, mode) in (0..plan.warm_up + plan.count).zip(modes) {
            let start = Instant::now();
            let request = SetSessionModeRequest::new(session.clone(), mode);
            self.call::<SetSessionModeResponse>("session/set_mode", &request)?;
            if number >= plan.warm_up {
                waits.push(start.elapsed());
            }
        }
        Ok(Outcome::latency(waits))
    }

    /// Every answer is followed by a new request; requests leave when there is nothing left to read without waiting.
    fn modes_inflight(&mut self, count: u64) -> Result<Outcome> {
        let session = self.open()?;
        let mut requests = MODES.into_iter().cycle().take(usize::try_from(count)?);
        let mut next = || {
            let mode = requests.next()?;
            Some(SetSessionModeRequest::new(session.clone(), mode))
        };
        let start = Instant::now();
        for _ in 0..IN_FLIGHT {
            if let Some(request) = next() {
                self.queue("session/set_mode", &request)?;
            }
        }
        for _ in 0..count {
            if !self.lines.has_line() {
                self.flush()?;
            }
            answer::<SetSessionModeResponse>(self.lines.expect_next()?)?;
            if let Some(request) = next() {
                self.queue("session/set_mode", &request)?;
            }
        }
        Ok(Outcome::rate(count, start.elapsed()))
    }

    fn permissions(&mut self, count: u64) -> Result<Outcome> {
        let session = self.open()?;
        let prompt = Task::Ask(count).prompt();
        let start = Instant::now();
        self.queue("session/prompt", &prompt_of(&session, prompt))?;
        self.flush()?;
        for _ in 0..count {
            let line = self.lines.expect_next()?;
            let call: CallIn<RequestPermissionRequest> = serde_json::from_slice(line)?;
            encode_answer(&mut self.out, call.id, &allow(&call.params)?)?;
            self.flush()?;
        }
        self.end_turn()?;
        Ok(Outcome::rate(count, start.elapsed()))
    }

    fn large(&mut self, count: u64) -> Result<Outcome> {
        let session = self.open()?;
        let (mut down, mut up) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let prompt = Task::Measure.prompt();
            let length = prompt.len().to_string();
            let (took, text) = self.timed_turn(&session, prompt)?;
            down.push(took);
            if text != length {
                return Err("the agent got a prompt of another length".into());
            }
            let (took, text) = self.timed_turn(&session, Task::Big.prompt())?;
            up.push(took);
            if text.len() != LARGE_TEXT_BYTES {
                return Err("the update has another length".into());
            }
        }
        Ok(Outcome::default()
            .with("tries", to_f64(count))
            .with("prompt_ms", median_ms(&mut down))
            .with("update_ms", median_ms(&mut up)))
    }

    /// A turn of one update.
    fn timed_turn(&mut self, session: &SessionId, prompt: String) -> Result<(Duration, String)> {
        let start = Instant::now();
        let id = self.next_id();
        // Written while it is encoded, so that the agent reads at the same time.
        let mut out = BufWriter::with_capacity(WRITE_BYTES, &mut self.stdin);
        encode_call(&mut out, id, "session/prompt", &prompt_of(session, prompt))?;
        out.flush()?;
        drop(out);
        let (_, text) = text_of(self.lines.expect_next()?)?;
        self.end_turn()?;
        Ok((start.elapsed(), text))
    }

    fn end_turn(&mut self) -> Result<()> {
        expect_end_turn(&answer::<PromptResponse>(self.lines.expect_next()?)?.result)
    }

    /// Sends a request and returns the answer, which is all that comes.
    fn call<R: for<'a> Deserialize<'a>>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<R> {
        self.queue(method, params)?;
        self.flush()?;
        let answer = answer(self.lines.expect_next()?)?;
        match answer.id + 1 == self.requests {
            true => Ok(answer.result),
            false => Err("an answer came with the wrong id".into()),
        }
    }

    fn queue(&mut self, method: &str, params: &impl Serialize) -> Result<()> {
        let id = self.next_id();
        encode_call(&mut self.out, id, method, params)
    }

    fn next_id(&mut self) -> u64 {
        self.requests += 1;
        self.requests - 1
    }

    fn flush(&mut self) -> Result<()> {
        self.stdin.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }
}

fn prompt_of(session: &SessionId, text: String) -> PromptRequest {
    PromptRequest::new(session.clone(), vec![text.into()])
}

fn answer<R: for<'a> Deserialize<'a>>(line: &[u8]) -> Result<AnswerIn<R>> {
    Ok(serde_json::from_slice(line)?)
}

/// Returns the session and the text of an update.
fn text_of(line: &[u8]) -> Result<(SessionId, String)> {
    let notice: NoticeIn<SessionNotification> = serde_json::from_slice(line)?;
    match notice.params.update {
        SessionUpdate::AgentMessageChunk(chunk) => match chunk.content {
            ContentBlock::Text(text) => Ok((notice.params.session_id, text.text)),
            _ => Err("the update has no text".into()),
        },
        _ => Err("the update is of another kind".into()),
    }
}

/// Allows once, found by kind and not by position.
fn allow(request: &RequestPermissionRequest) -> Result<RequestPermissionResponse> {
    let title = request.tool_call.fields.title.as_deref();
    let mut options = request.options.iter();
    let once = options.find(|option| option.kind == PermissionOptionKind::AllowOnce);
    let once = once
        .filter(|_| title == Some(QUESTION))
        .ok_or("a question of another kind")?;
    let chosen = SelectedPermissionOutcome::new(once.option_id.clone());
    Ok(RequestPermissionResponse::new(
        RequestPermissionOutcome::Selected(chosen),
    ))
}
