//! The file of the list: read as a whole, replaced as a whole, changed by one process at a time.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::RecentSession;

/// The version of the file that is written.
const VERSION: u32 = 1;
/// The largest file that is read; what is written stays far below.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// How long another process may keep the file for itself.
const LOCK_TIME_MAX: Duration = Duration::from_secs(2);
/// How long is waited before the lock is tried again.
const LOCK_RETRY_TIME: Duration = Duration::from_millis(10);

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    version: u32,
    sessions: Vec<RecentSession>,
}

/// Reads the sessions. A file that is damaged is as good as none, but one of a later version is left alone.
pub(super) fn read(path: &Path) -> io::Result<Vec<RecentSession>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut text = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut text)?;
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    if let Ok(Version { version }) = serde_json::from_slice(&text)
        && version > VERSION
    {
        let what = format!("{} was written by a newer version", path.display());
        return Err(io::Error::other(what));
    }
    let stored: Result<Stored, _> = serde_json::from_slice(&text);
    Ok(stored.map(|stored| stored.sessions).unwrap_or_default())
}

/// Changes the sessions. The caller holds the lock.
pub(super) fn change(path: &Path, change: impl FnOnce(&mut Vec<RecentSession>)) -> io::Result<()> {
    let mut sessions = read(path)?;
    change(&mut sessions);
    let stored = Stored {
        version: VERSION,
        sessions,
    };
    let text = serde_json::to_vec_pretty(&stored)?;
    let new = beside(path, ".new");
    // Nobody else writes it while the lock is held; what is there was left by a process that was killed.
    let mut file = private().truncate(true).open(&new)?;
    file.write_all(&text)?;
    file.sync_data()?;
    std::fs::rename(&new, path)
}

/// Waits until nobody else changes the file.
pub(super) async fn lock(path: &Path) -> io::Result<File> {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    if let Some(parent) = parent {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)?;
    }
    // Not the file itself, which is replaced by each change.
    let file = private().truncate(false).open(beside(path, ".lock"))?;
    let locked = async {
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) => tokio::time::sleep(LOCK_RETRY_TIME).await,
                done => return done.map_err(io::Error::from),
            }
        }
    };
    match tokio::time::timeout(LOCK_TIME_MAX, locked).await {
        Ok(locked) => locked.map(|()| file),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
