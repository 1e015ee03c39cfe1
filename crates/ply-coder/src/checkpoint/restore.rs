//! Puts files back as they were.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ply_roots::{Kind, Leaf, Onto, Roots};

use super::record::{Changed, Record, Was};
use super::tree::Reader;

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
    kept().filter(goes).for_each(&mut put);
    if way == Way::Back {
        remove_directories(&record.made, reader.roots);
    }
    kept().filter(stays).for_each(&mut put);
    let lost = record.changed.iter().filter(|changed| !changed.is_kept());
    let too_large = |changed: &Changed| (changed.path.clone(), "it was not kept".to_owned());
    failed.extend(lost.map(too_large));
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
            let content = content.map_err(|error| error.to_string())?;
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
        Was::Unkept { .. } => Err("it was not kept".to_owned()),
    }
}

/// Removes directories that a turn made, the innermost first, if there is nothing in them.
fn remove_directories(made: &[PathBuf], roots: &Roots) {
    let mut made: Vec<_> = made.iter().collect();
    made.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
    for path in made {
        let removed = roots
            .place(path, Leaf::Keep)
            .and_then(|place| place.remove(Kind::Directory));
        if let Err(error) = removed {
            tracing::debug!(%error, "a directory stays");
        }
    }
}
