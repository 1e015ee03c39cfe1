//! The files of a session: confined to its roots, with the client's unsaved buffers.
//!
//! A path that a model gives is looked up beneath the session's directories and nowhere else, links
//! included, by opening and not by comparing names. What permission is asked for is the place where it
//! ends up. A change is made at that place or not at all, and only to content that the model has seen.
//!
//! Hard links are the file system's business: one inside a root is a file of that root. Files are
//! replaced, not written into, so the other names of a file keep what they had.

mod buffers;
mod disk;
mod error;
mod remove;
mod seen;
mod spot;
mod text;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_roots::Roots;
pub(crate) use ply_roots::{Kind, Leaf};

pub(crate) use self::buffers::{Landed, Loaded};
pub use self::error::Error;
pub(crate) use self::remove::Doomed;
use self::seen::Seen;
pub(crate) use self::spot::Spot;
pub(crate) use self::text::{LineEnds, Text, fold};
pub(crate) use self::tree::{Entry, Show, Walk, Walked};

/// Bytes of a file that is read or written.
pub const READ_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Bytes of a path.
pub const PATH_BYTES_MAX: usize = 4095;
/// Directories of a session.
pub const ROOTS_MAX: usize = 64;
/// Entries that a walk looks at.
pub const WALK_ENTRIES_MAX: usize = 100_000;
/// Directories within directories that a walk goes into.
pub const WALK_DEPTH_MAX: usize = 64;

/// Characters of a path that is repeated in words.
const LABEL_CHARS_MAX: usize = 240;

/// The files of a session.
#[derive(Debug)]
pub struct Workspace {
    inner: Arc<Inner>,
    /// Held while something is changed, from the last look to the write.
    changing: tokio::sync::Mutex<()>,
    /// Whether the client has files and does not answer when it is asked for one.
    silent: AtomicBool,
}

/// What threads that wait for the disk share.
#[derive(Debug)]
pub(crate) struct Inner {
    roots: Roots,
    /// Directories elsewhere that are read and never changed.
    library: Roots,
    seen: Mutex<Seen>,
}

impl Workspace {
    /// Returns the files in and below `cwd` and the `additional` directories.
    ///
    /// They are opened here and are these very directories from then on: when one is moved away,
    /// whatever takes its place is left alone.
    ///
    /// # Errors
    ///
    /// A path is not absolute, or no directory that can be opened.
    pub fn new(cwd: PathBuf, additional: Vec<PathBuf>) -> Result<Self, Error> {
        if additional.len() >= ROOTS_MAX {
            return Err(Error::TooManyRoots { limit: ROOTS_MAX });
        }
        Ok(Self {
            inner: Arc::new(Inner {
                roots: Roots::open(std::iter::once(cwd).chain(additional))?,
                library: Roots::new(Vec::new()),
                seen: Mutex::default(),
            }),
            changing: tokio::sync::Mutex::default(),
            silent: AtomicBool::new(false),
        })
    }

    /// Lets files be read, and not changed, in and below further directories: sources of dependencies,
    /// headers, toolchains. Those that are not there are left out.
    #[must_use]
    pub fn reading(mut self, library: Vec<PathBuf>) -> Self {
        let library = library.into_iter().filter(|path| path.is_dir());
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.library = Roots::new(library.take(ROOTS_MAX));
        }
        self
    }

    /// Returns the directories that are only read, absolute and without links.
    pub fn library(&self) -> Vec<PathBuf> {
        let reals = self.inner.library.reals();
        reals.map(Path::to_path_buf).collect()
    }

    /// Returns the directories, absolute and without links, the working directory first.
    pub fn roots(&self) -> Vec<&Path> {
        self.inner.roots.reals().collect()
    }

    /// Returns the working directory, absolute and without links.
    pub fn cwd(&self) -> &Path {
        // There is always one.
        let first = self.inner.roots.reals().next();
        first.unwrap_or(Path::new("/"))
    }

    /// Returns where a directory that a model names really is: absolute and without links.
    ///
    /// # Errors
    ///
    /// It is no directory, or outside of the roots.
    ///
    /// # Cancel safety
    ///
    /// Dropping it has no effect.
    pub async fn directory(&self, path: &str) -> Result<PathBuf, Error> {
        let spot = self.spot(path, Leaf::Follow).await?;
        match spot.kind {
            Kind::Directory => Ok(spot.real),
            Kind::Missing => Err(Error::NotFound),
            _ => Err(Error::NotADirectory),
        }
    }

    /// Finds out what a path that a model gave means. There need not be anything there.
    pub(crate) async fn spot(&self, path: &str, leaf: Leaf) -> Result<Spot, Error> {
        let path = path.to_owned();
        self.blocking(move |inner| Spot::find(&inner.roots, &path, leaf))
            .await
    }

    /// Finds out what a path that a model gave means, if it is to be read: it may be outside of the roots,
    /// where dependencies are.
    pub(crate) async fn spot_to_read(&self, path: &str) -> Result<Spot, Error> {
        match self.spot(path, Leaf::Follow).await {
            Err(Error::Outside) if Path::new(path).is_absolute() => {
                let path = path.to_owned();
                self.blocking(move |inner| Spot::find(&inner.library, &path, Leaf::Follow))
                    .await
            }
            found => found,
        }
    }

    /// Finds out what a path means that must be a regular file or nothing yet.
    pub(crate) async fn file(&self, path: &str) -> Result<Spot, Error> {
        is_file(self.spot(path, Leaf::Follow).await?)
    }

    /// Finds out what a path means that must be a regular file, to be read.
    pub(crate) async fn file_to_read(&self, path: &str) -> Result<Spot, Error> {
        is_file(self.spot_to_read(path).await?)
    }

    /// Reads the bytes of a file on disk.
    pub(crate) async fn bytes(&self, spot: &Spot) -> Result<Option<Vec<u8>>, Error> {
        let real = spot.real.clone();
        self.blocking(move |inner| disk::read(inner.roots_of(&real), &real))
            .await
    }

    /// Moves what is at one place to another, where nothing may be.
    pub(crate) async fn rename(&self, from: &Spot, to: &Spot) -> Result<(), Error> {
        let (from, to) = (from.real.clone(), to.real.clone());
        self.blocking(move |inner| {
            if inner.holds_root(&from) {
                return Err(Error::IsARoot);
            }
            disk::rename(&inner.roots, &from, &to)?;
            inner.seen().rename(&from, &to);
            Ok(())
        })
        .await
    }

    /// Remembers that the model was shown all or part of a file.
    pub(crate) fn show(&self, spot: &Spot, loaded: &Loaded) {
        let content = loaded.text.whole();
        self.inner.seen().show(&spot.real, &content, loaded.unsaved);
    }

    /// Refuses a file that the model has not seen as it is.
    pub(crate) fn check_seen(&self, spot: &Spot, loaded: &Loaded) -> Result<(), Error> {
        let seen = self.inner.seen();
        if seen.is_shown(&spot.real, &loaded.text.whole()) {
            return Ok(());
        }
        match seen.has_shown(&spot.real) {
            true => Err(Error::Stale),
            false => Err(Error::Unread),
        }
    }

    /// Waits until nothing else is being changed, and keeps it so until the guard is dropped.
    pub(crate) async fn change(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    /// Returns how a place is called in words: relative to the working directory where it is in it.
    pub(crate) fn label(&self, spot: &Spot) -> String {
        match spot.real.strip_prefix(self.cwd()) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Ok(rest) => label(rest),
            Err(_) => label(&spot.shown),
        }
    }

    /// Runs what may wait for the disk where it holds up nobody else.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let inner = Arc::clone(&self.inner);
        match tokio::task::spawn_blocking(move || work(&inner)).await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(Error::Ending),
            },
        }
    }
}

impl Inner {
    /// Shows everything below a directory.
    pub(crate) fn walk(
        &self,
        spot: &Spot,
        walk: Walk<'_>,
        visit: &mut dyn FnMut(&Entry<'_>) -> Result<std::ops::ControlFlow<()>, Error>,
    ) -> Result<Walked, Error> {
        tree::walk(self.roots_of(&spot.real), &spot.real, walk, visit)
    }

    /// Returns the directories among which a place is read.
    fn roots_of(&self, real: &Path) -> &Roots {
        match self.roots.root_of(real) {
            None if self.library.root_of(real).is_some() => &self.library,
            _ => &self.roots,
        }
    }

    /// Returns the part of a path that is below its root, which is the user's own choice.
    pub(crate) fn below_root<'p>(&self, real: &'p Path) -> &'p Path {
        let root = self.roots_of(real).root_of(real);
        root.and_then(|root| real.strip_prefix(root).ok())
            .unwrap_or(real)
    }

    /// Opens a regular file at a place that was found before.
    pub(crate) fn open(&self, spot: &Spot) -> Result<std::fs::File, Error> {
        Ok(self.roots_of(&spot.real).find(&spot.real)?.open()?.0)
    }

    /// Returns whether a root is at `real` or below it.
    fn holds_root(&self, real: &Path) -> bool {
        self.roots.reals().any(|root| root.starts_with(real))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // What is remembered is whole after every statement, so a panic elsewhere does not spoil it.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_file(spot: Spot) -> Result<Spot, Error> {
    match spot.kind {
        Kind::File | Kind::Missing => Ok(spot),
        Kind::Directory => Err(Error::IsADirectory),
        // Links are followed, so it has become one.
        Kind::Link => Err(Error::Moved),
        Kind::Special => Err(Error::Special),
    }
}

/// Returns a path as words: on one line, without anything that deceives, and not for ever.
pub(crate) fn label(path: &Path) -> String {
    let text = path.to_string_lossy();
    let begin: String = text.chars().take(LABEL_CHARS_MAX).collect();
    let mut label = crate::permission::shown(&begin);
    if text.chars().nth(LABEL_CHARS_MAX).is_some() {
        label.push('…');
    }
    label
}
