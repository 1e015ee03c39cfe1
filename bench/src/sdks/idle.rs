//! Many sessions of one agent, on disk, in each of which one prompt was done: what do they occupy while nothing happens?

use std::collections::HashMap;
use std::process::{ChildStdin, ChildStdout};
use std::time::Instant;

use agent_client_protocol_schema::v1::{
    NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, SessionId,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::task::Task;
use super::work::Plan;
use crate::Result;
use crate::drive::expect_end_turn;
use crate::journal::Store;
use crate::measure::{Outcome, to_f64};
use crate::payload;
use crate::peer::floor::encode_call;
use crate::peer::floor::lines::Lines;
use crate::process::Launch;
use crate::slow_reader::{Memory, mib, wait_until_still};

/// Requests that are open at a time, so that the store can write for several at once.
const AT_A_TIME: u64 = 64;

/// Any message of the agent.
#[derive(Deserialize)]
struct Line<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<IgnoredAny>,
}

/// Opens the sessions, has each do one turn, and looks at the agent when it has become still.
pub(super) fn run(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    let store = Store::new()?;
    let launch = launch.clone().store(store.path());
    let (mut agent, stdin, stdout) = launch.spawn()?;
    let mut client = Client {
        stdin,
        lines: Lines::new(stdout),
        requests: 0,
    };
    client.all([("initialize", payload::initialize())])?;
    let before = Memory::of(&agent)?;
    let start = Instant::now();
    for begun in (0..plan.count).step_by(usize::try_from(AT_A_TIME)?) {
        let count = AT_A_TIME.min(plan.count - begun);
        let new = (0..count).map(|_| ("session/new", NewSessionRequest::new("/")));
        let sessions = client.all(new)?;
        let sessions = sessions
            .iter()
            .map(|answer| Ok(serde_json::from_str::<NewSessionResponse>(answer)?.session_id))
            .collect::<Result<Vec<SessionId>>>()?;
        let prompt = Task::Stream(1).prompt();
        let prompts = sessions.into_iter().map(|session| {
            let prompt = PromptRequest::new(session, vec![prompt.clone().into()]);
            ("session/prompt", prompt)
        });
        for answer in client.all(prompts)? {
            expect_end_turn(&serde_json::from_str::<PromptResponse>(&answer)?)?;
        }
    }
    let filled = start.elapsed();
    wait_until_still(&mut agent)?;
    let after = Memory::of(&agent)?;
    // Ended before its pipe closes, or it would close all sessions first.
    drop(agent);
    let grown = after.resident.saturating_sub(before.resident);
    Ok(Outcome::default()
        .with("sessions", to_f64(plan.count))
        .with("resident_mib", mib(after.resident))
        .with("start_mib", mib(before.resident))
        .with("peak_mib", mib(after.peak))
        .with("session_kib", to_f64(grown) / to_f64(plan.count) / 1024.0)
        .with("filled_s", filled.as_secs_f64())
        .noted("idle: sessions on disk, one prompt done in each, the client still attached"))
}

struct Client {
    stdin: ChildStdin,
    lines: Lines<ChildStdout>,
    requests: u64,
}

impl Client {
    /// Sends requests and returns their results in the same order; what comes besides is skipped.
    fn all<P: serde::Serialize>(
        &mut self,
        requests: impl IntoIterator<Item = (&'static str, P)>,
    ) -> Result<Vec<String>> {
        let first = self.requests;
        let mut out = Vec::new();
        for (method, params) in requests {
            encode_call(&mut out, self.requests, method, &params)?;
            self.requests += 1;
        }
        std::io::Write::write_all(&mut self.stdin, &out)?;
        let mut results: HashMap<u64, String> = HashMap::new();
        while (results.len() as u64) < self.requests - first {
            let line: Line<'_> = serde_json::from_slice(self.lines.expect_next()?)?;
            if line.error.is_some() {
                return Err("the agent answered with an error".into());
            }
            if let (Some(id), Some(result)) = (line.id, line.result) {
                results.insert(id, result.get().to_owned());
            }
        }
        let in_order = (first..self.requests).map(|id| results.remove(&id));
        let in_order = in_order.collect::<Option<_>>();
        Ok(in_order.ok_or("an answer has an id that nobody asked for")?)
    }
}
