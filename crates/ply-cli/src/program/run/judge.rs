//! What commands do and which places are guarded, by the judge that the built-in agent obeys itself.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use ply_coder::permission::{self, Mode, Permissions, Rule, Stores, Verdict};
use ply_coder::tool::Access;

/// Letters that a part of a pattern must have to name something.
const LETTERS_MIN: usize = 3;

/// Whether a command line only reads, in and below `root`, and no secret.
pub(super) fn reads_only(line: &str, here: &Path, root: &Path) -> bool {
    allows(line, here, root, Vec::new())
}

/// Whether some rules allow all of a command line that runs in `here`.
pub(super) fn allows(line: &str, here: &Path, root: &Path, rules: Vec<Rule>) -> bool {
    // Links on the way would make other folders of them.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (root, here) = (real(root), real(&root.join(here)));
    let permissions = Permissions::new(vec![root], rules, Stores::default());
    let access = Access::Shell {
        command: line.to_owned(),
        cwd: here,
    };
    permissions.decide(Mode::Ask, &[access]) == Verdict::Allow
}

/// Returns the names in a path that keep it from being read unasked.
pub(super) fn hidden(path: &Path, root: &Path) -> Vec<String> {
    names(path, root, permission::hidden_names)
}

/// Returns the names in a path that keep it from being changed unasked.
pub(super) fn guarded(path: &Path, root: &Path) -> Vec<String> {
    names(path, root, permission::guarded_names)
}

/// Returns names in a path, and in the path that links on its way make of it.
fn names(path: &Path, root: &Path, of: fn(&Path, &[PathBuf]) -> Vec<String>) -> Vec<String> {
    let as_named: PathBuf = root.join(path).components().collect();
    let mut names = of(&as_named, &[root.to_owned()]);
    // What is not there yet is in a folder that is.
    let real = as_named.canonicalize().ok().or_else(|| {
        let folder = as_named.parent()?.canonicalize().ok()?;
        Some(folder.join(as_named.file_name()?))
    });
    if let (Some(real), Ok(root)) = (real, root.canonicalize()) {
        names.extend(of(&real, &[root]));
    }
    names
}

/// Whether a pattern for paths says a name by more than stars.
pub(super) fn says(pattern: &str, name: &str) -> bool {
    let letters = |part: &str| part.chars().filter(|c| c.is_alphanumeric()).count();
    let mut parts = pattern
        .split('/')
        .filter(|part| letters(part) >= LETTERS_MIN);
    parts.any(|part| {
        let glob = GlobBuilder::new(part).case_insensitive(true).build();
        glob.is_ok_and(|glob| glob.compile_matcher().is_match(name))
    })
}
