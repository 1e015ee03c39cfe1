//! Order, backpressure and reading that never waits on writing (fault rows A4, A5, A14, A16, C4; design invariant 8).

use std::task::{Context, Poll};
use std::time::Duration;

use crate::support::{Rig, request};
use ply_rpc::transport::memory;
use ply_rpc::{
    CallError, CallOptions, Closed, Handler, Limits, Notification, Options, Peer, RawAnswer,
    Request, Responder, RpcError,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::watch;

#[tokio::test]
async fn an_answer_never_overtakes_the_notifications_before_it() {
    let mut rig = Rig::new(Options::client());
    for round in 0..100 {
        let call = rig.peer.call::<Value>("question", &());
        let id = rig.json().await["id"].clone();
        let mut burst = String::new();
        for index in 0..50 {
            burst += &format!("{{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"params\":{index}}}\n");
        }
        rig.send(burst + &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":null}}\n"))
            .await;
        call.await.unwrap();
        let seen = rig.seen.take();
        let expected: Vec<_> = (0..50).map(|index| format!("update {index}")).collect();
        assert_eq!(seen, expected, "round {round}");
    }
}

#[tokio::test]
async fn messages_leave_in_the_order_they_were_sent() {
    let mut rig = Rig::with_pipe(Options::agent(), 64);
    let peer = rig.peer.clone();
    let sender = tokio::spawn(async move {
        for index in 0..500 {
            peer.notify(
                "update",
                &json!({ "index": index, "text": "x".repeat(index) }),
            )
            .await
            .unwrap();
        }
    });
    for index in 0..500 {
        assert_eq!(rig.json().await["params"]["index"], index);
    }
    sender.await.unwrap();
}

#[tokio::test]
async fn a14_frames_of_many_writers_never_mix() {
    let mut rig = Rig::with_pipe(Options::agent(), 4096);
    for writer in 0..16 {
        let peer = rig.peer.clone();
        tokio::spawn(async move {
            for index in 0..40 {
                let text = "x".repeat(1 << (index % 18));
                peer.notify(
                    "update",
                    &json!({ "writer": writer, "index": index, "text": text }),
                )
                .await
                .unwrap();
            }
        });
    }
    let mut next = [0; 16];
    for _ in 0..16 * 40 {
        let params = &rig.json().await["params"];
        let writer = usize::try_from(params["writer"].as_u64().unwrap()).unwrap();
        assert_eq!(params["index"], next[writer]);
        next[writer] += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_stops_makes_senders_wait_and_memory_stays_flat() {
    let mut rig = Rig::with_pipe(Options::agent(), 4096);
    let peer = rig.peer.clone();
    let sender = tokio::spawn(async move {
        for index in 0..100_000 {
            peer.notify(
                "update",
                &json!({ "index": index, "text": "x".repeat(100) }),
            )
            .await
            .unwrap();
        }
    });
    // Time stands still until nothing else can be done: the sender waits.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!sender.is_finished());
    assert!(
        rig.peer.queued_bytes() < (1 << 20) + 1000,
        "{}",
        rig.peer.queued_bytes()
    );
    // A cancellation gets through all the same: it is queued at once.
    rig.peer.notify_now("session/cancel", &json!({})).unwrap();
    let mut next = 0;
    let mut cancelled_at = None;
    while next < 100_000 {
        let message = rig.json().await;
        if message["method"] == "session/cancel" {
            cancelled_at = Some(next);
        } else {
            assert_eq!(message["params"]["index"], next);
            next += 1;
        }
    }
    assert!(
        cancelled_at.is_some_and(|at| at < 10_000),
        "{cancelled_at:?}"
    );
    sender.await.unwrap();
}

#[tokio::test]
async fn c4_reading_goes_on_while_writing_is_stuck() {
    let mut rig = Rig::with_pipe(Options::agent(), 4096);
    // Nobody reads what the link writes, yet all of this is read: 5,000 requests whose answers cannot leave.
    for index in 0..5000 {
        rig.send(request(index, "echo")).await;
    }
    for index in 0..5000 {
        assert_eq!(rig.json().await["id"], index);
    }
}

#[tokio::test]
async fn a_peer_that_asks_without_reading_answers_is_refused_then_dropped() {
    let mut limits = Limits::default();
    limits.answer_bytes = 10_000;
    let mut rig = Rig::with_pipe(Options::agent().limits(limits), 4096);
    let mut index = 0;
    while rig.try_send(request(index, "echo")).await.is_ok() {
        index += 1;
    }
    let closed = rig.peer.closed().await;
    let Closed::NotReading { bytes } = closed else {
        panic!("{closed}");
    };
    assert!((20_000..21_000).contains(&bytes), "{bytes}");
    // Half of the requests that were taken in were served, the others refused.
    let served = rig.seen.take().len();
    assert!((100..1000).contains(&served), "{served}");
}

#[tokio::test]
async fn c4_two_links_with_full_pipes_do_not_lock_up() {
    let (here, there) = memory::pair(4096);
    let seen = crate::support::Seen::default();
    let script = || crate::support::Script { seen: seen.clone() };
    let (one, link) = ply_rpc::connect(here.0, here.1, script(), Options::agent());
    tokio::spawn(link);
    let (two, link) = ply_rpc::connect(there.0, there.1, script(), Options::client());
    tokio::spawn(link);
    let text = "x".repeat(64 * 1024);
    let flood = |peer: Peer| {
        let text = text.clone();
        tokio::spawn(async move {
            let calls: Vec<_> = (0..100)
                .map(|_| peer.call::<Value>("echo", &json!([text])))
                .collect();
            for call in calls {
                assert_eq!(call.await.unwrap()[0].as_str().unwrap().len(), 64 * 1024);
            }
        })
    };
    let (a, b) = (flood(one), flood(two));
    a.await.unwrap();
    b.await.unwrap();
}

/// Wants a rest after every message, until it is told to go on.
struct Tired {
    welcome: watch::Receiver<usize>,
    taken: usize,
    seen: crate::support::Seen,
}

impl Handler for Tired {
    fn request(&mut self, _: &Peer, _: Request<'_>, responder: Responder) {
        responder.respond(Ok(()));
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        self.taken += 1;
        self.seen.push(
            notification
                .raw_params
                .map_or(String::new(), |params| params.get().to_owned()),
        );
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if *self.welcome.borrow_and_update() > self.taken {
            return Poll::Ready(());
        }
        let mut welcome = self.welcome.clone();
        let waker = cx.waker().clone();
        tokio::spawn(async move {
            if welcome.changed().await.is_ok() {
                waker.wake();
            }
        });
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn b12_a_handler_that_wants_a_rest_does_not_block_an_answer() {
    an_answer_is_read_though_the_handler_rests(Options::client()).await;
}

#[tokio::test(start_paused = true)]
async fn b12_nor_when_the_request_was_written_by_its_caller() {
    an_answer_is_read_though_the_handler_rests(Options::client().direct_writes(true)).await;
}

async fn an_answer_is_read_though_the_handler_rests(options: Options) {
    let ((reader, writer), (mut their_reader, mut their_writer)) = memory::pair(1 << 20);
    let (more, welcome) = watch::channel(1);
    let seen = crate::support::Seen::default();
    let tired = Tired {
        welcome,
        taken: 0,
        seen: seen.clone(),
    };
    let (peer, link) = ply_rpc::connect(reader, writer, tired, options);
    tokio::spawn(link);
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let update =
        |index| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"params\":{index}}}\n");
    their_writer.write_all(update(0).as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    their_writer.write_all(update(1).as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(seen.take(), ["0"], "reading pauses");
    // A patient call changes nothing, an urgent one reopens the tap until it is answered.
    let patient = peer.call_with::<Value>("session/prompt", &(), CallOptions::default().patient());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(
        seen.take().is_empty(),
        "a patient call lets the handler rest"
    );
    let urgent = peer.call::<Value>("session/set_mode", &());
    let mut asked = [0; 200];
    let bytes = their_reader.read(&mut asked).await.unwrap();
    assert!(bytes > 0);
    their_writer
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"done\"}\n")
        .await
        .unwrap();
    assert_eq!(urgent.await.unwrap(), "done");
    assert_eq!(seen.take(), ["1"]);
    more.send(10).unwrap();
    their_writer
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"end\"}\n")
        .await
        .unwrap();
    assert_eq!(patient.await.unwrap(), "end");
}

/// Gives its bytes in pieces, now and then saying that it is not ready.
struct Pieces {
    rest: Vec<u8>,
    plan: Vec<usize>,
    at: usize,
}

impl tokio::io::AsyncRead for Pieces {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let size = self.plan[self.at % self.plan.len()];
        self.at += 1;
        if size == 0 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let cut = size.min(self.rest.len()).min(buf.remaining());
        let rest = self.rest.split_off(cut);
        buf.put_slice(&self.rest);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

/// Takes a few bytes at a time, and now and then is interrupted, or not ready.
struct Faulty {
    taken: std::sync::Arc<std::sync::Mutex<Vec<u8>>>,
    plan: Vec<u8>,
    at: usize,
}

impl tokio::io::AsyncWrite for Faulty {
    fn poll_write(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let fault = self.plan[self.at % self.plan.len()];
        self.at += 1;
        match fault {
            0 => Poll::Ready(Err(std::io::ErrorKind::Interrupted.into())),
            1 => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            size => {
                let cut = buf.len().min(size.into());
                self.taken.lock().unwrap().extend_from_slice(&buf[..cut]);
                Poll::Ready(Ok(cut))
            }
        }
    }

    fn poll_flush(
        self: std::pin::Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(
        self: std::pin::Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

proptest! {
    /// A15: short, refused and interrupted writes resume at the exact byte.
    #[test]
    fn a15_no_byte_is_lost_or_doubled_by_faulty_writes(
        texts in proptest::collection::vec("\\PC{0,40}", 1..20),
        plan in proptest::collection::vec(0_u8..30, 1..50),
    ) {
        prop_assume!(plan.iter().any(|size| *size > 1));
        let taken = std::sync::Arc::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let writer = Faulty { taken: std::sync::Arc::clone(&taken), plan, at: 0 };
            let (reader, _open) = tokio::io::duplex(1);
            let script = crate::support::Script { seen: crate::support::Seen::default() };
            let (peer, link) = ply_rpc::connect(reader, writer, script, Options::agent());
            tokio::spawn(link);
            for text in &texts {
                peer.notify("update", &[text]).await.unwrap();
            }
            peer.flush().await;
        });
        let expected: String = texts
            .iter()
            .map(|text| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"params\":{}}}\n", json!([text])))
            .collect();
        let taken = taken.lock().unwrap();
        prop_assert_eq!(std::str::from_utf8(&taken).unwrap(), expected);
    }

    /// A4, A5, A16: however the bytes come, and however often the link is interrupted between two of them, every message
    /// arrives once and in order.
    #[test]
    fn a4_a5_a16_no_byte_is_lost_to_splits_or_cancelled_reads(
        texts in proptest::collection::vec("\\PC{0,40}", 1..40),
        plan in proptest::collection::vec(0_usize..30, 1..50),
        stops in proptest::collection::vec(0_usize..5, 1..20),
    ) {
        prop_assume!(plan.iter().any(|size| *size > 0));
        let mut bytes = Vec::new();
        for text in &texts {
            let message = json!({"jsonrpc": "2.0", "method": "update", "params": [text]});
            bytes.extend_from_slice(message.to_string().as_bytes());
            bytes.push(b'\n');
        }
        let seen = crate::support::Seen::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let script = crate::support::Script { seen: seen.clone() };
            let pieces = Pieces { rest: bytes, plan, at: 0 };
            let (_peer, link) = ply_rpc::connect(pieces, tokio::io::sink(), script, Options::agent());
            tokio::pin!(link);
            for stop in stops.iter().cycle() {
                // Every round is a `select!` that may drop whatever the link was waiting for.
                let interrupted = async {
                    for _ in 0..*stop {
                        tokio::task::yield_now().await;
                    }
                };
                tokio::select! {
                    biased;
                    _ = &mut link => break,
                    () = interrupted => {}
                }
            }
        });
        let expected: Vec<_> = texts.iter().map(|text| format!("update {}", json!([text]))).collect();
        let mut seen = seen.take();
        prop_assert_eq!(seen.pop(), Some("ended: the peer closed the connection".to_owned()));
        prop_assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn an_ordered_answer_takes_its_place_between_two_notifications() {
    let mut rig = Rig::new(Options::client());
    let seen = rig.seen.clone();
    let note = move |answer: RawAnswer| seen.push(format!("answer {}", answer.unwrap()));
    rig.peer
        .call_then("question", &(), CallOptions::default(), note);
    let id = rig.json().await["id"].clone();
    let update = |index| format!(r#"{{"jsonrpc":"2.0","method":"update","params":{index}}}"#);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":7}}"#);
    rig.send(format!("{}\n{answer}\n{}\n", update(1), update(2)))
        .await;
    // Answered after everything before it was handed over.
    rig.still_alive().await;
    let expected = ["update 1", "answer 7", "update 2", "request add"];
    assert_eq!(rig.seen.take(), expected);
}

#[tokio::test(start_paused = true)]
async fn an_ordered_call_is_given_up_in_time_and_the_peer_is_told() {
    let mut rig = Rig::new(Options::client());
    let (tell, told) = tokio::sync::oneshot::channel();
    let options = CallOptions::default().deadline(Duration::from_secs(5));
    rig.peer.call_then("question", &(), options, |answer| {
        tell.send(answer).unwrap();
    });
    let id = rig.json().await["id"].clone();
    let answer = told.await.unwrap();
    assert!(
        matches!(answer, Err(CallError::Deadline { after, .. }) if after.as_secs() == 5),
        "{answer:?}"
    );
    let cancel = rig.json().await;
    assert_eq!(cancel["method"], "$/cancel_request");
    assert_eq!(cancel["params"]["requestId"], id);
}

#[tokio::test(start_paused = true)]
async fn an_ordered_call_that_cannot_leave_is_given_up_in_time_too() {
    let mut options = Options::client();
    options.limits.outbox_bytes = 1;
    let rig = Rig::with_pipe(options, 8);
    // Nobody reads this, so nothing after it can be written.
    rig.peer.notify_now("update", &"x".repeat(1000)).unwrap();
    let (tell, told) = tokio::sync::oneshot::channel();
    let options = CallOptions::default().deadline(Duration::from_secs(5));
    rig.peer.call_then("question", &(), options, |answer| {
        tell.send(answer).unwrap();
    });
    let answer = told.await.unwrap();
    assert!(
        matches!(answer, Err(CallError::Deadline { .. })),
        "{answer:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_ordered_call_is_cancelled_once_and_its_answer_is_still_taken() {
    let mut rig = Rig::new(Options::client());
    let (tell, told) = tokio::sync::oneshot::channel();
    let options = CallOptions::default().deadline(Duration::from_secs(5));
    let call = rig.peer.call_then("question", &(), options, |answer| {
        tell.send(answer).unwrap();
    });
    let id = rig.json().await["id"].clone();
    call.cancel();
    call.cancel();
    let cancel = rig.json().await;
    assert_eq!(cancel["method"], "$/cancel_request");
    assert_eq!(cancel["params"]["requestId"], id);
    rig.send(format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":7}}\n"
    ))
    .await;
    assert_eq!(told.await.unwrap().unwrap().get(), "7");
    call.cancel();
    // Nothing was written since: neither by the second cancellation nor by the late one, nor by the deadline.
    tokio::time::advance(Duration::from_secs(6)).await;
    rig.still_alive().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_that_nobody_answers_is_not_cancelled_again_by_its_deadline() {
    let mut rig = Rig::new(Options::client());
    let (tell, told) = tokio::sync::oneshot::channel();
    let options = CallOptions::default().deadline(Duration::from_secs(5));
    let call = rig.peer.call_then("question", &(), options, |answer| {
        tell.send(answer).unwrap();
    });
    rig.json().await;
    call.cancel();
    assert_eq!(rig.json().await["method"], "$/cancel_request");
    let answer = told.await.unwrap();
    assert!(
        matches!(answer, Err(CallError::Deadline { .. })),
        "{answer:?}"
    );
    rig.still_alive().await;
}

/// A peer need not answer what is no longer wanted, so that says nothing about what it answers.
#[tokio::test(start_paused = true)]
async fn a_cancelled_call_that_nobody_answers_is_no_missed_deadline() {
    let rig = Rig::new(Options::client());
    let options = CallOptions::default().deadline(Duration::from_secs(5));
    for is_ordered in [true, false] {
        for _ in 0..5 {
            let error = if is_ordered {
                let (tell, told) = tokio::sync::oneshot::channel();
                let call = rig.peer.call_then("question", &(), options, |answer| {
                    tell.send(answer).unwrap();
                });
                call.cancel();
                told.await.unwrap().unwrap_err()
            } else {
                let mut call = rig.peer.call_with::<Value>("question", &(), options);
                call.cancel();
                call.await.unwrap_err()
            };
            assert!(
                matches!(error, CallError::Deadline { .. }),
                "ordered: {is_ordered}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn an_ordered_call_that_cannot_leave_is_withdrawn() {
    let mut options = Options::client();
    options.limits.outbox_bytes = 1;
    let mut rig = Rig::with_pipe(options, 8);
    rig.peer.notify_now("update", &"x".repeat(1000)).unwrap();
    let (tell, told) = tokio::sync::oneshot::channel();
    let call = rig
        .peer
        .call_then("question", &(), CallOptions::default(), |answer| {
            tell.send(answer).unwrap();
        });
    call.cancel();
    let answer = told.await.unwrap();
    assert!(
        matches!(&answer, Err(CallError::Peer(error)) if error.code == RpcError::REQUEST_CANCELLED),
        "{answer:?}"
    );
    assert_eq!(rig.json().await["method"], "update");
    rig.still_alive().await;
}

#[tokio::test]
async fn an_ordered_call_hears_of_the_end_before_and_after_it() {
    let mut rig = Rig::new(Options::client());
    for phase in ["before the end", "after the end"] {
        let (tell, told) = tokio::sync::oneshot::channel();
        let options = CallOptions::default();
        rig.peer.call_then("question", &(), options, |answer| {
            tell.send(answer).unwrap();
        });
        rig.die();
        let answer = told.await.unwrap();
        assert!(
            matches!(answer, Err(CallError::Closed { .. })),
            "{phase}: {answer:?}"
        );
    }
}

#[tokio::test]
async fn everybody_who_waits_for_room_gets_it_although_nobody_sends() {
    let mut options = Options::client();
    options.limits.outbox_bytes = 1;
    let mut rig = Rig::with_pipe(options, 64);
    rig.peer.notify_now("update", &"x".repeat(1000)).unwrap();
    let (peer, mut waiting) = (rig.peer.clone(), tokio::task::JoinSet::new());
    for _ in 0..100 {
        let peer = peer.clone();
        waiting.spawn(async move { peer.room().await });
    }
    // Each of them has had its turn, and found no room.
    tokio::task::yield_now().await;
    assert!(waiting.try_join_next().is_none());
    rig.line().await;
    waiting.join_all().await;
}
