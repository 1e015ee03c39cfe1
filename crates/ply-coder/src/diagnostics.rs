//! Diagnostics: what the project's own checker says about files that were just changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the checker may run unless the user says so.
pub const TIME_DEFAULT: Duration = Duration::from_secs(30);
/// How long it may run at most.
pub const TIME_MAX: Duration = Duration::from_secs(600);

/// Lines of the checker that a model is told.
const LINES_MAX: usize = 40;
/// Bytes of them.
const BYTES_MAX: usize = 8 * 1024;

/// What checks a project, by the file that says what the project is.
const CHECKERS: [(&str, &str); 4] = [
    (
        "Cargo.toml",
        "cargo check --all-targets --message-format=short --quiet",
    ),
    (
        "tsconfig.json",
        "npx --no-install tsc --noEmit --pretty false",
    ),
    ("go.mod", "go vet ./..."),
    (
        "pyproject.toml",
        "ruff check --output-format=concise --quiet",
    ),
];

/// How changed files are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostics {
    /// The command line of the checker; none to find out what the project has.
    pub command: Option<String>,
    /// How long it may run, up to [`TIME_MAX`].
    pub time: Duration,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self {
            command: None,
            time: TIME_DEFAULT,
        }
    }
}

/// Returns the command line that checks a project in a directory, if that is known.
pub(crate) fn checker(cwd: &Path) -> Option<&'static str> {
    let found = CHECKERS
        .iter()
        .find(|(manifest, _)| cwd.join(manifest).is_file());
    found.map(|(_, command)| *command)
}

/// Returns what a checker says about some files; nothing of what it says about others, which were like that before.
pub(crate) fn about(output: &str, cwd: &Path, changed: &BTreeSet<PathBuf>) -> Option<String> {
    let names: Vec<String> = changed
        .iter()
        .map(|path| path.strip_prefix(cwd).unwrap_or(path))
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let mut told = String::new();
    let mut left_out = 0;
    for (number, line) in output
        .lines()
        .filter(|line| names.iter().any(|name| begins_with_file(line, name)))
        .enumerate()
    {
        if number >= LINES_MAX || told.len() + line.len() > BYTES_MAX {
            left_out += 1;
            continue;
        }
        told.push_str(line);
        told.push('\n');
    }
    if left_out > 0 {
        told.push_str(&format!("[and {left_out} more]\n"));
    }
    (!told.is_empty()).then_some(told)
}

/// Says whether a line is about a file: it begins with its name, perhaps as an absolute path, and a place in it.
fn begins_with_file(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    let Some(at) = line.find(name) else {
        return false;
    };
    let (before, after) = line.split_at(at);
    let after = after.get(name.len()..).unwrap_or_default();
    // Whole names only, and nothing but directories before.
    let is_path = before.is_empty() || before.ends_with('/');
    is_path && !before.contains(char::is_whitespace) && after.starts_with([':', '('])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_about_changed_files_are_told() {
        let cwd = Path::new("/p");
        let changed = BTreeSet::from([cwd.join("src/a.rs"), cwd.join("b.ts")]);
        let output = "src/a.rs:1:2: error: no such name\n\
                      src/other.rs:3:4: error: old\n\
                      xsrc/a.rs:1:1: error: another file\n\
                      see src/a.rs:1:1 for more\n\
                      b.ts(3,4): error TS1: wrong\n\
                      ./b.ts:5: wrong\n\
                      /p/src/a.rs:9: wrong\n\
                      error: could not compile\n";
        insta::assert_snapshot!(about(output, cwd, &changed).unwrap(), @r"
        src/a.rs:1:2: error: no such name
        b.ts(3,4): error TS1: wrong
        ./b.ts:5: wrong
        /p/src/a.rs:9: wrong
        ");
        assert_eq!(about("fine\n", cwd, &changed), None);
    }

    #[test]
    fn what_is_told_is_bounded() {
        let changed = BTreeSet::from([PathBuf::from("/p/a")]);
        let told = about(&"a:1: x\n".repeat(1_000), Path::new("/p"), &changed);
        let told = told.unwrap();
        assert_eq!(told.lines().count(), LINES_MAX + 1);
        assert!(told.ends_with("[and 960 more]\n"), "{told}");
    }
}
