//! The few commands that may run without a rule.
//!
//! They only look, and only where reading is allowed. The list is short on purpose. Commands that show
//! what is in files are not on it, as a link in a project may lead anywhere; nor is `git`, which runs what
//! a repository's settings tell it.

use std::path::{Component, Path, PathBuf};

use super::line::{Command, Join};

/// Returns the places that a command looks at, if it only looks.
pub(super) fn looks_at(words: &[&str], here: &Path) -> Option<Vec<PathBuf>> {
    let (program, arguments) = words.split_first()?;
    match *program {
        "pwd" => matches!(arguments, [] | ["-L" | "-P"]).then(Vec::new),
        "true" | "false" => arguments.is_empty().then(Vec::new),
        "echo" => Some(Vec::new()),
        "ls" => list(arguments, here),
        "cat" => arguments.is_empty().then(Vec::new),
        "head" | "tail" => counts(arguments).then(Vec::new),
        "wc" => arguments
            .iter()
            .all(|word| has_only(word, "lwcm"))
            .then(Vec::new),
        "grep" => searches_input(arguments).then(Vec::new),
        _ => None,
    }
}

/// Returns where the commands after a leading `cd` run: it must be certain that they run nowhere else.
pub(super) fn enters(commands: &[Command], here: &Path) -> Option<PathBuf> {
    let (first, rest) = commands.split_first()?;
    let words = first.plain_words()?;
    let ["cd", target] = words.as_slice() else {
        return None;
    };
    let next = rest.first()?;
    let certain = next.join == Join::And
        && rest
            .iter()
            .all(|command| matches!(command.join, Join::And | Join::Pipe));
    (certain && !target.starts_with('-')).then(|| below(here, target))?
}

fn list(arguments: &[&str], here: &Path) -> Option<Vec<PathBuf>> {
    let (options, places): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|word| word.starts_with('-'));
    if !options.iter().all(|word| has_only(word, "1aAlhrtSFdRp")) {
        return None;
    }
    if places.is_empty() {
        return Some(vec![here.to_owned()]);
    }
    places.iter().map(|place| below(here, place)).collect()
}

/// Says whether arguments of `head` and `tail` say how much, and no file.
fn counts(arguments: &[&str]) -> bool {
    let number = |word: &str| {
        let digits = word.trim_start_matches('+');
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    match arguments {
        [] => true,
        ["-n" | "-c", count] => number(count),
        [glued] => match glued.strip_prefix('-') {
            Some(count) => number(count.trim_start_matches(['n', 'c'])),
            None => false,
        },
        _ => false,
    }
}

/// Says whether arguments of `grep` are a pattern and harmless options, and no file.
fn searches_input(arguments: &[&str]) -> bool {
    match arguments.split_last() {
        Some((pattern, options)) => {
            !pattern.starts_with('-') && options.iter().all(|word| has_only(word, "iEFvcnowxq"))
        }
        None => false,
    }
}

/// Says whether a word consists of one-letter options out of some letters.
fn has_only(word: &str, letters: &str) -> bool {
    match word.strip_prefix('-') {
        Some(cluster) => !cluster.is_empty() && cluster.chars().all(|c| letters.contains(c)),
        None => false,
    }
}

/// Returns the path that a word means. What goes up is left to the user: with links in the way, nobody
/// knows where it ends.
fn below(here: &Path, word: &str) -> Option<PathBuf> {
    let path = Path::new(word);
    let up = path.components().any(|part| part == Component::ParentDir);
    (!word.is_empty() && !up).then(|| {
        let joined = here.join(path);
        joined
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect()
    })
}
