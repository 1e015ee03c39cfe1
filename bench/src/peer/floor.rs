//! The least a peer must do: split lines, decode the official types straight from each line, block on reads and writes.
//!
//! There is no dispatch, no table of pending requests, no cancellation and no limit; both ends know what comes next.

pub(crate) mod lines;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::{ChildStdin, ChildStdout};
use std::time::Instant;

use agent_client_protocol_schema::v1::{
    InitializeRequest, PromptRequest, PromptResponse, SessionNotification, SetSessionModeRequest,
    SetSessionModeResponse,
};
use lines::Lines;
use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::drive::expect_end_turn;
use crate::measure::{IN_FLIGHT, Outcome, Plan, Tally, Work};
use crate::payload;
use crate::process::{Launch, agent_pipes};

/// Updates are written in pieces of about the pipe's capacity.
pub(crate) const WRITE_BYTES: usize = 64 * 1024;
/// The method of a request stands within this many bytes of its start; both ends are in this file.
pub(crate) const METHOD_WITHIN: usize = 80;

#[derive(Serialize)]
struct CallOut<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a P,
}

#[derive(Serialize)]
struct AnswerOut<'a, R> {
    jsonrpc: &'static str,
    id: u64,
    result: &'a R,
}

#[derive(Serialize)]
struct NoticeOut<'a, P> {
    jsonrpc: &'static str,
    method: &'a str,
    params: &'a P,
}

#[derive(Deserialize)]
pub(crate) struct CallIn<P> {
    pub(crate) id: u64,
    pub(crate) params: P,
}

#[derive(Deserialize)]
pub(crate) struct AnswerIn<R> {
    pub(crate) id: u64,
    pub(crate) result: R,
}

#[derive(Deserialize)]
pub(crate) struct NoticeIn<P> {
    pub(crate) params: P,
}

/// Appends one request and its line end.
pub(crate) fn encode_call<P: Serialize>(
    mut out: impl Write,
    id: u64,
    method: &str,
    params: &P,
) -> Result<()> {
    let call = CallOut {
        jsonrpc: "2.0",
        id,
        method,
        params,
    };
    serde_json::to_writer(&mut out, &call)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Appends one answer and its line end.
pub(crate) fn encode_answer<R: Serialize>(mut out: impl Write, id: u64, result: &R) -> Result<()> {
    let answer = AnswerOut {
        jsonrpc: "2.0",
        id,
        result,
    };
    serde_json::to_writer(&mut out, &answer)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Appends one notification and its line end.
pub(crate) fn encode_notice<P: Serialize>(
    mut out: impl Write,
    method: &str,
    params: &P,
) -> Result<()> {
    let notice = NoticeOut {
        jsonrpc: "2.0",
        method,
        params,
    };
    serde_json::to_writer(&mut out, &notice)?;
    out.write_all(b"\n")?;
    Ok(())
}

pub(crate) fn run(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    let (agent, stdin, stdout) = launch.spawn()?;
    let mut client = Client {
        lines: Lines::new(stdout),
        stdin,
        out: Vec::new(),
    };
    let outcome = match plan.work {
        Work::Updates => client.updates(plan),
        Work::Roundtrip => client.roundtrip(plan),
        Work::Inflight => client.inflight(plan),
        Work::Large => client.large(plan),
        Work::SlowReader => Err("the slow reader has a client of its own".into()),
    }?;
    drop(client);
    agent.finish()?;
    Ok(outcome)
}

struct Client {
    lines: Lines<ChildStdout>,
    stdin: ChildStdin,
    out: Vec<u8>,
}

impl Client {
    fn updates(&mut self, plan: &Plan) -> Result<Outcome> {
        let tally = Tally::new(plan.count);
        let start = Instant::now();
        self.queue(0, "session/prompt", &payload::ask_for_updates(plan.count))?;
        self.flush()?;
        for _ in 0..plan.count {
            let line = self.lines.expect_next()?;
            let notice: NoticeIn<SessionNotification> = serde_json::from_slice(line)?;
            tally.record(&notice.params);
        }
        let elapsed = tally.finish(start)?;
        expect_end_turn(&self.answer::<PromptResponse>()?.result)?;
        Ok(Outcome::rate(plan.count, elapsed))
    }

    fn roundtrip(&mut self, plan: &Plan) -> Result<Outcome> {
        let mut waits = Vec::with_capacity(usize::try_from(plan.count)?);
        for id in 0..plan.warm_up + plan.count {
            let start = Instant::now();
            self.queue(id, "session/set_mode", &payload::set_mode())?;
            self.flush()?;
            let answer = self.answer::<SetSessionModeResponse>()?;
            if id >= plan.warm_up {
                waits.push(start.elapsed());
            }
            if answer.id != id {
                return Err("an answer came with the wrong id".into());
            }
        }
        Ok(Outcome::latency(waits))
    }

    /// Every answer is followed by a new request; requests leave when there is nothing left to read without waiting.
    fn inflight(&mut self, plan: &Plan) -> Result<Outcome> {
        let count = plan.count;
        let start = Instant::now();
        let mut sent = 0;
        while sent < count.min(IN_FLIGHT) {
            self.queue(sent, "session/set_mode", &payload::set_mode())?;
            sent += 1;
        }
        for _ in 0..count {
            if !self.lines.has_line() {
                self.flush()?;
            }
            self.answer::<SetSessionModeResponse>()?;
            if sent < count {
                self.queue(sent, "session/set_mode", &payload::set_mode())?;
                sent += 1;
            }
        }
        Ok(Outcome::rate(count, start.elapsed()))
    }

    fn large(&mut self, plan: &Plan) -> Result<Outcome> {
        let prompt = payload::large_prompt();
        let mut waits = Vec::new();
        for id in 0..plan.count {
            let start = Instant::now();
            // Written while it is encoded, so that the agent reads at the same time.
            let mut out = BufWriter::with_capacity(WRITE_BYTES, &mut self.stdin);
            encode_call(&mut out, id, "session/prompt", &prompt)?;
            out.flush()?;
            drop(out);
            expect_end_turn(&self.answer::<PromptResponse>()?.result)?;
            waits.push(start.elapsed());
        }
        Ok(Outcome::best(&waits, payload::LARGE_TEXT_BYTES))
    }

    fn queue<P: Serialize>(&mut self, id: u64, method: &str, params: &P) -> Result<()> {
        encode_call(&mut self.out, id, method, params)
    }

    fn flush(&mut self) -> Result<()> {
        self.stdin.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    fn answer<R: for<'a> Deserialize<'a>>(&mut self) -> Result<AnswerIn<R>> {
        Ok(serde_json::from_slice(self.lines.expect_next()?)?)
    }
}

pub(crate) fn agent() -> Result<()> {
    let (input, mut output) = agent_pipes()?;
    let mut lines = Lines::new(input);
    let mut out = Vec::new();
    while let Some(line) = lines.next()? {
        let head = line.get(..METHOD_WITHIN).unwrap_or(line);
        let names = |method: &str| memmem::find(head, method.as_bytes()).is_some();
        if names("session/set_mode") {
            let call: CallIn<SetSessionModeRequest> = serde_json::from_slice(line)?;
            encode_answer(&mut out, call.id, &payload::mode_set())?;
        } else if names("session/prompt") {
            let call: CallIn<PromptRequest> = serde_json::from_slice(line)?;
            write_updates(&mut output, payload::updates_asked(&call.params))?;
            encode_answer(&mut out, call.id, &payload::end_turn())?;
        } else {
            let call: CallIn<InitializeRequest> = serde_json::from_slice(line)?;
            let answer = payload::initialized(call.params.protocol_version);
            encode_answer(&mut out, call.id, &answer)?;
        }
        if !lines.has_line() {
            output.write_all(&out)?;
            out.clear();
        }
    }
    Ok(())
}

/// Writes one encoded update over and over: encoding is not part of the floor, only what a reader cannot avoid.
fn write_updates(output: &mut File, count: u64) -> Result<()> {
    let mut line = Vec::new();
    encode_notice(&mut line, "session/update", &payload::update())?;
    let per_write = (WRITE_BYTES / line.len()).max(1);
    let block = line.repeat(per_write);
    let mut left = usize::try_from(count)?;
    while left > 0 {
        let now = left.min(per_write);
        output.write_all(block.get(..now * line.len()).unwrap_or(&block))?;
        left -= now;
    }
    Ok(())
}
