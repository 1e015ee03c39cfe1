//! The files of a store: where they are, who may read them, and what is not touched.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use ply_journal::{Durability, Error, Filter, Head, Journal, Page, Sqlite};

use crate::child::Process;
use crate::scratch::Scratch;
use crate::{all, append, create, head, texts};

fn with_ending(path: &Path, ending: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[tokio::test]
async fn no_file_is_made_before_a_session_is() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    let page = journal.list(Filter::new(9)).await.unwrap();
    assert_eq!(page, Page::default());
    assert!(journal.open("a").await.unwrap().is_none());
    assert!(journal.look("a").await.unwrap().is_none());
    assert!(!journal.delete("a").await.unwrap());
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    drop(create(&journal, head("a")).await);
    assert!(journal.open("a").await.unwrap().is_some());
    // Closed, it is one file.
    journal.close().await.unwrap();
    let directory = scratch.store().parent().unwrap().to_owned();
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), 1);
    assert!(matches!(journal.open("a").await, Err(Error::Closed)));
}

#[tokio::test]
async fn f7_a_place_where_no_file_can_be_is_a_clear_error() {
    let scratch = Scratch::new();
    let file = scratch.path().join("file");
    std::fs::write(&file, "text").unwrap();
    for (path, words) in [
        (scratch.path().to_owned(), "is not a file"),
        (file.join("store.db"), "file"),
        (file.join("sub").join("store.db"), "file"),
        ("/proc/ply/store.db".into(), "/proc/ply"),
    ] {
        let journal = Sqlite::new(&path);
        let error = journal.create(head("a"), "key").await.unwrap_err();
        assert!(matches!(error, Error::Io(_)), "{error:?}");
        let error = error.to_string();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"text");
}

#[tokio::test]
async fn a_file_that_is_no_journal_is_left_as_it_is() {
    let scratch = Scratch::new();
    let other = scratch.path().join("other.db");
    let file = rusqlite::Connection::open(&other).unwrap();
    file.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
        .unwrap();
    drop(file);
    let text = scratch.path().join("text.db");
    std::fs::write(
        &text,
        "not a database, and longer than a header of one ".repeat(100),
    )
    .unwrap();
    for path in [other, text] {
        let before = std::fs::read(&path).unwrap();
        let journal = Sqlite::new(&path);
        for error in [
            journal.create(head("a"), "key").await.unwrap_err(),
            journal.list(Filter::new(1)).await.unwrap_err(),
        ] {
            assert!(matches!(error, Error::Unreadable(_)), "{error:?}");
        }
        drop(journal);
        assert!(std::fs::read(&path).unwrap() == before, "{path:?} changed");
    }
}

#[tokio::test]
async fn f12_a_file_of_a_newer_program_is_refused_and_left_as_it_is() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    drop(create(&journal, head("a")).await);
    journal.close().await.unwrap();
    let file = rusqlite::Connection::open(scratch.store()).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    drop(file);
    let before = std::fs::read(scratch.store()).unwrap();
    let error = Sqlite::new(scratch.store()).open("a").await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::Newer {
                found: 99,
                known: 3
            }
        ),
        "{error:?}"
    );
    assert!(error.to_string().contains("version 99"), "{error}");
    assert!(std::fs::read(scratch.store()).unwrap() == before);
}

#[tokio::test]
async fn f13_a_file_that_is_deleted_or_replaced_is_noticed_before_the_next_write() {
    for ending in ["", "-wal", "-shm"] {
        for replace in [false, true] {
            let scratch = Scratch::new();
            let journal = Sqlite::new(scratch.store());
            let log = create(&journal, head("a")).await;
            append(&*log, 0..2, Durability::Durable).await.unwrap();
            let file = with_ending(&scratch.store(), ending);
            std::fs::remove_file(&file).unwrap();
            if replace {
                std::fs::write(&file, "another").unwrap();
            }
            for _ in 0..2 {
                let refused = append(&*log, 2..3, Durability::Durable).await;
                assert!(matches!(refused, Err(Error::Replaced)), "{refused:?}");
            }
            let refused = journal.create(head("b"), "key").await;
            assert!(matches!(refused, Err(Error::Replaced)), "{refused:?}");
            // Nor is anything tidied up that may belong to others by now.
            drop(log);
            drop(journal);
            if replace {
                assert_eq!(std::fs::read(&file).unwrap(), b"another");
            }
        }
    }
}

#[test]
fn f14_files_are_their_owner_s_alone_whatever_the_umask() {
    let scratch = Scratch::new();
    let script = "umask 000; exec \"$0\" \"$@\"";
    let mut process = Process::start_under(&["sh", "-c", script], "makes", &scratch.store());
    assert_eq!(process.hear().as_deref(), Some("made"));
    let mode = |path: &Path| {
        let about = std::fs::metadata(path).unwrap();
        about.permissions().mode() & 0o777
    };
    for ending in ["", "-wal", "-shm"] {
        let path = with_ending(&scratch.store(), ending);
        assert_eq!(mode(&path), 0o600, "{path:?}");
    }
    assert_eq!(mode(scratch.store().parent().unwrap()), 0o700);
    process.ends_well();
}

#[tokio::test]
async fn a_deleted_session_leaves_nothing_in_the_file() {
    let scratch = Scratch::new();
    let journal = Sqlite::new(scratch.store());
    let secret = b"xyzzy-plugh-".repeat(10);
    let mut head = Head::new("kept", "/work", 1);
    head.title = Some("kept".to_owned());
    let kept = create(&journal, head).await;
    append(&*kept, 0..50, Durability::Durable).await.unwrap();
    let log = create(&journal, Head::new("a", "/work", 1)).await;
    for _ in 0..60 {
        let records = vec![secret.clone(); 600];
        log.append(records, Durability::Accepted, None)
            .await
            .unwrap();
    }
    drop(log);
    assert!(journal.delete("a").await.unwrap());
    drop(kept);
    journal.close().await.unwrap();
    let file = std::fs::read(scratch.store()).unwrap();
    assert!(!file.windows(12).any(|window| window == b"xyzzy-plugh-"));
    // The space is used again.
    let journal = Sqlite::new(scratch.store());
    let log = create(&journal, Head::new("b", "/work", 1)).await;
    for _ in 0..60 {
        let records = vec![secret.clone(); 600];
        log.append(records, Durability::Accepted, None)
            .await
            .unwrap();
    }
    drop(log);
    let kept = journal.open("kept").await.unwrap().unwrap().log;
    assert_eq!(all(&*kept).await, texts(0..50));
    drop(kept);
    journal.close().await.unwrap();
    let size = std::fs::metadata(scratch.store()).unwrap().len();
    assert!(size < file.len() as u64 * 11 / 10, "{size}");
}
