//! What commands do, by kind.

mod tables;

use self::tables::{BUILDS, CHANGES, CONNECTS, DESTROYS, GIT_RUNS, Phrase};
use super::line::{self, Command, Unclear};
use super::{launch, look};

/// What a command does, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It reads and prints.
    Reads,
    /// It makes or changes files.
    Changes,
    /// Nobody here knows the program.
    Unknown,
    /// It runs other programs, or code of the project.
    Runs,
    /// It talks to other machines.
    Connects,
    /// It deletes or overwrites, ends processes, or changes who may do what.
    Destroys,
}

impl Effect {
    /// Finds out what a command line does: the worst of what its commands do.
    ///
    /// It goes by words alone. A line that only reads may still read what it must not.
    ///
    /// # Errors
    ///
    /// It cannot be told for certain which commands the line runs.
    pub fn of(line: &str) -> Result<Self, Unclear> {
        let commands = line::read(line)?;
        let effects = commands.iter().map(Self::of_command);
        effects.max().ok_or(Unclear::Syntax)
    }

    /// Finds out what a simple command does.
    pub(super) fn of_command(command: &Command) -> Self {
        let words: Vec<&str> = command
            .words
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        let effect = match words.is_empty() {
            true => Self::Changes,
            false => Self::of_words(&words),
        };
        let dynamic_name = command.words.first().is_some_and(|name| name.dynamic);
        let others = match (command.redirects, command.assigns || dynamic_name) {
            (_, true) => Self::Runs,
            (true, false) => Self::Changes,
            (false, false) => Self::Reads,
        };
        effect.max(others)
    }

    /// Finds out what a plain command does.
    pub(super) fn of_words(words: &[&str]) -> Self {
        if look::reads(words).is_some() {
            return Self::Reads;
        }
        let begins = |phrases: &[Phrase]| phrases.iter().any(|phrase| phrase.begins(words));
        if begins(DESTROYS) || is_among(words, DESTROYS) {
            Self::Destroys
        } else if begins(CONNECTS) || is_among(words, CONNECTS) {
            Self::Connects
        } else if only_writes(words) {
            Self::Changes
        } else if begins(BUILDS) || launch::runs_others(words) {
            Self::Runs
        } else if begins(CHANGES) {
            Self::Changes
        } else {
            Self::Unknown
        }
    }

    /// Says what it is, for people who are asked.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Reads => "It reads files.",
            Self::Changes => "It changes files.",
            Self::Unknown => "It runs a program that Ply does not know.",
            Self::Runs => "It runs other programs or code of the project.",
            Self::Connects => "It talks to other machines.",
            Self::Destroys => "It deletes or overwrites what may be needed.",
        }
    }
}

/// Says whether a command writes by words by which it is kept from being allowed like others, and runs
/// nothing.
fn only_writes(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let has = |parts: &[&str]| {
        let mut words = rest.iter();
        words.any(|word| parts.iter().any(|part| word.contains(part)))
    };
    match *first {
        "sort" | "gsort" => !has(&["compress"]),
        "sed" | "gsed" => {
            let place = |word: &&&str| word.starts_with("-i") || word.starts_with("--in-place");
            let others: Vec<&str> = rest.iter().filter(|word| !place(word)).copied().collect();
            others.len() < rest.len() && launch::sed_files(&others).is_some()
        }
        "git" => {
            let begins = CHANGES.iter().any(|phrase| phrase.begins(words));
            let early = rest.first().is_some_and(|word| word.starts_with('-'));
            begins && !early && !has(GIT_RUNS)
        }
        _ => false,
    }
}

/// Says whether a program that runs others is given one of these.
fn is_among(words: &[&str], phrases: &[Phrase]) -> bool {
    launch::is_launcher(words)
        && (1..words.len()).any(|place| {
            let rest = words.get(place..).unwrap_or_default();
            phrases.iter().any(|phrase| phrase.begins(rest))
        })
}
