//! Following a path by hand, one name at a time.
//!
//! For links that leave a root only to come back to one, which the kernel's own guard refuses, and for kernels without that guard.
//! Nothing outside the roots is looked at: out there the path is a string until it names a root.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};

use super::{LINKS_MAX, Refusal, Root, Roots};

/// Directories held open at once for one path.
const DEPTH_MAX: usize = 256;

/// One step of a path.
enum Step {
    Root,
    Up,
    Down(OsString),
}

/// Where the walk has come to.
enum Place<'a> {
    /// In the last of these directories, each inside the one before, the first being the root.
    Inside {
        root: &'a Root,
        directories: Vec<OwnedFd>,
    },
    /// Somewhere else, known by name only.
    Outside(PathBuf),
}

/// Opens the directory at `path`.
pub(super) fn walk(roots: &Roots, path: &Path) -> Result<OwnedFd, Refusal> {
    let mut place = Place::Outside(PathBuf::from("/"));
    let mut rest = VecDeque::new();
    put_first(&mut rest, path);
    let mut links = 0;
    while let Some(step) = rest.pop_front() {
        place = match (step, place) {
            (Step::Root, _) => outside(roots, PathBuf::from("/"))?,
            (Step::Up, place) => up(roots, place)?,
            (Step::Down(name), Place::Outside(path)) => outside(roots, path.join(name))?,
            (Step::Down(name), Place::Inside { root, directories }) => {
                match down(root, directories, &name)? {
                    (place, None) => place,
                    (place, Some(target)) => {
                        links += 1;
                        if links > LINKS_MAX {
                            return Err(Refusal::TooDeep);
                        }
                        put_first(&mut rest, Path::new(&target));
                        place
                    }
                }
            }
        };
    }
    match place {
        Place::Inside {
            mut directories, ..
        } => directories.pop().ok_or(Refusal::Outside),
        Place::Outside(_) => Err(Refusal::Outside),
    }
}

fn put_first(rest: &mut VecDeque<Step>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::RootDir => rest.push_front(Step::Root),
            Component::ParentDir => rest.push_front(Step::Up),
            Component::Normal(name) => rest.push_front(Step::Down(name.to_owned())),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
}

fn outside(roots: &Roots, path: PathBuf) -> Result<Place<'_>, Refusal> {
    match roots.root_named(&path) {
        Some(root) => Ok(Place::Inside {
            root,
            directories: vec![root.open()?],
        }),
        None => Ok(Place::Outside(path)),
    }
}

fn up<'a>(roots: &'a Roots, place: Place<'a>) -> Result<Place<'a>, Refusal> {
    match place {
        Place::Inside {
            root,
            mut directories,
        } if directories.len() > 1 => {
            directories.pop();
            Ok(Place::Inside { root, directories })
        }
        Place::Inside { root, .. } => {
            let pinned = root.pinned.get().ok_or(Refusal::RootGone)?;
            outside(roots, parent(&pinned.real))
        }
        Place::Outside(path) => outside(roots, parent(&path)),
    }
}

/// Returns what `..` of `path` is; the top is its own parent.
fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("/")).to_owned()
}

/// Enters `name`, or returns what it points to if it is a link.
fn down<'a>(
    root: &'a Root,
    mut directories: Vec<OwnedFd>,
    name: &OsStr,
) -> Result<(Place<'a>, Option<OsString>), Refusal> {
    let here = directories.last().ok_or(Refusal::Outside)?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = rustix::fs::openat(here, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&found)?;
    let target = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory if directories.len() >= DEPTH_MAX => return Err(Refusal::TooDeep),
        FileType::Directory => {
            directories.push(found);
            None
        }
        // Read through the handle: it is this link's own target, whatever the name means by now.
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(&found, "", Vec::new())?;
            Some(OsString::from_vec(target.into_bytes()))
        }
        _ => return Err(Refusal::NotADirectory),
    };
    Ok((Place::Inside { root, directories }, target))
}
