//! Paths as people write them: from the session's directory on, from home on, or whole.

use std::path::{Path, PathBuf};

/// Where paths are seen from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Paths {
    cwd: PathBuf,
    home: Option<PathBuf>,
}

impl Paths {
    pub(crate) fn new(cwd: impl Into<PathBuf>, home: Option<PathBuf>) -> Self {
        let cwd = cwd.into();
        Self { cwd, home }
    }

    /// Returns the same for another directory.
    pub(crate) fn at(&self, cwd: &Path) -> Self {
        Self::new(cwd, self.home.clone())
    }

    /// Returns the directory that paths are relative to.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns a path, relative to the session's directory if it is below that. Harmless to show.
    pub(crate) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) if !self.cwd.as_os_str().is_empty() => ply_client::text::path(below),
            _ => self.beneath_home(path),
        }
    }

    /// Returns a path with `~` for the user's own directory.
    pub(crate) fn beneath_home(&self, path: &Path) -> String {
        let home = self.home.as_deref();
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
            Some(below) => format!("~/{}", ply_client::text::path(below)),
            None => ply_client::text::path(path),
        }
    }

    /// Returns words of an agent with the paths in them relative to the session's directory.
    pub(crate) fn shortened(&self, words: &str) -> String {
        let cwd = self.cwd.to_string_lossy();
        if cwd.len() < 2 {
            return words.to_owned();
        }
        let mut shown = String::with_capacity(words.len());
        let mut rest = words;
        while let Some(place) = rest.find(cwd.as_ref()) {
            let (before, after) = rest.split_at(place);
            let after = after.get(cwd.len()..).unwrap_or_default();
            shown.push_str(before);
            match after.strip_prefix('/') {
                // `/work/project` is also in `/mnt/work/project/x`, where it is not this directory.
                Some(below) if !shown.ends_with(is_of_a_path) => rest = below,
                _ => {
                    shown.push_str(&cwd);
                    rest = after;
                }
            }
        }
        shown.push_str(rest);
        shown
    }
}

fn is_of_a_path(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '/' | '.' | '-' | '_' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Paths {
        Paths::new("/home/me/project", Some(PathBuf::from("/home/me")))
    }

    #[test]
    fn a_path_is_seen_from_the_session_then_from_home() {
        let shown = |path: &str| paths().shown(Path::new(path));
        assert_eq!(shown("/home/me/project/src/a.rs"), "src/a.rs");
        assert_eq!(shown("/home/me/project"), ".");
        assert_eq!(shown("/home/me/other/b.rs"), "~/other/b.rs");
        assert_eq!(shown("/etc/passwd"), "/etc/passwd");
        assert_eq!(shown("/home/me/project/../x"), "../x");
        assert_eq!(Paths::default().shown(Path::new("/a/b")), "/a/b");
    }

    #[test]
    fn the_home_directory_is_a_tilde() {
        let shown = |path: &str| paths().beneath_home(Path::new(path));
        assert_eq!(shown("/home/me"), "~");
        assert_eq!(shown("/home/me/project"), "~/project");
        assert_eq!(shown("/home/mean"), "/home/mean");
    }

    #[test]
    fn words_have_short_paths_and_those_of_others_stay_whole() {
        let shown = |words: &str| paths().shortened(words);
        assert_eq!(
            shown("Write `/home/me/project/src/a.rs`"),
            "Write `src/a.rs`"
        );
        assert_eq!(shown("/mnt/home/me/project/x"), "/mnt/home/me/project/x");
        assert_eq!(shown("/home/me/project-2/x"), "/home/me/project-2/x");
        assert_eq!(shown("in /home/me/project"), "in /home/me/project");
    }
}
