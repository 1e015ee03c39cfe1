//! The questions of a session: held open until somebody answers, or nobody has to.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ply_wire::lift::{AskId, PermissionUp};
use ply_wire::method::v1::LenientPermissionRequest;
use ply_wire::v2;

use super::cell::{SessionCell, State};
use crate::ask::{Answer, Pending, Ticket};
use crate::event::TurnId;
use crate::routes::Routes;

/// A question that waits for an answer.
#[derive(Debug)]
pub(super) struct OpenAsk {
    /// The turn it was asked in.
    turn: Option<TurnId>,
    pending: Arc<Pending>,
}

impl OpenAsk {
    fn is(&self, pending: &Pending) -> bool {
        std::ptr::eq(&*self.pending, pending)
    }
}

/// A permission request in the words of its version.
pub(crate) enum Asked {
    V1(Box<LenientPermissionRequest>),
    V2(Box<v2::RequestPermissionRequest>),
}

impl Asked {
    pub(crate) fn session_id(&self) -> &str {
        match self {
            Self::V1(asked) => &asked.request.session_id.0,
            Self::V2(asked) => &asked.session_id.0,
        }
    }
}

impl SessionCell {
    /// Takes a permission request: the call it is about becomes known. None if there is nothing to choose from.
    pub(crate) fn permission_asked(
        &self,
        asked: Asked,
    ) -> Option<(Option<AskId>, v2::RequestPermissionRequest)> {
        let mut state = self.lock();
        match asked {
            Asked::V1(asked) => {
                let mut up = None;
                state.lift(0, |lifter, out| {
                    up = Some(lifter.permission_asked(&asked, out));
                });
                match up? {
                    PermissionUp::Ask(ask, request) => Some((Some(ask), *request)),
                    PermissionUp::Answer(_) => None,
                }
            }
            Asked::V2(request) => {
                if request.options.is_empty() {
                    return None;
                }
                if let Some(v2::RequestPermissionSubject::ToolCall(subject)) = &request.subject {
                    let call = subject.tool_call.clone();
                    state.fold(v2::SessionUpdate::ToolCallUpdate(call), 0);
                }
                Some((None, *request))
            }
        }
    }

    /// Whether the running turn was cancelled, so that nothing may be allowed any more.
    pub(crate) fn is_cancelling(&self) -> bool {
        self.lock().is_cancelling()
    }

    /// Notes that something is asked that is no permission.
    pub(crate) fn ask_opened(&self) -> Option<AskId> {
        let mut ask = None;
        self.lock().lift(0, |lifter, out| {
            ask = Some(lifter.ask_opened(None, out));
        });
        ask
    }

    /// Holds a question open and tells it to whoever reads the session, unless a service works on it. In a turn that was
    /// cancelled it is cancelled too (V1-CANCEL-03), and a session that nobody holds any more has nobody to ask.
    pub(crate) fn ask(&self, pending: &Arc<Pending>, routes: &Routes) {
        self.ask_after(pending, routes, |_| {});
    }

    /// Tells a question that its service passes on. Under one lock, so that a reader who comes at this moment hears of it once.
    pub(crate) fn pass_on(&self, pending: &Arc<Pending>, routes: &Routes) {
        self.ask_after(pending, routes, Pending::passed_on);
    }

    fn ask_after(&self, pending: &Arc<Pending>, routes: &Routes, change: impl FnOnce(&Pending)) {
        let (answer, is_new) = {
            let mut state = self.lock();
            change(pending);
            let is_served = pending.is_served();
            if !pending.is_open() {
                return;
            }
            let at = state.asks.iter().position(|ask| ask.is(pending));
            if state.is_cancelling() {
                (Some(pending.cancelled()), false)
            } else if state.closed || (self.is_abandoned() && !is_served) {
                (Some(Answer::NotMine), false)
            } else {
                // One that a service has passed on belongs to the turn it was asked in.
                let known = at.and_then(|at| state.asks.get(at));
                let turn = known.map_or_else(|| state.current_turn(), |known| known.turn);
                if !is_served {
                    state.readers.ask(turn, || Ticket::new(pending));
                }
                if at.is_none() {
                    let pending = Arc::clone(pending);
                    state.asks.push(OpenAsk { turn, pending });
                }
                (None, at.is_none())
            }
        };
        match answer {
            Some(answer) => drop(pending.answer(answer)),
            None if is_new => routes.add_ask(pending),
            None => {}
        }
    }

    /// Tells whoever reads the session that the visit to a URL is over.
    pub(crate) fn visit_finished(&self, id: &v2::ElicitationId) {
        let mut state = self.lock();
        let turn = state.current_turn();
        state.readers.visit_finished(turn, id);
    }

    /// Notes that a question was answered or taken back.
    pub(crate) fn ask_closed(&self, pending: &Pending) {
        let closed = {
            let mut state = self.lock();
            let at = state.asks.iter().position(|ask| ask.is(pending));
            let closed = at.map(|at| state.asks.remove(at));
            state.lift_closed(pending);
            closed
        };
        drop(closed);
    }

    /// Whether nobody holds the session any more. It may still have a prompt that runs.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Notes that nobody holds the session any more: what it is asked, and no service works on, is for others to answer.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        self.abandoned.store(true, Ordering::Relaxed);
        state.close_asks(|ask| !ask.pending.is_served(), |_| Answer::NotMine);
    }
}

impl State {
    /// Returns whether somebody who sees a question has to answer it before the agent goes on.
    pub(crate) fn waits_for_user(&self) -> bool {
        self.asks.iter().any(|ask| ask.pending.is_seen())
    }

    /// Tells a new reader which questions are open.
    pub(super) fn tell_asks(&mut self, reader: u64) {
        if let Some(reader) = self.readers.get_mut(reader) {
            let to_tell = self.asks.iter().filter(|ask| !ask.pending.is_served());
            for ask in to_tell {
                reader.push_ask(ask.turn, Ticket::new(&ask.pending));
            }
        }
    }

    /// Answers every question as cancelled.
    pub(super) fn cancel_asks(&mut self) {
        self.close_asks(|_| true, Pending::cancelled);
    }

    /// Answers the questions of a turn that has ended as cancelled.
    pub(super) fn cancel_asks_of(&mut self, turn: TurnId) {
        self.close_asks(|ask| ask.turn == Some(turn), Pending::cancelled);
    }

    fn close_asks(
        &mut self,
        which: impl Fn(&OpenAsk) -> bool,
        answer: impl Fn(&Pending) -> Answer,
    ) {
        let asks = std::mem::take(&mut self.asks);
        let (closing, open) = asks.into_iter().partition(which);
        self.asks = open;
        let closing: Vec<OpenAsk> = closing;
        for OpenAsk { pending, .. } in closing {
            // Whoever was faster is about to note it.
            if let Some(responder) = pending.take() {
                self.lift_closed(&pending);
                pending.send(responder, answer(&pending));
            }
        }
    }

    fn lift_closed(&mut self, pending: &Pending) {
        if let Some(ask) = pending.lifted_as() {
            self.lift(0, |lifter, out| lifter.ask_closed(ask, out));
        }
    }
}
