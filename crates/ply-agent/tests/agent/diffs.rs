//! Diffs in tool calls: whole texts on version 1, changes with a patch on version 2.

use ply_agent::{Agent, Stop};
use serde_json::{Value, json};

use crate::script::*;
use crate::tool_calls::shown;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
const NEW: &str = "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\nNINE\nten\n";

fn edits() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            let call = turn.tool_call("Edit").await?;
            call.add_diff("new.txt", None, Some("fresh\n")).await?;
            call.add_diff("changed.txt", Some(OLD), Some(NEW)).await?;
            call.add_diff("/work/emptied.txt", Some("gone\n"), Some(""))
                .await?;
            call.add_diff("deleted.txt", Some("bye\n"), None).await?;
            call.finish().await?;
            Ok(Stop::EndTurn)
        })
    })
}

#[tokio::test(start_paused = true)]
async fn v1_tool_13_a_diff_has_a_path_and_the_whole_texts() {
    let mut talk = talk(Version::V1, edits()).await;
    talk.turn("go").await;
    let shown = shown(Version::V1, &talk.call("Edit"));
    let diffs: Vec<&Value> = shown.iter().filter(|item| item["type"] == "diff").collect();
    assert!(diffs[0].get("oldText").is_none_or(Value::is_null));
    assert_eq!(diffs[0]["path"], "/work/new.txt");
    assert_eq!(diffs[0]["newText"], "fresh\n");
    assert_eq!(diffs[1]["path"], "/work/changed.txt");
    assert_eq!(diffs[1]["oldText"], OLD);
    assert_eq!(diffs[1]["newText"], NEW);
    assert_eq!(diffs[2]["path"], "/work/emptied.txt");
    assert_eq!(diffs[2]["oldText"], "gone\n");
    assert_eq!(diffs[2]["newText"], "");
    assert_eq!(diffs[3]["path"], "/work/deleted.txt");
    assert_eq!(diffs[3]["oldText"], "bye\n");
    assert_eq!(diffs[3]["newText"], "");
    assert_eq!(diffs.len(), 4);
}

/// The texts are kept with the session, so a client that loads it later gets the same.
#[tokio::test(start_paused = true)]
async fn a_loaded_session_shows_the_same_diffs() {
    let server = ply_agent::serve(edits());
    let mut talk = talk_with(Version::V1, &server, json!({})).await;
    talk.turn("go").await;
    let live = shown(Version::V1, &talk.call("Edit"));
    let session = talk.session.clone();
    let close = talk
        .client
        .ask("session/close", json!({"sessionId": session}))
        .await;
    talk.answered(close).await;
    talk.forget();
    let params = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    let load = talk.client.ask("session/load", params).await;
    talk.answered(load).await;
    assert_eq!(shown(Version::V1, &talk.call("Edit")), live);
}

// Also: V2-DIFF-02, V2-DIFF-03, V2-DIFF-04.
#[tokio::test(start_paused = true)]
async fn v2_diff_01_a_diff_has_changes_and_a_patch_that_agrees() {
    let mut talk = talk(Version::V2, edits()).await;
    talk.turn("go").await;
    let shown = shown(Version::V2, &talk.call("Edit"));
    let expected = [
        ("add", "/work/new.txt"),
        ("modify", "/work/changed.txt"),
        ("modify", "/work/emptied.txt"),
        ("delete", "/work/deleted.txt"),
    ];
    assert_eq!(shown.len(), expected.len());
    for (diff, (operation, path)) in shown.iter().zip(expected) {
        assert_eq!(diff["type"], "diff");
        let changes = diff["changes"].as_array().unwrap();
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0]["operation"], operation);
        assert_eq!(changes[0]["path"], path);
        assert_eq!(diff["patch"]["format"], "git_patch");
        let patch = diff["patch"]["text"].as_str().unwrap();
        let mut lines = patch.lines();
        assert_eq!(lines.next(), Some(&*format!("diff --git {path} {path}")));
        let (old, new) = match operation {
            "add" => ("/dev/null", path),
            "delete" => (path, "/dev/null"),
            _ => (path, path),
        };
        assert!(
            patch.contains(&format!("\n--- {old}\n+++ {new}\n@@ ")),
            "{patch}"
        );
        assert!(!patch.contains(" a/") && !patch.contains(" b/"));
    }
    let changed = shown[1]["patch"]["text"].as_str().unwrap();
    assert!(changed.contains("\n-two\n+TWO\n") && changed.contains("\n-nine\n+NINE\n"));
}
