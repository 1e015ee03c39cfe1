//! Sessions that this store holds, as the writer and their logs share them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::job::Tell;
use super::run::Key;
use super::trouble::Trouble;

/// A session that this store holds.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) number: i64,
    pub(super) lease: i64,
    pub(super) key: Key,
    /// Why nothing can be written any more.
    over: watch::Sender<Option<Trouble>>,
    /// Appends that were accepted and are not written yet.
    unwritten: AtomicUsize,
    appends: Mutex<Appends>,
}

/// What is known of a log's appends whose callers wait for an outcome.
#[derive(Debug, Default)]
struct Appends {
    /// How many of them are queued.
    awaited: usize,
    /// How many have failed so far.
    failures: u64,
    /// Why the last one failed.
    why: Option<Trouble>,
}

impl Held {
    pub(super) fn new(number: i64, lease: i64, key: Key) -> Self {
        Self {
            number,
            lease,
            key,
            over: watch::Sender::new(None),
            unwritten: AtomicUsize::new(0),
            appends: Mutex::default(),
        }
    }

    fn appends(&self) -> MutexGuard<'_, Appends> {
        // No code that can panic runs under the lock, so what it guards is whole.
        self.appends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the session from its log. If it is over already, the first reason stays.
    pub(super) fn end(&self, trouble: &Trouble) {
        self.over.send_if_modified(|over| {
            let is_first = over.is_none();
            over.get_or_insert_with(|| trouble.clone());
            is_first
        });
    }

    pub(super) fn check(&self) -> Result<(), Trouble> {
        self.over.borrow().clone().map_or(Ok(()), Err)
    }

    /// Waits until the session is over, and returns why. Does not keep it alive: if its log is
    /// dropped, this ends too.
    pub(super) fn lost(&self) -> impl Future<Output = Trouble> + Send + 'static {
        let mut over = self.over.subscribe();
        async move {
            let over = over.wait_for(Option::is_some).await;
            let why = over.ok().and_then(|over| over.clone());
            why.unwrap_or(Trouble::Closed)
        }
    }

    /// Returns how many appends have failed so far.
    pub(super) fn failures(&self) -> u64 {
        self.appends().failures
    }

    /// Notes an append that is queued, called when `failures` had failed. Returns whether it is
    /// accepted: not if one that was queued before it may fail yet.
    pub(super) fn queue(&self, failures: u64, may_accept: bool) -> bool {
        let mut appends = self.appends();
        let is_accepted = may_accept && appends.awaited == 0 && appends.failures == failures;
        if is_accepted {
            self.unwritten.fetch_add(1, Ordering::AcqRel);
        } else {
            appends.awaited += 1;
        }
        is_accepted
    }

    /// Returns why an append failed since `failures` had, if one did.
    pub(super) fn failed_since(&self, failures: u64) -> Option<Trouble> {
        let appends = self.appends();
        appends.why.clone().filter(|_| appends.failures != failures)
    }

    /// Tells the outcome of an append that was not accepted before.
    pub(super) fn tell(&self, tell: Tell<()>, outcome: Result<(), Trouble>) {
        let mut appends = self.appends();
        appends.awaited = appends.awaited.saturating_sub(1);
        if let Err(trouble) = &outcome {
            appends.failures += 1;
            appends.why = Some(trouble.clone());
        }
        // Under the lock: what is called before the failure is known is counted as before it. Whoever
        // asked may have gone away.
        drop(tell.send(outcome));
    }

    /// Notes that an append that was accepted is written.
    pub(super) fn note_written(&self) {
        self.unwritten.fetch_sub(1, Ordering::AcqRel);
    }

    /// Returns how many appends were accepted and are not written yet.
    pub(super) fn unwritten(&self) -> usize {
        self.unwritten.load(Ordering::Acquire)
    }
}
