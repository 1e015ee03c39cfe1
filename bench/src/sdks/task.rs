//! What a prompt asks the agent to do, as its first words.

use crate::payload::{LARGE_TEXT_BYTES, large_text};

/// Says that a prompt is only to be measured; its text follows.
const MEASURE: &str = "measure ";

/// What the agent says last, for clients that are told of no end: in version 1 only whoever prompted is.
pub(crate) const LAST_WORDS: &str = "the end of the turn";

/// What the agent is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Task {
    /// This many updates of 40 bytes, or fewer if cancelled.
    Stream(u64),
    /// This many updates of all kinds, as turns make them; of the journal's benchmark.
    Work(u64),
    /// This many updates of which no two in a row can be joined; of the same.
    Alternate(u64),
    /// This many updates in passages of thoughts and words, then [`LAST_WORDS`]; of the benchmark of several clients.
    Talk(u64),
    /// This many updates of one message, then [`LAST_WORDS`] as a part of it; of the same.
    Monologue(u64),
    /// This many titles of one tool call, then [`LAST_WORDS`]; of the same.
    Progress(u64),
    /// This many permissions, one after the other.
    Ask(u64),
    /// One update of [`LARGE_TEXT_BYTES`].
    Big,
    /// How long the prompt was, as the text of one update.
    Measure,
}

impl Task {
    /// Returns the prompt that asks for it.
    pub(crate) fn prompt(self) -> String {
        match self {
            Task::Stream(count) => format!("stream {count}"),
            Task::Work(count) => format!("work {count}"),
            Task::Alternate(count) => format!("alternate {count}"),
            Task::Talk(count) => format!("talk {count}"),
            Task::Monologue(count) => format!("monologue {count}"),
            Task::Progress(count) => format!("progress {count}"),
            Task::Ask(count) => format!("ask {count}"),
            Task::Big => "big".to_owned(),
            Task::Measure => format!("{MEASURE}{}", large_text(LARGE_TEXT_BYTES - MEASURE.len())),
        }
    }

    /// Reads it from a prompt.
    pub(super) fn of(prompt: &str) -> Self {
        let count = |word: &str| {
            let rest = prompt.strip_prefix(word)?;
            rest.trim().parse().ok()
        };
        if let Some(count) = count("stream ") {
            Task::Stream(count)
        } else if let Some(count) = count("work ") {
            Task::Work(count)
        } else if let Some(count) = count("alternate ") {
            Task::Alternate(count)
        } else if let Some(count) = count("talk ") {
            Task::Talk(count)
        } else if let Some(count) = count("monologue ") {
            Task::Monologue(count)
        } else if let Some(count) = count("progress ") {
            Task::Progress(count)
        } else if let Some(count) = count("ask ") {
            Task::Ask(count)
        } else if prompt == "big" {
            Task::Big
        } else {
            Task::Measure
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_from_its_prompt() {
        for task in [
            Task::Stream(12),
            Task::Work(100),
            Task::Alternate(7),
            Task::Talk(9),
            Task::Monologue(8),
            Task::Progress(5),
            Task::Ask(3),
            Task::Big,
            Task::Measure,
        ] {
            assert_eq!(Task::of(&task.prompt()), task);
        }
    }
}
