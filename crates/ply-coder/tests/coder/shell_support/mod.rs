//! A directory, a card that remembers what it was shown, and a witness of processes.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "every test file uses a part of it, and tests fail by panicking"
)]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ply_coder::BoxFuture;
use ply_coder::shell::{Processes, Sandbox};
use ply_coder::tool::Surface;
use rustix::fs::{CWD, FileType, Mode};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

/// What takes longer than this hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A directory that goes away with the test.
#[derive(Debug)]
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("shell-{}-{count}", std::process::id());
        let path = Self::place().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    /// Returns where they lie: not among the temporary files, which a sandbox has of its own.
    fn place() -> PathBuf {
        let built = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let is_temporary = ["/tmp", "/var/tmp"]
            .iter()
            .any(|tmp| built.starts_with(tmp));
        match std::env::home_dir().filter(|_| is_temporary) {
            Some(home) => home.join(".cache/ply-tests"),
            None => built.to_owned(),
        }
    }

    pub(crate) fn dir(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// Returns processes without a sandbox.
    pub(crate) fn processes(&self) -> Processes {
        let mut sandbox = Sandbox::default();
        sandbox.enabled = false;
        Processes::new(sandbox, self.0.join("logs"))
    }

    /// Makes a pipe that processes hold open, so that their end can be seen.
    pub(crate) fn witness(&self) -> Witness {
        let path = self.0.join("witness");
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let (told, gone) = oneshot::channel();
        std::thread::spawn(move || {
            let mut said = String::new();
            let mut pipe = std::fs::File::open(path).unwrap();
            pipe.read_to_string(&mut said).unwrap();
            drop(told.send(said));
        });
        Witness(gone)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Sees the end of every process that has opened the file `witness` for writing, or inherited that.
#[derive(Debug)]
pub(crate) struct Witness(oneshot::Receiver<String>);

impl Witness {
    /// Waits until all of them are gone and returns what they wrote.
    pub(crate) async fn gone(self) -> String {
        let gone = timeout(PATIENCE, self.0).await;
        gone.expect("a process is still alive").unwrap()
    }
}

/// What was shown on a card.
#[derive(Debug, Default, Clone)]
pub(crate) struct Shown {
    pub(crate) opened: Vec<(String, PathBuf)>,
    pub(crate) updates: Vec<Vec<u8>>,
    pub(crate) closed: Vec<(Option<i32>, Option<String>)>,
    cancelled: bool,
}

impl Shown {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.updates.concat()).into_owned()
    }
}

/// A card that remembers what it was shown.
#[derive(Debug)]
pub(crate) struct Card {
    shown: watch::Sender<Shown>,
    /// Never answers, like a client that reads nothing.
    stuck: bool,
    progress: Mutex<String>,
}

impl Card {
    pub(crate) fn new() -> Self {
        Self {
            shown: watch::Sender::default(),
            stuck: false,
            progress: Mutex::default(),
        }
    }

    pub(crate) fn stuck() -> Self {
        Self {
            stuck: true,
            ..Self::new()
        }
    }

    pub(crate) fn shown(&self) -> Shown {
        self.shown.borrow().clone()
    }

    /// Waits until the output has this text.
    pub(crate) async fn saw(&self, text: &str) {
        let mut shown = self.shown.subscribe();
        let saw = shown.wait_for(|shown| shown.text().contains(text));
        drop(timeout(PATIENCE, saw).await.expect(text));
    }

    pub(crate) fn cancel(&self) {
        self.shown.send_modify(|shown| shown.cancelled = true);
    }

    fn change(&self, change: impl FnOnce(&mut Shown) + Send) -> BoxFuture<'_, ()> {
        self.shown.send_modify(change);
        if self.stuck {
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(()))
    }
}

impl Surface for Card {
    fn open_terminal<'t>(&'t self, command: &'t str, cwd: &'t Path) -> BoxFuture<'t, ()> {
        self.change(|shown| shown.opened.push((command.to_owned(), cwd.to_owned())))
    }

    fn terminal_output<'t>(&'t self, bytes: &'t [u8]) -> BoxFuture<'t, ()> {
        self.change(|shown| shown.updates.push(bytes.to_owned()))
    }

    fn close_terminal<'t>(
        &'t self,
        code: Option<i32>,
        signal: Option<&'t str>,
    ) -> BoxFuture<'t, ()> {
        self.change(|shown| shown.closed.push((code, signal.map(str::to_owned))))
    }

    fn progress<'t>(&'t self, text: &'t str) -> BoxFuture<'t, ()> {
        *self.progress.lock().unwrap() = text.to_owned();
        Box::pin(std::future::ready(()))
    }

    fn has_files(&self) -> bool {
        false
    }

    fn read_text<'t>(&'t self, _: &'t Path) -> BoxFuture<'t, Result<String, String>> {
        Box::pin(std::future::ready(Err("no files".to_owned())))
    }

    fn write_text<'t>(&'t self, _: &'t Path, _: String) -> BoxFuture<'t, Result<(), String>> {
        Box::pin(std::future::ready(Err("no files".to_owned())))
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        let mut shown = self.shown.subscribe();
        Box::pin(async move {
            drop(shown.wait_for(|shown| shown.cancelled).await);
        })
    }
}
