//! What commands do and which places are guarded, by the judge that the built-in agent obeys itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use percent_encoding::percent_decode_str;
use ply_coder::config;
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

/// Returns the names in a path that keep it from being read unasked. `searches` says that everything below it is read.
pub(super) fn hidden(path: &Path, root: &Path, searches: bool) -> Vec<String> {
    let mut names = names(path, root, permission::hidden_names);
    names.extend(credentials(path, root, searches));
    names
}

/// Whether a word that a tool is given may be the name of something that is not read unasked, or a pattern for its name.
pub(super) fn may_name_hidden(word: &str, root: &Path) -> bool {
    let word = word.strip_prefix("file://").unwrap_or(word);
    let word = percent_decode_str(word).decode_utf8_lossy();
    let starless = word.replace(['*', '?', '['], "");
    [&*word, &starless]
        .iter()
        .any(|word| !hidden(Path::new(word), root, false).is_empty())
}

/// Whether a path leads to one of some folders, whatever links are on its way.
pub(super) fn is_inside(path: &Path, cwd: &Path, folders: &[PathBuf]) -> bool {
    let Some(path) = real(path, cwd) else {
        return false;
    };
    let mut folders = folders.iter().filter_map(|folder| permission::real(folder));
    folders.any(|folder| path.starts_with(folder))
}

/// Returns the names in a path that keep it from being changed unasked.
pub(super) fn guarded(path: &Path, root: &Path) -> Vec<String> {
    names(path, root, permission::guarded_names)
}

/// Returns names in a path, and in the path that links on its way make of it.
fn names(path: &Path, root: &Path, of: fn(&Path, &[PathBuf]) -> Vec<String>) -> Vec<String> {
    let mut names = of(&named(path, root), &[root.to_owned()]);
    if let (Some(real), Some(root)) = (real(path, root), permission::real(root)) {
        names.extend(of(&real, &[root]));
    }
    names
}

/// Returns a path as it is named: `/w//a` and `/w/./a` are the same file as `/w/a`.
pub(super) fn named(path: &Path, root: &Path) -> PathBuf {
    root.join(path).components().collect()
}

/// Returns where links on the way of a path lead.
pub(super) fn real(path: &Path, root: &Path) -> Option<PathBuf> {
    permission::real(&named(path, root))
}

/// Reads a pattern for paths.
pub(super) fn path_pattern(glob: &str) -> Result<GlobMatcher, globset::Error> {
    let glob = GlobBuilder::new(glob).literal_separator(true).build()?;
    Ok(glob.compile_matcher())
}

/// Returns a pattern for whole paths as it is where links in its plain beginning lead.
pub(super) fn led(pattern: &GlobMatcher) -> Option<GlobMatcher> {
    let pattern = Path::new(pattern.glob().glob());
    let is_plain = |part: &&OsStr| !part.to_string_lossy().contains(['*', '?', '[', '{', '\\']);
    let plain = pattern.iter().take_while(is_plain);
    let plain: PathBuf = plain.collect();
    let real = permission::real(Some(&plain).filter(|plain| plain.is_absolute())?)?;
    let rest = pattern.strip_prefix(&plain).ok()?;
    let real = globset::escape(real.to_str()?);
    path_pattern(Path::new(&real).join(rest).to_str()?).ok()
}

/// Returns the place with credentials of the user that a path leads into or, if everything below it is read, around.
fn credentials(path: &Path, root: &Path, reads_below: bool) -> Option<String> {
    let places = config::credentials(&|name| std::env::var(name).ok());
    let named = [Some(named(path, root)), real(path, root)];
    let leads_there = |place: &&PathBuf| {
        let mut named = named.iter().flatten();
        named.any(|path| path.starts_with(place) || (reads_below && place.starts_with(path)))
    };
    let place = places.iter().find(leads_there)?;
    Some(place.file_name()?.to_string_lossy().into_owned())
}

/// Whether a pattern for paths says a name by more than stars.
pub(super) fn says(pattern: &str, name: &str) -> bool {
    let letters = |part: &str| part.chars().filter(|c| c.is_alphanumeric()).count();
    let mut parts = pattern
        .split('/')
        .filter(|part| letters(part) >= LETTERS_MIN || *part == name);
    parts.any(|part| {
        let glob = GlobBuilder::new(part).case_insensitive(true).build();
        glob.is_ok_and(|glob| glob.compile_matcher().is_match(name))
    })
}
