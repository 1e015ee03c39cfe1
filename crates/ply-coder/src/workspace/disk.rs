//! Reading and changing files on disk.

use std::io::Read as _;
use std::path::Path;

use ply_roots::{Onto, Roots};

use super::{Error, READ_BYTES_MAX};

/// Reads the whole file at a real path; none if there is none.
pub(super) fn read(roots: &Roots, real: &Path) -> Result<Option<Vec<u8>>, Error> {
    let (file, stat) = match roots.find(real)?.open() {
        Err(ply_roots::Error::NotFound) => return Ok(None),
        opened => opened?,
    };
    if stat.size() > READ_BYTES_MAX {
        return Err(Error::TooLarge { bytes: stat.size() });
    }
    // It may grow while it is read.
    let mut bytes = Vec::new();
    file.take(READ_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    match size > READ_BYTES_MAX {
        true => Err(Error::TooLarge { bytes: size }),
        false => Ok(Some(bytes)),
    }
}

/// Replaces the file at a real path, which must still hold `old`, or makes it if `old` is none.
pub(super) fn replace(
    roots: &Roots,
    real: &Path,
    old: Option<&[u8]>,
    new: &[u8],
) -> Result<(), Error> {
    if read(roots, real)?.as_deref() != old {
        return Err(Error::Stale);
    }
    let onto = match old {
        None => Onto::Nothing,
        Some(_) => Onto::File,
    };
    match roots.find(real)?.write(new, onto) {
        // Someone was faster.
        Err(ply_roots::Error::Exists) if onto == Onto::Nothing => Err(Error::Stale),
        written => Ok(written?),
    }
}

/// Makes the directories above a real path.
pub(super) fn make_directories(roots: &Roots, real: &Path) -> Result<(), Error> {
    Ok(roots.find(real)?.make_directories()?)
}

/// Moves what is at one real path to another, where nothing may be.
pub(super) fn rename(roots: &Roots, from: &Path, to: &Path) -> Result<(), Error> {
    Ok(roots.find(from)?.rename(&mut roots.find(to)?)?)
}
