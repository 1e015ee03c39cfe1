//! What clients want: a prompt, its end, an answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use ply_wire::negotiate::Version;
use ply_wire::transcript::MessageKind;
use ply_wire::v2;

use super::act::Gated;
use super::effect::{Effect, Message};
use super::input::{Input, Prompt, Rights, Viewer};
use super::operations::Written;
use super::response::{Empty, Response, refusal_error, request_cancelled, respond};
use super::{Core, engine};
use crate::{
    AskId, CancelScope, OPERATION_KEY_BYTES_MAX, PromptId, QueueChange, Reply, RequestId, ViewId,
};

impl Core {
    pub(super) fn prompt(&mut self, prompt: Prompt, out: &mut Vec<Effect>) {
        let Prompt {
            request,
            view,
            content,
            operation,
            steers,
        } = prompt;
        let Some(open) = self.view(view) else {
            let response = Err(self.no_such_session());
            return out.push(Effect::Respond { request, response });
        };
        if !open.viewer.rights.prompt {
            let response = Err(no_right());
            return open.urgent(Message::Respond { request, response });
        }
        if let Some(key) = operation.clone() {
            if key.len() > OPERATION_KEY_BYTES_MAX {
                let response = Err(key_too_long());
                return open.urgent(Message::Respond { request, response });
            }
            if self.says_other(&key, &content) {
                let response = Err(other_prompt());
                return respond(self.view(view), request, response, out);
            }
            if self.repeats(&key, request, view) {
                return;
            }
            self.operations.begin(key, PromptId(request.0));
        }
        let id = PromptId(request.0);
        self.prompts.insert(id, view);
        let prompt = engine::Prompt {
            id,
            view,
            content,
            operation,
        };
        if steers && self.engine.settings().steering {
            return self.converse(engine::Input::Steer(prompt), out);
        }
        self.converse(engine::Input::Prompt(prompt), out);
    }

    /// Returns whether the prompt with this key is known to say something else. What somebody edited is not what its sender wrote.
    fn says_other(&self, key: &str, content: &[v2::ContentBlock]) -> bool {
        let transcript = self.engine.history().transcript();
        let known = match self.operations.written(key) {
            Some(Written::Message(id)) => transcript
                .message(MessageKind::User, id)
                .map(|message| &message.content),
            Some(Written::Queued(prompt)) => self.engine.queued_content(prompt),
            None => None,
        };
        known.is_some_and(|known| known != content)
    }

    /// Takes a request back. A version 1 client that takes back the prompt whose turn runs means the turn; in version 2 it was
    /// answered already, and nothing comes of it (V2-PROMPT-16).
    pub(super) fn withdraw(&mut self, request: RequestId, out: &mut Vec<Effect>) {
        if self.withdraw_waiting(request, out)
            || self.withdraw_fork(request, out)
            || self.withdraw_title(request, out)
        {
            return;
        }
        for (request, view) in self.operations.take_repeats(|repeat, _| repeat == request) {
            let response = Err(request_cancelled());
            respond(self.view(view), request, response, out);
        }
        let prompt = PromptId(request.0);
        let view = self.prompts.get(&prompt).copied();
        let is_v1 = view
            .and_then(|view| self.view(view))
            .is_some_and(|view| view.viewer.version == Version::V1);
        let runs = self.engine.works_on(prompt);
        let input = if is_v1 && runs {
            engine::Input::CancelTurn
        } else {
            engine::Input::Withdraw { prompt }
        };
        self.converse(input, out);
    }

    pub(super) fn cancel(&mut self, view: Option<ViewId>, out: &mut Vec<Effect>) {
        if view.is_some_and(|view| !self.may_prompt(view)) {
            return;
        }
        let own = self.engine.settings().cancel == CancelScope::Own;
        let Some(view) = view.filter(|_| own) else {
            self.cancel_waiting(|_| true, out);
            return self.converse(engine::Input::Cancel, out);
        };
        let principal = self.viewer(view).and_then(|mine| mine.principal.clone());
        let same = |of: Option<&Arc<str>>| of.is_some() && of == principal.as_ref();
        let is_own = |core: &Self, of: ViewId| {
            let viewer = core.viewer(of);
            of == view || same(viewer.and_then(|viewer| viewer.principal.as_ref()))
        };
        let views = self.prompts.values().copied();
        let views = views.chain(self.waiting.iter().filter_map(|input| match input {
            Input::Prompt(prompt) => Some(prompt.view),
            _ => None,
        }));
        let views = views.chain(self.views.iter().map(|view| view.id));
        let own: BTreeSet<ViewId> = views.filter(|of| is_own(self, *of)).collect();
        self.cancel_waiting(|of| own.contains(&of), out);
        let attached = self.prompts.iter().filter(|(_, of)| own.contains(of));
        let left = self.left.iter().filter(|(_, of)| same(Some(of)));
        let prompts = attached.map(|(prompt, _)| *prompt);
        let prompts = prompts.chain(left.map(|(prompt, _)| *prompt));
        let again = self.operations.sent_again_by(|of| own.contains(&of));
        let prompts = prompts.chain(again);
        let prompts: Vec<PromptId> = prompts.collect();
        for prompt in prompts {
            self.converse(engine::Input::Withdraw { prompt }, out);
        }
        self.converse(engine::Input::CancelTurn, out);
    }

    /// Returns whether a client may do more than look. One that is not attached may not, unless it is about to be.
    pub(super) fn may_prompt(&self, view: ViewId) -> bool {
        self.rights(view).is_some_and(|rights| rights.prompt)
    }

    /// Returns what a client may do that is attached, or waits to be.
    pub(super) fn rights(&self, view: ViewId) -> Option<Rights> {
        self.viewer(view).map(|viewer| viewer.rights)
    }

    fn viewer(&self, view: ViewId) -> Option<&Viewer> {
        let mut views = self.views.iter().filter(|open| open.id == view);
        let attached = views.next().map(|view| &view.viewer);
        attached.or_else(|| {
            self.waiting.iter().find_map(|input| match input {
                Input::Attach(attach) if attach.view == view => Some(&attach.viewer),
                _ => None,
            })
        })
    }

    pub(super) fn answer(&mut self, ask: AskId, view: ViewId, reply: Reply, out: &mut Vec<Effect>) {
        let viewer = self.view(view).map(|view| &view.viewer);
        let by = viewer.and_then(|viewer| viewer.principal.clone());
        let rights = viewer.map(|viewer| viewer.rights);
        let counted = match (rights, &reply) {
            (Some(Rights { approve: false, .. }) | None, _) => Reply::Failed,
            (Some(Rights { prompt: false, .. }), Reply::CancelTurn) => Reply::Dismissed,
            _ => reply.clone(),
        };
        let input = engine::Input::Answer {
            ask,
            view,
            by,
            reply: counted,
        };
        self.converse(input, out);
        // Not before the answer is safe: this may tell the client what became of the call.
        let head = self.window.head();
        let window = &self.window;
        if let Some(view) = self.views.iter_mut().find(|open| open.id == view) {
            view.ask_ended(ask, &reply, head, window);
        }
    }

    /// Takes a prompt that comes through no view.
    pub(super) fn post(
        &mut self,
        request: RequestId,
        content: Vec<v2::ContentBlock>,
        out: &mut Vec<Effect>,
    ) {
        let refusal = self
            .engine
            .post(PromptId(request.0), content, &mut self.actions);
        self.act(out);
        match refusal {
            None => self.gate(Gated::Respond(request, Response::Decided(Empty {}))),
            Some(refusal) => {
                let response = Err(refusal_error(refusal));
                out.push(Effect::Respond { request, response });
            }
        }
    }

    /// Changes the queue; told when it is safe.
    pub(super) fn change_queue(
        &mut self,
        request: RequestId,
        change: QueueChange,
        out: &mut Vec<Effect>,
    ) {
        let edited = match &change {
            QueueChange::Edited { key, .. } => self.engine.prompt_named(key),
            _ => None,
        };
        let counts = self.engine.change_queue(change, &mut self.actions);
        if let Some(prompt) = edited.filter(|_| counts) {
            self.edited.insert(prompt);
            self.operations.edited(prompt);
        }
        self.act(out);
        if counts {
            return self.gate(Gated::Respond(request, Response::Decided(Empty {})));
        }
        let reason = "There is no such prompt in the queue, or the agent does not take it.";
        let response = Err(v2::Error::new(v2::ErrorCode::InvalidParams.into(), reason));
        out.push(Effect::Respond { request, response });
    }

    /// Takes an answer that comes through no view; told when it is safe.
    pub(super) fn decide(
        &mut self,
        request: RequestId,
        (ask, option): (AskId, v2::PermissionOptionId),
        by: Option<&str>,
        out: &mut Vec<Effect>,
    ) {
        let counts = self.engine.decide(ask, option, by, &mut self.actions);
        self.act(out);
        if counts {
            return self.gate(Gated::Respond(request, Response::Decided(Empty {})));
        }
        let reason = "The question is not open any more, or does not offer that.";
        let response = Err(v2::Error::new(v2::ErrorCode::InvalidParams.into(), reason));
        out.push(Effect::Respond { request, response });
    }
}

fn other_prompt() -> v2::Error {
    let reason = "The key of this prompt is that of another one, which says something else. Send it with a new key.";
    v2::Error::new(v2::ErrorCode::InvalidParams.into(), reason)
}

fn key_too_long() -> v2::Error {
    let reason = format!("The key of a prompt has at most {OPERATION_KEY_BYTES_MAX} bytes.");
    v2::Error::new(v2::ErrorCode::InvalidParams.into(), reason)
}

/// Returns what a client is told that may not do more than look.
pub(super) fn no_right() -> v2::Error {
    let reason = "This client may watch the session and not change it.";
    v2::Error::new(v2::ErrorCode::InvalidRequest.into(), reason)
}
