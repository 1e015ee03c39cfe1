//! Reading lines of a file without ever waiting for one that is no file.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use ply_roots::{Error, Leaf, RACES_MAX, Roots};

use super::{Buffers, READ_BYTES_MAX, Refusal};

/// Bytes read from the disk at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Returns the lines asked for, from the editor if it has unsaved ones.
pub(super) fn read(
    roots: &Roots,
    path: &Path,
    buffers: Option<&dyn Buffers>,
    line: Option<u32>,
    limit: Option<u32>,
) -> Result<String, Refusal> {
    let skip = line.unwrap_or(1).checked_sub(1).ok_or(Refusal::LineZero)?;
    let (file, real) = match open(roots, path) {
        Ok((file, real)) => (Ok(file), real),
        // An editor may have a file that was never saved; with `..` after a missing name, nobody can say where it would be.
        Err(Refusal::NotFound) if !path.components().any(|part| part == Component::ParentDir) => {
            (Err(Refusal::NotFound), None)
        }
        Err(refusal) => return Err(refusal),
    };
    let unsaved = buffers.and_then(|buffers| {
        let real = real.as_deref().and_then(|real| buffers.read(real));
        real.or_else(|| buffers.read(path))
    });
    match unsaved {
        Some(text) => lines(text.as_bytes(), skip, limit),
        None => lines(file?, skip, limit),
    }
}

/// Opens the regular file at `path` and tells where it really is.
fn open(roots: &Roots, path: &Path) -> Result<(File, Option<PathBuf>), Refusal> {
    let open = || {
        let place = roots.place(path, Leaf::Follow)?;
        let (file, _) = place.open()?;
        Ok((file, place.real().map(Path::to_owned)))
    };
    for _ in 0..RACES_MAX {
        match open() {
            Err(Error::Moved) => {}
            opened => return Ok(opened?),
        }
    }
    Err(Refusal::Changing)
}

/// Returns at most `limit` lines after the first `skip`, each with its line end.
fn lines(source: impl Read, skip: u32, limit: Option<u32>) -> Result<String, Refusal> {
    let mut reader = BufReader::with_capacity(CHUNK_BYTES, source.take(READ_BYTES_MAX + 1));
    let mut text = Vec::new();
    let mut at_end = false;
    for _ in 0..skip {
        if reader.skip_until(b'\n')? == 0 {
            at_end = true;
            break;
        }
    }
    match limit {
        _ if at_end => {}
        None => {
            reader.read_to_end(&mut text)?;
            at_end = true;
        }
        Some(limit) => {
            for _ in 0..limit {
                if reader.read_until(b'\n', &mut text)? == 0 || text.last() != Some(&b'\n') {
                    at_end = true;
                    break;
                }
            }
        }
    }
    // What looks like the end of the file is only the end of what may be read.
    if at_end && reader.get_ref().limit() == 0 {
        return Err(Refusal::TooLarge);
    }
    String::from_utf8(text).map_err(|_| Refusal::NotText)
}
