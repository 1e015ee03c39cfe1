//! What follows from the conversation: records, and what is done once they are safe.

use ply_wire::negotiate::Version;
use ply_wire::project;
use ply_wire::{MaybeUndefined, v2};

use super::Core;
use super::effect::Effect;
use super::response::{Response, refusal_error};
use super::view::{Apart, Call};
use crate::engine::{self, Action, Refusal, Start};
use crate::{
    Answer, AskId, CANCEL_TIME_MAX, Event, Outcome, PromptId, Reply, RequestId, Stop, TurnId,
    ViewId,
};

/// Something that is done when all records before it are safe.
#[derive(Debug)]
pub(super) enum Gated {
    Start(Start),
    Resolve(AskId, Answer),
    Settled(RequestId, v2::StopReason),
    Passed(u64),
    Respond(RequestId, Response),
    Steer(RequestId, TurnId, v2::MessageId, Vec<v2::ContentBlock>),
}

impl Core {
    /// Sees to everything that the conversation wants done.
    pub(super) fn act(&mut self, out: &mut Vec<Effect>) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            self.act_on(action, out);
        }
        if self.actions.is_empty() {
            // The buffer is used again.
            self.actions = actions;
        } else {
            self.act(out);
        }
    }

    fn act_on(&mut self, action: Action, out: &mut Vec<Effect>) {
        match action {
            Action::Append(event) => {
                self.describe(&event);
                self.window.push(event, self.engine.settings());
            }
            Action::Tell(update) => self.window.tell(update),
            Action::Accept {
                prompt,
                view,
                message,
            } => self.accepted(prompt, view, message),
            Action::Refuse {
                prompt,
                view,
                refusal,
            } => self.refused(prompt, view, refusal, out),
            Action::StartTurn(start) => self.gate(Gated::Start(start)),
            Action::Steer {
                prompt,
                turn,
                message,
                content,
            } => self.gate(Gated::Steer(RequestId(prompt.0), turn, message, content)),
            Action::CancelTurn { turn } => self.cancel_turn(turn, out),
            Action::AbandonTurn { turn } => out.push(Effect::Abandon { turn }),
            Action::Settle { prompt, stop } => self.settled(prompt, stop),
            Action::Offer { ask, view } => {
                let head = self.window.head();
                let window = &self.window;
                if let Some(view) = self.views.iter_mut().find(|open| open.id == view) {
                    view.at(head, window, Apart::Offer(ask, Call::Known));
                }
            }
            Action::Retract { ask, view } => self.retract(ask, view, out),
            // That nothing may be done any more is heard at once; that something may, when it is safe.
            Action::Resolve {
                ask,
                answer: answer @ Answer::Cancelled,
            } => out.push(Effect::Resolve { ask, answer }),
            Action::Resolve { ask, answer } => self.gate(Gated::Resolve(ask, answer)),
            Action::Closed => self.conversation_closed(),
        }
    }

    pub(super) fn gate(&mut self, what: Gated) {
        self.gated.push_back((self.window.head(), what));
    }

    /// Does what was waiting for records that are safe now.
    pub(super) fn release(&mut self, out: &mut Vec<Effect>) {
        let visible = self.window.visible();
        while let Some((_, what)) = self.gated.pop_front_if(|(place, _)| *place <= visible) {
            let is_late =
                matches!(what, Gated::Steer(_, turn, ..) if self.engine.running() != Some(turn));
            if is_late {
                continue;
            }
            out.push(match what {
                Gated::Start(start) => Effect::Start(start),
                Gated::Resolve(ask, answer) => Effect::Resolve { ask, answer },
                Gated::Settled(request, stop) => Effect::Settled {
                    request,
                    stop: Some(stop),
                },
                Gated::Passed(barrier) => Effect::Passed {
                    barrier,
                    is_safe: true,
                },
                Gated::Respond(request, response) => Effect::Respond {
                    request,
                    response: Ok(response),
                },
                Gated::Steer(request, turn, message, content) => Effect::Steer {
                    request,
                    turn,
                    message,
                    content,
                },
            });
        }
    }

    /// Returns how many prompts wait to be safe, to be passed on to the turn that runs then.
    #[must_use]
    pub fn steers(&self) -> usize {
        let waits = |(_, what): &&(u64, Gated)| matches!(what, Gated::Steer(_, turn, ..) if self.engine.running() == Some(*turn));
        self.gated.iter().filter(waits).count()
    }

    /// Tells a version 2 client that its prompt is part of the conversation. Version 1 hears of it when the work has ended.
    fn accepted(&mut self, prompt: PromptId, view: ViewId, message: v2::MessageId) {
        self.left.remove(&prompt);
        // Then its sender does not know what it says.
        let is_edited = self.edited.remove(&prompt) || self.operations.is_edited(prompt);
        if let Some(event) = self.operations.accepted(prompt, &message) {
            self.engine.note(event, &mut self.actions);
        }
        if let Some((key, senders)) = self.operations.senders(prompt).filter(|_| !is_edited) {
            let views = self.views.iter_mut();
            views
                .filter(|view| senders.contains(&view.id) || view.wrote(&key))
                .for_each(|view| view.owns(&message));
        }
        self.respond_repeats(prompt, Version::V2);
        let head = self.window.head();
        let window = &self.window;
        let Some(view) = self.views.iter_mut().find(|open| open.id == view) else {
            return;
        };
        if view.viewer.version == Version::V2 {
            if self.prompts.remove(&prompt).is_some() {
                let response = Ok(Response::Prompt(v2::PromptResponse::new(message)));
                let request = RequestId(prompt.0);
                view.at(head, window, Apart::Respond(request, response));
            }
        } else if !is_edited {
            view.owns(&message);
        }
    }

    fn refused(
        &mut self,
        prompt: PromptId,
        view: Option<ViewId>,
        refusal: Refusal,
        out: &mut Vec<Effect>,
    ) {
        let request = RequestId(prompt.0);
        self.edited.remove(&prompt);
        if view.is_none() {
            self.own.retain(|own| *own != request);
            return out.push(Effect::Settled {
                request,
                stop: None,
            });
        }
        self.refuse_prompt(prompt, &refusal_error(refusal));
    }

    /// Answers a prompt, and those that repeat it, with an error.
    pub(super) fn refuse_prompt(&mut self, prompt: PromptId, error: &v2::Error) {
        let repeats = self.operations.forget(prompt);
        self.left.remove(&prompt);
        let asked = self.prompts.remove(&prompt);
        let asked = asked.map(|view| (RequestId(prompt.0), view));
        let window = &self.window;
        for (request, view) in asked.into_iter().chain(repeats) {
            if let Some(view) = self.views.iter_mut().find(|open| open.id == view) {
                let response = match view.viewer.version {
                    Version::V2 => Err(error.clone()),
                    Version::V1 => refuse_v1(error),
                };
                // Behind what the client may see by now, which includes what its turn came to.
                view.at(window.visible(), window, Apart::Respond(request, response));
            }
        }
    }

    fn settled(&mut self, prompt: PromptId, stop: v2::StopReason) {
        let request = RequestId(prompt.0);
        self.operations.settled(prompt, &stop);
        self.respond_repeats(prompt, Version::V1);
        if let Some(at) = self.own.iter().position(|own| *own == request) {
            self.own.remove(at);
            return self.gate(Gated::Settled(request, stop));
        }
        let Some(view) = self.prompts.remove(&prompt) else {
            return;
        };
        let head = self.window.head();
        let window = &self.window;
        if let Some(view) = self.views.iter_mut().find(|open| open.id == view) {
            view.at(head, window, Apart::Respond(request, settle_v1(&stop)));
        }
    }

    /// Answers those who sent a prompt again, as its sender is.
    fn respond_repeats(&mut self, prompt: PromptId, version: Version) {
        let head = self.window.head();
        let window = &self.window;
        let views = &mut self.views;
        self.operations.respond(prompt, |view, request, known| {
            let Some(view) = views.iter_mut().find(|open| open.id == view) else {
                return true;
            };
            if view.viewer.version != version {
                return false;
            }
            let Some(response) = known.response(version) else {
                return false;
            };
            view.at(head, window, Apart::Respond(request, response));
            true
        });
    }

    /// Answers a prompt that was sent before, now or when there is an answer; returns whether it was.
    pub(super) fn repeats(&mut self, key: &str, request: RequestId, view: ViewId) -> bool {
        let Some(prompt) = self.operations.repeat(key, request, view) else {
            return false;
        };
        self.respond_repeats(prompt, Version::V1);
        self.respond_repeats(prompt, Version::V2);
        true
    }

    /// Passes a cancel on at once. Code that was not started is never started.
    fn cancel_turn(&mut self, turn: TurnId, out: &mut Vec<Effect>) {
        let waits =
            |(_, what): &(u64, Gated)| matches!(what, Gated::Start(start) if start.turn == turn);
        if let Some(at) = self.gated.iter().position(waits) {
            self.gated.remove(at);
            let outcome = Outcome::Stopped(Stop::Cancelled);
            let ended = engine::Input::TurnEnded { turn, outcome };
            return self.engine.step(ended, &mut self.actions);
        }
        self.overdue = Some((turn, self.now + CANCEL_TIME_MAX));
        out.push(Effect::Cancel { turn });
    }

    pub(super) fn ended(&mut self, turn: TurnId, outcome: Outcome, out: &mut Vec<Effect>) {
        self.overdue.take_if(|(of, _)| *of == turn);
        self.converse(engine::Input::TurnEnded { turn, outcome }, out);
    }

    pub(super) fn retract(&mut self, ask: AskId, view: ViewId, out: &mut Vec<Effect>) {
        let head = self.window.head();
        let window = &self.window;
        let mut views = self.views.iter_mut();
        if let Some(view) = views.find(|open| open.id == view)
            && view.ask_ended(ask, &Reply::Dismissed, head, window)
        {
            let view = view.id;
            out.push(Effect::Retract { ask, view });
        }
    }

    pub(super) fn barrier(&mut self, barrier: u64, view: Option<ViewId>, out: &mut Vec<Effect>) {
        let head = self.window.head();
        if !self.store.is_usable() {
            return out.push(Effect::Passed {
                barrier,
                is_safe: false,
            });
        }
        let window = &self.window;
        let mut views = self.views.iter_mut();
        match view.and_then(|view| views.find(|open| open.id == view)) {
            Some(view) if !view.has_passed(head) => view.at(head, window, Apart::Passed(barrier)),
            _ => self.gate(Gated::Passed(barrier)),
        }
    }

    /// Notes what listings say of the session.
    fn describe(&mut self, event: &Event) {
        let waits = !self.engine.history().queued().is_empty();
        let description = self.store.description();
        let update = match event {
            Event::Update(update) | Event::Titled { update, .. } => update,
            Event::Queued { .. } | Event::Queue(_) => {
                let is_active = self.engine.history().is_active();
                description.get_or_insert_default().unfinished = Some(waits || is_active);
                return;
            }
            Event::Runner(runner) => {
                description.get_or_insert_default().host = Some(runner.to_json());
                return;
            }
            _ => return,
        };
        match update {
            v2::SessionUpdate::UserMessage(_)
            | v2::SessionUpdate::StateUpdate(v2::StateUpdate::Running(_)) => {
                description.get_or_insert_default().unfinished = Some(true);
            }
            v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(_)) => {
                description.get_or_insert_default().unfinished = Some(waits);
            }
            v2::SessionUpdate::SessionInfoUpdate(info) => {
                let title = match &info.title {
                    MaybeUndefined::Undefined => return,
                    MaybeUndefined::Null => None,
                    MaybeUndefined::Value(title) => Some(title.clone()),
                };
                description.get_or_insert_default().title = Some(title);
            }
            _ => {}
        }
    }

    /// Notes that nothing more comes of the conversation.
    fn conversation_closed(&mut self) {
        self.overdue = None;
        self.closing.is_closed = true;
    }
}

/// Returns the answer of version 1 to a prompt whose work ended.
pub(super) fn settle_v1(stop: &v2::StopReason) -> Result<Response, v2::Error> {
    let settled = project::settle(stop).map(Response::PromptV1);
    settled.map_err(|error| ply_wire::convert::error::up(&error))
}

/// Returns the answer of version 1 to a prompt that was refused.
pub(super) fn refuse_v1(error: &v2::Error) -> Result<Response, v2::Error> {
    let refused = project::refuse(error).map(Response::PromptV1);
    refused.map_err(|error| ply_wire::convert::error::up(&error))
}
