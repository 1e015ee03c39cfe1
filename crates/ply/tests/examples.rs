//! Every example runs, as the process that its reader would start.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use ply::client::{AllowAll, Client, Command, Event, Version};
use ply_model_server::{Api, ModelServer, Reply};

/// How long one example may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the program of an example, which cargo builds beside the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(
        path.exists(),
        "build it first: cargo build -p ply --examples"
    );
    path
}

fn command<const N: usize>(parts: [&str; N]) -> Vec<String> {
    let (name, arguments) = parts.split_first().unwrap();
    let program = example(name).to_str().unwrap().to_owned();
    std::iter::once(program)
        .chain(arguments.iter().map(|&one| one.to_owned()))
        .collect()
}

/// Runs a client in `cwd` and returns what it printed.
async fn run(cwd: &Path, client: &str, arguments: &[&str], agent: Vec<String>) -> (String, String) {
    let mut command = tokio::process::Command::new(example(client));
    command.args(arguments).args(agent).current_dir(cwd);
    let output = tokio::time::timeout(PATIENCE, command.kill_on_drop(true).output());
    let Output {
        status,
        stdout,
        stderr,
    } = output.await.expect("it ends in time").unwrap();
    let (stdout, stderr) = (
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    );
    assert!(status.success(), "{client}: {stdout}\n{stderr}");
    (stdout, stderr)
}

#[test]
fn every_example_is_run_here() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let quoted = format!("\"{name}\"");
        assert!(include_str!("examples.rs").contains(&quoted), "{name}");
    }
}

#[tokio::test]
async fn echo_and_one_shot() {
    let directory = tempfile::tempdir().unwrap();
    let (answer, rest) = run(directory.path(), "one_shot", &["Hello"], command(["echo"])).await;
    assert_eq!(answer, "Hello\n");
    assert!(rest.contains("EndTurn"), "{rest}");
}

#[tokio::test]
async fn edit_file_asks_and_obeys() {
    let directory = tempfile::tempdir().unwrap();
    let todo = directory.path().join("TODO.md");
    let agent = || command(["edit_file"]);
    let (answer, _) = run(directory.path(), "one_shot", &["Buy milk"], agent()).await;
    assert_eq!(answer, "Then I leave the file alone.\n");
    assert!(!todo.exists());
    let (answer, _) = run(directory.path(), "policy", &["Buy milk"], agent()).await;
    assert_eq!(answer, "Added.\n");
    assert_eq!(std::fs::read_to_string(todo).unwrap(), "- [ ] Buy milk\n");
}

#[tokio::test]
async fn unsaved_buffers_are_read_and_kept_up_to_date() {
    let directory = tempfile::tempdir().unwrap();
    let todo = directory.path().canonicalize().unwrap().join("TODO.md");
    std::fs::write(&todo, "- [ ] Old\n").unwrap();
    let arguments = [todo.to_str().unwrap(), "- [ ] Unsaved\n", "Buy milk"];
    let (buffer, _) = run(
        directory.path(),
        "unsaved_buffers",
        &arguments,
        command(["edit_file"]),
    )
    .await;
    assert_eq!(buffer, "- [ ] Unsaved\n- [ ] Buy milk\n");
    assert_eq!(std::fs::read_to_string(todo).unwrap(), buffer);
}

#[tokio::test]
async fn streaming_model_shows_an_answer_as_it_comes_and_sends_the_conversation() {
    let server =
        ModelServer::start([Reply::say("It is a long story."), Reply::say("Indeed.")]).await;
    let address = server.url(Api::Ollama);
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    let agent = command(["streaming_model", address]);
    let agent = Client::new().spawn(agent).await.unwrap();
    let session = agent.new_session(std::env::temp_dir()).await.unwrap();
    let mut turn = session.prompt("Tell me").await.unwrap();
    let mut parts = Vec::new();
    while let Some(event) = turn.next().await {
        if let Event::Message(text) = event.unwrap() {
            parts.push(text.to_string());
        }
    }
    assert_eq!(parts.concat(), "It is a long story.");
    session
        .prompt("Really?")
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
    let sent = server.request(1).await;
    let sent: Vec<_> = sent
        .messages()
        .iter()
        .map(|one| one["content"].clone())
        .collect();
    assert_eq!(sent, ["Tell me", "It is a long story.", "Really?"]);
    agent.close().await;
}

#[tokio::test]
async fn resumable_sessions_survive_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("sessions.db");
    let start = || Client::new().spawn(command(["resumable", store.to_str().unwrap()]));
    let agent = start().await.unwrap();
    let session = agent.new_session(directory.path()).await.unwrap();
    session.prompt("one").await.unwrap().finish().await.unwrap();
    agent.kill().await;

    let agent = start().await.unwrap();
    let latest = agent.latest_session(directory.path()).await.unwrap();
    assert_eq!(latest.unwrap().session_id, *session.id());
    let session = agent
        .load_session(session.id().clone(), directory.path())
        .await
        .unwrap();
    session.prompt("two").await.unwrap().finish().await.unwrap();
    let said = session.with_transcript(|transcript| transcript.last_agent_text());
    assert_eq!(said, "Prompt 2. So far: one, two");
    agent.close().await;
}

/// Also: the recorder, which stands before the agent of version 1.
#[tokio::test]
async fn bridge_shows_an_agent_of_version_1_to_a_client_of_version_2() {
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("record");
    let mut inner = command(["recorder", record.to_str().unwrap()]);
    inner.extend(command(["edit_file"]));
    let bridge = Command::new(example("bridge")).args(inner);
    let agent = Client::new()
        .permissions(AllowAll)
        .spawn(bridge)
        .await
        .unwrap();
    assert_eq!(agent.version(), Version::V2);
    let session = agent.new_session(directory.path()).await.unwrap();
    session
        .prompt("Buy milk")
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
    let (said, calls) = session.with_transcript(|transcript| {
        let calls = transcript.tool_calls().map(|call| call.shown_title());
        (transcript.last_agent_text(), calls.collect::<Vec<_>>())
    });
    assert_eq!(said, "Added.");
    assert_eq!(calls, ["Add a line to TODO.md"]);
    agent.close().await;

    let record = std::fs::read_to_string(record).unwrap();
    let line = |sign: &str, words: &str| {
        let mut lines = record.lines();
        lines.any(|line| line.starts_with(sign) && line.contains(words))
    };
    assert!(line("> ", "session/prompt"), "{record}");
    assert!(line("< ", "\"protocolVersion\":1"), "{record}");
    assert!(line("< ", "session/request_permission"), "{record}");
}
