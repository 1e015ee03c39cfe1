//! Who creates a session, who owns it, and who hears that it is lost.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ply_journal::{Durability, Error, ErrorKind, Journal};

use crate::{all, create, filter, head, reopen, write};

pub(crate) async fn a_session_is_created_once_for_each_key(journal: impl Journal) {
    let mut first = head("a");
    first.title = Some("first".to_owned());
    let opened = journal.create(first.clone(), "one").await.unwrap();
    assert_eq!((&opened.head, opened.records), (&first, 0));
    write(&*opened.log, &["record"]).await;
    // Whoever has it has it.
    let again = journal.create(head("a"), "one").await;
    assert!(matches!(again, Err(Error::InUse(_))), "{again:?}");
    opened.log.close().await.unwrap();
    // Tried again, it is the session that is there, not the one that was to be made.
    let again = journal.create(head("a"), "one").await.unwrap();
    assert_eq!((&again.head, again.records), (&first, 1));
    assert!(again.epoch > opened.epoch);
    assert_eq!(all(&*again.log).await, ["record"]);
    drop(again);
    let again = journal.create(head("a"), "one").await.unwrap();
    assert_eq!(all(&*again.log).await, ["record"]);
    for key in ["", "two", "One", "one "] {
        let other = journal.create(head("a"), key).await;
        assert!(matches!(other, Err(Error::Exists)), "{other:?}");
    }
    // The key says nothing of other sessions, nor of one that is gone.
    drop(again);
    let other = journal.create(head("b"), "one").await.unwrap();
    assert_eq!((other.epoch, other.records), (1, 0));
    journal.delete("a").await.unwrap();
    let new = journal.create(head("a"), "two").await.unwrap();
    assert_eq!((new.epoch, new.records), (1, 0));
}

pub(crate) async fn a_creation_that_is_given_up_can_be_tried_again(journal: impl Journal) {
    for round in 0..20 {
        let id = round.to_string();
        {
            let mut creating = pin!(journal.create(head(&id), &id));
            let mut cx = Context::from_waker(Waker::noop());
            // Begun, and perhaps done.
            drop(creating.as_mut().poll(&mut cx));
        }
        let opened = journal.create(head(&id), &id).await.unwrap();
        assert_eq!(opened.records, 0);
    }
    let page = journal.list(filter(100, None)).await.unwrap();
    assert_eq!(page.sessions.len(), 20);
}

pub(crate) async fn epochs_grow_with_each_owner_and_never_repeat(journal: impl Journal) {
    let opened = journal.create(head("a"), "key").await.unwrap();
    assert_eq!(opened.epoch, 1);
    let mut before = opened.epoch;
    drop(opened);
    for round in 0..10 {
        let opened = match round % 2 {
            0 => reopen(&journal, "a").await,
            _ => journal.create(head("a"), "key").await.unwrap(),
        };
        assert!(opened.epoch > before, "{} after {before}", opened.epoch);
        before = opened.epoch;
        // Those who do not get it count for nothing, and neither do those who look.
        assert!(journal.open("a").await.is_err());
        journal.look("a").await.unwrap().unwrap();
        match round % 3 {
            0 => opened.log.close().await.unwrap(),
            _ => drop(opened),
        }
    }
    assert_eq!(before, 11);
}

/// Returns whether a future is not done yet.
async fn waits<T>(future: &mut (impl Future<Output = T> + Unpin)) -> bool {
    std::future::poll_fn(|cx| {
        let polled = std::pin::Pin::new(&mut *future).poll(cx);
        Poll::Ready(polled.is_pending())
    })
    .await
}

pub(crate) async fn an_owner_hears_that_its_session_was_deleted(journal: impl Journal) {
    let (log, other) = (
        create(&journal, head("a")).await,
        create(&journal, head("b")).await,
    );
    let (mut lost, mut kept) = (log.lost(), other.lost());
    write(&*log, &["record"]).await;
    assert!(waits(&mut lost).await);
    journal.delete("a").await.unwrap();
    assert!(matches!(lost.await, Error::Deleted));
    // Asked later, it is the same.
    assert!(matches!(log.lost().await, Error::Deleted));
    assert!(waits(&mut kept).await, "the other session is there yet");
}

pub(crate) async fn an_owner_hears_that_the_journal_was_closed(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    let mut lost = log.lost();
    assert!(waits(&mut lost).await);
    journal.close().await.unwrap();
    assert!(matches!(lost.await, Error::Closed));
    assert!(matches!(log.lost().await, Error::Closed));
    let late = log.append(vec![vec![1]], Durability::Accepted, None).await;
    assert!(matches!(late, Err(Error::Closed)), "{late:?}");
    assert!(matches!(log.read(0, 10).await, Err(Error::Closed)));
}

pub(crate) async fn an_owner_that_gave_its_session_back_hears_that_too(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    let mut lost = log.lost();
    assert!(waits(&mut lost).await);
    log.close().await.unwrap();
    assert!(matches!(lost.await, Error::Closed));
    let log = reopen(&journal, "a").await.log;
    let lost = log.lost();
    drop(log);
    assert!(matches!(lost.await, Error::Closed));
}

pub(crate) async fn errors_say_what_can_be_done_about_them(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    let exists = journal.create(head("a"), "another").await.unwrap_err();
    assert_eq!(exists.kind(), ErrorKind::Invalid);
    let in_use = journal.open("a").await.unwrap_err();
    assert_eq!(in_use.kind(), ErrorKind::Taken);
    let cursor = journal.list(filter(1, Some("x"))).await.unwrap_err();
    assert_eq!(cursor.kind(), ErrorKind::Invalid);
    journal.delete("a").await.unwrap();
    let deleted = log.append(vec![vec![1]], Durability::Durable, None).await;
    assert_eq!(deleted.unwrap_err().kind(), ErrorKind::Gone);
    assert_eq!(log.lost().await.kind(), ErrorKind::Gone);
}
