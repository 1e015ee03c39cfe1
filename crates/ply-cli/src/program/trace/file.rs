//! The file that a recording goes to.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::program::error::Error;

/// Names to try when somebody else records in the same second.
const NAMES_MAX: usize = 100;

/// The file of a recording.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) file: File,
    pub(super) path: PathBuf,
    /// Whether it was not there before.
    pub(super) is_new: bool,
}

/// Makes the file, readable by its owner alone. In a directory it has a name of its own each time, as an editor needs that
/// starts its agent with the same words again and again.
pub(super) fn create(
    named: Option<PathBuf>,
    force: bool,
    started: &jiff::Timestamp,
) -> Result<Made, Error> {
    let directory = match named {
        Some(path) if is_directory_name(&path) => {
            std::fs::create_dir_all(&path).map_err(|source| {
                let path = path.clone();
                Error::File { path, source }
            })?;
            path
        }
        Some(path) if !path.is_dir() => return create_named(path, force),
        directory => directory.unwrap_or_default(),
    };
    let time = started.strftime("%Y%m%dT%H%M%SZ");
    let mut path = directory.join(format!("trace-{time}.ndjson"));
    for number in 2..NAMES_MAX {
        match open_new(&path) {
            Ok(file) => {
                let is_new = true;
                return Ok(Made { file, path, is_new });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                path = directory.join(format!("trace-{time}-{number}.ndjson"));
            }
            Err(source) => return Err(Error::File { path, source }),
        }
    }
    Err(Error::Exists(path))
}

/// Returns whether a path can be nothing but a directory: it ends with a slash.
fn is_directory_name(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

fn create_named(path: PathBuf, force: bool) -> Result<Made, Error> {
    let (opened, is_new) = match open_new(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match force {
            true => (replace(&path), false),
            false => return Err(Error::Exists(path)),
        },
        opened => (opened, true),
    };
    match opened {
        Ok(file) => Ok(Made { file, path, is_new }),
        Err(source) => Err(Error::File { path, source }),
    }
}

fn open_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

fn replace(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let file = options.open(path)?;
    // What was there may have been open to others.
    if file.metadata()?.is_file() {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}
