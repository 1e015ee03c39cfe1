//! Our own peers, recorded: no rule is broken.

use std::path::Path;

use ply_check::passive::Passive;
use ply_client::{AllowAll, Client, Command, Event, SessionSetup, Supported};
use tempfile::TempDir;

use crate::{PLY, entries, soon};

fn agent(place: &Path) -> Command {
    let ply = ["trace", "-o"].map(Into::into);
    let words = ply.into_iter().chain([place.join("t").into_os_string()]);
    let words = words.chain(["--", PLY, "agent", "--model", "offline"].map(Into::into));
    let mut command = Command::new(PLY).args(words);
    for (name, _) in std::env::vars_os() {
        if name != "PATH" {
            command = command.env_remove(name);
        }
    }
    command
        .env("HOME", place)
        .env("PLY_STORE", place.join("store.db"))
}

#[track_caller]
fn check(place: &Path, version: u64) {
    let mut passive = Passive::new();
    for entry in entries(&place.join("t")) {
        passive.observe(&entry);
    }
    assert_eq!(passive.version(), Some(version));
    assert!(passive.frames() > 10);
    let findings = passive.finish().findings;
    assert!(findings.is_empty(), "{findings:#?}");
}

async fn talk(supported: Supported, version: u64) {
    let place = TempDir::new().unwrap();
    let root = place.path().canonicalize().unwrap();
    std::fs::write(root.join("note.txt"), "one\ntwo\n").unwrap();
    let client = Client::new()
        .info("test", "1")
        .versions(supported)
        .permissions(AllowAll);
    let agent = soon(client.spawn(agent(&root))).await.unwrap();
    let session = soon(agent.new_session(SessionSetup::new(&root)))
        .await
        .unwrap();
    for prompt in [
        "think of it",
        "read note.txt",
        "run echo hello",
        "run false",
    ] {
        let mut turn = soon(session.prompt(prompt)).await.unwrap();
        while let Some(event) = soon(turn.next()).await {
            event.unwrap();
        }
        assert!(turn.stop_reason().is_some());
    }
    let mut turn = soon(session.prompt("run sleep 1000")).await.unwrap();
    while let Some(event) = soon(turn.next()).await {
        if let Event::ToolCall(_) = event.unwrap() {
            turn.cancel().await.unwrap();
        }
    }
    soon(session.close()).await.unwrap();
    soon(agent.close()).await;
    check(&root, version);
}

#[tokio::test]
async fn our_agent_and_client_break_no_rule_of_version_1() {
    talk(Supported::V1, 1).await;
}

#[tokio::test]
async fn our_agent_and_client_break_no_rule_of_version_2() {
    talk(Supported::V2, 2).await;
}
