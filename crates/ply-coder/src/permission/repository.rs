//! What a repository or a project makes programs run that are only asked to look.

use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use super::look::{Git, Shows};
use super::tracked::Index;

/// How much of a settings file is read; a longer one is not trusted.
const SETTINGS_BYTES_MAX: u64 = 256 * 1024;

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
    }
    let hook = settings.join(HOOK).exists();
    hook.then_some("The repository has a hook that git runs.")
}

/// Returns what is to be known of a repository in a folder before git is run there, if there is something.
pub(crate) fn trouble_with_repository(folder: &Path) -> Option<&'static str> {
    trouble_with_git(folder, &Git::default(), |_| true)
}

impl Shows {
    /// Says whether git may show a tracked file, of which nothing else is known.
    fn may_show(&self, entry: &super::tracked::Entry<'_>, here: &Path, tree: &Path) -> bool {
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
        meant && !(of_changes && entry.is_unchanged(tree))
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
        Ok(facts) if facts.is_file() => worktree(folder, &own).unwrap_or(At::Trap),
        Ok(_) => At::Trap,
        Err(_) if is_bare(folder) => At::Trap,
        Err(_) => At::Nothing,
    }
}

/// Follows the file that stands for the data of a worktree or a submodule.
fn worktree(folder: &Path, file: &Path) -> Option<At> {
    let text = read(file).ok()?;
    let own = folder.join(text.strip_prefix("gitdir:")?.trim());
    own.is_dir().then(|| with_common(own))
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

/// Reads a small file; one that is not there is empty.
fn read(path: &Path) -> std::io::Result<String> {
    let facts = match fs::metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
    };
    // A pipe would never end.
    if !facts.is_file() || facts.len() > SETTINGS_BYTES_MAX {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let mut text = String::new();
    let file = fs::File::open(path)?;
    file.take(SETTINGS_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn runs_programs(settings: &str) -> bool {
    settings
        .lines()
        .map(|line| line.trim().to_lowercase())
        .filter(|line| !LARGE_FILES.contains(&line.as_str()))
        .any(|line| {
            let parts = |c: char| c.is_whitespace() || matches!(c, ']' | '=');
            line.contains("[include")
                || line
                    .split(parts)
                    .any(|word| PROGRAM_SETTINGS.contains(&word))
        })
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
