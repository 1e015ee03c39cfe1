//! Files of every version that was released open for ever.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ply_journal::{Description, Durability, Error, Filter, Head, Journal, Sqlite};

use crate::scratch::Scratch;
use crate::{all, append, texts};

/// The file of a version.
fn golden(version: u32) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    tests.join("golden").join(format!("v{version}.db"))
}

/// Makes the file of the present version, which is to be done once for each.
#[tokio::test]
#[ignore = "writes the golden file of a new version"]
async fn the_golden_file_is_made() {
    let path = golden(1);
    assert!(!path.exists(), "a golden file never changes");
    let journal = Sqlite::new(&path);
    let mut head = Head::new("sess-plain", "/home/me/project", 1_000);
    head.title = Some("Plums \u{1f351}".to_owned());
    let mut log = journal.create(head).await.unwrap();
    append(&mut log, 0..1000, Durability::Now).await.unwrap();
    append(&mut log, 1000..1003, Durability::Now).await.unwrap();
    let odd = OsStr::from_bytes(b"/home/me/\xff\xfe");
    let mut log = journal
        .create(Head::new("sess-odd", odd, 2_000))
        .await
        .unwrap();
    let records = vec![Vec::new(), vec![0, 255, b'\n'], vec![b'x'; 9_000]];
    log.append(records, Durability::Now).await.unwrap();
    log.describe(Description::updated(3_000)).await.unwrap();
    drop(log);
    let empty = Head::new("sess-empty", "/home/me/project", 4_000);
    drop(journal.create(empty).await.unwrap());
    let gone = Head::new("sess-gone", "/home/me/project", 5_000);
    drop(journal.create(gone).await.unwrap());
    journal.delete("sess-gone").await.unwrap();
    journal.close().await.unwrap();
}

#[tokio::test]
async fn p17_a_file_of_version_1_opens_for_ever() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.store().parent().unwrap()).unwrap();
    std::fs::copy(golden(1), scratch.store()).unwrap();
    let journal = Sqlite::new(scratch.store());
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
    let (head, mut log) = journal.open("sess-odd").await.unwrap().unwrap();
    assert_eq!(head.cwd.as_os_str().as_bytes(), b"/home/me/\xff\xfe");
    let odd = [Vec::new(), vec![0, 255, b'\n'], vec![b'x'; 9_000]];
    assert_eq!(all(&mut log).await, odd);
    let (head, mut log) = journal.open("sess-plain").await.unwrap().unwrap();
    assert_eq!(head.title.as_deref(), Some("Plums \u{1f351}"));
    append(&mut log, 1003..1005, Durability::Now).await.unwrap();
    assert_eq!(all(&mut log).await, texts(0..1005));
    let (_, mut log) = journal.open("sess-empty").await.unwrap().unwrap();
    assert!(all(&mut log).await.is_empty());
    assert!(journal.open("sess-gone").await.unwrap().is_none());
    let again = journal.create(head).await;
    assert!(matches!(again, Err(Error::Exists)));
}
