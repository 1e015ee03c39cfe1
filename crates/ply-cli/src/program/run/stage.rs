//! What every wait of a run has in common: signals, the time limit, output that goes on, progress.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::ending::Cut;
use super::out::Out;
use super::progress::Progress;
use super::signals::Signals;
use super::streams::Streams;
use super::wire::Wire;
use crate::program::json::Harmless;
use crate::program::output;

/// How often what is shown is looked at.
const TICK: Duration = Duration::from_millis(250);

/// How long the last words are waited for when everything has to end at once.
pub(super) const LAST_WORDS_TIME_MAX: Duration = Duration::from_millis(500);

/// What every wait has in common.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) out: Out,
    pub(super) signals: Signals,
    pub(super) progress: Progress,
    pub(super) streams: Streams,
    pub(super) limit: Option<(Duration, Instant)>,
    pub(super) wire: Option<Arc<Wire>>,
    pub(super) tick: Interval,
    is_quiet: bool,
}

impl Stage {
    pub(super) fn new(
        signals: Signals,
        streams: Streams,
        is_quiet: bool,
        limit: Option<Duration>,
        began: Instant,
    ) -> Self {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            out: Out::start(),
            signals,
            progress: Progress::new(streams, is_quiet),
            streams,
            limit: limit.map(|limit| (limit, began + limit)),
            wire: None,
            tick,
            is_quiet,
        }
    }

    /// Whether only failures are told.
    pub(super) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Says something on standard error, unless nobody wants to hear it.
    pub(super) fn tell(&mut self, words: &str) {
        self.progress.clear();
        if !self.is_quiet {
            output::tell(words);
        }
    }

    /// Does some work before the turn; a signal, the time limit or the end of the output cut it off.
    ///
    /// # Cancel safety
    ///
    /// As that of the work.
    pub(super) async fn during<T>(
        &mut self,
        what: &str,
        work: impl Future<Output = T>,
    ) -> Result<T, Cut> {
        self.progress.begin(what);
        let mut work = std::pin::pin!(work);
        let done = loop {
            self.take_wire()?;
            let (limit, at) = self.limit.unzip();
            tokio::select! {
                biased;
                signal = self.signals.next() => break Err(Cut::Signal(signal)),
                () = at_time(at) => break Err(Cut::Timeout(limit.unwrap_or_default())),
                pumped = self.out.pump() => if pumped.is_err() {
                    break Err(Cut::Output);
                },
                done = &mut work => break Ok(done),
                () = more_of(self.wire.as_deref()) => {}
                _ = self.tick.tick() => self.progress.tick(),
            }
        };
        self.progress.clear();
        done
    }

    /// Hands on the lines of the protocol, if they are what is wanted.
    pub(super) fn take_wire(&mut self) -> Result<(), Cut> {
        let Some(wire) = self.wire.as_ref().filter(|_| !self.out.is_full()) else {
            return Ok(());
        };
        let (bytes, is_cut) = wire.take();
        match self.streams.out_columns {
            // As they are, unless they would reach a terminal.
            None => self.out.push(&bytes),
            Some(_) => {
                use std::io::Write as _;
                let mut shown = Vec::new();
                let lines = String::from_utf8_lossy(&bytes);
                // Writing to memory does not fail.
                drop(Harmless(&mut shown).write_all(lines.as_bytes()));
                self.out.push(&shown);
            }
        }
        match is_cut {
            true => Err(Cut::Overflow),
            false => Ok(()),
        }
    }

    /// Writes what is left. A signal or the time limit end the wait; if something was left unwritten by that, it
    /// is how the run ended.
    pub(super) async fn finish(&mut self) -> Result<(), Cut> {
        self.progress.clear();
        // What was seen when the lines were cut is handed on in any case.
        drop(self.take_wire());
        let limit = self.limit;
        let cut = tokio::select! {
            biased;
            signal = self.signals.next() => Cut::Signal(signal),
            // Whoever closed it has seen enough.
            _ = self.out.written() => return Ok(()),
            () = at_time(limit.map(|(_, at)| at)) => {
                Cut::Timeout(limit.map(|(limit, _)| limit).unwrap_or_default())
            }
        };
        match tokio::time::timeout(LAST_WORDS_TIME_MAX, self.out.written()).await {
            Ok(_) => Ok(()),
            Err(_) => Err(cut),
        }
    }
}

/// Waits until a time, or for ever if there is none.
pub(super) async fn at_time(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Waits for the next line of the protocol, or for ever if nobody wants it.
pub(super) async fn more_of(wire: Option<&Wire>) {
    match wire {
        Some(wire) => wire.more().await,
        None => std::future::pending().await,
    }
}
