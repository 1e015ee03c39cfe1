//! What the process tests share: starting the fixture, and looking at the process table.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::time::Duration;

use ply_rpc::transport::child::{Child, Command};
use ply_rpc::{Handler, Notification, Options, Peer, Request, Responder, RpcError};
use serde_json::Value;
use tokio::sync::mpsc;

/// Notifications that may wait to be looked at.
const UPDATES_MAX: usize = 1 << 20;

/// Passes notifications on to the test.
#[derive(Debug)]
pub struct Updates(mpsc::Sender<(String, Value)>);

impl Handler for Updates {
    fn request(&mut self, _: &Peer, request: Request<'_>, responder: Responder) {
        match request.method {
            "echo" => responder.respond(request.params::<Value>()),
            _ => responder.respond::<()>(Err(RpcError::method_not_found())),
        }
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        let params = notification.params().unwrap_or(Value::Null);
        self.0
            .try_send((notification.method.to_owned(), params))
            .unwrap();
    }
}

/// A fixture that runs, and the link to it.
pub struct Running {
    /// The process.
    pub child: Child,
    /// The link.
    pub peer: Peer,
    /// What it tells.
    pub updates: mpsc::Receiver<(String, Value)>,
}

impl Running {
    /// Waits for the next notification.
    pub async fn update(&mut self) -> (String, Value) {
        within(60, self.updates.recv())
            .await
            .expect("the fixture ended")
    }

    /// Closes the link and ends the process tree.
    pub async fn end(
        mut self,
        grace: ply_rpc::transport::child::Grace,
    ) -> std::process::ExitStatus {
        self.peer.close();
        within(60, self.peer.closed()).await;
        within(60, self.child.end(grace)).await.unwrap()
    }
}

/// Starts `command` with a link to it.
pub async fn start(command: Command) -> Running {
    start_with(command, Options::client()).await
}

/// Starts `command` with a link under `options`.
pub async fn start_with(command: Command, options: Options) -> Running {
    let (child, stdout, stdin) = command.spawn().await.unwrap();
    let (sender, updates) = mpsc::channel(UPDATES_MAX);
    let (peer, link) = ply_rpc::connect(stdout, stdin, Updates(sender), options);
    tokio::spawn(link);
    Running {
        child,
        peer,
        updates,
    }
}

/// Waits at most so many seconds: a test that hangs tells nothing.
pub async fn within<T>(seconds: u64, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(seconds), work)
        .await
        .expect("took too long")
}

/// Returns whether a process exists and is no zombie.
#[must_use]
pub fn is_alive(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
}

/// Returns the resident memory of this process in bytes.
#[must_use]
pub fn resident_bytes() -> u64 {
    status_bytes("VmRSS:")
}

/// Returns the most memory this process had since [`reset_peak_bytes`].
#[must_use]
pub fn peak_bytes() -> u64 {
    status_bytes("VmHWM:")
}

/// Starts measuring the peak anew.
pub fn reset_peak_bytes() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

fn status_bytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        * 1024
}

/// Returns how often to repeat what is a matter of chance: `PLY_LOOPS`, or so many times per commit.
#[must_use]
pub fn loops(per_commit: usize) -> usize {
    std::env::var("PLY_LOOPS")
        .ok()
        .and_then(|loops| loops.parse().ok())
        .unwrap_or(per_commit)
}

/// The name of a holder in a place of its own.
pub const HELD: &str = "held";

/// Returns the line with this number that a killed hub and its successors give their agent.
#[must_use]
pub fn held_line(number: u64) -> String {
    let bytes = usize::try_from(number * 7919 % 5000).unwrap();
    format!("line {number} {}", "x".repeat(bytes))
}
