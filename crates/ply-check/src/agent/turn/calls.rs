//! The lives of tool calls, as they were reported.

use ply_client::Direction;
use serde_json::Value;

use super::word;
use crate::agent::bench::Agent;
use crate::recording::Frame;

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::agent) struct Life {
    pub(in crate::agent) id: String,
    /// The frame that first names it.
    pub(in crate::agent) first: usize,
    /// Whether that frame is a question for permission, which may come before any report.
    pub(in crate::agent) is_first_asked: bool,
    /// The kind of update that first reports it.
    pub(in crate::agent) first_kind: String,
    /// Whether the first report has a title.
    pub(in crate::agent) has_title: bool,
    /// What was told about its status, with the frames.
    pub(in crate::agent) statuses: Vec<(usize, String)>,
    /// The frames of a `tool_call` for an id whose call was over.
    pub(in crate::agent) reused: Vec<usize>,
}

impl Life {
    /// Returns the last status, `pending` if none was told.
    pub(in crate::agent) fn status(&self) -> &str {
        self.statuses.last().map_or("pending", |(_, status)| status)
    }

    /// Returns the frame of the last report of its status.
    pub(in crate::agent) fn last(&self) -> usize {
        self.statuses.last().map_or(self.first, |(frame, _)| *frame)
    }

    /// Returns whether it is over.
    pub(in crate::agent) fn is_final(&self) -> bool {
        is_final(self.status())
    }

    /// Returns whether it was told to have this status.
    pub(in crate::agent) fn was(&self, status: &str) -> bool {
        self.statuses.iter().any(|(_, told)| told == status)
    }
}

fn is_final(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "cancelled")
}

/// Returns the tool calls of a session up to a frame, in the order in which they were first named.
pub(in crate::agent) fn lives(agent: &Agent, session: &str, until: usize) -> Vec<Life> {
    let mut lives: Vec<Life> = Vec::new();
    agent.recording().with_frames(|frames| {
        let theirs = frames.iter().take(until + 1).filter(|frame| {
            frame.direction == Direction::ToClient && frame.session() == Some(session)
        });
        for frame in theirs {
            take_in(&mut lives, frame);
        }
    });
    lives
}

fn take_in(lives: &mut Vec<Life>, frame: &Frame) {
    let (report, is_question) = match (frame.update_kind(), frame.method()) {
        (Some("tool_call" | "tool_call_update"), _) => (frame.update(), false),
        (_, Some("session/request_permission")) => (asked_about(frame), true),
        _ => return,
    };
    let Some((report, id)) = report.and_then(|report| Some((report, word(report, "toolCallId")?)))
    else {
        return;
    };
    let kind = frame.update_kind().unwrap_or_default();
    let place = lives.iter().position(|life| life.id == id);
    let place = place.unwrap_or_else(|| {
        lives.push(Life {
            id,
            first: frame.number,
            is_first_asked: is_question,
            first_kind: String::new(),
            has_title: false,
            statuses: Vec::new(),
            reused: Vec::new(),
        });
        lives.len() - 1
    });
    let Some(life) = lives.get_mut(place) else {
        return;
    };
    if !is_question && life.first_kind.is_empty() {
        kind.clone_into(&mut life.first_kind);
        life.has_title = report.get("title").is_some_and(Value::is_string);
    }
    if kind == "tool_call" && life.is_final() {
        life.reused.push(frame.number);
    }
    if let Some(status) = word(report, "status") {
        life.statuses.push((frame.number, status));
    }
}

/// Returns the tool call that a question for permission is about.
pub(in crate::agent) fn asked_about(frame: &Frame) -> Option<&Value> {
    let params = frame.params()?;
    params
        .get("toolCall")
        .or_else(|| params.pointer("/subject/toolCall"))
}
