//! Files and terminals, and on whose behalf a process runs.

use std::ffi::OsString;
use std::sync::Arc;

use ply_client::{Client, Files};
use ply_hub::down::{Caller, Downstream, Services, child};
use serde_json::json;

use crate::stage::{BOTH, Cast, Stage, connect, connect_as, prompt};

/// Plays an agent that reads a file and says what is in it.
fn reader(path: std::path::PathBuf) -> Cast {
    Cast::new(move |_, mut stage: Stage| {
        let path = path.clone();
        async move {
            stage.begin(1).await;
            let prompt = stage.expect("session/prompt").await;
            let params = json!({"sessionId": "d1", "path": path});
            stage
                .send(json!({"id": 7, "method": "fs/read_text_file", "params": params}))
                .await;
            let answer = stage.next().await.unwrap();
            let content = answer["result"]["content"].as_str();
            stage.say(content.unwrap_or("refused")).await;
            stage
                .answer(&prompt, json!({"stopReason": "end_turn"}))
                .await;
            stage.rest().await;
        }
    })
}

struct Unsaved;

impl ply_client::Buffers for Unsaved {
    fn read(&self, _: &std::path::Path) -> Option<String> {
        Some("unsaved".to_owned())
    }
}

#[tokio::test]
async fn files_are_the_clients_where_it_offers_them_and_else_the_hubs_own() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let path = root.join("plums.txt");
    std::fs::write(&path, "saved").unwrap();
    let clients = [
        (
            Client::new()
                .versions(BOTH[0])
                .files(Files::new().with_buffers(Unsaved)),
            "unsaved",
        ),
        (Client::new().versions(BOTH[0]), "saved"),
        (Client::new().versions(BOTH[1]), "saved"),
    ];
    for (client, expected) in clients {
        let server = ply_agent::serve(reader(path.clone()).hub().await);
        let agent = connect_as(&server, client).await;
        let session = agent.new_session(&root).await.unwrap();
        assert_eq!(prompt(&session, "read").await.unwrap(), expected);
    }
    let server = ply_agent::serve(reader("/etc/passwd".into()).hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session(&root).await.unwrap();
    assert_eq!(prompt(&session, "read").await.unwrap(), "refused");
}

#[tokio::test]
async fn the_hub_runs_commands_for_an_agent_and_shows_them() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let cast = Cast::new(|_, mut stage: Stage| async move {
        stage.begin(1).await;
        let prompt = stage.expect("session/prompt").await;
        let params = json!({"sessionId": "d1", "command": "echo", "args": ["plums"]});
        stage
            .send(json!({"id": 1, "method": "terminal/create", "params": params}))
            .await;
        let made = stage.next().await.unwrap();
        let params = json!({"sessionId": "d1", "terminalId": made["result"]["terminalId"]});
        stage
            .send(json!({"id": 2, "method": "terminal/wait_for_exit", "params": params}))
            .await;
        let exit = stage.next().await.unwrap();
        assert_eq!(exit["result"]["exitCode"], 0, "{exit}");
        stage
            .send(json!({"id": 3, "method": "terminal/output", "params": params}))
            .await;
        let output = stage.next().await.unwrap();
        stage
            .say(output["result"]["output"].as_str().unwrap())
            .await;
        stage
            .send(json!({"id": 4, "method": "terminal/release", "params": params}))
            .await;
        stage.next().await.unwrap();
        stage
            .answer(&prompt, json!({"stopReason": "end_turn"}))
            .await;
        stage.rest().await;
    });
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session(&root).await.unwrap();
    assert_eq!(prompt(&session, "run").await.unwrap(), "plums\n");
    let transcript = session.transcript();
    let shown = transcript
        .entries()
        .any(|entry| format!("{entry:?}").contains("echo plums"));
    assert!(shown, "{transcript:?}");
}

#[tokio::test(start_paused = true)]
async fn each_session_has_a_process_of_its_caller_and_the_first_process_serves_the_first() {
    let cast = Cast::new(|number, mut stage: Stage| async move {
        stage.greet(1).await;
        let new = stage.expect("session/new").await;
        stage
            .answer(&new, json!({"sessionId": format!("d{number}")}))
            .await;
        stage.rest().await;
    });
    let (started, callers) = (cast.started(), Arc::clone(&cast.callers));
    let env = |name: &str| Caller::new().env([(OsString::from("WHO"), OsString::from(name))]);
    let first = env("first");
    let hub = Downstream::start(cast, first.clone(), Services::default())
        .await
        .unwrap();
    let hub = hub.callers(move |setup| match setup.cwd.to_str() {
        Some("/") => env("first"),
        _ => env("second"),
    });
    let server = ply_agent::serve(hub);
    let agent = connect(&server, BOTH[1]).await;
    let _one = agent.new_session("/").await.unwrap();
    assert_eq!(started.load(std::sync::atomic::Ordering::Relaxed), 1);
    let _two = agent.new_session("/tmp").await.unwrap();
    assert_eq!(*callers.lock().unwrap(), [first, env("second")]);
    let shown = format!("{:?}", env("secret"));
    assert!(!shown.contains("secret"), "{shown}");
}

#[tokio::test]
async fn a_program_that_is_no_agent_is_told_in_words() {
    let start = |launch| Downstream::start(launch, Caller::new(), Services::default());
    let missing = start(child("/nonexistent/plums"))
        .await
        .unwrap_err()
        .to_string();
    assert!(missing.contains("could not be started"), "{missing}");
    let cat = start(child("cat")).await.unwrap_err().to_string();
    assert!(cat.contains("repeats its input"), "{cat}");
    let shell = child("sh").args(["-c", "echo no plums here >&2; exit 3"]);
    let failed = start(shell).await.unwrap_err().to_string();
    assert!(
        failed.contains("exit status 3") && failed.contains("no plums here"),
        "{failed}"
    );
    let environment = child("sh").args(["-c", "echo \"$WHO-$HOME\" >&2"]);
    let caller = Caller::new().env([
        ("WHO".into(), "me".into()),
        ("PATH".into(), "/usr/bin:/bin".into()),
    ]);
    let ended = Downstream::start(environment, caller, Services::default()).await;
    let ended = ended.unwrap_err().to_string();
    assert!(ended.contains("me-"), "{ended}");
    assert!(ended.ends_with("me-"), "nothing is inherited: {ended}");
}
