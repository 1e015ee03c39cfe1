//! What was called since the prompt, and what came of it.

use serde_json::Value;

use crate::model::{Message, Part};

/// A call that was made, with its result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done<'m> {
    pub(super) name: &'m str,
    pub(super) arguments: &'m Value,
    pub(super) text: &'m str,
    pub(super) failed: bool,
}

impl<'m> Done<'m> {
    /// Returns an argument that is a text.
    pub(super) fn argument(&self, name: &str) -> &'m str {
        let value = self.arguments.get(name);
        value.and_then(Value::as_str).unwrap_or_default()
    }

    /// Says whether a command was run, whatever came of it.
    pub(super) fn was_run(&self) -> bool {
        let ends = ["exit code ", "ended by signal "];
        !self.failed || ends.iter().any(|end| self.text.contains(end))
    }

    /// Returns the lines of the result without the tool's own notes, which stand in brackets.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'m str> {
        let is_note = |line: &&str| line.starts_with('[') && line.ends_with(']');
        let text = if self.failed { "" } else { self.text };
        text.lines()
            .filter(move |line| !line.is_empty() && !is_note(line))
    }

    /// Returns what `grep` found: the path, the number and the text of each line.
    pub(super) fn found(&self) -> impl Iterator<Item = (&'m str, u64, &'m str)> {
        self.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            let (path, number, text) = (parts.next()?, parts.next()?, parts.next()?);
            Some((path, number.parse().ok()?, text))
        })
    }
}

/// The rounds of calls since the prompt.
#[derive(Debug, Default)]
pub(super) struct Rounds<'m>(Vec<Vec<Done<'m>>>);

impl<'m> Rounds<'m> {
    /// Pairs the calls of each answer with their results.
    pub(super) fn of(since: &'m [Message]) -> Self {
        let mut rounds = Vec::new();
        let mut calls = Vec::new();
        for message in since {
            match message {
                Message::Assistant(parts) => {
                    calls = parts.iter().filter_map(call_of).collect();
                }
                Message::Results(results) => {
                    let done = results.iter().map(|result| {
                        let call = calls.iter().find(|call| call.id == result.call);
                        Done {
                            name: &result.name,
                            arguments: call.map_or(&Value::Null, |call| &call.arguments),
                            text: &result.text,
                            failed: result.failed,
                        }
                    });
                    rounds.push(done.collect());
                }
                Message::User(_) => {}
            }
        }
        Self(rounds)
    }

    /// Returns how many rounds there were.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns a round, counted from 0.
    pub(super) fn round(&self, place: usize) -> &[Done<'m>] {
        self.0.get(place).map_or(&[], Vec::as_slice)
    }

    /// Returns the last call, if any.
    pub(super) fn last(&self) -> Option<Done<'m>> {
        self.0.last().and_then(|round| round.last()).copied()
    }

    /// Returns every call of a tool, in order.
    pub(super) fn calls<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Done<'m>> + 'a {
        let all = self.0.iter().flatten();
        all.filter(move |done| done.name == name).copied()
    }

    /// Returns the content of a file that was read, without line numbers.
    pub(super) fn file(&self, path: &str) -> Option<String> {
        let read = self
            .calls("read_file")
            .find(|done| done.argument("path") == path && !done.failed);
        read.map(|done| without_numbers(done.text))
    }
}

fn call_of(part: &Part) -> Option<&crate::model::Call> {
    match part {
        Part::Call(call) => Some(call),
        _ => None,
    }
}

/// Takes away the line numbers that `read_file` puts before each line, and its notes.
pub(super) fn without_numbers(text: &str) -> String {
    let lines = text.lines().filter_map(|line| {
        let rest = line.trim_start();
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix('\t')
    });
    let mut plain = String::with_capacity(text.len());
    for line in lines {
        plain.push_str(line);
        plain.push('\n');
    }
    plain
}
