//! Group commit: what waits, for how long, and what closing does about it.

use std::task::Poll;
use std::time::Duration;

use ply_journal::{Durability, Error, Journal, Sqlite};

use crate::scratch::Scratch;
use crate::{all, append, head, texts};

/// What a test waits for at most.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn what_is_written_soon_is_there_soon_without_anybody_asking() {
    let scratch = Scratch::new();
    let (journal, other) = (Sqlite::new(scratch.store()), Sqlite::new(scratch.store()));
    let mut log = journal.create(head("a")).await.unwrap();
    append(&mut log, 0..5, Durability::Soon).await.unwrap();
    // Another store does not know what this one has not written.
    let (_, mut look) = other.look("a").await.unwrap().unwrap();
    let seen = async { while look.read(0, 100).await.unwrap().is_empty() {} };
    tokio::time::timeout(PATIENCE, seen).await.unwrap();
    assert_eq!(all(&mut look).await, texts(0..5));
}

#[tokio::test]
async fn an_append_that_is_given_up_is_there_whole_or_not_at_all() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    let mut log = journal.create(head("a")).await.unwrap();
    let mut expected = Vec::new();
    for round in 0..100u64 {
        let from = round * 10;
        {
            let mut giving_up = log.append(texts(from..from + 2), Durability::Now);
            let begun =
                std::future::poll_fn(|cx| Poll::Ready(giving_up.as_mut().poll(cx).is_ready()));
            begun.await;
        }
        append(&mut log, from + 2..from + 3, Durability::Soon)
            .await
            .unwrap();
        expected.push(texts(from..from + 3));
    }
    let found = all(&mut log).await;
    // Nothing failed, so all of it is there.
    assert_eq!(found, expected.concat());
}

#[tokio::test]
async fn dropping_the_store_writes_what_waits() {
    let scratch = Scratch::new();
    for round in 0..20 {
        let journal = Sqlite::new(scratch.store());
        let (id, count) = (round.to_string(), round * 37);
        let mut log = journal.create(head(&id)).await.unwrap();
        append(&mut log, 0..count, Durability::Soon).await.unwrap();
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
        let (_, mut log) = journal.open(&id).await.unwrap().unwrap();
        assert_eq!(all(&mut log).await, texts(0..count));
    }
}

#[tokio::test]
async fn a_closed_store_is_safe_and_its_logs_are_of_no_use() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    let mut log = journal.create(head("a")).await.unwrap();
    append(&mut log, 0..500, Durability::Soon).await.unwrap();
    journal.close().await.unwrap();
    for refused in [
        append(&mut log, 500..501, Durability::Now).await,
        append(&mut log, 500..501, Durability::Soon).await,
        log.read(0, 10).await.map(drop),
        journal.open("a").await.map(drop),
    ] {
        assert!(matches!(refused, Err(Error::Closed)), "{refused:?}");
    }
    // While the old log is still held.
    let journal = Sqlite::new(scratch.store());
    let (_, mut again) = journal.open("a").await.unwrap().unwrap();
    assert_eq!(all(&mut again).await, texts(0..500));
    drop(log);
    append(&mut again, 500..501, Durability::Now).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_that_stream_together_keep_their_own_order() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    let mut streams = Vec::new();
    for session in 0..8 {
        let mut log = journal.create(head(&session.to_string())).await.unwrap();
        streams.push(tokio::spawn(async move {
            for round in 0..200 {
                let from = round * 20;
                let durability = match (round + session) % 50 {
                    0 => Durability::Now,
                    _ => Durability::Soon,
                };
                append(&mut log, from..from + 20, durability).await.unwrap();
                if round % 40 == 0 {
                    let page = log.read(from, 1_000_000).await.unwrap();
                    assert_eq!(page, texts(from..from + 20));
                }
            }
            assert!(all(&mut log).await == texts(0..4000));
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
    let mut log = journal.create(head("a")).await.unwrap();
    let record = vec![7; 60_000];
    for _ in 0..3000 {
        log.append(vec![record.clone()], Durability::Soon)
            .await
            .unwrap();
    }
    let mut wal = scratch.store().into_os_string();
    wal.push("-wal");
    let wal = std::fs::metadata(wal).unwrap().len();
    assert!(wal < 150 * 1024 * 1024, "{wal} bytes of 180 MB are in it");
}
