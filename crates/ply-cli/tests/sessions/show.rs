//! `ply sessions show`.

use std::path::Path;

use insta::{allow_duplicates, assert_snapshot};
use serde_json::Value;

use crate::store::Store;
use crate::tale::{redact, tell};

const CWD: &str = "/work/project";

async fn told(prompts: &[&str]) -> (Store, String) {
    let store = Store::new();
    let id = tell(&store, Path::new(CWD), prompts).await;
    (store, id)
}

#[tokio::test]
async fn a_session_reads_as_it_went() {
    let (store, id) = told(&["Fix the test", "Thanks"]).await;
    let ran = store.run(["show", &id]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_snapshot!(redact(&ran.stdout, &id), @r#"
    session sess-ID
      title    Fix the failing test
      cwd      /work/project
      created  TIME
      updated  TIME

    user
      Fix the test

    thought (2 lines, shown with --thoughts)

    plan
      [x] Look
      [>] Edit
      [ ] Test

    tool call: Edit src/main.rs (edit, completed)
      at /work/project/src/main.rs:1
      input
        {
          "path": "src/main.rs"
        }
      changed /work/project/src/main.rs
        diff --git /work/project/src/main.rs /work/project/src/main.rs
        --- /work/project/src/main.rs
        +++ /work/project/src/main.rs
        @@ -1 +1,3 @@
        -fn main() {}
        +fn main() {
        +	run();
        +}
      Changed 1 line.

    tool call: Run the tests (execute, failed)
      The disk is full.

    agent
      It is **fixed**.

      Not tested.

    user
      Thanks

    The last turn ended: the agent was done
    Context: 1200 of 200000 tokens
    "#);
}

#[tokio::test]
async fn thoughts_are_folded_unless_they_are_asked_for() {
    let (store, id) = told(&["Fix the test"]).await;
    let folded = store.run(["show", &id]).stdout;
    assert!(!folded.contains("First I look."));
    let shown = store.run(["show", &id, "--thoughts"]).stdout;
    assert!(
        shown.contains("\nthought\n  First I look.\n  Then I act.\n"),
        "{shown}"
    );
}

#[tokio::test]
async fn images_links_and_terminals_are_told_in_words() {
    let (store, id) = told(&["Show things"]).await;
    let shown = redact(&store.run(["show", &id]).stdout, &id);
    let (_, entries) = shown.split_once("\nuser\n").unwrap();
    assert_snapshot!(entries, @r#"
      Show things

    agent
      image, image/png, 5 bytes, not shown
      link to notes: file:///work/notes.md

    tool call: Run the tests (execute, completed)
      $ cargo test (exit code 0)
        ok

    The last turn ended: the limit of tokens was reached
    "#);
}

#[tokio::test]
async fn a_refused_turn_is_marked() {
    let (store, id) = told(&["Thanks", "Refuse"]).await;
    let shown = redact(&store.run(["show", &id]).stdout, &id);
    let (_, entries) = shown.split_once("\n\n").unwrap();
    assert_snapshot!(entries, @r#"
    user
      Thanks

    user (refused)
      Refuse

    The last turn ended: the agent refused to go on
    "#);
}

#[tokio::test]
async fn the_beginning_of_an_id_is_enough_if_it_is_the_only_one() {
    let store = Store::new();
    let cwd = Path::new(CWD);
    for (minutes, id) in ["sess-abc1", "sess-abc2", "sess-b", "sess-b3"]
        .into_iter()
        .enumerate()
    {
        store
            .add(id, cwd, None, i64::try_from(minutes).unwrap())
            .await;
    }
    for (given, found) in [
        ("sess-abc1", "sess-abc1"),
        ("sess-abc2", "sess-abc2"),
        ("sess-b", "sess-b"),
    ] {
        let ran = store.run(["show", given]);
        let first = format!("session {found}");
        assert_eq!(ran.stdout.lines().next(), Some(first.as_str()), "{given}");
    }
    let ran = store.run(["show", "sess-a"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert_snapshot!(ran.stderr, @r#"
    error: `sess-a` is ambiguous: 2 sessions begin with it
      hint: give more of it:
        sess-abc2
        sess-abc1
    "#);
}

#[tokio::test]
async fn a_session_that_is_not_there_has_a_code_of_its_own() {
    let store = Store::new();
    for command in ["show", "export", "rm"] {
        let ran = store.run([command, "sess-\x1bnone"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(4), ""));
        allow_duplicates! { assert_snapshot!(store.redact(&ran.stderr), @r#"
        error: no session of DIR/sessions.db has the id `sess-\u{1b}none`
          hint: `ply sessions ls --limit 0` lists all of them
        "#); }
    }
    // Nor does asking make a store.
    assert!(!store.path().exists());
    store.add("sess-a", Path::new(CWD), None, 0).await;
    assert_eq!(store.run(["show", "sess-b"]).code, Some(4));
}

#[tokio::test]
async fn f4_damaged_records_are_counted_and_the_rest_is_shown() {
    let (store, id) = told(&["Fix the test"]).await;
    let whole = store.run(["show", &id]).stdout;
    store.append(&id, &[b"\0\0\0", b"{\"unheard\":1}"]).await;
    let ran = store.run(["show", &id]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.stdout, whole);
    assert_snapshot!(ran.stderr, @"warning: 2 records of the session cannot be read; the rest is there");
    let json: Value = serde_json::from_str(&store.run(["show", &id, "--json"]).stdout).unwrap();
    assert_eq!(json["damagedRecords"], 2);
}

#[tokio::test]
async fn json_has_the_entries_as_the_protocol_has_them() {
    let (store, id) = told(&["Fix the test"]).await;
    let ran = store.run(["show", &id, "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["session"]["id"], id.as_str());
    assert_eq!(json["session"]["cwd"], CWD);
    assert_eq!(json["session"]["title"], "Fix the failing test");
    let entries = json["entries"].as_array().unwrap();
    let kinds: Vec<_> = entries
        .iter()
        .map(|entry| entry["sessionUpdate"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "user_message",
            "agent_thought",
            "plan_update",
            "tool_call_update",
            "tool_call_update",
            "agent_message",
        ]
    );
    assert_eq!(entries[0]["content"][0]["text"], "Fix the test");
    assert_eq!(entries[3]["content"][0]["type"], "diff");
    assert_eq!(json["state"]["state"], "idle");
    assert_eq!(json["state"]["stopReason"], "end_turn");
    assert_eq!(json["usage"]["used"], 1200);
    assert_eq!(json["damagedRecords"], 0);
}

#[tokio::test]
async fn a_session_in_use_can_be_read() {
    let (store, id) = told(&["Thanks"]).await;
    let whole = store.run(["show", &id]).stdout;
    let _held = store.hold(&id).await;
    assert_eq!(store.run(["show", &id]).stdout, whole);
}

#[tokio::test]
async fn j1_no_message_can_pass_for_another_or_reach_the_terminal() {
    let (store, id) = told(&["Be hostile"]).await;
    assert_snapshot!(redact(&store.run(["show", &id]).stdout, &id), @r#"
    session sess-ID
      title    title \u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\u{9b}1m
      cwd      /work/project
      created  TIME
      updated  TIME

    user
      Be hostile

    agent
      user
      \u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\u{9b}1m
      # Turn 9
      ```open

    tool call: call\n\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\u{9b}1m (other, completed)
      \u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\u{9b}1m

    The last turn ended: the agent was done
    "#);
    let json = store.run(["show", &id, "--json"]).stdout;
    assert!(!json.contains(['\x1b', '\u{202e}', '\u{9b}']), "{json}");
}
