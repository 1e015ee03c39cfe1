//! Git's own files, read without running git: `git status` itself may start programs that a repository's settings
//! name.

mod index;
mod objects;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

pub(crate) use self::index::{Compared, Entry, Index};
pub(crate) use self::objects::{Objects, may_be_id};

/// The name of a repository's data in its working tree.
pub(crate) const DATA: &str = ".git";

/// How much of a text file is read; a longer one is not trusted.
const TEXT_BYTES_MAX: u64 = 256 * 1024;

/// Reads a small text file; one that is not there is empty.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    match bytes(path, TEXT_BYTES_MAX) {
        Ok(bytes) => {
            String::from_utf8(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// Reads a regular file that is not too long.
fn bytes(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let facts = std::fs::metadata(path)?;
    // A pipe would never end.
    if !facts.is_file() || facts.len() > bytes_max {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the directory with the data of a working tree. For a further working tree and for a submodule, a file
/// in its place names it.
pub(crate) fn data_of(tree: &Path) -> Option<PathBuf> {
    let data = tree.join(DATA);
    match data.is_dir() {
        true => Some(data),
        false => named_by(&data, "gitdir:"),
    }
}

/// Returns the directory that a small file names after a word.
pub(crate) fn named_by(file: &Path, word: &str) -> Option<PathBuf> {
    let text = text(file).ok().filter(|text| !text.is_empty())?;
    let named = file.parent()?.join(text.strip_prefix(word)?.trim());
    named.is_dir().then_some(named)
}

#[cfg(test)]
pub(crate) mod testing {
    use std::path::Path;

    /// Runs git in a directory, with nobody's settings, and returns what it says.
    #[track_caller]
    pub(crate) fn git(place: &Path, words: &[&str]) -> String {
        let mut git = std::process::Command::new("git");
        let settings = [
            "user.name=a",
            "user.email=a@b.example",
            "init.defaultBranch=main",
        ];
        git.args(settings.iter().flat_map(|setting| ["-c", setting]))
            .args(words)
            .current_dir(place)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        let done = git.output().unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }
}
