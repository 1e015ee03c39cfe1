//! `ply sessions rm`.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::store::Store;

async fn three() -> Store {
    let store = Store::new();
    for (minutes, id) in ["sess-a1", "sess-b2", "sess-c3"].into_iter().enumerate() {
        let minutes = i64::try_from(minutes).unwrap();
        store
            .add(id, Path::new("/work"), Some("A title"), minutes)
            .await;
    }
    store
}

fn left(store: &Store) -> Vec<String> {
    let listed = store.run(["ls"]).stdout;
    let ids = listed.lines().map(|line| line[..7].to_owned());
    ids.collect()
}

#[tokio::test]
async fn a_session_is_deleted_without_asking_where_nobody_can_be_asked() {
    let store = three().await;
    let ran = store.run(["rm", "sess-b2"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert_snapshot!(ran.stderr, @"deleted sess-b2");
    assert_eq!(left(&store), ["sess-c3", "sess-a1"]);
}

#[tokio::test]
async fn one_that_fails_does_not_keep_the_others() {
    let store = three().await;
    let ran = store.run(["rm", "sess-x", "sess-a", "sess-c3", "sess-c3"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(4), ""));
    assert_snapshot!(store.redact(&ran.stderr), @r#"
    error: no session of DIR/sessions.db has the id `sess-x`
      hint: `ply sessions ls --limit 0` lists all of them
    deleted sess-a1
    deleted sess-c3
    "#);
    assert_eq!(left(&store), ["sess-b2"]);
}

#[tokio::test]
async fn an_id_that_may_mean_several_deletes_none() {
    let store = three().await;
    let ran = store.run(["rm", "sess-"]);
    assert_eq!(ran.code, Some(2));
    assert_snapshot!(ran.stderr, @r#"
    error: `sess-` is ambiguous: 3 sessions begin with it
      hint: give more of it:
        sess-c3
        sess-b2
        sess-a1
    "#);
    assert_eq!(store.run(["rm", ""]).code, Some(2));
    assert_eq!(left(&store).len(), 3);
}

#[tokio::test]
async fn a_session_in_use_is_refused_and_its_owner_named() {
    let store = three().await;
    let held = store.hold("sess-a1").await;
    let ran = store.run(["rm", "sess-a1", "sess-b2"]);
    assert_eq!(ran.code, Some(12));
    let (first, rest) = ran.stderr.split_once('\n').unwrap();
    let process = format!("(process {})", std::process::id());
    assert!(
        first.starts_with("error: the session is in use by sessions"),
        "{first}"
    );
    assert!(first.contains(&process), "{first}");
    assert_eq!(rest, "deleted sess-b2\n");
    assert_eq!(left(&store), ["sess-c3", "sess-a1"]);
    drop(held);
    assert_eq!(store.run(["rm", "sess-a1"]).code, Some(0));
}

#[tokio::test]
async fn json_tells_what_was_deleted_and_what_was_not() {
    let store = three().await;
    let ran = store.run(["rm", "sess-a1", "sess-x", "--json"]);
    assert_eq!(ran.code, Some(4));
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["deleted"], serde_json::json!(["sess-a1"]));
    assert_eq!(json["failed"][0]["id"], "sess-x");
    let error = json["failed"][0]["error"].as_str().unwrap();
    assert!(error.starts_with("no session of "), "{error}");
}
