//! A file that is there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::program::Error;

/// How many names are tried for a temporary file.
const NAMES_MAX: u32 = 100;

/// Returns the file that a path stands for, unless something is there that may not be replaced.
pub(super) fn target(path: &Path, force: bool) -> Result<PathBuf, Error> {
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    match fs::metadata(path) {
        Ok(about) if !about.is_file() => Err(Error::NotAFile(path.to_owned())),
        Ok(_) if !force => Err(Error::Exists(path.to_owned())),
        // A link stays one, and the file behind it is replaced.
        Ok(_) => path.canonicalize().map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(failed(error)),
    }
}

/// A file on its way to its place. Dropped before, it is removed.
#[derive(Debug)]
pub(super) struct NewFile {
    writer: BufWriter<File>,
    temporary: PathBuf,
    place: PathBuf,
    is_put: bool,
}

impl NewFile {
    /// Makes an empty file beside the place, which nobody but its owner may read: sessions hold what
    /// people and tools said in confidence.
    pub(super) fn create(place: &Path) -> io::Result<Self> {
        let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let process = std::process::id();
        for number in 0..NAMES_MAX {
            let mut temporary = OsString::from(".");
            temporary.push(name);
            temporary.push(format!(".{process}-{number}.tmp"));
            let temporary = place.with_file_name(temporary);
            let mut options = OpenOptions::new();
            match options
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&temporary)
            {
                Ok(file) => {
                    return Ok(Self {
                        writer: BufWriter::new(file),
                        temporary,
                        place: place.to_owned(),
                        is_put: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn writer(&mut self) -> &mut BufWriter<File> {
        &mut self.writer
    }

    /// Puts the file in its place, once all of it is on the disk.
    pub(super) fn put(mut self, force: bool) -> io::Result<()> {
        self.writer.flush()?;
        self.writer.get_ref().sync_all()?;
        match force {
            true => fs::rename(&self.temporary, &self.place)?,
            false => rename_new(&self.temporary, &self.place)?,
        }
        self.is_put = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_put {
            // Why it is not wanted has been told, or is about to be; that it stays says less.
            drop(fs::remove_file(&self.temporary));
        }
    }
}

/// Renames a file, but not over another.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // A file system that cannot do that in one step; looking first is the best that is left.
        Err(Errno::INVAL | Errno::NOSYS) => match to.try_exists()? {
            true => Err(io::ErrorKind::AlreadyExists.into()),
            false => fs::rename(from, to),
        },
        done => Ok(done?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_appears_meanwhile_is_not_replaced_and_nothing_is_left() {
        let name = format!("ply-export-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir(&directory).unwrap();
        let place = directory.join("talk.md");
        let mut file = NewFile::create(&place).unwrap();
        file.writer().write_all(b"ours").unwrap();
        fs::write(&place, "theirs").unwrap();
        let error = file.put(false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&place).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        fs::remove_dir_all(&directory).unwrap();
    }
}
