//! Going through a directory and everything below it.
//!
//! Each directory is opened through the one that holds it and never through a link, and so are the
//! files that say what git ignores: a tree that changes meanwhile cannot lead elsewhere, and a pipe
//! named `.gitignore` cannot hold anybody up. Walkers that go by path promise neither.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ply_roots::{Directory, Kind, Roots, Stat};

use super::{Error, WALK_DEPTH_MAX, WALK_ENTRIES_MAX};

/// Files with patterns of what is left out, the weaker first.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// Bytes read of one of them.
const IGNORE_BYTES_MAX: u64 = 256 * 1024;
/// Patterns of one walk; compiling them takes longer than reading them. Those that come later leave
/// nothing out.
const PATTERNS_MAX: usize = 50_000;

/// Which entries a walk shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// Those that git would not ignore, without `.git` itself.
    Kept,
    /// All of them.
    All,
}

/// How a walk went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walked {
    /// To the end.
    Whole,
    /// Until there were too many entries, or some lay too deep.
    Cut,
    /// Until the visitor had enough, or it was told to stop.
    Stopped,
}

/// Something below the directory where a walk began.
#[derive(Debug)]
pub(crate) struct Entry<'w> {
    /// Its path from there.
    pub(crate) path: &'w Path,
    pub(crate) kind: Kind,
    pub(crate) stat: &'w Stat,
    directory: &'w Directory,
    name: &'w OsStr,
}

impl Entry<'_> {
    /// Opens it, which must be a regular file.
    pub(crate) fn open(&self) -> Result<(std::fs::File, Stat), Error> {
        Ok(self.directory.open_file(self.name)?)
    }

    /// Removes it, which must not be a directory with something in it.
    pub(super) fn remove(&self) -> Result<(), Error> {
        Ok(self.directory.remove(self.name, self.kind)?)
    }
}

/// How to walk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk<'w> {
    pub(crate) show: Show,
    /// How deep to go; 1 shows only what is in the directory itself.
    pub(crate) depth: usize,
    /// Whether directories come after what is in them.
    pub(crate) contents_first: bool,
    /// Set when nobody waits for the result any more.
    pub(crate) stop: &'w AtomicBool,
}

type Visit<'v> = dyn FnMut(&Entry<'_>) -> Result<ControlFlow<()>, Error> + 'v;

/// Shows everything below the directory at a real path, in the order of names.
pub(super) fn walk(
    roots: &Roots,
    real: &Path,
    walk: Walk<'_>,
    visit: &mut Visit<'_>,
) -> Result<Walked, Error> {
    let directory = roots.find_directory(real)?;
    let mut walker = Walker {
        walk,
        visit,
        ignores: Vec::new(),
        left: WALK_ENTRIES_MAX,
        patterns_left: PATTERNS_MAX,
        cut: false,
    };
    if walk.show == Show::Kept {
        walker.learn_above(roots, real);
    }
    let flow = walker.enter(&directory, real, Path::new(""), 1)?;
    Ok(match flow {
        ControlFlow::Break(()) => Walked::Stopped,
        ControlFlow::Continue(()) if walker.cut => Walked::Cut,
        ControlFlow::Continue(()) => Walked::Whole,
    })
}

struct Walker<'w, 'v> {
    walk: Walk<'w>,
    visit: &'w mut Visit<'v>,
    /// What is left out, the outermost directory first.
    ignores: Vec<Gitignore>,
    left: usize,
    patterns_left: usize,
    cut: bool,
}

impl Walker<'_, '_> {
    /// Reads what the directories between the root and the beginning leave out.
    fn learn_above(&mut self, roots: &Roots, real: &Path) {
        let Some(root) = roots.root_of(real) else {
            return;
        };
        let above = real.ancestors().skip(1);
        let mut above: Vec<_> = above.take_while(|path| path.starts_with(root)).collect();
        above.reverse();
        for path in above {
            // One that cannot be opened leaves nothing out.
            if let Ok(directory) = roots.find_directory(path) {
                self.learn(&directory, path);
            }
        }
    }

    /// Reads what a directory leaves out, and returns how many files said so.
    fn learn(&mut self, directory: &Directory, real: &Path) -> usize {
        let mut learnt = 0;
        for name in IGNORE_FILES {
            let Ok((file, _)) = directory.open_file(OsStr::new(name)) else {
                continue;
            };
            let mut bytes = Vec::new();
            if file.take(IGNORE_BYTES_MAX).read_to_end(&mut bytes).is_err() {
                continue;
            }
            let mut builder = GitignoreBuilder::new(real);
            let text = String::from_utf8_lossy(&bytes);
            for line in text.lines().take(self.patterns_left) {
                // A pattern that makes no sense leaves nothing out, as in git.
                drop(builder.add_line(None, line));
            }
            self.patterns_left -= text.lines().take(self.patterns_left).count();
            if let Ok(ignore) = builder.build() {
                self.ignores.push(ignore);
                learnt += 1;
            }
        }
        learnt
    }

    fn is_ignored(&self, path: &Path, name: &OsStr, kind: Kind) -> bool {
        if name == ".git" {
            return true;
        }
        let is_directory = kind == Kind::Directory;
        let matches = self.ignores.iter().rev();
        let decided = matches
            .map(|ignore| ignore.matched(path, is_directory))
            .find(|matched| !matched.is_none());
        decided.is_some_and(|matched| matched.is_ignore())
    }

    fn enter(
        &mut self,
        directory: &Directory,
        real: &Path,
        path: &Path,
        depth: usize,
    ) -> Result<ControlFlow<()>, Error> {
        let learnt = match self.walk.show {
            Show::Kept => self.learn(directory, real),
            Show::All => 0,
        };
        let flow = self.entries(directory, real, path, depth);
        let kept = self.ignores.len().saturating_sub(learnt);
        self.ignores.truncate(kept);
        flow
    }

    fn entries(
        &mut self,
        directory: &Directory,
        real: &Path,
        path: &Path,
        depth: usize,
    ) -> Result<ControlFlow<()>, Error> {
        for name in self.names(directory, depth)? {
            if self.walk.stop.load(Ordering::Relaxed) {
                return Ok(ControlFlow::Break(()));
            }
            // It went away, or nobody may look at it.
            let Ok(Some(stat)) = directory.look(&name) else {
                continue;
            };
            let kind = stat.kind();
            let here = real.join(&name);
            if self.walk.show == Show::Kept && self.is_ignored(&here, &name, kind) {
                continue;
            }
            let path = path.join(&name);
            let entry = Entry {
                path: &path,
                kind,
                stat: &stat,
                directory,
                name: &name,
            };
            if !self.walk.contents_first && (self.visit)(&entry)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if kind == Kind::Directory && self.descend(&entry, &here, depth)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if self.walk.contents_first && (self.visit)(&entry)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn descend(
        &mut self,
        entry: &Entry<'_>,
        real: &Path,
        depth: usize,
    ) -> Result<ControlFlow<()>, Error> {
        if depth >= self.walk.depth {
            return Ok(ControlFlow::Continue(()));
        }
        if depth >= WALK_DEPTH_MAX {
            self.cut = true;
            return Ok(ControlFlow::Continue(()));
        }
        match entry.directory.enter(entry.name) {
            Ok(directory) => self.enter(&directory, real, entry.path, depth + 1),
            // It became something else, or nobody may look into it.
            Err(_) => Ok(ControlFlow::Continue(())),
        }
    }

    /// Returns the names in a directory, sorted.
    fn names(&mut self, directory: &Directory, depth: usize) -> Result<Vec<OsString>, Error> {
        let (mut names, whole) = match directory.names(self.left) {
            Ok(listed) => listed,
            Err(error) if depth == 1 => return Err(error.into()),
            Err(error) => {
                tracing::debug!(%error, "a directory cannot be listed");
                return Ok(Vec::new());
            }
        };
        self.cut |= !whole;
        self.left -= names.len();
        names.sort();
        Ok(names)
    }
}
