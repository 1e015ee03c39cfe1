//! Files of the client: earlier prompts, and texts that were not sent yet.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::app::AgentId;
use crate::composer::HISTORY_ENTRIES_MAX;
use crate::options::Options;

/// Bytes of a prompt that is remembered.
const ENTRY_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a text that is kept.
const DRAFT_BYTES_MAX: usize = 1024 * 1024;
/// Lines of the history at which it is written anew with the newest entries alone.
const HISTORY_LINES_MAX: usize = 2 * HISTORY_ENTRIES_MAX;
/// Bytes of the history that are read.
const HISTORY_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Texts that one client keeps for an editor.
const SCRATCH_FILES_MAX: usize = 1000;
/// Bytes of a name of a file.
const NAME_BYTES_MAX: usize = 200;

/// The files of the client.
pub(super) struct Store {
    history: Option<PathBuf>,
    drafts: Option<PathBuf>,
    names: Vec<String>,
}

impl Store {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            history: options.history.clone(),
            drafts: options.drafts.clone(),
            names: options
                .agents
                .iter()
                .map(|agent| agent.name.clone())
                .collect(),
        }
    }

    /// Returns earlier prompts, the oldest first, and keeps the file small. One that cannot be read is as good as none.
    pub(super) fn history(&self) -> Vec<String> {
        let Some(path) = &self.history else {
            return Vec::new();
        };
        let is_small = fs::metadata(path).is_ok_and(|facts| facts.len() <= HISTORY_BYTES_MAX);
        let bytes = is_small.then(|| fs::read(path).ok()).flatten();
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        // A line that was cut off costs itself.
        let entries = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let mut entries: Vec<String> = entries.collect();
        let lines = text.lines().count();
        entries.drain(..entries.len().saturating_sub(HISTORY_ENTRIES_MAX));
        if lines > HISTORY_LINES_MAX {
            let text: String = entries.iter().filter_map(|entry| line(entry)).collect();
            // If it cannot be written it stays as long as it is.
            drop(replace(path, text.as_bytes()));
        }
        entries
    }

    /// Adds a prompt to the history.
    pub(super) fn remember(&self, text: &str) -> io::Result<()> {
        let Some((path, line)) = self.history.as_ref().zip(line(text)) else {
            return Ok(());
        };
        if text.len() > ENTRY_BYTES_MAX {
            return Ok(());
        }
        make_parent(path)?;
        // In one piece, so that two clients do not mix.
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(line.as_bytes())
    }

    /// Returns where the texts of an agent's sessions are.
    pub(super) fn drafts(&self, agent: AgentId) -> Drafts {
        let name = self.names.get(agent.0).cloned().unwrap_or_default();
        Drafts {
            directory: self.drafts.clone(),
            name,
        }
    }

    /// Keeps what was not sent; nothing forgets it.
    pub(super) fn save_draft(&self, agent: AgentId, session: &str, text: &str) -> io::Result<()> {
        let Some(path) = self.drafts(agent).path(session) else {
            return Ok(());
        };
        if text.trim().is_empty() {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        if text.len() > DRAFT_BYTES_MAX {
            return Ok(());
        }
        make_parent(&path)?;
        replace(&path, text.as_bytes())
    }

    /// Writes a text into a file for the editor.
    pub(super) fn scratch(&self, text: &str) -> io::Result<PathBuf> {
        let directory = self.drafts.as_ref();
        let directory =
            directory.ok_or_else(|| io::Error::other("there is no place for drafts"))?;
        // One that is there is what an editor did not end well with.
        let name = |count| format!("edit-{}-{count}.md", std::process::id());
        let mut paths = (0..SCRATCH_FILES_MAX).map(|count| directory.join(name(count)));
        let path = paths.find(|path| !path.exists());
        let path = path.ok_or_else(|| io::Error::other("too many texts of editors are kept"))?;
        make_parent(&path)?;
        replace(&path, text.as_bytes())?;
        Ok(path)
    }
}

/// The texts of an agent's sessions.
pub(super) struct Drafts {
    directory: Option<PathBuf>,
    name: String,
}

impl Drafts {
    pub(super) fn read(&self, session: &str) -> String {
        let path = self.path(session);
        let text = path.and_then(|path| fs::read_to_string(path).ok());
        text.filter(|text| text.len() <= DRAFT_BYTES_MAX)
            .unwrap_or_default()
    }

    fn path(&self, session: &str) -> Option<PathBuf> {
        let name = format!("{}-{}.draft", file_name(&self.name), file_name(session));
        let directory = self.directory.as_ref()?;
        (name.len() <= NAME_BYTES_MAX).then(|| directory.join(name))
    }
}

/// Returns a name that is one file whatever the agent calls its session.
fn file_name(name: &str) -> String {
    let mut safe = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' => safe.push(char::from(byte)),
            byte => safe.push_str(&format!("_{byte:02x}")),
        }
    }
    safe
}

fn line(entry: &str) -> Option<String> {
    serde_json::to_string(entry)
        .ok()
        .map(|line| format!("{line}\n"))
}

fn make_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent),
        None => Ok(()),
    }
}

/// Writes a file that only its owner may read, all of it or nothing.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let mut options = OpenOptions::new();
    let file = options
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(&beside);
    let written = file.and_then(|mut file| file.write_all(bytes));
    let replaced = written.and_then(|()| fs::rename(&beside, path));
    if replaced.is_err() {
        drop(fs::remove_file(&beside));
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::AgentChoice;

    fn store(directory: &Path) -> Store {
        let agent = AgentChoice {
            name: "a/b".to_owned(),
            key: "a/b".to_owned(),
            command: ply_client::Command::new("x"),
            install: None,
            resume: None,
        };
        let mut options = Options::new(vec![agent], "/");
        options.history = Some(directory.join("state/history"));
        options.drafts = Some(directory.join("drafts"));
        Store::new(&options)
    }

    #[test]
    fn prompts_come_back_in_order_and_the_file_stays_small() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        assert!(store.history().is_empty());
        for entry in 0..HISTORY_LINES_MAX + 1 {
            store.remember(&format!("{entry}\nlines")).unwrap();
        }
        let history = store.history();
        assert_eq!(history.len(), HISTORY_ENTRIES_MAX);
        assert_eq!(history.last().unwrap(), "2000\nlines");
        let text = fs::read_to_string(directory.path().join("state/history")).unwrap();
        assert_eq!(text.lines().count(), HISTORY_ENTRIES_MAX);
    }

    #[test]
    fn a_draft_is_kept_until_it_is_sent_whatever_the_session_is_called() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let id = AgentId(0);
        let session = "../../etc/\u{202e}x";
        store.save_draft(id, session, "half a").unwrap();
        assert_eq!(store.drafts(id).read(session), "half a");
        assert_eq!(store.drafts(id).read("other"), "");
        store.save_draft(id, session, " ").unwrap();
        store.save_draft(id, session, "").unwrap();
        assert_eq!(store.drafts(id).read(session), "");
        assert_eq!(
            fs::read_dir(directory.path().join("drafts"))
                .unwrap()
                .count(),
            0
        );
    }
}
