//! A whole client, written as a stranger would: an editor with unsaved buffers, rules about what it allows, and a method of its
//! own for agents that want to know the selection.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use ply::agent::v2::ToolKind;
use ply::agent::{Agent, Result, Stop, Turn};
use ply::client::{
    Buffers, Client, Decision, Event, Extension, Extensions, FileService, Files, RpcError, Scope,
    Supported, TerminalService, Value, serde_json, transcript::ToolCall, v1, v2,
};
use serde_json::json;
use tokio::sync::mpsc;

/// What the editor shows that is not on the disk.
struct Unsaved;

impl Buffers for Unsaved {
    fn read(&self, path: &Path) -> Option<String> {
        path.ends_with("notes.txt").then(|| "unsaved".to_owned())
    }
}

/// Allows what only reads, and rejects the rest.
fn rules(request: &v2::RequestPermissionRequest, call: Option<&ToolCall>) -> Decision {
    let reads = call.is_some_and(|call| call.kind == v2::ToolKind::Read);
    let wanted = match reads {
        true => v2::PermissionOptionKind::AllowOnce,
        false => v2::PermissionOptionKind::RejectOnce,
    };
    let mut options = request.options.iter();
    match options.find(|option| option.kind == wanted) {
        Some(option) => Decision::Select(option.option_id.clone()),
        None => Decision::Ask,
    }
}

/// Tells agents the selection, and hears what they think of it.
struct Selection(mpsc::Sender<String>);

impl Extensions for Selection {
    async fn request(&self, request: &Extension) -> std::result::Result<Value, RpcError> {
        #[derive(serde::Deserialize)]
        struct Of {
            file: String,
        }

        match request.method() {
            "_editor/selection" => {
                let Of { file } = request.params()?;
                Ok(json!({"file": file, "lines": [3, 9]}))
            }
            _ => Err(RpcError::method_not_found()),
        }
    }

    async fn notification(&self, notification: &Extension) {
        self.0.send(notification.method().to_owned()).await.unwrap();
    }
}

/// An editor that keeps some files nowhere but in itself, and leaves the others to the disk.
struct Scratch {
    text: Arc<Mutex<String>>,
    disk: Files,
}

impl FileService for Scratch {
    async fn read_text_file(
        &self,
        session: &Scope,
        request: v1::ReadTextFileRequest,
    ) -> std::result::Result<String, RpcError> {
        match request.path.starts_with(session.cwd().join(".scratch")) {
            true => Ok(self.text.lock().unwrap().clone()),
            false => self.disk.read_text_file(session, request).await,
        }
    }

    async fn write_text_file(
        &self,
        session: &Scope,
        request: v1::WriteTextFileRequest,
    ) -> std::result::Result<(), RpcError> {
        match request.path.starts_with(session.cwd().join(".scratch")) {
            true => *self.text.lock().unwrap() = request.content,
            false => self.disk.write_text_file(session, request).await?,
        }
        Ok(())
    }
}

/// The agent at the other end: does what the prompt says.
struct Worker;

impl Agent for Worker {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let told = match turn.prompt().text().split_once(' ') {
            Some(("read", path)) => match turn.read_text_file(path).await {
                Ok(text) => text,
                Err(error) => error.to_string(),
            },
            Some(("write", path)) => match turn.write_text_file(path, "written").await {
                Ok(()) => "written".to_owned(),
                Err(error) => error.to_string(),
            },
            Some(("run", command)) => {
                let terminal = turn.terminal(command).await?;
                terminal.wait().await?;
                let output = terminal.output().await?.output;
                terminal.release().await?;
                output
            }
            Some(("select", file)) => {
                turn.notify_client("_editor/asking", json!({})).await?;
                let params = json!({"file": file});
                let told: Value = turn.call_client("_editor/selection", &params).await?;
                told.to_string()
            }
            Some((what, title)) => {
                let kind = match what {
                    "look" => ToolKind::Read,
                    _ => ToolKind::Edit,
                };
                let call = turn.tool_call(title).kind(kind).await?;
                let decision = call.ask().await?;
                call.finish().await?;
                decision.is_allowed().to_string()
            }
            None => "what?".to_owned(),
        };
        turn.say(told).await?;
        Ok(Stop::EndTurn)
    }
}

async fn hear(session: &ply::client::Session, prompt: &str) -> String {
    let mut turn = session.prompt(prompt).await.unwrap();
    let mut heard = String::new();
    while let Some(event) = turn.next().await {
        match event.unwrap() {
            Event::Message(text) => heard += &text.to_string(),
            Event::Permission(_) => panic!("the policy decides"),
            _ => {}
        }
    }
    heard
}

#[tokio::test]
async fn an_editor_serves_its_buffers_its_rules_and_a_method_of_its_own() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("notes.txt"), "on the disk").unwrap();
    std::fs::write(place.path().join("other.txt"), "saved").unwrap();
    let (tell, mut told) = mpsc::channel(8);
    let editor = Client::new()
        .info("editor", "1.0.0")
        .versions(Supported::V1)
        .permissions(rules)
        .files(Files::new().with_buffers(Unsaved))
        .extensions(Selection(tell));
    let server = ply::agent::serve(Worker);
    let agent = ply::testing::pair_with(&server, editor).await.unwrap();
    let session = agent.new_session(place.path()).await.unwrap();
    assert_eq!(hear(&session, "read notes.txt").await, "unsaved");
    assert_eq!(hear(&session, "read other.txt").await, "saved");
    let outside = hear(&session, "read /etc/passwd").await;
    assert!(!outside.contains("root"), "{outside}");
    assert_eq!(hear(&session, "look Read it").await, "true");
    assert_eq!(hear(&session, "edit Change it").await, "false");
    let selection = hear(&session, "select main.rs").await;
    assert_eq!(selection, r#"{"file":"main.rs","lines":[3,9]}"#);
    assert_eq!(told.recv().await.unwrap(), "_editor/asking");
}

#[tokio::test]
async fn an_editor_with_files_of_its_own_leaves_the_others_to_the_bounded_service() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("other.txt"), "saved").unwrap();
    let text = Arc::new(Mutex::new("buy milk".to_owned()));
    let files = Scratch {
        text: Arc::clone(&text),
        disk: Files::read_only(),
    };
    let editor = Client::new().versions(Supported::V1).files(files);
    let server = ply::agent::serve(Worker);
    let agent = ply::testing::pair_with(&server, editor).await.unwrap();
    let session = agent.new_session(place.path()).await.unwrap();
    assert_eq!(hear(&session, "read .scratch/pad").await, "buy milk");
    assert_eq!(hear(&session, "read other.txt").await, "saved");
    assert_eq!(hear(&session, "write .scratch/pad").await, "written");
    assert_eq!(*text.lock().unwrap(), "written");
    let refused = hear(&session, "write other.txt").await;
    assert_ne!(refused, "written");
    let outside = hear(&session, "read /etc/passwd").await;
    assert!(!outside.contains("root"), "{outside}");
}

#[tokio::test]
async fn an_unknown_update_is_handed_over_as_it_came() {
    struct Future;

    impl Agent for Future {
        async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
            let update =
                json!({"sessionUpdate": "_example.com/mood", "mood": "fine", "_meta": {"a": 1}});
            turn.update(serde_json::from_value(update)?).await?;
            Ok(Stop::EndTurn)
        }
    }

    let agent = ply::testing::pair(Future).await.unwrap();
    let session = agent.new_session("/work").await.unwrap();
    let mut turn = session.prompt("How are you?").await.unwrap();
    let mut moods = Vec::new();
    while let Some(event) = turn.next().await {
        let event = event.unwrap();
        if let Event::Other(v2::SessionUpdate::Other(other)) = &event {
            moods.push(serde_json::to_value(other).unwrap());
            assert_eq!(event.meta().unwrap()["a"], 1);
        }
    }
    let expected = json!({"sessionUpdate": "_example.com/mood", "mood": "fine", "_meta": {"a": 1}});
    assert_eq!(moods, [expected]);
}

/// Commands that run nowhere: each prints its own name at once.
#[derive(Clone, Default)]
struct Pretend(Arc<Mutex<Vec<String>>>);

impl Pretend {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }
}

type Answer<T> = std::result::Result<T, RpcError>;

impl TerminalService for Pretend {
    fn fresh(&self) -> Self {
        self.clone()
    }

    async fn create(
        &self,
        session: &Scope,
        request: v1::CreateTerminalRequest,
    ) -> Answer<v1::CreateTerminalResponse> {
        self.note(format!(
            "{} in {}",
            request.command,
            session.cwd().display()
        ));
        Ok(v1::CreateTerminalResponse::new("pretended"))
    }

    async fn output(&self, _: v1::TerminalOutputRequest) -> Answer<v1::TerminalOutputResponse> {
        Ok(v1::TerminalOutputResponse::new("nothing happened", false))
    }

    async fn wait_for_exit(
        &self,
        _: v1::WaitForTerminalExitRequest,
    ) -> Answer<v1::WaitForTerminalExitResponse> {
        let status = v1::TerminalExitStatus::new().exit_code(0);
        Ok(v1::WaitForTerminalExitResponse::new(status))
    }

    async fn kill(&self, _: v1::KillTerminalRequest) -> Answer<v1::KillTerminalResponse> {
        Ok(v1::KillTerminalResponse::new())
    }

    async fn release(&self, _: v1::ReleaseTerminalRequest) -> Answer<v1::ReleaseTerminalResponse> {
        self.note("released");
        Ok(v1::ReleaseTerminalResponse::new())
    }

    async fn end_session(&self, _: &v1::SessionId) {
        self.note("session ended");
    }

    async fn end_all(&self) {
        self.note("all ended");
    }
}

#[tokio::test]
async fn a_client_with_terminals_of_its_own_runs_what_the_agent_asks_for() {
    let terminals = Pretend::default();
    let client = Client::new()
        .versions(Supported::V1)
        .terminals(terminals.clone());
    let server = ply::agent::serve(Worker);
    let agent = ply::testing::pair_with(&server, client).await.unwrap();
    let session = agent.new_session("/work").await.unwrap();
    assert_eq!(hear(&session, "run make").await, "nothing happened");
    session.close().await.unwrap();
    agent.close().await;
    let noted = terminals.0.lock().unwrap().clone();
    let expected = ["make in /work", "released", "session ended", "all ended"];
    assert_eq!(noted, expected);
}
