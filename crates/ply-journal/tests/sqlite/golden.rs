//! Files of every version that was released open for ever.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ply_journal::{Description, Durability, Error, Filter, Head, Journal, Sqlite};

use crate::scratch::Scratch;
use crate::{all, append, create, texts};

/// The file of a version.
fn golden(version: u32) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    tests.join("golden").join(format!("v{version}.db"))
}

/// Opens a copy of the file of a version.
fn copy(scratch: &Scratch, version: u32) -> Sqlite {
    std::fs::create_dir_all(scratch.store().parent().unwrap()).unwrap();
    std::fs::copy(golden(version), scratch.store()).unwrap();
    Sqlite::new(scratch.store())
}

fn odd() -> Vec<Vec<u8>> {
    vec![Vec::new(), vec![0, 255, b'\n'], vec![b'x'; 9_000]]
}

/// Makes the file of the present version, which is to be done once for each.
#[tokio::test]
#[ignore = "writes the golden file of a new version"]
async fn the_golden_file_is_made() {
    let path = golden(3);
    assert!(!path.exists(), "a golden file never changes");
    let journal = Sqlite::new(&path);
    let mut head = Head::new("sess-plain", "/home/me/project", 1_000);
    head.title = Some("Plums \u{1f351}".to_owned());
    let log = create(&journal, head).await;
    append(&*log, 0..1000, Durability::Durable).await.unwrap();
    append(&*log, 1000..1003, Durability::Durable)
        .await
        .unwrap();
    drop(log);
    // Another owner.
    journal.open("sess-plain").await.unwrap().unwrap();
    let cwd = OsStr::from_bytes(b"/home/me/\xff\xfe");
    let log = create(&journal, Head::new("sess-odd", cwd, 2_000)).await;
    let change = Description::updated(3_000)
        .unfinished(true)
        .host(Some("agent: plum".to_owned()));
    log.append(odd(), Durability::Durable, Some(change))
        .await
        .unwrap();
    drop(log);
    let empty = Head::new("sess-empty", "/home/me/project", 4_000);
    let log = create(&journal, empty).await;
    let change = Description::default().archived(true);
    log.append(Vec::new(), Durability::Durable, Some(change))
        .await
        .unwrap();
    drop(log);
    let gone = Head::new("sess-gone", "/home/me/project", 5_000);
    drop(create(&journal, gone).await);
    journal.delete("sess-gone").await.unwrap();
    journal.close().await.unwrap();
}

/// Makes sure that a file holds what the golden files of all versions do, and can be used.
async fn check(journal: &Sqlite) {
    let page = journal.list(Filter::new(10)).await.unwrap();
    let known: Vec<(&str, i64, i64)> = page
        .sessions
        .iter()
        .map(|head| (head.id.as_str(), head.created_ms, head.updated_ms))
        .collect();
    assert_eq!(
        known,
        [
            ("sess-empty", 4_000, 4_000),
            ("sess-odd", 2_000, 3_000),
            ("sess-plain", 1_000, 1_000)
        ]
    );
    let opened = journal.open("sess-odd").await.unwrap().unwrap();
    assert_eq!(opened.head.cwd.as_os_str().as_bytes(), b"/home/me/\xff\xfe");
    assert_eq!(all(&*opened.log).await, odd());
    let opened = journal.open("sess-plain").await.unwrap().unwrap();
    assert_eq!(opened.head.title.as_deref(), Some("Plums \u{1f351}"));
    assert_eq!(opened.records, 1003);
    append(&*opened.log, 1003..1005, Durability::Durable)
        .await
        .unwrap();
    assert_eq!(all(&*opened.log).await, texts(0..1005));
    let log = journal.open("sess-empty").await.unwrap().unwrap().log;
    assert!(all(&*log).await.is_empty());
    assert!(journal.open("sess-gone").await.unwrap().is_none());
    let again = journal.create(opened.head, "another").await;
    assert!(matches!(again, Err(Error::Exists)));
}

async fn archived(journal: &Sqlite) -> Vec<String> {
    let mut only = Filter::new(10);
    only.archived = Some(true);
    let page = journal.list(only).await.unwrap();
    page.sessions.into_iter().map(|head| head.id).collect()
}

async fn unfinished(journal: &Sqlite) -> Vec<String> {
    let mut only = Filter::new(10);
    only.unfinished = Some(true);
    let page = journal.list(only).await.unwrap();
    page.sessions.into_iter().map(|head| head.id).collect()
}

#[tokio::test]
async fn p17_a_file_of_version_1_opens_for_ever() {
    let scratch = Scratch::new();
    check(&copy(&scratch, 1)).await;
}

#[tokio::test]
async fn p17_sessions_of_version_1_get_what_came_later() {
    let scratch = Scratch::new();
    let journal = copy(&scratch, 1);
    assert!(unfinished(&journal).await.is_empty());
    for epoch in [1, 2] {
        let opened = journal.open("sess-plain").await.unwrap().unwrap();
        assert_eq!(opened.epoch, epoch);
        assert_eq!((opened.head.unfinished, opened.head.host), (false, None));
    }
    // They were created without a key, and no key is theirs.
    let head = Head::new("sess-plain", "/home/me/project", 1_000);
    let again = journal.create(head, "").await;
    assert!(matches!(again, Err(Error::Exists)), "{again:?}");
    let log = journal.open("sess-odd").await.unwrap().unwrap().log;
    let change = Description::default()
        .unfinished(true)
        .host(Some("agent".to_owned()));
    log.append(texts(0..1), Durability::Written, Some(change))
        .await
        .unwrap();
    assert_eq!(unfinished(&journal).await, ["sess-odd"]);
    drop(log);
    journal.close().await.unwrap();
    let journal = Sqlite::new(scratch.store());
    let opened = journal.open("sess-plain").await.unwrap().unwrap();
    assert_eq!((opened.epoch, opened.records), (3, 1003));
    let opened = journal.open("sess-odd").await.unwrap().unwrap();
    assert_eq!((opened.epoch, opened.records), (2, 4));
    assert_eq!(opened.head.host.as_deref(), Some("agent"));
}

#[tokio::test]
async fn p17_a_file_of_version_2_opens_for_ever() {
    let scratch = Scratch::new();
    check(&copy(&scratch, 2)).await;
    let scratch = Scratch::new();
    let journal = copy(&scratch, 2);
    assert_eq!(unfinished(&journal).await, ["sess-odd"]);
    assert!(archived(&journal).await.is_empty());
    let log = journal.open("sess-empty").await.unwrap().unwrap().log;
    let change = Description::default().archived(true);
    log.append(Vec::new(), Durability::Durable, Some(change))
        .await
        .unwrap();
    assert_eq!(archived(&journal).await, ["sess-empty"]);
    let opened = journal.open("sess-plain").await.unwrap().unwrap();
    assert_eq!(opened.epoch, 3);
    drop(opened);
    let head = Head::new("sess-odd", "/home", 9_000);
    let opened = journal.create(head, "key of sess-odd").await.unwrap();
    assert_eq!((opened.epoch, opened.records), (2, 3));
    assert_eq!(opened.head.host.as_deref(), Some("agent: plum"));
}

#[tokio::test]
async fn p17_a_file_of_version_3_opens_for_ever() {
    let scratch = Scratch::new();
    check(&copy(&scratch, 3)).await;
    let scratch = Scratch::new();
    let journal = copy(&scratch, 3);
    assert_eq!(unfinished(&journal).await, ["sess-odd"]);
    assert_eq!(archived(&journal).await, ["sess-empty"]);
}
