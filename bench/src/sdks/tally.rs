//! How much text reached whoever reads a turn.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::Result;

/// Counts bytes of text, not updates: a client may hand out several chunks of a message as one.
#[derive(Default)]
pub(super) struct Tally {
    bytes: AtomicU64,
    pieces: AtomicU64,
    goal: AtomicU64,
    reached_at: Mutex<Option<Instant>>,
    reached: Notify,
}

impl Tally {
    /// Starts again from zero, up to `goal` bytes.
    pub(super) fn expect(&self, goal: u64) {
        self.bytes.store(0, Ordering::Relaxed);
        self.pieces.store(0, Ordering::Relaxed);
        self.goal.store(goal, Ordering::Relaxed);
        *self.reached_at.lock().expect("nothing panics holding it") = None;
    }

    /// Counts one piece of text.
    pub(super) fn record(&self, text: &str) {
        let length = text.len() as u64;
        self.pieces.fetch_add(1, Ordering::Relaxed);
        let before = self.bytes.fetch_add(length, Ordering::AcqRel);
        let goal = self.goal.load(Ordering::Relaxed);
        if before < goal && before + length >= goal {
            *self.reached_at.lock().expect("nothing panics holding it") = Some(Instant::now());
            self.reached.notify_waiters();
        }
    }

    /// Waits until the goal is reached.
    pub(super) async fn reached(&self) {
        loop {
            let notified = self.reached.notified();
            if self.bytes.load(Ordering::Acquire) >= self.goal.load(Ordering::Relaxed) {
                return;
            }
            notified.await;
        }
    }

    /// The time from `start` to the goal. Text beyond it is an error as well as too little.
    pub(super) fn finish(&self, start: Instant) -> Result<Duration> {
        let (bytes, goal) = (
            self.bytes.load(Ordering::Acquire),
            self.goal.load(Ordering::Relaxed),
        );
        let at = *self.reached_at.lock().expect("nothing panics holding it");
        match at {
            Some(at) if bytes == goal => Ok(at.duration_since(start)),
            _ => {
                Err(format!("{bytes} of {goal} bytes of text arrived before the turn ended").into())
            }
        }
    }

    /// How many pieces the text came in.
    pub(super) fn pieces(&self) -> u64 {
        self.pieces.load(Ordering::Relaxed)
    }
}
