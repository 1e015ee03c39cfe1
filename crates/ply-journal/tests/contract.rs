//! What every journal promises, checked against each one there is.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use ply_journal::{
    Description, Durability, Error, Filter, Head, Journal, Log, Memory, Opened, Page, Records,
};

#[path = "contract/appends.rs"]
mod appends;
#[path = "contract/owners.rs"]
mod owners;
#[cfg(feature = "sqlite")]
mod scratch;

use appends::*;
use owners::*;

/// Makes a test of each promise for one journal. `$fresh` makes an empty one, and what it needs to
/// outlive it.
macro_rules! contract {
    ($journal:ident, $fresh:expr, [$($promise:ident),* $(,)?]) => {
        mod $journal {
            use super::*;

            $(
                #[tokio::test]
                async fn $promise() {
                    let (_needed, journal) = $fresh;
                    super::$promise(journal).await;
                }
            )*
        }
    };
    ($journal:ident, $fresh:expr) => {
        contract!(
            $journal,
            $fresh,
            [
                a_session_is_made_once,
                an_unknown_session_is_not_there,
                a_session_has_one_writer_at_a_time,
                a_session_can_be_looked_at_while_it_is_written,
                records_are_read_as_they_were_written,
                reading_goes_by_pages_of_about_the_size_asked_for,
                a_record_may_have_16_mib,
                large_records_keep_their_place_among_small_ones,
                records_outlive_their_writer,
                what_is_known_of_a_session_changes_as_described,
                a_listing_shows_the_latest_first,
                a_listing_of_a_directory_shows_that_one_only,
                g5_a_directory_may_have_any_name,
                pages_repeat_and_miss_nothing,
                pages_go_on_while_sessions_change,
                a_cursor_that_was_not_given_out_is_refused,
                a_deleted_session_is_gone,
                a_writer_of_a_deleted_session_touches_no_other,
                writers_of_different_sessions_do_not_mix,
                a_closed_journal_has_accepted_what_it_has,
                a_session_is_created_once_for_each_key,
                a_creation_that_is_given_up_can_be_tried_again,
                epochs_grow_with_each_owner_and_never_repeat,
                an_owner_hears_that_its_session_was_deleted,
                an_owner_hears_that_the_journal_was_closed,
                an_owner_that_gave_its_session_back_hears_that_too,
                errors_say_what_can_be_done_about_them,
                an_opened_session_says_how_many_records_it_has,
                a_description_rides_with_its_records,
                unfinished_sessions_can_be_listed_alone,
                archived_sessions_can_be_listed_alone_or_left_out,
                a_host_finds_again_what_it_noted,
                appends_take_effect_in_the_order_of_the_calls,
                an_append_that_nobody_awaits_takes_effect_too,
                batches_carry_the_numbers_of_their_records,
                reading_and_appending_go_on_side_by_side,
                waiting_ends_when_the_record_is_there,
                waiting_ends_when_the_session_is_deleted,
                waiting_ends_when_the_journal_is_closed,
            ]
        );
    };
}

contract!(memory, ((), Memory::new()));

#[cfg(feature = "sqlite")]
contract!(sqlite, {
    let scratch = scratch::Scratch::new();
    let journal = ply_journal::Sqlite::new(scratch.store());
    (scratch, journal)
});

fn head(id: &str) -> Head {
    Head::new(id, "/work", 1)
}

const DURABILITIES: [Durability; 3] = [
    Durability::Accepted,
    Durability::Written,
    Durability::Durable,
];

/// Creates a session, with a key of its own.
async fn create(journal: &impl Journal, head: Head) -> Box<dyn Log> {
    let key = format!("key of {}", head.id);
    journal.create(head, &key).await.unwrap().log
}

async fn describe(log: &dyn Log, change: Description) -> Result<(), Error> {
    log.append(Vec::new(), Durability::Durable, Some(change))
        .await
        .map(drop)
}

async fn write(log: &dyn Log, records: &[&str]) {
    let records = records.iter().map(|record| record.as_bytes().to_vec());
    log.append(records.collect(), Durability::Durable, None)
        .await
        .unwrap();
}

async fn all<R: Records + ?Sized>(log: &R) -> Vec<String> {
    let (mut found, mut from) = (Vec::new(), 0);
    loop {
        let page = log.read(from, 10).await.unwrap();
        if page.is_empty() {
            return found;
        }
        from = page.next;
        found.extend(
            page.records
                .into_iter()
                .map(|record| String::from_utf8(record).unwrap()),
        );
    }
}

async fn reopen(journal: &impl Journal, id: &str) -> Opened {
    journal.open(id).await.unwrap().unwrap()
}

fn filter(limit: usize, cursor: Option<&str>) -> Filter {
    let mut filter = Filter::new(limit);
    filter.cursor = cursor.map(str::to_owned);
    filter
}

fn ids(page: &Page) -> Vec<&str> {
    page.sessions.iter().map(|head| head.id.as_str()).collect()
}

async fn a_session_is_made_once(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    write(&*log, &["first"]).await;
    let again = journal.create(head("a"), "another").await;
    assert!(matches!(again, Err(Error::Exists)), "{again:?}");
    drop(log);
    assert!(matches!(
        journal.create(head("a"), "another").await,
        Err(Error::Exists)
    ));
    let log = reopen(&journal, "a").await.log;
    assert_eq!(all(&*log).await, ["first"]);
}

async fn an_unknown_session_is_not_there(journal: impl Journal) {
    for id in ["", "a", "../a", "a\0b", "'; drop table"] {
        assert!(journal.open(id).await.unwrap().is_none());
        assert!(journal.look(id).await.unwrap().is_none());
        assert!(!journal.delete(id).await.unwrap());
    }
    assert_eq!(
        journal.list(Filter::new(10)).await.unwrap(),
        Page::default()
    );
}

async fn a_session_has_one_writer_at_a_time(journal: impl Journal) {
    let first = create(&journal, head("a")).await;
    assert!(matches!(journal.open("a").await, Err(Error::InUse(_))));
    drop(first);
    let second = reopen(&journal, "a").await.log;
    assert!(matches!(journal.open("a").await, Err(Error::InUse(_))));
    // Listing is nobody's writing.
    assert_eq!(ids(&journal.list(Filter::new(10)).await.unwrap()), ["a"]);
    drop(second);
    reopen(&journal, "a").await;
}

async fn a_session_can_be_looked_at_while_it_is_written(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    let (seen, look) = journal.look("a").await.unwrap().unwrap();
    assert_eq!(seen, head("a"));
    assert!(all(&*look).await.is_empty());
    write(&*log, &["one", "two"]).await;
    assert_eq!(all(&*look).await, ["one", "two"]);
    // Also what is not safe yet.
    let soon = vec![b"three".to_vec()];
    log.append(soon, Durability::Accepted, None).await.unwrap();
    assert_eq!(all(&*look).await, ["one", "two", "three"]);
    // Looking holds nothing, and outlives the writer.
    drop(log);
    assert_eq!(all(&*look).await.len(), 3);
    let log = reopen(&journal, "a").await.log;
    write(&*log, &["four"]).await;
    assert_eq!(look.read(3, 1000).await.unwrap().records, [b"four"]);
    drop(log);
    journal.delete("a").await.unwrap();
    assert!(matches!(look.read(0, 10).await, Err(Error::Deleted)));
    let _another = create(&journal, head("a")).await;
    assert!(matches!(look.read(0, 10).await, Err(Error::Deleted)));
}

async fn records_are_read_as_they_were_written(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    assert!(log.read(0, 100).await.unwrap().is_empty());
    log.append(Vec::new(), Durability::Durable, None)
        .await
        .unwrap();
    let odd: Vec<Vec<u8>> = vec![Vec::new(), vec![0, 255, b'\n'], b"{}".to_vec(), Vec::new()];
    for durability in DURABILITIES {
        log.append(odd.clone(), durability, None).await.unwrap();
    }
    let all = vec![odd; DURABILITIES.len()].concat();
    assert_eq!(log.read(0, 1000).await.unwrap().records, all);
    assert_eq!(log.read(3, 1000).await.unwrap().records, all[3..]);
    for beyond in [12, 13, u64::MAX] {
        assert!(log.read(beyond, 1000).await.unwrap().is_empty());
    }
}

async fn reading_goes_by_pages_of_about_the_size_asked_for(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    let small = vec!["0123456789"; 100];
    write(&*log, &small).await;
    let page = log.read(0, 100).await.unwrap().records;
    assert!(
        (1..=20).contains(&page.len()),
        "{} records of 10 bytes in 100",
        page.len()
    );
    // At least one, however large it is.
    let large = "x".repeat(10_000);
    write(&*log, &[&large, "after"]).await;
    assert_eq!(log.read(100, 1).await.unwrap().records, [large.as_bytes()]);
    assert_eq!(log.read(100, 0).await.unwrap().records.len(), 1);
    let mut expected = small;
    expected.extend([large.as_str(), "after"]);
    assert_eq!(all(&*log).await, expected);
}

async fn a_record_may_have_16_mib(journal: impl Journal) {
    let large: Vec<u8> = (0..16 * 1024 * 1024)
        .map(|at: u32| (at % 251) as u8)
        .collect();
    let log = create(&journal, head("a")).await;
    for durability in DURABILITIES {
        let records = vec![b"before".to_vec(), large.clone(), b"after".to_vec()];
        log.append(records, durability, None).await.unwrap();
    }
    let page = log.read(1, 1024).await.unwrap().records;
    assert_eq!(page.len(), 1);
    assert!(page[0] == large);
    assert_eq!(
        log.read(2, 12).await.unwrap().records,
        [&b"after"[..], b"before"]
    );
    assert!(log.read(4, usize::MAX).await.unwrap().records[0] == large);
}

async fn large_records_keep_their_place_among_small_ones(journal: impl Journal) {
    // Stores keep records from some size on apart: 64 KiB in memory.
    const LARGE: usize = 64 * 1024;
    let sizes = [
        0,
        LARGE,
        3,
        LARGE - 1,
        LARGE + 1,
        1024 * 1024,
        0,
        LARGE,
        LARGE,
        1,
    ];
    let numbered = sizes.iter().zip(b'a'..);
    let records: Vec<Vec<u8>> = numbered.map(|(size, of)| vec![of; *size]).collect();
    let log = create(&journal, head("a")).await;
    // One by one and all in a row.
    for record in &records {
        let record = vec![record.clone()];
        log.append(record, Durability::Written, None).await.unwrap();
    }
    log.append(records.clone(), Durability::Durable, None)
        .await
        .unwrap();
    let all = [&records[..], &records[..]].concat();
    let (_, look) = journal.look("a").await.unwrap().unwrap();
    let readers: [&dyn Records; 2] = [&*log, &*look];
    for reader in readers {
        for bytes_max in [0, LARGE, 3 * LARGE, usize::MAX] {
            for first in 0..=all.len() {
                let from = first as u64;
                let batch = reader.read(from, bytes_max).await.unwrap();
                let read = batch.records.len();
                assert_eq!((batch.from, batch.next), (from, from + read as u64));
                assert!(
                    batch.records == all[first..first + read],
                    "{first} {bytes_max}"
                );
                assert_eq!(read == 0, first == all.len(), "{first} {bytes_max}");
                let bytes: usize = batch.records.iter().map(Vec::len).sum();
                assert!(read == 1 || bytes <= bytes_max, "{first} {bytes_max}");
            }
        }
    }
    drop((look, log));
    assert_eq!(reopen(&journal, "a").await.records, all.len() as u64);
}

async fn records_outlive_their_writer(journal: impl Journal) {
    let mut expected = Vec::new();
    let mut log = create(&journal, head("a")).await;
    for life in 0..5 {
        let records = [format!("{life} one"), format!("{life} two")];
        write(&*log, &[&records[0], &records[1]]).await;
        expected.extend(records);
        drop(log);
        log = reopen(&journal, "a").await.log;
        assert_eq!(all(&*log).await, expected);
    }
}

async fn what_is_known_of_a_session_changes_as_described(journal: impl Journal) {
    let log = create(&journal, Head::new("a", "/w\u{e9}rk", 5)).await;
    let known = async || journal.list(Filter::new(1)).await.unwrap().sessions[0].clone();
    let first = known().await;
    assert_eq!(first.cwd, PathBuf::from("/w\u{e9}rk"));
    assert_eq!(
        (first.title, first.created_ms, first.updated_ms),
        (None, 5, 5)
    );
    describe(&*log, Description::updated(7).title(Some("Plums".into())))
        .await
        .unwrap();
    describe(&*log, Description::updated(9)).await.unwrap();
    let now = known().await;
    assert_eq!(
        (now.title.as_deref(), now.created_ms, now.updated_ms),
        (Some("Plums"), 5, 9)
    );
    describe(&*log, Description::default()).await.unwrap();
    assert_eq!(known().await.updated_ms, 9);
    describe(&*log, Description::default().title(None))
        .await
        .unwrap();
    drop(log);
    let head = reopen(&journal, "a").await.head;
    assert_eq!((head.title, head.updated_ms), (None, 9));
}

async fn a_listing_shows_the_latest_first(journal: impl Journal) {
    for (id, at) in [("old", 1), ("new", 30), ("mid", 20)] {
        create(&journal, Head::new(id, "/work", at)).await;
    }
    let page = journal.list(Filter::new(10)).await.unwrap();
    assert_eq!(ids(&page), ["new", "mid", "old"]);
    assert_eq!(page.next, None);
    let log = reopen(&journal, "old").await.log;
    describe(&*log, Description::updated(40)).await.unwrap();
    assert_eq!(
        ids(&journal.list(Filter::new(10)).await.unwrap()),
        ["old", "new", "mid"]
    );
    assert_eq!(
        ids(&journal.list(Filter::new(2)).await.unwrap()),
        ["old", "new"]
    );
}

async fn a_listing_of_a_directory_shows_that_one_only(journal: impl Journal) {
    for (id, cwd) in [
        ("a", "/work/a"),
        ("b", "/work/a/b"),
        ("c", "/work/ab"),
        ("d", "/WORK/A"),
    ] {
        create(&journal, Head::new(id, cwd, 1)).await;
    }
    let mut only = Filter::new(10);
    only.cwd = Some("/work/a".into());
    assert_eq!(ids(&journal.list(only.clone()).await.unwrap()), ["a"]);
    // The same directory in other words.
    only.cwd = Some("/work/./a/".into());
    assert_eq!(ids(&journal.list(only.clone()).await.unwrap()), ["a"]);
    only.cwd = Some("/work/%".into());
    assert_eq!(journal.list(only).await.unwrap(), Page::default());
}

async fn g5_a_directory_may_have_any_name(journal: impl Journal) {
    let odd = [
        &b"/w\xff\xfe/\n"[..],
        b"/w\xff",
        "/w\u{e9}".as_bytes(),
        b"/w'\"%",
    ];
    for (number, name) in odd.iter().enumerate() {
        let head = Head::new(number.to_string(), OsStr::from_bytes(name), 1);
        create(&journal, head).await;
    }
    for (number, name) in odd.iter().enumerate() {
        let mut only = Filter::new(10);
        only.cwd = Some(PathBuf::from(OsStr::from_bytes(name)));
        let page = journal.list(only).await.unwrap();
        assert_eq!(ids(&page), [number.to_string()]);
        assert_eq!(page.sessions[0].cwd.as_os_str().as_bytes(), *name);
        let head = reopen(&journal, &number.to_string()).await.head;
        assert_eq!(head.cwd.as_os_str().as_bytes(), *name);
    }
}

async fn pages_repeat_and_miss_nothing(journal: impl Journal) {
    let mut expected = BTreeSet::new();
    for number in 0..25 {
        // Many of the same time, and ids with all that a cursor may trip over.
        let id = format!("s.{number}'%");
        create(&journal, Head::new(&*id, "/work", number / 10)).await;
        expected.insert(id);
    }
    for limit in [1, 4, 24, 25, 26] {
        let (mut found, mut cursor) = (BTreeSet::new(), None);
        loop {
            let page = journal
                .list(filter(limit, cursor.as_deref()))
                .await
                .unwrap();
            assert!(page.sessions.len() <= limit);
            for head in page.sessions {
                assert!(found.insert(head.id), "a session came twice");
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, expected, "pages of {limit}");
    }
}

async fn pages_go_on_while_sessions_change(journal: impl Journal) {
    for number in 0..10 {
        let id = format!("s{number}");
        create(&journal, Head::new(id, "/work", 100 - number)).await;
    }
    let first = journal.list(Filter::new(3)).await.unwrap();
    assert_eq!(ids(&first), ["s0", "s1", "s2"]);
    // The one the cursor stands at goes, one becomes the latest, one is new.
    journal.delete("s2").await.unwrap();
    let log = reopen(&journal, "s5").await.log;
    describe(&*log, Description::updated(500)).await.unwrap();
    create(&journal, Head::new("s10", "/work", 600)).await;
    let rest = journal
        .list(filter(20, first.next.as_deref()))
        .await
        .unwrap();
    assert_eq!(ids(&rest), ["s3", "s4", "s6", "s7", "s8", "s9"]);
}

async fn a_cursor_that_was_not_given_out_is_refused(journal: impl Journal) {
    create(&journal, head("a")).await;
    for cursor in ["", "x", ".", "x.y", "1e3.a", "99999999999999999999.a"] {
        let page = journal.list(filter(10, Some(cursor))).await;
        assert!(matches!(page, Err(Error::BadCursor)), "{cursor}: {page:?}");
    }
}

async fn a_deleted_session_is_gone(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    write(&*log, &["secret"]).await;
    drop(log);
    assert!(journal.delete("a").await.unwrap());
    assert!(!journal.delete("a").await.unwrap());
    assert!(journal.open("a").await.unwrap().is_none());
    assert_eq!(
        journal.list(Filter::new(10)).await.unwrap(),
        Page::default()
    );
    // The id is free, and nothing of the past comes with it.
    let log = create(&journal, head("a")).await;
    assert!(all(&*log).await.is_empty());
}

async fn a_writer_of_a_deleted_session_touches_no_other(journal: impl Journal) {
    let stale = create(&journal, head("a")).await;
    assert!(journal.delete("a").await.unwrap());
    let late = vec![b"late".to_vec()];
    assert!(matches!(
        stale.append(late.clone(), Durability::Durable, None).await,
        Err(Error::Deleted)
    ));
    assert!(matches!(stale.read(0, 10).await, Err(Error::Deleted)));
    assert!(matches!(
        describe(&*stale, Description::updated(9)).await,
        Err(Error::Deleted)
    ));
    // Not even if another one takes the id.
    let fresh = create(&journal, head("a")).await;
    assert!(matches!(
        stale.append(late, Durability::Durable, None).await,
        Err(Error::Deleted)
    ));
    drop(stale);
    assert!(matches!(journal.open("a").await, Err(Error::InUse(_))));
    assert!(all(&*fresh).await.is_empty());
}

async fn writers_of_different_sessions_do_not_mix(journal: impl Journal) {
    let mut logs = Vec::new();
    for id in ["a", "b", "ab"] {
        logs.push((id, create(&journal, head(id)).await));
    }
    for round in 0..10 {
        for (id, log) in &logs {
            write(&**log, &[&format!("{id}{round}")]).await;
        }
    }
    for (id, log) in &logs {
        let expected: Vec<String> = (0..10).map(|round| format!("{id}{round}")).collect();
        assert_eq!(all(&**log).await, expected);
    }
}

async fn a_closed_journal_has_accepted_what_it_has(journal: impl Journal) {
    let log = create(&journal, head("a")).await;
    log.append(vec![b"soon".to_vec()], Durability::Accepted, None)
        .await
        .unwrap();
    journal.close().await.unwrap();
    // A second time changes nothing.
    journal.close().await.unwrap();
}
