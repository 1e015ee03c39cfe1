//! A directory of a test's own, and pipes in it that carry signals between processes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use crate::soon;

/// A directory that is gone with the test.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Makes one.
    #[must_use]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ply-mcp-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self { path }
    }

    /// Returns a path in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Makes a pipe in it.
    #[must_use]
    pub fn pipe(&self, name: &str) -> Pipe {
        let path = self.path(name);
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        // Open on both sides, so that it neither waits for the other process nor ends with it.
        let receiver = pipe::OpenOptions::new()
            .read_write(true)
            .open_receiver(&path)
            .unwrap();
        Pipe { path, receiver }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.path));
    }
}

/// A pipe between two processes.
#[derive(Debug)]
pub struct Pipe {
    path: PathBuf,
    receiver: pipe::Receiver,
}

impl Pipe {
    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its path as text.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Writes a byte for the other process.
    pub fn release(&self) {
        std::fs::write(&self.path, "!").unwrap();
    }

    /// Waits until somebody writes a byte.
    pub async fn signal(&mut self) {
        soon(self.receiver.read_u8()).await.unwrap();
    }

    /// Waits until somebody writes a line.
    pub async fn line(&mut self) -> String {
        let mut line = Vec::new();
        loop {
            match soon(self.receiver.read_u8()).await.unwrap() {
                b'\n' => return String::from_utf8(line).unwrap(),
                byte => line.push(byte),
            }
        }
    }
}
