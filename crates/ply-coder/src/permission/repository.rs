//! What a repository or a project makes programs run that are only asked to look.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::look::{Git, Shows};
use crate::git::{self, Compared, Entry, Index, Objects, text as read};

/// Settings by which git runs programs, or reads files elsewhere, when it is only asked to show something.
const PROGRAM_SETTINGS: &[&str] = &[
    "fsmonitor",
    "sshcommand",
    "gitproxy",
    "pager",
    "hookspath",
    "alternaterefscommand",
    "external",
    "command",
    "textconv",
    "clean",
    "smudge",
    "process",
    "program",
    "difffilter",
    "worktree",
    "showsignature",
    "promisor",
    "partialclone",
    "askpass",
    "editor",
];

/// What `git lfs install --local` writes.
const LARGE_FILES: &[&str] = &[
    "clean = git-lfs clean -- %f",
    "smudge = git-lfs smudge -- %f",
    "process = git-lfs filter-process",
];

/// Why an id is asked about.
pub(super) const BY_ID: &str =
    "It shows a file by the id of its object, and no name tells whether that is a secret.";

/// The hook that `git status` and `git diff` run when they refresh the index.
const HOOK: &str = "hooks/post-index-change";

/// Returns why git is not to be run unasked in a directory, if there is a reason. Whether it shows files that
/// are not to be read is for `may_read` to say.
pub(super) fn trouble_with_git(
    here: &Path,
    git: &Git,
    may_read: impl Fn(&Path) -> bool,
) -> Option<&'static str> {
    let found = here.ancestors().find_map(|folder| match at(folder) {
        At::Nothing => None,
        found => Some((folder, found)),
    });
    let (tree, settings, own) = match found {
        // It compares any two places then.
        None if git.shows.as_ref().is_some_and(|shows| shows.changes) => {
            return Some("There is no repository here, so git reads any files that it is given.");
        }
        // Otherwise it says so and ends.
        None | Some((_, At::Nothing)) => return None,
        Some((_, At::Trap)) => {
            return Some(
                "The folder looks like a repository of its own, whose settings git obeys.",
            );
        }
        Some((tree, At::Repository { common, own })) => (tree, common, own),
    };
    let files = [settings.join("config"), own.join("config.worktree")];
    let mut sha256 = false;
    for file in files {
        let Ok(text) = read(&file) else {
            return Some("The repository's settings cannot be checked.");
        };
        if runs_programs(&text) {
            return Some("The repository's settings make git run other programs.");
        }
        sha256 |= text.to_lowercase().contains("sha256");
        if git.shows_addresses && has_credentials(&text) {
            return Some("The repository's settings have a password or token in them.");
        }
    }
    if git.enters_submodules || git.shows.is_some() {
        let Some(index) = Index::read(&own.join("index"), sha256) else {
            return Some("It cannot be checked which files the repository has.");
        };
        if git.enters_submodules && index.has_submodules() {
            return Some("The repository has submodules, whose settings git obeys, too.");
        }
        let shows_secret = |shows: &Shows| {
            let mut entries = index.entries();
            entries.any(|entry| {
                !may_read(&tree.join(entry.name)) && shows.may_show(&entry, here, tree)
            })
        };
        if git.shows.as_ref().is_some_and(shows_secret) {
            return Some("The repository has a file with secrets, which it may show.");
        }
        let by_id = |shows: &Shows| {
            let objects = Objects::new(&settings);
            let mut words = shows.commits();
            words.any(|word| !index.has_id(word) && objects.may_name_file(word))
        };
        if git.shows.as_ref().is_some_and(by_id) {
            return Some(BY_ID);
        }
    }
    let hook = settings.join(HOOK).exists();
    hook.then_some("The repository has a hook that git runs.")
}

/// Says whether a word is the id of a file in the repository around a folder, which git would show whatever the
/// file was called.
pub(super) fn is_id_of_file(here: &Path, word: &str) -> bool {
    if !git::may_be_id(word) {
        return false;
    }
    let found = here.ancestors().find_map(|folder| match at(folder) {
        At::Repository { common, .. } => Some(common),
        // Of a repository without a working tree.
        At::Trap => Some(folder.to_owned()),
        At::Nothing => None,
    });
    found.is_some_and(|common| Objects::new(&common).may_name_file(word))
}

/// Says whether a repository makes git run something, by its settings or by a hook. It is named by its own data, or
/// by the file or link in their place.
pub(crate) fn is_armed(git: &Path) -> bool {
    let data = match git.is_dir() {
        true => Some(git.to_owned()),
        false => git::named_by(git, "gitdir:"),
    };
    let Some(At::Repository { common, own }) = data.map(with_common) else {
        return true;
    };
    let mut settings = [common.join("config"), own.join("config.worktree")].into_iter();
    let hooks = fs::read_dir(common.join("hooks"));
    let mut hooks = hooks.into_iter().flatten().flatten();
    settings.any(|file| read(&file).map_or(true, |text| runs_programs(&text)))
        || hooks.any(|hook| !hook.file_name().as_encoded_bytes().ends_with(b".sample"))
}

impl Shows {
    /// Says whether git may show a tracked file, of which nothing else is known.
    fn may_show(&self, entry: &Entry<'_>, here: &Path, tree: &Path) -> bool {
        if self.operands.iter().any(|word| entry.has_id(word)) {
            return true;
        }
        if self.brief {
            return false;
        }
        let file = tree.join(entry.name);
        let plain = |word: &&String| {
            let mut parts = Path::new(word.as_str()).components();
            parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
                && here.join(word).symlink_metadata().is_ok()
        };
        let (places, others): (Vec<_>, Vec<_>) = self.places().partition(plain);
        // Without `--`, what is not there is a commit, unless it is a pattern.
        let is_commit = |word: &&String| {
            self.files.is_none() && !word.starts_with(':') && !word.contains(['*', '?', '[', '\\'])
        };
        let is_limited = !places.is_empty() && others.iter().all(is_commit);
        let is_meant = |place: &&String| {
            let place: PathBuf = here.join(place).components().collect();
            file.starts_with(place)
        };
        let meant = !is_limited || places.iter().any(is_meant);
        // Without a commit among the words, only what was changed is shown.
        let only_places = is_limited && places.len() == self.operands.len();
        let of_changes = self.changes && (self.operands.is_empty() || only_places);
        meant && !(of_changes && entry.compare(tree) == Compared::Same)
    }
}

/// Returns why a program is not to be asked for its version unasked, if a file of the project chooses
/// which program that is.
pub(super) fn trouble_with_toolchain(here: &Path) -> Option<&'static str> {
    const FILES: &[&str] = &[
        "rust-toolchain",
        "rust-toolchain.toml",
        ".tool-versions",
        "mise.toml",
        ".mise.toml",
        ".mise/config.toml",
        ".config/mise.toml",
    ];
    let chooses = |file: PathBuf| read(&file).is_ok_and(|text| text.contains("path"));
    let mut folders = here.ancestors();
    folders
        .any(|folder| FILES.iter().any(|name| chooses(folder.join(name))))
        .then_some("A file of the project chooses which program that is.")
}

/// Says whether a folder is laid out as git's own data are, so that git takes it for a repository.
pub(crate) fn is_bare(folder: &Path) -> bool {
    let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
    is_there("HEAD") && (is_there("commondir") || (is_there("objects") && is_there("refs")))
}

/// Says whether git finds another repository in `here` than in `root`, which is above it.
pub(super) fn differs_below(root: &Path, here: &Path) -> bool {
    let below = here.ancestors().take_while(|folder| *folder != root);
    let mut below = below.filter(|folder| folder.starts_with(root));
    below.any(|folder| folder.join(".git").symlink_metadata().is_ok() || is_bare(folder))
}

/// Says whether a file of git's settings has a password or a token in it.
pub(super) fn is_settings_with_credentials(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let in_git = || path.components().any(|part| part.as_os_str() == ".git");
    let settings = match name {
        Some("config" | "config.worktree" | "FETCH_HEAD") => in_git(),
        Some(".gitconfig" | ".gitmodules") => true,
        _ => false,
    };
    // One that cannot be read now may be one later.
    settings && read(path).map_or(path.exists(), |text| has_credentials(&text))
}

/// What git finds in a folder.
enum At {
    Nothing,
    Repository { common: PathBuf, own: PathBuf },
    Trap,
}

fn at(folder: &Path) -> At {
    let own = folder.join(".git");
    match own.symlink_metadata() {
        Ok(facts) if facts.is_dir() => with_common(own),
        Ok(facts) if facts.is_file() => git::data_of(folder).map_or(At::Trap, with_common),
        Ok(_) => At::Trap,
        Err(_) if is_bare(folder) => At::Trap,
        Err(_) => At::Nothing,
    }
}

/// Finds the data that several working trees share. Git looks for the file that names them in every
/// repository, also in one that has no further working trees.
fn with_common(own: PathBuf) -> At {
    match read(&own.join("commondir")) {
        Ok(text) if text.is_empty() => At::Repository {
            common: own.clone(),
            own,
        },
        Ok(text) => At::Repository {
            common: own.join(text.trim()),
            own,
        },
        Err(_) => At::Trap,
    }
}

fn runs_programs(settings: &str) -> bool {
    settings
        .lines()
        .map(|line| line.trim().to_lowercase())
        .filter(|line| !LARGE_FILES.contains(&line.as_str()))
        .any(|line| {
            let parts = |c: char| c.is_whitespace() || matches!(c, ']' | '=');
            // Each setting of a pager is a program, or none.
            ["[include", "[pager"]
                .iter()
                .any(|section| line.contains(section))
                || line
                    .split(parts)
                    .any(|word| PROGRAM_SETTINGS.contains(&word))
        })
}

/// Returns settings without the lines that have a password or a token in them, if there are some.
pub(crate) fn without_credentials(path: &Path) -> Option<String> {
    let text = read(path).ok().filter(|text| has_credentials(text))?;
    let plain = text.lines().filter(|line| !has_credentials(line));
    Some(plain.flat_map(|line| [line, "\n"]).collect())
}

fn has_credentials(settings: &str) -> bool {
    settings.lines().any(|line| {
        let low = line.to_lowercase();
        let named = ["extraheader", "password", "token"]
            .iter()
            .any(|word| low.contains(word));
        named || line.split("://").skip(1).any(has_user)
    })
}

/// Says whether an address names a user, other than the one that everybody is on a server.
fn has_user(rest: &str) -> bool {
    let authority = rest
        .split(|c: char| c == '/' || c == '"' || c.is_whitespace())
        .next()
        .unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((user, _)) => user != "git",
        None => false,
    }
}

#[cfg(test)]
mod tests;
