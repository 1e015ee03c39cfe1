//! A stored session shown to a client by a new process.

use std::process::ChildStdout;
use std::time::Instant;

use agent_client_protocol_schema::v1::{
    LoadSessionRequest, NewSessionRequest, NewSessionResponse, PromptRequest, SessionId,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::Work;
use crate::Result;
use crate::measure::{Outcome, to_f64};
use crate::payload;
use crate::peer::floor::encode_call;
use crate::peer::floor::lines::Lines;
use crate::process::Launch;
use crate::sdks::Task;
use crate::slow_reader::{Memory, mib};

#[derive(Deserialize)]
struct Line<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<IgnoredAny>,
}

/// Fills a session in one process, and loads it in another.
pub(super) fn run(launch: &Launch, work: Work, count: u64) -> Result<Outcome> {
    let session = fill(launch, work, count)?;
    let (agent, mut stdin, stdout) = launch.spawn()?;
    let mut lines = Lines::new(stdout);
    encode_call(&mut stdin, 0, "initialize", &payload::initialize())?;
    until_answer(&mut lines, 0)?;
    let before = Memory::of(&agent)?;

    let load = LoadSessionRequest::new(session, "/");
    let start = Instant::now();
    encode_call(&mut stdin, 1, "session/load", &load)?;
    let mut first = None;
    let (mut updates, mut bytes) = (0, 0);
    loop {
        let line = lines.expect_next()?;
        first.get_or_insert_with(|| start.elapsed());
        bytes += line.len() as u64;
        if answer(line, 1)?.is_some() {
            break;
        }
        updates += 1;
    }
    let last = start.elapsed();
    let after = Memory::of(&agent)?;
    drop(stdin);
    agent.finish()?;
    let first = first.unwrap_or_default();
    Ok(Outcome::rate(count, last)
        .with("first_ms", first.as_secs_f64() * 1e3)
        .with("last_ms", last.as_secs_f64() * 1e3)
        .with("sent_updates", to_f64(updates))
        .with("sent_mib", mib(bytes))
        .with(
            "growth_mib",
            mib(after.peak.saturating_sub(before.resident)),
        ))
}

/// Runs the turn that is kept, and ends its process.
fn fill(launch: &Launch, work: Work, count: u64) -> Result<SessionId> {
    let (agent, mut stdin, stdout) = launch.spawn()?;
    let mut lines = Lines::new(stdout);
    encode_call(&mut stdin, 0, "initialize", &payload::initialize())?;
    until_answer(&mut lines, 0)?;
    encode_call(&mut stdin, 1, "session/new", &NewSessionRequest::new("/"))?;
    let session: NewSessionResponse = serde_json::from_str(&until_answer(&mut lines, 1)?)?;
    let session = session.session_id;
    let task = match work {
        Work::ReplayWorst => Task::Alternate(count),
        _ => Task::Work(count),
    };
    let prompt = PromptRequest::new(session.clone(), vec![task.prompt().into()]);
    encode_call(&mut stdin, 2, "session/prompt", &prompt)?;
    until_answer(&mut lines, 2)?;
    drop(stdin);
    agent.finish()?;
    Ok(session)
}

fn until_answer(lines: &mut Lines<ChildStdout>, id: u64) -> Result<String> {
    loop {
        if let Some(result) = answer(lines.expect_next()?, id)? {
            return Ok(result);
        }
    }
}

/// Returns the result if the line answers the request.
fn answer(line: &[u8], id: u64) -> Result<Option<String>> {
    let line: Line<'_> = serde_json::from_slice(line)?;
    if line.error.is_some() {
        return Err("the agent answered with an error".into());
    }
    let result = line.result.filter(|_| line.id == Some(id));
    Ok(result.map(|result| result.get().to_owned()))
}
