//! How what is known of a session lies in its row.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rusqlite::Row;

use crate::Head;

/// The columns that [`read`] needs.
pub(super) const COLUMNS: &str =
    "number, id, cwd, title, created_ms, updated_ms, unfinished, archived, host, next";

/// The row of a session, but for its lease.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) number: i64,
    pub(super) next: u64,
    pub(super) head: Head,
}

/// Reads a row that has [`COLUMNS`].
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Stored> {
    // A text that is damaged is no reason not to show the session.
    let text = |column| {
        let bytes = row.get_ref(column)?.as_bytes_or_null().unwrap_or_default();
        let text = bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Ok::<_, rusqlite::Error>(text)
    };
    let cwd = row.get_ref("cwd")?.as_bytes().unwrap_or_default();
    let head = Head {
        id: row.get("id")?,
        cwd: PathBuf::from(OsString::from_vec(cwd.to_vec())),
        title: text("title")?,
        created_ms: row.get("created_ms")?,
        updated_ms: row.get("updated_ms")?,
        unfinished: row.get_ref("unfinished")?.as_i64() != Ok(0),
        archived: row.get_ref("archived")?.as_i64() != Ok(0),
        host: text("host")?,
    };
    let next: i64 = row.get("next")?;
    Ok(Stored {
        number: row.get("number")?,
        next: next.unsigned_abs(),
        head,
    })
}

/// Returns a path as it is stored, any bytes: the same for all spellings that are equal as paths.
pub(super) fn path_bytes(path: &Path) -> Vec<u8> {
    let plain: PathBuf = path.components().collect();
    plain.as_os_str().as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_equal_are_stored_alike() {
        for (spelling, stored) in [
            ("/work", "/work"),
            ("/work/", "/work"),
            ("//work/./a//b/.", "/work/a/b"),
            ("/work/../a", "/work/../a"),
            ("/", "/"),
            ("", ""),
        ] {
            assert_eq!(path_bytes(Path::new(spelling)), stored.as_bytes());
            assert_eq!(Path::new(spelling), Path::new(stored));
        }
    }
}
