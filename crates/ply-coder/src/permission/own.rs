//! What belongs to the agent itself.

use std::path::{Path, PathBuf};

use super::glob::names;
use super::links;

/// Something that belongs to the agent itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Own {
    /// The rules file.
    Rules(PathBuf),
    /// Another file, or a folder.
    Other(PathBuf),
}

impl Own {
    /// Returns what to guard for a rules file.
    pub(super) fn rules(file: PathBuf) -> impl Iterator<Item = Self> {
        named_and_real(file).map(Self::Rules)
    }

    /// Returns what to guard for another file or folder.
    pub(super) fn other(path: PathBuf) -> impl Iterator<Item = Self> {
        named_and_real(path).map(Self::Other)
    }

    /// Returns what a rule must name of a path that belongs to it: the folder of the rules file, or the
    /// file alone where the session works in that folder. What is in a root is the user's choice.
    pub(super) fn name_in(&self, path: &Path, roots: &[PathBuf]) -> Option<String> {
        let whole = match self {
            Self::Rules(file) => {
                let folder = file.parent()?;
                let shared = roots.iter().any(|root| root.starts_with(folder));
                if shared { file } else { folder }
            }
            Self::Other(own) => {
                let chosen = |root: &PathBuf| root.starts_with(own) && path.starts_with(root);
                if roots.iter().any(chosen) {
                    return None;
                }
                own
            }
        };
        path.starts_with(whole)
            .then(|| names(whole).pop().unwrap_or_default())
    }
}

/// Returns a path as it was named and, where links make that another, as it is: accesses come with real
/// paths, and a folder of settings is often a link into a project.
fn named_and_real(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    let real = links::real(&path).filter(|real| *real != path);
    std::iter::once(path).chain(real)
}
