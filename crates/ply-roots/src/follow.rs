//! Resolving a path by hand, one name at a time.
//!
//! For links that leave a root and come back to one, which the kernel's own guard refuses, and for kernels without that
//! guard. Nothing outside the roots is looked at: out there a path is text until it names a root.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::os::{self, Directory};
use crate::roots::{Root, Roots};
use crate::{Error, LINKS_MAX};

/// Directories that are open at once for one path.
const DEPTH_MAX: usize = 256;

enum Step {
    Top,
    Up,
    Down(OsString),
}

/// Where the path has led so far.
enum At<'r> {
    /// In the last of these directories, each in the one before it, the first being the root.
    Inside(&'r Root, Vec<Directory>),
    /// Elsewhere, known by name only.
    Outside(PathBuf),
}

/// Opens the directory at an absolute path.
pub(crate) fn follow(roots: &Roots, path: &Path) -> Result<Directory, Error> {
    let mut at = At::Outside(PathBuf::from("/"));
    let mut steps = VecDeque::new();
    put_first(&mut steps, path);
    let mut links = 0;
    while let Some(step) = steps.pop_front() {
        at = match (step, at) {
            (Step::Top, _) => arrive(roots, PathBuf::from("/"))?,
            (Step::Up, at) => up(roots, at)?,
            (Step::Down(name), At::Outside(path)) => arrive(roots, path.join(name))?,
            (Step::Down(name), At::Inside(root, mut open)) => {
                let here = open.last().ok_or(Error::Outside)?;
                match here.step(&name)? {
                    os::Step::Entered(_) if open.len() >= DEPTH_MAX => return Err(Error::TooDeep),
                    os::Step::Entered(directory) => open.push(directory),
                    os::Step::Link(_) if links == LINKS_MAX => return Err(Error::Links),
                    os::Step::Link(target) => {
                        links += 1;
                        put_first(&mut steps, Path::new(&target));
                    }
                }
                At::Inside(root, open)
            }
        };
    }
    match at {
        At::Inside(_, mut open) => open.pop().ok_or(Error::Outside),
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
        Some(root) => Ok(At::Inside(root, vec![root.open(&path)?])),
        None => Ok(At::Outside(path)),
    }
}

fn up<'r>(roots: &'r Roots, at: At<'r>) -> Result<At<'r>, Error> {
    match at {
        At::Inside(root, mut open) if open.len() > 1 => {
            open.pop();
            Ok(At::Inside(root, open))
        }
        At::Inside(root, _) => {
            let real = root.real().ok_or(Error::RootGone)?;
            arrive(roots, above(real))
        }
        At::Outside(path) => arrive(roots, above(&path)),
    }
}

/// Returns what `..` of `path` is; the top is its own parent.
fn above(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("/")).to_owned()
}
