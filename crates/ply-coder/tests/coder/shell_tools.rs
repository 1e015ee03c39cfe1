//! The tools `shell` and `process`.

use std::sync::Arc;

use ply_agent::v2::ToolKind;
use ply_coder::shell::Processes;
use ply_coder::tool::process::Process;
use ply_coder::tool::shell::Shell;
use ply_coder::tool::{Access, Order, Outcome, Prepared, Tool, ToolContext};
use ply_coder::workspace::Workspace;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::shell_support::{Card, PATIENCE, Scratch};

/// A session for tools.
struct Session {
    scratch: Scratch,
    workspace: Workspace,
    processes: Arc<Processes>,
    card: Card,
}

impl Session {
    fn new() -> Self {
        let scratch = Scratch::new();
        Self {
            workspace: Workspace::new(scratch.0.clone(), Vec::new()).unwrap(),
            processes: Arc::new(scratch.processes()),
            card: Card::new(),
            scratch,
        }
    }

    async fn prepare<'t>(
        &'t self,
        tool: &'t dyn Tool,
        arguments: Value,
    ) -> Result<Prepared<'t>, Outcome> {
        let context = ToolContext {
            workspace: &self.workspace,
            processes: &self.processes,
            surface: &self.card,
        };
        tool.prepare(arguments, context).await
    }

    async fn call(&self, tool: &dyn Tool, arguments: Value) -> Outcome {
        match self.prepare(tool, arguments).await {
            Ok(prepared) => timeout(PATIENCE, prepared.work).await.unwrap(),
            Err(outcome) => outcome,
        }
    }
}

#[tokio::test]
async fn a_call_says_what_it_would_run_before_it_runs() {
    let session = Session::new();
    let cwd = session.scratch.dir("sub");
    let arguments = json!({ "command": "touch\n  made", "cwd": "sub", "timeout_ms": 5000 });
    let prepared = session.prepare(&Shell, arguments).await.unwrap();
    assert_eq!(prepared.title, "touch⏎  made");
    assert_eq!(
        (prepared.kind, prepared.order),
        (ToolKind::Execute, Order::Alone)
    );
    let command = "touch\n  made".to_owned();
    let expected = Access::Shell {
        command,
        cwd: cwd.clone(),
    };
    assert_eq!(prepared.access, [expected]);
    assert!(session.card.shown().opened.is_empty());
    drop(prepared.work);
    assert!(!cwd.join("made").exists());
}

#[tokio::test]
async fn a_command_that_fails_fails_the_call() {
    let session = Session::new();
    let outcome = session
        .call(&Shell, json!({ "command": "echo a; exit 2" }))
        .await;
    assert_eq!(
        (outcome.text.as_str(), outcome.failed),
        ("a\nexit code 2", true)
    );
    let outcome = session.call(&Shell, json!({ "command": "echo a" })).await;
    assert_eq!(
        (outcome.text.as_str(), outcome.failed),
        ("a\nexit code 0", false)
    );
    assert_eq!(outcome.shown.as_deref(), Some(""));
    let outcome = session
        .call(&Shell, json!({ "command": "sleep 1000", "timeout_ms": 1 }))
        .await;
    assert!(outcome.failed && outcome.text.contains("its time of 1 ms was up"));
}

#[tokio::test]
async fn arguments_that_make_no_sense_are_told() {
    let session = Session::new();
    for arguments in [
        json!({}),
        json!({ "command": "  " }),
        json!({ "command": "a\u{0}b" }),
        json!({ "command": "true", "cwd": "/" }),
        json!({ "command": "true", "timeout_ms": -1 }),
    ] {
        let refused = session.prepare(&Shell, arguments.clone()).await;
        assert!(refused.unwrap_err().failed, "{arguments}");
    }
    for arguments in [
        json!({}),
        json!({ "action": "output" }),
        json!({ "action": "fly" }),
    ] {
        let refused = session.prepare(&Process, arguments.clone()).await;
        assert!(refused.unwrap_err().failed, "{arguments}");
    }
    for action in ["output", "write", "signal", "stop", "log"] {
        let outcome = session
            .call(&Process, json!({ "action": action, "id": "p9" }))
            .await;
        assert!(
            outcome.failed && outcome.text.contains("no such id"),
            "{action}"
        );
    }
}

#[tokio::test]
async fn the_tools_deal_with_a_process() {
    let session = Session::new();
    let empty = session.call(&Process, json!({ "action": "list" })).await;
    assert!(empty.text.starts_with("No process"));
    let line = json!({ "command": "echo up; cat", "background": true, "description": "a cat" });
    let started = session.call(&Shell, line).await;
    assert!(
        started.text.starts_with("Started in the background as p1;"),
        "{started:?}"
    );
    let write = json!({ "action": "write", "id": "p1", "input": "echo\n", "wait_ms": 20_000 });
    let mut text = started.text + &session.call(&Process, write).await.text;
    while !(text.contains("up\n") && text.contains("echo\n")) {
        let more = json!({ "action": "output", "id": "p1", "wait_ms": 20_000 });
        text += &session.call(&Process, more).await.text;
    }
    let list = session.call(&Process, json!({ "action": "list" })).await;
    assert_eq!(list.text, "p1: running: echo up; cat");
    let stop = session
        .call(&Process, json!({ "action": "stop", "id": "p1" }))
        .await;
    assert!(stop.text.starts_with("Stopped p1 (`echo up; cat`).\n"));
    assert!(stop.text.ends_with("ended by signal SIGTERM"), "{stop:?}");
    let log = json!({ "action": "log", "id": "p1", "offset": 2, "limit": 1 });
    let log = session.call(&Process, log).await;
    assert_eq!(log.text, "echo\n[lines 2 to 2 of 2]");
}

#[tokio::test]
async fn whatever_reaches_into_a_process_needs_permission() {
    let session = Session::new();
    let line = json!({ "command": "exec cat", "background": true });
    session.call(&Shell, line).await;
    for (arguments, text) in [
        (
            json!({ "action": "write", "id": "p1", "input": "a\n" }),
            "a\n",
        ),
        (json!({ "action": "write", "id": "p1" }), ""),
        (json!({ "action": "signal", "id": "p1" }), "INT"),
        (
            json!({ "action": "signal", "id": "p1", "signal": "HUP" }),
            "HUP",
        ),
    ] {
        let prepared = session.prepare(&Process, arguments.clone()).await.unwrap();
        let expected = Access::Input {
            process: "p1".to_owned(),
            command: "exec cat".to_owned(),
            text: text.to_owned(),
            beyond: false,
        };
        assert_eq!(prepared.access, [expected], "{arguments}");
        assert_eq!(prepared.order, Order::Alone);
    }
    let arguments = json!({ "action": "stop", "id": "p1" });
    let prepared = session.prepare(&Process, arguments).await.unwrap();
    assert_eq!(prepared.title, "Stop p1 (exec cat)");
    let expected = Access::Stop {
        process: "p1".to_owned(),
        command: "exec cat".to_owned(),
    };
    assert_eq!(prepared.access, [expected]);
    for action in ["list", "output", "log"] {
        let arguments = json!({ "action": action, "id": "p1" });
        let prepared = session.prepare(&Process, arguments).await.unwrap();
        assert_eq!(prepared.access, [], "{action}");
    }
    let listed = session.call(&Process, json!({ "action": "list" })).await;
    assert_eq!(listed.text, "p1: running: exec cat", "nothing was done yet");
}

#[tokio::test]
async fn waiting_for_output_ends_when_the_turn_is_cancelled() {
    let session = Session::new();
    let line = json!({ "command": "sleep 1000", "background": true });
    session.call(&Shell, line).await;
    session.card.cancel();
    let wait = json!({ "action": "output", "id": "p1", "wait_ms": 60_000 });
    let outcome = session.call(&Process, wait).await;
    assert_eq!(outcome.text, "(no new output)\np1 is running");
}

#[tokio::test]
async fn leaving_the_sandbox_is_a_permission_of_its_own() {
    let session = Session::new();
    let arguments =
        json!({ "command": "cargo fetch", "outside_sandbox": "It downloads packages." });
    let prepared = session.prepare(&Shell, arguments).await.unwrap();
    assert_eq!(prepared.title, "Outside of the sandbox: cargo fetch");
    let [
        Access::Outside {
            command, reason, ..
        },
    ] = prepared.access.as_slice()
    else {
        panic!("{:?}", prepared.access);
    };
    assert_eq!(
        (command.as_str(), reason.as_str()),
        ("cargo fetch", "It downloads packages.")
    );
    let arguments = json!({ "command": "cargo fetch", "outside_sandbox": " " });
    let refused = session.prepare(&Shell, arguments).await;
    assert!(refused.is_err_and(|refused| refused.text.contains("say why")));
}
