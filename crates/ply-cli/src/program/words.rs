//! The words of the command line, where no command is named.

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser as _};

use crate::program::arguments::Arguments;
use crate::program::error::Error;
use crate::program::roster::{SLIPS_MAX, slips};

/// The command that words without one are for.
const DEFAULT: &str = "chat";

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
            Arguments::try_parse_from(words).map_err(Unread::Words)
        }
        _ => Err(Unread::Words(error)),
    }
}

/// Returns the words with the command that they are for, if they name none.
fn with_command(words: &[OsString]) -> Result<Option<Vec<OsString>>, Error> {
    let Some(first) = words.get(1) else {
        return Ok(None);
    };
    Ok(is_for_chat(&first.to_string_lossy())?.then(|| {
        let mut words = words.to_vec();
        words.insert(1, DEFAULT.into());
        words
    }))
}

fn is_for_chat(first: &str) -> Result<bool, Error> {
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
    let near = names.iter().filter(|name| slips(name, first) <= slips_max);
    let near = near.min_by_key(|name| slips(name, first));
    Err(Error::NoCommand {
        name: first.to_owned(),
        near: near.map(|name| (*name).to_owned()),
    })
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
        let told = completed("ply|hello");
        assert!(told.contains("ply chat hello"), "{told}");
    }
}
