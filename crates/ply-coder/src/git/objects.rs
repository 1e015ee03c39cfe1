//! Objects of a repository that are named by their ids.
//!
//! Git shows a commit with the names of its files, so what looks like a secret can be left out. The content of
//! a file that is named by the id of its object has no name to go by. So ids are looked up, in git's own files
//! and without running it: those of commits and directories are harmless, those of anything else are not.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;

/// How short an id may be cut, in digits.
const DIGITS_MIN: usize = 4;
/// How many objects are looked at whose ids begin alike. Git refuses an id that several objects could have.
const ALIKE_MAX: u64 = 16;
/// How many objects are followed that say only how they differ from another.
const DELTAS_MAX: usize = 4096;
/// How much of an object in a pack is read: its kind, its size and what it differs from.
const HEAD_BYTES: usize = 32;
/// How much of a file of its own is read for its kind.
const LOOSE_BYTES_MAX: u64 = 4096;
/// The longest list of further places for objects that is read.
const ALTERNATES_BYTES_MAX: u64 = 64 * 1024;

/// What the index of a pack begins with, in its second version.
const MAGIC: [u8; 8] = *b"\xfftOc\0\0\0\x02";
/// Where the counts and the ids begin in it.
const COUNTS_AT: u64 = 8;
const IDS_AT: u64 = COUNTS_AT + 256 * 4;

/// Kinds of objects in a pack.
const COMMIT: u8 = 1;
const TREE: u8 = 2;
const DIFFERS: u8 = 6;

/// The objects of a repository.
#[derive(Debug)]
pub(crate) struct Objects {
    folders: Vec<PathBuf>,
}

/// The index of a pack.
struct Index {
    file: File,
    /// How many objects it has.
    count: u64,
    id_bytes: u64,
}

impl Objects {
    /// Returns those of a repository, by the directory that its working trees share.
    pub(crate) fn new(common: &Path) -> Self {
        let own = common.join("objects");
        let mut more = String::new();
        if let Ok(list) = File::open(own.join("info/alternates")) {
            // What cannot be read as text names no folder that is there.
            drop(list.take(ALTERNATES_BYTES_MAX).read_to_string(&mut more));
        }
        let more: Vec<PathBuf> = more.lines().map(|line| own.join(line.trim())).collect();
        let folders = std::iter::once(own).chain(more).collect();
        Self { folders }
    }

    /// Says whether a word of a command may name the content of a file by its id.
    pub(crate) fn may_name_file(&self, word: &str) -> bool {
        word.split("..").filter_map(id_in).any(|id| {
            let mut folders = self.folders.iter();
            folders.any(|folder| is_loose_file(folder, &id) || is_packed_file(folder, &id))
        })
    }
}

fn is_packed_file(folder: &Path, id: &str) -> bool {
    let entries = std::fs::read_dir(folder.join("pack"));
    let paths = entries.into_iter().flatten().flatten();
    let mut indexes = paths.map(|entry| entry.path()).filter(|path| {
        let extension = path.extension();
        extension.is_some_and(|extension| extension == "idx") && path.is_file()
    });
    // A pack that cannot be read may have it.
    indexes.any(|path| {
        let pack = File::open(path.with_extension("pack")).ok();
        let found = Index::open(&path).zip(pack);
        let is_file = found.and_then(|(index, pack)| index.is_file(&pack, id));
        is_file.unwrap_or(true)
    })
}

impl Index {
    fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        if bytes_at::<8>(&file, 0)? != MAGIC {
            return None;
        }
        let count = number(&file, COUNTS_AT + 255 * 4)?;
        // Its length tells which ids it has: for each of them there is a checksum and an offset, for some a
        // longer offset, and at the end are two checksums of that length.
        let short = IDS_AT + count * (20 + 8) + 2 * 20;
        let is_short = (short..=short + count * 8).contains(&file.metadata().ok()?.len());
        Some(Self {
            file,
            count,
            id_bytes: if is_short { 20 } else { 32 },
        })
    }

    /// Says whether there is an object with this id in its pack that is neither a commit nor a directory.
    fn is_file(&self, pack: &File, id: &str) -> Option<bool> {
        let first = u64::from_str_radix(id.get(..2)?, 16).ok()?;
        let mut low = match first.checked_sub(1) {
            Some(before) => number(&self.file, COUNTS_AT + before * 4)?,
            None => 0,
        };
        let end = number(&self.file, COUNTS_AT + first * 4)?;
        let mut high = end;
        while low < high {
            let middle = low.midpoint(high);
            match self.id(middle)?.as_str() < id {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        for place in (low..end).take_while(|place| *place < low + ALIKE_MAX) {
            if !self.id(place)?.starts_with(id) {
                break;
            }
            if !matches!(kind(pack, self.offset(place)?)?, COMMIT | TREE) {
                return Some(true);
            }
        }
        Some(false)
    }

    fn id(&self, place: u64) -> Option<String> {
        let mut id = vec![0; usize::try_from(self.id_bytes).ok()?];
        let at = IDS_AT + place * self.id_bytes;
        self.file.read_exact_at(&mut id, at).ok()?;
        Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns where an object is in its pack.
    fn offset(&self, place: u64) -> Option<u64> {
        // Behind the ids are checksums.
        let offsets = IDS_AT + self.count * (self.id_bytes + 4);
        let offset = number(&self.file, offsets + place * 4)?;
        match offset.checked_sub(1 << 31) {
            None => Some(offset),
            // It is too large for this table, and in the next one.
            Some(place) => {
                let at = offsets + self.count * 4 + place * 8;
                bytes_at(&self.file, at).map(u64::from_be_bytes)
            }
        }
    }
}

/// Says whether a word looks like the id of an object.
pub(crate) fn may_be_id(word: &str) -> bool {
    word.split("..").any(|part| id_in(part).is_some())
}

/// Returns the id in a word, in small letters, if the word is one for whatever has that id. In `1234:src` and
/// `1234~2` only a commit or a directory can have it.
fn id_in(word: &str) -> Option<String> {
    let word = word.trim_start_matches(['.', '^']);
    let digits = word
        .find(|c: char| !c.is_ascii_hexdigit())
        .unwrap_or(word.len());
    let (id, rest) = word.split_at(digits);
    let whole = rest.is_empty() || rest.starts_with('^');
    (whole && id.len() >= DIGITS_MIN).then(|| id.to_ascii_lowercase())
}

/// Says whether an object that has a file to itself is neither a commit nor a directory.
fn is_loose_file(folder: &Path, id: &str) -> bool {
    let Some((two, rest)) = id.split_at_checked(2) else {
        return false;
    };
    let entries = std::fs::read_dir(folder.join(two));
    let entries = entries.into_iter().flatten().flatten();
    let is_alike = |name: &std::ffi::OsStr| name.to_str().is_some_and(|it| it.starts_with(rest));
    let mut alike = entries.filter(|entry| is_alike(&entry.file_name()));
    alike.any(|entry| {
        let mut begin = [0; 6];
        let path = entry.path();
        // A pipe would never end.
        let file = path.is_file().then(|| File::open(path).ok()).flatten();
        let read = file.is_some_and(|file| {
            let mut text = ZlibDecoder::new(file.take(LOOSE_BYTES_MAX));
            text.read_exact(&mut begin).is_ok()
        });
        !read || !(begin == *b"commit" || begin.starts_with(b"tree "))
    })
}

/// Returns the kind of an object in a pack.
fn kind(pack: &File, mut offset: u64) -> Option<u8> {
    for _ in 0..DELTAS_MAX {
        let mut head = [0; HEAD_BYTES];
        let read = pack.read_at(&mut head, offset).ok()?;
        let mut bytes = head.iter().take(read).copied();
        let mut byte = bytes.next()?;
        let kind = (byte >> 4) & 7;
        if kind != DIFFERS {
            return Some(kind);
        }
        while byte & 0x80 != 0 {
            byte = bytes.next()?;
        }
        byte = bytes.next()?;
        let mut back = u64::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = bytes.next()?;
            back = (back.checked_add(1)?.checked_mul(128)?) | u64::from(byte & 0x7f);
        }
        offset = offset.checked_sub(back)?;
    }
    None
}

fn bytes_at<const N: usize>(file: &File, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

fn number(file: &File, at: u64) -> Option<u64> {
    bytes_at(file, at).map(|bytes| u64::from(u32::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::git;

    #[test]
    fn ids_are_found_where_they_may_stand_for_anything() {
        for (word, id) in [
            ("1234", Some("1234")),
            ("ABCDEF12", Some("abcdef12")),
            ("^1234", Some("1234")),
            ("1234^{blob}", Some("1234")),
            ("1234^{}", Some("1234")),
            ("123", None),
            ("main", None),
            ("1234:src", None),
            ("1234~2", None),
            ("1234^", Some("1234")),
            ("feature-1234", None),
            ("1234.txt", None),
        ] {
            assert_eq!(id_in(word).as_deref(), id, "{word}");
        }
    }

    #[test]
    fn h7_files_are_told_from_commits_wherever_git_keeps_them() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let git = |words: &[&str]| git(here, words);
        git(&["init", "-q"]);
        // Long and alike, so that a pack has them as differences.
        for round in 0..20 {
            let text = format!("{}\nround {round}\n", "KEY=hunter2\n".repeat(500));
            std::fs::write(here.join(".env"), text).unwrap();
            git(&["add", ".env"]);
            git(&["commit", "-q", "-m", &format!("round {round}")]);
        }
        let objects = git(&[
            "cat-file",
            "--batch-check=%(objectname) %(objecttype)",
            "--batch-all-objects",
        ]);
        let check = || {
            let known = Objects::new(&here.join(".git"));
            for line in objects.lines() {
                let (id, kind) = line.split_once(' ').unwrap();
                let is_file = kind == "blob";
                assert_eq!(known.may_name_file(id), is_file, "{line}");
                // Cut short, unless another one begins alike.
                let short = id.get(..12).unwrap();
                assert_eq!(known.may_name_file(short), is_file, "{line}");
                assert_eq!(known.may_name_file(&format!("{short}..HEAD")), is_file);
            }
            assert!(!known.may_name_file("0000000000"));
        };
        check();
        git(&["gc", "-q", "--aggressive", "--prune=now"]);
        assert!(here.join(".git/objects/pack").read_dir().unwrap().count() > 0);
        check();
        let index = here.join(".git/objects/pack").read_dir().unwrap().flatten();
        let index = index.map(|entry| entry.path());
        for index in index.filter(|path| path.extension().is_some_and(|it| it == "idx")) {
            std::fs::remove_file(&index).unwrap();
            std::fs::write(index, "damaged").unwrap();
        }
        assert!(Objects::new(&here.join(".git")).may_name_file("1234"));
    }
}
