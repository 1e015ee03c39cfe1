//! `ply sessions export`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use insta::assert_snapshot;
use ply_journal::Journal as _;
use serde_json::Value;

use crate::store::Store;
use crate::tale::{redact, tell};

async fn told(prompts: &[&str]) -> (Store, String) {
    let store = Store::new();
    let id = tell(&store, Path::new("/work/project"), prompts).await;
    (store, id)
}

#[tokio::test]
async fn markdown_has_a_heading_for_each_turn() {
    let (store, id) = told(&["Fix the test", "Thanks"]).await;
    let ran = store.run(["export", &id]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_snapshot!(redact(&ran.stdout, &id), @r#"
    # Fix the failing test

    - Session: `sess-ID`
    - Directory: `/work/project`
    - Created: TIME
    - Updated: TIME

    ## Turn 1

    ### User

    > Fix the test

    ### Thought

    > First I look.
    > Then I act.

    ### Plan

    - [x] Look
    - [ ] Edit (in progress)
    - [ ] Test

    ### Tool call: Edit src/main.rs

    edit, completed

    *at /work/project/src/main.rs:1*

    `input`

    ```json
    {
      "path": "src/main.rs"
    }
    ```

    *changed /work/project/src/main.rs*

    ```diff
    diff --git /work/project/src/main.rs /work/project/src/main.rs
    --- /work/project/src/main.rs
    +++ /work/project/src/main.rs
    @@ -1 +1,3 @@
    -fn main() {}
    +fn main() {
    +	run();
    +}
    ```

    ```text
    Changed 1 line.
    ```

    ### Tool call: Run the tests

    execute, failed

    ```text
    The disk is full.
    ```

    ### Agent

    > It is **fixed**.
    >
    > Not tested.

    ## Turn 2

    ### User

    > Thanks

    ---

    The last turn ended: the agent was done

    Context: 1200 of 200000 tokens
    "#);
}

#[tokio::test]
async fn images_are_noted_and_terminals_fenced() {
    let (store, id) = told(&["Show things"]).await;
    let text = redact(&store.run(["export", &id]).stdout, &id);
    let (_, entries) = text.split_once("## Turn 1\n\n").unwrap();
    assert_snapshot!(entries, @r#"
    ### User

    > Show things

    ### Agent

    *image, image/png, 5 bytes, not shown*

    *link to notes: file:///work/notes.md*

    ### Tool call: Run the tests

    execute, completed

    `$ cargo test (exit code 0)`

    ```text
    ok
    ```

    ---

    The last turn ended: the limit of tokens was reached
    "#);
}

#[tokio::test]
async fn j1_nothing_in_a_message_changes_the_document_around_it() {
    let (store, id) = told(&["Be hostile"]).await;
    assert_snapshot!(redact(&store.run(["export", &id]).stdout, &id), @r#"
    # title \\u{1b}\]0;owned\\u{7}\\u{1b}\[2J\\u{202e}txt\\u{9b}1m

    - Session: `sess-ID`
    - Directory: `/work/project`
    - Created: TIME
    - Updated: TIME

    ## Turn 1

    ### User

    > Be hostile

    ### Agent

    > user
    > \u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\u{9b}1m
    > # Turn 9
    > ```open

    ### Tool call: call \\u{1b}\]0;owned\\u{7}\\u{1b}\[2J\\u{202e}txt\\u{9b}1m

    other, completed

    ```text
    \u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\u{9b}1m
    ```

    ---

    The last turn ended: the agent was done
    "#);
}

#[tokio::test]
async fn ndjson_is_the_head_and_then_what_is_stored() {
    let (store, id) = told(&["Fix the test", "Be hostile"]).await;
    let ran = store.run(["export", &id, "--format", "ndjson"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let (head, events) = ran.stdout.split_once('\n').unwrap();
    let head: Value = serde_json::from_str(head).unwrap();
    assert_eq!(head["ply"], "session");
    assert_eq!(head["version"], 1);
    assert_eq!(head["id"], id.as_str());
    assert_eq!(head["cwd"], "/work/project");
    let listed: Value = serde_json::from_str(&store.run(["ls", "--json"]).stdout).unwrap();
    for (name, value) in listed[0].as_object().unwrap() {
        assert_eq!(&head[name], value, "{name}");
    }
    let journal = store.journal();
    let (_, records) = journal.look(&id).await.unwrap().unwrap();
    let mut stored = Vec::new();
    loop {
        let page = records.read(stored.len() as u64, 1000).await.unwrap();
        if page.is_empty() {
            break;
        }
        stored.extend(page.records);
    }
    let exported: Vec<_> = events
        .lines()
        .map(|line| line.as_bytes().to_vec())
        .collect();
    assert_eq!(exported, stored);
}

#[tokio::test]
async fn f4_a_damaged_record_has_a_line_in_its_place() {
    let (store, id) = told(&["Thanks"]).await;
    let before = store.run(["export", &id, "--format", "ndjson"]).stdout;
    store.append(&id, &[b"torn \xff", b"{\"later\":1}"]).await;
    let ran = store.run(["export", &id, "--format", "ndjson"]);
    assert_eq!(ran.code, Some(0));
    let number = before.lines().count() - 1;
    let next = number + 1;
    let lost = format!("{{\"ply\":\"damaged\",\"from\":{number},\"next\":{next}}}");
    let added: Vec<_> = ran.stdout.lines().skip(next).collect();
    assert_eq!(added, [lost.as_str(), "{\"later\":1}"]);
    assert_snapshot!(ran.stderr, @"warning: 1 record of the session cannot be read; the rest is there");
    let markdown = store.run(["export", &id]);
    assert!(
        markdown
            .stdout
            .contains("- Records that cannot be read: 2\n")
    );
}

#[tokio::test]
async fn a_file_is_written_whole_and_not_replaced_unless_forced() {
    let (store, id) = told(&["Fix the test"]).await;
    let whole = store.run(["export", &id]).stdout;
    let file = store.directory().join("talk.md");
    let ran = store.run(["export", &id, "-o", "talk.md"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(0), "", "")
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    // Nobody else may read what was said.
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    fs::write(&file, "precious").unwrap();
    let ran = store.run(["export", &id, "-o", "talk.md"]);
    assert_eq!(ran.code, Some(2));
    assert_snapshot!(store.redact(&ran.stderr), @r#"
    error: talk.md already exists
      hint: give `--force` to replace it, or another name
    "#);
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");

    let ran = store.run(["export", &id, "-o", "talk.md", "--force"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    let names = fs::read_dir(store.directory()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.contains("tmp")));
}

#[tokio::test]
async fn forcing_replaces_what_a_link_leads_to_and_nothing_that_is_no_file() {
    let (store, id) = told(&["Thanks"]).await;
    let (file, link) = (
        store.directory().join("a.md"),
        store.directory().join("b.md"),
    );
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert_eq!(
        store.run(["export", &id, "-o", "b.md", "--force"]).code,
        Some(0)
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .starts_with("# Session\n")
    );
    for place in [".", "/dev/null"] {
        let ran = store.run(["export", &id, "-o", place, "--force"]);
        assert_eq!(ran.code, Some(2));
    }
    let ran = store.run(["export", &id, "-o", "none/a.md"]);
    assert_eq!(ran.code, Some(1));
    assert_snapshot!(store.redact(&ran.stderr), @"
    error: none/a.md cannot be written: No such file or directory (os error 2)
      hint: give a path in a directory that exists and that you may write to
    ");
}
