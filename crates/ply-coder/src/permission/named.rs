//! Files that a command line names, however it does: as words, in quotes, in code for another program, and
//! by patterns.
//!
//! It goes by the text alone, so a line can name a file in ways that are not seen here. What must not be read
//! at all is for the sandbox to hide.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use super::{links, place};

/// How much of a line is looked at.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// How many pieces of it are looked up.
const PIECES_MAX: usize = 2000;
/// How many entries of a directory are compared with a pattern.
const ENTRIES_MAX: usize = 10_000;

/// Says whether a line names a file of passwords. Whoever lets it run lets it read that.
pub(crate) fn names_secret(line: &str, cwd: &Path) -> bool {
    let named = files(line, cwd);
    named.iter().any(|file| place::is_secret(file))
}

/// Returns the files that a line names, and those that links among them lead to.
pub(super) fn files(line: &str, cwd: &Path) -> Vec<PathBuf> {
    let line = line
        .get(..line.floor_char_boundary(LINE_BYTES_MAX))
        .unwrap_or_default();
    // A name may be written with quotes inside, and a quoted one may be code with names inside.
    let unquoted = line.replace(['\'', '"', '\\'], "");
    let splits = |c: char| c.is_whitespace() || "'\"`;|&<>(){}=,:@$!#".contains(c);
    let pieces = line.split(splits).chain(unquoted.split(splits));
    let mut pieces: Vec<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
    pieces.sort_unstable();
    pieces.dedup();
    let mut found = Vec::new();
    for piece in pieces.into_iter().take(PIECES_MAX) {
        match piece.contains(['*', '?', '[']) {
            true => found.extend(matching(piece, cwd)),
            false => found.push(cwd.join(piece)),
        }
        // The value of an option may be glued to its letter.
        if let Some(value) = piece.strip_prefix('-').and_then(|rest| rest.get(1..)) {
            found.push(cwd.join(value));
        }
    }
    found.retain(|path| path.is_file());
    let real: Vec<_> = found.iter().filter_map(|path| links::real(path)).collect();
    found.extend(real);
    found
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
