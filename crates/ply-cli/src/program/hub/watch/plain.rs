//! A session as plain text that only grows.

use std::collections::HashMap;

use ply_agent::{MaybeUndefined, v2};
use ply_client::text::{Line, is_harmless};

use crate::program::sessions::content::{self, Piece};

/// What everything but a headline begins with, so that no message can pass for somebody else's.
const INDENT: &str = "  ";

/// The text that is to be written.
#[derive(Debug, Default)]
pub(super) struct Plain {
    out: String,
    /// Whose message the last lines are.
    message: Option<(Who, v2::MessageId)>,
    is_mid_line: bool,
    /// Titles and states of tool calls.
    calls: HashMap<v2::ToolCallId, (String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    User,
    Agent,
}

impl Plain {
    /// Takes what is to be written.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// Shows an update. Thoughts and numbers are left out.
    pub(super) fn update(&mut self, update: &v2::SessionUpdate) {
        use v2::SessionUpdate as Update;
        match update {
            Update::UserMessage(message) => {
                self.whole(Who::User, &message.message_id, &message.content);
            }
            Update::AgentMessage(message) => {
                self.whole(Who::Agent, &message.message_id, &message.content);
            }
            Update::UserMessageChunk(chunk) => {
                self.chunk(Who::User, &chunk.message_id, &chunk.content);
            }
            Update::AgentMessageChunk(chunk) => {
                self.chunk(Who::Agent, &chunk.message_id, &chunk.content);
            }
            Update::ToolCallUpdate(call) => self.call(call),
            Update::PlanUpdate(plan) => {
                let steps = content::plan(&plan.plan);
                if !steps.is_empty() {
                    self.headline("plan");
                    for (mark, step) in steps {
                        self.line(&format!("{INDENT}[{mark}] {}", Line(step)));
                    }
                }
            }
            Update::Notice(notice) => self.headline(&format!("notice: {}", Line(&notice.title))),
            Update::CompactionUpdate(update) => {
                let status = content::name(&update.status);
                self.headline(&format!("context compaction: {}", Line(&status)));
            }
            Update::StateUpdate(v2::StateUpdate::Idle(idle)) => {
                if let Some(words) = idle.stop_reason.as_ref().map(ending) {
                    self.headline(&words);
                }
            }
            _ => {}
        }
    }

    /// Shows a question and how it is answered; one without an id is a form.
    pub(super) fn question(&mut self, title: &str, id: Option<&str>) {
        self.headline(&format!("question: {}", Line(title)));
        self.line(&match id {
            Some(id) => format!("{INDENT}ply permits allow {}", Line(id)),
            None => format!("{INDENT}open the session with `ply chat` to answer"),
        });
    }

    fn whole(
        &mut self,
        who: Who,
        id: &v2::MessageId,
        blocks: &MaybeUndefined<Vec<v2::ContentBlock>>,
    ) {
        let MaybeUndefined::Value(blocks) = blocks else {
            return;
        };
        if self.message.as_ref() == Some(&(who, id.clone())) {
            // It was shown as it came.
            return;
        }
        for block in blocks {
            self.chunk(who, id, block);
        }
    }

    fn chunk(&mut self, who: Who, id: &v2::MessageId, block: &v2::ContentBlock) {
        let message = (who, id.clone());
        if self.message.as_ref() != Some(&message) {
            self.headline(match who {
                Who::User => "user",
                Who::Agent => "agent",
            });
            self.message = Some(message);
        }
        match content::block(block) {
            Piece::Text(text) => self.text(text),
            Piece::Note(note) => self.note(&note),
            Piece::Verbatim { caption, text, .. } => {
                if let Some(caption) = caption {
                    self.note(&caption);
                }
                self.text(&text);
            }
        }
    }

    fn call(&mut self, update: &v2::ToolCallUpdate) {
        let known = self.calls.entry(update.tool_call_id.clone()).or_default();
        if let MaybeUndefined::Value(title) = &update.title {
            known.0.clone_from(title);
        }
        let status = match &update.status {
            MaybeUndefined::Value(status) => content::name(status),
            _ if known.1.is_empty() => "pending".to_owned(),
            _ => return,
        };
        if status == known.1 {
            return;
        }
        known.1.clone_from(&status);
        let title = match known.0.as_str() {
            "" => "a tool call",
            title => title,
        };
        let words = format!("tool call: {} ({})", Line(title), Line(&status));
        self.headline(&words);
    }

    /// Begins something else.
    fn headline(&mut self, words: &str) {
        self.break_line();
        self.message = None;
        if matches!(words, "user" | "agent" | "plan") {
            self.out.push('\n');
        }
        self.line(words);
    }

    fn line(&mut self, words: &str) {
        self.out.push_str(words);
        self.out.push('\n');
    }

    fn note(&mut self, words: &str) {
        self.break_line();
        self.line(&format!("{INDENT}[{}]", Line(words)));
    }

    fn break_line(&mut self) {
        if std::mem::take(&mut self.is_mid_line) {
            self.out.push('\n');
        }
    }

    /// Adds to the text of a message, without what a terminal would obey.
    fn text(&mut self, text: &str) {
        for char in text.chars() {
            if char == '\n' {
                self.is_mid_line = false;
                self.out.push('\n');
                continue;
            }
            if !std::mem::replace(&mut self.is_mid_line, true) {
                self.out.push_str(INDENT);
            }
            if char == '\t' || is_harmless(char) {
                self.out.push(char);
            } else {
                self.out.extend(char.escape_unicode());
            }
        }
    }
}

/// Says how a turn ended.
fn ending(stop: &v2::StopReason) -> String {
    match stop {
        v2::StopReason::Error(stop) => {
            let words = stop.error.as_ref().map(|error| error.message.as_str());
            format!(
                "the turn failed: {}",
                Line(words.unwrap_or("no reason was given"))
            )
        }
        v2::StopReason::Cancelled => "the turn was cancelled".to_owned(),
        _ => "the turn ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(id: &str, text: &str) -> v2::SessionUpdate {
        let chunk = v2::ContentChunk::new(text.into(), id.to_owned());
        v2::SessionUpdate::AgentMessageChunk(chunk)
    }

    #[test]
    fn what_happens_is_told_in_lines() {
        let mut plain = Plain::default();
        let said = v2::UserMessage::new("u").content(vec!["do\nit".into()]);
        plain.update(&v2::SessionUpdate::UserMessage(said));
        plain.update(&chunk("a", "one\nt"));
        plain.update(&chunk("a", "wo \u{1b}[1m"));
        for status in [
            v2::ToolCallStatus::InProgress,
            v2::ToolCallStatus::InProgress,
        ] {
            let call = v2::ToolCallUpdate::new("c").title("Run").status(status);
            plain.update(&v2::SessionUpdate::ToolCallUpdate(call));
        }
        plain.question("Run", Some("s:7"));
        let done = v2::ToolCallUpdate::new("c").status(v2::ToolCallStatus::Completed);
        plain.update(&v2::SessionUpdate::ToolCallUpdate(done));
        plain.update(&chunk("b", "three"));
        let idle = v2::IdleStateUpdate::new().stop_reason(v2::StopReason::EndTurn);
        plain.update(&v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)));
        let expected = "\nuser\n  do\n  it\n\nagent\n  one\n  two \\u{1b}[1m\n\
                        tool call: Run (in_progress)\nquestion: Run\n  ply permits allow s:7\n\
                        tool call: Run (completed)\n\nagent\n  three\nthe turn ended\n";
        assert_eq!(plain.take(), expected);
    }
}
