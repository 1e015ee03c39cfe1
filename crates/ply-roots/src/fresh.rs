//! New content on its way to its place.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::os::{self, Directory, Stat};
use crate::{Error, Kind, RACES_MAX};

/// A file that is not in place yet.
///
/// It has no name until it is complete, where the file system can do that, so that nothing is left behind when this process
/// is killed; else a name of its own from the start.
pub(crate) struct Fresh<'d> {
    directory: &'d Directory,
    file: File,
    /// The name to remove if it is not put in place.
    name: Option<OsString>,
}

impl<'d> Fresh<'d> {
    pub(crate) fn new(directory: &'d Directory, rights: u32) -> Result<Self, Error> {
        let (file, name) = match directory.unnamed(rights)? {
            Some(file) => (file, None),
            None => {
                let (file, name) = named(|name| directory.create(name, rights))?;
                (file, Some(name))
            }
        };
        Ok(Self {
            directory,
            file,
            name,
        })
    }

    /// Writes the content, and takes over the owner and mode of an old file.
    pub(crate) fn fill(&self, content: &[u8], old: Option<&Stat>) -> Result<(), Error> {
        (&self.file).write_all(content)?;
        if let Some(old) = old {
            os::resemble(&self.file, old)?;
        }
        // Or a loss of power could leave the name with nothing behind it.
        Ok(self.file.sync_data()?)
    }

    /// Puts it in place of what has the name `name`.
    pub(crate) fn put(mut self, name: &OsStr) -> Result<(), Error> {
        let own = match self.name.take() {
            Some(own) => own,
            None => named(|name| self.directory.link(&self.file, name))?.1,
        };
        let own = self.name.insert(own);
        self.directory.rename(own, name)?;
        self.name = None;
        Ok(())
    }

    /// Puts it in place under the name `name`, which nothing may have.
    pub(crate) fn put_where_nothing_is(mut self, name: &OsStr) -> Result<(), Error> {
        match &self.name {
            Some(own) => self.directory.rename_to_free(own, self.directory, name)?,
            None => self.directory.link(&self.file, name)?,
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        let Some(name) = &self.name else {
            return;
        };
        if let Err(error) = self.directory.remove(name, Kind::File) {
            tracing::warn!(%error, "an unfinished file could not be removed");
        }
    }
}

/// Makes something under a name that nothing has yet.
fn named<T>(make: impl Fn(&OsStr) -> Result<T, Error>) -> Result<(T, OsString), Error> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    for _ in 0..RACES_MAX {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!(".ply-{}-{count}.tmp", std::process::id()));
        match make(&name) {
            Ok(made) => return Ok((made, name)),
            // Left behind by a process that had our id before us.
            Err(Error::Exists) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Moved)
}
