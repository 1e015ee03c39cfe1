//! How records are appended, read back and waited for.

use std::time::Duration;

use ply_journal::{
    Answer, Batch, Description, Durability, Error, Filter, Journal, Log, Page, Records,
};

use crate::{DURABILITIES, all, create, head, ids, reopen, write};

/// What a test waits for at most.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn an_opened_session_says_how_many_records_it_has(journal: impl Journal) {
    let opened = journal.create(head("a"), "key").await.unwrap();
    assert_eq!(opened.records, 0);
    write(&*opened.log, &["one", "two"]).await;
    drop(opened);
    let opened = reopen(&journal, "a").await;
    assert_eq!(opened.records, 2);
    let accepted = vec![b"three".to_vec()];
    opened
        .log
        .append(accepted, Durability::Accepted, None)
        .await
        .unwrap();
    drop(opened);
    assert_eq!(reopen(&journal, "a").await.records, 3);
}

pub(crate) async fn a_description_rides_with_its_records(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    for (number, durability) in (1i64..).zip(DURABILITIES) {
        let change = Description::updated(number).title(Some(format!("title {number}")));
        let change = change.unfinished(number % 2 == 1);
        let record = vec![number.to_string().into_bytes()];
        log.append(record, durability, Some(change)).await.unwrap();
    }
    log.append(Vec::new(), Durability::Durable, None)
        .await
        .unwrap();
    let head = journal.list(Filter::new(1)).await.unwrap().sessions[0].clone();
    assert_eq!(
        (head.title.as_deref(), head.updated_ms),
        (Some("title 3"), 3)
    );
    assert!(head.unfinished);
    // Only what is described changes, also without records.
    let change = Description::default().unfinished(false);
    log.append(Vec::new(), Durability::Durable, Some(change))
        .await
        .unwrap();
    drop(log);
    let opened = reopen(&journal, "a").await;
    assert_eq!(opened.head.title.as_deref(), Some("title 3"));
    assert!(!opened.head.unfinished);
    assert_eq!(all(&*opened.log).await, ["1", "2", "3"]);
    // A session that is gone is not described either.
    journal.delete("a").await.unwrap();
    let record = vec![b"late".to_vec()];
    let late = opened
        .log
        .append(record, Durability::Written, Some(Description::updated(9)))
        .await;
    assert!(matches!(late, Err(Error::Deleted)), "{late:?}");
}

pub(crate) async fn unfinished_sessions_can_be_listed_alone(journal: impl Journal) {
    for number in 0..30 {
        let mut head = head(&format!("s{number:02}"));
        head.unfinished = number % 10 == 3;
        create(&journal, head).await;
    }
    let only = async |unfinished, cwd: &str| -> Page {
        let mut only = Filter::new(5);
        (only.unfinished, only.cwd) = (Some(unfinished), Some(cwd.into()));
        journal.list(only).await.unwrap()
    };
    assert_eq!(ids(&only(true, "/work").await), ["s03", "s13", "s23"]);
    assert!(only(true, "/elsewhere").await.sessions.is_empty());
    let finished = only(false, "/work").await;
    assert_eq!(ids(&finished), ["s00", "s01", "s02", "s04", "s05"]);
    // Page by page.
    let mut page = Filter::new(2);
    page.unfinished = Some(true);
    let first = journal.list(page.clone()).await.unwrap();
    assert_eq!(ids(&first), ["s03", "s13"]);
    page.cursor = first.next;
    let second = journal.list(page).await.unwrap();
    assert_eq!((ids(&second), &second.next), (vec!["s23"], &None));
    let log = reopen(&journal, "s13").await.log;
    let change = Description::default().unfinished(false);
    log.append(Vec::new(), Durability::Written, Some(change))
        .await
        .unwrap();
    assert_eq!(ids(&only(true, "/work").await), ["s03", "s23"]);
}

pub(crate) async fn archived_sessions_can_be_listed_alone_or_left_out(journal: impl Journal) {
    for number in 0..6 {
        let mut head = head(&format!("s{number}"));
        head.archived = number == 2;
        create(&journal, head).await;
    }
    let list = async |archived, limit| -> Page {
        let mut some = Filter::new(limit);
        some.archived = archived;
        journal.list(some).await.unwrap()
    };
    assert_eq!(ids(&list(Some(true), 9).await), ["s2"]);
    assert_eq!(list(None, 9).await.sessions.len(), 6);
    // It counts before pages are made.
    let others = list(Some(false), 3).await;
    assert_eq!(ids(&others), ["s0", "s1", "s3"]);
    let change = async |id, archived| {
        let log = reopen(&journal, id).await.log;
        let change = Description::default().archived(archived);
        log.append(Vec::new(), Durability::Durable, Some(change))
            .await
            .unwrap();
    };
    change("s2", false).await;
    change("s4", true).await;
    let archived = list(Some(true), 9).await;
    assert_eq!(ids(&archived), ["s4"]);
    // That is not something that happens in it.
    assert_eq!(archived.sessions[0].updated_ms, 1);
    // Other changes leave it.
    let log = reopen(&journal, "s4").await.log;
    let change = Description::updated(2).unfinished(true);
    log.append(Vec::new(), Durability::Durable, Some(change))
        .await
        .unwrap();
    assert_eq!(ids(&list(Some(true), 9).await), ["s4"]);
}

pub(crate) async fn a_host_finds_again_what_it_noted(journal: impl Journal) {
    let mut first = head("a");
    first.host = Some("{\"agent\":\"plum \u{1f351}\"}".to_owned());
    let log = create(&journal, first.clone()).await;
    let (seen, _) = journal.look("a").await.unwrap().unwrap();
    assert_eq!(seen, first);
    let change = Description::default().host(Some("downstream 7".to_owned()));
    log.append(Vec::new(), Durability::Written, Some(change))
        .await
        .unwrap();
    // Other changes leave it.
    let change = Description::updated(2);
    log.append(Vec::new(), Durability::Written, Some(change))
        .await
        .unwrap();
    drop(log);
    let opened = reopen(&journal, "a").await;
    assert_eq!(opened.head.host.as_deref(), Some("downstream 7"));
    let change = Description::default().host(None);
    opened
        .log
        .append(Vec::new(), Durability::Written, Some(change))
        .await
        .unwrap();
    let (seen, _) = journal.look("a").await.unwrap().unwrap();
    assert_eq!(seen.host, None);
}

/// Records of many sizes, some larger than what may wait together.
fn numbered(number: u64) -> Vec<Vec<u8>> {
    let size = [10, 100_000, 30, 300_000, 5][usize::try_from(number % 5).unwrap()];
    let mut record = number.to_string().into_bytes();
    record.resize(size, b' ');
    vec![record; 1 + usize::try_from(number % 2).unwrap()]
}

pub(crate) async fn appends_take_effect_in_the_order_of_the_calls(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    let appends: Vec<Answer<'static, Durability>> = (0..40)
        .map(|number| {
            let durability = DURABILITIES[usize::try_from(number % 7 % 3).unwrap()];
            log.append(numbered(number), durability, None)
        })
        .collect();
    // Whatever the order in which they are awaited; each says how far it has come.
    for (number, append) in appends.into_iter().enumerate().rev() {
        assert!(append.await.unwrap() >= DURABILITIES[number % 7 % 3]);
    }
    let found = log.read(0, usize::MAX).await.unwrap().records;
    let expected: Vec<Vec<u8>> = (0..40).flat_map(numbered).collect();
    assert!(found == expected, "{} records", found.len());
}

pub(crate) async fn an_append_that_nobody_awaits_takes_effect_too(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    for number in 0..9 {
        drop(log.append(numbered(number), DURABILITIES[0], None));
    }
    log.append(numbered(9), Durability::Written, None)
        .await
        .unwrap();
    let found = log.read(0, usize::MAX).await.unwrap().records;
    assert!(found == (0..10).flat_map(numbered).collect::<Vec<_>>());
    // Nor does giving the session back take it away.
    drop(log.append(numbered(10), DURABILITIES[0], None));
    drop(log.append(numbered(11), DURABILITIES[0], None));
    drop(log);
    let log = reopen(&journal, "a").await.log;
    let found = log.read(0, usize::MAX).await.unwrap().records;
    assert!(found == (0..12).flat_map(numbered).collect::<Vec<_>>());
}

pub(crate) async fn batches_carry_the_numbers_of_their_records(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    let empty = log.read(0, 100).await.unwrap();
    assert_eq!(empty, Batch::new(0, Vec::new()));
    assert_eq!((empty.from, empty.next, empty.is_empty()), (0, 0, true));
    write(&*log, &["0", "1", "2", "3", "4"]).await;
    let (_, look) = journal.look("a").await.unwrap().unwrap();
    for records in [&*log as &dyn Records, &*look] {
        let (mut from, mut read) = (1, Vec::new());
        loop {
            let batch = records.read(from, 2).await.unwrap();
            assert_eq!(batch.from, from);
            assert_eq!(batch.next, from + batch.records.len() as u64);
            if batch.is_empty() {
                break;
            }
            from = batch.next;
            read.extend(batch.records);
        }
        assert_eq!((from, read.concat()), (5, b"1234".to_vec()));
        let beyond = records.read(7, 100).await.unwrap();
        assert_eq!((beyond.from, beyond.next), (7, 7));
    }
}

pub(crate) async fn reading_and_appending_go_on_side_by_side(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    write(&*log, &["zero"]).await;
    // Neither borrows the log, so both can be under way, and outlive it.
    let append = log.append(vec![b"one".to_vec()], Durability::Durable, None);
    let (one, two) = (log.read(0, 1), log.read(0, 1));
    assert_eq!(two.await.unwrap().records, [b"zero"]);
    append.await.unwrap();
    assert_eq!(one.await.unwrap().records, [b"zero"]);
    assert_eq!(log.read(1, 1).await.unwrap().records, [b"one"]);
}

async fn patiently<T>(future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, future).await;
    waited.expect("it takes too long")
}

/// Returns whether waiting is not over yet, after it had time to be.
async fn waits(waiting: &mut Answer<'static, ()>, log: &dyn Log) -> bool {
    // Another one that is over went the same way, later.
    log.wait(0).await.unwrap();
    let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(waiting.as_mut().poll(cx)));
    polled.await.is_pending()
}

pub(crate) async fn waiting_ends_when_the_record_is_there(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    let (_, look) = journal.look("a").await.unwrap().unwrap();
    let first = look.wait(0);
    write(&*log, &["zero"]).await;
    patiently(first).await.unwrap();
    for (from, durability) in (1..).zip(DURABILITIES) {
        // What is there is not waited for.
        patiently(look.wait(from - 1)).await.unwrap();
        let (mut as_owner, mut as_other) = (log.wait(from), look.wait(from));
        assert!(waits(&mut as_owner, &*log).await && waits(&mut as_other, &*log).await);
        log.append(vec![b"more".to_vec()], durability, None)
            .await
            .unwrap();
        patiently(as_owner).await.unwrap();
        patiently(as_other).await.unwrap();
        assert_eq!(look.read(from, 100).await.unwrap().records, [b"more"]);
    }
    let mut far = look.wait(100);
    assert!(waits(&mut far, &*log).await);
    // Another owner is as good.
    drop(log);
    let log = reopen(&journal, "a").await.log;
    write(&*log, &["x"; 97]).await;
    patiently(far).await.unwrap();
    assert_eq!(look.read(100, 100).await.unwrap().records, [b"x"]);
}

pub(crate) async fn waiting_ends_when_the_session_is_deleted(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    let (_, look) = journal.look("a").await.unwrap().unwrap();
    let waiting = (log.wait(0), look.wait(0));
    journal.delete("a").await.unwrap();
    for waiting in [waiting.0, waiting.1, log.wait(0), look.wait(0)] {
        let over = patiently(waiting).await;
        assert!(matches!(over, Err(Error::Deleted)), "{over:?}");
    }
    // Also if there is another with its id.
    let other = create(&journal, head("a")).await;
    write(&*other, &["zero"]).await;
    let over = patiently(look.wait(0)).await;
    assert!(matches!(over, Err(Error::Deleted)), "{over:?}");
}

pub(crate) async fn waiting_ends_when_the_journal_is_closed(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    let (_, look) = journal.look("a").await.unwrap().unwrap();
    let waiting = (log.wait(0), look.wait(0));
    journal.close().await.unwrap();
    for waiting in [waiting.0, waiting.1, log.wait(0)] {
        let over = patiently(waiting).await;
        assert!(matches!(over, Err(Error::Closed)), "{over:?}");
    }
}
