//! Making a conversation short: a summary takes the place of everything before it.
//!
//! The summary and the user's own words are an entry of the session's history, and the conversation is
//! projected from there. What was said before stays in the history for whoever loads the session.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ply_agent::transcript::Compaction;
use ply_agent::v2;

use super::notes;
use crate::model::{Content, Message, Part};
use crate::text;

/// The part of a window that the user's own words may take beside a summary.
const WORDS_SHARE: u64 = 8;
/// Bytes of each of the user's messages that are kept.
const MESSAGE_BYTES_MAX: usize = 4_000;
/// How many kinds of calls are named where no model sums up.
const CALLS_MAX: usize = 200;

/// How the request for a summary begins.
pub(crate) const ASK_BEGINS: &str = "Sum up the conversation so far";

/// What a model is asked for a summary with.
pub(crate) const ASK: &str = "\
Sum up the conversation so far, for yourself: it takes the place of everything above. Call no tools. \
Use these headings, leave out those that do not apply, and be exact about names, paths, commands and \
error messages:\n\
## Goal\nWhat the user wants, with every constraint they named.\n\
## Done\nWhat was changed and verified: files, functions, commands with their results.\n\
## Now\nWhat you were in the middle of, and why.\n\
## Next\nThe steps that are left.\n\
## Facts\nWhat you learned about the code that you will need again.";

/// How a summary is introduced.
const SUMMARY_BEGINS: &str = "[The conversation up to here was shortened. This is what you noted about it; the user's own \
     words follow.]";

/// Returns what a model is told in place of what came before a compaction; none if it did not
/// succeed.
pub(crate) fn kept_by(compaction: &Compaction) -> Option<Vec<Content>> {
    if compaction.status != v2::CompactionStatus::Completed {
        return None;
    }
    let texts = compaction.summary.iter().filter_map(|block| match block {
        v2::ContentBlock::Text(text) => Some(Content::Text(text.text.clone())),
        _ => None,
    });
    Some(texts.collect())
}

/// Returns what is kept of a conversation: the summary, then the user's own words, of which the newest
/// stay when there are too many for the window.
pub(crate) fn kept(summary: &str, messages: &[Message], window_tokens: u64) -> Vec<String> {
    let words = words_of(messages);
    let mut room = usize::try_from(window_tokens / WORDS_SHARE).unwrap_or(usize::MAX) * 4;
    let newest = words.iter().rev().take_while(|words| {
        let fits = words.len() <= room;
        room = room.saturating_sub(words.len());
        fits
    });
    let newest = newest.count();
    let mut kept = vec![format!("{SUMMARY_BEGINS}\n\n{}", summary.trim())];
    kept.extend(words.into_iter().rev().take(newest).rev());
    kept
}

/// Returns a summary that needs no model, for when none can be had: which tools were called, and what
/// was said last.
pub(crate) fn without_model(messages: &[Message]) -> String {
    let mut calls = BTreeMap::<String, u32>::new();
    let mut last = None;
    for message in messages {
        let Message::Assistant(parts) = message else {
            continue;
        };
        for part in parts {
            match part {
                Part::Call(call) => {
                    let path = call.arguments.get("path").and_then(|path| path.as_str());
                    let what = match path {
                        Some(path) => format!("{} {path}", call.name),
                        None => call.name.clone(),
                    };
                    *calls.entry(what).or_default() += 1;
                }
                Part::Text(text) => last = Some(text),
                Part::Thought { .. } => {}
            }
        }
    }
    let mut summary = "## Done\nTools that were called:\n".to_owned();
    for (what, times) in calls.iter().take(CALLS_MAX) {
        writeln!(summary, "- {what} ({times}×)").expect("a string takes everything");
    }
    if let Some(last) = last {
        let last = text::middle_cut(last, MESSAGE_BYTES_MAX);
        write!(summary, "## Now\nThe last thing you said: {last}\n")
            .expect("a string takes everything");
    }
    summary
}

/// Returns the texts of the user's messages. Summaries, attachments and notes of the loop are none.
fn words_of(messages: &[Message]) -> Vec<String> {
    let contents = messages.iter().filter_map(|message| match message {
        Message::User(contents) => Some(contents),
        _ => None,
    });
    let texts = contents.flatten().filter_map(|content| match content {
        Content::Text(text) if is_users(text) => Some(text::middle_cut(text, MESSAGE_BYTES_MAX)),
        _ => None,
    });
    texts.collect()
}

fn is_users(text: &str) -> bool {
    !text.starts_with(SUMMARY_BEGINS)
        && !text.starts_with(super::content::ATTACHED_BEGINS)
        && !notes::is_note(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: impl Into<String>) -> Message {
        Message::User(vec![Content::Text(text.into())])
    }

    #[test]
    fn the_users_words_outlive_every_compaction() {
        let messages = [
            user("Fix the parser"),
            Message::Assistant(vec![Part::Text("Done.".to_owned())]),
            user("And never touch main.rs"),
            user(notes::note("you went in circles")),
        ];
        let first = kept("## Goal\nA parser", &messages, 200_000);
        assert_eq!(
            first.get(1..).unwrap(),
            ["Fix the parser", "And never touch main.rs"]
        );
        assert!(first[0].contains("## Goal\nA parser"));
        let contents = first.into_iter().map(Content::Text).collect();
        let again = kept(
            "## Goal\nMore",
            &[Message::User(contents), user("Go on")],
            200_000,
        );
        let words = ["Fix the parser", "And never touch main.rs", "Go on"];
        assert_eq!(again.get(1..).unwrap(), words);
    }

    #[test]
    fn the_newest_words_stay_when_there_are_too_many() {
        let mut messages: Vec<_> = (0..100)
            .map(|number| user(format!("{number:03} {}", "x".repeat(3_000))))
            .collect();
        messages.push(user("the last"));
        let kept = kept("", &messages, 32_000);
        let bytes: usize = kept.iter().map(String::len).sum();
        assert!(bytes < 17_000, "{bytes}");
        assert_eq!(kept.last().unwrap(), "the last");
    }
}
