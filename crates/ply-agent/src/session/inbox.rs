//! What waits for a session's task: requests of clients, and what the agent's code reports.
//!
//! Clients' requests are taken first, so that a cancel gets through a flood of output. There are at
//! most a few per request the link serves, and cancels in a row are one. What the agent reports is
//! bounded in bytes: whoever reports more waits.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::control::Control;
use super::op::Op;
use crate::{Error, Result};

/// Bytes of reports that may wait for the session's task before the agent's code waits, if many turns run: each of them soon has
/// something to write, and together they take little memory.
const OPS_BYTES_MIN: usize = 4 * 1024;
/// The same for one turn alone; several share it. The fewer times the code and the task take turns, the fewer threads are woken.
const OPS_BYTES_MAX: usize = 32 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    /// Something came for the session's task.
    came: Notify,
    /// There is room for reports again.
    room: Notify,
}

#[derive(Debug)]
struct State {
    controls: VecDeque<Control>,
    ops: Vec<Op>,
    ops_bytes: usize,
    /// How many may wait.
    ops_bytes_max: usize,
    /// Whether no reports are taken any more.
    ops_closed: bool,
    closed: bool,
    /// Whether the session went on without its task, which may wait for other things now.
    went_on: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            controls: VecDeque::new(),
            ops: Vec::new(),
            ops_bytes: 0,
            ops_bytes_max: OPS_BYTES_MIN,
            ops_closed: false,
            closed: false,
            went_on: false,
        }
    }
}

/// What the session's task has to do next.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) controls: VecDeque<Control>,
    pub(crate) ops: Vec<Op>,
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.controls.is_empty() && self.ops.is_empty()
    }
}

/// Whether to take what the agent's code reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ops {
    Take,
    /// Only if a turn of the agent's own is among them, which opens a journal that failed; and those that only look.
    TakeToBegin,
    Leave,
}

impl Inbox {
    /// Passes on a request of a client; gives it back if the session is over.
    pub(crate) fn control(&self, control: Control) -> Result<(), Control> {
        let mut state = self.lock();
        if state.closed {
            return Err(control);
        }
        if !control.repeats(state.controls.back()) {
            state.controls.push_back(control);
        }
        drop(state);
        self.came.notify_one();
        Ok(())
    }

    /// Makes room for the reports of a turn that begins, as one of so many.
    pub(crate) fn share_room(&self, turns: usize) {
        self.lock().ops_bytes_max = (OPS_BYTES_MAX / turns.max(1)).max(OPS_BYTES_MIN);
    }

    /// Reports something, once there is room. Where there is none, `help` may make some; it returns whether it did anything.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub(crate) async fn report(&self, op: Op, help: impl Fn() -> bool) -> Result<()> {
        loop {
            // Made before the check, so that room made between check and wait is not missed.
            let room = self.room.notified();
            {
                let mut state = self.lock();
                if state.ops_closed {
                    return Err(Error::session_closed());
                }
                // Reports may wait for a journal that only a turn opens again, and nobody has to wait behind them to look.
                if state.has_room() || op.begins() || op.looks() {
                    let came = state.push(op);
                    drop(state);
                    if came {
                        self.came.notify_one();
                    }
                    return Ok(());
                }
            }
            if !help() {
                room.await;
            }
        }
    }

    /// Reports something small that cannot wait, such as the end of a tool call whose guard is
    /// dropped; gives it back if the session is over.
    pub(crate) fn report_now(&self, op: Op) -> Option<Op> {
        let mut state = self.lock();
        if state.ops_closed {
            return Some(op);
        }
        state.push(op);
        drop(state);
        self.came.notify_one();
        None
    }

    /// Waits until there is something to take, or somebody else than the session's task has taken it.
    pub(crate) async fn has_come(&self, ops: Ops) {
        loop {
            if std::mem::take(&mut self.lock().went_on) || self.has_news(ops) {
                return;
            }
            self.came.notified().await;
        }
    }

    /// Waits until the session went on without its task.
    pub(crate) async fn has_gone_on(&self) {
        while !std::mem::take(&mut self.lock().went_on) {
            self.came.notified().await;
        }
    }

    /// Tells the session's task that the session went on without it.
    pub(crate) fn went_on(&self) {
        self.lock().went_on = true;
        self.came.notify_one();
    }

    /// Waits for something to do, and takes it.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub(crate) async fn next(&self, ops: Ops) -> Batch {
        loop {
            let batch = self.take(ops);
            if !batch.is_empty() {
                return batch;
            }
            self.came.notified().await;
        }
    }

    /// Returns whether there is something that [`Inbox::take`] would take.
    pub(crate) fn has_news(&self, ops: Ops) -> bool {
        let state = self.lock();
        let looks = || ops == Ops::TakeToBegin && state.ops.iter().any(Op::looks);
        !state.controls.is_empty() || state.takes(ops) || looks()
    }

    /// Takes what is there.
    pub(crate) fn take(&self, ops: Ops) -> Batch {
        let mut state = self.lock();
        let mut batch = Batch {
            controls: std::mem::take(&mut state.controls),
            ops: Vec::new(),
        };
        let takes = state.takes(ops);
        let was_full = !state.has_room();
        if takes {
            // The next batch is likely to be as long, and would grow step by step.
            let next = Vec::with_capacity(state.ops.len());
            batch.ops = std::mem::replace(&mut state.ops, next);
            state.ops_bytes = 0;
        } else if ops == Ops::TakeToBegin {
            batch.ops = state.ops.extract_if(.., |op| op.looks()).collect();
            state.ops_bytes -= batch.ops.iter().map(Op::bytes).sum::<usize>();
        }
        let has_room = was_full && state.has_room();
        drop(state);
        if has_room {
            self.room.notify_waiters();
        }
        batch
    }

    /// Takes no more reports, and returns those that were not taken.
    pub(crate) fn close_ops(&self) -> Vec<Op> {
        let mut state = self.lock();
        state.ops_closed = true;
        let ops = std::mem::take(&mut state.ops);
        drop(state);
        self.room.notify_waiters();
        ops
    }

    /// Takes nothing more, and returns the requests that were not taken.
    pub(crate) fn close(&self) -> VecDeque<Control> {
        let mut state = self.lock();
        state.closed = true;
        std::mem::take(&mut state.controls)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_room(&self) -> bool {
        self.ops_bytes < self.ops_bytes_max
    }

    /// Returns whether what the agent's code reports is taken, all of it.
    fn takes(&self, ops: Ops) -> bool {
        match ops {
            Ops::Take => !self.ops.is_empty(),
            Ops::TakeToBegin => self.ops.iter().any(Op::begins),
            Ops::Leave => false,
        }
    }

    /// Returns whether the session's task has to be told.
    fn push(&mut self, op: Op) -> bool {
        self.ops_bytes += op.bytes();
        let is_urgent = op.begins() || op.looks();
        self.ops.push(op);
        is_urgent || self.ops.len() == 1
    }
}
