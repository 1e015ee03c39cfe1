//! Trees of files, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use similar::TextDiff;

/// All files below a directory, by their paths relative to it. Directories without files do not count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree(pub BTreeMap<String, File>);

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum File {
    /// A regular file.
    Regular {
        /// What is in it.
        bytes: Vec<u8>,
        /// Whether its owner may execute it.
        executable: bool,
    },
    /// A symbolic link.
    Link(String),
}

impl File {
    /// Returns a file with a text in it.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Regular {
            bytes: text.into().into_bytes(),
            executable: false,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Regular {
                executable: true, ..
            } => "an executable file",
            Self::Regular { .. } => "a file",
            Self::Link(_) => "a symbolic link",
        }
    }

    /// Returns a text that shows every byte that matters.
    fn shown(&self) -> String {
        match self {
            Self::Link(target) => format!("{target}\n"),
            Self::Regular { bytes, .. } => match std::str::from_utf8(bytes) {
                // A difference that nobody sees is no help.
                Ok(text) => text.replace('\r', "\u{240d}"),
                Err(_) => format!("{}\n", bytes.escape_ascii()),
            },
        }
    }
}

impl Tree {
    /// Reads a directory, but for some paths and what is below them.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn read(directory: &Path, ignored: &[String]) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.add(directory, "", ignored)?;
        Ok(tree)
    }

    fn add(&mut self, directory: &Path, prefix: &str, ignored: &[String]) -> io::Result<()> {
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type()?;
            if ignored.contains(&path) {
                continue;
            }
            if kind.is_dir() {
                self.add(&entry.path(), &format!("{path}/"), ignored)?;
                continue;
            }
            let file = match kind.is_symlink() {
                true => File::Link(
                    std::fs::read_link(entry.path())?
                        .to_string_lossy()
                        .into_owned(),
                ),
                false => File::Regular {
                    bytes: std::fs::read(entry.path())?,
                    executable: entry.metadata()?.permissions().mode() & 0o100 != 0,
                },
            };
            self.0.insert(path, file);
        }
        Ok(())
    }

    /// Writes all files below a directory.
    ///
    /// # Errors
    ///
    /// One cannot be written.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        for (path, file) in &self.0 {
            let path = directory.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            match file {
                File::Link(target) => std::os::unix::fs::symlink(target, &path)?,
                File::Regular { bytes, executable } => {
                    std::fs::write(&path, bytes)?;
                    let mode = if *executable { 0o755 } else { 0o644 };
                    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?;
                }
            }
        }
        Ok(())
    }

    /// Returns the paths at which two trees differ.
    pub fn changed<'t>(&'t self, other: &'t Self) -> Vec<&'t str> {
        let paths: BTreeSet<_> = self.0.keys().chain(other.0.keys()).collect();
        let differ = |path: &&String| self.0.get(*path) != other.0.get(*path);
        let paths = paths.into_iter().filter(differ);
        paths.map(String::as_str).collect()
    }

    /// Returns how `found` differs from this tree, as people read differences: a `-` for what was wanted
    /// and is missing, a `+` for what is there instead. Empty if it does not.
    pub fn difference(&self, found: &Self) -> String {
        let mut text = String::new();
        for path in self.changed(found) {
            let (wanted, found) = (self.0.get(path), found.0.get(path));
            let kind = |file: Option<&File>| file.map_or("nothing", File::kind);
            if kind(wanted) != kind(found) {
                let (wanted, found) = (kind(wanted), kind(found));
                text.push_str(&format!("{path}: wanted {wanted}, found {found}\n"));
            }
            let shown = |file: Option<&File>| file.map(File::shown).unwrap_or_default();
            let (wanted, found) = (shown(wanted), shown(found));
            let diff = TextDiff::from_lines(&wanted, &found);
            let (from, to) = (format!("wanted/{path}"), format!("found/{path}"));
            text.push_str(&diff.unified_diff().header(&from, &to).to_string());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let files = files.iter();
        Tree(
            files
                .map(|(path, text)| ((*path).to_owned(), File::text(*text)))
                .collect(),
        )
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut wanted = tree(&[("a", "1\r\n"), ("b/c/d", "2")]);
        let script = File::Regular {
            bytes: vec![0xff, 0],
            executable: true,
        };
        wanted.0.insert("b/run".to_owned(), script);
        wanted.0.insert("l".to_owned(), File::Link("a".to_owned()));
        let directory = tempfile::tempdir().unwrap();
        wanted.write(directory.path()).unwrap();
        assert_eq!(Tree::read(directory.path(), &[]).unwrap(), wanted);
        let rest = Tree::read(directory.path(), &["b".to_owned(), "l".to_owned()]).unwrap();
        assert_eq!(rest, tree(&[("a", "1\r\n")]));
    }

    #[test]
    fn a_difference_names_files_lines_and_line_ends() {
        let wanted = tree(&[("a", "1\n2\r\n"), ("gone", "x\n"), ("same", "s\n")]);
        let found = tree(&[("a", "1\n2\n"), ("new", "y\n"), ("same", "s\n")]);
        assert_eq!(wanted.difference(&wanted), "");
        insta::assert_snapshot!(wanted.difference(&found), @r"
        --- wanted/a
        +++ found/a
        @@ -1,2 +1,2 @@
         1
        -2␍
        +2
        gone: wanted a file, found nothing
        --- wanted/gone
        +++ found/gone
        @@ -1 +0,0 @@
        -x
        new: wanted nothing, found a file
        --- wanted/new
        +++ found/new
        @@ -0,0 +1 @@
        +y
        ");
    }

    #[test]
    fn a_lost_right_to_execute_is_a_difference() {
        let found = tree(&[("run", "x\n")]);
        let script = File::Regular {
            bytes: b"x\n".to_vec(),
            executable: true,
        };
        let wanted = Tree([("run".to_owned(), script)].into());
        assert_eq!(
            wanted.difference(&found),
            "run: wanted an executable file, found a file\n"
        );
    }
}
