//! The scripted agent in the hands of a person.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use ply_check::{Outcome, client};
use ply_client::{AllowAll, Client, Event, Files, Session, Supported, Version};

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
    let place = scratch.path().canonicalize().unwrap();
    let session = agent.new_session(place).await.unwrap();
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
    agent.close().await;

    let (spoken, findings) = client::read_report(&out).unwrap();
    assert_eq!(spoken, version);
    let count = |wanted| {
        let verdicts = findings.verdicts();
        verdicts.filter(|verdict| verdict.outcome == wanted).count()
    };
    assert_eq!(count(Outcome::Fail) + count(Outcome::Warn), 0);
    assert!(count(Outcome::Pass) > 40, "{}", count(Outcome::Pass));
}

#[tokio::test]
async fn prompts_name_the_scenes_in_version_1() {
    converse(Supported::V1, Version::V1).await;
}

#[tokio::test]
async fn prompts_name_the_scenes_in_version_2() {
    converse(Supported::V2, Version::V2).await;
}
