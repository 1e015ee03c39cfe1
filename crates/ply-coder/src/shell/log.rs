//! Whole outputs in files that only the user may read.
//!
//! Logs go when their session does. Those of a program that was killed go when a later one makes its first.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, BufRead as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;

use super::{Error, LOG_BYTES_MAX, LOGS_MAX, OUTPUT_BYTES_MAX};

/// After how long a log that nobody removed is removed.
const LEFTOVER_TIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How many lines of a log are read unless the call says so.
const LINES_DEFAULT: usize = 500;

/// The logs of a session.
#[derive(Debug)]
pub(super) struct Logs {
    dir: PathBuf,
    kept: Mutex<VecDeque<(String, PathBuf)>>,
    swept: Once,
}

impl Logs {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            kept: Mutex::default(),
            swept: Once::new(),
        }
    }

    /// Makes the log of this id. What goes wrong is kept to be told with the output.
    pub(super) async fn create(&self, id: &str) -> Log {
        let dir = self.dir.clone();
        let created = tokio::task::spawn_blocking(move || create(&dir)).await;
        match created.map_err(io::Error::other).flatten() {
            Ok((path, file)) => {
                let file = tokio::fs::File::from_std(file);
                self.swept.call_once(|| {
                    let newest = path.clone();
                    tokio::task::spawn_blocking(move || remove_leftovers(&newest));
                });
                self.keep(id, &path);
                Log {
                    path: Some(path),
                    state: State::Open { file, written: 0 },
                }
            }
            Err(error) => {
                tracing::warn!(%error, "the log of a command cannot be made");
                Log {
                    path: None,
                    state: State::Failed,
                }
            }
        }
    }

    fn keep(&self, id: &str, path: &Path) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((id.to_owned(), path.to_owned()));
        while kept.len() > LOGS_MAX {
            if let Some((_, path)) = kept.pop_front() {
                remove(&path);
            }
        }
    }

    /// Reads lines of a log, the first one counted as 1.
    pub(super) async fn read(
        &self,
        id: &str,
        first: usize,
        count: Option<usize>,
    ) -> Result<String, Error> {
        let path = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let found = kept.iter().find(|(kept, _)| kept == id);
            found
                .map(|(_, path)| path.clone())
                .ok_or(Error::UnknownId)?
        };
        let count = count.unwrap_or(LINES_DEFAULT);
        let lines = move || lines(&path, first.max(1), count);
        let read = tokio::task::spawn_blocking(lines).await;
        read.map_err(io::Error::other).flatten().map_err(Error::Log)
    }

    /// Removes all logs.
    pub(super) fn clear(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, path) in kept.drain(..) {
            remove(&path);
        }
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A log that is being written.
#[derive(Debug)]
pub(super) struct Log {
    path: Option<PathBuf>,
    state: State,
}

#[derive(Debug)]
enum State {
    Open { file: tokio::fs::File, written: u64 },
    Full,
    Failed,
}

impl Log {
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Appends text, up to the limit.
    pub(super) async fn append(&mut self, text: &str) {
        let State::Open { file, written } = &mut self.state else {
            return;
        };
        let room = usize::try_from(LOG_BYTES_MAX - *written).unwrap_or(usize::MAX);
        let fits = text.floor_char_boundary(room);
        let (text, rest) = text.split_at(fits);
        *written += text.len() as u64;
        let mut result = file.write_all(text.as_bytes()).await;
        if result.is_ok() {
            // The file writes in the background; without this, a reader and an error could come too late.
            result = file.flush().await;
        }
        if let Err(error) = result {
            tracing::warn!(%error, "the log of a command cannot be written");
            self.state = State::Failed;
        } else if !rest.is_empty() {
            self.state = State::Full;
        }
    }

    /// Says where the whole output is, or why it is not.
    pub(super) fn note(&self, id: &str) -> String {
        let place = match &self.path {
            Some(path) => format!(
                "log {id} in {}; read it with the tool `process`, action `log`",
                path.display()
            ),
            None => return "it could not be written to a log".to_owned(),
        };
        match self.state {
            State::Open { .. } => format!("all of it is {place}"),
            State::Full => format!("its first {} MiB are {place}", LOG_BYTES_MAX >> 20),
            State::Failed => format!("its beginning is {place}; writing the rest failed"),
        }
    }
}

fn create(dir: &Path) -> io::Result<(PathBuf, std::fs::File)> {
    let mut make = std::fs::DirBuilder::new();
    make.recursive(true).mode(0o700).create(dir)?;
    let name = RandomState::new().build_hasher().finish();
    let path = dir.join(format!("{name:016x}.log"));
    let mut options = std::fs::OpenOptions::new();
    let file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    Ok((path, file))
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::debug!(%error, "a log could not be removed");
    }
}

/// Removes logs that are far older than the newest one.
fn remove_leftovers(newest: &Path) {
    let modified = |path: &Path| std::fs::symlink_metadata(path).and_then(|meta| meta.modified());
    let (Some(dir), Ok(now)) = (newest.parent(), modified(newest)) else {
        return;
    };
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let age = modified(&path).map(|then| now.duration_since(then).unwrap_or_default());
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        if is_log && age.is_ok_and(|age| age > LEFTOVER_TIME) {
            remove(&path);
        }
    }
}

fn lines(path: &Path, first: usize, count: usize) -> io::Result<String> {
    let mut reader = io::BufReader::new(std::fs::File::open(path)?);
    let mut text = String::new();
    let mut line = Vec::new();
    let (mut number, mut last) = (0, None);
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        let wanted = number >= first && number - first < count && text.len() < OUTPUT_BYTES_MAX;
        // Nothing after a line that did not fit, so that what is shown has no holes.
        if wanted && last.is_none_or(|last| last + 1 == number) {
            text.push_str(&String::from_utf8_lossy(&line));
            last = Some(number);
        }
    }
    if text.len() > OUTPUT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(OUTPUT_BYTES_MAX));
        text.push_str("\n[the last line is cut]");
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(match last {
        Some(last) => format!("{text}[lines {first} to {last} of {number}]"),
        None => format!("[the log has {number} lines; nothing to show from line {first} on]"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_by_number_and_within_the_limit() {
        let dir = std::env::temp_dir().join(format!("ply-log-lines-{}", std::process::id()));
        let (path, _) = create(&dir).unwrap();
        std::fs::write(&path, "a\nb\nc").unwrap();
        assert_eq!(lines(&path, 2, 1).unwrap(), "b\n[lines 2 to 2 of 3]");
        assert_eq!(lines(&path, 1, 9).unwrap(), "a\nb\nc\n[lines 1 to 3 of 3]");
        assert!(lines(&path, 4, 1).unwrap().contains("has 3 lines"));
        let long = "x".repeat(OUTPUT_BYTES_MAX + 1);
        std::fs::write(&path, format!("a\n{long}\nb\n")).unwrap();
        let text = lines(&path, 1, 9).unwrap();
        assert!(text.ends_with("x\n[the last line is cut]\n[lines 1 to 2 of 3]"));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
