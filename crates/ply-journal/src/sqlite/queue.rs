//! What waits for the writer, and when it is written together.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::held::Held;
use super::job::{Append, Job, Tell};
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

/// Where the outcome of a job comes from.
pub(super) type Told<T> = oneshot::Receiver<Result<T, Trouble>>;

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
}

#[derive(Debug)]
struct State {
    jobs: VecDeque<Job>,
    /// Bytes of room that the jobs take.
    bytes: usize,
    /// Bytes of room that neither these jobs take nor those that the writer is at.
    room: usize,
    /// Jobs for which there is no room yet, in order, with the room that they need. Their callers
    /// wait for them, so there are no more than a few for each log and each call.
    outside: VecDeque<(Job, usize)>,
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
    ends: Vec<Tell<()>>,
}

impl Queue {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                jobs: VecDeque::new(),
                bytes: 0,
                room: WAITING_BYTES_MAX,
                outside: VecDeque::new(),
                since: None,
                hurry: false,
                sleeps: false,
                works: false,
                trouble: false,
                closing: false,
                outcome: None,
                ended: false,
                ends: Vec::new(),
            }),
            work: Condvar::new(),
            settled: Condvar::new(),
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

    /// Puts a job into the queue that somebody waits for.
    fn push(&self, job: Job, bytes: usize) -> Result<(), Trouble> {
        let mut state = self.lock();
        if state.closing {
            return Err(Trouble::Closed);
        }
        if state.has_room(bytes) {
            state.admit(job, bytes);
        } else {
            state.outside.push_back((job, bytes));
        }
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
        self.push(job(tell), cost(bytes))?;
        outcome(told).await
    }

    /// Queues an append, and returns who tells what comes of it; none if it is accepted already.
    pub(super) fn append(&self, mut append: Append) -> Result<Option<Told<()>>, Trouble> {
        let bytes = cost(append.bytes());
        let mut state = self.lock();
        if state.closing {
            return Err(Trouble::Closed);
        }
        if !state.has_room(bytes) {
            let (tell, told) = oneshot::channel();
            append.tell = Some(tell);
            state.outside.push_back((Job::Append(append), bytes));
            // The writer has to make room.
            state.hurry = true;
            self.wake(&state);
            return Ok(Some(told));
        }
        let is_accepted = state.accept(&append);
        let (tell, told) = (!is_accepted).then(oneshot::channel).unzip();
        append.tell = tell;
        let is_first = state.since.is_none();
        state.take_in(Job::Append(append), bytes);
        // The writer sleeps on until one of these changes what it waits for.
        if is_first || !is_accepted || state.bytes >= GROUP_BYTES {
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
        let job = Job::Release { held };
        if is_unused {
            state.jobs.push_front(job);
        } else if state.outside.is_empty() {
            state.jobs.push_back(job);
        } else {
            state.outside.push_back((job, 0));
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
                // Nothing is accepted any more: whoever waits is told the outcome.
                state.trouble = true;
                while let Some((job, bytes)) = state.outside.pop_front() {
                    state.admit(job, bytes);
                }
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
        let mut accepted = Vec::new();
        {
            let mut state = self.lock();
            state.trouble = trouble;
            state.works = false;
            state.room += bytes;
            while let Some((job, bytes)) = state.next_outside() {
                accepted.extend(state.admit(job, bytes));
            }
            // The writer has to make more room.
            state.hurry |= !state.outside.is_empty();
            self.wake(&state);
        }
        for tell in accepted {
            // Whoever asked may have gone away.
            drop(tell.send(Ok(())));
        }
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
        let (jobs, outside, ends, outcome) = {
            let mut state = self.lock();
            state.closing = true;
            state.ended = true;
            let outcome = state.outcome.clone().unwrap_or(Err(Trouble::Closed));
            let ends = std::mem::take(&mut state.ends);
            let outside = std::mem::take(&mut state.outside);
            (take(&mut state).0, outside, ends, outcome)
        };
        self.settled.notify_all();
        // Outside the lock, since a lease that was on its way is given back to this queue.
        drop((jobs, outside));
        for end in ends {
            // Whoever waited may have gone away.
            drop(end.send(outcome.clone()));
        }
    }
}

impl State {
    fn has_room(&self, bytes: usize) -> bool {
        // Nobody overtakes those that wait for room.
        self.outside.is_empty() && bytes <= self.room
    }

    /// Returns the first of those that wait for room, if there is enough for it.
    fn next_outside(&mut self) -> Option<(Job, usize)> {
        let (_, bytes) = self.outside.front()?;
        (*bytes <= self.room).then(|| self.outside.pop_front())?
    }

    /// Notes an append that is taken in; returns whether it is accepted with that.
    fn accept(&self, append: &Append) -> bool {
        let may_accept = append.durability == Durability::Accepted && !self.trouble;
        append.held.queue(append.failures, may_accept)
    }

    /// Takes a job in; returns who is to be told that it is accepted.
    fn admit(&mut self, mut job: Job, bytes: usize) -> Option<Tell<()>> {
        let told = match &mut job {
            Job::Append(append) if self.accept(append) => append.tell.take(),
            _ => None,
        };
        self.take_in(job, bytes);
        told
    }

    fn take_in(&mut self, job: Job, bytes: usize) {
        match &job {
            Job::Append(append) => {
                self.hurry |= append.tell.is_some();
                self.since.get_or_insert_with(now);
            }
            _ => self.hurry = true,
        }
        self.jobs.push_back(job);
        self.bytes += bytes;
        self.room = self.room.saturating_sub(bytes);
    }
}

/// Returns the room that a job with so many bytes takes.
fn cost(bytes: usize) -> usize {
    bytes.saturating_add(JOB_BYTES).min(WAITING_BYTES_MAX)
}

fn take(state: &mut State) -> (Vec<Job>, usize) {
    state.since = None;
    state.hurry = false;
    let bytes = std::mem::take(&mut state.bytes);
    (state.jobs.drain(..).collect(), bytes)
}

/// Waits for what comes of a job.
pub(super) async fn outcome<T>(told: Told<T>) -> Result<T, Trouble> {
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
