//! Group commit: what waits, for how long, and what closing does about it.

use std::task::Poll;
use std::time::Duration;

use ply_journal::{Durability, Error, Journal, Sqlite};

use crate::scratch::Scratch;
use crate::{all, append, create, head, texts};

/// What a test waits for at most.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn what_is_written_soon_is_there_soon_without_anybody_asking() {
    let scratch = Scratch::new();
    let (journal, other) = (Sqlite::new(scratch.store()), Sqlite::new(scratch.store()));
    let log = create(&journal, head("a")).await;
    append(&*log, 0..5, Durability::Accepted).await.unwrap();
    // Another store does not know what this one has not written.
    let (_, look) = other.look("a").await.unwrap().unwrap();
    let seen = async { while look.read(0, 100).await.unwrap().is_empty() {} };
    tokio::time::timeout(PATIENCE, seen).await.unwrap();
    assert_eq!(all(&*look).await, texts(0..5));
}

#[tokio::test]
async fn readers_in_other_processes_hear_of_records_and_of_the_end() {
    let scratch = Scratch::new();
    let (journal, other) = (Sqlite::new(scratch.store()), Sqlite::new(scratch.store()));
    let log = create(&journal, head("a")).await;
    // Another store of this process learns of it as one of another process would.
    let (_, look) = other.look("a").await.unwrap().unwrap();
    for number in 0..5 {
        let waiting = look.wait(number);
        let durability = match number % 2 {
            0 => Durability::Accepted,
            _ => Durability::Written,
        };
        append(&*log, number..number + 1, durability).await.unwrap();
        tokio::time::timeout(PATIENCE, waiting)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(look.read(number, 1).await.unwrap().records.len(), 1);
    }
    let waiting = look.wait(5);
    journal.delete("a").await.unwrap();
    let over = tokio::time::timeout(PATIENCE, waiting).await.unwrap();
    assert!(matches!(over, Err(Error::Deleted)), "{over:?}");
    drop(look);
    // Who waits keeps no store open.
    drop(create(&journal, head("b")).await);
    let (_, look) = other.look("b").await.unwrap().unwrap();
    let waiting = look.wait(0);
    drop((look, other));
    let over = tokio::time::timeout(PATIENCE, waiting).await.unwrap();
    assert!(matches!(over, Err(Error::Closed)), "{over:?}");
}

#[tokio::test]
async fn an_append_waits_for_another_process_that_keeps_the_file_busy() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    let log = create(&journal, head("a")).await;
    let busy = rusqlite::Connection::open(scratch.store()).unwrap();
    for durability in [Durability::Written, Durability::Durable] {
        busy.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut written = log.append(texts(0..1), durability, None);
        let early = tokio::time::timeout(Duration::from_millis(200), &mut written);
        assert!(early.await.is_err(), "it was written although it was busy");
        busy.execute_batch("ROLLBACK").unwrap();
        written.await.unwrap();
    }
    assert_eq!(log.read(0, 100).await.unwrap().next, 2);
}

#[tokio::test]
async fn an_append_that_is_given_up_is_there_whole_or_not_at_all() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    let log = create(&journal, head("a")).await;
    let mut expected = Vec::new();
    for round in 0..100u64 {
        let from = round * 10;
        {
            let mut giving_up = log.append(texts(from..from + 2), Durability::Durable, None);
            let begun =
                std::future::poll_fn(|cx| Poll::Ready(giving_up.as_mut().poll(cx).is_ready()));
            begun.await;
        }
        append(&*log, from + 2..from + 3, Durability::Accepted)
            .await
            .unwrap();
        expected.push(texts(from..from + 3));
    }
    let found = all(&*log).await;
    // Nothing failed, so all of it is there.
    assert_eq!(found, expected.concat());
}

#[tokio::test]
async fn dropping_the_store_writes_what_waits() {
    let scratch = Scratch::new();
    for round in 0..20 {
        let journal = Sqlite::new(scratch.store());
        let (id, count) = (round.to_string(), round * 37);
        let log = create(&journal, head(&id)).await;
        append(&*log, 0..count, Durability::Accepted).await.unwrap();
        // In either order.
        match round % 2 == 0 {
            true => {
                drop(journal);
                drop(log);
            }
            false => {
                drop(log);
                drop(journal);
            }
        }
        let journal = Sqlite::new(scratch.store());
        let log = journal.open(&id).await.unwrap().unwrap().log;
        assert_eq!(all(&*log).await, texts(0..count));
    }
}

#[tokio::test]
async fn a_closed_store_is_safe_and_its_logs_are_of_no_use() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    let log = create(&journal, head("a")).await;
    append(&*log, 0..500, Durability::Accepted).await.unwrap();
    journal.close().await.unwrap();
    for refused in [
        append(&*log, 500..501, Durability::Durable).await,
        append(&*log, 500..501, Durability::Accepted).await,
        log.read(0, 10).await.map(drop),
        journal.open("a").await.map(drop),
    ] {
        assert!(matches!(refused, Err(Error::Closed)), "{refused:?}");
    }
    // While the old log is still held.
    let journal = Sqlite::new(scratch.store());
    let again = journal.open("a").await.unwrap().unwrap().log;
    assert_eq!(all(&*again).await, texts(0..500));
    drop(log);
    append(&*again, 500..501, Durability::Durable)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_that_stream_together_keep_their_own_order() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    let mut streams = Vec::new();
    for session in 0..8 {
        let log = create(&journal, head(&session.to_string())).await;
        streams.push(tokio::spawn(async move {
            for round in 0..200 {
                let from = round * 20;
                let durability = match (round + session) % 50 {
                    0 => Durability::Durable,
                    _ => Durability::Accepted,
                };
                append(&*log, from..from + 20, durability).await.unwrap();
                if round % 40 == 0 {
                    let page = log.read(from, 1_000_000).await.unwrap();
                    assert_eq!(page.records, texts(from..from + 20));
                }
            }
            assert!(all(&*log).await == texts(0..4000));
        }));
    }
    for stream in streams {
        stream.await.unwrap();
    }
}

#[tokio::test]
async fn f11_the_write_ahead_log_does_not_grow_without_end() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    let log = create(&journal, head("a")).await;
    let record = vec![7; 60_000];
    for _ in 0..3000 {
        log.append(vec![record.clone()], Durability::Accepted, None)
            .await
            .unwrap();
    }
    let mut wal = scratch.store().into_os_string();
    wal.push("-wal");
    let wal = std::fs::metadata(wal).unwrap().len();
    assert!(wal < 150 * 1024 * 1024, "{wal} bytes of 180 MB are in it");
}
