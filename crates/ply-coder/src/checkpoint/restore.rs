//! Puts files back as they were.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ply_roots::{Kind, Leaf, Onto, Roots};

use super::record::{Changed, Record, Was};
use super::tree::Reader;

/// Why a file cannot be put back that is too large, or that there was no room for.
const NOT_KEPT: &str = "there is no copy of it";

/// Which way a record is gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To what was before the turn.
    Back,
    /// To what was after it.
    Forth,
}

impl Way {
    /// Returns what there should be now, and what there shall be.
    fn sides(self, changed: &Changed) -> (&Was, &Was) {
        match self {
            Self::Back => (&changed.after, &changed.before),
            Self::Forth => (&changed.before, &changed.after),
        }
    }
}

/// Returns the files that somebody changed since. Those that are already as they shall be do not count.
pub(super) fn conflicts(record: &Record, way: Way, reader: Reader<'_>) -> Vec<PathBuf> {
    let kept = record.changed.iter().filter(|changed| changed.is_kept());
    let is_other = |changed: &&Changed| {
        let now = reader.look(&changed.path);
        let (expected, wanted) = way.sides(changed);
        now != *expected && now != *wanted
    };
    let others = kept.filter(is_other);
    others.map(|changed| changed.path.clone()).collect()
}

/// Puts the files of a record back. Returns those that could not be, each with the reason.
pub(super) fn restore(record: &Record, way: Way, reader: Reader<'_>) -> Vec<(PathBuf, String)> {
    let mut failed = Vec::new();
    let kept = || record.changed.iter().filter(|changed| changed.is_kept());
    // What is new goes first: it may be where a directory was.
    let goes = |changed: &&Changed| *way.sides(changed).1 == Was::Missing;
    let stays = |changed: &&Changed| !goes(changed);
    let mut put = |changed: &Changed| {
        let wanted = way.sides(changed).1;
        if reader.look(&changed.path) == *wanted {
            return;
        }
        if let Err(reason) = put_back(&changed.path, wanted, reader) {
            failed.push((changed.path.clone(), reason));
        }
    };
    let (going, coming) = match way {
        Way::Back => (&record.made, &record.removed),
        Way::Forth => (&record.removed, &record.made),
    };
    kept().filter(goes).for_each(&mut put);
    remove_directories(going, reader.roots);
    kept().filter(stays).for_each(&mut put);
    make_directories(coming, reader.roots);
    let lost = record.changed.iter().filter(|changed| !changed.is_kept());
    let why = |changed: &Changed| (changed.path.clone(), NOT_KEPT.to_owned());
    failed.extend(lost.map(why));
    failed
}

fn put_back(path: &Path, wanted: &Was, reader: Reader<'_>) -> Result<(), String> {
    let words = |error: ply_roots::Error| error.to_string();
    let mut place = reader.roots.place(path, Leaf::Keep).map_err(words)?;
    let kind = place.kind().map_err(words)?;
    match wanted {
        Was::Missing => place.remove(kind).map_err(words),
        Was::File { content, rights } => {
            let content = reader.store.get(content);
            let content = content.map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => NOT_KEPT.to_owned(),
                _ => error.to_string(),
            })?;
            let onto = match kind {
                Kind::File => Onto::File,
                Kind::Link => {
                    place.remove(kind).map_err(words)?;
                    Onto::Nothing
                }
                _ => Onto::Nothing,
            };
            place.write(&content, onto).map_err(words)?;
            place.set_rights(*rights).map_err(words)
        }
        Was::Link { target } => {
            if matches!(kind, Kind::File | Kind::Link) {
                place.remove(kind).map_err(words)?;
            }
            place.write_link(OsStr::new(target)).map_err(words)
        }
        Was::Unkept { .. } => Err(NOT_KEPT.to_owned()),
    }
}

/// Makes directories, where nothing else is.
fn make_directories(coming: &[PathBuf], roots: &Roots) {
    for path in coming {
        // What is made for a file is all that it lies in.
        let made = roots
            .place(&path.join("file"), Leaf::Keep)
            .and_then(|mut place| place.make_directories());
        if let Err(error) = made {
            tracing::debug!(%error, "a directory is not made");
        }
    }
}

/// Removes directories, the innermost first, if there is nothing in them.
fn remove_directories(going: &[PathBuf], roots: &Roots) {
    let mut going: Vec<_> = going.iter().collect();
    going.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
    for path in going {
        let removed = roots
            .place(path, Leaf::Keep)
            .and_then(|place| place.remove(Kind::Directory));
        if let Err(error) = removed {
            tracing::debug!(%error, "a directory stays");
        }
    }
}
