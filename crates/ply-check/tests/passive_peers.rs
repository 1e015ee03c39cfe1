//! Agents that are known to be good, in every version they speak: what they do breaks no passive rule.
//!
//! The agents are programs of other packages, so whoever runs this names the directory they were built into:
//! `PLY_PEERS=DIR cargo test -p ply-check --test passive_peers -- --ignored`.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use ply_check::passive::{self, judge};
use ply_check::peer::{Peer, Reply};
use ply_check::{Findings, Outcome, Recording, Side};
use ply_client::{Direction, Version};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

/// Each agent: its program, its arguments and its versions.
const PEERS: &[(&str, &[&str], &[u8])] = &[
    ("echo", &[], &[1, 2]),
    ("noisy", &[], &[1]),
    ("ply", &["agent", "--model", "offline"], &[1, 2]),
    ("ply_agent", &["v1"], &[1]),
    ("ply_agent", &["v2"], &[2]),
    ("sdk_agent", &["v1"], &[1]),
    ("sdk_agent", &["v2"], &[2]),
    ("tour", &[], &[1, 2]),
];

/// What is said; each agent knows some of it.
const PROMPTS: &[&str] = &[
    "hello",
    "say hello",
    "think of it",
    "plan one, two",
    "tool",
    "permission",
    "choices",
    "command",
    "look",
    "read note.txt",
    "write new.txt: text",
    "run echo hello",
    "run false",
    "ask what",
    "form",
    "visit",
    "notice",
    "usage",
    "title Mine",
    "commands",
    "mode",
    "later",
    "refuse",
    "tokens",
    "requests",
    "fail",
    "history",
    "replace one with three in note.txt",
    "delete new.txt",
];

/// What makes an agent wait until it is cancelled.
const LONG: &[&str] = &["wait", "run sleep 1000", "permission", "tool"];

fn start(program: &Path, arguments: &[&str], place: &Path) -> (Child, Peer) {
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(place)
        .env("HOME", place)
        .env("PLY_STORE", place.join("store.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (stdout, stdin) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let recording = Recording::new("all");
    let mut peer = Peer::new(stdout, stdin, Direction::ToAgent, recording);
    serve(&mut peer);
    (child, peer)
}

/// Answers what agents ask, now with yes, now with no.
fn serve(peer: &mut Peer) {
    let mut asked = 0;
    peer.service
        .on("session/request_permission", move |params| {
            asked += 1;
            let options = params["options"].as_array().unwrap();
            let option = &options[asked % options.len()]["optionId"];
            Reply::Result(json!({"outcome": {"outcome": "selected", "optionId": option}}))
        });
    peer.service.on("fs/read_text_file", |_| {
        Reply::Result(json!({"content": "one\n"}))
    });
    for method in ["fs/write_text_file", "terminal/kill", "terminal/release"] {
        peer.service.on(method, |_| Reply::Result(json!({})));
    }
    let mut made = 0;
    peer.service.on("terminal/create", move |_| {
        made += 1;
        Reply::Result(json!({"terminalId": format!("t{made}")}))
    });
    peer.service.on("terminal/output", |_| {
        Reply::Result(json!({"output": "x", "truncated": false, "exitStatus": {"exitCode": 0}}))
    });
    peer.service.on("terminal/wait_for_exit", |_| {
        Reply::Result(json!({"exitCode": 0}))
    });
    peer.service.on("elicitation/create", |_| {
        Reply::Result(json!({"action": "decline"}))
    });
}

fn hello(version: u8, is_rich: bool) -> Value {
    let info = json!({"name": "test", "version": "1"});
    let capabilities = match (version, is_rich) {
        (_, false) => json!({}),
        (1, _) => json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true,
            "elicitation": {"form": {}, "url": {}}, "session": {"notices": {}, "configOptions": {"boolean": {}}}}),
        _ => json!({"elicitation": {"form": {}, "url": {}}}),
    };
    match version {
        1 => json!({"protocolVersion": 1, "clientInfo": info, "clientCapabilities": capabilities}),
        _ => json!({"protocolVersion": 2, "info": info, "capabilities": capabilities}),
    }
}

/// Sends a prompt and waits until its work is over; with `cancel`, cancels it as soon as something happens.
async fn turn(peer: &mut Peer, version: u8, session: &str, prompt: &str, cancel: bool) {
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": prompt}]});
    let from = peer.recording().len();
    let call = peer.begin("session/prompt", params).await.unwrap();
    if cancel {
        let quiet = Duration::from_millis(300);
        peer.until(quiet, |frame| {
            frame
                .update_kind()
                .is_some_and(|kind| kind.starts_with("tool"))
        })
        .await
        .unwrap();
        peer.notify("session/cancel", json!({"sessionId": session}))
            .await
            .unwrap();
        // What is open, or asked before the agent knows, is answered as a cancelled turn has to be.
        let cancelled = json!({"outcome": {"outcome": "cancelled"}});
        let outcome = cancelled.clone();
        peer.service.on("session/request_permission", move |_| {
            Reply::Result(outcome.clone())
        });
        while let Some(held) = peer.service.take_held("session/request_permission") {
            peer.respond(&held.id, cancelled.clone()).await.unwrap();
        }
    }
    let answer = peer.answer(&call).await.unwrap();
    if version == 2 && answer.result().is_some() {
        let is_idle = |frame: &ply_check::Frame| {
            let update = frame.update();
            update.is_some_and(|update| {
                update["sessionUpdate"] == "state_update" && update["state"] == "idle"
            })
        };
        if peer.seen_since(from, is_idle).is_none() {
            peer.until(Duration::from_secs(10), is_idle).await.unwrap();
        }
    }
}

async fn talk(peer: &mut Peer, version: u8, is_rich: bool, place: &Path) {
    peer.patience = Duration::from_secs(20);
    let (_, welcome) = peer
        .need("initialize", hello(version, is_rich))
        .await
        .unwrap();
    let setup = json!({"cwd": place, "mcpServers": []});
    let (_, made) = peer.need("session/new", setup.clone()).await.unwrap();
    let session = made["sessionId"].as_str().unwrap().to_owned();
    for prompt in PROMPTS {
        // Some agents pass on the path as it is.
        let note = place.join("note.txt");
        let prompt = prompt.replace("note.txt", note.to_str().unwrap());
        turn(peer, version, &session, &prompt, false).await;
    }
    for prompt in LONG {
        peer.service
            .on("session/request_permission", |_| Reply::Hold);
        turn(peer, version, &session, prompt, true).await;
    }
    let id = json!({"sessionId": session});
    let offers = |at: &str| {
        welcome
            .pointer(at)
            .is_some_and(|it| !it.is_null() && it != false)
    };
    let (list, close) = match version {
        1 => (
            "/agentCapabilities/sessionCapabilities/list",
            "/agentCapabilities/sessionCapabilities/close",
        ),
        _ => ("/capabilities/session", "/capabilities/session"),
    };
    if offers(list) {
        peer.ask("session/list", json!({})).await.unwrap();
    }
    if offers(close) {
        peer.ask("session/close", id.clone()).await.unwrap();
    }
    let mut again = setup;
    again["sessionId"] = id["sessionId"].clone();
    if version == 2 {
        peer.ask("session/resume", again.clone()).await.unwrap();
        again["replayFrom"] = json!({"type": "start"});
        peer.ask("session/resume", again).await.unwrap();
    } else if offers("/agentCapabilities/loadSession") {
        peer.ask("session/load", again).await.unwrap();
    }
    peer.listen(Duration::from_millis(100)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the programs of other packages; see the beginning of this file"]
async fn good_agents_break_no_passive_rule() {
    let programs = std::env::var_os("PLY_PEERS").expect("PLY_PEERS names their directory");
    let mut wrong = Vec::new();
    for (program, arguments, versions) in PEERS {
        for version in *versions {
            for is_rich in [false, true] {
                let place = tempfile::tempdir().unwrap();
                let root = place.path().canonicalize().unwrap();
                std::fs::write(root.join("note.txt"), "one\ntwo\n").unwrap();
                let (mut child, mut peer) =
                    start(&Path::new(&programs).join(program), arguments, &root);
                let name = format!("{program} {arguments:?} version {version} rich {is_rich}");
                let done = tokio::time::timeout(
                    Duration::from_secs(60),
                    talk(&mut peer, *version, is_rich, &root),
                )
                .await;
                if done.is_err() {
                    wrong.push(format!("{name}: it hangs"));
                }
                child.start_kill().unwrap();
                let number = if *version == 1 {
                    Version::V1
                } else {
                    Version::V2
                };
                for side in [Side::Agent, Side::Client] {
                    let rules = passive::with_passive(std::iter::empty(), side, number);
                    let mut findings = Findings::new(rules);
                    findings.recordings.push(peer.recording().clone());
                    judge(&[peer.recording().clone()], side, &mut findings);
                    let kept = findings.verdicts().filter(|it| it.outcome == Outcome::Pass);
                    let kept: BTreeSet<&str> = kept.map(|verdict| verdict.rule.id).collect();
                    println!(
                        "{name} {side:?}: {} frames, {} kept",
                        peer.recording().len(),
                        kept.len()
                    );
                    let odd = findings.verdicts().filter(|it| it.outcome > Outcome::Pass);
                    for verdict in odd {
                        let frames = peer.recording().with_frames(|frames| {
                            let shown = verdict
                                .evidence
                                .frames
                                .iter()
                                .map(|frame| &frames[*frame].bytes);
                            shown
                                .map(|line| String::from_utf8_lossy(line).into_owned())
                                .collect::<Vec<_>>()
                        });
                        wrong.push(format!(
                            "{name} {side:?}: {} {} {frames:#?}",
                            verdict.rule.id, verdict.saw
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
