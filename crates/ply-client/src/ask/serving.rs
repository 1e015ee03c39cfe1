//! Questions that a service answers.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::{Answer, Pending};
use crate::lock::lock;
use crate::routes::Routes;
use crate::services::{ElicitationDecision, Work};
use crate::session::cell::SessionCell;

/// A question in the hands of a service. Dropped before it is decided, which is what a panic does, nobody answers it here.
pub(crate) struct Serving {
    pending: Arc<Pending>,
    session: Option<Arc<SessionCell>>,
    routes: Arc<Routes>,
}

impl Serving {
    pub(crate) fn new(
        pending: Arc<Pending>,
        session: Option<Arc<SessionCell>>,
        routes: Arc<Routes>,
    ) -> Self {
        lock(&pending.hands).served = true;
        Self {
            pending,
            session,
            routes,
        }
    }

    /// Waits for the service, unless the question ends before it answers. What it says at once takes effect at once, so that an
    /// event about the question has its place among the agent's messages.
    pub(crate) fn run(self, mut work: Work<ElicitationDecision>) {
        let session = self.session.as_ref();
        if session.is_some_and(|session| session.is_cancelling()) {
            // V1-CANCEL-03.
            self.pending.cancel();
            return;
        }
        let mut cx = Context::from_waker(Waker::noop());
        if let Poll::Ready(decision) = work.as_mut().poll(&mut cx) {
            return self.decided(decision);
        }
        match session {
            Some(session) => session.ask(&self.pending, &self.routes),
            None => self.routes.add_ask(&self.pending),
        }
        tokio::spawn(async move {
            let decision = tokio::select! {
                biased;
                () = self.pending.closed() => return,
                decision = work => decision,
            };
            self.decided(decision);
        });
    }

    fn decided(self, decision: ElicitationDecision) {
        match (decision, &self.session) {
            // The turn may have been cancelled while the service thought about it.
            (ElicitationDecision::Answer(_), Some(session)) if session.is_cancelling() => {
                self.pending.cancel();
            }
            (ElicitationDecision::Answer(action), _) => {
                self.pending.answer(Answer::Elicitation(action));
            }
            (ElicitationDecision::Ask, Some(session)) => {
                session.pass_on(&self.pending, &self.routes);
            }
            // What belongs to no session has nobody who could be asked but the service.
            (ElicitationDecision::Ask | ElicitationDecision::LeaveToOthers, _) => {
                self.pending.answer(Answer::NotMine);
            }
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let was_served = std::mem::take(&mut lock(&self.pending.hands).served);
        if was_served {
            // After an answer this finds nothing to do.
            self.pending.answer(Answer::NotMine);
        }
    }
}
