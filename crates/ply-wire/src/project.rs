//! The projector: what a v1 client sees of a session that is kept in v2 meaning.
//!
//! There is one [`Projector`] per v1 client and session. Updates go in, v1 updates come out in the
//! order in which they are to be written. It holds what v1 makes necessary: what was already sent of
//! each message, and the parts of tool calls that v1 sends only as a whole. It answers no prompts:
//! whoever decides when one is answered asks [`settle`] or [`refuse`] what to answer.
//!
//! ```
//! use ply_wire::{project::{Down, Projector, Shows, settle}, v1, v2};
//!
//! let mut projector = Projector::new(Shows::ALL, "life-1/");
//! projector.own_message(v2::MessageId::new("u1"));
//! let mut out = Vec::new();
//! for update in [
//!     v2::SessionUpdate::UserMessage(v2::UserMessage::new("u1").content(vec!["Hi".into()])),
//!     v2::SessionUpdate::StateUpdate(v2::StateUpdate::Running(v2::RunningStateUpdate::new())),
//!     v2::SessionUpdate::AgentMessageChunk(v2::ContentChunk::new("Hello".into(), "m1")),
//!     v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(v2::IdleStateUpdate::new())),
//! ] {
//!     projector.apply(&update, &mut out);
//! }
//! // The client's own prompt is not echoed, and the chunk is the same in v1 as in v2.
//! assert_eq!(out, [Down::Same]);
//! let answer = settle(&v2::StopReason::EndTurn);
//! assert_eq!(answer, Ok(v1::PromptResponse::new(v1::StopReason::EndTurn)));
//! ```

mod activity;
mod gone;
mod kept;
pub(crate) mod mark;
mod message;
mod own;
mod permission;
mod session;
mod settle;
mod shows;
pub(crate) mod terminal;
pub(crate) mod tool_call;

use std::collections::HashMap;

use self::{
    kept::Finished, message::Messages, own::Own, permission::Asks, session::ShownPlan,
    terminal::Screen, tool_call::Call,
};
pub use self::{
    permission::{AskId, PermissionDown},
    settle::{refuse, settle},
    shows::Shows,
};
pub use crate::convert::diff::{EditText, EditTexts};
use crate::{
    MaybeUndefined, convert,
    transcript::{MessageKind, SessionInfo, State, Transcript, Usage},
    v1, v2,
};

/// Something to write to the v1 client.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are updates, and boxing each would cost more"
)]
pub enum Down {
    /// A `session/update`.
    Update(v1::SessionUpdate),
    /// A `session/update` whose v1 form is the JSON of the v2 update itself, so that what was
    /// encoded for v2 clients can be sent as it is. Only [`Projector::apply`] and
    /// [`Projector::apply_with`] make it, and it means the update they were called with.
    Same,
}

impl Down {
    /// Returns the v1 update, where `of` is the update that this was made for.
    ///
    /// There is none for [`Down::Same`] of an update that it cannot have been made for.
    #[must_use]
    pub fn into_update(self, of: &v2::SessionUpdate) -> Option<v1::SessionUpdate> {
        match self {
            Self::Update(update) => Some(update),
            Self::Same => message::same(of),
        }
    }
}

type Screens = HashMap<v2::TerminalId, Screen>;

/// The v1 view of one session for one client.
#[derive(Debug)]
pub struct Projector {
    shows: Shows,
    prefix: String,
    /// Whether foreground work goes on.
    is_active: bool,
    own: Own,
    messages: Messages,
    calls: HashMap<v2::ToolCallId, Call>,
    screens: Screens,
    /// Calls with content that is not sent yet, and terminals no call has shown yet, oldest first.
    unsent: Vec<v2::ToolCallId>,
    unshown: Vec<v2::TerminalId>,
    finished: Finished,
    asks: Asks,
    plans: Vec<ShownPlan>,
    mode: Option<v1::SessionModeId>,
    info: SessionInfo,
    usage: Usage,
    stand_ins: u64,
    /// What the stand-in of the next question is called.
    stand_in_name: Option<String>,
}

impl Projector {
    /// Returns the view of a session that has just begun.
    ///
    /// Ids of what stands in for something v1 does not have are made up from `prefix` and a
    /// counter. The prefix must be new for each view of a session, since the counter starts again
    /// and a client may still know the ids of an earlier view.
    #[must_use]
    pub fn new(shows: Shows, prefix: impl Into<String>) -> Self {
        Self {
            shows,
            prefix: prefix.into(),
            is_active: false,
            own: Own::default(),
            messages: Messages::default(),
            calls: HashMap::new(),
            screens: HashMap::new(),
            unsent: Vec::new(),
            unshown: Vec::new(),
            finished: Finished::default(),
            asks: Asks::default(),
            plans: Vec::new(),
            mode: None,
            info: SessionInfo::default(),
            usage: Usage::default(),
            stand_ins: 0,
            stand_in_name: None,
        }
    }

    /// Returns the view for `session/load`: everything so far goes out in its final form, user
    /// messages included. [`Down::Same`] is not among what goes out.
    #[must_use]
    pub fn load(
        shows: Shows,
        prefix: impl Into<String>,
        history: &Transcript,
        edits: &dyn EditTexts,
        out: &mut Vec<Down>,
    ) -> Self {
        Self::load_by(shows, prefix, history, edits, |update, downs| {
            let updates = downs.drain(..).filter_map(|down| down.into_update(update));
            out.extend(updates.map(Down::Update));
        })
    }

    /// Returns the same view, and calls `pass` with each update of the history and what goes out for
    /// it, so that a long history is never there a second time.
    #[must_use]
    pub fn load_by(
        shows: Shows,
        prefix: impl Into<String>,
        history: &Transcript,
        edits: &dyn EditTexts,
        mut pass: impl FnMut(&v2::SessionUpdate, &mut Vec<Down>),
    ) -> Self {
        let mut projector = Self::new(shows, prefix);
        let mut out = Vec::new();
        for update in history.updates() {
            projector.apply_with(&update, edits, &mut out);
            pass(&update, &mut out);
            out.clear();
        }
        projector.flush(&mut out);
        if !out.is_empty() {
            // Every history ends with its state.
            let last = v2::SessionUpdate::StateUpdate(history.state_snapshot());
            pass(&last, &mut out);
        }
        projector
    }

    /// Returns the view for `session/resume`: nothing is sent, but later changes of what is there
    /// are understood.
    ///
    /// A client that resumes has kept its own view, so a message goes on where it stopped, under the
    /// id it has on load; a client that has nothing sees only what is new of it. A tool call is
    /// announced again with its next change, which either client can show.
    #[must_use]
    pub fn resume(
        shows: Shows,
        prefix: impl Into<String>,
        history: &Transcript,
        edits: &dyn EditTexts,
    ) -> Self {
        let mut projector = Self::load_by(shows, prefix, history, edits, |_, _| {});
        // One whose content is not here any more could only be announced without it.
        let calls = projector.calls.values_mut();
        calls
            .filter(|call| !call.left_out)
            .for_each(|call| call.sent = false);
        projector
    }

    /// Sets how many messages, and how many finished calls, are remembered with all that a late change of them may need. Of
    /// older ones it is only known that the client has them.
    ///
    /// A new message text then replaces the one that the client has instead of going on from it, and what is added to an old
    /// call is shown without what the call had before.
    pub fn remember(&mut self, count: usize) {
        self.messages.remember(count);
        self.finished.remember(count);
    }

    /// Notes which mode the answer that introduced the session named, so that it is not sent again
    /// as a change.
    pub fn mode_answered(&mut self, mode: v1::SessionModeId) {
        self.mode = Some(mode);
    }

    /// Notes that a terminal is one that this client made itself (`terminal/create`): where a tool
    /// call refers to it, the client is sent the reference and shows the output by itself.
    pub fn client_terminal(&mut self, terminal: v2::TerminalId) {
        self.screens.entry(terminal).or_default().is_clients = true;
    }

    /// Notes that this client wrote the user message itself, so that updates of it are not echoed
    /// until the work that includes it ends. Say so before the message comes.
    ///
    /// A later update of the message is shown only if it says something else than the message said
    /// until then.
    pub fn own_message(&mut self, message: v2::MessageId) {
        self.own.insert(message);
    }

    /// Shows one update of the session.
    pub fn apply(&mut self, update: &v2::SessionUpdate, out: &mut Vec<Down>) {
        self.apply_with(update, &(), out);
    }

    /// Shows one update of the session, with the texts of edits where they were kept.
    pub fn apply_with(
        &mut self,
        update: &v2::SessionUpdate,
        edits: &dyn EditTexts,
        out: &mut Vec<Down>,
    ) {
        match update {
            v2::SessionUpdate::UserMessageChunk(v2::ContentChunk { message_id, .. })
            | v2::SessionUpdate::UserMessage(v2::UserMessage { message_id, .. }) => {
                if self.own.comes(message_id) {
                    self.messages.written(update);
                } else {
                    self.show_message(update, out);
                }
            }
            v2::SessionUpdate::AgentMessageChunk(_)
            | v2::SessionUpdate::AgentMessage(_)
            | v2::SessionUpdate::AgentThoughtChunk(_)
            | v2::SessionUpdate::AgentThought(_) => self.show_message(update, out),
            v2::SessionUpdate::ToolCallUpdate(update) => self.tool_call(update, edits, out),
            v2::SessionUpdate::ToolCallContentChunk(chunk) => {
                self.tool_call_chunk(chunk, edits, out)
            }
            v2::SessionUpdate::TerminalUpdate(update) => self.terminal(update, out),
            v2::SessionUpdate::TerminalOutputChunk(chunk)
                if self.is_terminal_gone(&chunk.terminal_id) => {}
            v2::SessionUpdate::TerminalOutputChunk(chunk) => {
                let screen = self.screen(&chunk.terminal_id);
                let bytes = screen.append(&chunk.data);
                self.screen_grew(&chunk.terminal_id.clone(), bytes, out);
            }
            v2::SessionUpdate::PlanUpdate(update) => self.plan(update, out),
            v2::SessionUpdate::ConfigOptionUpdate(update) => self.config(update, out),
            v2::SessionUpdate::AvailableCommandsUpdate(update) => {
                let commands = convert::commands::down(&update.available_commands);
                let update = v1::AvailableCommandsUpdate::new(commands).meta(update.meta.clone());
                out.push(Down::Update(v1::SessionUpdate::AvailableCommandsUpdate(
                    update,
                )));
            }
            v2::SessionUpdate::SessionInfoUpdate(update) => self.session_info(update, out),
            v2::SessionUpdate::UsageUpdate(update) => self.usage(update, out),
            v2::SessionUpdate::Notice(notice) => self.notice(notice, out),
            v2::SessionUpdate::CompactionUpdate(update) if self.shows.compaction => {
                let update = session::compaction_down(update);
                out.push(Down::Update(v1::SessionUpdate::CompactionUpdate(update)));
            }
            v2::SessionUpdate::CompactionSummaryChunk(chunk) if self.shows.compaction => {
                let content = convert::content::down(chunk.content.clone());
                let id = chunk.compaction_id.0.clone();
                let chunk = v1::CompactionSummaryChunk::new(id, content).meta(chunk.meta.clone());
                out.push(Down::Update(v1::SessionUpdate::CompactionSummaryChunk(
                    chunk,
                )));
            }
            v2::SessionUpdate::StateUpdate(update) => self.state(update, out),
            // v1 updates are a closed set; what is unknown stays in the journal.
            _ => {}
        }
    }

    /// Returns whether something waits for a [`flush`](Self::flush).
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        let waits = |id: &v2::TerminalId| self.screens.get(id).is_some_and(Screen::waits);
        let grew = |id: &v2::ToolCallId| self.calls.get(id).is_some_and(Call::has_unsent);
        self.unsent.iter().any(grew) || self.unshown.iter().any(waits)
    }

    /// Sends what was held back to send less often. The driver calls it now and then while output
    /// streams; the end of a turn does it by itself.
    pub fn flush(&mut self, out: &mut Vec<Down>) {
        for id in std::mem::take(&mut self.unshown) {
            self.show_terminal_alone(&id, out);
        }
        self.flush_content(out);
    }

    fn flush_content(&mut self, out: &mut Vec<Down>) {
        for id in std::mem::take(&mut self.unsent) {
            if let Some(call) = self.calls.get_mut(&id).filter(|call| call.has_unsent()) {
                out.extend(call.send_content(&self.screens).map(Down::Update));
                self.keep_finished(&id);
            }
        }
    }

    /// Returns the calls whose content has grown since the client was last sent it.
    pub fn held_back(&self) -> impl Iterator<Item = &v2::ToolCallId> {
        let grew = |id: &&v2::ToolCallId| self.calls.get(*id).is_some_and(Call::has_unsent);
        self.unsent.iter().filter(grew)
    }

    /// Sets for which calls the client lacks content, and that it has everything of all others: what an earlier projector of
    /// the same client has sent is more than what was put into this one.
    pub fn hold_back(&mut self, calls: impl IntoIterator<Item = v2::ToolCallId>) {
        self.unsent.clear();
        self.calls.values_mut().for_each(|call| call.unsent = None);
        for id in calls {
            if let Some(call) = self.calls.get_mut(&id) {
                call.unsent = Some(0);
                self.unsent.push(id);
            }
        }
    }

    /// Names what stands in for the subject of the next permission request, instead of making an id up, so that the same
    /// request has the same stand-in in another projector.
    pub fn name_stand_in(&mut self, name: impl Into<String>) {
        self.stand_in_name = Some(name.into());
    }

    /// Ends what is shown for open questions and sends what was held back, as the closing of the
    /// session does before its answer. The questions are forgotten.
    pub fn close(&mut self, out: &mut Vec<Down>) {
        self.end_stand_ins(out);
        self.forget_asks();
        self.flush(out);
    }

    fn state(&mut self, update: &v2::StateUpdate, out: &mut Vec<Down>) {
        let was_active = self.is_active;
        self.is_active = State::from(update).is_active();
        // A repeated idle ends nothing: what background work asks is still shown.
        if was_active && !self.is_active {
            self.own.work_ended();
            self.end_stand_ins(out);
            self.flush(out);
        }
    }

    fn show_message(&mut self, update: &v2::SessionUpdate, out: &mut Vec<Down>) {
        let messages = &mut self.messages;
        let mut whole = |kind, id, content: &MaybeUndefined<Vec<_>>| match content {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => messages.content(kind, id, &[], out),
            MaybeUndefined::Value(blocks) => messages.content(kind, id, blocks, out),
        };
        match update {
            v2::SessionUpdate::UserMessage(message) => {
                whole(MessageKind::User, &message.message_id, &message.content);
            }
            v2::SessionUpdate::AgentMessage(message) => {
                whole(MessageKind::Agent, &message.message_id, &message.content);
            }
            v2::SessionUpdate::AgentThought(message) => {
                whole(MessageKind::Thought, &message.message_id, &message.content);
            }
            v2::SessionUpdate::UserMessageChunk(chunk) => {
                messages.chunk(MessageKind::User, chunk, out)
            }
            v2::SessionUpdate::AgentMessageChunk(chunk) => {
                messages.chunk(MessageKind::Agent, chunk, out)
            }
            v2::SessionUpdate::AgentThoughtChunk(chunk) => {
                messages.chunk(MessageKind::Thought, chunk, out)
            }
            _ => {}
        }
    }

    fn stand_in(&mut self, what: &str) -> String {
        if let Some(name) = self.stand_in_name.take() {
            return format!("{}{what}/{name}", mark::STAND_IN);
        }
        self.stand_ins += 1;
        let (prefix, number) = (&self.prefix, self.stand_ins);
        format!("{}{what}/{prefix}{number}", mark::STAND_IN)
    }
}
