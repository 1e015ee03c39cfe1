//! Deleting files and directories.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::tree::{Show, Walk};
use super::{Error, Inner, Kind, Spot, Walked, Workspace};

/// Entries that one call deletes.
pub(crate) const DELETE_ENTRIES_MAX: usize = 1000;

/// Something that a call would delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doomed {
    /// Its path from the place that the call names; empty for that place itself.
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

impl Workspace {
    /// Returns everything that deleting `spot` means, what is in a directory before the directory.
    pub(crate) async fn doomed(&self, spot: &Spot) -> Result<Vec<Doomed>, Error> {
        let spot = spot.clone();
        self.blocking(move |inner| doomed(inner, &spot)).await
    }

    /// Deletes `spot`, which must mean exactly what it meant.
    pub(crate) async fn remove(&self, spot: &Spot, announced: Vec<Doomed>) -> Result<(), Error> {
        let spot = spot.clone();
        self.blocking(move |inner| {
            if doomed(inner, &spot)? != announced {
                return Err(Error::Moved);
            }
            let removed = remove(inner, &spot, &announced);
            inner.seen().forget(&spot.real);
            removed
        })
        .await
    }
}

fn doomed(inner: &Inner, spot: &Spot) -> Result<Vec<Doomed>, Error> {
    if inner.holds_root(&spot.real) {
        return Err(Error::IsARoot);
    }
    let mut doomed = Vec::new();
    let kind = inner.roots.find(&spot.real)?.kind()?;
    if kind == Kind::Missing {
        return Err(Error::NotFound);
    }
    if kind == Kind::Directory {
        let walked = inner.walk(spot, every(&AtomicBool::new(false)), &mut |entry| {
            doomed.push(Doomed {
                path: entry.path.to_owned(),
                kind: entry.kind,
            });
            Ok(match doomed.len() >= DELETE_ENTRIES_MAX {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })?;
        if walked != Walked::Whole {
            return Err(Error::TooMany {
                limit: DELETE_ENTRIES_MAX,
            });
        }
    }
    if kind == Kind::Special || doomed.iter().any(|doomed| doomed.kind == Kind::Special) {
        return Err(Error::Special);
    }
    let path = PathBuf::new();
    doomed.push(Doomed { path, kind });
    Ok(doomed)
}

/// Removes what was announced. Something that was put in meanwhile stays, and its directory with it.
fn remove(inner: &Inner, spot: &Spot, announced: &[Doomed]) -> Result<(), Error> {
    let place = inner.roots.find(&spot.real)?;
    let kind = place.kind()?;
    if kind == Kind::Directory {
        let announced: HashSet<_> = announced
            .iter()
            .map(|doomed| (doomed.path.as_path(), doomed.kind))
            .collect();
        inner.walk(spot, every(&AtomicBool::new(false)), &mut |entry| {
            if announced.contains(&(entry.path, entry.kind)) {
                entry.remove()?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(place.remove(kind)?)
}

fn every(stop: &AtomicBool) -> Walk<'_> {
    Walk {
        show: Show::All,
        depth: usize::MAX,
        contents_first: true,
        stop,
    }
}

impl Doomed {
    /// Returns where it is, given the place that the call names.
    pub(crate) fn beneath(&self, place: &Path) -> PathBuf {
        match self.path.as_os_str().is_empty() {
            true => place.to_owned(),
            false => place.join(&self.path),
        }
    }
}
