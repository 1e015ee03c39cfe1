//! Who does the work of a session: one task, which runs the agent's code as well.
//!
//! Were the code in a task of its own, a runtime of several threads would run the two side by side. They would wake each other for
//! every few words, and what one thread allocates the other would free, which costs more than the second thread gains. So the code
//! of a turn is polled here, in turn with everything else the session has to do.
//!
//! Code that blocks its thread must not hold up a cancel, or what it said before. On runtimes of several threads a
//! [`watch`](super::watch) therefore starts another driver when the code does not return for long. That one takes the session over; the
//! first one gives it the code as soon as it has it back.

use std::future::poll_fn;
use std::sync::{MutexGuard, PoisonError};
use std::task::{Context, Poll};

use ply_session::Input;
use tokio::time::Instant;

use super::Task;
use super::send::Unsent;
use super::watch::Watch;
use crate::session::Session;
use crate::session::alarm::Alarm;
use crate::session::inbox::{Left, Ops};
use crate::session::run::Code;

/// How often in a row there may be something to do before others on the same thread have their turn.
const ROUNDS_MAX: u32 = 4;

/// The future of a session's task. What is left when it is dropped ends with it.
pub(super) struct Driver {
    session: Session,
    /// Which of the session's drivers it is; the latest one drives.
    number: u64,
    alarm: Alarm,
    code: Option<Code>,
    watch: Option<Watch>,
    /// How often in a row there was something to do.
    rounds: u32,
}

/// What a session waits for.
struct Waits {
    unsent: Unsent,
    ops: Ops,
    deadline: Option<Instant>,
    /// The code of a turn that begins, or that another driver had.
    code: Option<Code>,
    /// Whether there was anything to do.
    was_busy: bool,
    /// Whether links have something to write, for which they were woken here.
    wakes_links: bool,
}

/// What came of waiting.
enum Waited {
    GoOn,
    /// Another driver has taken over.
    Replaced,
}

impl Session {
    /// Nobody holds it for longer than one step takes, and never while the agent's code runs.
    fn task(&self) -> MutexGuard<'_, Option<Box<Task>>> {
        let task = self.0.task.lock();
        task.unwrap_or_else(PoisonError::into_inner)
    }

    fn go_on(&self) -> Option<Waits> {
        self.task().as_mut().and_then(|task| task.go_on())
    }

    /// Has the task take what its journal says next.
    fn poll_store(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut task = self.task();
        let Some(task) = task.as_mut() else {
            return Poll::Pending;
        };
        task.store.poll(cx).map(|input| task.step(input))
    }
}

impl Driver {
    /// Puts the task where other drivers find it too.
    pub(super) fn new(task: Box<Task>) -> Self {
        let session = task.session.clone();
        *session.task() = Some(task);
        Self::numbered(session, 0)
    }

    /// Drives a session whose driver is stuck in the agent's code.
    pub(super) fn numbered(session: Session, number: u64) -> Self {
        Self {
            session,
            number,
            alarm: Alarm::default(),
            code: None,
            watch: None,
            rounds: 0,
        }
    }

    /// Drives the task until its session is over, and lets clients read what is left. Ends early if another driver takes over.
    pub(super) async fn run(mut self) {
        while let Some(mut waits) = self.session.go_on() {
            self.code.take_if(|code| code.is_given_up());
            if let Some(code) = waits.code.take() {
                self.code = Some(code);
                self.watch = self.watch.take().or_else(Watch::new);
            }
            if self.has_to_give_way(&waits) {
                tokio::task::yield_now().await;
            }
            if let Waited::Replaced = self.wait(waits).await {
                return;
            }
        }
        let task = self.session.task().take();
        self.code = None;
        if let Some(mut task) = task {
            task.say_last_words().await;
        }
    }

    /// Returns whether others on this thread run before the code does, which may always have more to report.
    fn has_to_give_way(&mut self, waits: &Waits) -> bool {
        self.rounds = if waits.was_busy { self.rounds + 1 } else { 0 };
        // A link that was woken here is taken by no other thread, and would wait for the code, however long that takes.
        let is_behind_code = waits.wakes_links && self.watch.is_some();
        let gives_way = self.code.is_some() && (is_behind_code || self.rounds >= ROUNDS_MAX);
        if gives_way {
            self.rounds = 0;
        }
        gives_way
    }

    async fn wait(&mut self, waits: Waits) -> Waited {
        let session = &self.session;
        let (number, code, watch) = (self.number, &mut self.code, self.watch.as_ref());
        tokio::select! {
            biased;
            () = session.0.inbox.has_come(waits.ops) => Waited::GoOn,
            () = poll_fn(|cx| session.poll_store(cx)) => Waited::GoOn,
            () = self.alarm.rings(waits.deadline) => Waited::GoOn,
            () = waits.unsent.can_be_sent() => Waited::GoOn,
            waited = poll_fn(|cx| poll_code((session, number), waits.ops, code, watch, cx)) => waited,
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if self.session.0.inbox.is_driven_by(self.number) {
            // Its runtime ends: nobody is left who would end the session in an orderly way.
            let task = self.session.task().take();
            drop(task);
        }
    }
}

/// Has the agent's code go on. Whatever it reports is taken when this returns.
fn poll_code(
    (session, number): (&Session, u64),
    ops: Ops,
    code: &mut Option<Code>,
    watch: Option<&Watch>,
    cx: &mut Context<'_>,
) -> Poll<Waited> {
    let Some(running) = code else {
        return Poll::Pending;
    };
    let inbox = &session.0.inbox;
    if let (Some(polls), Some(watch)) = (inbox.enter_code(), watch) {
        watch.look_at(session, polls);
    }
    let polled = running.poll(cx);
    match inbox.leave_code(number, ops) {
        Left::Replaced => {
            let code = code
                .take()
                .filter(|code| polled.is_pending() && !code.is_given_up());
            if let (Some(code), Some(task)) = (code, &mut *session.task()) {
                task.code = Some(code);
            }
            inbox.code_has_come_back();
            Poll::Ready(Waited::Replaced)
        }
        left => {
            if polled.is_ready() {
                *code = None;
            }
            match left {
                Left::News => Poll::Ready(Waited::GoOn),
                _ => Poll::Pending,
            }
        }
    }
}

impl Task {
    /// Does everything that can be done now, and returns what to wait for; nothing once the session is over.
    fn go_on(&mut self) -> Option<Waits> {
        if self.deadline().is_some_and(|at| at <= Instant::now()) {
            // An inbox that is never empty would put it off for ever.
            self.step(Input::Tick);
        }
        let batch = self.session.0.inbox.take(self.wanted_ops());
        let mut was_busy = !batch.is_empty();
        if was_busy {
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
        let unsent = self.advance();
        let has_sent = std::mem::take(&mut self.has_sent);
        was_busy |= has_sent;
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
        let mut clients = self.clients.values();
        Some(Waits {
            unsent,
            ops,
            deadline: self.deadline(),
            code: self.code.take(),
            was_busy,
            wakes_links: has_sent && clients.any(|client| client.peer.queued_bytes() > 0),
        })
    }

    fn deadline(&self) -> Option<Instant> {
        self.core.deadline().map(|at| self.began + at)
    }
}
