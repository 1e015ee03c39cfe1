//! Patterns in words, in place of which a shell puts the names of files.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use super::line::{Command, Word};

/// How many names a word may stand for.
const NAMES_MAX: usize = 1000;
/// How many entries of a directory are looked at.
const ENTRIES_MAX: usize = 10_000;

/// The words of a command as its program gets them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Expanded {
    pub(super) words: Vec<String>,
    /// Those of them that a pattern stands for. Their order is the shell's, which depends on the language.
    pub(super) files: Vec<String>,
}

/// Returns the words of a command as its program gets them, if every one of them is known: plain words,
/// and words with `*` and `?` that stand for files.
pub(super) fn words(command: &Command, here: &Path) -> Option<Expanded> {
    if command.assigns || command.redirects || command.background {
        return None;
    }
    let mut words = Vec::new();
    let mut files = Vec::new();
    for (place, word) in command.words.iter().enumerate() {
        match (word.dynamic, place) {
            (false, _) => words.push(word.text.clone()),
            (true, 0) => return None,
            (true, _) => {
                let found = expanded(word, here)?;
                files.extend(found.iter().cloned());
                words.extend(found);
            }
        }
        if words.len() > NAMES_MAX {
            return None;
        }
    }
    (!words.is_empty()).then_some(Expanded { words, files })
}

/// Returns what a word with a pattern becomes. More of it may be a pattern here than for the shell, which
/// knows what was quoted: then there are more names, and each of them is judged.
fn expanded(word: &Word, here: &Path) -> Option<Vec<String>> {
    let text = word.text.as_str();
    let pattern = text.contains(['*', '?']);
    let other = [
        '$', '~', '[', ']', '{', '}', '\\', '!', '=', '^', '@', '+', '(', '|',
    ];
    if !pattern || text.contains(other) || text.split('/').any(|part| part == "..") {
        return None;
    }
    let begin = if text.starts_with('/') { "/" } else { "" };
    let mut found = vec![begin.to_owned()];
    for part in text.split('/').filter(|part| !part.is_empty()) {
        found = match part.contains(['*', '?']) {
            true => matching(&found, part, here)?,
            false => found.iter().map(|path| joined(path, part)).collect(),
        };
    }
    let there = |path: &String| here.join(path).symlink_metadata().is_ok();
    found.retain(there);
    // Without a match the pattern itself is the word. One that begins with a dash would be an option.
    if found.is_empty() {
        found.push(text.to_owned());
    }
    let is_option = |word: &String| word.starts_with('-');
    (found.len() <= NAMES_MAX && !found.iter().any(is_option)).then_some(found)
}

fn matching(folders: &[String], part: &str, here: &Path) -> Option<Vec<String>> {
    // For some languages of the shell a `?` is a byte, for others a character.
    let text = part.replace('?', "*");
    let glob = GlobBuilder::new(&text).build();
    let glob = glob.ok()?.compile_matcher();
    let mut found = Vec::new();
    for folder in folders {
        let path: PathBuf = match folder.is_empty() {
            true => here.to_owned(),
            false => here.join(folder),
        };
        let Ok(entries) = std::fs::read_dir(path) else {
            continue;
        };
        for (count, entry) in entries.enumerate() {
            if count >= ENTRIES_MAX || found.len() > NAMES_MAX {
                return None;
            }
            let name = entry.ok()?.file_name();
            // A name that is no text cannot be judged by it.
            let name = name.to_str()?;
            let hidden = name.starts_with('.') && !part.starts_with('.');
            if !hidden && glob.is_match(name) {
                found.push(joined(folder, name));
            }
        }
    }
    found.sort();
    Some(found)
}

fn joined(folder: &str, name: &str) -> String {
    match folder {
        "" | "/" => format!("{folder}{name}"),
        folder => format!("{folder}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::line;

    #[test]
    fn patterns_become_the_files_that_a_shell_finds() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        for file in [
            "a.rs",
            "b.rs",
            ".env",
            "src/c.rs",
            "src/deep/d.rs",
            "odd/-o",
        ] {
            let path = here.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let check = |line: &str, expected: Option<&str>| {
            let commands = line::read(line).unwrap();
            let found = words(&commands[0], here).map(|found| found.words.join(" "));
            assert_eq!(found.as_deref(), expected, "{line}");
        };
        check("ls *.rs", Some("ls a.rs b.rs"));
        check("ls ./*.rs", Some("ls ./a.rs ./b.rs"));
        check("ls */*.rs", Some("ls src/c.rs"));
        check("ls .e*", Some("ls .env"));
        check("ls *.toml", Some("ls *.toml"));
        check("ls 'a'*", Some("ls a.rs"));
        check("ls odd/*", Some("ls odd/-o"));
        for unknown in [
            "ls $X",
            "ls ~/x",
            "ls {a,b}",
            "ls [ab].rs",
            "*.rs",
            "ls ../*",
            "ls > x",
        ] {
            check(unknown, None);
        }
        let odd = here.join("odd");
        let commands = line::read("sort *").unwrap();
        assert_eq!(words(&commands[0], &odd), None, "a file that is an option");
    }
}
