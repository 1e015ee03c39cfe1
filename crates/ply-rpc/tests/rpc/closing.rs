//! How a link ends (fault rows B14, C12, C13).

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::support::{Rig, Script, Seen, request};
use ply_rpc::limits::{DRAIN_TIME_MAX, READ_IDLE_TIME_MAX};
use ply_rpc::transport::memory;
use ply_rpc::{CallError, Closed, Handler, Notification, Options, Peer, Request, Responder};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, DuplexStream, WriteHalf};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep, sleep};

#[tokio::test]
async fn b14_everything_pending_fails_at_once_with_one_kind_of_error() {
    let mut rig = Rig::new(Options::client());
    let calls: Vec<_> = (0..100)
        .map(|_| rig.peer.call::<Value>("question", &()))
        .collect();
    tokio::task::yield_now().await;
    rig.die();
    for call in calls {
        let error = call.await.unwrap_err();
        assert!(
            matches!(
                error,
                CallError::Closed {
                    reason: Closed::Eof,
                    ..
                }
            ),
            "{error:?}"
        );
    }
    // Later calls, notifications and flushes fail or end as well.
    let error = rig.peer.call::<Value>("question", &()).await.unwrap_err();
    assert!(error.is_closed());
    rig.peer.closed().await;
    assert!(
        rig.peer
            .notify("update", &json!({}))
            .await
            .unwrap_err()
            .is_closed()
    );
    rig.peer.flush().await;
    assert_eq!(
        error.to_string(),
        "the link closed before `question` was answered: the peer closed the connection"
    );
}

#[tokio::test(start_paused = true)]
async fn c13_requests_before_the_end_of_input_are_still_answered() {
    let mut rig = Rig::new(Options::agent());
    rig.send(request(1, "echo") + &request(2, "echo") + &request(3, "echo"))
        .await;
    rig.close_input().await;
    for id in 1..=3 {
        assert_eq!(rig.json().await["id"], id);
    }
    assert!(matches!(rig.link.await.unwrap(), Closed::Eof));
}

#[tokio::test(start_paused = true)]
async fn c13_work_that_does_not_end_holds_the_link_for_a_bounded_time() {
    let mut rig = Rig::new(Options::agent());
    rig.send(request(1, "never")).await;
    rig.close_input().await;
    let before = tokio::time::Instant::now();
    assert!(matches!(rig.peer.closed().await, Closed::Eof));
    let waited = before.elapsed();
    assert!(
        (Duration::from_secs(4)..Duration::from_secs(6)).contains(&waited),
        "{waited:?}"
    );
}

#[tokio::test]
async fn closing_writes_what_is_queued_and_cancels_what_is_served() {
    let mut rig = Rig::with_pipe(Options::agent(), 64);
    rig.send(request(1, "never")).await;
    while rig.seen.take().is_empty() {
        tokio::task::yield_now().await;
    }
    for index in 0..100 {
        rig.peer.notify("update", &json!(index)).await.unwrap();
    }
    let pending = rig.peer.call::<Value>("question", &());
    rig.peer.close();
    for index in 0..100 {
        assert_eq!(rig.json().await["params"], index);
    }
    assert_eq!(rig.json().await["method"], "question");
    assert_eq!(rig.json().await["error"]["code"], -32800);
    assert!(matches!(rig.link.await.unwrap(), Closed::Local));
    assert!(pending.await.unwrap_err().is_closed());
}

#[tokio::test(start_paused = true)]
async fn closing_ends_even_if_nobody_reads() {
    let rig = Rig::with_pipe(Options::agent(), 64);
    rig.peer
        .notify("update", &json!("x".repeat(1000)))
        .await
        .unwrap();
    tokio::task::yield_now().await;
    rig.peer.close();
    assert!(matches!(rig.peer.closed().await, Closed::Local));
}

#[tokio::test]
async fn dropping_the_link_ends_it_for_its_peer() {
    let rig = Rig::new(Options::client());
    let call = rig.peer.call::<Value>("question", &());
    rig.link.abort();
    assert!(call.await.unwrap_err().is_closed());
    assert!(matches!(rig.peer.closed().await, Closed::Local));
}

#[tokio::test]
async fn c12_answers_sent_before_the_peer_stopped_reading_are_still_read() {
    let ((reader, writer), (their_reader, mut their_writer)) =
        ply_rpc::transport::memory::pair(4096);
    let seen = crate::support::Seen::default();
    let script = crate::support::Script { seen: seen.clone() };
    // Two pipes, so that one direction can close alone.
    let (gone_writer, gone_reader) = tokio::io::duplex(4096);
    let (peer, link) = ply_rpc::connect(reader, gone_writer, script, Options::agent());
    drop((writer, their_reader));
    let link = tokio::spawn(link);
    let call = peer.call::<Value>("question", &());
    tokio::task::yield_now().await;
    drop(gone_reader);
    let _unsent = peer.notify("update", &json!({})).await;
    tokio::task::yield_now().await;
    their_writer
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"in time\"}\n")
        .await
        .unwrap();
    assert_eq!(call.await.unwrap(), "in time");
    drop(their_writer);
    link.await.unwrap();
}

/// Rests after each message.
struct Slow {
    rest_time: Duration,
    rest: Option<Pin<Box<Sleep>>>,
    seen: Seen,
}

impl Handler for Slow {
    fn request(&mut self, _: &Peer, _: Request<'_>, responder: Responder) {
        responder.respond(Ok(()));
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        self.seen.push(notification.method.to_owned());
        self.rest = Some(Box::pin(sleep(self.rest_time)));
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let rest = self.rest.as_mut();
        rest.map_or(Poll::Ready(()), |rest| rest.as_mut().poll(cx))
    }
}

/// Starts a link whose first write fails, and returns what its peer writes to.
fn unwritable(rest_time: Duration) -> (JoinHandle<Closed>, WriteHalf<DuplexStream>, Seen) {
    let ((reader, _), (_, their_writer)) = memory::pair(4096);
    let (writer, gone) = tokio::io::duplex(4096);
    drop(gone);
    let seen = Seen::default();
    let slow = Slow {
        rest_time,
        rest: None,
        seen: seen.clone(),
    };
    let (peer, link) = ply_rpc::connect(reader, writer, slow, Options::client());
    tokio::spawn(async move { peer.notify("update", &json!({})).await });
    (tokio::spawn(link), their_writer, seen)
}

const UPDATE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"update\"}\n";

#[tokio::test(start_paused = true)]
async fn c6_what_a_peer_sends_is_read_to_its_end_after_a_failed_write() {
    let gap = READ_IDLE_TIME_MAX * 3 / 5;
    let (link, mut peer, seen) = unwritable(Duration::ZERO);
    for _ in 0..10 {
        sleep(gap).await;
        peer.write_all(UPDATE).await.unwrap();
    }
    peer.shutdown().await.unwrap();
    assert!(matches!(link.await.unwrap(), Closed::Eof));
    assert_eq!(seen.take().len(), 10, "messages that come one by one");

    let (link, mut peer, seen) = unwritable(READ_IDLE_TIME_MAX * 2);
    peer.write_all(&UPDATE.repeat(10)).await.unwrap();
    peer.shutdown().await.unwrap();
    assert!(matches!(link.await.unwrap(), Closed::Eof));
    assert_eq!(seen.take().len(), 10, "messages on which the handler rests");
}

#[tokio::test(start_paused = true)]
async fn c6_reading_after_a_failed_write_is_bounded() {
    let before = Instant::now();
    let (link, mut peer, seen) = unwritable(Duration::ZERO);
    let endless = tokio::spawn(async move {
        while peer.write_all(UPDATE).await.is_ok() {
            sleep(Duration::from_millis(10)).await;
        }
    });
    let reason = link.await.unwrap();
    assert!(matches!(reason, Closed::Write(_)), "{reason:?}");
    let read_for = before.elapsed();
    assert!(
        (DRAIN_TIME_MAX..DRAIN_TIME_MAX * 2).contains(&read_for),
        "{read_for:?}"
    );
    assert!(seen.take().len() > 100);
    endless.await.unwrap();

    let before = Instant::now();
    let (link, _silent, _) = unwritable(Duration::ZERO);
    assert!(matches!(link.await.unwrap(), Closed::Write(_)));
    assert!(before.elapsed() < READ_IDLE_TIME_MAX * 2);
}

/// A transport with a fault.
struct Panics;

impl tokio::io::AsyncRead for Panics {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        panic!("the transport panics as asked")
    }
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_panics_ends_the_link_and_everybody_hears_of_it() {
    let seen = Seen::default();
    let script = Script { seen: seen.clone() };
    let (peer, link) = ply_rpc::connect(Panics, tokio::io::sink(), script, Options::client());
    let call = peer.call::<Value>("question", &());
    let link = tokio::spawn(link);
    let lost = tokio::time::timeout(Duration::from_secs(60), call).await;
    let lost = lost.expect("it waits for nobody").unwrap_err();
    assert!(lost.to_string().contains("panicked"), "{lost}");
    assert!(matches!(link.await.unwrap(), Closed::Panicked));
    let ended = "ended: the code behind the connection panicked";
    assert_eq!(seen.take(), [ended]);
}
