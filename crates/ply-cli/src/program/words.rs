//! The words of the command line, where no command is named.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use crate::program::arguments::Arguments;
use crate::program::error::Error;
use crate::program::roster::{SLIPS_MAX, slips};

/// The command that words without one are for.
const DEFAULT: &str = "chat";

/// What commands are called elsewhere, and what does that here.
const ELSEWHERE: [(&str, &str); 13] = [
    ("add", "agents add"),
    ("config", "chat --help"),
    ("continue", "--continue"),
    ("doctor", "agents doctor"),
    ("exec", "run"),
    ("install", "agents add"),
    ("list", "sessions ls"),
    ("login", "agents login"),
    ("ls", "sessions ls"),
    ("new", "chat"),
    ("resume", "--continue"),
    ("update", "agents update"),
    ("version", "--version"),
];

/// What options are called elsewhere, and what does that here.
const OPTIONS_ELSEWHERE: [(&[&str], &str); 4] = [
    (
        &["-p", "--print", "--prompt"],
        "`ply run \"PROMPT\"` sends one prompt and prints the answer",
    ),
    (
        &["-c", "-r", "--resume"],
        "`--continue` continues the latest session of the directory, `--session ID` another one",
    ),
    (
        &["--json"],
        "`ply run --output json` prints one JSON object",
    ),
    (
        &[
            "--dangerously-skip-permissions",
            "--full-auto",
            "--yes",
            "--yolo",
            "-y",
        ],
        "`ply run --permit all` allows everything; in the terminal client, `--mode full` does",
    ),
];

/// Why the words of a command line cannot be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// Help is wanted, or something is wrong with the words.
    Words(clap::Error),
    /// There is no such command.
    NoCommand(Error),
}

/// Reads the words of a command line. Those that name no command, such as `ply -a claude`, `ply --continue` and
/// `ply "a prompt"`, are for the terminal client.
pub(super) fn parse(words: Vec<OsString>) -> Result<Arguments, Unread> {
    let error = match Arguments::try_parse_from(&words) {
        Ok(arguments) => return Ok(arguments),
        Err(error) => error,
    };
    // Only now, so that a command that is named costs nothing more.
    match with_command(&words).map_err(Unread::NoCommand)? {
        Some(words) if error.use_stderr() => {
            Arguments::try_parse_from(&words).map_err(|error| Unread::Words(advised(error, &words)))
        }
        _ => Err(Unread::Words(advised(error, &words))),
    }
}

/// Returns an error about an option with what to do instead.
fn advised(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    // The parser would have it written after `--`, where the command of an agent belongs.
    error.remove(ContextKind::Suggested);
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let known = OPTIONS_ELSEWHERE
        .iter()
        .find(|(names, _)| names.contains(&given.as_str()));
    let starts_agents = ["attach", "check", "trace"]
        .iter()
        .any(|name| words.get(1).is_some_and(|word| word == name));
    let advice = match known {
        Some((_, advice)) => advice,
        None if starts_agents && !given.starts_with('-') => {
            "the command of an agent goes after `--`"
        }
        None => return error,
    };
    error.remove(ContextKind::SuggestedArg);
    let advice = ContextValue::StyledStrs(vec![advice.into()]);
    error.insert(ContextKind::Suggested, advice);
    error
}

/// Returns the words with the command that they are for, if they name none.
fn with_command(words: &[OsString]) -> Result<Option<Vec<OsString>>, Error> {
    let Some(first) = words.get(1) else {
        return Ok(None);
    };
    let is_sentence = words
        .get(2)
        .is_some_and(|next| !next.to_string_lossy().starts_with('-'));
    Ok(
        is_for_chat(&first.to_string_lossy(), is_sentence)?.then(|| {
            let mut words = words.to_vec();
            words.insert(1, DEFAULT.into());
            words
        }),
    )
}

fn is_for_chat(first: &str, is_sentence: bool) -> Result<bool, Error> {
    if first.starts_with('-') {
        return Ok(!matches!(first, "-h" | "--help" | "-V" | "--version"));
    }
    let program = Arguments::command();
    let names: Vec<&str> = program
        .get_subcommands()
        .flat_map(|command| std::iter::once(command.get_name()).chain(command.get_all_aliases()))
        .chain(["help"])
        .collect();
    if names.contains(&first) {
        return Ok(false);
    }
    // One word is more likely a command that there is not than a prompt.
    if first.contains(char::is_whitespace) {
        return Ok(true);
    }
    // Of a short word, two changed letters make any other.
    let slips_max = SLIPS_MAX.min(first.chars().count() / 3);
    let is_near = |name: &&&str| slips(name, first) <= slips_max || letters(name) == letters(first);
    let near = names.iter().filter(is_near);
    let near = near.min_by_key(|name| slips(name, first)).copied();
    let elsewhere = || {
        let mut elsewhere = ELSEWHERE.iter();
        elsewhere.find_map(|(name, here)| (*name == first).then_some(*here))
    };
    Err(Error::NoCommand {
        name: first.to_owned(),
        near: near.or_else(elsewhere).map(str::to_owned),
        is_sentence,
    })
}

/// Returns the letters of a word, which are the same if two of them changed places.
fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(words: &str) -> String {
        let words: Vec<_> = words.split('|').map(OsString::from).collect();
        match with_command(&words) {
            Ok(with) => {
                let words = with.unwrap_or(words);
                let words = words.iter().map(|word| word.to_string_lossy().into_owned());
                words.collect::<Vec<_>>().join("|")
            }
            Err(error) => format!("{error}; {}", error.hint().unwrap_or_default()),
        }
    }

    #[test]
    fn options_and_prompts_without_a_command_are_for_the_terminal_client() {
        assert_eq!(completed("ply"), "ply");
        assert_eq!(completed("ply|-a|claude"), "ply|chat|-a|claude");
        assert_eq!(completed("ply|--continue"), "ply|chat|--continue");
        assert_eq!(completed("ply|fix the test"), "ply|chat|fix the test");
        assert_eq!(completed("ply|--|my-agent"), "ply|chat|--|my-agent");
    }

    #[test]
    fn commands_and_help_stay_as_they_are() {
        for words in [
            "ply|run|hi",
            "ply|help",
            "ply|--help",
            "ply|-V",
            "ply|sessions|ls",
        ] {
            assert_eq!(completed(words), words);
        }
    }

    #[test]
    fn a_word_that_is_no_command_is_no_prompt_either() {
        let told = completed("ply|sesions");
        assert!(told.contains("unknown command `sesions`"), "{told}");
        assert!(told.contains("did you mean `ply sessions`?"), "{told}");
        let told = completed("ply|rnu|hello");
        assert!(told.contains("did you mean `ply run`?"), "{told}");
        let told = completed("ply|login");
        assert!(told.contains("did you mean `ply agents login`?"), "{told}");
        let told = completed("ply|hello");
        assert!(told.contains("ply chat hello"), "{told}");
        let told = completed("ply|explain|this");
        assert!(told.contains("ply \"explain …\""), "{told}");
    }
}
