//! What files are like at a moment: one that is named, or all that are not ignored.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ply_roots::{Kind, Leaf, Roots};
use tokio::time::Instant;

use super::record::Was;
use super::store::{Store, now};

/// Bytes of a file that is kept.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Files that a walk keeps.
const FILES_MAX: usize = 50_000;
/// Bytes that a walk keeps.
const TREE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// How long a walk may take.
const TIME_MAX: Duration = Duration::from_secs(10);
/// How finely a file system may tell times: what changed less than this before it was read may change again unseen.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// Files that are known, so that only those which changed are read again.
pub(super) type Known = HashMap<PathBuf, (Mark, Was)>;

/// A file by its device and number, whatever it is called.
pub(super) type FileId = (u64, u64);

/// Why not all files are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// There are too many, now and later.
    #[error("there are more than {FILES_MAX} files or {} MiB", TREE_BYTES_MAX >> 20)]
    TooLarge,
    /// There was not enough time.
    #[error("reading the files for the first time takes too long; that goes on with the next turn")]
    Slow,
}

/// A file that was written, made or moved here since the moment that was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fresh {
    /// It was made since, or nobody knows.
    Born,
    /// It is older.
    Older(FileId),
}

/// What tells that a file is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    file: FileId,
    bytes: u64,
    rights: u32,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Mark {
    fn of(stat: &std::fs::Metadata) -> Self {
        Self {
            file: (stat.dev(), stat.ino()),
            bytes: stat.size(),
            rights: stat.mode(),
            modified: (stat.mtime(), stat.mtime_nsec()),
            changed: (stat.ctime(), stat.ctime_nsec()),
        }
    }

    /// Says whether the file was written, made or moved here after a moment.
    fn is_after(&self, moment: SystemTime) -> bool {
        let moment = a_tick_before(moment);
        let since = moment.duration_since(SystemTime::UNIX_EPOCH);
        let since = since.unwrap_or_default();
        let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        self.changed >= (seconds, i64::from(since.subsec_nanos()))
    }
}

fn a_tick_before(moment: SystemTime) -> SystemTime {
    moment.checked_sub(TICK).unwrap_or(moment)
}

/// All files that are not ignored.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: BTreeMap<PathBuf, Was>,
    pub(super) directories: BTreeSet<PathBuf>,
    pub(super) fresh: BTreeMap<PathBuf, Fresh>,
    ids: HashSet<FileId>,
}

impl Tree {
    /// Says whether a file was in it, wherever that was.
    pub(super) fn has(&self, file: FileId) -> bool {
        self.ids.contains(&file)
    }
}

/// How files are read and kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'r> {
    pub(super) roots: &'r Roots,
    pub(super) store: &'r Store,
}

impl Reader<'_> {
    /// Returns what is at a path now, and keeps it.
    pub(super) fn look(&self, path: &Path) -> Was {
        let place = match self.roots.place(path, Leaf::Keep) {
            Ok(place) => place,
            Err(_) => return Was::Missing,
        };
        match place.kind() {
            Ok(Kind::File) => {}
            Ok(Kind::Link) => {
                let target = place.target().ok().flatten();
                let target = target.and_then(|target| target.into_string().ok());
                return target.map_or(nothing_kept(), |target| Was::Link { target });
            }
            // Files make directories, and go before them.
            Ok(Kind::Missing | Kind::Directory) => return Was::Missing,
            Ok(Kind::Special) | Err(_) => return nothing_kept(),
        }
        let read = || {
            let (file, _) = place.open().ok()?;
            let stat = file.metadata().ok()?;
            if stat.size() > FILE_BYTES_MAX {
                return Some(unkept(&Mark::of(&stat)));
            }
            let mut content = Vec::with_capacity(usize::try_from(stat.size()).unwrap_or(0) + 1);
            file.take(FILE_BYTES_MAX).read_to_end(&mut content).ok()?;
            let rights = stat.mode() & 0o7777;
            match self.store.put(&content) {
                Ok(content) => Some(Was::File { content, rights }),
                // That it changes is recorded all the same, so the user hears of it.
                Err(error) => {
                    tracing::warn!(%error, "a file cannot be kept");
                    Some(unkept(&Mark::of(&stat)))
                }
            }
        };
        read().unwrap_or_else(nothing_kept)
    }

    /// Returns all files below directories, without those that are ignored if that is wanted.
    ///
    /// # Errors
    ///
    /// There are too many of them; says so.
    pub(super) fn walk(
        &self,
        below: &[&Path],
        all: bool,
        since: SystemTime,
        known: &mut Known,
    ) -> Result<Tree, Trouble> {
        let deadline = Instant::now() + TIME_MAX;
        let mut tree = Tree::default();
        let mut found = Vec::new();
        let mut bytes = 0_u64;
        for entry in entries(below, all) {
            let (path, Ok(stat)) = (entry.path(), entry.metadata()) else {
                continue;
            };
            if path.to_str().is_none() {
                // It has no name that a record could have.
                continue;
            }
            if stat.is_dir() {
                tree.directories.insert(path.to_owned());
                continue;
            }
            let mark = Mark::of(&stat);
            if mark.bytes <= FILE_BYTES_MAX && stat.is_file() {
                bytes += mark.bytes;
            }
            tree.ids.insert(mark.file);
            if mark.is_after(since) {
                // Not every file system knows when a file was made.
                let made = stat.created().ok();
                let is_older = made.is_some_and(|made| made < a_tick_before(since));
                let fresh = match is_older {
                    true => Fresh::Older(mark.file),
                    false => Fresh::Born,
                };
                tree.fresh.insert(path.to_owned(), fresh);
            }
            found.push((entry.into_path(), mark));
            // Nothing is read before it is known that all of it can be.
            let too_many = found.len() > FILES_MAX || bytes > TREE_BYTES_MAX;
            // To find them is what every turn has to do.
            if too_many || Instant::now() > deadline {
                return Err(Trouble::TooLarge);
            }
        }
        for (path, mark) in found {
            if Instant::now() > deadline {
                return Err(Trouble::Slow);
            }
            let was = match known.get(&path) {
                Some((as_known, was)) if *as_known == mark => was.clone(),
                _ => {
                    let looked = now();
                    let was = self.look(&path);
                    let is_lost = was == unkept(&mark) && mark.bytes <= FILE_BYTES_MAX;
                    match is_lost || mark.is_after(looked) {
                        true => known.remove(&path),
                        false => known.insert(path.clone(), (mark, was.clone())),
                    };
                    was
                }
            };
            tree.files.insert(path, was);
        }
        Ok(tree)
    }
}

fn entries(below: &[&Path], all: bool) -> impl Iterator<Item = ignore::DirEntry> {
    let mut walk = ignore::WalkBuilder::new(below.first().unwrap_or(&Path::new("/nothing")));
    for more in below.iter().skip(1) {
        walk.add(more);
    }
    walk.standard_filters(!all)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        // The user's repository is theirs.
        .filter_entry(|entry| entry.file_name() != ".git");
    walk.build().flatten()
}

fn unkept(mark: &Mark) -> Was {
    Was::Unkept {
        bytes: mark.bytes,
        modified: mark.modified,
    }
}

fn nothing_kept() -> Was {
    Was::Unkept {
        bytes: 0,
        modified: (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_walk_leaves_out_what_is_ignored_and_reads_what_changed() {
        let (place, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("target")).unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        for (name, text) in [
            (".gitignore", "target\n"),
            ("target/x", "built"),
            (".git/HEAD", "ref"),
            ("a", "one"),
            (".hidden", "two"),
        ] {
            fs::write(root.join(name), text).unwrap();
        }
        std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
        let roots = Roots::open([root.clone()]).unwrap();
        let store = Store::new(kept.path(), "s");
        let reader = Reader {
            roots: &roots,
            store: &store,
        };
        let mut known = Known::new();
        let now = now();
        let first = reader.walk(&[&root], false, now, &mut known).unwrap();
        let names: Vec<_> = first
            .files
            .keys()
            .map(|path| path.strip_prefix(&root))
            .collect();
        assert_eq!(
            names,
            [".gitignore", ".hidden", "a", "link"].map(|name| Ok(Path::new(name)))
        );
        let link = Was::Link {
            target: "/etc".to_owned(),
        };
        assert_eq!(first.files[&root.join("link")], link);
        fs::write(root.join("a"), "six").unwrap();
        let second = reader.walk(&[&root], false, now, &mut known).unwrap();
        assert_ne!(second.files[&root.join("a")], first.files[&root.join("a")]);
        assert_eq!(second.files[&root.join("link")], link);
        let all = reader.walk(&[&root], true, now, &mut known).unwrap();
        assert!(all.files.contains_key(&root.join("target/x")));
    }
}
