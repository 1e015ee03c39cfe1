//! `sed` and `awk` whose scripts only print.

use super::Reads;
use crate::permission::launch;

/// Returns the files that `sed` reads, if its script neither writes nor runs anything.
pub(super) fn sed(arguments: &[&str]) -> Option<Reads> {
    let files = launch::sed_files(arguments)?;
    Some(Reads {
        places: files.iter().map(|file| (*file).to_owned()).collect(),
        ..Reads::default()
    })
}

/// Names by which a program of `awk` reads other files than those it is given.
const NAMES: &[&str] = &["ARGV", "ARGC", "SYMTAB", "FUNCTAB", "PROCINFO"];

/// Returns the files that `awk` reads, if its program neither writes nor runs anything.
pub(super) fn awk(arguments: &[&str]) -> Option<Reads> {
    if launch::awk_runs(arguments) {
        return None;
    }
    let mut words = arguments.iter();
    let program = loop {
        let word = words.next()?;
        match *word {
            "-F" | "-v" => drop(words.next()?),
            "--" => break words.next()?,
            word if word.starts_with("-F") || word.starts_with("-v") => {}
            word if word.starts_with('-') => return None,
            _ => break word,
        }
    };
    if program.contains("\\\n") || NAMES.iter().any(|name| program.contains(name)) {
        return None;
    }
    let files = words.filter(|word| !is_assignment(word));
    Some(Reads {
        places: files.map(|file| (*file).to_owned()).collect(),
        ..Reads::default()
    })
}

/// Says whether an operand sets a variable and names no file.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
