//! Requests that are written where they are made, and tasks that are woken once for many messages.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread::ThreadId;
use std::time::Duration;

use ply_rpc::transport::memory;
use ply_rpc::{
    CallError, CallOptions, Handler, Notification, Options, Peer, Request, Responder, RpcError,
};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use crate::support::{Rig, Seen};

/// Notes on which threads it is written to.
struct Noted<W> {
    writer: W,
    threads: Arc<Mutex<Vec<ThreadId>>>,
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Noted<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let thread = std::thread::current().id();
        self.threads.lock().unwrap().push(thread);
        Pin::new(&mut self.writer).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(cx)
    }
}

/// Answers every request with its params.
struct Echo;

impl Handler for Echo {
    fn request(&mut self, _: &Peer, request: Request<'_>, responder: Responder) {
        responder.respond(request.params::<Value>());
    }

    fn notification(&mut self, _: &Peer, _: Notification<'_>) {}
}

fn echo(
    ends: (
        impl AsyncRead + Unpin + Send + 'static,
        impl AsyncWrite + Unpin + Send + 'static,
    ),
) {
    let (_, link) = ply_rpc::connect(ends.0, ends.1, Echo, Options::agent());
    tokio::spawn(link);
}

/// Makes calls one after the other, and returns how many of them were written by the thread that made them.
async fn written_by_the_caller(direct: bool) -> usize {
    const CALLS: usize = 50;
    let (here, there) = memory::pair(1 << 16);
    echo(there);
    let threads = Arc::default();
    let writer = Noted {
        writer: here.1,
        threads: Arc::clone(&threads),
    };
    let options = Options::client().direct_writes(direct);
    let (peer, link) = ply_rpc::connect(here.0, writer, Echo, options);
    // The link's task stays on the runtime's own threads, and the calls are made on the test's.
    tokio::spawn(link);
    for index in 0..CALLS {
        // So that the link has gone to sleep.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let answer: Value = peer.call("echo", &json!(index)).await.unwrap();
        assert_eq!(answer, index);
    }
    let me = std::thread::current().id();
    let threads: Vec<ThreadId> = threads.lock().unwrap().clone();
    threads.iter().filter(|thread| **thread == me).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lone_request_is_written_where_it_is_made() {
    assert!(written_by_the_caller(true).await > 5);
    assert_eq!(written_by_the_caller(false).await, 0);
}

#[tokio::test]
async fn what_the_transport_does_not_take_at_once_is_left_to_the_link() {
    let (here, there) = memory::pair(16);
    echo(there);
    let options = Options::client().direct_writes(true);
    let (peer, link) = ply_rpc::connect(here.0, here.1, Echo, options);
    tokio::spawn(link);
    for index in 0..20 {
        tokio::task::yield_now().await;
        let long = json!([index, "x".repeat(1000)]);
        let call = peer.call::<Value>("echo", &long);
        let answer = tokio::time::timeout(Duration::from_secs(20), call).await;
        assert_eq!(answer.expect("it hangs").unwrap(), long);
    }
}

#[tokio::test]
async fn requests_and_notifications_keep_their_order_whoever_writes_them() {
    let mut rig = Rig::new(Options::client().direct_writes(true));
    let mut calls = Vec::new();
    for index in 0..30 {
        if index % 3 == 0 {
            // The link's task writes what there is and goes to sleep.
            tokio::task::yield_now().await;
        }
        calls.push(rig.peer.call::<Value>("a", &json!(index)));
        rig.peer.notify_now("b", &json!(index)).unwrap();
    }
    for index in 0..30 {
        for method in ["a", "b"] {
            let message = rig.json().await;
            assert_eq!(
                (&message["method"], &message["params"]),
                (&json!(method), &json!(index))
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_holds_though_the_clock_was_set_for_a_later_one() {
    let mut rig = Rig::new(Options::client().direct_writes(true));
    let long = CallOptions::default().deadline(Duration::from_secs(60));
    let (_, patient) = rig.peer.call_read("slow", &(), long, |answer| answer);
    rig.json().await;
    for seconds in [7, 5, 9] {
        let begun = tokio::time::Instant::now();
        let short = CallOptions::default().deadline(Duration::from_secs(seconds));
        let (_, answer) = rig.peer.call_read("quick", &(), short, |answer| answer);
        let answer = answer.await.unwrap();
        assert!(
            matches!(answer, Err(CallError::Deadline { .. })),
            "{answer:?}"
        );
        assert_eq!(begun.elapsed().as_secs(), seconds);
    }
    let begun = tokio::time::Instant::now();
    assert!(patient.await.unwrap().is_err());
    assert_eq!(begun.elapsed().as_secs(), 60 - 7 - 5 - 9);
}

#[tokio::test]
async fn an_abandoned_call_is_cancelled_and_its_code_never_runs() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let mut rig = Rig::new(Options::agent());
    let dropped = Arc::new(AtomicUsize::new(0));
    let held = Dropped(Arc::clone(&dropped));
    let call = rig
        .peer
        .call_then("question", &(), CallOptions::default(), move |_| {
            drop(held);
            panic!("nobody wants the answer");
        });
    assert_eq!(rig.json().await["method"], "question");
    call.abandon();
    assert_eq!(dropped.load(Ordering::SeqCst), 1, "it is gone at once");
    assert_eq!(rig.json().await["method"], "$/cancel_request");
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n")
        .await;
    call.abandon();
    rig.still_alive().await;
}

/// Notes messages and rests.
struct Batches(Seen);

impl Handler for Batches {
    fn request(&mut self, _: &Peer, _: Request<'_>, responder: Responder) {
        responder.respond::<()>(Err(RpcError::method_not_found()));
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        self.0.push(notification.method.to_owned());
        assert_ne!(notification.method, "panic", "the handler panics as asked");
    }

    fn caught_up(&mut self) {
        self.0.push("caught up".to_owned());
    }
}

#[tokio::test]
async fn a_handler_hears_once_that_all_which_came_was_handed_over() {
    let (here, (reader, mut writer)) = memory::pair(1 << 16);
    let seen = Seen::default();
    let (_peer, link) = ply_rpc::connect(here.0, here.1, Batches(seen.clone()), Options::client());
    let link = tokio::spawn(link);
    let line = |method| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}\n");
    let both = line("one") + &line("two");
    writer.write_all(both.as_bytes()).await.unwrap();
    // On one thread: the link's task runs until it has nothing more to do.
    tokio::task::yield_now().await;
    assert_eq!(seen.take(), ["one", "two", "caught up"]);
    let both = line("panic") + &line("three");
    writer.write_all(both.as_bytes()).await.unwrap();
    drop(writer);
    drop(reader);
    let ended = tokio::time::timeout(Duration::from_secs(20), link).await;
    ended.expect("it hangs").unwrap();
    assert_eq!(seen.take(), ["panic", "three", "caught up"]);
}

#[tokio::test]
async fn what_is_gathered_leaves_in_one_write_from_where_it_was_sent() {
    let (here, there) = memory::pair(1 << 16);
    let threads = Arc::default();
    let writer = Noted {
        writer: here.1,
        threads: Arc::clone(&threads),
    };
    let options = Options::agent().direct_writes(true);
    let (peer, link) = ply_rpc::connect(here.0, writer, Echo, options);
    tokio::spawn(link);
    // The link's task goes to sleep.
    tokio::task::yield_now().await;
    let gather = peer.gather();
    for index in 0..30 {
        peer.notify_now("a", &json!(index)).unwrap();
    }
    assert_eq!(threads.lock().unwrap().len(), 0, "it waits");
    drop(gather);
    assert_eq!(threads.lock().unwrap().len(), 1, "one write, and at once");
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(there.0));
    for index in 0..30 {
        let line = lines.next_line().await.unwrap().unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["params"], index);
    }
}

/// Leaves its requests to whoever listens.
struct Keep(tokio::sync::mpsc::Sender<Responder>);

impl Handler for Keep {
    fn request(&mut self, _: &Peer, _: Request<'_>, responder: Responder) {
        self.0.try_send(responder).unwrap();
    }

    fn notification(&mut self, _: &Peer, _: Notification<'_>) {}
}

#[tokio::test(start_paused = true)]
async fn c13_a_link_that_drains_notices_the_last_answer_whoever_wrote_it() {
    let (here, mut there) = memory::pair(1 << 16);
    let (requests, mut kept) = tokio::sync::mpsc::channel(1);
    let options = Options::agent().direct_writes(true);
    let (peer, link) = ply_rpc::connect(here.0, here.1, Keep(requests), options);
    let link = tokio::spawn(link);
    let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\n";
    there.1.write_all(request).await.unwrap();
    there.1.shutdown().await.unwrap();
    let responder = kept.recv().await.unwrap();
    let begun = tokio::time::Instant::now();
    // The link sees the end of its input and goes to sleep.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let gather = peer.gather();
    responder.respond(Ok(()));
    drop(gather);
    link.await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_millis(1), "it waited");
}
