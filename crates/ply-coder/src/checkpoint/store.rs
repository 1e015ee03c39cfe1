//! Where checkpoints lie: contents by their digest, and a record per turn.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::record::Record;

/// How long a turn can be taken back.
pub(super) const KEPT_FOR: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// How much longer contents stay than records: a turn's are older than its record.
const LONGER: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of all contents. When there are more, the oldest go.
const STORE_BYTES_MAX: u64 = 2 << 30;
/// Bytes that this process writes before it looks for old contents again.
const PRUNE_AFTER_BYTES: u64 = 256 << 20;
/// Bytes of a record that is read.
const RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Records of a session that are looked at.
const RECORDS_MAX: usize = 10_000;

/// A content, by its digest in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Id(String);

impl Id {
    fn of(content: &[u8]) -> Self {
        Self(hex(content))
    }
}

/// The store of one session; contents are shared by all.
#[derive(Debug, Clone)]
pub(super) struct Store {
    objects: PathBuf,
    records: PathBuf,
}

impl Store {
    /// Returns the store below a directory. Nothing is made before something is kept.
    pub(super) fn new(directory: &Path, session: &str) -> Self {
        Self {
            objects: directory.join("objects"),
            records: directory.join("sessions").join(name(session)),
        }
    }

    /// Returns the store of another session.
    pub(super) fn of(&self, session: &str) -> Self {
        let sessions = self.records.parent().unwrap_or(Path::new("/"));
        Self {
            objects: self.objects.clone(),
            records: sessions.join(name(session)),
        }
    }

    /// Keeps a record of another session, as long as that one does: its contents do not stay longer.
    pub(super) fn share(&self, theirs: &Self, number: u64) -> io::Result<()> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.records)?;
        // A record is replaced and never written to.
        match fs::hard_link(theirs.record(number), self.record(number)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    }

    /// Keeps a content.
    pub(super) fn put(&self, content: &[u8]) -> io::Result<Id> {
        let id = Id::of(content);
        let place = self.place(&id);
        if let Ok(file) = File::options().append(true).open(&place) {
            // What is in use again is not old.
            return file.set_modified(now()).map(|()| id);
        }
        write(&place, content)?;
        WRITTEN.fetch_add(content.len() as u64, Ordering::Relaxed);
        Ok(id)
    }

    /// Returns a content as it was kept.
    pub(super) fn get(&self, id: &Id) -> io::Result<Vec<u8>> {
        let content = fs::read(self.place(id))?;
        match Id::of(&content) == *id {
            true => Ok(content),
            // After a loss of power, a file may be shorter than it was.
            false => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it is damaged in the store",
            )),
        }
    }

    fn place(&self, id: &Id) -> PathBuf {
        // An id comes from a record; a damaged one must not lead elsewhere.
        let name: String = id.0.chars().filter(char::is_ascii_hexdigit).collect();
        let (first, rest) = name.split_at(name.len().min(2));
        self.objects.join(first).join(rest)
    }

    /// Keeps a record, in place of one with its number.
    pub(super) fn keep(&self, record: &Record) -> io::Result<()> {
        let text = serde_json::to_vec(record).map_err(io::Error::other)?;
        write(&self.record(record.number), &text)
    }

    /// Forgets a record.
    pub(super) fn forget(&self, number: u64) -> io::Result<()> {
        fs::remove_file(self.record(number))
    }

    fn record(&self, number: u64) -> PathBuf {
        self.records.join(format!("{number:08}.json"))
    }

    /// Returns the records that can be read, in their order.
    pub(super) fn records(&self) -> Vec<Record> {
        let Ok(names) = fs::read_dir(&self.records) else {
            return Vec::new();
        };
        let read = |path: &Path| {
            let is_small = fs::metadata(path).ok()?.len() <= RECORD_BYTES_MAX;
            let text = is_small.then(|| fs::read(path).ok()).flatten()?;
            serde_json::from_slice::<Record>(&text).ok()
        };
        let names = names.flatten().take(RECORDS_MAX);
        let mut records: Vec<_> = names.filter_map(|name| read(&name.path())).collect();
        records.sort_by_key(|record| record.number);
        records
    }

    /// Removes what is old in the background, when the program begins and whenever much has been written since.
    pub(super) fn prune_if_due(&self) {
        let written = WRITTEN.load(Ordering::Relaxed);
        if written >= PRUNE_AFTER_BYTES && WRITTEN.swap(0, Ordering::Relaxed) >= PRUNE_AFTER_BYTES {
            let store = self.clone();
            drop(std::thread::spawn(move || store.prune(STORE_BYTES_MAX)));
        }
    }

    /// Removes what nobody has used for long, of all sessions, and of what is left the oldest beyond so many bytes.
    fn prune(&self, bytes_max: u64) {
        let mut left = Vec::new();
        for objects in directories(&self.objects) {
            left.extend(remove_old(&objects, KEPT_FOR + LONGER));
        }
        for session in self.records.parent().into_iter().flat_map(directories) {
            remove_old(&session, KEPT_FOR);
        }
        let mut bytes: u64 = left.iter().map(|(_, bytes, _)| bytes).sum();
        left.sort_unstable();
        for (_, own, file) in left {
            if bytes <= bytes_max {
                break;
            }
            match fs::remove_file(&file) {
                Ok(()) => bytes -= own,
                Err(error) => tracing::debug!(%error, "an old checkpoint stays"),
            }
        }
    }
}

/// Bytes that this process wrote since old contents were looked for; at first that is due.
static WRITTEN: AtomicU64 = AtomicU64::new(PRUNE_AFTER_BYTES);

/// Returns what the directory of a session is called. An id is whatever its maker liked; a digest is a name that every file system
/// takes.
fn name(session: &str) -> String {
    let mut name = hex(session.as_bytes());
    name.truncate(32);
    name
}

fn directories(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Removes the old files of a directory. Returns the others: when each was last used, its length and its path.
fn remove_old(directory: &Path, age: Duration) -> Vec<(SystemTime, u64, PathBuf)> {
    let mut left = Vec::new();
    for file in directories(directory) {
        let Ok(stat) = fs::symlink_metadata(&file) else {
            continue;
        };
        let modified = stat.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        if now().duration_since(modified).unwrap_or_default() <= age {
            left.push((modified, stat.len(), file));
        } else if let Err(error) = fs::remove_file(&file) {
            tracing::debug!(%error, "an old checkpoint stays");
        }
    }
    // Only if it is empty.
    fs::remove_dir(directory).ok();
    left
}

/// Writes a file that nobody else may read; its name never stands for half of it.
fn write(place: &Path, content: &[u8]) -> io::Result<()> {
    let directory = place.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let mut number = 0_u32;
    loop {
        let fresh = directory.join(format!(".new-{}-{number}", std::process::id()));
        let mut options = File::options();
        let opened = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh);
        let mut file = match opened {
            // Another thread writes, or a process of the same number died here.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 64 => {
                number += 1;
                continue;
            }
            opened => opened?,
        };
        let written = file
            .write_all(content)
            .and_then(|()| fs::rename(&fresh, place));
        if written.is_err() {
            fs::remove_file(&fresh).ok();
        }
        return written;
    }
}

/// Returns the time by which file systems go.
#[expect(
    clippy::disallowed_methods,
    reason = "it is compared with times of files, which no program passes in"
)]
pub(super) fn now() -> SystemTime {
    SystemTime::now()
}

fn hex(bytes: &[u8]) -> String {
    let digest = digest(&SHA256, bytes);
    digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_comes_back_and_a_damaged_one_does_not() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::new(place.path(), "s");
        let id = store.put(b"one").unwrap();
        assert_eq!(store.put(b"one").unwrap(), id);
        assert_eq!(store.get(&id).unwrap(), b"one");
        fs::write(store.place(&id), "on").unwrap();
        assert!(store.get(&id).is_err());
    }

    #[test]
    fn old_contents_and_records_go_and_new_ones_stay() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::new(place.path(), "s");
        let (old, new) = (store.put(b"old").unwrap(), store.put(b"new").unwrap());
        let aged = File::options().append(true).open(store.place(&old));
        let long_ago = now() - KEPT_FOR - LONGER - LONGER;
        aged.unwrap().set_modified(long_ago).unwrap();
        store.keep(&Record::new(1, "p")).unwrap();
        store.prune(STORE_BYTES_MAX);
        assert!(store.get(&old).is_err());
        assert_eq!(store.get(&new).unwrap(), b"new");
        assert_eq!(store.records().len(), 1);
    }

    #[test]
    fn the_store_is_bounded_and_what_was_used_last_stays() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::new(place.path(), "s");
        let contents: Vec<_> = (0_u8..4).map(|byte| vec![byte; 1000]).collect();
        for (age, content) in (1..).zip(&contents) {
            let id = store.put(content).unwrap();
            let file = File::options().append(true).open(store.place(&id));
            let used = now() - Duration::from_secs(age * 60);
            file.unwrap().set_modified(used).unwrap();
        }
        // The oldest is in use again.
        store.put(&contents[3]).unwrap();
        store.prune(2500);
        let is_there = |content: &Vec<u8>| store.get(&Id::of(content)).is_ok();
        let there: Vec<_> = contents.iter().map(is_there).collect();
        assert_eq!(there, [true, false, false, true]);
    }
}
