//! Files and terminals of the client, as agents of version 1 use them.

use crate::support::{SESSION, v1_with};
use ply_client::{Client, Supported, Terminals, v2};
use serde_json::json;

#[tokio::test]
async fn what_a_terminal_of_a_version_1_agent_prints_is_part_of_the_transcript() {
    let client = Client::new()
        .versions(Supported::V1)
        .terminals(Terminals::new());
    let (agent, mut script) = v1_with(client, json!({})).await;
    let answering = async {
        let request = script.expect("session/new").await;
        let answer = json!({ "sessionId": SESSION });
        script.answer(&request, answer).await;
    };
    let (session, ()) = tokio::join!(agent.new_session(std::env::temp_dir()), answering);
    let session = session.unwrap();
    let run = json!({ "sessionId": SESSION, "command": "sh", "args": ["-c", "echo one; echo two >&2; exit 3"] });
    let id = script.ask("terminal/create", run).await;
    let terminal = script.answered(&id).await["result"]["terminalId"].clone();
    let wait = json!({ "sessionId": SESSION, "terminalId": terminal });
    let id = script.ask("terminal/wait_for_exit", wait).await;
    assert_eq!(script.answered(&id).await["result"]["exitCode"], 3);
    let id = v2::TerminalId::new(terminal.as_str().unwrap());
    let shown = || session.with_transcript(|transcript| transcript.terminal(&id).cloned().unwrap());
    while shown().exit_status.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(shown().text(), "one\ntwo\n");
    assert_eq!(
        shown().command.as_deref(),
        Some("sh -c echo one; echo two >&2; exit 3")
    );
    assert_eq!(shown().exit_status.unwrap().exit_code, Some(3));
}
