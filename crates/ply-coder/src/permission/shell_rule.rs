//! How rules match commands.

use std::fmt;

use super::launch;
use super::line::{self, Command};
use super::rule::Concern;

/// The words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellPattern {
    pub(super) words: Vec<String>,
    /// Whether further words may follow.
    pub(super) rest: bool,
}

impl ShellPattern {
    /// Says whether it allows a plain command: word by word, never by letters. What lets the command run
    /// others must be among the words that the rule says itself, and so must the first `guarded` ones.
    pub(super) fn allows(&self, words: &[&str], guarded: usize) -> bool {
        let same = self.words.iter().zip(words).all(|(own, word)| own == word);
        match self.rest {
            false => same && self.words.len() == words.len(),
            true => {
                same && self.words.len() <= words.len()
                    && launch::words_to_name(words).max(guarded) <= self.words.len()
            }
        }
    }

    /// Says whether one of the commands of a line begins with its words.
    pub(super) fn begins_one_of(&self, line: &str) -> bool {
        let begins = |command: &Command| {
            let words = command.plain_words().unwrap_or_default();
            let same = self.words.iter().zip(&words).all(|(own, word)| own == word);
            same && self.words.len() <= words.len()
        };
        line::read(line).is_ok_and(|commands| commands.iter().any(begins))
    }

    /// Says whether a command is one that is to be asked about or denied.
    fn concerns(&self, command: &Command) -> Concern {
        let Some(first) = self.words.first() else {
            return Concern::Yes;
        };
        let words: Vec<&str> = command
            .words
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        let Some(name) = command.words.first() else {
            return Concern::No;
        };
        let ours = name.text == *first || launch::program(&name.text) == launch::program(first);
        let others = self.words.iter().zip(&command.words).skip(1);
        let same = ours
            && !name.dynamic
            && others
                .clone()
                .all(|(own, word)| !word.dynamic && *own == word.text);
        if same && self.words.len() <= words.len() && (self.rest || self.words.len() == words.len())
        {
            return Concern::Yes;
        }
        let dynamic = command.words.iter().any(|word| word.dynamic);
        // What is quoted once more, or put together while it runs, is not to be found in the words.
        if name.dynamic || launch::carries_code(&words) {
            return Concern::Maybe;
        }
        let launches = launch::words_to_name(&words) > 0;
        if launches && (dynamic || is_within(&self.words, tokens(&words))) {
            return Concern::Maybe;
        }
        // Options may stand between: `git -C there push`.
        if ours && (dynamic || is_within(&self.words, tokens(&words))) {
            return Concern::Maybe;
        }
        Concern::No
    }
}

/// Says whether a line has a command that is to be asked about or denied.
pub(super) fn concerns(pattern: &ShellPattern, line: &str) -> Concern {
    match line::read(line) {
        Err(_) => Concern::Maybe,
        Ok(commands) => commands
            .iter()
            .map(|command| pattern.concerns(command))
            .max()
            .unwrap_or(Concern::No),
    }
}

/// Returns everything in some words that may be a word of a command inside.
fn tokens<'w>(words: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    let inside = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '+' | ':'));
    words
        .iter()
        .flat_map(move |word| std::iter::once(*word).chain(word.split(inside)))
        .filter(|token| !token.is_empty())
}

/// Says whether all words are among others, in their order.
fn is_within<'w>(words: &[String], mut others: impl Iterator<Item = &'w str>) -> bool {
    words
        .iter()
        .all(|word| others.any(|other| other == word || launch::program(other) == *word))
}

impl fmt::Display for ShellPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = self.rest.then(|| "*".to_owned());
        let words: Vec<String> = self
            .words
            .iter()
            .map(|word| quoted(word))
            .chain(star)
            .collect();
        f.write_str(&words.join(" "))
    }
}

/// Returns a word as it is written so that a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',')
    };
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
