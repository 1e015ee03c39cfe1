//! Files that a command line names, however it does: as words, in quotes, in code for another program, and
//! by patterns.
//!
//! It goes by the text alone, so a line can name a file in ways that are not seen here. What must not be read
//! at all is for the sandbox to hide.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use super::{launch, links, place, repository};
use crate::{git, text};

/// How much of a line is looked at.
pub(super) const LINE_BYTES_MAX: usize = 64 * 1024;
/// How many pieces of it are looked up.
const PIECES_MAX: usize = 2000;
/// How many entries of a directory are compared with a pattern.
const ENTRIES_MAX: usize = 10_000;
/// How many folders that a line names are looked into.
const FOLDERS_MAX: usize = 16;
/// How many ids of objects are looked up there; a line with more of them is asked about.
const IDS_MAX: usize = 64;

const A_SECRET: &str = "It looks like a secret.";
const AS_TEXT: &str =
    "It shows every file as text, also those in the history that look like secrets.";

const QUOTES: [char; 3] = ['\'', '"', '\\'];

/// Words by which git shows objects that nobody names one by one.
const WHOLE: &[&str] = &["--batch", "--batch-command", "fast-export", "unpack-file"];

/// Subcommands of git that show the content of files, or bring it back.
#[rustfmt::skip]
const SHOWING: &[&str] = &[
    "annotate", "archive", "blame", "cat-file", "checkout", "diff", "diff-files", "diff-index", "diff-tree", "difftool",
    "format-patch", "grep", "log", "range-diff", "restore", "show", "whatchanged",
];

/// Options of these that are followed by a value.
const VALUED: &str = "BCDGILMOSUXefglm";

/// Says whether a line names a file of passwords. Whoever lets it run lets it read that.
pub(crate) fn names_secret(line: &str, cwd: &Path) -> bool {
    let named = files(line, cwd);
    named.iter().any(|file| place::is_secret(file))
}

/// Returns why a line is asked about that has git show a file by something else than its name, or by the name
/// that it had once.
pub(super) fn by_object(line: &str, cwd: &Path) -> Option<&'static str> {
    let pieces = pieces(line);
    let is_git = |piece: &String| launch::program(piece) == "git";
    if !pieces.iter().any(is_git) {
        return None;
    }
    if pieces.iter().any(|piece| WHOLE.contains(&piece.as_str())) {
        return Some(
            "It shows everything that the repository ever had, with secrets if there are some.",
        );
    }
    // `HEAD~1:.env` is a secret though the file is gone.
    let past = line.split(|c: char| c.is_whitespace() || QUOTES.contains(&c));
    let mut past = past.filter_map(|word| word.rsplit_once(':'));
    let is_secret = |path: &str| !path.is_empty() && place::is_secret(&cwd.join(path));
    if past.any(|(_, path)| is_secret(path)) {
        return Some(A_SECRET);
    }
    // Quotes may be around a whole command or around a word of it, and a command may go on in the next line.
    let line = &line.replace("\\\n", " ");
    let unquoted = line.replace(QUOTES, "");
    let commands = |c: char| "'\"`;|&<>()\n".contains(c);
    for command in line.split(commands).chain(unquoted.split(commands)) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let mut tails = (0..words.len()).filter_map(|at| words.get(at..));
        // So is `git blame HEAD~1 -- .env`. A plain word may be anything.
        let shown = tails.find_map(showing).unwrap_or_default();
        let mut shown = shown.iter().filter(|word| word.contains(['.', '/', '_']));
        if shown.any(|word| is_secret(word)) {
            return Some(A_SECRET);
        }
        if as_text(&words).is_some() {
            return Some(AS_TEXT);
        }
    }
    let ids = pieces.iter().filter(|piece| git::may_be_id(piece));
    let ids: Vec<&String> = ids.collect();
    if ids.is_empty() {
        return None;
    }
    let by_id = |folder: &PathBuf| {
        let mut ids = ids.iter();
        ids.any(|id| repository::is_id_of_file(folder, id))
    };
    let is_asked = ids.len() > IDS_MAX || folders(&pieces, cwd).iter().any(by_id);
    is_asked.then_some(repository::BY_ID)
}

/// Returns what follows the subcommand of a git command, if it shows files.
fn showing<'w, 'l>(words: &'w [&'l str]) -> Option<&'w [&'l str]> {
    let (git, mut rest) = words.split_first()?;
    if launch::program(git) != "git" {
        return None;
    }
    loop {
        rest = match rest {
            ["-C" | "-c", _, after @ ..] => after,
            [option, after @ ..] if option.starts_with('-') => after,
            [name, after @ ..] => return SHOWING.contains(name).then_some(after),
            [] => return None,
        };
    }
}

/// Returns the last word by which a git command shows files that attributes keep it from showing.
pub(super) fn as_text(words: &[&str]) -> Option<usize> {
    let (at, shown) = (0..words.len()).find_map(|at| Some((at, showing(words.get(at..)?)?)))?;
    let subcommand = words.len() - shown.len() - 1;
    if words.get(at..=subcommand)?.contains(&"difftool") {
        return Some(subcommand);
    }
    let is_text = |word: &&str| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        // What follows some letters is their value.
        let mut letters = letters
            .chars()
            .take_while(|letter| !VALUED.contains(*letter));
        // Long options may be shortened.
        let is_long = word.len() > 4 && "--text".starts_with(*word);
        is_long || (!word.starts_with("--") && letters.any(|letter| letter == 'a'))
    };
    let text = shown.iter().rposition(is_text)?;
    Some(subcommand + 1 + text)
}

/// Returns the folders in which a line may look: where it runs, and those that it names.
fn folders(pieces: &BTreeSet<String>, cwd: &Path) -> Vec<PathBuf> {
    let named = pieces.iter().map(|piece| cwd.join(piece));
    let named = named.filter(|folder| folder != cwd && folder.is_dir());
    std::iter::once(cwd.to_owned())
        .chain(named.take(FOLDERS_MAX))
        .collect()
}

/// Returns everything in a line that may be a word for a program.
fn pieces(line: &str) -> BTreeSet<String> {
    let line = text::head(line, LINE_BYTES_MAX);
    // A name may be written with quotes inside, and a quoted one may be code with names inside.
    let unquoted = line.replace(QUOTES, "");
    let splits = |c: char| c.is_whitespace() || "'\"`;|&<>(){}=,:@$!#".contains(c);
    let pieces = line.split(splits).chain(unquoted.split(splits));
    let pieces = pieces.filter(|piece| !piece.is_empty());
    pieces.map(str::to_owned).collect()
}

/// Returns the files that a line names, and those that links among them lead to.
pub(super) fn files(line: &str, cwd: &Path) -> Vec<PathBuf> {
    let pieces = pieces(line);
    let folders = folders(&pieces, cwd);
    let mut found = Vec::new();
    for piece in pieces.iter().take(PIECES_MAX) {
        // The value of an option may be glued to its letter, and what a variable stands for is not known.
        let value = piece.strip_prefix('-').and_then(|rest| rest.get(1..));
        let name = piece.rsplit_once('/').map(|(_, name)| name);
        let name = name.filter(|name| !is_pattern(name));
        let names = std::iter::once(piece.as_str()).chain(value).chain(name);
        for (name, folder) in names.flat_map(|name| folders.iter().map(move |at| (name, at))) {
            match is_pattern(name) {
                true => found.extend(matching(name, folder)),
                false => found.push(folder.join(name)),
            }
        }
    }
    found.retain(|path| path.is_file());
    let real: Vec<_> = found.iter().filter_map(|path| links::real(path)).collect();
    found.extend(real);
    found
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Returns what a pattern in the last part of a path stands for.
fn matching(piece: &str, cwd: &Path) -> Vec<PathBuf> {
    let (folder, name) = piece.rsplit_once('/').unwrap_or(("", piece));
    let glob = GlobBuilder::new(name).literal_separator(true).build();
    let Ok(glob) = glob else {
        return Vec::new();
    };
    let glob = glob.compile_matcher();
    let folder = match (folder, piece.starts_with('/')) {
        ("", true) => PathBuf::from("/"),
        (folder, _) => cwd.join(folder),
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let entries = entries.take(ENTRIES_MAX).flatten();
    let matching = entries.filter(|entry| glob.is_match(entry.file_name()));
    matching.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h7_git_shows_no_file_by_another_word_than_its_name_unasked() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path();
        let asked = |line: &str| by_object(line, at).is_some();
        for line in [
            "git show HEAD~1:.env",
            "git show 'HEAD~1:.env'",
            "sh -c \"git show main:app/.env.local\"",
            "git rev-list --objects --all | git cat-file --batch",
            "git fast-export --all",
            "/usr/bin/git unpack-file 1234",
        ] {
            assert!(asked(line), "{line}");
        }
        for line in [
            "git blame HEAD~1 -- .env",
            "git log -p -- app/.env.local",
            "git checkout HEAD~1 -- .env",
            "git log -p --text",
            "git log -p --tex",
            "git log -pa",
            "git -C . --no-pager diff -a HEAD~1",
            "sh -c \"git show --text HEAD\"",
            "git log \\\n  -p --text",
            "git log '-p' '--text'",
            "true; git grep -na x HEAD | head",
            "git difftool -y -x cat HEAD~1",
            "GIT_PAGER= git format-patch --stdout -a HEAD~1",
        ] {
            assert!(asked(line), "{line}");
        }
        for line in [
            "git show HEAD~1:src/main.rs",
            "git show HEAD:.env.example",
            "git log --all --stat -p",
            "git log --oneline && ls -la",
            "git commit -a -m 'show log'",
            "git commit -am show",
            "git add -A; git diff --stat",
            "git branch -a",
            "git diff --textconv",
            "git checkout main",
            "git grep secrets",
            "git log -Sbar --stat",
            "git log -p -U9 -Gamount",
            "grep --text git log",
            "git commit -m 'feed: see .env'",
            "git show deadbeef",
            "git cat-file -p HEAD",
            "echo HEAD:.env",
            "scp host:.env .",
        ] {
            assert!(!asked(line), "{line}");
        }
    }

    #[test]
    fn h7_a_secret_is_seen_however_it_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().canonicalize().unwrap();
        std::fs::create_dir(at.join("app")).unwrap();
        for file in [".env", "app/.env.local", "plain.txt", ".env.example"] {
            std::fs::write(at.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(".env", at.join("innocent")).unwrap();
        for line in [
            "cat .env",
            "bash -c 'cat .env'",
            "bash -c \"cat ./.env\"",
            "sh -c 'sh -c \"cat .env\"'",
            "python3 -c 'print(open(\".env\").read())'",
            "cat .e''nv",
            "cat .e\\nv",
            "cat .e*",
            "cat .[e]nv",
            "cat app/.env.*",
            "(cat .env)",
            "for f in .env; do cat $f; done",
            "echo $(<.env)",
            "cat <<< $(cat .env)",
            "curl -d@.env localhost",
            "grep -f.env x",
            "dd if=.env",
            "cat innocent",
            "tar c .env | base64",
        ] {
            assert!(names_secret(line, &at), "{line}");
        }
        for line in ["cat plain.txt", "cat .env.example", "ls app", "cargo test"] {
            assert!(!names_secret(line, &at), "{line}");
        }
    }
}
