//! Several clients of one session: does a slow one cost the others anything, and what do many cost?
//!
//! The agent is written with `ply_agent` as its documentation shows it, on a socket, with its sessions on disk. A client that
//! ends with another transcript than the first is a failure; everything else is a number.

mod agent;
mod client;
mod fold;
mod many;
mod slow;
mod stage;

use std::time::Instant;

pub(crate) use agent::serve;

use client::{Client, Seen, Version};
use fold::Transcript;

use crate::Result;
use crate::measure::Outcome;
use crate::sdks::Task;

/// The version of the clients, and what the agent sends them.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Peer {
    /// Version 1: passages of thoughts and words.
    V1,
    /// Version 2: the same.
    V2,
    /// Version 1: one message that never ends.
    V1Message,
    /// Version 2: the same.
    V2Message,
    /// Version 1: the progress of one tool call. It leaves nothing in the agent's own history, which keeps all text.
    V1Progress,
    /// Version 2: the same.
    V2Progress,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Work {
    /// One client reads as fast as it can for a minute, another one byte a second.
    Slow,
    /// 64 clients of both versions read.
    Many,
}

impl Peer {
    /// Does the work and measures.
    pub(crate) fn run(self, work: Work, count: Option<u64>, limit_s: u64) -> Result<Outcome> {
        let (version, stream): (Version, fn(u64) -> Task) = match self {
            Peer::V1 => (Version::V1, Task::Talk),
            Peer::V2 => (Version::V2, Task::Talk),
            Peer::V1Message => (Version::V1, Task::Monologue),
            Peer::V2Message => (Version::V2, Task::Monologue),
            Peer::V1Progress => (Version::V1, Task::Progress),
            Peer::V2Progress => (Version::V2, Task::Progress),
        };
        match work {
            Work::Slow => slow::run(version, stream, count, limit_s),
            Work::Many => many::run(version, stream, count.unwrap_or(many::UPDATES), limit_s),
        }
    }
}

/// Has a client ask for a turn and read it, with others that read it too. Returns when it asked, what it saw and what they did.
fn turn(
    first: &mut Client,
    others: &mut [Client],
    task: Task,
    mut first_is_done: impl FnMut(),
) -> Result<(Instant, Seen, Vec<Seen>)> {
    std::thread::scope(|scope| {
        let others: Vec<_> = others
            .iter_mut()
            .map(|other| scope.spawn(|| other.read_turn()))
            .collect();
        let start = Instant::now();
        let seen = first
            .prompt(&task.prompt())
            .and_then(|()| first.read_turn());
        first_is_done();
        let others = others.into_iter().map(|other| {
            let read = other.join();
            read.map_err(|_| "a client panicked")?
        });
        let others: Vec<Seen> = others.collect::<Result<_>>()?;
        Ok((start, seen?, others))
    })
}

/// Makes sure that a client has seen what the first one has.
fn expect_same(first: &Transcript, other: &Transcript) -> Result<()> {
    if first == other {
        return Ok(());
    }
    Err(format!(
        "a client ended with {} messages of {} bytes, the first one with {} of {}",
        other.messages, other.text_bytes, first.messages, first.text_bytes
    )
    .into())
}
