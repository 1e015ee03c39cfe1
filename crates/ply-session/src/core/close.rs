//! The end of a session in this process.

use std::collections::VecDeque;
use std::time::Duration;

use ply_wire::v2;

use super::Core;
use super::effect::{Effect, Message};
use super::input::{Close, Input, Keep};
use super::prompt::no_right;
use super::response::respond;
use super::response::{Empty, Response};
use super::waiting::is_report;
use crate::engine;
use crate::{CLOSE_TIME_MAX, CloseEffect, RequestId, ViewId};

/// How far the end has come.
#[derive(Debug, Default)]
pub(super) struct Closing {
    /// Who is told what became of the session, in the order of the requests.
    pub(super) requests: Vec<Asked>,
    /// Whether the session has to be in the journal for it.
    keeps: bool,
    deletes: bool,
    /// Whether the session is archived when it is given back.
    archives: bool,
    /// Whether the conversation is closed.
    pub(super) is_closed: bool,
    /// When a journal that does not answer is given up.
    until: Option<Duration>,
    /// Whether a journal that failed was opened once more for the last words.
    pub(super) was_opened: bool,
    is_releasing: bool,
    /// Whether it was given up.
    is_given_up: bool,
}

/// A request that ends the session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    view: Option<ViewId>,
    request: RequestId,
    journal: Keep,
}

impl Closing {
    pub(super) fn wants_journal(&self) -> bool {
        self.keeps && !self.deletes
    }

    /// Returns whether a close has to wait for the next life of the session: this one is not deleted, or not archived.
    pub(super) fn is_too_late_for(&self, close: &Close) -> bool {
        match close.journal {
            Keep::Nothing => self.is_releasing && !self.deletes,
            // Behind a delete there is nothing to archive, unless the delete fails.
            Keep::Archived => self.deletes || (self.is_releasing && !self.archives),
            Keep::All | Keep::IfUsed => false,
        }
    }

    /// Takes the requests with what each is told, given whether the journal failed to do what was wanted.
    fn take_answers(
        &mut self,
        failed: Option<&v2::Error>,
        gone: &v2::Error,
    ) -> Vec<(Asked, Result<Response, v2::Error>)> {
        let requests = std::mem::take(&mut self.requests);
        // One that was archived first is deleted all the same, and one that nobody knew of is deleted unasked.
        let was_archived =
            !self.deletes || requests.iter().any(|asked| asked.journal == Keep::Nothing);
        let answer = |asked: Asked| {
            let done = match (asked.journal, failed) {
                // It is closed, whatever came of its journal.
                (Keep::All | Keep::IfUsed, _) => Ok(()),
                (Keep::Nothing | Keep::Archived, Some(error)) => Err(error.clone()),
                (Keep::Archived, None) if !was_archived => Err(gone.clone()),
                (Keep::Nothing | Keep::Archived, None) => Ok(()),
            };
            (asked, done.map(|()| Response::Close(Empty {})))
        };
        requests.into_iter().map(answer).collect()
    }

    pub(super) fn deletes(&self) -> bool {
        self.deletes
    }

    /// Gives up keeping a session in which nothing was said.
    pub(super) fn give_up(&mut self) {
        self.keeps = false;
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.until
            .filter(|_| !self.is_releasing && !self.is_given_up)
    }
}

impl Core {
    pub(super) fn close(&mut self, close: Close, out: &mut Vec<Effect>) {
        let Close {
            request,
            view,
            journal,
        } = close;
        if let (Some(id), Some(request)) = (view, request)
            && !self.may_prompt(id)
        {
            self.close_waits_no_more();
            if self.rights(id).is_some() {
                return respond(self.view(id), request, Err(no_right()), out);
            }
            // It does not see the session, and as far as it is concerned that is closed (V2-CLOSE-05).
            self.detach(id, out);
            let response = Ok(Response::Close(Empty {}));
            return out.push(Effect::Respond { request, response });
        }
        let detaches = self.engine.settings().close == CloseEffect::Detaches;
        if let (true, Some(view), Some(request), Keep::All) = (detaches, view, request, journal) {
            self.close_waits_no_more();
            self.detach(view, out);
            let response = Ok(Response::Close(Empty {}));
            return out.push(Effect::Respond { request, response });
        }
        if let Some(view) = view.filter(|view| self.attach_waits(*view)) {
            // Nothing of the session follows the answer to its close (V2-CLOSE-04).
            self.refuse_waiting_of(view, out);
        }
        self.closing.requests.extend(request.map(|request| Asked {
            view,
            request,
            journal,
        }));
        self.closing.keeps |= matches!(journal, Keep::All | Keep::Archived);
        self.closing.archives |= journal == Keep::Archived;
        self.closing.deletes |= journal == Keep::Nothing;
        self.close_waits();
        self.converse(engine::Input::Close, out);
    }

    /// Notes that the end is wanted, though it has to wait for the journal.
    pub(super) fn close_waits(&mut self) {
        self.closing.until.get_or_insert(self.now + CLOSE_TIME_MAX);
    }

    /// Notes that a close that may have waited does not end the session.
    fn close_waits_no_more(&mut self) {
        let mut waiting = self.waiting.iter();
        if self.engine.is_open() && !waiting.any(|input| matches!(input, Input::Close(_))) {
            self.closing.until = None;
        }
    }

    /// Ends a session that was never ready.
    pub(super) fn close_unprepared(&mut self, out: &mut Vec<Effect>) {
        self.is_prepared = true;
        // One that nobody was told of is as if it had not been.
        self.closing.deletes |= self.store.is_new() || !self.was_answered;
        self.close_waits();
        self.converse(engine::Input::Close, out);
    }

    /// Closes what belongs to the session once its last words are safe, or cannot be.
    pub(super) fn release_journal(&mut self, out: &mut Vec<Effect>) {
        if !self.closing.is_closed || self.closing.is_releasing {
            return;
        }
        self.close_waits();
        let is_overdue = self.closing.until.is_some_and(|until| until <= self.now);
        let retries =
            self.store.is_failed() && (self.window.has_unwritten() || self.engine.is_cut_off());
        if retries && !self.closing.was_opened && !self.closing.deletes && !is_overdue {
            self.closing.was_opened = true;
            return self.open_if_failed(out);
        }
        let is_done = self.is_kept() && self.gated.is_empty();
        if is_overdue && !is_done {
            // Also when something else comes before the clock: whoever waits hears that it is given up.
            self.close_overdue(out);
        }
        if is_done || is_overdue {
            self.closing.is_releasing = true;
            let delete = self.closing.deletes;
            let archive = self.closing.archives && !delete;
            out.push(Effect::Release { delete, archive });
        }
    }

    /// Gives up what a journal that does not answer holds up.
    pub(super) fn close_overdue(&mut self, out: &mut Vec<Effect>) {
        let is_overdue = self
            .closing
            .deadline()
            .is_some_and(|until| until <= self.now);
        if is_overdue {
            self.closing.is_given_up = true;
            let reason = "the journal does not answer; what was not safe may be lost";
            let error = v2::Error::new(v2::ErrorCode::InternalError.into(), reason);
            self.lost(&error, out);
        }
    }

    /// Tells everybody who waits that the session is over.
    pub(super) fn released(&mut self, failed: Option<&v2::Error>, out: &mut Vec<Effect>) {
        self.store.set_gone();
        let error = self.no_such_session();
        let prompts: Vec<_> = self.prompts.keys().copied().collect();
        for prompt in prompts {
            self.refuse_prompt(prompt, &error);
        }
        // Those who sent a prompt again after it was given up wait for nothing else.
        for (request, view) in self.operations.take_repeats(|_, _| true) {
            respond(self.view(view), request, Err(error.clone()), out);
        }
        self.fail_options(&error, out);
        // What the agent asked for or reports does not outlive the session.
        let (own, others) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|input| matches!(input, Input::Begin { .. }) || is_report(input));
        self.waiting = others;
        let own: VecDeque<Input> = own;
        for begin in own {
            self.refuse_waiting(begin, &error, out);
        }
        let visible = self.window.visible();
        for view in &mut self.views {
            view.end(visible, &error);
        }
        for (asked, response) in self.closing.take_answers(failed, &error) {
            let Asked { view, request, .. } = asked;
            match view.and_then(|view| self.view(view)) {
                Some(view) => view.last(Message::Respond { request, response }),
                None => respond(None, request, response, out),
            }
        }
        out.push(Effect::Over);
    }
}

/// Returns what clients are told when another owner wrote the session meanwhile.
pub(super) fn moved() -> v2::Error {
    let reason = "The session was taken over by another process; load it again to go on.";
    v2::Error::new(v2::ErrorCode::InternalError.into(), reason)
}
