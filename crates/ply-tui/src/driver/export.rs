//! Files that sessions are written to.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use ply_client::text;

/// Returns the file that a name stands for, as seen from the session's directory; without a name, one that is made of the id.
pub(super) fn path(name: &str, id: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    if name.is_empty() {
        let is_plain = |char: &char| char.is_ascii_alphanumeric() || "-_".contains(*char);
        let id: String = id.chars().filter(is_plain).take(60).collect();
        return cwd.join(format!("{id}.md"));
    }
    match (name.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => cwd.join(name),
    }
}

/// Writes a document to a new file that only its owner can read.
pub(super) fn write(path: &Path, document: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(document));
    written.map_err(|error| {
        let path = text::path(path);
        let words = match error.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("{path} exists; give another name: /export FILE")
            }
            _ => format!("{path} cannot be written: {error}"),
        };
        io::Error::new(error.kind(), words)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_the_user_or_by_the_session() {
        let of = |name| {
            path(
                name,
                "sess-1/../x",
                Path::new("/work"),
                Some(Path::new("/home/me")),
            )
        };
        assert_eq!(of(""), Path::new("/work/sess-1x.md"));
        assert_eq!(of("talk.md"), Path::new("/work/talk.md"));
        assert_eq!(of("~/talk.md"), Path::new("/home/me/talk.md"));
        assert_eq!(of("/tmp/talk.md"), Path::new("/tmp/talk.md"));
    }

    #[test]
    fn nothing_is_written_over() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("talk.md");
        write(&file, b"one").unwrap();
        let told = write(&file, b"two").unwrap_err().to_string();
        assert!(told.contains("give another name"), "{told}");
        assert_eq!(std::fs::read(&file).unwrap(), b"one");
    }
}
