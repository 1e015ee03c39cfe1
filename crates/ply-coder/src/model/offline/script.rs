//! What the offline model says next: a function of the prompt and of what was said since.

use serde_json::Value;

use super::explain;
use super::grammar::{self, Wish};
use crate::model::{CallResult, Content, Message};
use crate::text;

/// Bytes of a result that the answer repeats.
const QUOTED_BYTES_MAX: usize = 2_000;

/// What the model says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) thought: Option<String>,
    pub(super) text: String,
    pub(super) calls: Vec<(&'static str, Value)>,
}

impl Reply {
    pub(super) fn say(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// Returns what comes next.
pub(super) fn next(prompt: &str, since: &[Message]) -> Reply {
    let wishes = grammar::parse(prompt);
    if wishes.is_empty() {
        return Reply::say(format!(
            "I am Ply's offline model: rules, not a language model. Set a key such as \
             ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama, and a real model answers. \
             Without one I can do these:\n\n{}",
            grammar::HELP
        ));
    }
    let rounds: Vec<&[CallResult]> = since
        .iter()
        .filter_map(|message| match message {
            Message::Results(results) => Some(results.as_slice()),
            _ => None,
        })
        .collect();
    if wishes.contains(&Wish::Explain) {
        return explain::next(&rounds);
    }
    let calls = wishes.into_iter().flat_map(|wish| match wish {
        Wish::Calls(calls) => calls,
        Wish::Explain => Vec::new(),
    });
    let mut calls = calls.skip(rounds.len());
    let failed = rounds
        .last()
        .is_some_and(|results| results.iter().any(|result| result.failed));
    match calls.next() {
        Some((name, arguments)) if !failed => Reply {
            thought: Some(format!("The rule for this sentence is {name}.")),
            text: String::new(),
            calls: vec![(name, arguments)],
        },
        _ => Reply::say(report(&rounds)),
    }
}

/// Returns what came of the last call.
fn report(rounds: &[&[CallResult]]) -> String {
    let Some(last) = rounds.last().and_then(|results| results.last()) else {
        return "There was nothing to do.".to_owned();
    };
    let quoted = text::head(&last.text, QUOTED_BYTES_MAX);
    let more = match last.text.len() - quoted.len() {
        0 => String::new(),
        left => format!("\n({left} bytes more)"),
    };
    let how = if last.failed {
        "did not work"
    } else {
        "is done"
    };
    format!(
        "`{}` {how}:\n\n```\n{}{more}\n```\n",
        last.name,
        quoted.trim_end()
    )
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
