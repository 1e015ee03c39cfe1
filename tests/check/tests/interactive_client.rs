//! The scripted agent in the hands of a person.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use ply_client::{AllowAll, Client, Event, Files, Session, Supported, Version};
use serde_json::Value;

/// Sends a prompt and returns what the agent says.
async fn say(session: &Session, words: &str) -> String {
    let mut turn = session.prompt(words).await.unwrap();
    let mut said = String::new();
    while let Some(event) = turn.next().await {
        if let Event::Message(text) = event.unwrap() {
            said.push_str(&text.to_string());
        }
    }
    said
}

async fn converse(versions: Supported, version: Version) {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("report");
    let command = [
        env!("CARGO_BIN_EXE_scripted_agent").to_owned(),
        "--interactive".to_owned(),
        "--out".to_owned(),
        out.display().to_string(),
    ];
    let agent = Client::new()
        .versions(versions)
        .permissions(AllowAll)
        .files(Files::new())
        .spawn(command)
        .await
        .unwrap();
    let project = scratch.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&project).unwrap();
    for name in OWN {
        std::fs::write(project.join(name), "my own work\n").unwrap();
    }
    let session = agent.new_session(project.clone()).await.unwrap();
    let help = say(&session, "help").await;
    assert!(help.contains("`unknown-updates`"), "{help}");
    let one = say(&session, "ids").await;
    assert!(one.contains("kept") && !one.contains("broken"), "{one}");
    let all = say(&session, "all").await;
    assert!(!all.contains("broken"), "{all}");
    let report = say(&session, "report").await;
    assert!(
        report.contains("kept") && !report.contains("broken"),
        "{report}"
    );
    // Each turn leaves its report: an editor may end its agents at any moment.
    let early = read(&out);
    assert!(count(&early, "pass") > 40, "{early}");
    agent.close().await;

    let report = read(&out);
    let number = match version {
        Version::V1 => 1,
        Version::V2 => 2,
    };
    assert_eq!(report["runs"][0]["protocolVersion"], number);
    assert_eq!(count(&report, "fail") + count(&report, "warn"), 0);
    assert!(count(&report, "pass") > 40, "{report}");

    // The session's directory is the user's: what was there is untouched, and nothing was added.
    let left: BTreeSet<_> = std::fs::read_dir(&project)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, OWN.iter().map(OsString::from).collect());
    for name in OWN {
        let text = std::fs::read_to_string(project.join(name)).unwrap();
        assert_eq!(text, "my own work\n", "{name}");
    }
}

/// Files of the user, under the names that scenes use.
const OWN: [&str; 3] = ["empty.txt", "ten lines.txt", "new file.txt"];

fn read(report: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap()
}

fn count(report: &Value, outcome: &str) -> u64 {
    report["runs"][0]["counts"][outcome].as_u64().unwrap()
}

#[tokio::test]
async fn prompts_name_the_scenes_in_version_1() {
    converse(Supported::V1, Version::V1).await;
}

#[tokio::test]
async fn prompts_name_the_scenes_in_version_2() {
    converse(Supported::V2, Version::V2).await;
}
