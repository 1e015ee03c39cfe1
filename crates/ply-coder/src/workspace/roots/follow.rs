//! Following a path by hand, one name at a time.
//!
//! For links that leave a root only to come back to one, which the kernel's own guard refuses, and for
//! kernels without that guard. Nothing outside the roots is looked at: out there a path is words until
//! it names a root.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::{Error, HELD, Kind, LINKS_MAX, Root, Roots};

/// Directories held at once for one path.
const DEPTH_MAX: usize = 256;

enum Step {
    Top,
    Up,
    Down(OsString),
}

/// Where the path has led so far.
enum At<'r> {
    /// In the last of these directories, each in the one before it, the first being the root.
    Inside(&'r Root, Vec<OwnedFd>),
    /// Elsewhere, known by name only.
    Outside(PathBuf),
}

/// Opens the directory at an absolute path.
pub(super) fn follow(roots: &Roots, path: &Path) -> Result<OwnedFd, Error> {
    let mut at = At::Outside(PathBuf::from("/"));
    let mut steps = VecDeque::new();
    put_first(&mut steps, path);
    let mut links = 0;
    while let Some(step) = steps.pop_front() {
        at = match (step, at) {
            (Step::Top, _) => arrive(roots, PathBuf::from("/"))?,
            (Step::Up, at) => up(roots, at)?,
            (Step::Down(name), At::Outside(path)) => arrive(roots, path.join(name))?,
            (Step::Down(name), At::Inside(root, mut held)) => {
                if let Some(target) = down(&mut held, &name)? {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(Error::Links);
                    }
                    put_first(&mut steps, Path::new(&target));
                }
                At::Inside(root, held)
            }
        };
    }
    match at {
        At::Inside(_, mut held) => held.pop().ok_or(Error::Outside),
        At::Outside(_) => Err(Error::Outside),
    }
}

fn put_first(steps: &mut VecDeque<Step>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::RootDir => steps.push_front(Step::Top),
            Component::ParentDir => steps.push_front(Step::Up),
            Component::Normal(name) => steps.push_front(Step::Down(name.to_owned())),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
}

fn arrive(roots: &Roots, path: PathBuf) -> Result<At<'_>, Error> {
    match roots.named(&path) {
        Some(root) => {
            let held = rustix::fs::openat(&root.held, ".", HELD, Mode::empty())?;
            Ok(At::Inside(root, vec![held]))
        }
        None => Ok(At::Outside(path)),
    }
}

fn up<'r>(roots: &'r Roots, at: At<'r>) -> Result<At<'r>, Error> {
    match at {
        At::Inside(root, mut held) if held.len() > 1 => {
            held.pop();
            Ok(At::Inside(root, held))
        }
        At::Inside(root, _) => arrive(roots, above(&root.real)),
        At::Outside(path) => arrive(roots, above(&path)),
    }
}

/// Returns what `..` of `path` is; the top is its own parent.
fn above(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("/")).to_owned()
}

/// Enters `name`, or returns what it points to if it is a link.
fn down(held: &mut Vec<OwnedFd>, name: &OsStr) -> Result<Option<OsString>, Error> {
    let here = held.last().ok_or(Error::Outside)?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = rustix::fs::openat(here, name, flags, Mode::empty())?;
    match Kind::of(&rustix::fs::fstat(&found)?) {
        Kind::Directory if held.len() >= DEPTH_MAX => Err(Error::TooLong),
        Kind::Directory => {
            held.push(found);
            Ok(None)
        }
        // Read through the handle: it is this link's own target, whatever has the name by now.
        Kind::Link => {
            let target = rustix::fs::readlinkat(&found, "", Vec::new())?;
            Ok(Some(OsString::from_vec(target.into_bytes())))
        }
        _ => Err(Error::NotADirectory),
    }
}
