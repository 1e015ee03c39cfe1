//! A store on disk, and the program that is run on it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use ply_journal::{Description, Durability, Head, Journal as _, Log, Sqlite};

/// 2020-07-14T10:00:00Z, in milliseconds since 1970: so long ago that ages are dates.
pub(crate) const TEN_MS: i64 = 1_594_720_800_000;

/// A directory of its own with a store in it, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Store {
    directory: PathBuf,
}

/// What a run of the program printed, and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Store {
    /// Returns a place where there is no store yet.
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // Left by a process with the same number, if it is there.
        drop(fs::remove_dir_all(&directory));
        fs::create_dir_all(&directory).unwrap();
        Self { directory }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the file of the store.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join("sessions.db")
    }

    pub(crate) fn journal(&self) -> Sqlite {
        Sqlite::new(self.path())
    }

    /// Makes a session that was last used so many minutes after ten o'clock.
    pub(crate) async fn add(&self, id: &str, cwd: &Path, title: Option<&str>, minutes: i64) {
        let journal = self.journal();
        let head = Head::new(id, cwd, TEN_MS);
        let log = journal.create(head, id).await.unwrap().log;
        let change = Description::updated(TEN_MS + minutes * 60_000);
        let change = change.title(title.map(str::to_owned));
        log.append(Vec::new(), Durability::Durable, Some(change))
            .await
            .unwrap();
        drop(log);
        journal.close().await.unwrap();
    }

    /// Opens a session to write it, as an agent has it open.
    pub(crate) async fn hold(&self, id: &str) -> Box<dyn Log> {
        self.journal().open(id).await.unwrap().unwrap().log
    }

    /// Appends records to a session as they are.
    pub(crate) async fn append(&self, id: &str, records: &[&[u8]]) {
        let log = self.hold(id).await;
        let records = records.iter().map(|record| record.to_vec()).collect();
        log.append(records, Durability::Durable, None)
            .await
            .unwrap();
    }

    /// Returns the program, on no store yet, in an environment of its own.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ply"));
        command.env_clear().env("HOME", &self.directory);
        command.current_dir(&self.directory);
        command
    }

    /// Returns `ply sessions …` on this store.
    pub(crate) fn sessions<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = self.command();
        command.arg("sessions").args(arguments);
        command.arg("--store").arg(self.path());
        command
    }

    /// Runs `ply sessions …` on this store.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        run(&mut self.sessions(arguments))
    }

    /// Returns a text without what differs from run to run.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(self.directory.to_str().unwrap(), "DIR")
    }
}

pub(crate) fn run(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.directory));
    }
}
