//! What waits for a session's task: requests of clients, and what the agent's code reports.
//!
//! Clients' requests are taken first, so that a cancel gets through a flood of output. There are at
//! most a few per request the link serves, and cancels in a row are one. What the agent reports is
//! bounded in bytes: whoever reports more waits.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

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
    /// Who waits for something to come. The session's task looks by itself when the agent's code, which it runs, returns.
    waker: Option<Waker>,
    code: CodeState,
}

/// What is known of the agent's code.
#[derive(Debug, Default)]
struct CodeState {
    /// Which of the session's drivers drives.
    driver: u64,
    is_at_work: bool,
    /// How often it was polled.
    polls: u64,
    /// Whether somebody looks how it goes on.
    is_watched: bool,
    /// Whether a driver that was replaced has given it back.
    has_come_back: bool,
}

/// What has happened while the agent's code was at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// Another driver has taken the session over.
    Replaced,
    /// There is something to take.
    News,
    Nothing,
}

/// How the agent's code goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// It was polled again, so many times by now.
    Goes(u64),
    /// It waits, and is not looked at until it goes on.
    Waits,
    /// It does not return. The driver of that number drives from now on.
    Blocks { driver: u64 },
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
            waker: None,
            code: CodeState::default(),
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
        wake(state);
        Ok(())
    }

    /// Makes room for the reports of a turn that begins, as one of so many.
    pub(crate) fn share_room(&self, turns: usize) {
        self.lock().ops_bytes_max = (OPS_BYTES_MAX / turns.max(1)).max(OPS_BYTES_MIN);
    }

    /// Reports something, once there is room.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub(crate) async fn report(&self, op: Op) -> Result<()> {
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
                    if state.push(op) {
                        wake(state);
                    }
                    return Ok(());
                }
            }
            room.await;
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
        wake(state);
        None
    }

    /// Waits until there is something to take. Only the one who waited last is told.
    pub(crate) async fn has_come(&self, ops: Ops) {
        poll_fn(|cx| self.poll_news(ops, cx)).await;
    }

    /// Waits for something to do, and takes it.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub(crate) async fn next(&self, ops: Ops) -> Batch {
        self.has_come(ops).await;
        self.take(ops)
    }

    fn poll_news(&self, ops: Ops, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.has_news(ops) {
            return Poll::Ready(());
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            waker => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Tells the session's task that another driver has given the agent's code back.
    pub(crate) fn code_has_come_back(&self) {
        let mut state = self.lock();
        state.code.has_come_back = true;
        wake(state);
    }

    /// Notes that the agent's code is at work, on the thread of the session's task. Returns how often that was if nobody looks how it
    /// goes on.
    pub(crate) fn enter_code(&self) -> Option<u64> {
        let code = &mut self.lock().code;
        code.polls += 1;
        code.is_at_work = true;
        let is_watched = std::mem::replace(&mut code.is_watched, true);
        (!is_watched).then_some(code.polls)
    }

    /// Notes that the agent's code has returned to a driver.
    pub(crate) fn leave_code(&self, driver: u64, ops: Ops) -> Left {
        let mut state = self.lock();
        if state.code.driver != driver {
            return Left::Replaced;
        }
        state.code.is_at_work = false;
        match state.has_news(ops) {
            true => Left::News,
            false => Left::Nothing,
        }
    }

    /// Looks at the agent's code, which had been polled so many times when it was last looked at.
    pub(crate) fn look_at_code(&self, polls: u64) -> Look {
        let code = &mut self.lock().code;
        if code.polls != polls {
            return Look::Goes(code.polls);
        }
        code.is_watched = false;
        if !code.is_at_work {
            return Look::Waits;
        }
        code.is_at_work = false;
        code.driver += 1;
        Look::Blocks {
            driver: code.driver,
        }
    }

    /// Says whether a driver drives the session.
    pub(crate) fn is_driven_by(&self, driver: u64) -> bool {
        self.lock().code.driver == driver
    }

    /// Returns whether there is something that [`Inbox::take`] would take.
    pub(crate) fn has_news(&self, ops: Ops) -> bool {
        self.lock().has_news(ops)
    }

    /// Takes what is there.
    pub(crate) fn take(&self, ops: Ops) -> Batch {
        let mut state = self.lock();
        state.code.has_come_back = false;
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

/// Tells whoever waits that something came.
fn wake(mut state: MutexGuard<'_, State>) {
    if state.code.is_at_work {
        // The session's task looks when the code returns, and another one if it does not.
        return;
    }
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl State {
    fn has_news(&self, ops: Ops) -> bool {
        let looks = || ops == Ops::TakeToBegin && self.ops.iter().any(Op::looks);
        self.code.has_come_back || !self.controls.is_empty() || self.takes(ops) || looks()
    }

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
