//! What git tracks, read from its index: which files, and whether they are as they were.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// How much of an index is read; a longer one is not known.
const INDEX_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The mode of a submodule.
const SUBMODULE: u32 = 0o160_000;
/// How many bytes stand before the id of an object in an entry.
const FACTS_BYTES: usize = 40;
/// The bits of an entry's mode that say what it is, and that of a regular file.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
/// The bits of an entry's flags: not to be compared, and more flags follow.
const ASSUME_VALID: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;

/// The index of a repository.
#[derive(Debug, Default)]
pub(crate) struct Index {
    bytes: Vec<u8>,
    /// Where each entry begins, and its whole name.
    entries: Vec<(usize, String)>,
    id_bytes: usize,
    /// Where the last of them ends.
    end: usize,
}

/// A tracked file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'i> {
    /// Its path below the working tree.
    pub(crate) name: &'i str,
    facts: &'i [u8],
    id: &'i [u8],
    flags: u16,
}

/// How a file is, compared with what git last saw of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    Same,
    /// Written since, with as many bytes as before.
    Touched,
    Changed,
}

impl Index {
    /// Reads an index. One that is not there is empty; none if it cannot be read or not all of it is there.
    pub(crate) fn read(path: &Path, sha256: bool) -> Option<Self> {
        let id_bytes = if sha256 { 32 } else { 20 };
        let bytes = match super::bytes(path, INDEX_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Some(Self::default());
            }
            Err(_) => return None,
        };
        let (entries, end) = entries(&bytes, id_bytes)?;
        Some(Self {
            bytes,
            entries,
            id_bytes,
            end,
        })
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries.iter().filter_map(|(start, name)| {
            let id = start + FACTS_BYTES;
            let flags = self.bytes.get(id + self.id_bytes..)?;
            Some(Entry {
                name,
                facts: self.bytes.get(*start..id)?,
                id: self.bytes.get(id..id + self.id_bytes)?,
                flags: u16::from_be_bytes(*flags.first_chunk()?),
            })
        })
    }

    /// Says whether something was added since the last commit: git then drops the tree that it keeps for the whole.
    pub(crate) fn is_staged(&self) -> bool {
        let mut extensions = extensions(&self.bytes, self.end, self.id_bytes);
        let tree = extensions.find(|(name, _)| name == b"TREE");
        tree.is_some_and(|(_, data)| data.starts_with(b"\0-1 "))
    }

    /// Says whether a word is the beginning of the id of a file that is tracked now, under a name.
    pub(crate) fn has_id(&self, word: &str) -> bool {
        self.entries().any(|entry| entry.has_id(word))
    }

    pub(crate) fn has_submodules(&self) -> bool {
        self.entries().any(|entry| entry.fact(6) == Some(SUBMODULE))
    }
}

impl Entry<'_> {
    /// Returns one of the numbers about it.
    fn fact(&self, place: usize) -> Option<u32> {
        number(self.facts, place * 4)
    }

    /// Says whether git compares it with the file: a regular one that is checked out.
    pub(crate) fn is_compared(&self) -> bool {
        let is_regular = self.fact(6).is_some_and(|mode| mode & KIND == REGULAR);
        is_regular && self.flags & (ASSUME_VALID | EXTENDED) == 0
    }

    /// Compares it with the file, by size and time.
    pub(crate) fn compare(&self, tree: &Path) -> Compared {
        let now = tree.join(self.name).symlink_metadata();
        let how = now.ok().and_then(|now| self.compare_with(&now));
        how.unwrap_or(Compared::Changed)
    }

    fn compare_with(&self, now: &Metadata) -> Option<Compared> {
        // It has the lower half of each.
        let has_size = self.fact(9)? == now.size() as u32;
        let has_time = self.fact(2)? == now.mtime() as u32
            // Some write no parts of seconds.
            && [0, now.mtime_nsec() as u32].contains(&self.fact(3)?);
        Some(match (has_size, has_time) {
            (true, true) => Compared::Same,
            (true, false) => Compared::Touched,
            (false, _) => Compared::Changed,
        })
    }

    /// Says whether a word is the beginning of its object's id.
    pub(crate) fn has_id(&self, word: &str) -> bool {
        let id: String = self.id.iter().map(|byte| format!("{byte:02x}")).collect();
        word.len() >= 4 && id.starts_with(&word.to_ascii_lowercase())
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*four))
}

/// Finds the entries and where they end; none where something is not as it should be.
fn entries(bytes: &[u8], id_bytes: usize) -> Option<(Vec<(usize, String)>, usize)> {
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
    // Others may be in another file.
    let is_split = extensions(bytes, at, id_bytes).any(|(name, _)| name == b"link");
    (!is_split).then_some((found, at))
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

/// Returns what follows the entries, each with its name. A checksum is behind it.
fn extensions(
    bytes: &[u8],
    mut at: usize,
    id_bytes: usize,
) -> impl Iterator<Item = (&[u8], &[u8])> {
    std::iter::from_fn(move || {
        let name = bytes.get(at..at + 4)?;
        let data = at + 8;
        let end = data.checked_add(number(bytes, at + 4)? as usize)?;
        if end + id_bytes > bytes.len() {
            return None;
        }
        at = end;
        Some((name, bytes.get(data..end)?))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::git::testing::git;

    fn repository(files: &[&str], version: &str) -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().to_owned();
        for file in files {
            let path = at.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, file).unwrap();
        }
        git(&at, &["init", "-q"]);
        git(&at, &["add", "."]);
        git(&at, &["update-index", "--index-version", version]);
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
            assert_eq!(first.compare(&at), Compared::Same);
            assert!(first.is_compared() && !index.has_submodules());
            std::fs::write(at.join(".env"), "longer").unwrap();
            assert_eq!(first.compare(&at), Compared::Changed);
            let id = git(&at, &["rev-parse", ":.env"]);
            assert!(first.has_id(&id[..7]) && first.has_id(&id) && !first.has_id("ffff"));
        }
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
