//! What the tests of MCP share: a session's servers, a card that remembers what it showed, pipes for signals.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "tests fail by panicking"
)]

pub mod scratch;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ply_agent::v2;
use ply_coder::BoxFuture;
use ply_coder::mcp::{Servers, Settings};
use ply_coder::shell::Processes;
use ply_coder::tool::{Outcome, Prepared, Surface, Tool, ToolContext};
use ply_coder::workspace::Workspace;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;

/// How long anything may take before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for something, but not for ever.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it takes too long")
}

/// Names a server in a child process.
#[must_use]
pub fn stdio(name: &str, program: &str, args: &[&str]) -> v2::McpServerStdio {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    v2::McpServerStdio::new(name, program).args(args)
}

/// Names a server that is a line of shell.
#[must_use]
pub fn shell(name: &str, script: &str) -> v2::McpServer {
    v2::McpServer::Stdio(stdio(name, "/bin/sh", &["-c", script]))
}

/// Connects to servers in the directory of the system for temporary files.
pub async fn connect(servers: &[v2::McpServer]) -> Servers {
    connect_with(servers, Settings::default()).await
}

/// Connects to servers with other settings.
pub async fn connect_with(servers: &[v2::McpServer], settings: Settings) -> Servers {
    soon(Servers::connect(servers, &std::env::temp_dir(), settings)).await
}

/// Returns a tool by the name under which models call it.
pub async fn tool(servers: &Servers, name: &str) -> Arc<dyn Tool> {
    let tools = soon(servers.tools()).await;
    let found = tools.iter().find(|tool| tool.spec().name == name);
    found
        .unwrap_or_else(|| panic!("no {name} in {:?}", names(&tools)))
        .clone()
}

/// Returns the names of tools.
#[must_use]
pub fn names(tools: &[Arc<dyn Tool>]) -> Vec<String> {
    tools.iter().map(|tool| tool.spec().name).collect()
}

/// Calls a tool and returns what came of it.
pub async fn call(servers: &Servers, name: &str, arguments: Value) -> Outcome {
    let tool = tool(servers, name).await;
    soon(run(&*tool, arguments, &Card::default())).await
}

/// Prepares a call and does the work.
pub async fn run(tool: &dyn Tool, arguments: Value, card: &Card) -> Outcome {
    let places = Places::default();
    match tool.prepare(arguments, places.context(card)).await {
        Ok(prepared) => prepared.work.await,
        Err(outcome) => outcome,
    }
}

/// Prepares a call and looks at what it says of itself.
pub async fn prepared<T>(
    tool: &dyn Tool,
    arguments: Value,
    look: impl FnOnce(&Prepared<'_>) -> T,
) -> T {
    let (places, card) = (Places::default(), Card::default());
    let prepared = tool.prepare(arguments, places.context(&card)).await;
    look(&prepared.unwrap())
}

/// What tools may use besides their card; those of servers use none of it.
struct Places {
    workspace: Workspace,
    processes: Arc<Processes>,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            workspace: Workspace::new(std::env::temp_dir(), Vec::new()).unwrap(),
            processes: Arc::default(),
        }
    }
}

impl Places {
    fn context<'t>(&'t self, card: &'t Card) -> ToolContext<'t> {
        ToolContext {
            workspace: &self.workspace,
            processes: &self.processes,
            surface: card,
        }
    }
}

/// A card that remembers what it showed.
#[derive(Debug, Default)]
pub struct Card {
    progress: watch::Sender<Vec<String>>,
    cancelled: watch::Sender<bool>,
}

impl Card {
    /// Cancels the turn.
    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    /// Waits until it showed how far the call is, and returns that.
    pub async fn shown(&self) -> String {
        let mut progress = self.progress.subscribe();
        let shown = soon(progress.wait_for(|shown| !shown.is_empty())).await;
        shown.unwrap().last().unwrap().clone()
    }
}

impl Surface for Card {
    fn open_terminal<'t>(&'t self, _: &'t str, _: &'t Path) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn terminal_output<'t>(&'t self, _: &'t [u8]) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn close_terminal<'t>(&'t self, _: Option<i32>, _: Option<&'t str>) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn progress<'t>(&'t self, text: &'t str) -> BoxFuture<'t, ()> {
        self.progress
            .send_modify(|shown| shown.push(text.to_owned()));
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
        let mut cancelled = self.cancelled.subscribe();
        Box::pin(async move { drop(cancelled.wait_for(|cancelled| *cancelled).await) })
    }
}

/// A server that listens on the loopback, until it is dropped.
pub struct Listening {
    /// Its process.
    pub child: ply_rpc::transport::child::Child,
    /// Its address.
    pub url: String,
}

impl Listening {
    /// Starts the program with further arguments and waits until it listens.
    pub async fn start(program: &str, args: &[&str]) -> Self {
        let scratch = scratch::Scratch::new();
        let mut address = scratch.pipe("address");
        let command = ply_rpc::transport::child::Command::new(program);
        let command = command.arg("--http").arg(address.path()).args(args);
        let (child, _, _) = command.spawn().await.unwrap();
        let url = address.line().await;
        Self { child, url }
    }

    /// Names it.
    #[must_use]
    pub fn named(&self, name: &str) -> v2::McpServerHttp {
        v2::McpServerHttp::new(name, &self.url)
    }

    /// Returns its port.
    #[must_use]
    pub fn port(&self) -> String {
        let rest = self.url.rsplit(':').next().unwrap();
        rest.split('/').next().unwrap().to_owned()
    }
}

/// Waits until a process is gone.
pub async fn gone(pid: i32) {
    let Some(pid) = rustix::process::Pid::from_raw(pid) else {
        return;
    };
    let flags = rustix::process::PidfdFlags::empty();
    // No process of that number is as gone as it gets.
    if let Ok(handle) = rustix::process::pidfd_open(pid, flags) {
        soon(ply_sys::exited(handle)).await.unwrap();
    }
}

/// Says whether a process lives.
#[must_use]
pub fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z")
}

/// Kills a process.
pub fn kill(pid: i32) {
    let status = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(status.unwrap().success());
}

/// Returns the process id of a server that has the tool for it.
pub async fn pid(servers: &Servers, name: &str) -> i32 {
    let outcome = call(servers, name, Value::Null).await;
    outcome.text.parse().unwrap()
}

/// Returns the directory in which [`connect`] runs its servers.
#[must_use]
pub fn home() -> PathBuf {
    std::env::temp_dir().canonicalize().unwrap()
}
