//! Files that the arguments name, read whole.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use ply_client::text;
use rustix::fs::{Mode, OFlags};

use super::failure::Failure;

/// The longest file of rules or settings.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;

/// What to do about a file that cannot be read.
const HINT: &str = "give the path of a file that you may read";

/// Reads a file of at most so many bytes; `what` says what it is to be.
pub(super) fn bytes(path: &Path, bytes_max: u64, what: &str) -> Result<Vec<u8>, Failure> {
    let shown = text::path(path);
    let failed = |error: io::Error| {
        Failure::usage(format!("the {what} {shown} cannot be read: {error}")).hint(HINT)
    };
    // A pipe without a writer would keep us waiting right here.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty());
    let file = File::from(opened.map_err(|error| failed(error.into()))?);
    // And a device has no end.
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(Failure::usage(format!("{shown} is not a file")).hint(HINT));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > bytes_max {
        let limit = bytes_max >> 20;
        let detail = format!("the {what} {shown} is longer than {limit} MiB");
        let hint = "use a shorter one; a file that the prompt names is read by the agent itself";
        return Err(Failure::usage(detail).hint(hint));
    }
    Ok(bytes)
}

/// Reads a file of rules or settings.
pub(super) fn text(path: &Path, what: &str) -> Result<String, Failure> {
    let bytes = bytes(path, TEXT_BYTES_MAX, what)?;
    String::from_utf8(bytes).map_err(|_| {
        let shown = text::path(path);
        Failure::usage(format!("the {what} {shown} is not text in UTF-8")).hint(HINT)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_is_read_and_nothing_is_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(bytes(&path, 4, "file").unwrap(), b"four");
        assert!(bytes(&path, 3, "file").is_err());
        assert_eq!(text(&path, "file").unwrap(), "four");
        std::fs::write(&path, b"\xff").unwrap();
        assert!(text(&path, "file").is_err());
        let pipe = directory.path().join("pipe");
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, Mode::RUSR, 0).unwrap();
        for wrong in [
            &pipe,
            directory.path(),
            Path::new("/dev/zero"),
            Path::new("/no/such"),
        ] {
            assert!(bytes(wrong, 4, "file").is_err(), "{}", wrong.display());
        }
    }
}
