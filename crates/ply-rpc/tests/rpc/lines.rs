//! Lines that a handler takes before their envelope is read.

use std::time::Duration;

use crate::support::{Seen, request};
use ply_rpc::transport::memory;
use ply_rpc::{Closed, Handler, Notification, Options, Peer, Request, Responder, RpcError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

/// Takes the lines that say `fast`, and panics at those that say `panic`.
struct Fast(Seen);

impl Handler for Fast {
    fn request(&mut self, _: &Peer, request: Request<'_>, responder: Responder) {
        self.0.push(format!("request {}", request.method));
        match request.method {
            "never" => responder.run(std::future::pending::<Result<(), RpcError>>()),
            _ => responder.respond(Ok(1)),
        }
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        self.0.push(format!("notification {}", notification.method));
    }

    fn line(&mut self, _: &Peer, line: &[u8]) -> bool {
        let line = str::from_utf8(line).unwrap();
        assert!(!line.contains("panic"), "the handler panics as asked");
        let is_fast = line.contains("fast");
        if is_fast {
            self.0.push(format!("line {line}"));
        }
        is_fast
    }

    fn ended(&mut self, _: &Peer, reason: &Closed) {
        self.0.push(format!("ended: {reason}"));
    }
}

const FAST: &str = r#"{"jsonrpc":"2.0","method":"fast"}"#;

/// Sends `lines`, closes the input, and returns what was written back and what the handler saw.
async fn exchange(options: Options, lines: &str) -> (Vec<Value>, Vec<String>) {
    let seen = Seen::default();
    let (here, (reader, mut writer)) = memory::pair(1 << 16);
    let (_peer, link) = ply_rpc::connect(here.0, here.1, Fast(seen.clone()), options);
    let link = tokio::spawn(link);
    writer.write_all(lines.as_bytes()).await.unwrap();
    writer.shutdown().await.unwrap();
    drop(writer);
    link.await.unwrap();
    let mut reader = BufReader::new(reader).lines();
    let mut written = Vec::new();
    while let Some(line) = reader.next_line().await.unwrap() {
        written.push(serde_json::from_str(&line).unwrap());
    }
    (written, seen.take())
}

#[tokio::test]
async fn a_line_that_the_handler_takes_is_read_by_nobody_else() {
    // Stripped of what terminals put around it, like every other line.
    let lines = format!("\u{feff}{FAST}\r\n\n{FAST}\n");
    let (written, seen) = exchange(Options::agent(), &lines).await;
    assert_eq!(written, [] as [Value; 0]);
    let taken = format!("line {FAST}");
    let ended = "ended: the peer closed the connection";
    assert_eq!(seen, [&taken, &taken, ended]);
}

#[tokio::test]
async fn a_line_that_the_handler_leaves_is_read_as_a_message() {
    let slow = r#"{"jsonrpc":"2.0","method":"slow"}"#;
    let lines = format!("{slow}\n{}no json\n{FAST}\n", request(7, "add"));
    let (written, seen) = exchange(Options::agent(), &lines).await;
    assert_eq!(
        written[0],
        json!({ "jsonrpc": "2.0", "id": 7, "result": 1 })
    );
    assert_eq!(written[1]["error"]["code"], -32700);
    assert_eq!(written.len(), 2);
    let taken = format!("line {FAST}");
    let ended = "ended: the peer closed the connection";
    let expected = ["notification slow", "request add", &taken, ended];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_handler_that_panics_at_a_notification_loses_that_one_only() {
    let panics = r#"{"jsonrpc":"2.0","method":"panic"}"#;
    let lines = format!("{FAST}\n{panics}\n{FAST}\n{}", request(7, "add"));
    let (written, seen) = exchange(Options::agent(), &lines).await;
    assert_eq!(written, [json!({ "jsonrpc": "2.0", "id": 7, "result": 1 })]);
    let taken = format!("line {FAST}");
    let ended = "ended: the peer closed the connection";
    assert_eq!(seen, [&taken, &taken, "request add", ended]);
}

#[tokio::test]
async fn a_handler_that_panics_at_a_request_does_not_leave_it_unanswered() {
    let lines = request(7, "panic");
    let (written, _) = exchange(Options::agent(), &lines).await;
    assert_eq!(written, [json!({ "jsonrpc": "2.0", "id": 7, "result": 1 })]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_at_a_cancellation_does_not_take_it_from_its_request() {
    let (here, (reader, mut writer)) = memory::pair(1 << 16);
    let (_peer, link) = ply_rpc::connect(here.0, here.1, Fast(Seen::default()), Options::agent());
    tokio::spawn(link);
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"panic"}}"#;
    let lines = format!("{}{cancel}\n", request("\"panic\"", "never"));
    writer.write_all(lines.as_bytes()).await.unwrap();
    // The input stays open, since its end would cancel the request too.
    let mut reader = BufReader::new(reader).lines();
    let answer = tokio::time::timeout(Duration::from_secs(60), reader.next_line()).await;
    let answer = answer.expect("it goes on").unwrap().unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["error"]["code"], -32800);
}

#[tokio::test]
async fn a_handler_that_panics_at_an_answer_does_not_take_it_from_its_call() {
    let (here, (reader, mut writer)) = memory::pair(1 << 16);
    let (peer, link) = ply_rpc::connect(here.0, here.1, Fast(Seen::default()), Options::client());
    tokio::spawn(link);
    let call = peer.call::<Value>("question", &());
    let mut reader = BufReader::new(reader).lines();
    reader.next_line().await.unwrap().unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":"panic"}"#;
    writer
        .write_all(format!("{answer}\n").as_bytes())
        .await
        .unwrap();
    // At the end of the input the call would fail.
    writer.shutdown().await.unwrap();
    assert_eq!(call.await.unwrap(), "panic");
}
