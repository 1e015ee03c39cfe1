//! Where a path is: inside the roots or not, and whether the place is guarded.

mod tables;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use globset::{Glob, GlobSet};

use self::tables::{CODE, EXAMPLES, LAYOUT, REPOSITORIES, SECRET_FILES, SECRET_FOLDERS};
use super::glob::names;
use super::own::Own;
use super::{repository, text};

/// Where a path is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Whether it is inside a root.
    pub(super) inside: bool,
    /// Whether a root is it, or is inside it.
    pub(super) holds_root: bool,
    /// Everything about it that is guarded.
    pub(super) guards: Vec<Guard>,
}

/// Something that makes a place guarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guard {
    pub(super) kind: GuardKind,
    /// The part of the path that a rule must name.
    pub(super) name: String,
}

/// Why a place is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GuardKind {
    /// Keys, passwords, tokens.
    Secret,
    /// The agent's own settings.
    Own,
    /// The inside of a repository, where hooks and settings are.
    Repository,
    /// What makes a folder a repository.
    Layout,
    /// What shells run when they start or enter a folder.
    Shell,
    /// What editors run when they open a folder or a file.
    Editor,
    /// What other agents obey.
    Agent,
    /// What is run when something is committed.
    Hook,
    /// What compilers, package managers and debuggers run by themselves.
    Build,
    /// What build servers run.
    Server,
}

impl GuardKind {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Secret => "It looks like a secret.",
            Self::Own => "It belongs to the agent's own settings.",
            Self::Repository => {
                "It is inside a repository's own data, where git finds programs to run."
            }
            Self::Layout => {
                "Git takes a folder with this file for a repository, and runs what its settings say."
            }
            Self::Shell => "Shells run what it says when they start or enter the folder.",
            Self::Editor => "Editors run what it says when they open the folder.",
            Self::Agent => "Other agents follow what it says.",
            Self::Hook => "Git runs what it says when something is committed.",
            Self::Build => "Build tools run what it says without being asked to.",
            Self::Server => "Build servers run what it says.",
        }
    }
}

/// Says whether a path looks like one of a secret. Tools that look through many files leave these out.
///
/// Settings of git are read to find out whether they have a password or a token in them.
pub fn is_secret(path: &Path) -> bool {
    secret_name(&names(path)).is_some() || repository::is_settings_with_credentials(path)
}

/// Returns attributes by which git tells that files changed that look like secrets, and not how, and leaves them
/// out of archives.
pub(crate) fn git_attributes() -> String {
    let folders = SECRET_FOLDERS.iter();
    let folders = folders.map(|name| format!("{name}/** -diff export-ignore\n"));
    let files = SECRET_FILES.iter();
    let files = files.map(|name| format!("{name} -diff export-ignore\n"));
    let examples = EXAMPLES
        .iter()
        .map(|name| format!("{name} !diff !export-ignore\n"));
    folders.chain(files).chain(examples).collect()
}

/// Says whether a file has this name that sets variables for programs, and with them their passwords.
pub(crate) fn is_environment(name: &str) -> bool {
    let low = plain(name);
    (low == ".env" || low.starts_with(".env.")) && !EXAMPLES.contains(&low.as_str())
}

/// Returns the names in an absolute path by which a change of it is worth a question in every mode.
pub fn guarded_names(path: &Path, roots: &[PathBuf]) -> Vec<String> {
    let guards = Place::of(path, roots, &[]).guards;
    guards.into_iter().map(|guard| guard.name).collect()
}

/// Returns the names in an absolute path by which reading it is worth a question in every mode.
pub fn hidden_names(path: &Path, roots: &[PathBuf]) -> Vec<String> {
    let guards = Place::to_read(path, roots, &[]).guards;
    guards.into_iter().map(|guard| guard.name).collect()
}

impl Place {
    /// Finds out where a path is that is to be changed.
    pub(super) fn of(path: &Path, roots: &[PathBuf], own: &[Own]) -> Self {
        Self::find(path, roots, own, guards_of)
    }

    /// Finds out where a path is that is to be read: only what hides it is guarded. It is cheap enough for
    /// every file of a walk.
    pub(super) fn to_read(path: &Path, roots: &[PathBuf], own: &[Own]) -> Self {
        Self::find(path, roots, own, |_, parts| hiding(parts))
    }

    fn find(
        path: &Path,
        roots: &[PathBuf],
        own: &[Own],
        guards_of: impl Fn(&Path, &[String]) -> Vec<Guard>,
    ) -> Self {
        let relative: Vec<(&Path, &Path)> = roots
            .iter()
            .filter_map(|root| Some((root.as_path(), path.strip_prefix(root).ok()?)))
            .collect();
        let inside = !relative.is_empty();
        // A root is the user's choice; only what is below it is looked at.
        let views = match inside {
            true => relative,
            false => vec![(Path::new("/"), path)],
        };
        let mut guards: Vec<Guard> = Vec::new();
        for (root, view) in views {
            for guard in guards_of(root, &names(view)) {
                if !guards.contains(&guard) {
                    guards.push(guard);
                }
            }
        }
        let own = own.iter().filter_map(|own| own.name_in(path, roots));
        guards.extend(own.map(|name| Guard {
            kind: GuardKind::Own,
            name,
        }));
        if repository::is_settings_with_credentials(path) {
            let name = names(path).pop().unwrap_or_default();
            let kind = GuardKind::Secret;
            guards.insert(0, Guard { kind, name });
        }
        Self {
            inside,
            holds_root: roots.iter().any(|root| root.starts_with(path)),
            guards,
        }
    }
}

fn guard(kind: GuardKind, name: &str) -> Guard {
    Guard {
        kind,
        name: name.to_owned(),
    }
}

/// Returns what guards a place from being read.
fn hiding(parts: &[String]) -> Vec<Guard> {
    let secret = secret_name(parts).map(|name| guard(GuardKind::Secret, name));
    // Skills are there to be read.
    let is_skills = |place: usize| {
        parts
            .get(place + 1)
            .is_some_and(|next| plain(next) == "skills")
    };
    let own = parts.iter().enumerate();
    let own = own.filter(|(place, name)| plain(name) == ".ply" && !is_skills(*place));
    let own = own.map(|(_, name)| guard(GuardKind::Own, name));
    secret.into_iter().chain(own).collect()
}

/// Returns what guards a place from being changed.
fn guards_of(root: &Path, parts: &[String]) -> Vec<Guard> {
    let mut guards = hiding(parts);
    let low: Vec<String> = parts.iter().map(|part| plain(part)).collect();
    let mut folder = root.to_owned();
    for (place, (name, low_name)) in parts.iter().zip(&low).enumerate() {
        let is_last = place + 1 == parts.len();
        if REPOSITORIES.contains(&low_name.as_str()) {
            guards.push(guard(GuardKind::Repository, name));
        } else if (is_last && LAYOUT.contains(&low_name.as_str())) || repository::is_bare(&folder) {
            guards.push(guard(GuardKind::Layout, name));
        }
        let from_here = low.get(place..).unwrap_or_default();
        let leads = |patterns: &[&[&str]]| patterns.iter().any(|it| begins_with(from_here, it));
        if let Some((kind, _)) = CODE.iter().find(|(_, patterns)| leads(patterns)) {
            guards.push(guard(*kind, name));
        }
        if is_last && low_name == "build.rs" && is_build_script(&folder) {
            guards.push(guard(GuardKind::Build, name));
        }
        folder.push(name);
    }
    guards
}

/// Says whether cargo would run `build.rs` in a folder. Where there is no package yet, there may be one
/// later; only among the sources of one is it a module like others.
fn is_build_script(folder: &Path) -> bool {
    folder.file_name().is_none_or(|name| name != "src") || folder.join("Cargo.toml").exists()
}

/// Returns a name in small letters, without what is not seen.
fn plain(name: &str) -> String {
    let seen = name.chars().filter(|c| !text::is_deceptive(*c));
    seen.collect::<String>().to_lowercase()
}

/// Says whether names in small letters lead into a place of such names, or end on the way to it: a
/// folder that is moved to `.github` brings its workflows with it.
fn begins_with(parts: &[String], pattern: &[&str]) -> bool {
    let fits = |part: &str, wanted: &str| match (wanted.strip_prefix('*'), wanted.strip_suffix('*'))
    {
        (Some(end), _) => part.ends_with(end),
        (None, Some(begin)) => part.starts_with(begin),
        (None, None) => part == wanted,
    };
    parts
        .iter()
        .zip(pattern)
        .all(|(part, wanted)| fits(part, wanted))
}

static SECRETS: LazyLock<GlobSet> = LazyLock::new(|| {
    let mut set = GlobSet::builder();
    for pattern in SECRET_FILES {
        match Glob::new(pattern) {
            Ok(glob) => drop(set.add(glob)),
            Err(error) => tracing::error!(pattern, %error, "not a pattern"),
        }
    }
    set.build().unwrap_or_default()
});

/// Returns the part of a path that makes it look like a secret.
fn secret_name(parts: &[String]) -> Option<&str> {
    let folder = parts
        .iter()
        .find(|name| SECRET_FOLDERS.contains(&plain(name).as_str()));
    let file = parts.last().filter(|name| {
        let low = plain(name);
        !EXAMPLES.contains(&low.as_str()) && SECRETS.is_match(&low)
    });
    folder.or(file).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_a_secret_is_one() {
        assert_eq!(SECRETS.len(), SECRET_FILES.len());
    }
}
