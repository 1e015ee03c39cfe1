//! What is measured, how much of it, and the numbers that come out.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agent_client_protocol_schema::v1::{ContentBlock, SessionNotification, SessionUpdate};
use serde::Serialize;

use crate::Result;
use crate::payload::CHUNK_TEXT;
use crate::peer::Peer;

/// A piece of work that every peer does.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Work {
    /// The agent streams updates, the client decodes each one.
    Updates,
    /// One request after the other, both processes on one core.
    Roundtrip,
    /// The same request, [`IN_FLIGHT`] of them at any time.
    Inflight,
    /// One prompt of 16 MiB.
    Large,
    /// The agent streams updates that nobody reads.
    #[value(name = "slow_reader")]
    SlowReader,
}

/// How many requests the `inflight` work keeps open.
pub(crate) const IN_FLIGHT: u64 = 64;

/// How often the `large` work repeats; the best time counts.
pub(crate) const LARGE_TRIES: u64 = 5;

/// Round trips before the measured ones.
const WARM_UP: u64 = 2_000;
/// The same when the caller sets the count, as under a tool that makes every instruction slow.
const WARM_UP_SHORT: u64 = 100;

/// One work and its size.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) work: Work,
    pub(crate) count: u64,
    pub(crate) warm_up: u64,
}

impl Plan {
    pub(crate) fn new(peer: Peer, work: Work, count: Option<u64>) -> Self {
        let usual = match work {
            Work::Updates => 200_000,
            Work::Roundtrip => 20_000,
            // A rate needs a few seconds of work, not the same number of messages from every peer.
            Work::Inflight if peer.is_sdk() => 40_000,
            Work::Inflight => 200_000,
            Work::Large => LARGE_TRIES,
            Work::SlowReader => 2_000_000,
        };
        Plan {
            work,
            count: count.unwrap_or(usual),
            warm_up: if count.is_some() {
                WARM_UP_SHORT
            } else {
                WARM_UP
            },
        }
    }

    /// Unpinned, a round trip is bimodal: it depends on whether the scheduler puts both processes on one core.
    pub(crate) fn pinned(&self) -> bool {
        self.work == Work::Roundtrip
    }
}

/// The result of one run: named numbers.
#[derive(Default, Serialize)]
pub(crate) struct Outcome {
    pub(crate) metrics: BTreeMap<&'static str, f64>,
    /// What a reader of the numbers should know about this peer's arrangement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

impl Outcome {
    /// `count` messages in `elapsed`.
    pub(crate) fn rate(count: u64, elapsed: Duration) -> Self {
        let seconds = elapsed.as_secs_f64();
        Outcome::default()
            .with("messages", to_f64(count))
            .with("seconds", seconds)
            .with("per_second", to_f64(count) / seconds)
    }

    /// Percentiles of single waits.
    pub(crate) fn latency(mut waits: Vec<Duration>) -> Self {
        waits.sort_unstable();
        let at = |percent: usize| {
            let index = (waits.len() * percent / 100).min(waits.len().saturating_sub(1));
            micros(waits.get(index).copied().unwrap_or_default())
        };
        Outcome::default()
            .with("messages", to_f64(waits.len() as u64))
            .with("p50_us", at(50))
            .with("p99_us", at(99))
            .with("max_us", at(100))
    }

    /// The best of a few waits for one big answer.
    pub(crate) fn best(waits: &[Duration], bytes: usize) -> Self {
        let best = waits.iter().min().copied().unwrap_or_default();
        let worst = waits.iter().max().copied().unwrap_or_default();
        Outcome::default()
            .with("tries", to_f64(waits.len() as u64))
            .with("text_bytes", to_f64(bytes as u64))
            .with("best_ms", micros(best) / 1e3)
            .with("worst_ms", micros(worst) / 1e3)
    }

    pub(crate) fn with(mut self, name: &'static str, value: f64) -> Self {
        self.metrics.insert(name, value);
        self
    }

    pub(crate) fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// Counts the updates that reached the client and keeps the moment of the last one.
#[derive(Default)]
pub(crate) struct Tally {
    seen: AtomicU64,
    expected: u64,
    last: OnceLock<Instant>,
}

impl Tally {
    pub(crate) fn new(expected: u64) -> Self {
        Tally {
            expected,
            ..Tally::default()
        }
    }

    /// Counts one update if it is the one that was sent; the text is looked at so that no peer can skip decoding it.
    pub(crate) fn record(&self, notification: &SessionNotification) {
        let SessionUpdate::AgentMessageChunk(chunk) = &notification.update else {
            return;
        };
        let ContentBlock::Text(text) = &chunk.content else {
            return;
        };
        if text.text.len() == CHUNK_TEXT.len()
            && self.seen.fetch_add(1, Ordering::Relaxed) + 1 == self.expected
        {
            self.last.get_or_init(Instant::now);
        }
    }

    /// The time from `start` to the last expected update.
    pub(crate) fn finish(&self, start: Instant) -> Result<Duration> {
        match self.last.get() {
            Some(last) => Ok(last.duration_since(start)),
            None => Err(format!(
                "{} of {} updates arrived before the answer to the prompt",
                self.seen.load(Ordering::Relaxed),
                self.expected
            )
            .into()),
        }
    }
}

/// Counts here stay far below 2^53, where an `f64` is exact.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
pub(crate) fn to_f64(count: u64) -> f64 {
    count as f64
}

/// The median of some waits, which it sorts.
pub(crate) fn median_ms(waits: &mut [Duration]) -> f64 {
    waits.sort_unstable();
    let middle = waits.get(waits.len() / 2).copied();
    micros(middle.unwrap_or_default()) / 1e3
}

/// The longest of some waits.
pub(crate) fn worst_ms(waits: &[Duration]) -> f64 {
    micros(waits.iter().max().copied().unwrap_or_default()) / 1e3
}

fn micros(wait: Duration) -> f64 {
    wait.as_secs_f64() * 1e6
}
