//! A session's files on disk, a client with buffers, and calls of tools as the dispatcher makes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use ply_coder::BoxFuture;
use ply_coder::shell::Processes;
use ply_coder::tool::{Outcome, Prepared, Surface, Tool, ToolContext};
use ply_coder::workspace::Workspace;
use serde_json::Value;

/// A directory of its own with a `root` for the session and a place `outside` beside it.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ply-files-{}-{number}", std::process::id());
        // Without links, so that the tests know which ones there are.
        let base = std::env::temp_dir().canonicalize().unwrap().join(name);
        for directory in ["root", "outside"] {
            std::fs::create_dir_all(base.join(directory)).unwrap();
        }
        Self(base)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap()
    }

    /// Returns everything below a directory: kinds, modes, contents and targets.
    pub(crate) fn everything(&self, directory: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut rest = vec![self.at(directory)];
        while let Some(directory) = rest.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let kind = path.symlink_metadata().unwrap().file_type();
                let content = if kind.is_dir() {
                    rest.push(path.clone());
                    b"directory".to_vec()
                } else if kind.is_file() {
                    std::fs::read(&path).unwrap()
                } else {
                    b"other".to_vec()
                };
                found.insert(path, content);
            }
        }
        found
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// What a client does with a text that it is to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Saves {
    /// Writes it to disk as it is.
    #[default]
    AsIs,
    /// Formats it: each line loses the space at its end, and the text ends with a line end.
    Formatted,
    /// Writes it with `\n` only.
    UnixLines,
    /// Keeps it in its buffer.
    InBuffer,
    /// Takes it and loses it.
    Nowhere,
    /// Says no.
    Refused,
    /// Answers nothing, reads included.
    Silent,
    /// Answers reads only.
    SilentWrites,
}

/// A client, with buffers for some files.
#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) has_files: bool,
    pub(crate) saves: Saves,
    pub(crate) buffers: Mutex<BTreeMap<PathBuf, String>>,
    pub(crate) calls: Mutex<Vec<String>>,
}

impl Client {
    pub(crate) fn with_files() -> Self {
        Self {
            has_files: true,
            ..Self::default()
        }
    }

    pub(crate) fn saving(saves: Saves) -> Self {
        Self {
            saves,
            ..Self::with_files()
        }
    }

    pub(crate) fn open(&self, path: PathBuf, text: &str) {
        self.buffers.lock().unwrap().insert(path, text.to_owned());
    }

    pub(crate) fn buffer(&self, path: &Path) -> Option<String> {
        self.buffers.lock().unwrap().get(path).cloned()
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

impl Surface for Client {
    fn open_terminal<'t>(&'t self, _: &'t str, _: &'t Path) -> BoxFuture<'t, ()> {
        Box::pin(async {})
    }

    fn terminal_output<'t>(&'t self, _: &'t [u8]) -> BoxFuture<'t, ()> {
        Box::pin(async {})
    }

    fn close_terminal<'t>(&'t self, _: Option<i32>, _: Option<&'t str>) -> BoxFuture<'t, ()> {
        Box::pin(async {})
    }

    fn progress<'t>(&'t self, _: &'t str) -> BoxFuture<'t, ()> {
        Box::pin(async {})
    }

    fn has_files(&self) -> bool {
        self.has_files
    }

    fn read_text<'t>(&'t self, path: &'t Path) -> BoxFuture<'t, Result<String, String>> {
        Box::pin(async move {
            self.calls.lock().unwrap().push("read".to_owned());
            if self.saves == Saves::Silent {
                std::future::pending::<()>().await;
            }
            match self.buffer(path) {
                Some(text) => Ok(text),
                None => std::fs::read_to_string(path).map_err(|error| error.to_string()),
            }
        })
    }

    fn write_text<'t>(&'t self, path: &'t Path, text: String) -> BoxFuture<'t, Result<(), String>> {
        Box::pin(async move {
            self.calls.lock().unwrap().push("write".to_owned());
            let text = match self.saves {
                Saves::AsIs => text,
                Saves::UnixLines => text.replace("\r\n", "\n"),
                Saves::Formatted => text
                    .lines()
                    .map(|line| format!("{}\n", line.trim_end()))
                    .collect(),
                Saves::InBuffer => {
                    self.open(path.to_owned(), &text);
                    return Ok(());
                }
                Saves::Silent | Saves::SilentWrites => std::future::pending().await,
                Saves::Nowhere => return Ok(()),
                Saves::Refused => return Err("not now".to_owned()),
            };
            if self.buffer(path).is_some() {
                self.open(path.to_owned(), &text);
            }
            std::fs::write(path, text).map_err(|error| error.to_string())
        })
    }

    fn notice<'t>(&'t self, _: &'t str) -> BoxFuture<'t, ()> {
        self.calls.lock().unwrap().push("notice".to_owned());
        Box::pin(async {})
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// A session in `root`.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) workspace: Workspace,
    pub(crate) client: Client,
    processes: Arc<Processes>,
}

impl Session {
    pub(crate) fn new(scratch: &Scratch) -> Self {
        Self::with_client(scratch, Client::default())
    }

    pub(crate) fn with_client(scratch: &Scratch, client: Client) -> Self {
        Self::at(scratch.at("root"), client)
    }

    pub(crate) fn at(cwd: PathBuf, client: Client) -> Self {
        Self::on(Workspace::new(cwd, Vec::new()).unwrap(), client)
    }

    pub(crate) fn on(workspace: Workspace, client: Client) -> Self {
        Self {
            workspace,
            client,
            processes: Arc::default(),
        }
    }

    pub(crate) fn context(&self) -> ToolContext<'_> {
        ToolContext {
            workspace: &self.workspace,
            processes: &self.processes,
            surface: &self.client,
        }
    }

    pub(crate) async fn prepare<'t>(
        &'t self,
        tool: &'t dyn Tool,
        arguments: Value,
    ) -> Result<Prepared<'t>, Outcome> {
        tool.prepare(arguments, self.context()).await
    }

    /// Prepares a call and does it, whatever it is.
    pub(crate) async fn call(&self, tool: &dyn Tool, arguments: Value) -> Outcome {
        match self.prepare(tool, arguments).await {
            Ok(prepared) => prepared.work.await,
            Err(refusal) => refusal,
        }
    }

    /// The same for a call that must work.
    #[track_caller]
    pub(crate) fn done(&self, tool: &dyn Tool, arguments: Value) -> impl Future<Output = Outcome> {
        let caller = std::panic::Location::caller();
        async move {
            let outcome = self.call(tool, arguments).await;
            assert!(!outcome.failed, "{caller}: {}", outcome.text);
            outcome
        }
    }

    /// The same for a call that must be refused, with these words among others.
    #[track_caller]
    pub(crate) fn refused(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        words: &str,
    ) -> impl Future<Output = Outcome> {
        let caller = std::panic::Location::caller();
        async move {
            let outcome = self.call(tool, arguments).await;
            assert!(outcome.failed, "{caller}: {}", outcome.text);
            assert!(outcome.text.contains(words), "{caller}: {}", outcome.text);
            outcome
        }
    }
}
