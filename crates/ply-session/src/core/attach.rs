//! Clients come and go.

use ply_wire::negotiate::Version;
use ply_wire::v2;

use super::effect::Effect;
use super::input::{After, Attach, Close, How, Keep, Viewer};
use super::mark::{Began, Mark};
use super::response::{self, request_cancelled};
use super::view::{Apart, View};
use super::waiting::is_report;
use super::{Core, Setup};
use crate::engine;
use crate::{LastClient, PromptId, RequestId, ViewId};

/// What a client is told whose cursor is of no use.
const UNKNOWN_CURSOR: &str = "The cursor does not name a place in this session. Load the session to see all of it, or resume it without a cursor.";

impl From<How> for Began {
    fn from(how: How) -> Self {
        match how {
            How::New => Self::New,
            How::Replay => Self::Replay,
            How::Resume | How::Fork => Self::Resume,
        }
    }
}

impl Core {
    pub(super) fn prepared(&mut self, outcome: Result<(), v2::Error>, out: &mut Vec<Effect>) {
        match outcome {
            Ok(()) => self.is_prepared = true,
            Err(error) => {
                self.fail_waiting(&error, out);
                self.close_unprepared(out);
            }
        }
    }

    pub(super) fn attach(&mut self, attach: Attach, out: &mut Vec<Effect>) {
        let Attach {
            request,
            view: id,
            viewer,
            how,
            setup,
            after,
        } = attach;
        if setup.cwd != self.setup.cwd {
            let response = Err(wrong_directory());
            return out.push(Effect::Respond { request, response });
        }
        let back = match after {
            None => None,
            Some(after) => match self.mark_of(&after, &viewer) {
                Some(mark) => Some((mark, after.operations)),
                None => {
                    return refuse(request, v2::ErrorCode::InvalidParams, UNKNOWN_CURSOR, out);
                }
            },
        };
        // A client that sees the session already starts anew.
        if self.view(id).is_some() {
            if self.prompts.values().any(|view| *view == id) {
                let reason = "a prompt of this client is not answered yet; wait or cancel";
                return refuse(request, v2::ErrorCode::InvalidRequest, reason, out);
            }
            self.remove_view(id, out);
        }
        (self.was_seen, self.was_answered) = (true, true);
        // It goes on, so a journal that fails again has another chance at its end.
        self.closing.was_opened = false;
        self.is_unattended = false;
        let attach = (request, id, viewer, how);
        match back {
            Some((mark, operations)) => self.attach_again(attach, mark, operations, &setup, out),
            None => self.attach_first(attach, &setup, out),
        }
    }

    fn attach_first(
        &mut self,
        (request, id, viewer, how): (RequestId, ViewId, Viewer, How),
        setup: &Setup,
        out: &mut Vec<Effect>,
    ) {
        let history = self.engine.history();
        let (place, transcript) = match self.engine.snapshot() {
            Some(snapshot) => (snapshot.at, snapshot.history.transcript()),
            None => (self.window.head(), history.transcript()),
        };
        let answers = viewer.answers;
        let may_approve = viewer.rights.approve;
        let is_traced = viewer.cursors;
        let response = response::setup(how, &self.session, transcript, &viewer);
        let mode = match viewer.version {
            Version::V1 => ply_wire::convert::config::modes_down(transcript.config_options()),
            Version::V2 => None,
        };
        let mode = mode.map(|modes| modes.current_mode_id);
        let after = response::after(how, transcript, viewer.version);
        let mut view = View::new((id, viewer), how, place, transcript, history, self.epoch);
        view.at(place, &self.window, Apart::Setup(request, response, mode));
        let notices = self.notices(how, setup);
        if is_traced {
            let mut mark = Mark::new(how.into(), self.window.position(place));
            mark.past = (how == How::Replay).then_some(0);
            mark.after = after.len();
            view.trace(place, mark);
        }
        for update in after.into_iter().chain(notices) {
            view.at(place, &self.window, Apart::Show(Box::new(update)));
        }
        self.views.push(view);
        if may_approve {
            self.converse(engine::Input::Attach { view: id, answers }, out);
        }
    }

    /// Attaches a client that goes on where it was. It is answered when it has seen everything that is there now, and was asked
    /// what is open: so it knows that nobody waits for an answer to any other question.
    fn attach_again(
        &mut self,
        (request, id, viewer, how): (RequestId, ViewId, Viewer, How),
        mark: Mark,
        operations: Vec<String>,
        setup: &Setup,
        out: &mut Vec<Effect>,
    ) {
        let history = self.engine.history();
        let transcript = history.transcript();
        let answers = viewer.answers;
        let may_approve = viewer.rights.approve;
        let response = response::setup(how, &self.session, transcript, &viewer);
        let mode = match viewer.version {
            // One that had its answer knows of every change since.
            Version::V1 if mark.past.is_some() => {
                ply_wire::convert::config::modes_down(transcript.config_options())
            }
            _ => None,
        };
        let mode = mode.map(|modes| modes.current_mode_id);
        let mut view = View::new((id, viewer), How::New, 0, transcript, history, self.epoch);
        view.go_on(mark, self.epoch);
        let own = operations
            .iter()
            .filter_map(|key| self.operations.own_message(key));
        own.for_each(|message| view.owns(message));
        view.writes(operations);
        if self.window.has_all() {
            view.go_on_in(&self.window, self.now);
        }
        let notices = self.notices(How::Resume, setup);
        self.views.push(view);
        if may_approve {
            self.converse(engine::Input::Attach { view: id, answers }, out);
        }
        let head = self.window.head();
        let window = &self.window;
        if let Some(view) = self.views.iter_mut().find(|open| open.id == id) {
            view.at(head, window, Apart::Setup(request, response, mode));
            for update in notices {
                view.at(head, window, Apart::Show(Box::new(update)));
            }
        }
    }

    /// Returns how far a client has seen the session that gives this back; none if nobody can tell.
    fn mark_of(&mut self, after: &After, viewer: &Viewer) -> Option<Mark> {
        let mark = Mark::read(&after.cursor, &self.session, self.first_owner..=self.epoch)?;
        // One that was shown in part must be there.
        let shown = u64::from(mark.at.skip > 0);
        let end = mark.at.record.saturating_add(shown);
        let is_known = viewer.cursors && end <= self.window.seal();
        is_known.then_some(mark)
    }

    /// Returns what the client has to know about the session that no answer says.
    fn notices(&self, how: How, setup: &Setup) -> Vec<v2::SessionUpdate> {
        let mut notices = Vec::new();
        if self.damaged > 0 && how == How::Replay {
            let records = match self.damaged {
                1 => "1 record".to_owned(),
                more => format!("{more} records"),
            };
            notices.push(format!(
                "{records} of this session cannot be read: the journal is damaged. Everything else is shown."
            ));
        }
        let (own, servers) = (&*self.setup, &setup.mcp_servers);
        let servers = !servers.is_empty() && *servers != own.mcp_servers;
        let directories = &setup.additional_directories;
        let directories = !directories.is_empty() && *directories != own.additional_directories;
        let given = match (servers, directories) {
            (true, true) => "MCP servers and additional directories",
            (true, false) => "MCP servers",
            (false, true) => "additional directories",
            (false, false) => "",
        };
        if !given.is_empty() {
            notices.push(format!(
                "This session was already open with other {given}; the ones in this request are not used. \
                 Close the session everywhere and load it again to change them."
            ));
        }
        let warning = |message| {
            v2::SessionUpdate::Notice(v2::Notice::new(v2::NoticeSeverity::Warning, message))
        };
        let mut notices: Vec<v2::SessionUpdate> = notices.into_iter().map(warning).collect();
        let history = self.engine.history();
        if history.is_paused() && !history.queued().is_empty() {
            let paused = self.engine.queue_is_paused();
            notices.push(v2::SessionUpdate::Notice(paused));
        }
        notices
    }

    pub(super) fn detach(&mut self, view: ViewId, out: &mut Vec<Effect>) {
        self.refuse_waiting_of(view, out);
        // While the view is there, since its queued prompts are answered now.
        self.remove_view(view, out);
        // Also if it never attached: whoever made the session is gone.
        self.was_seen = true;
    }

    pub(super) fn remove_view(&mut self, id: ViewId, out: &mut Vec<Effect>) {
        self.converse(engine::Input::Detach { view: id }, out);
        let prompts = self.prompts.iter().filter(|(_, view)| **view == id);
        let prompts: Vec<PromptId> = prompts.map(|(prompt, _)| *prompt).collect();
        let Some(at) = self.views.iter().position(|view| view.id == id) else {
            return;
        };
        // Its connection may live on, and then whoever sent these waits for them. What its turn comes to is not known.
        let repeats = self.operations.take_repeats(|_, view| view == id);
        let principal = self.views.get(at);
        let principal = principal.and_then(|view| view.viewer.principal.clone());
        for prompt in &prompts {
            self.prompts.remove(prompt);
            let principal = principal.clone().filter(|_| self.engine.is_queued(*prompt));
            self.left.extend(principal.map(|of| (*prompt, of)));
        }
        let prompts = prompts.into_iter().map(|prompt| RequestId(prompt.0));
        let repeats = repeats.into_iter().map(|(request, _)| request);
        for request in prompts.chain(repeats) {
            let response = Err(request_cancelled());
            out.push(Effect::Respond { request, response });
        }
        let mut view = self.views.remove(at);
        for barrier in view.take_barriers() {
            self.barrier(barrier, None, out);
        }
        for ask in view.take_asked() {
            out.push(Effect::Retract { ask, view: id });
        }
        for (request, response) in view.take_answers(self.window.visible(), &request_cancelled()) {
            out.push(Effect::Respond { request, response });
        }
    }

    pub(super) fn hung_up(&mut self, view: ViewId, out: &mut Vec<Effect>) {
        let Some(view) = self.view(view) else {
            return;
        };
        view.hung_up = true;
        if self.views.iter().all(|view| view.hung_up) {
            self.converse(engine::Input::Cancel, out);
        }
    }

    /// Ends a session that no client sees any more, once nothing runs in it. Its journal stays.
    pub(super) fn leave_if_abandoned(&mut self, out: &mut Vec<Effect>) {
        let is_abandoned = self.was_seen
            && self.views.is_empty()
            && self.waiting.iter().all(is_report)
            && self.engine.running().is_none()
            && self.engine.queued() == 0
            && self.engine.is_open();
        if !is_abandoned || self.engine.settings().last_client == LastClient::Stays {
            return;
        }
        if self.store.is_new() && self.was_answered {
            // It lives with its server: its client may come back for it.
            if !std::mem::replace(&mut self.is_unattended, true) {
                out.push(Effect::Unattended);
            }
            return;
        }
        if !self.waiting.is_empty() {
            // The agent said something since the journal failed, and nobody else will open it for that.
            if self.store.is_failed() && !std::mem::replace(&mut self.closing.was_opened, true) {
                return self.open_if_failed(out);
            }
            if !self.store.is_failed() {
                return;
            }
        }
        if self.was_answered {
            self.converse(engine::Input::Close, out);
        } else {
            self.close_unprepared(out);
        }
    }

    /// Closes a session that is kept in memory alone, unless it is used again.
    pub(super) fn leave(&mut self, out: &mut Vec<Effect>) {
        if self.is_unattended && self.waiting.is_empty() && self.store.is_new() {
            let close = Close {
                request: None,
                view: None,
                journal: Keep::All,
            };
            self.close(close, out);
        }
    }
}

/// Returns what a client is told that wants to see a session in another directory than its own.
#[must_use]
pub fn wrong_directory() -> v2::Error {
    let reason = "The session has another working directory; give the one that session/list shows.";
    v2::Error::new(v2::ErrorCode::InvalidParams.into(), reason)
}

fn refuse(request: RequestId, code: v2::ErrorCode, reason: &str, out: &mut Vec<Effect>) {
    let response = Err(v2::Error::new(code.into(), reason));
    out.push(Effect::Respond { request, response });
}
