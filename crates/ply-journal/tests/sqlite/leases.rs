//! Who may write a session, between processes.

use std::time::Duration;

use ply_journal::{Durability, Error, ErrorKind, Filter, Journal, Loss, Sqlite};

use crate::child::Process;
use crate::scratch::Scratch;
use crate::{all, append, create, head, texts};

/// Records that each of the competing processes writes, one at a time.
pub(crate) const APPENDS: u64 = 100;
const PROCESSES: usize = 10;

// Also: E9.
#[tokio::test]
async fn a_live_owner_is_named_and_a_dead_one_is_taken_over() {
    let scratch = Scratch::new();
    let mut process = Process::start("holds", &scratch.store());
    assert_eq!(process.hear().as_deref(), Some("held"));
    let journal = Sqlite::new(scratch.store());
    let pid = process.child.id();
    for refused in [
        journal.open("a").await.map(drop),
        journal.delete("a").await.map(drop),
    ] {
        let Err(Error::InUse(owner)) = refused else {
            panic!("{refused:?}");
        };
        assert!(owner.contains(&format!("process {pid}")), "{owner}");
    }
    // Anybody may look.
    assert_eq!(
        journal.list(Filter::new(9)).await.unwrap().sessions.len(),
        1
    );
    let (_, look) = journal.look("a").await.unwrap().unwrap();
    assert_eq!(all(&*look).await, texts(0..10));
    process.kill();
    let log = journal.open("a").await.unwrap().unwrap().log;
    append(&*log, 10..12, Durability::Durable).await.unwrap();
    assert_eq!(all(&*look).await, texts(0..12));
    drop(log);
    // One that ends in order gives the session back.
    let mut process = Process::start("holds", &scratch.store());
    assert_eq!(process.hear().as_deref(), Some("held"));
    assert!(matches!(journal.open("a").await, Err(Error::InUse(_))));
    process.ends_well();
    journal.open("a").await.unwrap().unwrap();
}

#[tokio::test]
async fn two_stores_of_one_process_on_one_file_are_two_owners() {
    let scratch = Scratch::new();
    let (one, two) = (Sqlite::new(scratch.store()), Sqlite::new(scratch.store()));
    let log = create(&one, head("a")).await;
    append(&*log, 0..1, Durability::Durable).await.unwrap();
    let refused = two.open("a").await.unwrap_err();
    let words = "the session is in use by this process; close it there first";
    assert_eq!(refused.to_string(), words);
    assert!(matches!(two.delete("a").await, Err(Error::InUse(_))));
    drop(log);
    drop(one);
    let log = two.open("a").await.unwrap().unwrap().log;
    assert_eq!(all(&*log).await, texts(0..1));
}

/// Makes the first owner one that is far away and was heard of last `age_ms` ago.
fn send_away(scratch: &Scratch, age_ms: i64) {
    let file = rusqlite::Connection::open(scratch.store()).unwrap();
    let changed = file
        .execute(
            "UPDATE owners SET namespace = 'far', host = 'far', program = 'ply', pid = 42,
             beat_ms = (unixepoch() * 1000) - ? WHERE number = 1",
            [age_ms],
        )
        .unwrap();
    assert_eq!(changed, 1);
}

#[tokio::test]
async fn an_owner_that_was_taken_over_meanwhile_writes_nothing_more() {
    let scratch = Scratch::new();
    let (one, two) = (Sqlite::new(scratch.store()), Sqlite::new(scratch.store()));
    let old = create(&one, head("a")).await;
    append(&*old, 0..3, Durability::Durable).await.unwrap();
    // Seen from elsewhere, only its heart tells that it lives.
    send_away(&scratch, 10_000);
    let refused = two.open("a").await.unwrap_err().to_string();
    assert!(refused.contains("ply (process 42 on far)"), "{refused}");
    // It slept for an hour.
    send_away(&scratch, 3_600_000);
    let new = two.open("a").await.unwrap().unwrap().log;
    append(&*new, 3..5, Durability::Durable).await.unwrap();
    // It wakes up. What was accepted without a promise is gone, what follows is refused.
    append(&*old, 90..91, Durability::Accepted).await.unwrap();
    let lost = append(&*old, 91..92, Durability::Durable).await;
    assert!(matches!(lost, Err(Error::Lost(_))), "{lost:?}");
    for durability in [Durability::Accepted, Durability::Durable] {
        let lost = append(&*old, 92..93, durability).await;
        assert!(matches!(lost, Err(Error::Lost(_))), "{lost:?}");
    }
    // Giving back what one does not have takes it from nobody.
    drop(old);
    drop(one);
    append(&*new, 5..6, Durability::Durable).await.unwrap();
    assert_eq!(all(&*new).await, texts(0..6));
}

/// Waits for an owner to hear that it lost its session, which it does with its next heartbeat.
async fn heard(lost: Loss) -> Error {
    let patience = Duration::from_secs(30);
    tokio::time::timeout(patience, lost).await.unwrap()
}

#[tokio::test]
async fn an_owner_that_was_taken_for_dead_hears_of_it_without_writing() {
    let scratch = Scratch::new();
    let (one, two) = (Sqlite::new(scratch.store()), Sqlite::new(scratch.store()));
    let (old, other) = (create(&one, head("a")).await, create(&one, head("b")).await);
    append(&*old, 0..3, Durability::Durable).await.unwrap();
    let (lost, also_lost) = (old.lost(), other.lost());
    send_away(&scratch, 3_600_000);
    let new = two.open("a").await.unwrap().unwrap();
    assert_eq!((new.epoch, new.records), (2, 3));
    let error = heard(lost).await;
    assert!(
        matches!(&error, Error::Lost(owner) if owner == "this process"),
        "{error:?}"
    );
    assert_eq!(error.kind(), ErrorKind::Taken);
    // With its owner everything went that it had, although nobody has it yet.
    assert!(matches!(heard(also_lost).await, Error::Lost(_)));
    for log in [&old, &other] {
        let lost = append(&**log, 9..10, Durability::Accepted).await;
        assert!(matches!(lost, Err(Error::Lost(_))), "{lost:?}");
    }
    // What nobody has can be had again, also by the one who lost it.
    drop(other);
    let again = one.open("b").await.unwrap().unwrap();
    assert_eq!(again.epoch, 2);
    append(&*again.log, 0..1, Durability::Durable)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_owner_that_lost_one_session_keeps_the_others() {
    let scratch = Scratch::new();
    let (one, two) = (Sqlite::new(scratch.store()), Sqlite::new(scratch.store()));
    let (a, b, c) = (
        create(&one, head("a")).await,
        create(&one, head("b")).await,
        create(&one, head("c")).await,
    );
    let losses = (a.lost(), b.lost(), c.lost());
    // It is an owner already, so it takes what it is asked for and nothing else.
    let _own = create(&two, head("own")).await;
    send_away(&scratch, 3_600_000);
    let taken = two.open("a").await.unwrap().unwrap();
    assert_eq!(taken.epoch, 2);
    assert!(two.delete("b").await.unwrap());
    assert!(matches!(heard(losses.0).await, Error::Lost(_)));
    assert!(matches!(heard(losses.1).await, Error::Deleted));
    // The owner lives, as it has said meanwhile.
    append(&*c, 0..1, Durability::Durable).await.unwrap();
    assert!(matches!(two.open("c").await, Err(Error::InUse(_))));
    drop(c);
    assert!(matches!(heard(losses.2).await, Error::Closed));
}

#[tokio::test]
async fn f9_processes_that_write_to_one_file_wait_for_each_other() {
    let scratch = Scratch::new();
    let mut processes: Vec<Process> = (0..PROCESSES)
        .map(|_| Process::start("competes", &scratch.store()))
        .collect();
    for process in &mut processes {
        assert_eq!(process.hear().as_deref(), Some("ready"));
    }
    processes.iter_mut().for_each(Process::go_on);
    let ids: Vec<u32> = processes.iter().map(|process| process.child.id()).collect();
    processes.into_iter().for_each(Process::ends_well);
    let journal = Sqlite::new(scratch.store());
    for id in ids {
        let log = journal.open(&id.to_string()).await.unwrap().unwrap().log;
        assert_eq!(all(&*log).await, texts(0..APPENDS));
    }
}

#[tokio::test]
async fn a_lease_that_nobody_waits_for_any_more_is_given_back() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    drop(create(&journal, head("a")).await);
    for _ in 0..100 {
        let mut opening = journal.open("a");
        // Begun, and given up at once, if it was not done at once.
        let begun =
            std::future::poll_fn(|cx| std::task::Poll::Ready(opening.as_mut().poll(cx).is_ready()));
        begun.await;
        drop(opening);
    }
    journal.open("a").await.unwrap().unwrap();
}
