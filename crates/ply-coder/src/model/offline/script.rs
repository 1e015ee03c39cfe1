//! What the offline model says next: a function of the prompt and of what was said since.

use serde_json::Value;

use super::commands::Call;
use super::intent::{self, Intent};
use super::turn::Rounds;
use super::{checks, history, path, repository, search, words};
use crate::model::{Content, Message};
use crate::text;

/// Bytes of a result that the answer repeats.
const QUOTED_BYTES_MAX: usize = 2_000;

/// What tools that change a file say before its new lines.
const NOW_READS: &str = " It now reads:\n";

/// What the model says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
}

impl Reply {
    pub(super) fn say(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    pub(super) fn calls(calls: Vec<Call>) -> Self {
        Self {
            calls,
            ..Self::default()
        }
    }

    pub(super) fn call(name: &'static str, arguments: Value) -> Self {
        Self::calls(vec![(name, arguments)])
    }
}

/// Returns what comes next.
pub(super) fn next(prompt: &str, since: &[Message]) -> Reply {
    let rounds = Rounds::of(since);
    match intent::read(prompt) {
        Intent::Calls(calls) => commands(calls, &rounds),
        Intent::Project(aspect) => repository::next(aspect, &rounds),
        Intent::Path(path) => path::next(&path, &rounds),
        Intent::Definition(name) => search::definition(&name, &rounds),
        Intent::Uses(name) => search::uses(&name, &rounds),
        Intent::Todos => search::todos(&rounds),
        Intent::Changes(changes) => history::next(changes, &rounds),
        Intent::Check(check) => checks::next(check, &rounds),
        Intent::Reasoning => Reply::say(words::reasoning()),
        Intent::About => Reply::say(words::about()),
        Intent::Unknown => Reply::say(words::unknown()),
    }
}

/// Makes the calls one after the other, as long as they work, and repeats what the last one returned.
fn commands(calls: Vec<Call>, rounds: &Rounds<'_>) -> Reply {
    let next = calls.into_iter().nth(rounds.count());
    match (next, rounds.last()) {
        (Some(call), None) => Reply::calls(vec![call]),
        (Some(call), Some(last)) if !last.failed => Reply::calls(vec![call]),
        (_, None) => Reply::say("There was nothing to do."),
        // What a file reads now is on the card of its change.
        (_, Some(last)) if !last.failed && last.text.contains(NOW_READS) => {
            let (done, _) = last.text.split_once(NOW_READS).unwrap_or_default();
            Reply::say(format!("{done}\n"))
        }
        (_, Some(last)) => {
            let quoted = text::head(last.text, QUOTED_BYTES_MAX);
            let more = match last.text.len() - quoted.len() {
                0 => String::new(),
                left => format!("\n({left} bytes more)"),
            };
            let how = if last.failed { "failed" } else { "returned" };
            let (name, quoted) = (last.name, quoted.trim_end());
            Reply::say(format!("`{name}` {how}:\n\n```\n{quoted}{more}\n```\n"))
        }
    }
}

/// Returns a summary of a conversation: what the user asked, and how much was called.
pub(super) fn sum_up(messages: &[Message]) -> String {
    let mut asked = String::new();
    let mut calls = 0;
    for message in messages {
        match message {
            Message::User(contents) => {
                for content in contents {
                    if let Content::Text(said) = content
                        && !said.starts_with(crate::context::compaction::ASK_BEGINS)
                    {
                        asked.push_str(&format!("- {}\n", text::first_line(said, 120)));
                    }
                }
            }
            Message::Results(results) => calls += results.len(),
            Message::Assistant(_) => {}
        }
    }
    format!("## Goal\n{asked}## Done\n{calls} calls of tools.")
}
