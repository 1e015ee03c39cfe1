use std::sync::Arc;

use super::*;

fn frame(bytes: usize) -> Encoded {
    Encoded::notification(&"x".repeat(bytes), &()).unwrap()
}

fn take(outbox: &Outbox) -> Option<Segment> {
    match outbox.poll_take() {
        Poll::Ready(segment) => Some(segment),
        Poll::Pending => None,
    }
}

async fn push(outbox: &Outbox, frame: Encoded) -> Result<(), OutboxClosed> {
    match outbox.send(frame)? {
        Admission::Entered => Ok(()),
        Admission::Waits(ticket) => outbox.admitted(ticket).await,
    }
}

/// Writes everything and returns the sizes of the segments.
fn write_all(outbox: &Outbox) -> Vec<usize> {
    let mut sizes = Vec::new();
    while let Some(segment) = take(outbox) {
        sizes.push(segment.len());
        outbox.written(segment.len());
    }
    outbox.flushed();
    sizes
}

#[test]
fn what_is_shared_is_written_between_what_is_copied() {
    let outbox = Outbox::new(1 << 30);
    let body = bytes::Bytes::from_static(b"[1]");
    outbox.send_now(frame(10)).unwrap();
    let around = Encoded::notification_around("m", ("{\"a\":", body.clone(), "}"));
    outbox.send_now(around).unwrap();
    outbox.send_now(frame(20)).unwrap();
    let mut text = Vec::new();
    let mut shared = 0;
    while let Some(segment) = take(&outbox) {
        shared += usize::from(segment.as_ptr() == body.as_ptr());
        text.extend_from_slice(&segment);
        outbox.written(segment.len());
    }
    let around = "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"a\":[1]}}\n";
    let expected = [frame(10).into_vec(), around.into(), frame(20).into_vec()].concat();
    assert_eq!((text, shared), (expected, 1));
    assert!(outbox.is_empty());
}

#[test]
fn small_frames_are_joined_and_large_ones_moved_in_order() {
    let outbox = Outbox::new(1 << 30);
    for bytes in [10, 20, SEGMENT_BYTES, 30] {
        assert_eq!(outbox.send(frame(bytes)).unwrap(), Admission::Entered);
    }
    let size = |bytes| frame(bytes).len();
    let expected = [size(10) + size(20), size(SEGMENT_BYTES), size(30)];
    assert_eq!(write_all(&outbox), expected);
}

#[tokio::test]
async fn senders_over_the_budget_wait_and_go_on_in_order() {
    let outbox = Arc::new(Outbox::new(100));
    push(&outbox, frame(200)).await.unwrap();
    let mut senders = tokio::task::JoinSet::new();
    for index in 0..20 {
        let outbox = Arc::clone(&outbox);
        senders.spawn(async move { push(&outbox, frame(100 + index)).await.unwrap() });
        tokio::task::yield_now().await;
    }
    let mut seen = Vec::new();
    while let Some(segment) = take(&outbox) {
        seen.push(segment.len());
        outbox.written(segment.len());
        tokio::task::yield_now().await;
        assert!(outbox.queued_bytes() <= 300, "{}", outbox.queued_bytes());
    }
    assert_eq!(seen.len(), 21);
    assert!(seen.iter().skip(1).is_sorted(), "{seen:?}");
    while senders.join_next().await.transpose().unwrap().is_some() {}
}

#[test]
fn a_sender_that_is_not_polled_holds_up_nobody() {
    let outbox = Outbox::new(100);
    outbox.send_now(frame(200)).unwrap();
    // Neither of these is ever polled.
    let first = outbox.send(frame(101)).unwrap();
    let second = outbox.send(frame(102)).unwrap();
    assert!(matches!(
        (first, second),
        (Admission::Waits(_), Admission::Waits(_))
    ));
    let size = |bytes| frame(bytes).len();
    assert_eq!(write_all(&outbox), [size(200), size(101), size(102)]);
    assert!(outbox.is_empty());
}

#[test]
fn what_cannot_wait_keeps_its_place_behind_what_does() {
    let outbox = Outbox::new(100);
    outbox.send_now(frame(200)).unwrap();
    let Admission::Waits(prompt) = outbox.send(frame(150)).unwrap() else {
        panic!("the prompt should wait");
    };
    outbox.send_now(frame(5)).unwrap();
    assert!(outbox.queued_bytes() > frame(200).len(), "it counts");
    let size = |bytes| frame(bytes).len();
    assert_eq!(write_all(&outbox), [size(200), size(150) + size(5)]);
    assert!(!outbox.withdraw(prompt), "it has left");
}

#[test]
fn a_frame_that_is_withdrawn_lets_the_next_ones_pass() {
    let outbox = Outbox::new(100);
    outbox.send_now(frame(200)).unwrap();
    let Admission::Waits(ticket) = outbox.send(frame(150)).unwrap() else {
        panic!("it should wait");
    };
    outbox.send_now(frame(5)).unwrap();
    assert!(outbox.withdraw(ticket));
    let size = |bytes| frame(bytes).len();
    assert_eq!(write_all(&outbox), [size(200) + size(5)]);
}

#[tokio::test]
async fn a_flush_waits_for_what_was_sent_before_it_only() {
    let outbox = Arc::new(Outbox::new(1 << 20));
    outbox.send_now(frame(10)).unwrap();
    let flush = tokio::spawn({
        let outbox = Arc::clone(&outbox);
        async move { outbox.flush().await }
    });
    tokio::task::yield_now().await;
    let segment = take(&outbox).unwrap();
    outbox.written(segment.len());
    outbox.send_now(frame(10)).unwrap();
    tokio::task::yield_now().await;
    assert!(!flush.is_finished(), "written is not flushed");
    outbox.flushed();
    flush.await.unwrap();
}

#[tokio::test]
async fn closing_frees_everyone_who_waits() {
    let outbox = Arc::new(Outbox::new(1));
    push(&outbox, frame(10)).await.unwrap();
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let outbox = Arc::clone(&outbox);
            tokio::spawn(async move { push(&outbox, frame(10)).await })
        })
        .collect();
    tokio::task::yield_now().await;
    outbox.close();
    for sender in waiting {
        assert!(sender.await.unwrap().is_err());
    }
    outbox.flush().await;
    assert!(outbox.send_now(frame(1)).is_err());
}

#[test]
fn frames_that_are_gathered_are_left_to_whoever_gathered_them_last() {
    let outbox = Outbox::new(1 << 20);
    assert!(take(&outbox).is_none(), "the writer sleeps");
    outbox.begin_gathering();
    outbox.begin_gathering();
    outbox.send_now(frame(10)).unwrap();
    assert_eq!(outbox.end_gathering(), Gathered::Nothing);
    outbox.send_now(frame(20)).unwrap();
    assert_eq!(outbox.end_gathering(), Gathered::Yours);
    let size = |bytes| frame(bytes).len();
    assert_eq!(write_all(&outbox), [size(10) + size(20)]);
    outbox.begin_gathering();
    assert_eq!(
        outbox.end_gathering(),
        Gathered::Nothing,
        "there was nothing"
    );
}

#[test]
fn a_writer_that_has_more_to_see_to_is_woken_after_gathering() {
    let outbox = Outbox::new(1);
    assert!(take(&outbox).is_none(), "the writer sleeps");
    outbox.begin_gathering();
    outbox.send_now(frame(10)).unwrap();
    assert!(matches!(
        outbox.send(frame(20)).unwrap(),
        Admission::Waits(_)
    ));
    assert_eq!(outbox.end_gathering(), Gathered::Wake);
    outbox.wake_for_next_frame();
    outbox.begin_gathering();
    outbox.send_now(frame(10)).unwrap();
    assert_eq!(outbox.end_gathering(), Gathered::Wake, "it rests");
}

#[tokio::test]
async fn room_is_given_to_a_few_at_a_time_in_the_order_they_came() {
    let outbox = Arc::new(Outbox::new(1000));
    outbox.send_now(frame(2000)).unwrap();
    let let_in = Arc::new(Mutex::new(Vec::new()));
    let wait = |number: usize| {
        let (outbox, let_in) = (Arc::clone(&outbox), Arc::clone(&let_in));
        tokio::spawn(async move {
            outbox.room().await;
            let_in.lock().unwrap().push(number);
        })
    };
    let waiting: Vec<_> = (0..6).map(wait).collect();
    let settled = async || {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        let_in.lock().unwrap().clone()
    };
    assert!(settled().await.is_empty());
    let all = outbox.queued_bytes();
    outbox.written(all - 501);
    assert!(settled().await.is_empty(), "there is not room enough yet");
    outbox.written(1);
    assert_eq!(settled().await, [0, 1, 2, 3]);
    let late = wait(6);
    assert_eq!(settled().await, [0, 1, 2, 3], "others came first");
    assert!(outbox.let_more_in());
    assert_eq!(settled().await, [0, 1, 2, 3, 4, 5, 6]);
    assert!(!outbox.let_more_in());
    for task in waiting {
        task.await.unwrap();
    }
    late.await.unwrap();
}
