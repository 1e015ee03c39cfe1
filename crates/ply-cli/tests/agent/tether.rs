//! A pipe that processes hold on to: it tells when the first is there and when the last is gone.

use std::path::{Path, PathBuf};

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use crate::place::soon;

/// A pipe that processes hold on to.
pub(crate) struct Tether {
    path: PathBuf,
    receiver: pipe::Receiver,
}

impl Tether {
    /// Makes one in a directory.
    pub(crate) fn new(directory: &Path, name: &str) -> Self {
        let path = directory.join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let receiver = pipe::OpenOptions::new().open_receiver(&path).unwrap();
        Self { path, receiver }
    }

    /// Returns a shell command that holds on, also in whatever is started after it, and says so.
    pub(crate) fn hold(&self) -> String {
        format!("exec 9>{}; echo >&9", self.path.display())
    }

    /// Returns a command that holds on, ignores what it is told, and never ends.
    pub(crate) fn hold_stubbornly(&self) -> String {
        let hold = self.hold();
        format!("{hold}; trap '' TERM INT HUP; while :; do sleep 1000; done")
    }

    /// Waits until a process holds on.
    pub(crate) async fn held(&mut self) {
        assert_eq!(soon(self.receiver.read_u8()).await.unwrap(), b'\n');
    }

    /// Waits until no process holds on any more.
    pub(crate) async fn released(&mut self) {
        let mut rest = Vec::new();
        soon(self.receiver.read_to_end(&mut rest)).await.unwrap();
    }
}
