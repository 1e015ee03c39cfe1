//! What waits for the writer, and when it is written together.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, TryAcquireError, oneshot};

use super::job::{Held, Job, Tell};
use super::run::Frames;
use super::trouble::Trouble;
use crate::Durability;

/// Bytes that may wait to be written, over all sessions. A larger append waits alone.
const WAITING_BYTES_MAX: usize = 256 * 1024;
/// Bytes that are written without waiting for more: half of what may wait, so that the other half
/// is there for those who write meanwhile.
const GROUP_BYTES: usize = WAITING_BYTES_MAX / 2;
/// How long a record waits for others.
const GROUP_TIME_MAX: Duration = Duration::from_millis(20);
/// What a job takes of the room for those that wait, beside its bytes.
const JOB_BYTES: usize = 256;

/// What the writer is to do next.
#[derive(Debug)]
pub(super) enum Next {
    /// Write these together.
    Jobs(Vec<Job>, usize),
    /// Nothing came in time.
    Tick,
    /// Nothing will come any more; these are the last.
    End(Vec<Job>),
}

/// The queue between the tasks that write and the writer's thread.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Wakes the writer.
    work: Condvar,
    /// Wakes whoever waits for the last commit.
    settled: Condvar,
    /// Room for those that wait, in bytes.
    room: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Bytes of room that the jobs take.
    bytes: usize,
    /// Since when the oldest of the jobs waits.
    since: Option<Instant>,
    /// Somebody waits for the outcome.
    hurry: bool,
    /// The writer sleeps.
    sleeps: bool,
    /// The writer is at work on jobs.
    works: bool,
    /// The last transaction failed: nothing is accepted before its outcome is known.
    trouble: bool,
    /// Nothing new is taken.
    closing: bool,
    /// Whether all that was accepted is safe, once that is known.
    outcome: Option<Result<(), Trouble>>,
    /// The writer is gone.
    ended: bool,
    /// Those who wait for the writer to be gone.
    ends: Vec<oneshot::Sender<Result<(), Trouble>>>,
}

impl Queue {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            work: Condvar::new(),
            settled: Condvar::new(),
            room: Semaphore::new(WAITING_BYTES_MAX),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, state: &State) {
        if state.sleeps {
            self.work.notify_one();
        }
    }

    /// Waits for room, and lets the writer make some.
    async fn room(&self, bytes: usize) -> Result<usize, Trouble> {
        let bytes = bytes.saturating_add(JOB_BYTES).min(WAITING_BYTES_MAX);
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let permit = match self.room.try_acquire_many(permits) {
            Ok(permit) => permit,
            Err(TryAcquireError::Closed) => return Err(Trouble::Closed),
            Err(TryAcquireError::NoPermits) => {
                {
                    let mut state = self.lock();
                    state.hurry = true;
                    self.wake(&state);
                }
                let permit = self.room.acquire_many(permits).await;
                permit.map_err(|_| Trouble::Closed)?
            }
        };
        permit.forget();
        Ok(bytes)
    }

    /// Puts a job into the queue that somebody waits for.
    fn push(&self, job: Job, bytes: usize) -> Result<(), Trouble> {
        let mut state = self.lock();
        if state.closing {
            drop(state);
            self.room.add_permits(bytes);
            return Err(Trouble::Closed);
        }
        state.jobs.push_back(job);
        state.bytes += bytes;
        state.hurry = true;
        self.wake(&state);
        Ok(())
    }

    /// Has a job done and returns what comes of it.
    pub(super) async fn ask<T>(
        &self,
        bytes: usize,
        job: impl FnOnce(Tell<T>) -> Job,
    ) -> Result<T, Trouble> {
        let (tell, told) = oneshot::channel();
        let bytes = self.room(bytes).await?;
        self.push(job(tell), bytes)?;
        outcome(told).await
    }

    /// Appends to a session: when it is written, or when it will be.
    pub(super) async fn append(
        &self,
        held: &Arc<Held>,
        frames: Frames,
        durability: Durability,
    ) -> Result<(), Trouble> {
        let bytes = self.room(frames.len()).await?;
        let told = self.push_append(held, frames, durability, bytes)?;
        match told {
            Some(told) => outcome(told).await,
            None => Ok(()),
        }
    }

    fn push_append(
        &self,
        held: &Arc<Held>,
        frames: Frames,
        durability: Durability,
        bytes: usize,
    ) -> Result<Option<oneshot::Receiver<Result<(), Trouble>>>, Trouble> {
        let mut state = self.lock();
        if state.closing {
            drop(state);
            self.room.add_permits(bytes);
            return Err(Trouble::Closed);
        }
        let waits = durability == Durability::Now || state.trouble;
        let (tell, told) = waits.then(oneshot::channel).unzip();
        if !waits {
            held.unwritten.fetch_add(1, Ordering::AcqRel);
        }
        state.jobs.push_back(Job::Append {
            held: Arc::clone(held),
            frames,
            durability,
            tell,
        });
        state.bytes += bytes;
        state.hurry |= waits;
        let is_first = state.since.is_none();
        if is_first {
            state.since = Some(now());
        }
        // The writer sleeps on until one of these changes what it waits for.
        if is_first || waits || state.bytes >= GROUP_BYTES {
            self.wake(&state);
        }
        Ok(told)
    }

    /// Takes a lease back: after all that was written with it, or at once if nothing was.
    pub(super) fn release(&self, held: Arc<Held>, is_unused: bool) {
        let mut state = self.lock();
        if state.ended {
            // With the store, all of its leases were given back.
            return;
        }
        match is_unused {
            true => state.jobs.push_front(Job::Release { held }),
            false => state.jobs.push_back(Job::Release { held }),
        }
        state.hurry = true;
        self.wake(&state);
    }

    /// Returns whether all that was accepted is written.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.jobs.is_empty() && !state.works
    }

    /// Waits for what is to be written together; at most for `idle` if nothing is.
    pub(super) fn next(&self, idle: Option<Duration>) -> Next {
        let mut state = self.lock();
        loop {
            if state.closing {
                return Next::End(take(&mut state).0);
            }
            let due = state.since.map(|since| since + GROUP_TIME_MAX);
            let wait = due.map(|due| due.saturating_duration_since(now()));
            if state.hurry || state.bytes >= GROUP_BYTES || wait == Some(Duration::ZERO) {
                let (jobs, bytes) = take(&mut state);
                match jobs.is_empty() {
                    // Whoever was in a hurry found that it was done.
                    true => continue,
                    false => {
                        state.works = true;
                        return Next::Jobs(jobs, bytes);
                    }
                }
            }
            let timeout = wait.or(idle);
            state.sleeps = true;
            let woken = match timeout {
                None => {
                    let woken = self.work.wait(state);
                    (woken.unwrap_or_else(PoisonError::into_inner), false)
                }
                Some(timeout) => {
                    let woken = self.work.wait_timeout(state, timeout);
                    let (state, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
                    (state, timeout.timed_out())
                }
            };
            state = woken.0;
            state.sleeps = false;
            if woken.1 && state.jobs.is_empty() && !state.closing {
                return Next::Tick;
            }
        }
    }

    /// Gives room back, and notes whether what took it is written. With trouble, nothing is
    /// accepted any more without being told how it went.
    pub(super) fn done(&self, bytes: usize, trouble: bool) {
        // Before the room is free, so that whoever waited for it knows.
        let mut state = self.lock();
        state.trouble = trouble;
        state.works = false;
        drop(state);
        self.room.add_permits(bytes);
    }

    /// Takes nothing new any more, and has the writer end.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closing = true;
        self.wake(&state);
    }

    /// Waits until the writer is gone, and returns whether all that was accepted is safe.
    pub(super) async fn ended(&self) -> Result<(), Trouble> {
        let (tell, told) = oneshot::channel();
        {
            let mut state = self.lock();
            if state.ended {
                return state.outcome.clone().unwrap_or(Err(Trouble::Closed));
            }
            state.ends.push(tell);
        }
        outcome(told).await
    }

    /// Notes whether all that was accepted is safe.
    pub(super) fn settle(&self, outcome: Result<(), Trouble>) {
        self.lock().outcome = Some(outcome);
        self.settled.notify_all();
    }

    /// Blocks until all that was accepted is written, but not for longer than `time_max`.
    pub(super) fn wait_settled(&self, time_max: Duration) {
        let state = self.lock();
        let waiting = |state: &mut State| state.outcome.is_none() && !state.ended;
        let waited = self.settled.wait_timeout_while(state, time_max, waiting);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Ends the queue: the writer is gone, whatever took it away.
    pub(super) fn end(&self) {
        let (jobs, ends, outcome) = {
            let mut state = self.lock();
            state.closing = true;
            state.ended = true;
            let outcome = state.outcome.clone().unwrap_or(Err(Trouble::Closed));
            let ends = std::mem::take(&mut state.ends);
            (take(&mut state).0, ends, outcome)
        };
        self.room.close();
        self.settled.notify_all();
        // Outside the lock, since a lease that was on its way is given back to this queue.
        drop(jobs);
        for end in ends {
            // Whoever waited may have gone away.
            drop(end.send(outcome.clone()));
        }
    }
}

fn take(state: &mut State) -> (Vec<Job>, usize) {
    state.since = None;
    state.hurry = false;
    let bytes = std::mem::take(&mut state.bytes);
    (state.jobs.drain(..).collect(), bytes)
}

async fn outcome<T>(told: oneshot::Receiver<Result<T, Trouble>>) -> Result<T, Trouble> {
    // Nobody tells when the writer is gone.
    told.await.unwrap_or(Err(Trouble::Closed))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the writer has a thread of its own, where tokio's clock does not run"
)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
