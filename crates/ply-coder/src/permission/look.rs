//! Commands that only read, and the options that leave them so.
//!
//! What is not listed is not known to be harmless: an option that is missing here costs a question, one
//! that should not be here costs more. Options are taken as they are written in full, since many programs
//! accept shortened ones. What a command reads is returned as words; whether these places may be read is
//! for the judge to decide.

mod find;
mod git;
mod options;
mod scripts;
mod tables;
mod versions;

use self::options::Parsed;
use self::tables::{READERS, Reader};

/// What a command reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reads {
    /// The places that its words name, as they are written.
    pub(super) places: Vec<String>,
    /// How much it reads of the directories among them.
    pub(super) reach: Reach,
    /// What else must hold for it to be harmless.
    pub(super) needs: Option<Need>,
}

/// How much is read of a directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Reach {
    /// The names in it at most.
    #[default]
    Names,
    /// The content of files below it, without hidden ones and what git ignores.
    Shown,
    /// The content of files below it that git does not ignore.
    Kept,
    /// The content of every file below it.
    All,
    /// The same, and of what links below it lead to.
    Followed,
}

/// What must hold for a command to be harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Need {
    /// The repository runs no programs by its settings.
    Repository(Git),
    /// No file of the project chooses which program has this name.
    Toolchain,
}

/// How git is run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Git {
    /// The directory that `-C` names.
    pub(super) directory: Option<String>,
    /// Whether addresses of other repositories are shown, which may have passwords in them.
    pub(super) shows_addresses: bool,
    /// Whether it looks into the working trees of submodules, each by its own settings.
    pub(super) enters_submodules: bool,
    /// Which files it shows the content of, if it does.
    pub(super) shows: Option<Shows>,
}

/// What decides which files git shows the content of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shows {
    /// Commits, objects and files, in any order.
    pub(super) operands: Vec<String>,
    /// How many of the last ones are files, if that was said by `--`.
    pub(super) files: Option<usize>,
    /// Whether it compares the working tree with the index, unless commits are named.
    pub(super) changes: bool,
    /// Whether it shows only files whose objects are named.
    pub(super) brief: bool,
}

impl Shows {
    /// Returns the operands that may be commits and other objects.
    pub(super) fn commits(&self) -> impl Iterator<Item = &String> {
        let files = self.files.unwrap_or_default();
        let commits = self.operands.len().saturating_sub(files);
        self.operands.iter().take(commits)
    }

    /// Returns the operands that may be files.
    pub(super) fn places(&self) -> impl Iterator<Item = &String> {
        // The pattern of `grep` may stand behind the `--` too, and is no operand.
        let commits = self
            .files
            .map(|files| self.operands.len().saturating_sub(files));
        // A commit and a file of one name are an error, if it is not said which is meant.
        let there = commits.unwrap_or_default();
        self.operands.iter().skip(there)
    }
}

/// Returns what a command reads, if it does nothing else.
pub(super) fn reads(words: &[&str]) -> Option<Reads> {
    let (program, arguments) = words.split_first()?;
    // A path names a file that anybody may have put there.
    if program.contains('/') {
        return None;
    }
    if let Some(reads) = versions::asks_for_version(program, arguments) {
        return Some(reads);
    }
    match *program {
        "git" => git::reads(arguments),
        "find" | "gfind" => find::reads(arguments),
        "sed" | "gsed" => scripts::sed(arguments),
        "awk" | "gawk" | "mawk" | "nawk" => scripts::awk(arguments),
        "test" => tests(arguments),
        "[" => match arguments.split_last() {
            Some((&"]", condition)) => tests(condition),
            _ => None,
        },
        "echo" => Some(Reads::default()),
        "printf" => printf(arguments),
        "tar" | "gtar" | "bsdtar" => lists_archive(arguments),
        program => {
            let reader = READERS
                .iter()
                .find(|reader| reader.programs.contains(&program));
            by_table(reader?, arguments)
        }
    }
}

fn by_table(reader: &Reader, arguments: &[&str]) -> Option<Reads> {
    let parsed = Parsed::new(arguments, &reader.options)?;
    if !reader.only_with.is_empty() && !parsed.has(reader.only_with) {
        return None;
    }
    // Some programs read further arguments from a file that is named like this.
    if parsed.operands.iter().any(|word| word.starts_with('@')) {
        return None;
    }
    let mut places: Vec<String> = parsed.places.iter().map(|place| (*place).into()).collect();
    let mut operands = parsed.operands.as_slice();
    match reader.operands {
        tables::Operands::None if !operands.is_empty() => return None,
        tables::Operands::Most(most) if operands.len() > most => return None,
        tables::Operands::Formats if !operands.iter().all(|word| word.starts_with('+')) => {
            return None;
        }
        tables::Operands::Pattern
            if !parsed.has_pattern && !parsed.has(&["files", "type-list"]) =>
        {
            let (pattern, files) = operands.split_first().unwrap_or((&"", &[]));
            // A filter of `jq` may bring in modules and data from any place.
            if reader.programs.contains(&"jq")
                && ["import", "include"]
                    .iter()
                    .any(|word| pattern.contains(word))
            {
                return None;
            }
            operands = files;
        }
        _ => {}
    }
    let named = !matches!(
        reader.operands,
        tables::Operands::Text | tables::Operands::Formats
    );
    let files = operands.iter().filter(|word| named && **word != "-");
    places.extend(files.map(|word| (*word).to_owned()));
    let reach = reader.reach(&parsed);
    let named_none = operands.is_empty();
    if named_none && (reader.here || reach != Reach::Names) {
        places.push(".".to_owned());
    }
    Some(Reads {
        places,
        reach,
        needs: None,
    })
}

/// Reads a condition. `-v` is missing on purpose: `test -v 'a[$(id)]'` runs `id`.
fn tests(condition: &[&str]) -> Option<Reads> {
    let condition = match condition {
        ["!", rest @ ..] => rest,
        condition => condition,
    };
    let places = match condition {
        [
            "-e" | "-f" | "-d" | "-s" | "-r" | "-w" | "-x" | "-L" | "-h",
            place,
        ] => vec![(*place).to_owned()],
        ["-n" | "-z", _] | [_, "=" | "==" | "!=", _] => Vec::new(),
        _ => return None,
    };
    Some(Reads {
        places,
        ..Reads::default()
    })
}

/// Reads `printf` without options: `printf -v 'a[$(id)]' x` runs `id`.
fn printf(arguments: &[&str]) -> Option<Reads> {
    let format = arguments.first()?;
    (!format.starts_with('-')).then(Reads::default)
}

/// Reads `tar` when it lists. A name with a colon is a file on another machine.
fn lists_archive(arguments: &[&str]) -> Option<Reads> {
    let (options, rest) = arguments.split_first()?;
    let letters = options.strip_prefix('-').unwrap_or(options);
    let lists = letters.contains('t')
        && letters.ends_with('f')
        && letters
            .bytes()
            .all(|letter| matches!(letter, b't' | b'v' | b'z' | b'j' | b'J' | b'f'));
    let [archive] = rest else {
        return None;
    };
    (lists && !archive.starts_with('-') && !archive.contains(':')).then(|| Reads {
        places: vec![(*archive).to_owned()],
        ..Reads::default()
    })
}
