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
    Description, Durability, Error, Filter, Head, Journal, Log, Memory, Page, Records,
};

#[cfg(feature = "sqlite")]
mod scratch;

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

async fn write(log: &mut Box<dyn Log>, records: &[&str]) {
    let records = records.iter().map(|record| record.as_bytes().to_vec());
    log.append(records.collect(), Durability::Now)
        .await
        .unwrap();
}

async fn all<R: Records + ?Sized>(log: &mut Box<R>) -> Vec<String> {
    let (mut found, mut from) = (Vec::new(), 0);
    loop {
        let page = log.read(from, 10).await.unwrap();
        if page.is_empty() {
            return found;
        }
        from += page.len() as u64;
        found.extend(
            page.into_iter()
                .map(|record| String::from_utf8(record).unwrap()),
        );
    }
}

async fn reopen(journal: &impl Journal, id: &str) -> (Head, Box<dyn Log>) {
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
    let mut log = journal.create(head("a")).await.unwrap();
    write(&mut log, &["first"]).await;
    let again = journal.create(head("a")).await;
    assert!(matches!(again, Err(Error::Exists)), "{again:?}");
    drop(log);
    assert!(matches!(
        journal.create(head("a")).await,
        Err(Error::Exists)
    ));
    let (_, mut log) = reopen(&journal, "a").await;
    assert_eq!(all(&mut log).await, ["first"]);
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
    let first = journal.create(head("a")).await.unwrap();
    assert!(matches!(journal.open("a").await, Err(Error::InUse(_))));
    drop(first);
    let (_, second) = reopen(&journal, "a").await;
    assert!(matches!(journal.open("a").await, Err(Error::InUse(_))));
    // Listing is nobody's writing.
    assert_eq!(ids(&journal.list(Filter::new(10)).await.unwrap()), ["a"]);
    drop(second);
    reopen(&journal, "a").await;
}

async fn a_session_can_be_looked_at_while_it_is_written(journal: impl Journal) {
    let mut log = journal.create(head("a")).await.unwrap();
    let (seen, mut look) = journal.look("a").await.unwrap().unwrap();
    assert_eq!(seen, head("a"));
    assert!(all(&mut look).await.is_empty());
    write(&mut log, &["one", "two"]).await;
    assert_eq!(all(&mut look).await, ["one", "two"]);
    // Also what is not safe yet.
    let soon = vec![b"three".to_vec()];
    log.append(soon, Durability::Soon).await.unwrap();
    assert_eq!(all(&mut look).await, ["one", "two", "three"]);
    // Looking holds nothing, and outlives the writer.
    drop(log);
    assert_eq!(all(&mut look).await.len(), 3);
    let (_, mut log) = reopen(&journal, "a").await;
    write(&mut log, &["four"]).await;
    assert_eq!(look.read(3, 1000).await.unwrap(), [b"four"]);
    drop(log);
    journal.delete("a").await.unwrap();
    assert!(matches!(look.read(0, 10).await, Err(Error::Deleted)));
    let _another = journal.create(head("a")).await.unwrap();
    assert!(matches!(look.read(0, 10).await, Err(Error::Deleted)));
}

async fn records_are_read_as_they_were_written(journal: impl Journal) {
    let mut log = journal.create(head("a")).await.unwrap();
    assert!(log.read(0, 100).await.unwrap().is_empty());
    log.append(Vec::new(), Durability::Now).await.unwrap();
    let odd: Vec<Vec<u8>> = vec![Vec::new(), vec![0, 255, b'\n'], b"{}".to_vec(), Vec::new()];
    for durability in [Durability::Soon, Durability::Now] {
        log.append(odd.clone(), durability).await.unwrap();
    }
    let twice = [odd.clone(), odd].concat();
    assert_eq!(log.read(0, 1000).await.unwrap(), twice);
    assert_eq!(log.read(3, 1000).await.unwrap(), twice[3..]);
    for beyond in [8, 9, u64::MAX] {
        assert!(log.read(beyond, 1000).await.unwrap().is_empty());
    }
}

async fn reading_goes_by_pages_of_about_the_size_asked_for(journal: impl Journal) {
    let mut log = journal.create(head("a")).await.unwrap();
    let small = vec!["0123456789"; 100];
    write(&mut log, &small).await;
    let page = log.read(0, 100).await.unwrap();
    assert!(
        (1..=20).contains(&page.len()),
        "{} records of 10 bytes in 100",
        page.len()
    );
    // At least one, however large it is.
    let large = "x".repeat(10_000);
    write(&mut log, &[&large, "after"]).await;
    assert_eq!(log.read(100, 1).await.unwrap(), [large.as_bytes()]);
    assert_eq!(log.read(100, 0).await.unwrap().len(), 1);
    let mut expected = small;
    expected.extend([large.as_str(), "after"]);
    assert_eq!(all(&mut log).await, expected);
}

async fn a_record_may_have_16_mib(journal: impl Journal) {
    let large: Vec<u8> = (0..16 * 1024 * 1024)
        .map(|at: u32| (at % 251) as u8)
        .collect();
    let mut log = journal.create(head("a")).await.unwrap();
    for durability in [Durability::Soon, Durability::Now] {
        let records = vec![b"before".to_vec(), large.clone(), b"after".to_vec()];
        log.append(records, durability).await.unwrap();
    }
    let page = log.read(1, 1024).await.unwrap();
    assert_eq!(page.len(), 1);
    assert!(page[0] == large);
    assert_eq!(log.read(2, 12).await.unwrap(), [&b"after"[..], b"before"]);
    assert!(log.read(4, usize::MAX).await.unwrap()[0] == large);
}

async fn records_outlive_their_writer(journal: impl Journal) {
    let mut expected = Vec::new();
    let mut log = journal.create(head("a")).await.unwrap();
    for life in 0..5 {
        let records = [format!("{life} one"), format!("{life} two")];
        write(&mut log, &[&records[0], &records[1]]).await;
        expected.extend(records);
        drop(log);
        log = reopen(&journal, "a").await.1;
        assert_eq!(all(&mut log).await, expected);
    }
}

async fn what_is_known_of_a_session_changes_as_described(journal: impl Journal) {
    let mut log = journal
        .create(Head::new("a", "/w\u{e9}rk", 5))
        .await
        .unwrap();
    let known = async || journal.list(Filter::new(1)).await.unwrap().sessions[0].clone();
    let first = known().await;
    assert_eq!(first.cwd, PathBuf::from("/w\u{e9}rk"));
    assert_eq!(
        (first.title, first.created_ms, first.updated_ms),
        (None, 5, 5)
    );
    log.describe(Description::updated(7).title(Some("Plums".into())))
        .await
        .unwrap();
    log.describe(Description::updated(9)).await.unwrap();
    let now = known().await;
    assert_eq!(
        (now.title.as_deref(), now.created_ms, now.updated_ms),
        (Some("Plums"), 5, 9)
    );
    log.describe(Description::default()).await.unwrap();
    assert_eq!(known().await.updated_ms, 9);
    log.describe(Description::default().title(None))
        .await
        .unwrap();
    drop(log);
    let (head, _) = reopen(&journal, "a").await;
    assert_eq!((head.title, head.updated_ms), (None, 9));
}

async fn a_listing_shows_the_latest_first(journal: impl Journal) {
    for (id, at) in [("old", 1), ("new", 30), ("mid", 20)] {
        journal.create(Head::new(id, "/work", at)).await.unwrap();
    }
    let page = journal.list(Filter::new(10)).await.unwrap();
    assert_eq!(ids(&page), ["new", "mid", "old"]);
    assert_eq!(page.next, None);
    let (_, mut log) = reopen(&journal, "old").await;
    log.describe(Description::updated(40)).await.unwrap();
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
        journal.create(Head::new(id, cwd, 1)).await.unwrap();
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
        journal.create(head).await.unwrap();
    }
    for (number, name) in odd.iter().enumerate() {
        let mut only = Filter::new(10);
        only.cwd = Some(PathBuf::from(OsStr::from_bytes(name)));
        let page = journal.list(only).await.unwrap();
        assert_eq!(ids(&page), [number.to_string()]);
        assert_eq!(page.sessions[0].cwd.as_os_str().as_bytes(), *name);
        let (head, _) = reopen(&journal, &number.to_string()).await;
        assert_eq!(head.cwd.as_os_str().as_bytes(), *name);
    }
}

async fn pages_repeat_and_miss_nothing(journal: impl Journal) {
    let mut expected = BTreeSet::new();
    for number in 0..25 {
        // Many of the same time, and ids with all that a cursor may trip over.
        let id = format!("s.{number}'%");
        journal
            .create(Head::new(&*id, "/work", number / 10))
            .await
            .unwrap();
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
        journal
            .create(Head::new(id, "/work", 100 - number))
            .await
            .unwrap();
    }
    let first = journal.list(Filter::new(3)).await.unwrap();
    assert_eq!(ids(&first), ["s0", "s1", "s2"]);
    // The one the cursor stands at goes, one becomes the latest, one is new.
    journal.delete("s2").await.unwrap();
    let (_, mut log) = reopen(&journal, "s5").await;
    log.describe(Description::updated(500)).await.unwrap();
    journal
        .create(Head::new("s10", "/work", 600))
        .await
        .unwrap();
    let rest = journal
        .list(filter(20, first.next.as_deref()))
        .await
        .unwrap();
    assert_eq!(ids(&rest), ["s3", "s4", "s6", "s7", "s8", "s9"]);
}

async fn a_cursor_that_was_not_given_out_is_refused(journal: impl Journal) {
    journal.create(head("a")).await.unwrap();
    for cursor in ["", "x", ".", "x.y", "1e3.a", "99999999999999999999.a"] {
        let page = journal.list(filter(10, Some(cursor))).await;
        assert!(matches!(page, Err(Error::BadCursor)), "{cursor}: {page:?}");
    }
}

async fn a_deleted_session_is_gone(journal: impl Journal) {
    let mut log = journal.create(head("a")).await.unwrap();
    write(&mut log, &["secret"]).await;
    drop(log);
    assert!(journal.delete("a").await.unwrap());
    assert!(!journal.delete("a").await.unwrap());
    assert!(journal.open("a").await.unwrap().is_none());
    assert_eq!(
        journal.list(Filter::new(10)).await.unwrap(),
        Page::default()
    );
    // The id is free, and nothing of the past comes with it.
    let mut log = journal.create(head("a")).await.unwrap();
    assert!(all(&mut log).await.is_empty());
}

async fn a_writer_of_a_deleted_session_touches_no_other(journal: impl Journal) {
    let mut stale = journal.create(head("a")).await.unwrap();
    assert!(journal.delete("a").await.unwrap());
    let late = vec![b"late".to_vec()];
    assert!(matches!(
        stale.append(late.clone(), Durability::Now).await,
        Err(Error::Deleted)
    ));
    assert!(matches!(stale.read(0, 10).await, Err(Error::Deleted)));
    assert!(matches!(
        stale.describe(Description::updated(9)).await,
        Err(Error::Deleted)
    ));
    // Not even if another one takes the id.
    let mut fresh = journal.create(head("a")).await.unwrap();
    assert!(matches!(
        stale.append(late, Durability::Now).await,
        Err(Error::Deleted)
    ));
    drop(stale);
    assert!(matches!(journal.open("a").await, Err(Error::InUse(_))));
    assert!(all(&mut fresh).await.is_empty());
}

async fn writers_of_different_sessions_do_not_mix(journal: impl Journal) {
    let mut logs = Vec::new();
    for id in ["a", "b", "ab"] {
        logs.push((id, journal.create(head(id)).await.unwrap()));
    }
    for round in 0..10 {
        for (id, log) in &mut logs {
            write(log, &[&format!("{id}{round}")]).await;
        }
    }
    for (id, log) in &mut logs {
        let expected: Vec<String> = (0..10).map(|round| format!("{id}{round}")).collect();
        assert_eq!(all(log).await, expected);
    }
}

async fn a_closed_journal_has_accepted_what_it_has(journal: impl Journal) {
    let mut log = journal.create(head("a")).await.unwrap();
    log.append(vec![b"soon".to_vec()], Durability::Soon)
        .await
        .unwrap();
    journal.close().await.unwrap();
    // A second time changes nothing.
    journal.close().await.unwrap();
}
