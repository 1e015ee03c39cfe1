//! Instructions that people write for agents: `AGENTS.md` of the project and the user, and the files it names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::{Files, Levels};
use super::instructions::place;
use crate::{Config, text};

/// Bytes that are read from one file.
const FILE_BYTES_MAX: usize = 32 * 1024;
/// Bytes of the instructions of the project in all, and as many of the user's.
const ALL_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the instructions of directories that one call may add.
const NOTE_BYTES_MAX: usize = 32 * 1024;
/// The files that hold instructions, in the order in which they are looked for.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// How far files may lead from one to the next.
const LINKS_DEPTH_MAX: usize = 5;
/// How many files are read because others name them.
const LINKED_MAX: usize = 50;
/// How many directories of a session are looked at for instructions of their own.
const LOOKED_MAX: usize = 10_000;
/// Directories with other people's projects, which have no say in this one.
const FOREIGN: [&str; 6] = [
    ".git",
    ".venv",
    "node_modules",
    "site-packages",
    "target",
    "vendor",
];

/// The instructions of a project and its user, and where they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Project {
    /// Those of the project.
    pub(crate) text: Option<String>,
    /// Those of the user.
    pub(crate) user: Option<String>,
    /// The root of the repository, if the directory is in one.
    pub(crate) repository: Option<PathBuf>,
}

/// Reads the instructions: from the root of the repository down to the working directory, and the user's.
pub(crate) fn read(cwd: &Path, config: &Config) -> Project {
    let levels = Levels::find(cwd);
    let files = levels.root().map(Files::of_project);
    let mut reader = Reader::new(files.unwrap_or(Files::User), ALL_BYTES_MAX);
    // The innermost ones are the most specific, so they are the last to be cut.
    let levels_read = levels.directories.iter();
    let texts: Vec<_> = levels_read
        .filter_map(|level| reader.first(level))
        .collect();
    let texts: String = texts.into_iter().rev().collect();
    Project {
        text: (!texts.is_empty()).then_some(texts),
        user: of_user(config),
        repository: levels.repository,
    }
}

/// Returns the user's instructions: those of the configuration, and those of a file.
fn of_user(config: &Config) -> Option<String> {
    let mut reader = Reader::new(Files::User, ALL_BYTES_MAX);
    let file = config.instructions_file.as_deref();
    let file = file.and_then(|path| reader.file(path, 0));
    let given = config.instructions.as_deref().map(str::trim);
    let both: Vec<&str> = given.into_iter().chain(file.as_deref()).collect();
    (!both.is_empty()).then(|| both.join("\n"))
}

/// Reads files and what they name, each once.
struct Reader {
    files: Files,
    /// Bytes that may still be read.
    room: usize,
    /// What was read, without links.
    seen: BTreeSet<PathBuf>,
}

impl Reader {
    fn new(files: Files, room: usize) -> Self {
        Self {
            files,
            room,
            seen: BTreeSet::new(),
        }
    }

    /// Reads the instructions of a directory.
    fn first(&mut self, directory: &Path) -> Option<String> {
        let mut names = NAMES.iter();
        names.find_map(|name| self.file(&directory.join(name), 0))
    }

    /// Reads a file, and after it those that it names.
    fn file(&mut self, path: &Path, depth: usize) -> Option<String> {
        let (real, found) = self.files.read(path, FILE_BYTES_MAX)?;
        let kept = text::head(found.trim(), self.room).to_owned();
        if kept.is_empty() || kept.contains('\0') || !self.seen.insert(real) {
            return None;
        }
        self.room -= kept.len();
        let mut all = format!("\n# {}\n{kept}\n", place(path));
        if depth < LINKS_DEPTH_MAX {
            let directory = path.parent().unwrap_or(Path::new("/"));
            for link in links(&kept) {
                if self.seen.len() > LINKED_MAX {
                    break;
                }
                all.extend(self.file(&directory.join(link), depth + 1));
            }
        }
        Some(all)
    }
}

/// Returns the relative paths that a text names with `@`, such as `@docs/style.md`. Code is an example of something,
/// and whoever is mentioned by name is no file.
fn links(text: &str) -> Vec<&str> {
    let mut links = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let words = line.split_whitespace();
        let named = words.filter_map(|word| word.strip_prefix('@'));
        let named = named.map(|path| path.trim_end_matches(['.', ',', ';', ':', ')', '!', '?']));
        links.extend(named.filter(|path| !path.is_empty() && Path::new(path).is_relative()));
    }
    links
}

/// Directories below the session's own whose instructions a model is told when it comes there.
#[derive(Debug, Default)]
pub(crate) struct Nested {
    /// Those that were looked at.
    looked: BTreeSet<PathBuf>,
}

impl Nested {
    /// Returns the instructions of the directories that some paths are in, if they are new. The paths are absolute
    /// and in the working directory or in one of the `additional`.
    pub(crate) fn find(
        &mut self,
        cwd: &Path,
        additional: &[PathBuf],
        paths: &[PathBuf],
    ) -> Option<String> {
        let mut found = String::new();
        let mut room = NOTE_BYTES_MAX;
        for path in paths {
            let roots = std::iter::once(cwd).chain(additional.iter().map(PathBuf::as_path));
            let within = roots.filter(|root| path.starts_with(root));
            let Some(root) = within.max_by_key(|root| root.components().count()) else {
                continue;
            };
            let inside = path.strip_prefix(root).unwrap_or(path);
            let is_foreign = |name: &str| inside.iter().any(|part| part == name);
            if FOREIGN.into_iter().any(is_foreign) {
                continue;
            }
            let directory = match path.is_dir() {
                true => path,
                false => path.parent().unwrap_or(path),
            };
            let directories = directory.ancestors();
            let directories = directories.take_while(|level| level.starts_with(root));
            let new = directories.filter(|level| !self.looked.contains(*level));
            let new: Vec<&Path> = new.collect();
            if new.is_empty() || self.looked.len() + new.len() > LOOKED_MAX {
                continue;
            }
            // Those of the working directory and above are among the instructions of the session.
            let levels = Levels::find(cwd);
            let project = match root == cwd {
                true => levels.root().unwrap_or(root),
                false => root,
            };
            let mut reader = Reader::new(Files::of_project(project), room);
            for level in new.into_iter().rev() {
                self.looked.insert(level.to_path_buf());
                let is_told = levels.directories.iter().any(|told| told == level);
                // The model has before it what it reads by itself.
                let is_read = NAMES.iter().any(|name| level.join(name) == *path);
                if !is_told && !is_read {
                    found.extend(reader.first(level));
                }
            }
            room = reader.room;
        }
        (!found.is_empty()).then_some(found)
    }

    /// Forgets what was told, so that it is told again.
    pub(crate) fn forget(&mut self) {
        self.looked.clear();
    }
}

#[cfg(test)]
mod tests;
