//! What a run comes to, for scripts.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use ply_agent::transcript::{ToolCall, Transcript};
use ply_client::{Event, v2};
use serde::Serialize;

use super::ending::Conclusion;
use super::failure::Failure;
use super::permit::Answered;
use super::text::last_message;
use crate::program::sessions::content;

/// Tool calls that are listed; more are counted.
const LISTED_CALLS_MAX: usize = 10_000;
/// Notices that are listed.
const NOTICES_MAX: usize = 1000;
/// Tool calls that are told apart, for their number and the files they changed.
const KNOWN_CALLS_MAX: usize = 1_000_000;

/// What is gathered while a turn runs.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) agent: Option<v2::Implementation>,
    pub(super) protocol_version: Option<u16>,
    pub(super) session_id: Option<String>,
    /// The model that answers, where the agent says which.
    pub(super) model: Option<String>,
    pub(super) permissions: Vec<Answered>,
    notices: Vec<Notice>,
    calls: Vec<v2::ToolCallId>,
    known: HashSet<v2::ToolCallId>,
    message: Option<v2::MessageId>,
}

/// The object of `--output json`. The names are promised to scripts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<'a> {
    outcome: &'static str,
    exit_code: u8,
    stop_reason: Option<&'a str>,
    text: String,
    tool_calls: Vec<Call<'a>>,
    /// How many more there were than are listed.
    tool_calls_omitted: usize,
    changed_files: Vec<Changed>,
    usage: Option<Usage<'a>>,
    permissions: &'a [Answered],
    notices: &'a [Notice],
    session_id: Option<&'a str>,
    model: Option<&'a str>,
    agent: Option<&'a v2::Implementation>,
    protocol_version: Option<u16>,
    cwd: Option<String>,
    duration_ms: u64,
    error: Option<&'a Failure>,
}

#[derive(Debug, Serialize)]
struct Call<'a> {
    id: &'a str,
    title: String,
    kind: String,
    status: String,
    locations: &'a [v2::ToolCallLocation],
}

/// A file that the agent says it changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Changed {
    pub(super) path: String,
    pub(super) change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<String>,
}

/// What the agent wanted to be known beside its work.
#[derive(Debug, Serialize)]
struct Notice {
    severity: String,
    title: String,
    description: Option<String>,
}

#[derive(Debug, Serialize)]
struct Usage<'a> {
    used: u64,
    size: u64,
    cost: Option<&'a v2::Cost>,
}

impl Report {
    /// Notes which parts of the transcript belong to this turn.
    pub(super) fn note(&mut self, event: &Event) {
        match event {
            Event::Message(message) => {
                if let Some(id) = message.id().filter(|id| self.message.as_ref() != Some(id)) {
                    self.message = Some(id.clone());
                }
            }
            Event::ToolCall(call) => {
                if let Some(id) = call.id()
                    && self.calls.len() < KNOWN_CALLS_MAX
                    && !self.known.contains(id)
                {
                    self.known.insert(id.clone());
                    self.calls.push(id.clone());
                }
            }
            Event::Notice(notice) if self.notices.len() < NOTICES_MAX => {
                self.notices.push(Notice {
                    severity: content::name(&notice.severity),
                    title: notice.title.clone(),
                    description: notice.description.clone(),
                });
            }
            _ => {}
        }
    }

    /// Returns the text of the agent's last message in this turn.
    pub(super) fn text(&self, transcript: &Transcript) -> String {
        last_message(transcript, self.message.as_ref())
    }

    fn calls<'a>(&'a self, transcript: &'a Transcript) -> impl Iterator<Item = &'a ToolCall> {
        self.calls.iter().filter_map(|id| transcript.tool_call(id))
    }

    /// Returns how many tools were called, other than for thinking.
    pub(super) fn calls_count(&self, transcript: &Transcript) -> usize {
        let calls = self.calls(transcript);
        calls
            .filter(|call| call.kind != v2::ToolKind::Think)
            .count()
    }

    /// Returns the files that finished calls say they changed, each once, the last change of it.
    pub(super) fn changed(&self, transcript: &Transcript) -> Vec<Changed> {
        let mut all: Vec<Changed> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let done = self
            .calls(transcript)
            .filter(|call| call.status == v2::ToolCallStatus::Completed);
        for change in done.flat_map(changes_of) {
            let known = places
                .get(&change.path)
                .and_then(|place| all.get_mut(*place));
            match known {
                // A new file that is changed again is still new.
                Some(known) if known.change == "added" && change.change == "modified" => {}
                Some(known) => *known = change,
                None => {
                    places.insert(change.path.clone(), all.len());
                    all.push(change);
                }
            }
        }
        all
    }

    /// Returns the whole of it.
    pub(super) fn document<'a>(
        &'a self,
        conclusion: &'a Conclusion,
        transcript: &'a Transcript,
        cwd: Option<&Path>,
    ) -> Document<'a> {
        let call = |call: &'a ToolCall| Call {
            id: &call.id.0,
            title: call.shown_title(),
            kind: content::name(&call.kind),
            status: content::name(&call.status),
            locations: &call.locations,
        };
        let usage = transcript.usage().map(|usage| Usage {
            used: usage.used,
            size: usage.size,
            cost: usage.cost.as_ref(),
        });
        Document {
            outcome: conclusion.outcome,
            exit_code: conclusion.exit,
            stop_reason: conclusion.stop_reason.as_deref(),
            text: self.text(transcript),
            tool_calls: self
                .calls(transcript)
                .take(LISTED_CALLS_MAX)
                .map(call)
                .collect(),
            tool_calls_omitted: self
                .calls(transcript)
                .count()
                .saturating_sub(LISTED_CALLS_MAX),
            changed_files: self.changed(transcript),
            usage,
            permissions: &self.permissions,
            notices: &self.notices,
            session_id: self.session_id.as_deref(),
            model: self.model.as_deref(),
            agent: self.agent.as_ref(),
            protocol_version: self.protocol_version,
            cwd: cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
            duration_ms: conclusion.duration_ms,
            error: conclusion.failure.as_ref(),
        }
    }
}

/// Returns what a finished call changed: by its diffs, or by its locations if it has none. Not every agent sends diffs.
fn changes_of(call: &ToolCall) -> Vec<Changed> {
    let diffs = call.content.iter().filter_map(|item| match item {
        v2::ToolCallContent::Diff(diff) => Some(diff),
        _ => None,
    });
    let diffs: Vec<_> = diffs.flat_map(|diff| &diff.changes).collect();
    if !diffs.is_empty() {
        let changes = diffs.into_iter();
        return changes.filter_map(|it| changed(&it.operation)).collect();
    }
    let change = match call.kind {
        v2::ToolKind::Edit => "modified",
        v2::ToolKind::Delete => "deleted",
        v2::ToolKind::Move => "moved",
        _ => return Vec::new(),
    };
    let locations = call.locations.iter().map(|location| Changed {
        path: location.path.0.to_string_lossy().into_owned(),
        change,
        from: None,
    });
    locations.collect()
}

fn changed(operation: &v2::DiffChangeOperation) -> Option<Changed> {
    use v2::DiffChangeOperation::{Add, Copy, Delete, Modify, Move};
    let shown = |path: &v2::AbsolutePath| path.0.to_string_lossy().into_owned();
    let (path, change, from) = match operation {
        Add(of) => (&of.path, "added", None),
        Modify(of) => (&of.path, "modified", None),
        Delete(of) => (&of.path, "deleted", None),
        Move(of) => (&of.path, "moved", Some(shown(&of.old_path))),
        Copy(of) => (&of.path, "copied", Some(shown(&of.old_path))),
        _ => return None,
    };
    Some(Changed {
        path: shown(path),
        change,
        from,
    })
}
