//! Where symbolic links lead.
//!
//! For decisions only: what is opened is found by the workspace, which does not look twice.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Symbolic links followed for one path, as many as the kernel follows.
const LINKS_MAX: usize = 40;

/// Returns where an absolute path leads. What is not there yet is taken by its name: links that point
/// nowhere are followed too, as writing through them makes what they point to.
pub fn real(path: &Path) -> Option<PathBuf> {
    follow(path, |_| true)
}

/// Returns where an absolute path leads, if it never leaves some folders on its way: nothing is looked at
/// outside of them.
pub(super) fn real_in(path: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    let is_on_the_way = |at: &Path| {
        let mut roots = roots.iter();
        roots.any(|root| at.starts_with(root) || root.starts_with(at))
    };
    follow(path, is_on_the_way)
}

fn follow(path: &Path, may_go: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut at = PathBuf::new();
    let mut ahead = parts(path);
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        at.push(&part);
        if !may_go(&at) {
            return None;
        }
        if let Ok(target) = std::fs::read_link(&at) {
            links += 1;
            if links > LINKS_MAX {
                return None;
            }
            at.pop();
            for part in parts(&target).into_iter().rev() {
                ahead.push_front(part);
            }
        }
    }
    Some(at)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_to_what_is_not_there_yet() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("project")).unwrap();
        symlink("project/settings", top.join("dangling")).unwrap();
        symlink("../project", top.join("project/again")).unwrap();
        symlink("circle", top.join("circle")).unwrap();
        let check = |named: &str, expected: Option<&str>| {
            let expected = expected.map(|expected| top.join(expected));
            assert_eq!(real(&top.join(named)), expected, "{named}");
        };
        check("dangling/rules.toml", Some("project/settings/rules.toml"));
        check("project/again/a/./b", Some("project/a/b"));
        check("project/again/../a", Some("a"));
        check("plain/a", Some("plain/a"));
        check("circle/a", None);
    }

    #[test]
    fn a_way_that_leaves_the_folders_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let project = top.join("project");
        std::fs::create_dir(&project).unwrap();
        symlink("/etc", project.join("etc")).unwrap();
        symlink("../other/back", project.join("there")).unwrap();
        symlink(".", project.join("here")).unwrap();
        let roots = [project.clone()];
        assert_eq!(real_in(&project.join("etc"), &roots), None);
        assert_eq!(real_in(&project.join("there"), &roots), None);
        assert_eq!(
            real_in(&project.join("here/a"), &roots),
            Some(project.join("a"))
        );
    }
}
