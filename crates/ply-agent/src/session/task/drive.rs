//! Who does the work of a session: its task, and the agent's code where it would only wait for that.
//!
//! Code that reports more than there is room for does not sleep until the session's task has made some. On a runtime of several
//! threads the two would run side by side, and what one thread allocates the other would free, which costs more than the second
//! thread gains. Instead the code does what there is to do, and the task is told that the session went on.

use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll};

use ply_session::Input;
use tokio::time::Instant;

use super::Task;
use super::send::Unsent;
use crate::session::Session;
use crate::session::alarm::Alarm;
use crate::session::inbox::Ops;

/// How often in a row the agent's code does the work of its session before the task has a look. Others on the same thread wait
/// for that long.
const HELP_MAX: u32 = 4;

/// The future of a session's task. What is left when it is dropped ends with it.
pub(super) struct Driver {
    session: Session,
    alarm: Alarm,
}

/// What a session waits for.
struct Waits {
    unsent: Unsent,
    ops: Ops,
    deadline: Option<Instant>,
}

/// What the task of a session does next.
enum Next {
    Wait(Waits),
    /// Somebody else is at work.
    Busy,
    Over,
}

/// The right to do a session's work. Whoever wanted it meanwhile is told when it is free.
struct Working<'a> {
    task: Option<MutexGuard<'a, Option<Box<Task>>>>,
    session: &'a Session,
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.task = None;
        self.session.0.inbox.went_on();
    }
}

impl Session {
    /// Does what its task has to do, if nobody is at it. Returns whether that was anything.
    pub(crate) fn help(&self) -> bool {
        let Some(task) = self.try_task() else {
            return false;
        };
        let mut working = Working {
            task: Some(task),
            session: self,
        };
        let task = working.task.as_mut().and_then(|task| task.as_mut());
        task.is_some_and(|task| task.help())
    }

    fn go_on(&self) -> Next {
        let Some(mut task) = self.try_task() else {
            return Next::Busy;
        };
        let waits = task.as_mut().and_then(|task| task.go_on());
        waits.map_or(Next::Over, Next::Wait)
    }

    fn try_task(&self) -> Option<MutexGuard<'_, Option<Box<Task>>>> {
        match self.0.task.try_lock() {
            Ok(task) => Some(task),
            Err(TryLockError::Poisoned(task)) => Some(task.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Waits for whoever is at work; only where the task comes and goes.
    fn task(&self) -> MutexGuard<'_, Option<Box<Task>>> {
        let task = self.0.task.lock();
        task.unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the task take what its journal says next.
    fn poll_store(&self, cx: &mut Context<'_>) -> Poll<()> {
        // Whoever is at work wakes the task when it is done.
        let Some(mut task) = self.try_task() else {
            return Poll::Pending;
        };
        let Some(task) = task.as_mut() else {
            return Poll::Pending;
        };
        task.store.poll(cx).map(|input| task.step(input))
    }
}

impl Driver {
    /// Puts the task where the agent's code finds it too.
    pub(super) fn new(task: Box<Task>) -> Self {
        let session = task.session.clone();
        *session.task() = Some(task);
        Self {
            session,
            alarm: Alarm::default(),
        }
    }

    /// Drives the task until its session is over, and returns it.
    pub(super) async fn run(mut self) -> Option<Box<Task>> {
        loop {
            match self.session.go_on() {
                Next::Wait(waits) => self.wait(waits).await,
                Next::Busy => self.session.0.inbox.has_gone_on().await,
                Next::Over => return self.session.task().take(),
            }
        }
    }

    async fn wait(&mut self, waits: Waits) {
        let session = &self.session;
        tokio::select! {
            biased;
            () = session.0.inbox.has_come(waits.ops) => {}
            () = std::future::poll_fn(|cx| session.poll_store(cx)) => {}
            () = self.alarm.rings(waits.deadline) => {}
            () = waits.unsent.can_be_sent() => {}
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Its runtime ends: nobody is left who would end the session in an orderly way.
        let task = self.session.task().take();
        drop(task);
    }
}

impl Task {
    /// Does everything that can be done now, and returns what to wait for; nothing once the session is over.
    fn go_on(&mut self) -> Option<Waits> {
        self.helped = 0;
        let unsent = self.take_in();
        if self.is_over {
            self.gathers.clear();
            return None;
        }
        let ops = self.wanted_ops();
        if !unsent.is_empty() || !self.session.0.inbox.has_news(ops) {
            self.gathers.clear();
            if self.is_tired && self.running.is_none() && self.store.is_still() {
                self.rest();
            }
        }
        Some(Waits {
            unsent,
            ops,
            deadline: self.deadline(),
        })
    }

    /// Does the same for the agent's code that has more to report. Returns whether there was anything to do.
    fn help(&mut self) -> bool {
        if self.is_over || self.helped == HELP_MAX {
            return false;
        }
        if !self.session.0.inbox.has_news(self.wanted_ops()) {
            return false;
        }
        self.helped += 1;
        // The code may run elsewhere, but what it starts here belongs to the session.
        let runtime = self.runtime.clone();
        let _entered = runtime.enter();
        self.take_in();
        self.gathers.clear();
        true
    }

    /// Takes what came, and does what comes of it. Returns what clients could not be sent.
    fn take_in(&mut self) -> Unsent {
        if self.deadline().is_some_and(|at| at <= Instant::now()) {
            // An inbox that is never empty would put it off for ever.
            self.step(Input::Tick);
        }
        let batch = self.session.0.inbox.take(self.wanted_ops());
        if !batch.is_empty() {
            for control in batch.controls {
                self.control(control);
            }
            for op in batch.ops {
                self.op(op);
            }
            if self.core.is_new() {
                self.list();
            }
        }
        self.advance()
    }

    fn deadline(&self) -> Option<Instant> {
        self.core.deadline().map(|at| self.began + at)
    }
}
