//! Making a conversation short: a summary takes the place of everything before it.
//!
//! The summary is an entry of the session's history, and the conversation is projected from there. What
//! was said before stays in the history for whoever loads the session.

use std::fmt::Write as _;

use ply_agent::transcript::Compaction;
use ply_agent::v2;

use crate::model::{Content, Message, Part};

/// Bytes of the user's own words that are kept beside a summary.
const USER_BYTES_MAX: usize = 80_000;
/// Bytes of each message that are kept.
const USER_MESSAGE_BYTES_MAX: usize = 4_000;

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

/// Returns what a model is told in place of what came before a compaction; none if it did not
/// succeed.
pub(crate) fn summary_of(compaction: &Compaction) -> Option<String> {
    if compaction.status != v2::CompactionStatus::Completed {
        return None;
    }
    let texts = compaction.summary.iter().filter_map(|block| match block {
        v2::ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    Some(texts.collect())
}

/// Returns the whole of what is kept: the summary, and the user's own words, newest ones first to
/// stay.
pub(crate) fn kept(summary: &str, messages: &[Message]) -> String {
    let mut text = format!(
        "[The conversation up to here was shortened. This is what you noted about it.]\n\n{}\n",
        summary.trim()
    );
    let users = users_words(messages);
    let mut room = USER_BYTES_MAX;
    let fits = users.iter().rev().take_while(|words| {
        room = room.saturating_sub(words.len());
        room > 0
    });
    let fits = fits.count();
    if let Some(words) = users.get(users.len() - fits..)
        && !words.is_empty()
    {
        text.push_str("\n## The user's own words\n");
        for words in words {
            writeln!(text, "- {}", words.trim()).expect("a string takes everything");
        }
    }
    text
}

/// Returns a summary that needs no model, for when none can be had: what the user said, and which
/// tools were called.
pub(crate) fn without_model(messages: &[Message]) -> String {
    let mut calls = std::collections::BTreeMap::<String, u32>::new();
    for part in messages.iter().flat_map(|message| match message {
        Message::Assistant(parts) => parts.as_slice(),
        _ => &[],
    }) {
        if let Part::Call(call) = part {
            let path = call.arguments.get("path").and_then(|path| path.as_str());
            let what = match path {
                Some(path) => format!("{} {path}", call.name),
                None => call.name.clone(),
            };
            *calls.entry(what).or_default() += 1;
        }
    }
    let last = messages.iter().rev().find_map(|message| match message {
        Message::Assistant(parts) => parts.iter().rev().find_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        }),
        _ => None,
    });
    let mut text = "## Done\nTools that were called:\n".to_owned();
    for (what, times) in calls.iter().take(200) {
        writeln!(text, "- {what} ({times}×)").expect("a string takes everything");
    }
    if let Some(last) = last {
        let last = crate::text::head(last, USER_MESSAGE_BYTES_MAX);
        write!(text, "## Now\nThe last thing you said: {last}\n")
            .expect("a string takes everything");
    }
    text
}

/// Returns the texts of the user's messages, summaries of earlier compactions included.
fn users_words(messages: &[Message]) -> Vec<String> {
    let contents = messages.iter().filter_map(|message| match message {
        Message::User(contents) => Some(contents),
        _ => None,
    });
    let texts = contents.flatten().filter_map(|content| match content {
        Content::Text(text) if !text.starts_with("<attached") => {
            Some(crate::text::head(text, USER_MESSAGE_BYTES_MAX).to_owned())
        }
        _ => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_words_outlive_a_compaction() {
        let messages = [
            Message::User(vec![Content::Text("Fix the parser".to_owned())]),
            Message::Assistant(vec![Part::Text("Done.".to_owned())]),
            Message::User(vec![Content::Text("And never touch main.rs".to_owned())]),
        ];
        let kept = kept("## Goal\nA parser", &messages);
        assert!(kept.contains("Fix the parser") && kept.contains("never touch main.rs"));
        assert!(kept.contains("## Goal\nA parser"), "{kept}");
    }

    #[test]
    fn very_long_conversations_keep_the_newest_words() {
        let message = |text: String| Message::User(vec![Content::Text(text)]);
        let mut messages: Vec<_> = (0..100)
            .map(|number| message(format!("{number:03} {}", "x".repeat(3_000))))
            .collect();
        messages.push(message("the last".to_owned()));
        let kept = kept("", &messages);
        assert!(kept.len() < USER_BYTES_MAX + 1_000, "{}", kept.len());
        assert!(kept.contains("the last") && !kept.contains("000 x"));
    }
}
