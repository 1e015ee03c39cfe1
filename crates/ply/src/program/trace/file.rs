//! The file that a recording goes to.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::program::error::Error;

/// Names to try when somebody else records in the same second.
const NAMES_MAX: usize = 100;

/// Makes the file, readable by its owner alone, and returns it with its name.
pub(super) fn create(
    named: Option<PathBuf>,
    force: bool,
    started: &jiff::Timestamp,
) -> Result<(File, PathBuf), Error> {
    if let Some(path) = named {
        return match open(&path, force) {
            Ok(file) => Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Exists(path)),
            Err(source) => Err(Error::File { path, source }),
        };
    }
    let time = started.strftime("%Y%m%dT%H%M%SZ");
    let mut path = PathBuf::from(format!("trace-{time}.ndjson"));
    for number in 2..NAMES_MAX {
        match open(&path, false) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                path = PathBuf::from(format!("trace-{time}-{number}.ndjson"));
            }
            Err(source) => return Err(Error::File { path, source }),
        }
    }
    Err(Error::Exists(path))
}

fn open(path: &Path, force: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    match force {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let file = options.open(path)?;
    // What was there may have been open to others.
    if force && file.metadata()?.is_file() {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}
