//! The end of a session in this process.

use super::controls::refuse;
use super::{Broken, Task};
use crate::session::answer::Answer;
use crate::session::control::{Attach, Done};
use crate::session::op::Op;
use crate::session::view::View;

impl Task {
    /// Ends everything that belongs to the session, and tells everybody who waits for something.
    pub(super) async fn end(mut self, outcome: Result<(), Broken>) {
        let mut failed = None;
        if let Err(Broken(error)) = &outcome {
            tracing::error!(session = %self.session.id().0, %error, "the session ends: its journal failed");
            let error = crate::Error::msg(format!(
                "The session cannot go on: {error}. It goes on with the next prompt once that is solved."
            ));
            self.session.fail(error.to_rpc());
            failed = Some(error);
        }
        if let Some(running) = self.running.take() {
            running.abandon();
        }
        // Whoever waits for one of these hears that the session is over.
        self.own.clear();
        self.asks.clear();
        for op in self.session.0.inbox.close_ops() {
            if let Op::Then(then) = op {
                then();
            }
        }
        // In a task of its own, so that a panic leaves nobody waiting.
        let closed = tokio::spawn(self.agent.clone().close(self.session.clone()));
        if let Err(error) = closed.await {
            tracing::error!(panicked = error.is_panic(), "the agent's code broke off");
        }
        // The next owner may open the session from here on.
        if let Err(error) = self.log.close().await {
            tracing::error!(session = %self.session.id().0, %error, "the end of a session is not safe");
        }
        let left = self.session.0.inbox.close();
        self.host.forget(self.session.id());
        // Not before the session can be opened again: the next prompt may come at once.
        if let Some(error) = failed {
            self.views.iter_mut().for_each(|view| view.fail(&error));
        }
        for (view, done) in self.closing.drain(..) {
            let view = self.views.iter_mut().find(|open| Some(open.id) == view);
            match (done, view) {
                (Done::Answer(responder), Some(view)) => {
                    view.answer(responder, Answer::Done);
                }
                (Done::Answer(responder), None) => Answer::Done.give(responder),
                // Whoever waited may have gone away.
                (Done::Tell(tell), _) => drop(tell.send(())),
            }
        }
        self.late.drain(..).for_each(Attach::refuse);
        for control in left {
            refuse(control, &self.session);
        }
        // What waits behind a replay is of no use any more, but its answers are.
        self.views.iter_mut().for_each(View::write_all);
    }
}
