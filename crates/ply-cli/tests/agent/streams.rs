//! Standard output belongs to the protocol.

use crate::place::Place;

/// Variables that make other programs talk.
const TALKATIVE: [(&str, &str); 6] = [
    ("RUST_LOG", "trace"),
    ("RUST_BACKTRACE", "full"),
    ("PLY_LOG", "trace"),
    ("DEBUG", "*"),
    ("HYPER_LOG", "trace"),
    ("SQLITE_TRACE", "1"),
];

// Every line is checked where it is read, in `raw.rs`.
#[tokio::test]
async fn standard_output_has_messages_only_whatever_commands_print() {
    let place = Place::new();
    let mut launch = place.agent();
    for (name, value) in TALKATIVE {
        launch = launch.set(name, value);
    }
    let mut agent = launch.raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    for line in [
        "run seq 200000",
        "run seq 200000 >&2",
        "run head -c 3000000 /dev/urandom",
        "run printf 'no line end'",
        "run printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}\\n'",
        // The agent's own streams are not to be had by way of its process either.
        "run echo stray > /proc/$PPID/fd/1",
        "run echo stray > /dev/stdout; echo stray > /dev/tty",
    ] {
        let stop = agent.prompt(&id, line).await.unwrap();
        assert_eq!(stop["stopReason"], "end_turn", "{line}");
    }
    agent.hang_up();
    agent.rest().await;
    let (status, _) = agent.ended().await;
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn what_is_no_message_is_answered_in_messages() {
    let place = Place::new();
    let mut agent = place.agent().raw();
    agent.hello_v1().await;
    let wrong = agent.call("no/such", serde_json::json!({})).await;
    assert_eq!(wrong.unwrap_err()["code"], -32601);
    let wrong = agent.call("session/prompt", serde_json::json!([])).await;
    assert_eq!(wrong.unwrap_err()["code"], -32602);
    agent.hang_up();
    agent.rest().await;
    assert!(agent.ended().await.0.success());
}
