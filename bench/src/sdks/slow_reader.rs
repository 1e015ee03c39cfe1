//! A turn of two million updates that nobody reads: how much memory does the agent take, and does it go on afterwards?

use std::os::fd::AsFd as _;
use std::process::ChildStdout;
use std::time::Instant;

use agent_client_protocol_schema::v1::{
    ContentBlock, NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse,
    SessionNotification, SessionUpdate,
};
use rustix::io::ioctl_fionread;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::task::Task;
use super::work::Plan;
use crate::Result;
use crate::drive::expect_end_turn;
use crate::measure::{Outcome, to_f64};
use crate::payload::{self, CHUNK_TEXT};
use crate::peer::floor::encode_call;
use crate::peer::floor::lines::Lines;
use crate::process::Launch;
use crate::slow_reader::{Memory, mib, note, watch};

/// Any message of the agent.
#[derive(Deserialize)]
struct Line<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<IgnoredAny>,
}

/// Measures; reads the turn to its end afterwards if `resumes`, which takes minutes with queues of a gigabyte.
pub(super) fn run(plan: &Plan, launch: &Launch, resumes: bool) -> Result<Outcome> {
    let (mut agent, mut stdin, stdout) = launch.spawn()?;
    // Shares the pipe, to see how much of it is filled.
    let filled = stdout.as_fd().try_clone_to_owned()?;
    let mut lines = Lines::new(stdout);
    encode_call(&mut stdin, 0, "initialize", &payload::initialize())?;
    answer(&mut lines, 0)?;
    encode_call(&mut stdin, 1, "session/new", &NewSessionRequest::new("/"))?;
    let session: NewSessionResponse = serde_json::from_str(&answer(&mut lines, 1)?)?;
    let before = Memory::of(&agent)?;

    let prompt = Task::Stream(plan.count).prompt();
    let prompt = PromptRequest::new(session.session_id, vec![prompt.into()]);
    encode_call(&mut stdin, 2, "session/prompt", &prompt)?;
    let (after, end, waited) = watch(&mut agent, before)?;
    // Without this an agent that never started to write would look perfect.
    let unread = ioctl_fionread(&filled)?;
    if unread == 0 {
        return Err("the agent wrote no update at all".into());
    }
    let mut outcome = Outcome::default()
        .with(
            "growth_mib",
            mib(after.peak.saturating_sub(before.resident)),
        )
        .with("start_mib", mib(before.resident))
        .with("unread_kib", to_f64(unread) / 1024.0)
        .with("seconds", waited.as_secs_f64())
        .noted(note(end));
    if resumes {
        let start = Instant::now();
        let bytes = read_turn(&mut lines)?;
        if bytes != plan.count * CHUNK_TEXT.len() as u64 {
            return Err(format!("the turn ended after {bytes} bytes of text").into());
        }
        outcome = outcome
            .with("completed", 1.0)
            .with("resume_s", start.elapsed().as_secs_f64())
            .with("end_mib", mib(Memory::of(&agent)?.resident));
    }
    // Ended before its pipe closes, or it would complain about that.
    drop(agent);
    Ok(outcome)
}

/// Returns the result of a request; what comes before it is skipped.
fn answer(lines: &mut Lines<ChildStdout>, id: u64) -> Result<String> {
    loop {
        let line: Line<'_> = serde_json::from_slice(lines.expect_next()?)?;
        if line.error.is_some() {
            return Err("the agent answered with an error".into());
        }
        if let Some(result) = line.result.filter(|_| line.id == Some(id)) {
            return Ok(result.get().to_owned());
        }
    }
}

/// Reads updates until the prompt is answered and returns how much text they held.
fn read_turn(lines: &mut Lines<ChildStdout>) -> Result<u64> {
    let mut bytes = 0;
    loop {
        let line: Line<'_> = serde_json::from_slice(lines.expect_next()?)?;
        if let Some(result) = line.result {
            expect_end_turn(&serde_json::from_str::<PromptResponse>(result.get())?)?;
            return Ok(bytes);
        }
        let params = line.params.ok_or("the turn failed")?;
        let notification: SessionNotification = serde_json::from_str(params.get())?;
        if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
            && let ContentBlock::Text(text) = chunk.content
        {
            bytes += text.text.len() as u64;
        }
    }
}
