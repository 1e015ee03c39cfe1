//! Faults that were found once, each by its symptom.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::support::{Rig, request};
use ply_rpc::transport::memory;
use ply_rpc::{
    CallError, CallOptions, Handler, Limits, Notification, Options, Peer, Request, Responder,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_polled_does_not_hold_up_other_senders() {
    let mut rig = Rig::with_pipe(Options::agent(), 4096);
    let peer = rig.peer.clone();
    peer.notify("fill", &json!(["x".repeat(2 << 20)]))
        .await
        .unwrap();
    let task = tokio::spawn(async move {
        let mut call = peer.call::<Value>("question", &());
        tokio::select! {
            biased;
            _ = &mut call => panic!("nobody answers"),
            () = tokio::task::yield_now() => peer.notify("update", &json!([1])).await.unwrap(),
        }
        drop(call);
    });
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(rig.json().await["method"], "fill");
    assert_eq!(rig.json().await["method"], "question");
    assert_eq!(rig.json().await["method"], "update");
    task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_does_not_overtake_the_request_it_is_about() {
    let mut rig = Rig::with_pipe(Options::client(), 4096);
    let peer = &rig.peer;
    peer.notify("fill", &json!(["x".repeat(2 << 20)]))
        .await
        .unwrap();
    // Not polled, and over the budget.
    let prompt = peer.call::<Value>("session/prompt", &json!({}));
    peer.notify_now("session/cancel", &json!({})).unwrap();
    for method in ["fill", "session/prompt", "session/cancel"] {
        assert_eq!(rig.json().await["method"], method);
    }
    drop(prompt);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_left_is_withdrawn_without_a_word() {
    let mut rig = Rig::with_pipe(Options::client(), 4096);
    let peer = rig.peer.clone();
    peer.notify("fill", &json!(["x".repeat(2 << 20)]))
        .await
        .unwrap();
    let mut cancelled = peer.call::<Value>("cancelled", &json!({}));
    cancelled.cancel();
    assert!(cancelled.await.unwrap_err().is_cancelled());
    drop(peer.call::<Value>("dropped", &json!({})));
    // Nor does a deadline that passes meanwhile count against the peer.
    let options = CallOptions::default().deadline(Duration::from_secs(1));
    for _ in 0..5 {
        let error = peer
            .call_with::<Value>("late", &(), options)
            .await
            .unwrap_err();
        assert!(matches!(error, CallError::Deadline { .. }), "{error}");
    }
    assert_eq!(rig.json().await["method"], "fill");
    rig.still_alive().await;
}

#[tokio::test]
async fn a_call_is_cancelled_once_however_often_it_is_said() {
    let mut rig = Rig::new(Options::client());
    let mut call = rig.peer.call::<Value>("question", &());
    assert_eq!(rig.json().await["method"], "question");
    call.cancel();
    call.cancel();
    drop(call);
    assert_eq!(rig.json().await["method"], "$/cancel_request");
    rig.still_alive().await;
}

/// Answers everything with a mebibyte.
struct Generous;

impl Handler for Generous {
    fn request(&mut self, _: &Peer, _: Request<'_>, responder: Responder) {
        responder.respond(Ok("x".repeat(1 << 20)));
    }

    fn notification(&mut self, _: &Peer, _: Notification<'_>) {}
}

#[tokio::test]
async fn c4_large_answers_both_ways_do_not_lock_up() {
    let (here, there) = memory::pair(4096);
    let (one, link) = ply_rpc::connect(here.0, here.1, Generous, Options::agent());
    tokio::spawn(link);
    let (two, link) = ply_rpc::connect(there.0, there.1, Generous, Options::client());
    tokio::spawn(link);
    let ask = |peer: Peer| {
        tokio::spawn(async move {
            let calls: Vec<_> = (0..30).map(|_| peer.call::<String>("big", &())).collect();
            for call in calls {
                assert_eq!(call.await.unwrap().len(), 1 << 20);
            }
        })
    };
    let (one, two) = (ask(one), ask(two));
    one.await.unwrap();
    two.await.unwrap();
}

#[tokio::test]
async fn b6_an_id_found_in_the_head_of_a_line_is_valid_json_or_not_echoed() {
    let mut rig = Rig::new(Options::agent());
    let deep = "[".repeat(300);
    for id in [
        "-",
        "-00",
        "0123456789012345678901234",
        "\"\u{1b}[2J\u{7}\"",
        "007",
    ] {
        let line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\",\"params\":{deep}\n");
        rig.send(line).await;
        assert_eq!(rig.json().await["id"], Value::Null, "{id:?}");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_its_call_and_is_not_answered() {
    for options in [Options::agent(), Options::client()] {
        let mut rig = Rig::new(options);
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let answers = [
            format!("\"result\":{deep}").into_bytes(),
            b"\"result\":1,\"result\":1".to_vec(),
            b"\"result\":\"\xff\"".to_vec(),
        ];
        for answer in answers {
            let call = rig.peer.call::<Value>("question", &());
            let id = rig.json().await["id"].to_string();
            let line = [
                b"{\"jsonrpc\":\"2.0\",\"id\":",
                id.as_bytes(),
                b",",
                &answer,
                b"}\n",
            ];
            rig.send(line.concat()).await;
            let error = call.await.unwrap_err();
            assert!(matches!(error, CallError::BadAnswer { .. }), "{error}");
            rig.still_alive().await;
        }
    }
}

#[tokio::test]
async fn a1_log_lines_with_an_id_are_noise_to_a_client() {
    let mut rig = Rig::new(Options::client());
    let call = rig.peer.call::<Value>("question", &());
    assert_eq!(rig.json().await["id"], 1);
    for line in [
        r#"{"level":"info","id":"req-7","msg":"log"}"#,
        r#"{"level":30,"id":9,"method":"GET"}"#,
        r#"{"level":"error","id":1,"error":"boom"}"#,
    ] {
        rig.send(format!("{line}\n")).await;
    }
    rig.still_alive().await;
    assert_eq!(rig.peer.noise().lines, 3);
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"still waited for\"}\n")
        .await;
    assert_eq!(call.await.unwrap(), "still waited for");
}

#[tokio::test]
async fn a6_a_notification_over_the_limit_is_skipped_in_silence() {
    let mut limits = Limits::default();
    limits.line_bytes = 2 << 20;
    let mut rig = Rig::with_pipe(Options::agent().limits(limits), 8 << 20);
    let text = "x".repeat(3 << 20);
    rig.send(format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"params\":[\"{text}\"]}}\n"
    ))
    .await;
    rig.still_alive().await;
}

/// Answers from another thread.
struct Later;

impl Handler for Later {
    fn request(&mut self, _: &Peer, _: Request<'_>, responder: Responder) {
        responder.run(async {
            tokio::task::yield_now().await;
            Ok(1)
        });
    }

    fn notification(&mut self, _: &Peer, _: Notification<'_>) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn c13_no_answer_is_lost_between_the_end_of_input_and_the_end_of_the_link() {
    for _ in 0..500 {
        let (here, (mut reader, mut writer)) = memory::pair(1 << 16);
        let (_peer, link) = ply_rpc::connect(here.0, here.1, Later, Options::agent());
        let requests: String = (1..=4).map(|id| request(id, "x")).collect();
        writer.write_all(requests.as_bytes()).await.unwrap();
        writer.shutdown().await.unwrap();
        tokio::spawn(link);
        let mut answers = String::new();
        reader.read_to_string(&mut answers).await.unwrap();
        assert_eq!(answers.lines().count(), 4, "{answers}");
    }
}

/// Takes one message and then wants a rest for ever.
struct Once(Arc<AtomicUsize>);

impl Handler for Once {
    fn request(&mut self, _: &Peer, _: Request<'_>, responder: Responder) {
        responder.respond(Ok(()));
    }

    fn notification(&mut self, _: &Peer, _: Notification<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        if self.0.load(Ordering::SeqCst) == 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

const UPDATE: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"update\"}\n";

#[tokio::test(start_paused = true)]
async fn a_handler_that_wants_a_rest_gets_it_before_the_next_message() {
    let taken = Arc::default();
    let (here, (_reader, mut writer)) = memory::pair(1 << 20);
    let once = Once(Arc::clone(&taken));
    let (_peer, link) = ply_rpc::connect(here.0, here.1, once, Options::client());
    writer
        .write_all(UPDATE.repeat(5000).as_bytes())
        .await
        .unwrap();
    tokio::spawn(link);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(taken.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn b12_an_urgent_call_is_answered_although_the_handler_rests_and_the_writer_is_stuck() {
    let (here, (mut reader, mut writer)) = memory::pair(4096);
    let once = Once(Arc::default());
    let (peer, link) = ply_rpc::connect(here.0, here.1, once, Options::client());
    tokio::spawn(link);
    // An agent that writes all it has before it reads.
    let agent = tokio::spawn(async move {
        writer
            .write_all(UPDATE.repeat(1000).as_bytes())
            .await
            .unwrap();
        let mut read = String::new();
        let mut piece = [0; 4096];
        while !read.contains("\"method\":\"mode\"}\n") {
            let bytes = reader.read(&mut piece).await.unwrap();
            read.push_str(std::str::from_utf8(piece.get(..bytes).unwrap()).unwrap());
        }
        writer
            .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n")
            .await
            .unwrap();
        (reader, writer)
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    peer.notify("big", &json!(["x".repeat(10_000)]))
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let options = CallOptions::default().deadline(Duration::from_secs(100));
    assert_eq!(
        peer.call_with::<Value>("mode", &(), options).await.unwrap(),
        1
    );
    agent.await.unwrap();
}

#[tokio::test]
async fn the_handler_hears_of_every_end() {
    let mut rig = Rig::new(Options::client());
    rig.send(format!("{}\n", "not an agent ".repeat(80)).repeat(1200))
        .await;
    let reason = rig.peer.closed().await;
    assert_eq!(rig.seen.take(), [format!("ended: {reason}")]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_closes_has_time_to_write_what_is_queued() {
    let mut rig = Rig::with_pipe(Options::client(), 64);
    for index in 0..100 {
        rig.peer.notify("update", &json!(index)).await.unwrap();
    }
    rig.peer.close();
    // Longer than a client waits for answers once its agent has closed, and the agent is slow to read.
    tokio::time::sleep(Duration::from_secs(1)).await;
    for index in 0..100 {
        assert_eq!(rig.json().await["params"], index);
    }
}

#[tokio::test]
async fn after_a_failed_write_new_calls_fail_with_its_reason() {
    let (reader, _open) = tokio::io::duplex(64);
    let (writer, closed) = tokio::io::duplex(64);
    drop(closed);
    let (peer, link) = ply_rpc::connect(reader, writer, Later, Options::agent());
    tokio::spawn(link);
    peer.notify("update", &json!({})).await.unwrap();
    while peer.notify("update", &json!({})).await.is_ok() {}
    let error = peer.call::<Value>("question", &()).await.unwrap_err();
    let CallError::Closed { reason, .. } = error else {
        panic!("{error}");
    };
    assert!(matches!(reason, ply_rpc::Closed::Write(_)), "{reason}");
}
