//! Bytes that change on the disk (F8).

use std::path::Path;

use ply_journal::{Durability, Error, Filter, Head, Journal, Records, Sqlite};

use crate::scratch::Scratch;
use crate::{create, head};

/// Sessions of the file that is damaged, and how many records each has.
const SESSIONS: [(&str, u64); 3] = [("few", 3), ("many", 2_000), ("large", 12)];

fn record(id: &str, number: u64) -> Vec<u8> {
    let long = if id == "large" { 30_000 } else { 20 };
    format!("{id} {number:0long$}").into_bytes()
}

/// Makes the file, and returns its bytes.
async fn make(scratch: &Scratch) -> Vec<u8> {
    let journal = Sqlite::new(scratch.store());
    let mut logs = Vec::new();
    for (id, _) in SESSIONS {
        logs.push(create(&journal, head(id)).await);
    }
    for (log, (id, count)) in logs.iter().zip(SESSIONS) {
        let records: Vec<Vec<u8>> = (0..count).map(|number| record(id, number)).collect();
        // Some in runs of many, some alone.
        let (together, alone) = records.split_at(records.len() - 2);
        log.append(together.to_vec(), Durability::Accepted, None)
            .await
            .unwrap();
        for record in alone {
            log.append(vec![record.clone()], Durability::Accepted, None)
                .await
                .unwrap();
            log.read(0, 0).await.unwrap();
        }
    }
    drop(logs);
    journal.close().await.unwrap();
    std::fs::read(scratch.store()).unwrap()
}

/// Reads what can be read, and returns how many records that is. None of them may be wrong.
async fn salvage(look: &dyn Records, id: &str, what: &str) -> u64 {
    let (mut from, mut found) = (0, 0);
    for _ in 0..5_000 {
        match look.read(from, 50_000).await {
            Ok(page) if page.is_empty() => return found,
            Ok(page) => {
                for read in page.records {
                    assert!(read == record(id, from), "{what}: {id} {from} is wrong");
                    from += 1;
                    found += 1;
                }
            }
            Err(Error::Damaged { from: at, next }) => {
                assert_eq!(at, from);
                assert!(next > from, "{what}: no way on");
                from = next;
            }
            Err(Error::Unreadable(_) | Error::Io(_)) => return found,
            Err(error) => panic!("{what}: {error:?}"),
        }
    }
    panic!("{what}: reading does not end");
}

/// Opens a damaged file and reads all that can be read.
async fn read_damaged(path: &Path, what: &str) -> u64 {
    let journal = Sqlite::new(path);
    let mut found = 0;
    match journal.list(Filter::new(10)).await {
        Ok(_) | Err(Error::Unreadable(_) | Error::Newer { .. } | Error::Io(_)) => {}
        Err(error) => panic!("{what}: {error:?}"),
    }
    for (id, _) in SESSIONS {
        match journal.look(id).await {
            Ok(Some((_, look))) => found += salvage(&*look, id, what).await,
            Ok(None) | Err(Error::Unreadable(_) | Error::Newer { .. } | Error::Io(_)) => {}
            Err(error) => panic!("{what}: {error:?}"),
        }
    }
    // Before the next damage is done. That it is damaged, it may say here too.
    drop(journal.close().await);
    found
}

fn total() -> u64 {
    SESSIONS.iter().map(|(_, count)| count).sum()
}

/// How many bytes are damaged, one after the other; a nightly run may ask for more.
fn places() -> usize {
    let asked = std::env::var("PLY_DAMAGED_BYTES").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(600)
}

#[tokio::test]
async fn f8_a_flipped_bit_never_makes_a_wrong_record_and_costs_few() {
    let scratch = Scratch::in_memory();
    let whole = make(&scratch).await;
    assert_eq!(read_damaged(&scratch.store(), "whole").await, total());
    let (mut rounds, mut lost) = (0, 0);
    // A step that has no factor in common with the size of a page, so that all places come up.
    for place in 0..places() {
        let at = place * (whole.len() / places()) + place % 97;
        let at = at.min(whole.len() - 1);
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (place % 8);
        std::fs::write(scratch.store(), &damaged).unwrap();
        let what = format!("bit {} of byte {at}", place % 8);
        let found = read_damaged(&scratch.store(), &what).await;
        // What one page of the file holds at most, unless it is the page everything hangs on.
        if total() - found > 1 {
            lost += 1;
        }
        rounds += 1;
    }
    assert!(lost * 20 < rounds, "{lost} of {rounds} cost more than one");
}

#[tokio::test]
async fn f8_a_destroyed_page_costs_what_was_on_it() {
    let scratch = Scratch::in_memory();
    let whole = make(&scratch).await;
    let mut found = Vec::new();
    for page in 0..whole.len() / 8192 {
        for fill in [0, 0xff, 0x5a] {
            let mut damaged = whole.clone();
            damaged[page * 8192..(page + 1) * 8192].fill(fill);
            std::fs::write(scratch.store(), &damaged).unwrap();
            let what = format!("page {page} of {fill}");
            found.push(read_damaged(&scratch.store(), &what).await);
            // What is broken is never written over.
            assert!(page != 0 || std::fs::read(scratch.store()).unwrap() == damaged);
        }
    }
    let read: u64 = found.iter().sum();
    let share = read as f64 / (found.len() as u64 * total()) as f64;
    assert!(share > 0.5, "{share} of the records were found");
}

#[tokio::test]
async fn f8_a_cut_file_is_read_as_far_as_it_goes() {
    let scratch = Scratch::in_memory();
    let whole = make(&scratch).await;
    for share in 0..20 {
        let size = whole.len() * share / 20 + share;
        std::fs::write(scratch.store(), &whole[..size]).unwrap();
        read_damaged(&scratch.store(), &format!("cut to {size}")).await;
    }
}

#[tokio::test]
async fn f8_a_damaged_session_can_be_written_on_and_others_do_not_notice() {
    let scratch = Scratch::in_memory();
    let whole = make(&scratch).await;
    // A record in the middle of a run.
    let text = record("many", 700);
    let at = whole
        .windows(text.len())
        .position(|window| window == text)
        .unwrap();
    let mut damaged = whole.clone();
    damaged[at + 3] ^= 4;
    std::fs::write(scratch.store(), &damaged).unwrap();
    let journal = Sqlite::new(scratch.store());
    let log = journal.open("many").await.unwrap().unwrap().log;
    let page = log.read(690, 1_000_000).await.unwrap();
    assert_eq!((page.from, page.next), (690, 700));
    let error = log.read(700, 1_000_000).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::Damaged {
                from: 700,
                next: 701
            }
        ),
        "{error:?}"
    );
    assert!(!log.read(701, 100).await.unwrap().is_empty());
    let more = vec![record("many", 2_000)];
    log.append(more.clone(), Durability::Durable, None)
        .await
        .unwrap();
    assert_eq!(log.read(2_000, 100).await.unwrap().records, more);
    assert_eq!(salvage(&*log, "many", "written on").await, 2_000);
    let few = journal.open("few").await.unwrap().unwrap().log;
    assert_eq!(salvage(&*few, "few", "others").await, 3);
}

#[tokio::test]
async fn f8_writing_to_a_damaged_file_never_breaks_off() {
    let scratch = Scratch::in_memory();
    let whole = make(&scratch).await;
    for page in 0..whole.len() / 8192 {
        let mut damaged = whole.clone();
        // The head of the page, where the tree is.
        damaged[page * 8192 + 100..page * 8192 + 110].fill(0xa5);
        damaged[page * 8192..page * 8192 + 12].reverse();
        if page == 0 {
            continue;
        }
        std::fs::write(scratch.store(), &damaged).unwrap();
        let journal = Sqlite::new(scratch.store());
        let mut logs = Vec::new();
        for id in ["few", "many", "large"] {
            if let Ok(Some(opened)) = journal.open(id).await {
                logs.push((id, opened.log));
            }
        }
        for (id, log) in &logs {
            let number = SESSIONS.iter().find(|(known, _)| known == id).unwrap().1;
            for durability in [Durability::Accepted, Durability::Durable] {
                let written = log.append(vec![record(id, number)], durability, None).await;
                assert!(
                    matches!(
                        written,
                        Ok(_) | Err(Error::Unreadable(_) | Error::Lost(_) | Error::Deleted)
                    ),
                    "{written:?}"
                );
            }
        }
        let fresh = journal.create(Head::new("fresh", "/work", 9), "key").await;
        assert!(
            matches!(fresh, Ok(_) | Err(Error::Unreadable(_))),
            "{fresh:?}"
        );
        drop((logs, fresh));
        drop(journal.close().await);
    }
}
