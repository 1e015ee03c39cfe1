use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::follow::follow;
use crate::os::{Beneath, Directory, Identity};
use crate::{Error, Kind, LINKS_MAX, Leaf, Place};

/// The directories of one session.
///
/// Each is one particular directory from the moment it is first opened. If it is moved away, whatever takes its place is
/// refused with [`Error::RootGone`].
#[derive(Debug, Clone)]
pub struct Roots {
    roots: Arc<[Root]>,
    /// Whether the kernel is asked to keep paths beneath their root; tests try the other way, too.
    kernel: bool,
}

impl Roots {
    /// Returns the roots at `paths`, of which the first is the working directory.
    ///
    /// A directory that does not exist yet is looked for again whenever it is used.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let roots = paths.into_iter().map(Root::new);
        Self {
            roots: roots
                .inspect(|root| {
                    if let Err(error) = root.open(&root.given) {
                        tracing::debug!(%error, "a directory of the session cannot be opened yet");
                    }
                })
                .collect(),
            kernel: true,
        }
    }

    /// Opens the roots at `paths`, of which the first is the working directory, and keeps them open.
    ///
    /// # Errors
    ///
    /// A path is relative, or is no directory that can be opened.
    pub fn open(paths: impl IntoIterator<Item = PathBuf>) -> Result<Self, Error> {
        let roots = paths.into_iter().map(|given| {
            let mut root = Root::new(given);
            root.check()?;
            let directory = Directory::open(&root.given)?;
            root.pin(&directory)?;
            root.kept = Some(directory);
            Ok(root)
        });
        Ok(Self {
            roots: roots.collect::<Result<_, Error>>()?,
            kernel: true,
        })
    }

    /// Returns the same roots for a kernel that cannot keep a path beneath a directory. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn by_hand(&self) -> Self {
        Self {
            roots: Arc::clone(&self.roots),
            kernel: false,
        }
    }

    /// Returns the working directory as it was given.
    pub fn cwd(&self) -> Option<&Path> {
        self.roots.first().map(|root| root.given.as_path())
    }

    /// Returns where the roots are: absolute and without links, the working directory first.
    ///
    /// Roots that have not been found yet are left out.
    pub fn reals(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().filter_map(Root::real)
    }

    /// Returns the innermost root that the real path `real` lies in.
    pub fn root_of(&self, real: &Path) -> Option<&Path> {
        self.innermost(real).and_then(Root::real)
    }

    /// Returns the real path `real` with its root spelled as it was given.
    pub fn as_given(&self, real: &Path) -> PathBuf {
        let root = self.innermost(real);
        let rest = root.and_then(|root| Some((root, real.strip_prefix(root.real()?).ok()?)));
        match rest {
            Some((root, rest)) if rest.as_os_str().is_empty() => root.given.clone(),
            Some((root, rest)) => root.given.join(rest),
            None => real.to_owned(),
        }
    }

    /// Opens the directory at the absolute `path`.
    ///
    /// # Errors
    ///
    /// The path leads out of the roots, or there is no directory that can be opened.
    pub fn directory(&self, path: &Path) -> Result<Directory, Error> {
        well_formed(path)?;
        let (root, name, rest) = self.split(path).ok_or(Error::Outside)?;
        let directory = root.open(name)?;
        if rest.as_os_str().is_empty() {
            return Ok(directory);
        }
        if self.kernel
            && let Beneath::Found(directory) = directory.beneath(&rest)?
        {
            return Ok(directory);
        }
        follow(self, path)
    }

    /// Opens a directory again by its real path, which must not lead anywhere else by now.
    ///
    /// # Errors
    ///
    /// As for [`directory`](Self::directory), and [`Error::Moved`] if it is somewhere else.
    pub fn find_directory(&self, real: &Path) -> Result<Directory, Error> {
        let directory = self.directory(real)?;
        match directory.real_path()?.as_deref() == Some(real) {
            true => Ok(directory),
            false => Err(Error::Moved),
        }
    }

    /// Returns where `directory` is now: absolute and without links.
    ///
    /// # Errors
    ///
    /// It is outside the roots by now, or the system cannot tell.
    pub fn real_path(&self, directory: &Directory) -> Result<PathBuf, Error> {
        let real = directory.real_path()?.ok_or(Error::NotFound)?;
        self.still_inside(&real)?;
        Ok(real)
    }

    /// Finds the place that the absolute `path` names. Nothing need exist there.
    ///
    /// # Errors
    ///
    /// The path leads out of the roots, names a directory by how it is written ([`Error::IsADirectory`]), or cannot be
    /// looked up.
    pub fn place(&self, path: &Path, leaf: Leaf) -> Result<Place, Error> {
        let mut path = path.to_owned();
        for _ in 0..=LINKS_MAX {
            well_formed(&path)?;
            if names_directory(&path) || self.named(&path).is_some() {
                return Err(Error::IsADirectory);
            }
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(Error::Outside);
            };
            let (directory, missing) = self.deepest(parent)?;
            let mut real = directory.real_path()?;
            if let Some(real) = &real {
                self.still_inside(real)?;
            }
            if leaf == Leaf::Follow
                && missing.is_empty()
                && let Some(target) = directory.read_link(name)?
            {
                path = real.as_deref().unwrap_or(parent).join(target);
                continue;
            }
            if let Some(real) = &mut real {
                real.extend(&missing);
                real.push(name);
            }
            return Ok(Place::new(directory, missing, name.to_owned(), real));
        }
        Err(Error::Links)
    }

    /// Finds a place again by its real path, which must not lead anywhere else by now.
    ///
    /// # Errors
    ///
    /// As for [`place`](Self::place), and [`Error::Moved`] if it is somewhere else.
    pub fn find(&self, real: &Path) -> Result<Place, Error> {
        let place = self.place(real, Leaf::Keep)?;
        match place.real() == Some(real) {
            true => Ok(place),
            false => Err(Error::Moved),
        }
    }

    /// Opens the deepest directory on the way to `path` that exists, and returns the names after it.
    fn deepest(&self, path: &Path) -> Result<(Directory, Vec<OsString>), Error> {
        let mut missing = Vec::new();
        let mut existing = path;
        let directory = loop {
            match self.directory(existing) {
                Err(Error::NotFound) => {
                    // `..` after a name that does not exist means nothing.
                    missing.push(existing.file_name().ok_or(Error::NotFound)?.to_owned());
                    existing = existing.parent().ok_or(Error::NotFound)?;
                }
                found => break found?,
            }
        };
        missing.reverse();
        if let Some(first) = missing.first() {
            match directory.look(first)? {
                None => {}
                Some(stat) if stat.kind() == Kind::Link => return Err(Error::Dangling),
                Some(_) => return Err(Error::Moved),
            }
        }
        Ok((directory, missing))
    }

    /// Returns the root that `path` names a place in, by which of its names, and the rest of the path.
    fn split(&self, path: &Path) -> Option<(&Root, &Path, PathBuf)> {
        let named = self
            .roots
            .iter()
            .flat_map(|root| root.names().map(move |name| (root, name)));
        let holding =
            named.filter_map(|(root, name)| Some((root, name, path.strip_prefix(name).ok()?)));
        let (root, name, rest) = holding.max_by_key(|(_, name, _)| name.components().count())?;
        // Without the dots and double slashes that the kernel would have to skip.
        Some((root, name, rest.components().collect()))
    }

    pub(crate) fn named(&self, path: &Path) -> Option<&Root> {
        let mut roots = self.roots.iter();
        roots.find(|root| root.names().any(|name| name == path))
    }

    fn innermost(&self, real: &Path) -> Option<&Root> {
        self.roots
            .iter()
            .filter(|root| root.real().is_some_and(|root| real.starts_with(root)))
            .max_by_key(|root| root.real().map(|real| real.components().count()))
    }

    /// Refuses a real path outside the roots: a directory may have been moved away after it was opened.
    fn still_inside(&self, real: &Path) -> Result<(), Error> {
        match self.innermost(real) {
            Some(_) => Ok(()),
            None => Err(Error::RootGone),
        }
    }
}

/// One directory of a session.
#[derive(Debug)]
pub(crate) struct Root {
    given: PathBuf,
    pinned: OnceLock<Pinned>,
    /// As long as it is open, no other directory can have its identity.
    kept: Option<Directory>,
}

/// Which directory a root is.
#[derive(Debug)]
struct Pinned {
    /// Where it is, without links.
    real: PathBuf,
    identity: Identity,
}

impl Root {
    fn new(given: PathBuf) -> Self {
        Self {
            given,
            pinned: OnceLock::new(),
            kept: None,
        }
    }

    pub(crate) fn real(&self) -> Option<&Path> {
        self.pinned.get().map(|pinned| pinned.real.as_path())
    }

    fn names(&self) -> impl Iterator<Item = &Path> {
        // A relative one would depend on where this program happens to run.
        let given = Some(self.given.as_path()).filter(|given| given.is_absolute());
        given.into_iter().chain(self.real())
    }

    fn check(&self) -> Result<(), Error> {
        well_formed(&self.given)
    }

    /// Opens it by one of its names, which must not mean another directory by now.
    pub(crate) fn open(&self, name: &Path) -> Result<Directory, Error> {
        self.check()?;
        let directory = match Directory::open(name) {
            Err(Error::NotFound | Error::NotADirectory) => return Err(Error::RootGone),
            opened => opened?,
        };
        let pinned = self.pin(&directory)?;
        match pinned.identity == directory.identity()? {
            true => Ok(directory),
            false => Err(Error::RootGone),
        }
    }

    /// Returns which directory it is: the one that was opened first.
    fn pin(&self, directory: &Directory) -> Result<&Pinned, Error> {
        if let Some(pinned) = self.pinned.get() {
            return Ok(pinned);
        }
        let pinned = Pinned {
            real: match directory.real_path()? {
                Some(real) => real,
                None => std::fs::canonicalize(&self.given)?,
            },
            identity: directory.identity()?,
        };
        Ok(self.pinned.get_or_init(|| pinned))
    }
}

fn well_formed(path: &Path) -> Result<(), Error> {
    if path.as_os_str().as_bytes().contains(&0) {
        return Err(Error::Nul);
    }
    match path.is_absolute() {
        true => Ok(()),
        false => Err(Error::Relative),
    }
}

/// Returns whether `path` can only name a directory, by how it ends.
fn names_directory(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.ends_with(b"/")
        || bytes.ends_with(b"/.")
        || path.components().next_back() == Some(Component::ParentDir)
}
