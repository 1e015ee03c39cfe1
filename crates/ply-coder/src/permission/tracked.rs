//! What git tracks, read from its index: which files, and whether they are as they were.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// How much of an index is read; a longer one is not known.
const INDEX_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The mode of a submodule.
const SUBMODULE: u32 = 0o160_000;
/// How many bytes stand before the id of an object in an entry.
const FACTS_BYTES: usize = 40;

/// The index of a repository.
#[derive(Debug, Default)]
pub(super) struct Index {
    bytes: Vec<u8>,
    /// Where each entry begins, and its whole name.
    entries: Vec<(usize, String)>,
    id_bytes: usize,
}

/// A tracked file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'i> {
    /// Its path below the working tree.
    pub(super) name: &'i str,
    facts: &'i [u8],
    id: &'i [u8],
}

impl Index {
    /// Reads an index. One that is not there is empty; none if it cannot be read or not all of it is there.
    pub(super) fn read(path: &Path, sha256: bool) -> Option<Self> {
        let id_bytes = if sha256 { 32 } else { 20 };
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Some(Self::default());
            }
            Err(_) => return None,
        };
        let mut bytes = Vec::new();
        let read = file.take(INDEX_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        if u64::try_from(read).ok()? >= INDEX_BYTES_MAX {
            return None;
        }
        let entries = entries(&bytes, id_bytes)?;
        Some(Self {
            bytes,
            entries,
            id_bytes,
        })
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries.iter().filter_map(|(start, name)| {
            let id = start + FACTS_BYTES;
            Some(Entry {
                name,
                facts: self.bytes.get(*start..id)?,
                id: self.bytes.get(id..id + self.id_bytes)?,
            })
        })
    }

    pub(super) fn has_submodules(&self) -> bool {
        self.entries().any(|entry| entry.fact(6) == Some(SUBMODULE))
    }
}

impl Entry<'_> {
    /// Returns one of the numbers about it.
    fn fact(&self, place: usize) -> Option<u32> {
        number(self.facts, place * 4)
    }

    /// Says whether the file is as git last saw it, by its size and time.
    pub(super) fn is_unchanged(&self, tree: &Path) -> bool {
        let Ok(about) = tree.join(self.name).symlink_metadata() else {
            return false;
        };
        let of_file = [about.mtime(), about.mtime_nsec(), about.len().cast_signed()];
        let of_index = [self.fact(2), self.fact(3), self.fact(9)];
        of_file
            .iter()
            .zip(of_index)
            // It has the lower half of each.
            .all(|(now, then)| then == Some(*now as u32))
    }

    /// Says whether a word is the beginning of its object's id.
    pub(super) fn has_id(&self, word: &str) -> bool {
        let id: String = self.id.iter().map(|byte| format!("{byte:02x}")).collect();
        word.len() >= 4 && id.starts_with(&word.to_ascii_lowercase())
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*four))
}

/// Finds the entries; none where something is not as it should be.
fn entries(bytes: &[u8], id_bytes: usize) -> Option<Vec<(usize, String)>> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (number(bytes, 4)?, number(bytes, 8)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let (mut found, mut at) = (Vec::new(), 12);
    for _ in 0..count {
        let start: usize = at;
        let flags_at = start + FACTS_BYTES + id_bytes;
        let flags = bytes.get(flags_at..)?.first_chunk::<2>()?;
        let extended = version >= 3 && flags.first()? & 0x40 != 0;
        at = flags_at + if extended { 4 } else { 2 };
        let mut name = Vec::new();
        if version == 4 {
            let (dropped, next) = offset(bytes, at)?;
            let last: &str = found.last().map_or("", |(_, name): &(_, String)| name);
            name.extend_from_slice(last.as_bytes().get(..last.len().checked_sub(dropped)?)?);
            at = next;
        }
        let rest = bytes.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(rest.get(..end)?);
        at += end + 1;
        if version < 4 {
            // Each entry fills up eights with nulls, and has at least one.
            at = start + (at - start).next_multiple_of(8);
        }
        // A name that is no text is compared by what can be read of it.
        found.push((start, String::from_utf8_lossy(&name).into_owned()));
    }
    (!is_split(bytes, at, id_bytes)).then_some(found)
}

/// Reads a number of as many bytes as it needs.
fn offset(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some((value, at + 1))
}

/// Says whether other entries are in another file.
fn is_split(bytes: &[u8], mut at: usize, id_bytes: usize) -> bool {
    while at + 8 + id_bytes <= bytes.len() {
        if bytes.get(at..at + 4) == Some(b"link") {
            return true;
        }
        let Some(length) = number(bytes, at + 4) else {
            return true;
        };
        at = at.saturating_add(8).saturating_add(length as usize);
    }
    false
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    fn repository(files: &[&str], version: &str) -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().to_owned();
        for file in files {
            let path = at.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, file).unwrap();
        }
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            let isolated = git.args(words).current_dir(&at).env("HOME", &at);
            assert!(isolated.output().unwrap().status.success(), "{words:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "."]);
        git(&["update-index", "--index-version", version]);
        (scratch, at)
    }

    #[test]
    fn the_files_of_every_version_of_an_index_are_known() {
        for version in ["2", "4"] {
            let files = [".env", "src/a.rs", "src/abc/d.rs", "src/abc/e.rs", "z"];
            let (_scratch, at) = repository(&files, version);
            let index = Index::read(&at.join(".git/index"), false).unwrap();
            let names: Vec<_> = index.entries().map(|entry| entry.name).collect();
            assert_eq!(names, files, "version {version}");
            let first = index.entries().next().unwrap();
            assert!(first.is_unchanged(&at) && !index.has_submodules());
            std::fs::write(at.join(".env"), "longer").unwrap();
            assert!(!first.is_unchanged(&at));
            // `printf .env | git hash-object --stdin`
            let id = git_id(".env");
            assert!(first.has_id(&id[..7]) && first.has_id(&id) && !first.has_id("ffff"));
        }
    }

    fn git_id(content: &str) -> String {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("content");
        std::fs::write(&file, content).unwrap();
        let mut git = Command::new("git");
        let output = git.arg("hash-object").arg(file).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn what_is_no_index_is_not_known_and_one_that_is_not_there_is_empty() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("index");
        assert_eq!(Index::read(&file, false).unwrap().entries().count(), 0);
        for bytes in [
            &b""[..],
            b"DIRC",
            b"DIRC\0\0\0\x05\0\0\0\0",
            b"DIRC\0\0\0\x02\0\0\0\x01short",
        ] {
            std::fs::write(&file, bytes).unwrap();
            assert!(Index::read(&file, false).is_none(), "{bytes:?}");
        }
    }
}
