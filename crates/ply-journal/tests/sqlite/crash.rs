//! Processes that are killed.

use ply_journal::{Journal, Sqlite};

use crate::child::Process;
use crate::scratch::Scratch;
use crate::{all, texts};

/// How often a process is killed.
const KILLS: u64 = 25;

/// Reads what a dead process left, which must be numbers from 0 on, and returns how many.
async fn left(journal: &Sqlite) -> u64 {
    let log = journal.open("a").await.unwrap().unwrap().log;
    let found = all(&*log).await;
    let count = found.len() as u64;
    assert!(found == texts(0..count), "records are missing or double");
    count
}

// Also: E9, for a dead owner is taken over at once.
#[tokio::test]
async fn f1_what_was_acknowledged_survives_a_kill() {
    let scratch = Scratch::new();
    let mut before = 0;
    for round in 0..KILLS {
        let mut process = Process::start("writes", &scratch.store());
        let mut safe = before;
        for _ in 0..1 + round % 7 {
            safe = process.hear().unwrap().parse().unwrap();
        }
        process.kill();
        // What it said while it was being killed counts too.
        while let Some(said) = process.hear() {
            safe = said.parse().unwrap();
        }
        let journal = Sqlite::new(scratch.store());
        let count = left(&journal).await;
        assert!(count >= safe, "{count} of {safe} in round {round}");
        before = count;
        journal.close().await.unwrap();
    }
    let file = rusqlite::Connection::open(scratch.store()).unwrap();
    let check: String = file
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}

#[tokio::test]
async fn f1_what_was_written_survives_a_kill_with_its_description() {
    let scratch = Scratch::new();
    let (mut before, mut epoch) = (0, 0);
    for round in 0..KILLS {
        let mut process = Process::start("notes", &scratch.store());
        let mut written = before;
        for _ in 0..1 + round * 7 % 20 {
            written = process.hear().unwrap().parse().unwrap();
        }
        process.kill();
        // What it said while it was being killed counts too.
        while let Some(said) = process.hear() {
            written = said.parse().unwrap();
        }
        let journal = Sqlite::new(scratch.store());
        let opened = journal.open("a").await.unwrap().unwrap();
        let count = opened.records;
        assert!(count >= written, "{count} of {written} in round {round}");
        assert!(all(&*opened.log).await == texts(0..count));
        // One with the other, or neither.
        assert_eq!(opened.head.updated_ms.unsigned_abs(), count);
        let note = opened.head.host.unwrap();
        assert_eq!(note, format!("note {count}"));
        assert!(opened.epoch > epoch, "a dead owner counts too");
        (before, epoch) = (count, opened.epoch);
        journal.close().await.unwrap();
    }
    assert_eq!(epoch, 2 * KILLS);
}

#[tokio::test]
async fn f1_a_killed_stream_leaves_all_records_up_to_some_point() {
    let scratch = Scratch::new();
    let mut before = 0;
    for round in 0..KILLS {
        let mut process = Process::start("streams", &scratch.store());
        let mut written = before;
        for _ in 0..1 + round * 13 % 50 {
            written = process.hear().unwrap().parse().unwrap();
        }
        process.kill();
        let journal = Sqlite::new(scratch.store());
        let count = left(&journal).await;
        // At most 256 KiB behind, and here a record and its frame have ten bytes or more.
        assert!(count + 26_000 >= written, "{count} of {written}");
        assert!(count >= before);
        before = count;
        journal.close().await.unwrap();
    }
}
