//! An agent that is played line by line, and a hub around it.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use ply_agent::Server;
use ply_client::{Client, Supported};
use ply_hub::down::{Caller, Downstream, Launch, Launched, Launching, Services};
use ply_hub::pipe::{Exit, FromAgent, Hello, Pipe, ToAgent};
use serde_json::{Value, json};
use tokio::sync::mpsc;

pub(crate) const BOTH: [Supported; 2] = [Supported::V1, Supported::V2];

type Play = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Plays each process that is started: it is told which one it is, counted from 1.
pub(crate) struct Cast {
    play: Box<dyn Fn(usize, Stage) -> Play + Send + Sync>,
    started: Arc<AtomicUsize>,
    pub(crate) callers: Arc<Mutex<Vec<Caller>>>,
}

impl Cast {
    pub(crate) fn new<F>(play: impl Fn(usize, Stage) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self {
            play: Box::new(move |number, stage| Box::pin(play(number, stage))),
            started: Arc::default(),
            callers: Arc::default(),
        }
    }

    pub(crate) fn started(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.started)
    }

    pub(crate) async fn hub(self) -> Downstream {
        let started = Downstream::start(self, Caller::new(), Services::default());
        started.await.unwrap()
    }
}

impl Launch for Cast {
    fn launch(&self, caller: &Caller) -> Launching {
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        self.callers.lock().unwrap().push(caller.clone());
        let ((to, to_agent), (from_agent, from)) = (mpsc::channel(256), mpsc::channel(256));
        let stage = Stage {
            from: from_agent,
            to: to_agent,
            lines: 0,
            read: 0,
        };
        tokio::spawn((self.play)(number, stage));
        let hello = Hello::default();
        let pipe = Pipe { hello, from, to };
        let holder = None;
        Box::pin(async move { Ok(Launched { pipe, holder }) })
    }
}

/// The agent's side of its lines.
pub(crate) struct Stage {
    from: mpsc::Sender<FromAgent>,
    to: mpsc::Receiver<ToAgent>,
    lines: u64,
    /// The number of the last line that was read.
    read: u64,
}

impl Stage {
    /// Returns the next message; none when the process is told to stop.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            match self.to.recv().await? {
                ToAgent::Line { number, line } => {
                    self.read = number;
                    return Some(serde_json::from_slice(&line).unwrap());
                }
                ToAgent::Acknowledge { .. } => {}
                ToAgent::Stop => return None,
            }
        }
    }

    /// Returns the next message, which is of this method.
    #[track_caller]
    pub(crate) fn expect(&mut self, method: &'static str) -> impl Future<Output = Value> {
        let at = std::panic::Location::caller();
        async move {
            let message = self.next().await;
            let message = message.unwrap_or_else(|| panic!("stopped before {method} at {at}"));
            assert_eq!(message["method"], method, "{message} at {at}");
            message
        }
    }

    pub(crate) async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        self.lines += 1;
        let line = FromAgent::Line {
            number: self.lines,
            line: Bytes::from(message.to_string()),
        };
        self.from.send(line).await.unwrap();
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"id": request["id"], "result": result}))
            .await;
    }

    pub(crate) async fn refuse(&mut self, request: &Value, code: i64) {
        let error = json!({"code": code, "message": "not here"});
        self.send(json!({"id": request["id"], "error": error}))
            .await;
    }

    pub(crate) async fn update(&mut self, update: Value) {
        let params = json!({"sessionId": "d1", "update": update});
        self.send(json!({"method": "session/update", "params": params}))
            .await;
    }

    pub(crate) async fn say(&mut self, text: &str) {
        let content = json!({"type": "text", "text": text});
        let update =
            json!({"sessionUpdate": "agent_message_chunk", "messageId": text, "content": content});
        self.update(update).await;
    }

    /// Introduces itself.
    pub(crate) async fn greet(&mut self, version: u16) {
        let hello = self.expect("initialize").await;
        let answer = match version {
            1 => {
                json!({"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "played", "version": "7"}})
            }
            _ => {
                json!({"protocolVersion": 2, "info": {"name": "played", "version": "7"}, "capabilities": {"session": {}}})
            }
        };
        self.answer(&hello, answer.clone()).await;
        // Who asked for version 2 says what it offers in version 1 once more.
        if version == 1 && hello["params"]["protocolVersion"] == 2 {
            let hello = self.expect("initialize").await;
            assert_eq!(hello["params"]["clientCapabilities"]["terminal"], true);
            self.answer(&hello, answer).await;
        }
    }

    /// Introduces itself and makes the session.
    pub(crate) async fn begin(&mut self, version: u16) {
        self.greet(version).await;
        let new = self.expect("session/new").await;
        self.answer(&new, json!({"sessionId": "d1"})).await;
    }

    /// Works on the next prompt by saying something.
    pub(crate) async fn serve(&mut self, version: u16, text: &str) {
        let prompt = self.expect("session/prompt").await;
        if version == 1 {
            self.say(text).await;
            return self
                .answer(&prompt, json!({"stopReason": "end_turn"}))
                .await;
        }
        self.answer(&prompt, json!({"messageId": "u"})).await;
        self.update(json!({"sessionUpdate": "user_message", "messageId": "u"}))
            .await;
        self.update(json!({"sessionUpdate": "state_update", "state": "running"}))
            .await;
        self.say(text).await;
        let idle =
            json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"});
        self.update(idle).await;
    }

    /// Waits for the end.
    pub(crate) async fn rest(mut self) {
        while let Some(message) = self.next().await {
            if message["method"] == "session/close" {
                self.answer(&message, json!({})).await;
            }
        }
        self.die(Exit::default()).await;
    }

    /// Dies when it is sent something, which it does not read.
    pub(crate) async fn die_unread(mut self, exit: Exit) {
        let line = self.to.recv().await;
        assert!(matches!(line, Some(ToAgent::Line { .. })), "{line:?}");
        self.die(exit).await;
    }

    pub(crate) async fn die(self, mut exit: Exit) {
        exit.written = self.read;
        // The hub may be gone.
        drop(self.from.send(FromAgent::Exit(exit)).await);
    }
}

/// Returns the end of a process that was killed.
pub(crate) fn killed() -> Exit {
    Exit {
        code: None,
        signal: Some(9),
        stderr: "out of plums\n".to_owned(),
        ..Exit::default()
    }
}

pub(crate) async fn connect(server: &Server, version: Supported) -> ply_client::Agent {
    connect_as(server, Client::new().versions(version)).await
}

pub(crate) async fn connect_as(server: &Server, client: Client) -> ply_client::Agent {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    let server = server.clone();
    tokio::spawn(async move { server.over(reader, writer).await });
    client.connect(ours).await.unwrap()
}

/// Prompts and returns what the agent said last.
pub(crate) async fn prompt(session: &ply_client::Session, text: &str) -> Result<String, String> {
    let turn = session.prompt(text).await.unwrap();
    match turn.finish().await {
        Ok(_) => Ok(session.transcript().last_agent_text()),
        Err(error) => Err(error.to_string()),
    }
}
