//! Requests that wait until the session can serve them, in order.

use std::collections::VecDeque;

use ply_wire::v2;

use super::Core;
use super::effect::Effect;
use super::input::{Input, Keep, Prompt};
use super::response::request_cancelled;
use crate::size::content_bytes;
use crate::{Answer, PROMPTS_QUEUED_BYTES_MAX, PromptId, RequestId, ViewId, WAITING_MAX};

impl Core {
    /// Returns the input if it can be taken now, and keeps it otherwise.
    pub(super) fn admit(&mut self, input: Input, out: &mut Vec<Effect>) -> Option<Input> {
        let is_request = matches!(
            input,
            Input::Attach(_)
                | Input::Prompt(_)
                | Input::SetOption { .. }
                | Input::Close(_)
                | Input::Begin { .. }
                | Input::SetTitle { .. }
                | Input::Fork { .. }
                | Input::Queue { .. }
                | Input::Post { .. }
        );
        if !is_request {
            return self.admit_report(input);
        }
        let waits = match &input {
            // It is not for this life of the session.
            Input::Attach(_) | Input::SetTitle { .. } | Input::Fork { .. }
                if !self.engine.is_open() =>
            {
                true
            }
            Input::Close(close) if self.closing.is_too_late_for(close) => true,
            Input::Prompt(Prompt { view, .. }) | Input::SetOption { view, .. }
                if self.attach_waits(*view) =>
            {
                true
            }
            _ if self.store.is_gone() => false,
            Input::Attach(_) => self.is_blocked(),
            // What was said last is kept if it can be.
            Input::Close(close) => {
                close.journal != Keep::Nothing && self.is_prepared && self.is_blocked()
            }
            // The agent may start a turn while it prepares the session.
            Input::Begin { .. } | Input::SetTitle { .. } | Input::Fork { .. } => self.is_unsafe(),
            Input::Prompt(_) | Input::Post { .. } | Input::SetOption { .. } => self.must_wait(),
            // A prompt may begin.
            Input::Queue { .. } => self.is_blocked(),
            _ => false,
        };
        if !waits {
            return Some(input);
        }
        if let Input::Close(_) = input {
            self.close_waits();
        }
        if self.waiting.len() >= WAITING_MAX || self.is_too_much(&input) {
            let error = v2::Error::new(
                v2::ErrorCode::InternalError.into(),
                "too many requests wait for this session; wait for an answer",
            );
            self.refuse_waiting(input, &error, out);
            return None;
        }
        if let Input::Attach(attach) = &input
            && !self.engine.is_open()
        {
            // It begins anew with the next life, so what is left of this one would only confuse it.
            let view = attach.view;
            self.remove_view(view, out);
        }
        self.waiting.push_back(input);
        None
    }

    /// Returns whether a prompt is more than may wait with those that do. One that is alone may be as large as a message can be.
    fn is_too_much(&self, input: &Input) -> bool {
        let Some(bytes) = prompt_bytes(input) else {
            return false;
        };
        let waiting: Vec<usize> = self.waiting.iter().filter_map(prompt_bytes).collect();
        let in_all = waiting.iter().sum::<usize>() + bytes;
        !waiting.is_empty() && in_all > PROMPTS_QUEUED_BYTES_MAX
    }

    /// Keeps what the agent reports while nothing can be kept: it comes after what a journal that failed may have, and in its
    /// order.
    fn admit_report(&mut self, input: Input) -> Option<Input> {
        let is_failed = !self.store.is_usable() && !self.store.is_gone();
        let waits = (is_failed || self.has_waiting_reports())
            && match &input {
                Input::Say { turn, .. } | Input::Update { turn, .. } => turn.is_none(),
                Input::Ask(ask) => ask.turn.is_none(),
                Input::Runner(_) | Input::Connection(_) => true,
                Input::Unask { ask } => {
                    let is_it =
                        |waiting: &Input| matches!(waiting, Input::Ask(asked) if asked.id == *ask);
                    self.waiting.iter().any(is_it)
                }
                _ => false,
            };
        if waits {
            self.waiting.push_back(input);
            return None;
        }
        Some(input)
    }

    /// Returns whether something that the agent reported waits.
    pub(super) fn has_waiting_reports(&self) -> bool {
        self.waiting.iter().any(is_report)
    }

    /// Returns whether a prompt or an option has to wait for what came before it.
    fn must_wait(&self) -> bool {
        self.is_blocked()
            || self.options.is_busy()
            || self.waiting.iter().any(|input| {
                matches!(
                    input,
                    Input::Prompt(_) | Input::Post { .. } | Input::SetOption { .. }
                )
            })
    }

    pub(super) fn attach_waits(&self, view: ViewId) -> bool {
        let attaches =
            |input: &Input| matches!(input, Input::Attach(attach) if attach.view == view);
        self.waiting.iter().any(attaches)
    }

    /// Returns whether nobody can be served now.
    fn is_blocked(&self) -> bool {
        !self.is_prepared || self.is_unsafe()
    }

    /// Returns whether the journal has to be opened, or the session to be repaired, first.
    fn is_unsafe(&self) -> bool {
        !self.store.is_usable() || self.window.visible() < self.repaired
    }

    /// Takes out what waits longest, if it can be taken. Reports do not wait for requests.
    pub(super) fn next_waiting(&mut self) -> Option<Input> {
        let report = self.waiting.iter().position(is_report);
        let can_take = |at: &usize| {
            let input = self.waiting.get(*at);
            input.is_some_and(|input| self.can_take(input))
        };
        let next = [Some(0), report].into_iter().flatten().find(can_take)?;
        self.waiting.remove(next)
    }

    /// Returns whether something that waits can be taken.
    fn can_take(&self, input: &Input) -> bool {
        match input {
            Input::Attach(_) => self.engine.is_open() && !self.is_blocked(),
            Input::Prompt(_) | Input::Post { .. } | Input::SetOption { .. } => {
                !self.is_blocked() && !self.options.is_busy()
            }
            Input::SetTitle { .. } | Input::Fork { .. } => {
                self.engine.is_open() && !self.is_unsafe()
            }
            Input::Begin { .. }
            | Input::Say { .. }
            | Input::Update { .. }
            | Input::Runner(_)
            | Input::Connection(_)
            | Input::Ask(_)
            | Input::Unask { .. } => !self.is_unsafe(),
            Input::Close(close) if self.closing.is_too_late_for(close) => false,
            _ => !self.is_blocked(),
        }
    }

    /// Takes the requests that came too late for this life of the session.
    pub fn take_waiting(&mut self) -> Vec<Input> {
        std::mem::take(&mut self.waiting).into()
    }

    /// Answers a request that waits with an error.
    pub(super) fn refuse_waiting(
        &mut self,
        input: Input,
        error: &v2::Error,
        out: &mut Vec<Effect>,
    ) {
        let request = match input {
            Input::Attach(attach) => attach.request,
            Input::Prompt(prompt) => prompt.request,
            Input::SetOption { request, .. }
            | Input::SetTitle { request, .. }
            | Input::Queue { request, .. }
            | Input::Post { request, .. }
            | Input::Fork { request } => request,
            Input::Close(close) if self.closing.is_too_late_for(&close) => match close.request {
                Some(request) => request,
                None => return,
            },
            Input::Close(close) => return self.close(close, out),
            Input::Begin { request } => {
                let stop = None;
                return out.push(Effect::Settled { request, stop });
            }
            Input::Ask(ask) => {
                let (ask, answer) = (ask.id, Answer::Cancelled);
                return out.push(Effect::Resolve { ask, answer });
            }
            _ => return,
        };
        let response = Err(error.clone());
        out.push(Effect::Respond { request, response });
    }

    /// Takes back the requests of a client that wait.
    pub(super) fn refuse_waiting_of(&mut self, view: ViewId, out: &mut Vec<Effect>) {
        let (gone, others) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|input| is_of(input, view));
        self.waiting = others;
        let gone: VecDeque<Input> = gone;
        for input in gone {
            self.refuse_waiting(input, &request_cancelled(), out);
        }
    }

    pub(super) fn fail_waiting(&mut self, error: &v2::Error, out: &mut Vec<Effect>) {
        let mut later = Vec::new();
        for input in std::mem::take(&mut self.waiting) {
            match input {
                // It is for the next life.
                Input::Close(close) if self.closing.is_too_late_for(&close) => {
                    self.waiting.push_back(Input::Close(close));
                }
                // It ends without a journal, too.
                Input::Close(close) => self.close(close, out),
                Input::Attach(attach) if !self.engine.is_open() => {
                    later.push(attach.view);
                    self.waiting.push_back(Input::Attach(attach));
                }
                // They need no life of the session.
                input @ (Input::SetTitle { .. } | Input::Fork { .. }) if !self.engine.is_open() => {
                    self.waiting.push_back(input);
                }
                // It is for whoever sees the session when it goes on.
                input if is_report(&input) && !self.store.is_gone() => {
                    self.waiting.push_back(input);
                }
                input if later.iter().any(|view| is_of(&input, *view)) => {
                    self.waiting.push_back(input);
                }
                input => self.refuse_waiting(input, error, out),
            }
        }
    }

    /// Takes back a request that waits; returns whether there was one.
    pub(super) fn withdraw_waiting(&mut self, request: RequestId, out: &mut Vec<Effect>) -> bool {
        let is_it = |input: &Input| match input {
            Input::Attach(attach) => attach.request == request,
            Input::Prompt(prompt) => prompt.request == request,
            Input::SetOption { request: of, .. }
            | Input::SetTitle { request: of, .. }
            | Input::Fork { request: of } => *of == request,
            _ => false,
        };
        let Some(at) = self.waiting.iter().position(is_it) else {
            return false;
        };
        if let Some(input) = self.waiting.remove(at) {
            let is_prompt = matches!(input, Input::Prompt(_));
            let is_attach = matches!(input, Input::Attach(_));
            if is_prompt {
                self.cancel_prompt(input, out);
            } else {
                self.refuse_waiting(input, &request_cancelled(), out);
            }
            if is_attach && !self.is_prepared && self.waiting.is_empty() {
                // Nobody wants the session that is being prepared.
                self.close_unprepared(out);
            }
        }
        true
    }

    /// Drops the prompts of some views that wait until the session can serve them.
    pub(super) fn cancel_waiting(&mut self, of: impl Fn(ViewId) -> bool, out: &mut Vec<Effect>) {
        let (prompts, others) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|input| matches!(input, Input::Prompt(prompt) if of(prompt.view)));
        self.waiting = others;
        let prompts: VecDeque<Input> = prompts;
        for prompt in prompts {
            self.cancel_prompt(prompt, out);
        }
    }

    fn cancel_prompt(&mut self, input: Input, out: &mut Vec<Effect>) {
        let Input::Prompt(prompt) = input else {
            return;
        };
        let id = PromptId(prompt.request.0);
        if self.view(prompt.view).is_some() {
            self.prompts.insert(id, prompt.view);
            self.refuse_prompt(id, &request_cancelled());
        } else {
            let (request, response) = (prompt.request, Err(request_cancelled()));
            out.push(Effect::Respond { request, response });
        }
    }
}

fn prompt_bytes(input: &Input) -> Option<usize> {
    match input {
        Input::Prompt(prompt) => Some(content_bytes(&prompt.content)),
        Input::Post { content, .. } => Some(content_bytes(content)),
        _ => None,
    }
}

/// Returns whether the agent reports something.
pub(super) fn is_report(input: &Input) -> bool {
    matches!(
        input,
        Input::Say { .. }
            | Input::Update { .. }
            | Input::Runner(_)
            | Input::Connection(_)
            | Input::Ask(_)
            | Input::Unask { .. }
    )
}

fn is_of(input: &Input, view: ViewId) -> bool {
    match input {
        Input::Attach(attach) => attach.view == view,
        Input::Prompt(prompt) => prompt.view == view,
        Input::SetOption { view: of, .. } => *of == view,
        _ => false,
    }
}
