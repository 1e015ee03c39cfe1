//! The projector: what a v1 client sees of a session that is kept in v2 meaning.
//!
//! There is one [`Projector`] per v1 client and session. Events go in, v1 updates and answers to
//! prompts come out in the order in which they are to be written. It holds what v1 makes necessary:
//! which prompts wait for an answer, what was already sent of each message, and the parts of tool
//! calls that v1 sends only as a whole.
//!
//! ```
//! use ply_wire::{project::{Down, Projector, PromptTicket, Shows}, v1, v2};
//!
//! let mut projector = Projector::new(Shows::ALL);
//! let mut out = Vec::new();
//! projector.own_prompt(PromptTicket(1), v2::MessageId::new("u1"), &mut out);
//! for event in [
//!     v2::SessionUpdate::UserMessage(v2::UserMessage::new("u1").content(vec!["Hi".into()])),
//!     v2::SessionUpdate::StateUpdate(v2::StateUpdate::Running(v2::RunningStateUpdate::new())),
//!     v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(v2::IdleStateUpdate::new())),
//! ] {
//!     projector.apply(&event, &mut out);
//! }
//! let outcome = Ok(v1::PromptResponse::new(v1::StopReason::EndTurn));
//! assert_eq!(out, [Down::Settle { prompt: PromptTicket(1), outcome }]);
//! ```

mod activity;
pub(crate) mod mark;
mod message;
mod permission;
mod prompt;
mod session;
pub(crate) mod terminal;
pub(crate) mod tool_call;

use std::collections::HashMap;

use self::{
    message::Messages,
    permission::Asks,
    prompt::{Prompts, Settled},
    terminal::Screen,
    tool_call::Call,
};
pub use self::{
    permission::{AskId, PermissionDown},
    prompt::PromptTicket,
};
pub use crate::convert::diff::{EditText, EditTexts};
use crate::{
    MaybeUndefined,
    convert::{self, config::Booleans},
    transcript::{MessageKind, SessionInfo, Transcript, Usage},
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
    /// The answer to a `session/prompt`. No update of its turn comes after it.
    Settle {
        /// The prompt it answers.
        prompt: PromptTicket,
        /// What it is answered with.
        outcome: Result<v1::PromptResponse, v1::Error>,
    },
}

/// What a v1 client said it can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shows {
    /// Notices; without them warnings and errors become agent messages.
    pub notices: bool,
    /// Compactions; without them they are left out.
    pub compaction: bool,
    /// How it takes boolean config options.
    pub booleans: Booleans,
}

impl Shows {
    /// A client that shows everything v1 has.
    pub const ALL: Self = Self {
        notices: true,
        compaction: true,
        booleans: Booleans::Native,
    };
    /// A client that shows only what every v1 client must.
    pub const LEAST: Self = Self {
        notices: false,
        compaction: false,
        booleans: Booleans::AsSelect,
    };
}

impl From<&v1::ClientCapabilities> for Shows {
    fn from(client: &v1::ClientCapabilities) -> Self {
        let session = client.session.as_ref();
        Self {
            notices: session.is_some_and(|session| session.notices.is_some()),
            compaction: session.is_some_and(|session| session.compaction.is_some()),
            booleans: Booleans::wanted_by(client),
        }
    }
}

type Screens = HashMap<v2::TerminalId, Screen>;

/// The v1 view of one session for one client.
#[derive(Debug)]
pub struct Projector {
    shows: Shows,
    prompts: Prompts,
    messages: Messages,
    calls: HashMap<v2::ToolCallId, Call>,
    screens: Screens,
    /// Calls with content that is not sent yet, and terminals no call has shown yet, oldest first.
    unsent: Vec<v2::ToolCallId>,
    unshown: Vec<v2::TerminalId>,
    asks: Asks,
    plans: Vec<(v2::PlanId, Vec<v1::PlanEntry>)>,
    mode: Option<v1::SessionModeId>,
    info: SessionInfo,
    usage: Usage,
    stand_ins: u64,
}

impl Projector {
    /// Returns the view of a session that has just begun.
    #[must_use]
    pub fn new(shows: Shows) -> Self {
        Self {
            shows,
            prompts: Prompts::default(),
            messages: Messages::default(),
            calls: HashMap::new(),
            screens: HashMap::new(),
            unsent: Vec::new(),
            unshown: Vec::new(),
            asks: Asks::default(),
            plans: Vec::new(),
            mode: None,
            info: SessionInfo::default(),
            usage: Usage::default(),
            stand_ins: 0,
        }
    }

    /// Returns the view for `session/load`: everything so far goes out in its final form, user
    /// messages included, and settles nothing.
    #[must_use]
    pub fn load(
        shows: Shows,
        history: &Transcript,
        edits: &dyn EditTexts,
        out: &mut Vec<Down>,
    ) -> Self {
        let mut projector = Self::new(shows);
        for update in history.to_updates() {
            projector.apply_with(&update, edits, out);
        }
        projector.flush(out);
        projector.prompts.history_ends();
        projector
    }

    /// Returns the view for `session/resume`: nothing is sent, but later changes of what is there
    /// are understood.
    #[must_use]
    pub fn resume(shows: Shows, history: &Transcript, edits: &dyn EditTexts) -> Self {
        let mut projector = Self::load(shows, history, edits, &mut Vec::new());
        projector.messages.forget();
        projector
            .calls
            .values_mut()
            .for_each(|call| call.sent = false);
        projector
    }

    /// Shows one event of the session.
    pub fn apply(&mut self, update: &v2::SessionUpdate, out: &mut Vec<Down>) {
        self.apply_with(update, &(), out);
    }

    /// Shows one event of the session, with the texts of edits where they were kept.
    pub fn apply_with(
        &mut self,
        update: &v2::SessionUpdate,
        edits: &dyn EditTexts,
        out: &mut Vec<Down>,
    ) {
        match update {
            v2::SessionUpdate::UserMessageChunk(v2::ContentChunk { message_id, .. })
            | v2::SessionUpdate::UserMessage(v2::UserMessage { message_id, .. }) => {
                self.user_message(message_id, update, out);
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
                let content = convert::content::down(&chunk.content);
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

    /// Sends what was held back to send less often. The driver calls it now and then while output
    /// streams; the end of a turn does it by itself.
    pub fn flush(&mut self, out: &mut Vec<Down>) {
        for id in std::mem::take(&mut self.unshown) {
            self.show_terminal_alone(&id, out);
        }
        for id in std::mem::take(&mut self.unsent) {
            if let Some(call) = self.calls.get_mut(&id).filter(|call| call.has_unsent()) {
                out.push(Down::Update(call.send_content(&self.screens)));
            }
        }
    }

    /// Announces that this client's prompt was passed on and that the id of its message is not
    /// known yet. User messages wait until it is, since one of them may be the client's own.
    pub fn expect_prompt(&mut self, prompt: PromptTicket) {
        self.prompts.expect(prompt);
    }

    /// Says which message is this client's own prompt: it is not echoed, and the prompt is answered
    /// when the work that includes it ends. It may be said before or after the message itself came.
    pub fn own_prompt(
        &mut self,
        prompt: PromptTicket,
        message: v2::MessageId,
        out: &mut Vec<Down>,
    ) {
        let settled = self.prompts.own(prompt, message);
        if settled.is_some() {
            self.flush(out);
        }
        out.extend(settled.map(Down::from));
        self.release_messages(out);
    }

    /// Answers a prompt that was refused before it became a message.
    pub fn prompt_refused(&mut self, prompt: PromptTicket, error: &v2::Error, out: &mut Vec<Down>) {
        let settled = self.prompts.refused(prompt, error);
        if settled.is_some() {
            self.flush(out);
        }
        out.extend(settled.map(Down::from));
        self.release_messages(out);
    }

    /// Notes that this client cancelled: its waiting prompts will not be answered with an error.
    pub fn cancel_requested(&mut self) {
        self.prompts.cancel_requested();
    }

    /// Answers every waiting prompt as cancelled, as the closing of the session does before its own
    /// answer.
    pub fn close(&mut self, out: &mut Vec<Down>) {
        self.end_stand_ins(out);
        self.flush(out);
        out.extend(self.prompts.close().into_iter().map(Down::from));
    }

    fn state(&mut self, update: &v2::StateUpdate, out: &mut Vec<Down>) {
        let Some(ended) = self.prompts.state(update) else {
            return;
        };
        self.end_stand_ins(out);
        self.flush(out);
        out.extend(ended.into_iter().map(Down::from));
    }

    fn user_message(
        &mut self,
        id: &v2::MessageId,
        update: &v2::SessionUpdate,
        out: &mut Vec<Down>,
    ) {
        if self.prompts.is_shown(id, update) {
            self.show_message(update, out);
        }
    }

    fn release_messages(&mut self, out: &mut Vec<Down>) {
        for update in self.prompts.released() {
            self.show_message(&update, out);
        }
    }

    fn show_message(&mut self, update: &v2::SessionUpdate, out: &mut Vec<Down>) {
        let mut updates = Vec::new();
        let messages = &mut self.messages;
        let mut whole = |kind, id, content: &MaybeUndefined<Vec<_>>| match content {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => messages.content(kind, id, &[], &mut updates),
            MaybeUndefined::Value(blocks) => messages.content(kind, id, blocks, &mut updates),
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
                messages.chunk(MessageKind::User, chunk, &mut updates)
            }
            v2::SessionUpdate::AgentMessageChunk(chunk) => {
                messages.chunk(MessageKind::Agent, chunk, &mut updates)
            }
            v2::SessionUpdate::AgentThoughtChunk(chunk) => {
                messages.chunk(MessageKind::Thought, chunk, &mut updates)
            }
            _ => {}
        }
        out.extend(updates.into_iter().map(Down::Update));
    }

    fn stand_in(&mut self, what: &str) -> String {
        self.stand_ins += 1;
        format!("{}{what}/{}", mark::STAND_IN, self.stand_ins)
    }
}

impl From<Settled> for Down {
    fn from(settled: Settled) -> Self {
        Self::Settle {
            prompt: settled.prompt,
            outcome: settled.outcome,
        }
    }
}
