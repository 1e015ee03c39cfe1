//! The lifter: what the updates of a v1 agent mean in v2.
//!
//! There is one [`Lifter`] per session of a v1 agent. It makes up what v1 leaves out: ids of
//! messages, the state of the session, which message a prompt became, and the end of tool calls
//! that the agent left open.

mod call_ids;
mod message;
mod pairs;
mod paths;
pub mod terminal;
mod tool_call;
mod turn;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

pub(crate) use self::tool_call::content_up;
pub use self::turn::{AskId, Cancelled, PermissionUp};
use self::{call_ids::CallIds, message::Segments, paths::Paths, tool_call::Known, turn::Turn};
use crate::{
    MaybeUndefined,
    convert::{self, plan::MAIN_PLAN_ID},
    project::mark,
    transcript::MessageKind,
    v1, v2,
};

/// The v2 reading of one session of a v1 agent.
///
/// It can be written down and read back, to go on in another process where this one stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lifter {
    segments: Segments,
    paths: Paths,
    calls: HashMap<v2::ToolCallId, Known>,
    call_ids: CallIds,
    /// Ids of the calls without a final status, in order, so that two runs end them alike.
    open: BTreeSet<Arc<str>>,
    /// Terminals that were made for the agent, so that their ids mean something.
    terminals: HashSet<v1::TerminalId>,
    turn: Turn,
    modes: Option<v1::SessionModeState>,
}

impl Lifter {
    /// Returns a lifter that makes up message ids from `prefix` and a counter. The prefix must be
    /// new for each life of a session, since the counter starts again and ids must not. Relative
    /// paths, which v1 forbids and some agents send, are read from `cwd`, the directory of the
    /// session; if that is empty they stay as they are.
    #[must_use]
    pub fn new(prefix: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            segments: Segments::new(prefix.into()),
            paths: Paths::new(cwd.into()),
            calls: HashMap::new(),
            call_ids: CallIds::default(),
            open: BTreeSet::new(),
            terminals: HashSet::new(),
            turn: Turn::default(),
            modes: None,
        }
    }

    /// Takes what the agent said of modes and options when the session began, and returns the
    /// options of the session. Modes count only if there are no options.
    pub fn session_started(
        &mut self,
        modes: Option<&v1::SessionModeState>,
        options: Option<&[v1::SessionConfigOption]>,
    ) -> Vec<v2::SessionConfigOption> {
        self.modes = None;
        if let Some(options) = options.filter(|options| !options.is_empty()) {
            return convert::config::options_up(options);
        }
        self.modes = modes.cloned();
        modes
            .map(|modes| convert::config::modes_up(modes, &[]))
            .into_iter()
            .collect()
    }

    /// Notes that a terminal was made for the agent. Only such terminals become v2 terminals of the
    /// same id; any other id is the name of something in another process (V2-TERM-12).
    pub fn terminal_created(&mut self, terminal: v1::TerminalId) {
        self.terminals.insert(terminal);
    }

    /// Notes that the mode was set by request, and returns the options of the session if modes
    /// stand for them.
    pub fn mode_set(&mut self, mode: &v1::SessionModeId) -> Option<Vec<v2::SessionConfigOption>> {
        let modes = self.modes.as_mut()?;
        modes.current_mode_id = mode.clone();
        Some(vec![convert::config::modes_up(modes, &[])])
    }

    /// Lifts one update of the agent.
    pub fn update(&mut self, update: v1::SessionUpdate, out: &mut Vec<v2::SessionUpdate>) {
        // Titles, usage, commands and the like come at any time; only work on the prompt shows that
        // the agent is done with repeating it.
        if matches!(
            update,
            v1::SessionUpdate::AgentMessageChunk(_)
                | v1::SessionUpdate::AgentThoughtChunk(_)
                | v1::SessionUpdate::ToolCall(_)
                | v1::SessionUpdate::ToolCallUpdate(_)
                | v1::SessionUpdate::Plan(_)
        ) {
            self.segments.echo_ends();
        }
        match update {
            v1::SessionUpdate::UserMessageChunk(chunk) => {
                self.turn.user_message_told();
                self.segments.user_chunk(chunk, out);
            }
            v1::SessionUpdate::AgentMessageChunk(chunk) => {
                self.segments.chunk(MessageKind::Agent, chunk, out)
            }
            v1::SessionUpdate::AgentThoughtChunk(chunk) => {
                self.segments.chunk(MessageKind::Thought, chunk, out)
            }
            v1::SessionUpdate::ToolCall(call) => self.tool_call(&call, out),
            v1::SessionUpdate::ToolCallUpdate(update) => {
                self.tool_call_update(&update, out);
            }
            v1::SessionUpdate::Plan(plan) => {
                let entries = convert::plan::entries_up(&plan.entries);
                let plan_update =
                    v2::PlanUpdate::new(v2::PlanUpdateContent::items(MAIN_PLAN_ID, entries));
                out.push(v2::SessionUpdate::PlanUpdate(
                    plan_update.meta(plan.meta.clone()),
                ));
            }
            v1::SessionUpdate::AvailableCommandsUpdate(update) => {
                let commands = convert::commands::up(&update.available_commands);
                let update = v2::AvailableCommandsUpdate::new(commands).meta(update.meta.clone());
                out.push(v2::SessionUpdate::AvailableCommandsUpdate(update));
            }
            v1::SessionUpdate::CurrentModeUpdate(update) => {
                if let Some(options) = self.mode_set(&update.current_mode_id) {
                    let update = v2::ConfigOptionUpdate::new(options).meta(update.meta.clone());
                    out.push(v2::SessionUpdate::ConfigOptionUpdate(update));
                }
            }
            v1::SessionUpdate::ConfigOptionUpdate(update) => {
                self.modes = None;
                let options = convert::config::options_up(&update.config_options);
                let update = v2::ConfigOptionUpdate::new(options).meta(update.meta.clone());
                out.push(v2::SessionUpdate::ConfigOptionUpdate(update));
            }
            v1::SessionUpdate::SessionInfoUpdate(update) => {
                let update = v2::SessionInfoUpdate::new()
                    .title(update.title.clone())
                    .updated_at(update.updated_at.clone())
                    .meta(given(update.meta.clone()));
                out.push(v2::SessionUpdate::SessionInfoUpdate(update));
            }
            v1::SessionUpdate::UsageUpdate(update) => out.push(usage_up(&update)),
            v1::SessionUpdate::Notice(notice) => out.extend(notice_up(&notice)),
            v1::SessionUpdate::CompactionUpdate(update) => out.push(compaction_up(&update)),
            v1::SessionUpdate::CompactionSummaryChunk(chunk) => {
                let content = convert::content::up(chunk.content);
                let id = chunk.compaction_id.0.clone();
                let chunk = v2::CompactionSummaryChunk::new(id, content).meta(chunk.meta.clone());
                out.push(v2::SessionUpdate::CompactionSummaryChunk(chunk));
            }
            _ => {}
        }
    }

    /// Lifts an update whose kind v1 does not know. Extensions, whose names begin with `_`, pass as
    /// they are; other names may mean something else in v2, so they stay in the caller's log.
    pub fn unknown_update(
        &mut self,
        update: &v2::OtherSessionUpdate,
        out: &mut Vec<v2::SessionUpdate>,
    ) {
        if update.session_update.starts_with('_') {
            out.push(v2::SessionUpdate::Other(update.clone()));
        }
    }
}

/// v1 cannot say null where null means unchanged, so what is there is a value and what is not is
/// omitted.
fn given<T>(value: Option<T>) -> MaybeUndefined<T> {
    value.map_or(MaybeUndefined::Undefined, MaybeUndefined::Value)
}

/// The same for a field that our own projector may have marked as cleared.
fn given_or_cleared<T>(
    value: Option<T>,
    meta: Option<&v1::Meta>,
    field: &str,
) -> MaybeUndefined<T> {
    match value {
        None if mark::is_cleared(meta, field) => MaybeUndefined::Null,
        value => given(value),
    }
}

fn usage_up(update: &v1::UsageUpdate) -> v2::SessionUpdate {
    let cost = update.cost.as_ref();
    let cost =
        cost.map(|cost| v2::Cost::new(cost.amount, cost.currency.clone()).meta(cost.meta.clone()));
    let cost = given_or_cleared(cost, update.meta.as_ref(), "cost");
    let meta = mark::without_marks(update.meta.as_ref());
    v2::SessionUpdate::UsageUpdate(
        v2::UsageUpdate::new(update.used, update.size)
            .cost(cost)
            .meta(meta),
    )
}

fn notice_up(notice: &v1::Notice) -> Option<v2::SessionUpdate> {
    let severity = match &notice.severity {
        v1::NoticeSeverity::Info => v2::NoticeSeverity::Info,
        v1::NoticeSeverity::Warning => v2::NoticeSeverity::Warning,
        v1::NoticeSeverity::Error => v2::NoticeSeverity::Error,
        v1::NoticeSeverity::Other(other) => v2::NoticeSeverity::Other(other.clone()),
        _ => return None,
    };
    let notice = v2::Notice::new(severity, notice.title.clone())
        .description(notice.description.clone())
        .meta(notice.meta.clone());
    Some(v2::SessionUpdate::Notice(notice))
}

fn compaction_up(update: &v1::CompactionUpdate) -> v2::SessionUpdate {
    let status = match &update.status {
        v1::CompactionStatus::Completed => v2::CompactionStatus::Completed,
        v1::CompactionStatus::Failed => v2::CompactionStatus::Failed,
        v1::CompactionStatus::Cancelled => v2::CompactionStatus::Cancelled,
        v1::CompactionStatus::Other(other) => v2::CompactionStatus::Other(other.clone()),
        _ => v2::CompactionStatus::InProgress,
    };
    let summary = update.summary.clone();
    let summary = summary.map_value(|blocks| {
        blocks
            .into_iter()
            .map(convert::content::up)
            .collect::<Vec<_>>()
    });
    let update = v2::CompactionUpdate::new(update.compaction_id.0.clone(), status)
        .summary(summary)
        .error(update.error.clone())
        .meta(update.meta.clone());
    v2::SessionUpdate::CompactionUpdate(update)
}
