//! Tools: reading, writing, running, waiting.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::script::{End, say};
use crate::turn::{Told, Turn};

/// How long work that is there to be cancelled takes.
const WAIT: Duration = Duration::from_secs(20);

/// How long after a cancel nobody can have missed it.
const LATE: Duration = Duration::from_millis(800);

/// Announces a tool call.
fn announce(turn: &mut Turn, title: &str, kind: &str, path: Option<&PathBuf>) -> String {
    let id = turn.session.new_id("call");
    turn.open = Some(id.clone());
    let mut fields = json!({"toolCallId": id, "title": title, "kind": kind, "status": "pending", "rawInput": {"title": title}});
    if let (Some(fields), Some(path)) = (fields.as_object_mut(), path) {
        fields.insert("locations".to_owned(), json!([{"path": path, "line": 1}]));
    }
    turn.show(json!({"kind": "call", "is_first": true, "fields": fields}));
    id
}

fn progress(turn: &Turn, id: &str, status: &str, content: &[Value]) {
    let mut fields = json!({"toolCallId": id, "status": status});
    if let Some(fields) = fields.as_object_mut()
        && !content.is_empty()
    {
        fields.insert("content".to_owned(), json!(content));
    }
    turn.show(json!({"kind": "call", "fields": fields}));
}

/// Ends a tool call.
fn complete(turn: &mut Turn, id: &str, status: &str, content: &[Value]) {
    if turn.agent.is("tool-calls-never-end") {
        turn.open = None;
        return;
    }
    progress(turn, id, status, content);
    if turn.agent.is("completed-calls-fail") && status == "completed" {
        progress(turn, id, "failed", &[]);
    }
    turn.open = None;
}

/// Returns the file that a prompt names, in the session's directory.
fn file(turn: &Turn, words: &str) -> PathBuf {
    let mut named = words.split_whitespace().filter_map(|word| {
        let word = word.trim_end_matches([':', ',', '.']);
        let is_name = word.contains('.') && !word.contains('/');
        is_name.then_some(word)
    });
    turn.session.cwd.join(named.next().unwrap_or("README.md"))
}

/// Reads a file, through the client if it offers that.
pub(crate) async fn look(turn: &mut Turn, words: &str) -> End {
    let path = file(turn, words);
    let id = announce(turn, "Read a file", "read", Some(&path));
    progress(turn, &id, "in_progress", &[]);
    let mut text = std::fs::read_to_string(&path).ok();
    let is_offered = turn.agent.client_has("/fs/readTextFile") && !turn.agent.is_v2();
    if is_offered || turn.agent.is("files-for-all") {
        let path = match turn.agent.is("asks-for-relative-files") {
            true => PathBuf::from("README.md"),
            false => path,
        };
        let mut params = json!({"sessionId": turn.session.id, "path": path});
        if let (true, Some(params)) = (turn.agent.is("reads-from-line-0"), params.as_object_mut()) {
            params.insert("line".to_owned(), json!(0));
        }
        match turn.ask("fs/read_text_file", &params).await {
            Told::Result(told) => {
                text = told
                    .get("content")
                    .and_then(Value::as_str)
                    .map(str::to_owned)
            }
            Told::Error => {}
            Told::Stopped => return End::Cancelled,
        }
    }
    match text {
        Some(text) => complete(turn, &id, "completed", &[json!({"text": text})]),
        None => complete(
            turn,
            &id,
            "failed",
            &[json!({"text": "There is no such file."})],
        ),
    }
    say(turn, &["It is ", "a file."]);
    End::Finished
}

/// What the user says to a change.
enum Verdict {
    Allowed,
    Rejected,
    Cancelled,
}

/// Writes a file, if the user allows it.
pub(crate) async fn change(turn: &mut Turn, words: &str) -> End {
    let path = file(turn, words);
    let line = words.rsplit_once(": ").map_or("checked", |(_, line)| line);
    let new = format!("{}\n", line.trim());
    let id = announce(turn, "Write a file", "edit", Some(&path));
    if turn.agent.is("writes-before-the-answer") {
        // A failure to write shows later, when it is written again.
        drop(std::fs::write(&path, &new));
    }
    let is_free = turn.session.state().mode == "code";
    let verdict = match is_free {
        true => Verdict::Allowed,
        false => permission(turn, &id).await,
    };
    match verdict {
        Verdict::Allowed => {}
        Verdict::Cancelled => return End::Cancelled,
        Verdict::Rejected => {
            let is_odd = turn.agent.is("odd-refused-calls-stay-pending") && !turn.agent.is_v2();
            if !is_odd && !turn.agent.is("rejected-calls-stay-open") {
                complete(turn, &id, "failed", &[]);
            }
            turn.open = None;
            say(turn, &["Then I leave it."]);
            return End::Finished;
        }
    }
    progress(turn, &id, "in_progress", &[]);
    let old = std::fs::read_to_string(&path).ok();
    let is_offered = turn.agent.client_has("/fs/writeTextFile") && !turn.agent.is_v2();
    let mut is_written = false;
    if is_offered {
        let params = json!({"sessionId": turn.session.id, "path": path, "content": new});
        match turn.ask("fs/write_text_file", &params).await {
            Told::Result(Value::Null) if turn.agent.is("null-writes-fail") => {
                complete(turn, &id, "failed", &[]);
                return End::Finished;
            }
            Told::Result(_) if turn.agent.is("odd-checks-its-writes") => {
                is_written = std::fs::read_to_string(&path).is_ok_and(|found| found == new);
                if !is_written {
                    complete(turn, &id, "failed", &[]);
                    return End::Finished;
                }
            }
            Told::Result(_) => is_written = true,
            Told::Error => {}
            Told::Stopped => return End::Cancelled,
        }
    }
    if !is_written && std::fs::write(&path, &new).is_err() {
        complete(
            turn,
            &id,
            "failed",
            &[json!({"text": "The file cannot be written."})],
        );
        return End::Finished;
    }
    complete(
        turn,
        &id,
        "completed",
        &[json!({"path": path, "old": old, "new": new})],
    );
    say(turn, &["Done."]);
    End::Finished
}

async fn permission(turn: &mut Turn, id: &str) -> Verdict {
    let reject = match turn.agent.is("options-share-an-id") {
        true => "allow",
        false => "reject",
    };
    let options = json!([{"optionId": "allow", "name": "Allow", "kind": "allow_once"}, {"optionId": reject, "name": "Reject", "kind": "reject_once"}]);
    let call = json!({"toolCallId": id, "title": "Write a file", "kind": "edit"});
    let mut params = match turn.agent.is_v2() {
        true if turn.agent.is("questions-about-relative-commands") => {
            let subject = json!({"type": "command", "command": "tee", "cwd": "work"});
            json!({"title": "Run a command?", "subject": subject, "options": options})
        }
        true => {
            json!({"title": "Write a file?", "subject": {"type": "tool_call", "toolCall": call}, "options": options})
        }
        false => json!({"toolCall": call, "options": options}),
    };
    if let Some(params) = params.as_object_mut() {
        if !turn.agent.is("questions-of-no-session") {
            params.insert("sessionId".to_owned(), json!(turn.session.id));
        }
        if turn.agent.is("questions-of-another-session") {
            params.insert("sessionId".to_owned(), json!("mutant-of-nobody"));
        }
        if turn.agent.is("questions-without-subject") {
            params.remove("toolCall");
            params.remove("title");
        }
    }
    if !turn.agent.is("asks-while-running") {
        turn.state("requires_action");
    }
    if turn.agent.is("options-without-name")
        && let Some(options) = params.get_mut("options").and_then(Value::as_array_mut)
    {
        for option in options.iter_mut().filter_map(Value::as_object_mut) {
            option.remove("name");
        }
    }
    if turn.agent.is("questions-as-notifications") {
        turn.agent.notify("session/request_permission", &params);
        return Verdict::Rejected;
    }
    let told = turn.ask("session/request_permission", &params).await;
    let outcome = match told {
        Told::Stopped => return Verdict::Cancelled,
        Told::Error if turn.agent.is("errors-are-consent") => return Verdict::Allowed,
        Told::Error => json!({"outcome": "error"}),
        Told::Result(told) => told.get("outcome").cloned().unwrap_or_default(),
    };
    let text = |key: &str| outcome.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("outcome") == "cancelled" {
        let is_left = turn.agent.is("close-leaves-the-turn") && !turn.session.state().is_open;
        let is_odd = turn.agent.is("odd-cancelled-is-no") && !turn.agent.is_v2();
        return match is_left || is_odd || turn.agent.is("cancelled-questions-are-rejections") {
            true => Verdict::Rejected,
            false => match turn.agent.is("cancelled-questions-are-consent") {
                true => Verdict::Allowed,
                false => Verdict::Cancelled,
            },
        };
    }
    if !turn.agent.is("stays-in-requires-action") {
        turn.state("running");
    }
    let is_allowed = text("outcome") == "selected" && text("optionId") == "allow";
    match is_allowed || turn.agent.is("any-answer-is-consent") {
        true => Verdict::Allowed,
        false => Verdict::Rejected,
    }
}

/// Works until it is cancelled, or for a long while.
pub(crate) async fn wait(turn: &mut Turn) -> End {
    let id = announce(turn, "Wait", "execute", None);
    progress(turn, &id, "in_progress", &[]);
    say(turn, &["Waiting."]);
    tokio::select! {
        biased;
        () = turn.stopped() => {
            if turn.agent.is("asks-after-the-cancel") {
                tokio::time::sleep(LATE).await;
                let options = json!([{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]);
                let params = json!({"sessionId": turn.session.id, "toolCall": {"toolCallId": id}, "options": options});
                // Nobody waits for the answer.
                drop(turn.agent.ask("session/request_permission", &params));
            }
            return End::Cancelled;
        }
        () = tokio::time::sleep(WAIT) => {}
    }
    complete(turn, &id, "completed", &[]);
    End::Finished
}

/// Runs a short command, in a terminal of the client if it offers that.
pub(crate) async fn run(turn: &mut Turn, words: &str) -> End {
    let command = words.split('`').nth(1).unwrap_or("true").to_owned();
    let id = announce(turn, "Run a command", "execute", None);
    let is_offered = turn.agent.client_has("/terminal") && !turn.agent.is_v2();
    if is_offered || turn.agent.is("terminals-for-all") {
        match run_there(turn, &id, &command).await {
            Some(End::Finished) => return finish_run(turn, &id, &[]),
            Some(end) => return end,
            None => {}
        }
    }
    progress(turn, &id, "in_progress", &[]);
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", &command]).current_dir(&turn.session.cwd);
    let output = shell.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::select! {
        biased;
        () = turn.stopped() => return End::Cancelled,
        output = output => output.map(|output| output.stdout).unwrap_or_default(),
    };
    if !turn.agent.is_v2() {
        let text = String::from_utf8_lossy(&output).into_owned();
        return finish_run(turn, &id, &[json!({"text": text})]);
    }
    let terminal = show_terminal(turn, &command, &output);
    finish_run(turn, &id, &[json!({"terminal": terminal})])
}

fn finish_run(turn: &mut Turn, id: &str, content: &[Value]) -> End {
    complete(turn, id, "completed", content);
    say(turn, &["It ran."]);
    End::Finished
}

/// Shows a command in a terminal of version 2, which is the agent's own, and keeps how it ended.
fn show_terminal(turn: &Turn, command: &str, output: &[u8]) -> String {
    let id = turn.session.new_id("terminal");
    let cwd = match turn.agent.is("terminals-are-relative") {
        true => json!("work"),
        false => json!(turn.session.cwd),
    };
    let data = match turn.agent.is("terminal-data-is-text") {
        true => String::from_utf8_lossy(output).into_owned(),
        false => STANDARD.encode(output),
    };
    turn.tell(&json!({"sessionUpdate": "terminal_update", "terminalId": id, "command": command, "cwd": cwd}));
    turn.tell(&json!({"sessionUpdate": "terminal_output_chunk", "terminalId": id, "data": data}));
    turn.tell(&json!({"sessionUpdate": "terminal_update", "terminalId": id, "exitStatus": {"exitCode": 0}}));
    if turn.agent.is("terminal-ids-repeat") {
        turn.tell(
            &json!({"sessionUpdate": "terminal_update", "terminalId": id, "command": "true", "cwd": cwd}),
        );
    }
    let update = json!({"sessionUpdate": "terminal_update", "terminalId": id, "command": command, "cwd": cwd, "output": {"data": data}, "exitStatus": {"exitCode": 0}});
    let kept = json!({"kind": "terminal", "update": update});
    turn.session.state().history.push(kept);
    id
}

/// Runs a command in a terminal of the client; none if that does not work.
async fn run_there(turn: &mut Turn, id: &str, command: &str) -> Option<End> {
    let session = turn.session.id.clone();
    let cwd = match turn.agent.is("terminals-are-relative") {
        true => json!("work"),
        false => json!(turn.session.cwd),
    };
    let params = json!({"sessionId": session, "command": "sh", "args": ["-c", command], "env": [], "cwd": cwd, "outputByteLimit": 65536});
    let made = match turn.ask("terminal/create", &params).await {
        Told::Result(made) => made,
        Told::Error => return None,
        Told::Stopped => return Some(End::Cancelled),
    };
    let terminal = made.get("terminalId")?.as_str()?.to_owned();
    let params = json!({"sessionId": session, "terminalId": terminal});
    if turn.agent.is("releases-before-showing") {
        turn.ask("terminal/release", &params).await;
    }
    progress(turn, id, "in_progress", &[json!({"terminal": terminal})]);
    let exit = turn.ask("terminal/wait_for_exit", &params).await;
    if !matches!(exit, Told::Stopped) {
        turn.ask("terminal/output", &params).await;
    }
    if !turn.agent.is("terminals-are-kept") && !turn.agent.is("releases-before-showing") {
        // Also when the turn is cancelled, so nobody waits for the answer.
        drop(turn.agent.ask("terminal/release", &params));
    }
    match exit {
        Told::Stopped => Some(End::Cancelled),
        _ => Some(End::Finished),
    }
}
