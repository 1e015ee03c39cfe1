//! One client reads as fast as it can, another one byte a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::client::Version;
use super::stage::{Stage, Taken};
use super::{expect_same, turn};
use crate::Result;
use crate::measure::{Outcome, to_f64};
use crate::sdks::Task;
use crate::slow_reader::mib;

/// Updates that are read to find out how many come in a second.
const TRIED: u64 = 100_000;
/// How often the turn is read alone and with a slow client, and how long each takes.
const ROUNDS: u32 = 3;
const ROUND_S: f64 = 4.0;
/// How long the turn is that is judged by memory and transcript.
const LONG_S: f64 = 60.0;
/// The part of the long turn after which whatever is bounded is full: the window, the store's cache, the allocator's arenas of all
/// threads. What still grows then has no bound.
const FULL_AFTER_PART: f64 = 0.5;

/// The text of a turn whose memory should stay as it is once everything is full.
const HISTORY_BYTES_MAX: u64 = 64 * 1024;

/// What came of one turn.
struct Read {
    per_second: f64,
    seconds: f64,
    /// For each update, until the fast client was done. Unlike rates it hardly depends on what else the machine does.
    cpu_us: f64,
    taken: Taken,
    /// What the slow client had read when the fast one was done, and how long it then took to the end.
    slow_bytes: u64,
    caught_up_s: f64,
    text_bytes: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Others {
    None,
    OneSlow,
}

/// Measures with `count` updates in the long turn, or as many as fit in a minute.
pub(super) fn run(
    version: Version,
    stream: fn(u64) -> Task,
    count: Option<u64>,
    limit_s: u64,
) -> Result<Outcome> {
    let read = |count: u64, others| read(version, stream(count), count, others, limit_s);
    let long = match count {
        Some(count) => count,
        None => whole(read(TRIED, Others::None)?.per_second * LONG_S),
    };
    let short = whole(to_f64(long) * ROUND_S / LONG_S);
    let (mut alone, mut beside, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let by_itself = read(short, Others::None)?.per_second;
        let with_slow = read(short, Others::OneSlow)?.per_second;
        alone.push(by_itself);
        beside.push(with_slow);
        kept.push(with_slow / by_itself);
    }
    let by_itself = read(long, Others::None)?;
    let with_slow = read(long, Others::OneSlow)?;
    let memory = &with_slow.taken;
    let more = mib(memory.peak()) - mib(by_itself.taken.peak());
    let outcome = Outcome::default()
        .with("messages", to_f64(long))
        .with("alone_per_second", middle(&mut alone))
        .with("beside_per_second", middle(&mut beside))
        .with("kept", middle(&mut kept))
        .with("long_alone_per_second", by_itself.per_second)
        .with("long_beside_per_second", with_slow.per_second)
        .with("long_kept", with_slow.per_second / by_itself.per_second)
        .with("alone_cpu_us", by_itself.cpu_us)
        .with("beside_cpu_us", with_slow.cpu_us)
        .with("seconds", with_slow.seconds)
        .with("text_mib", mib(with_slow.text_bytes))
        .with("slow_bytes", to_f64(with_slow.slow_bytes))
        .with("caught_up_s", with_slow.caught_up_s)
        .with("alone_peak_mib", mib(by_itself.taken.peak()))
        .with("start_mib", mib(memory.start))
        .with("peak_mib", mib(memory.peak()))
        .with("end_mib", mib(memory.end))
        .with("more_than_alone_mib", more)
        .with("same_transcript", 1.0);
    let full_after = Duration::from_secs_f64(with_slow.seconds * FULL_AFTER_PART);
    // The agent's own history keeps all text, with one client as with two.
    if with_slow.text_bytes > HISTORY_BYTES_MAX {
        return Ok(outcome);
    }
    Ok(outcome.with("growth_mib", mib(memory.growth_after(full_after))))
}

fn read(version: Version, task: Task, count: u64, others: Others, limit_s: u64) -> Result<Read> {
    let stage = Stage::start(limit_s)?;
    let mut fast = stage.open(version)?;
    let is_slow = Arc::new(AtomicBool::new(true));
    let mut slow = Vec::new();
    if others == Others::OneSlow {
        let mut client = stage.attach(version, &fast)?;
        client.slow_down(Arc::clone(&is_slow));
        slow.push(client);
    }
    let before = stage.cpu_seconds()?;
    let mut cpu_s = Ok(0.0);
    let read = || {
        turn(&mut fast, &mut slow, task, || {
            cpu_s = stage.cpu_seconds();
            is_slow.store(false, Ordering::Release);
        })
    };
    let ((start, seen, others), taken) = stage.watch(read)?;
    let cpu_s = cpu_s? - before;
    let seconds = (seen.ended - start).as_secs_f64();
    let mut caught_up_s = 0.0;
    for other in &others {
        expect_same(&seen.transcript, &other.transcript)?;
        caught_up_s = (other.ended - seen.ended).as_secs_f64();
    }
    let slow_bytes = slow.first_mut().map_or(0, super::Client::slow_bytes);
    drop((fast, slow));
    stage.finish()?;
    Ok(Read {
        per_second: to_f64(count) / seconds,
        seconds,
        cpu_us: cpu_s * 1e6 / to_f64(count),
        taken,
        slow_bytes,
        caught_up_s,
        text_bytes: seen.transcript.text_bytes,
    })
}

/// The median of some values, which it sorts.
fn middle(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of updates is positive and far below 2^53"
)]
fn whole(count: f64) -> u64 {
    count as u64
}
