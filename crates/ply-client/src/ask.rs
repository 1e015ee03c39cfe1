//! The agent's open questions, each answered exactly once.
//!
//! A session holds its open questions. What waits in the queue of a reader is a [`Ticket`], what a program was given is a
//! [`Held`]. Silence is no answer: only when everybody who was given a question has let go of it is the agent told that it must
//! look elsewhere.

mod elicitation;
mod permission;
mod serving;

use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use ply_rpc::{Responder, RpcError};
use ply_wire::convert;
use ply_wire::lift::AskId;
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};
use tokio::sync::Notify;

pub use self::elicitation::Elicitation;
pub use self::permission::Permission;
pub(crate) use self::permission::call_of;
pub(crate) use self::serving::Serving;
use crate::Error;
use crate::event::Event;
use crate::lock::lock;
use crate::session::cell::SessionCell;

/// The answer to a question.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Permission(v2::RequestPermissionOutcome),
    Elicitation(v2::ElicitationAction),
    /// Nobody answers here; another client of the session may.
    NotMine,
}

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) enum Question {
    Permission(Arc<v2::RequestPermissionRequest>),
    Elicitation(Arc<v2::CreateElicitationRequest>),
}

/// A question that waits for its answer.
pub(crate) struct Pending {
    question: Question,
    version: Version,
    responder: Mutex<Option<Responder>>,
    session: Weak<SessionCell>,
    /// The name of the question in the reading of a version 1 session.
    ask: Option<AskId>,
    hands: Mutex<Hands>,
    closed: Notify,
}

/// Who has a question.
#[derive(Debug, Default)]
struct Hands {
    /// Queues in which it waits to be read.
    queued: usize,
    /// Handles of the program.
    held: usize,
    was_held: bool,
    /// Whether a service works on the answer.
    served: bool,
}

impl Pending {
    pub(crate) fn new(
        question: Question,
        version: Version,
        responder: Responder,
        session: Weak<SessionCell>,
        ask: Option<AskId>,
    ) -> Arc<Self> {
        Arc::new(Self {
            question,
            version,
            responder: Mutex::new(Some(responder)),
            session,
            ask,
            hands: Mutex::default(),
            closed: Notify::new(),
        })
    }

    /// Gives the answer, unless one was given before; returns whether it was this one.
    ///
    /// Takes the lock of the session, so it must not be called under it.
    pub(crate) fn answer(&self, answer: Answer) -> bool {
        let Some(responder) = self.take() else {
            return false;
        };
        // Before the agent has its answer, so that whatever it does next is told after this.
        if let Some(session) = self.session() {
            session.ask_closed(self);
        }
        self.send(responder, answer);
        true
    }

    pub(crate) fn cancel(&self) -> bool {
        self.answer(self.cancelled())
    }

    /// Takes the right to answer, if nobody has.
    pub(crate) fn take(&self) -> Option<Responder> {
        lock(&self.responder).take()
    }

    /// Writes the answer and tells whoever waits for the end of the question.
    pub(crate) fn send(&self, responder: Responder, answer: Answer) {
        send(responder, self.version, answer);
        self.closed.notify_waiters();
    }

    pub(crate) fn cancelled(&self) -> Answer {
        match self.question {
            Question::Permission(_) => Answer::Permission(cancelled()),
            Question::Elicitation(_) => Answer::Elicitation(v2::ElicitationAction::Cancel),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        lock(&self.responder).is_some()
    }

    /// Whether a reader, the program or a service has it.
    pub(crate) fn is_seen(&self) -> bool {
        let hands = lock(&self.hands);
        hands.queued > 0 || hands.held > 0 || hands.served
    }

    /// Whether a service works on the answer, so that nobody else is asked.
    pub(crate) fn is_served(&self) -> bool {
        lock(&self.hands).served
    }

    /// Notes that the service leaves the answer to whoever reads the session.
    pub(crate) fn passed_on(&self) {
        lock(&self.hands).served = false;
    }

    pub(crate) fn lifted_as(&self) -> Option<AskId> {
        self.ask
    }

    fn session(&self) -> Option<Arc<SessionCell>> {
        self.session.upgrade()
    }

    /// Closes the question when the agent takes it back.
    pub(crate) fn watch(self: &Arc<Self>) {
        let Some(cancellation) = lock(&self.responder).as_ref().map(Responder::cancellation) else {
            return;
        };
        let question = Arc::downgrade(self);
        cancellation.on_asked(move || {
            if let Some(question) = question.upgrade() {
                question.cancel();
            }
        });
    }

    /// Tells the agent that nobody answers here, if that is so.
    fn check_forsaken(&self) {
        let is_forsaken = {
            let hands = lock(&self.hands);
            hands.was_held && hands.held == 0 && hands.queued == 0
        };
        if is_forsaken {
            self.answer(Answer::NotMine);
        }
    }

    async fn closed(&self) {
        loop {
            let closed = self.closed.notified();
            if !self.is_open() {
                return;
            }
            closed.await;
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // After an answer this finds nothing to do. Otherwise the policy panicked, or the session is gone.
        self.answer(Answer::NotMine);
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("open", &self.is_open())
            .field("hands", &lock(&self.hands))
            .finish_non_exhaustive()
    }
}

/// A question in the queue of a reader.
#[derive(Debug)]
pub(crate) struct Ticket(Arc<Pending>);

impl Ticket {
    pub(crate) fn new(pending: &Arc<Pending>) -> Self {
        lock(&pending.hands).queued += 1;
        Self(Arc::clone(pending))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.0.is_open()
    }

    /// Hands the question to the program.
    pub(crate) fn redeem(self) -> Event {
        let held = Held::new(&self.0);
        match &self.0.question {
            Question::Permission(request) => {
                Event::Permission(Permission::new(Arc::clone(request), held))
            }
            Question::Elicitation(request) => {
                Event::Elicitation(Elicitation::new(Arc::clone(request), held))
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        lock(&self.0.hands).queued -= 1;
        self.0.check_forsaken();
    }
}

/// A question in the hands of the program.
#[derive(Debug)]
struct Held(Arc<Pending>);

impl Held {
    fn new(pending: &Arc<Pending>) -> Self {
        let mut hands = lock(&pending.hands);
        hands.held += 1;
        hands.was_held = true;
        drop(hands);
        Self(Arc::clone(pending))
    }

    fn session(&self) -> Option<Arc<SessionCell>> {
        self.0.session()
    }

    /// Answers, and tells if that came too late.
    fn answer(&self, answer: Answer) -> Result<(), Error> {
        let answered = self.0.answer(answer);
        answered.then_some(()).ok_or(Error::Answered)
    }

    /// Answers; for a question that is closed by now this does nothing.
    fn answer_if_open(&self, answer: Answer) {
        self.0.answer(answer);
    }

    fn dismiss(&self) {
        self.0.cancel();
    }

    fn is_open(&self) -> bool {
        self.0.is_open()
    }

    async fn closed(&self) {
        self.0.closed().await;
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        lock(&self.0.hands).held -= 1;
        self.0.check_forsaken();
    }
}

/// Returns the outcome of a permission request that was dismissed.
pub(crate) fn cancelled() -> v2::RequestPermissionOutcome {
    v2::RequestPermissionOutcome::Cancelled(v2::CancelledPermissionOutcome::new())
}

/// Writes an answer in the words of the version spoken.
pub(crate) fn send(responder: Responder, version: Version, answer: Answer) {
    match (answer, version) {
        (Answer::Permission(outcome), Version::V1) => {
            let outcome = convert::permission::outcome_down(&outcome);
            responder.respond(Ok(v1::RequestPermissionResponse::new(outcome)));
        }
        (Answer::Permission(outcome), Version::V2) => {
            responder.respond(Ok(v2::RequestPermissionResponse::new(outcome)));
        }
        (Answer::Elicitation(action), version) => {
            let response = v2::CreateElicitationResponse::new(action);
            match version {
                Version::V1 => {
                    responder.respond(Ok(convert::elicitation::response_down(&response)));
                }
                Version::V2 => responder.respond(Ok(response)),
            }
        }
        (Answer::NotMine, _) => {
            let message = "Nobody answers this in this client";
            responder.respond::<()>(Err(RpcError::new(RpcError::INTERNAL_ERROR, message)));
        }
    }
}
