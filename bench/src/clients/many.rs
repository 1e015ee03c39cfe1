//! Many clients read one session, against one.

use std::time::Instant;

use super::client::{Client, Version};
use super::stage::{Stage, Taken};
use super::{expect_same, turn};
use crate::Result;
use crate::measure::{Outcome, to_f64};
use crate::sdks::Task;
use crate::slow_reader::mib;

/// Updates of the turn that all of them read.
pub(super) const UPDATES: u64 = 100_000;
/// How many clients there are, of both versions by turns.
const CLIENTS: u64 = 64;

/// What came of one turn.
struct Read {
    /// Until the last client had everything.
    seconds: f64,
    /// Until the first one had.
    first_s: f64,
    /// Notifications that reached all clients together.
    notified: u64,
    taken: Taken,
}

/// Measures a turn of so many updates.
pub(super) fn run(
    version: Version,
    stream: fn(u64) -> Task,
    count: u64,
    limit_s: u64,
) -> Result<Outcome> {
    let one = read(version, stream(count), 1, limit_s)?;
    let all = read(version, stream(count), CLIENTS, limit_s)?;
    let delivered = to_f64(count * CLIENTS);
    let each = (mib(all.taken.peak()) - mib(one.taken.peak())) / to_f64(CLIENTS - 1);
    Ok(Outcome::default()
        .with("messages", to_f64(count))
        .with("clients", to_f64(CLIENTS))
        .with("one_per_second", to_f64(count) / one.seconds)
        .with("per_second", delivered / all.seconds)
        .with("seconds", all.seconds)
        .with("prompter_s", all.first_s)
        .with("notified", to_f64(all.notified))
        .with("one_cpu_s", one.taken.cpu_s)
        .with("cpu_s", all.taken.cpu_s)
        .with("one_cpu_us_each", one.taken.cpu_s * 1e6 / to_f64(count))
        .with("cpu_us_each", all.taken.cpu_s * 1e6 / delivered)
        .with("one_peak_mib", mib(one.taken.peak()))
        .with("start_mib", mib(all.taken.start))
        .with("peak_mib", mib(all.taken.peak()))
        .with("end_mib", mib(all.taken.end))
        .with("client_mib", each)
        .with("same_transcript", 1.0))
}

fn read(version: Version, task: Task, clients: u64, limit_s: u64) -> Result<Read> {
    let stage = Stage::start(limit_s)?;
    let mut first = stage.open(version)?;
    let mut others = Vec::new();
    let mut last = first.version();
    for _ in 1..clients {
        last = match last {
            Version::V1 => Version::V2,
            Version::V2 => Version::V1,
        };
        others.push(stage.attach(last, &first)?);
    }
    let read = || turn(&mut first, &mut others, task, || {});
    let ((start, seen, rest), taken) = stage.watch(read)?;
    for other in &rest {
        expect_same(&seen.transcript, &other.transcript)?;
    }
    let ended = |end: Instant| (end - start).as_secs_f64();
    let last = rest.iter().map(|other| other.ended).max();
    close(first, others);
    stage.finish()?;
    Ok(Read {
        seconds: ended(last.unwrap_or(seen.ended).max(seen.ended)),
        first_s: ended(seen.ended),
        notified: seen.updates + rest.iter().map(|other| other.updates).sum::<u64>(),
        taken,
    })
}

/// Hangs up before the agent is to end.
fn close(first: Client, others: Vec<Client>) {
    drop((first, others));
}
