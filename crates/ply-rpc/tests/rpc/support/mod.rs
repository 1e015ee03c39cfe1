//! A link in memory whose other end is written and read as plain text.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses a part, and tests fail by panicking"
)]

use std::sync::{Arc, Mutex};

use ply_rpc::transport::memory;
use ply_rpc::{Closed, Handler, Notification, Options, Peer, Request, Responder, RpcError};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// What a link under test has seen.
#[derive(Debug, Clone, Default)]
pub struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    pub fn push(&self, entry: String) {
        self.0.lock().unwrap().push(entry);
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Answers a few methods and notes every notification.
#[derive(Debug)]
pub struct Script {
    pub seen: Seen,
}

impl Handler for Script {
    fn request(&mut self, peer: &Peer, request: Request<'_>, responder: Responder) {
        self.seen.push(format!("request {}", request.method));
        match request.method {
            "echo" => responder.respond(request.params::<Value>()),
            "add" => responder.respond(request.params::<(i64, i64)>().map(|(a, b)| a + b)),
            "panic" => panic!("the handler panics as asked"),
            "drop" => drop(responder),
            "ask_back" => {
                let peer = peer.clone();
                responder.run(async move {
                    let answer: Value = peer
                        .call("question", &json!({}))
                        .await
                        .map_err(|e| RpcError::internal(e.to_string()))?;
                    Ok(json!({ "peer said": answer }))
                });
            }
            "panic_later" => responder.run(async { panic_later() }),
            "never" => responder.run(std::future::pending::<Result<(), RpcError>>()),
            "panic_when_cancelled" => {
                responder.on_cancel(|| panic!("the hook panics as asked"));
                responder.run(std::future::pending::<Result<(), RpcError>>());
            }
            "stubborn" => {
                // Knows that it is cancelled and answers with a result all the same.
                tokio::spawn(async move {
                    responder.cancelled().await;
                    responder.respond(Ok("finished anyway"));
                });
            }
            _ => responder.respond::<()>(Err(RpcError::method_not_found())),
        }
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        let params = notification.raw_params.map_or("-", |params| params.get());
        self.seen.push(format!("{} {params}", notification.method));
        assert_ne!(notification.method, "panic", "the handler panics as asked");
    }

    fn ended(&mut self, _: &Peer, reason: &Closed) {
        self.seen.push(format!("ended: {reason}"));
    }
}

fn panic_later() -> Result<(), RpcError> {
    panic!("the task panics as asked")
}

/// A link under test and its other end.
pub struct Rig {
    pub peer: Peer,
    pub link: JoinHandle<Closed>,
    pub seen: Seen,
    reader: Option<BufReader<ReadHalf<DuplexStream>>>,
    writer: Option<WriteHalf<DuplexStream>>,
}

impl Rig {
    pub fn new(options: Options) -> Self {
        Self::with_pipe(options, 1 << 20)
    }

    pub fn with_pipe(options: Options, pipe_bytes: usize) -> Self {
        let (here, (reader, writer)) = memory::pair(pipe_bytes);
        let seen = Seen::default();
        let script = Script { seen: seen.clone() };
        let (peer, link) = ply_rpc::connect(here.0, here.1, script, options);
        Self {
            peer,
            link: tokio::spawn(link),
            seen,
            reader: Some(BufReader::new(reader)),
            writer: Some(writer),
        }
    }

    /// Sends, or says that the link has closed.
    pub async fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.writer
            .as_mut()
            .unwrap()
            .write_all(bytes.as_ref())
            .await
    }

    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.writer
            .as_mut()
            .unwrap()
            .write_all(bytes.as_ref())
            .await
            .unwrap();
    }

    /// Returns the next line the link wrote.
    pub async fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader
            .as_mut()
            .unwrap()
            .read_line(&mut line)
            .await
            .unwrap();
        assert!(line.ends_with('\n'), "the link closed; got {line:?}");
        line.pop();
        line
    }

    pub async fn json(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// Sends and returns the next line written back.
    pub async fn ask(&mut self, bytes: impl AsRef<[u8]>) -> String {
        self.send(bytes).await;
        self.line().await
    }

    /// Proves that the link lives and that nothing was written back before this.
    pub async fn still_alive(&mut self) {
        let request = r#"{"jsonrpc":"2.0","id":"alive","method":"add","params":[1,2]}"#;
        let answer = self.ask(format!("{request}\n")).await;
        assert_eq!(answer, r#"{"jsonrpc":"2.0","id":"alive","result":3}"#);
    }

    /// Closes what the link reads.
    pub async fn close_input(&mut self) {
        self.writer.take().unwrap().shutdown().await.unwrap();
    }

    /// Closes both directions, as a process that dies does.
    pub fn die(&mut self) {
        self.reader = None;
        self.writer = None;
    }
}

pub fn request(id: impl std::fmt::Display, method: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"}}\n")
}
