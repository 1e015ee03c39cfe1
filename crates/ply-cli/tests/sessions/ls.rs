//! `ply sessions ls`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::store::{Store, run};
use crate::tale::HOSTILE;

async fn three() -> Store {
    let store = Store::new();
    let (one, two) = (Path::new("/work/one"), Path::new("/work/two"));
    store.add("sess-a", one, Some("First"), 1).await;
    store.add("sess-b", two, None, 3).await;
    store
        .add("sess-c", one, Some("Third, and the last"), 2)
        .await;
    store
}

#[tokio::test]
async fn sessions_are_listed_with_the_latest_first() {
    let ran = three().await.run(["ls"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_snapshot!(ran.stdout.replace('\t', " | "), @r#"
    sess-b | 2020-07-14T10:03:00.000Z |  | /work/two
    sess-c | 2020-07-14T10:02:00.000Z | Third, and the last | /work/one
    sess-a | 2020-07-14T10:01:00.000Z | First | /work/one
    "#);
}

#[tokio::test]
async fn json_is_one_array_with_promised_names() {
    let store = three().await;
    let ran = store.run(["ls", "--json", "--limit", "2"]);
    assert_eq!(ran.code, Some(0));
    assert_snapshot!(ran.stdout, @r#"
    [
      {
        "id": "sess-b",
        "cwd": "/work/two",
        "title": null,
        "createdAt": "2020-07-14T10:00:00.000Z",
        "updatedAt": "2020-07-14T10:03:00.000Z"
      },
      {
        "id": "sess-c",
        "cwd": "/work/one",
        "title": "Third, and the last",
        "createdAt": "2020-07-14T10:00:00.000Z",
        "updatedAt": "2020-07-14T10:02:00.000Z"
      }
    ]
    "#);
}

#[tokio::test]
async fn a_limit_says_that_there_is_more_and_0_is_none() {
    let store = three().await;
    let ran = store.run(["ls", "--limit", "2"]);
    assert_eq!(ran.stdout.lines().count(), 2);
    assert_snapshot!(ran.stderr, @"the latest 2 sessions; `--limit 0` shows all");
    for limit in ["0", "3", "4"] {
        let ran = store.run(["ls", "--limit", limit]);
        assert_eq!(ran.stdout.lines().count(), 3);
        assert_eq!(ran.stderr, "");
    }
}

#[tokio::test]
async fn only_the_sessions_of_a_directory_however_it_is_written() {
    let store = three().await;
    for cwd in ["/work/one", "/work/one/", "/work/./one"] {
        let ran = store.run(["ls", "--cwd", cwd]);
        let ids: Vec<_> = ran.stdout.lines().map(|line| &line[..6]).collect();
        assert_eq!(ids, ["sess-c", "sess-a"], "{cwd}");
    }
    let ran = store.run(["ls", "--cwd", "/work"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert_snapshot!(store.redact(&ran.stderr), @"no sessions of this directory in DIR/sessions.db; leave out `--cwd` to see all");
}

#[tokio::test]
async fn the_directory_may_be_a_relative_one_or_a_link() {
    let store = Store::new();
    let real = store.directory().join("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, store.directory().join("link")).unwrap();
    store.add("sess-a", &real, None, 0).await;
    for cwd in ["real", "./real/", "link", "link/../real"] {
        let ran = store.run(["ls", "--cwd", cwd]);
        assert!(ran.stdout.starts_with("sess-a"), "{cwd}: {ran:?}");
    }
    let ran = run(store.sessions(["ls", "--cwd", "."]).current_dir(&real));
    assert!(ran.stdout.starts_with("sess-a"), "{ran:?}");
}

#[tokio::test]
async fn a_store_that_is_not_there_is_not_made() {
    let store = Store::new();
    let ran = store.run(["ls"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert_snapshot!(store.redact(&ran.stderr), @"no sessions yet: DIR/sessions.db does not exist");
    let json = store.run(["ls", "--json"]);
    assert_eq!((json.code, json.stdout.as_str()), (Some(0), "[]\n"));
    assert_eq!(json.stderr, ran.stderr);
    assert!(fs::read_dir(store.directory()).unwrap().next().is_none());
}

#[tokio::test]
async fn a_store_without_sessions_says_so() {
    let store = Store::new();
    store.add("sess-a", Path::new("/"), None, 0).await;
    store.run(["rm", "sess-a"]);
    let ran = store.run(["ls"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert_snapshot!(store.redact(&ran.stderr), @"no sessions in DIR/sessions.db");
}

#[tokio::test]
async fn a_file_that_is_no_store_is_left_alone() {
    let store = Store::new();
    fs::write(store.path(), "a letter to a friend").unwrap();
    let ran = store.run(["ls"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert_snapshot!(store.redact(&ran.stderr), @r#"
    error: the file of the journal cannot be read: file is not a database; it was left as it is, move it away to begin a new one
      hint: the store is DIR/sessions.db; `--store FILE` names another
    "#);
    assert_eq!(fs::read(store.path()).unwrap(), b"a letter to a friend");
}

#[tokio::test]
async fn j1_a_hostile_title_is_shown_and_not_obeyed() {
    let store = Store::new();
    let cwd = Path::new("/work/\x1b[31mred\n");
    store
        .add("sess-a", cwd, Some(&format!("a\tb\n{HOSTILE}")), 0)
        .await;
    assert_snapshot!(store.run(["ls"]).stdout.replace('\t', " | "), @r#"sess-a | 2020-07-14T10:00:00.000Z | a\tb\n\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\u{9b}1m | /work/\u{1b}[31mred\n"#);
    let json = store.run(["ls", "--json"]).stdout;
    assert!(!json.contains(['\x1b', '\u{202e}', '\u{9b}']), "{json}");
    let parsed: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(parsed[0]["title"], format!("a\tb\n{HOSTILE}"));
}

#[tokio::test]
async fn g5_a_directory_that_is_not_utf8_is_shown_escaped_and_found() {
    let store = Store::new();
    let cwd = OsStr::from_bytes(b"/work/\xff\xfe");
    store.add("sess-a", Path::new(cwd), None, 0).await;
    let ran = store.run([OsStr::new("ls"), OsStr::new("--cwd"), cwd]);
    assert_snapshot!(ran.stdout.replace('\t', " | "), @r#"sess-a | 2020-07-14T10:00:00.000Z |  | /work/\xff\xfe"#);
    let json: Value = serde_json::from_str(&store.run(["ls", "--json"]).stdout).unwrap();
    assert_eq!(json[0]["cwd"], "/work/\\xff\\xfe");
    assert_eq!(json[0]["cwdBytes"], "2f776f726b2ffffe");
}
