//! What the tools that change files do and say.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "tests fail by panicking"
)]

use std::os::unix::fs::PermissionsExt;

use ply_agent::v2::ToolKind;
use ply_coder::tool::delete::Delete;
use ply_coder::tool::edit_file::EditFile;
use ply_coder::tool::glob::Glob;
use ply_coder::tool::grep::Grep;
use ply_coder::tool::list_dir::ListDir;
use ply_coder::tool::move_file::MoveFile;
use ply_coder::tool::read_file::ReadFile;
use ply_coder::tool::write_file::WriteFile;
use ply_coder::tool::{Access, Order, Tool};
use ply_coder::workspace::Workspace;
use serde_json::json;

use crate::support::{Client, Scratch, Session};

#[tokio::test]
async fn an_edit_is_shown_before_it_is_done() {
    let scratch = Scratch::new();
    scratch.put("root/f", "one\ntwo\nthree\n");
    let session = Session::new(&scratch);
    session.done(&ReadFile, json!({"path": "f"})).await;
    let edits = json!({"path": "f", "edits": [
        {"old": "two", "new": "zwei"}, {"old": "three", "new": "drei"}
    ]});
    let prepared = session.prepare(&EditFile, edits).await.unwrap();
    assert_eq!(prepared.kind, ToolKind::Edit);
    assert_eq!(prepared.locations, [(scratch.at("root/f"), Some(2))]);
    assert_eq!(prepared.access, [Access::Write(scratch.at("root/f"))]);
    assert_eq!(prepared.order, Order::Paths(vec![scratch.at("root/f")]));
    assert_eq!(
        prepared.changes[0].old.as_deref(),
        Some("one\ntwo\nthree\n")
    );
    assert_eq!(
        prepared.changes[0].new.as_deref(),
        Some("one\nzwei\ndrei\n")
    );
    assert_eq!(scratch.text("root/f"), "one\ntwo\nthree\n");
    let outcome = prepared.work.await;
    assert_eq!(scratch.text("root/f"), "one\nzwei\ndrei\n");
    assert_eq!(outcome.changes, None);
    insta::assert_snapshot!(outcome.text, @r"
    Edited `f`. It now reads:
         1	one
         2	zwei
         3	drei
    ");
}

#[tokio::test]
async fn h5_a_file_must_be_read_before_it_is_changed() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\n");
    let session = Session::new(&scratch);
    let edit = json!({"path": "f", "old": "a", "new": "b"});
    let write = json!({"path": "f", "content": "b"});
    session
        .refused(&EditFile, edit.clone(), "has not been read yet")
        .await;
    session
        .refused(&WriteFile, write.clone(), "has not been read yet")
        .await;
    session
        .done(&ReadFile, json!({"path": "f", "limit": 1}))
        .await;
    scratch.put("root/f", "a ...\n");
    session
        .refused(&EditFile, edit.clone(), "changed since it was read")
        .await;
    session
        .refused(&WriteFile, write, "changed since it was read")
        .await;
    session.done(&ReadFile, json!({"path": "f"})).await;
    session.done(&EditFile, edit).await;
    // Its own write is known to the model.
    session
        .done(&WriteFile, json!({"path": "f", "content": "c"}))
        .await;
    assert_eq!(scratch.text("root/f"), "c");
}

// Also: H10.
#[tokio::test]
async fn h5_a_file_that_changes_while_the_user_decides_is_left_alone() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\n");
    let session = Session::new(&scratch);
    session.done(&ReadFile, json!({"path": "f"})).await;
    let tools: [(&dyn Tool, _); 2] = [
        (&EditFile, json!({"path": "f", "old": "a", "new": "b"})),
        (&WriteFile, json!({"path": "f", "content": "b"})),
    ];
    for (tool, arguments) in tools {
        let prepared = session.prepare(tool, arguments).await.unwrap();
        scratch.put("root/f", "someone else's\n");
        let outcome = prepared.work.await;
        assert!(
            outcome.failed && outcome.text.contains("changed since"),
            "{outcome:?}"
        );
        assert_eq!(scratch.text("root/f"), "someone else's\n");
        scratch.put("root/f", "a\n");
    }
    // Nor is a file made where one has come to be.
    let create = json!({"path": "new", "content": "x"});
    let prepared = session.prepare(&WriteFile, create).await.unwrap();
    scratch.put("root/new", "someone else's\n");
    assert!(prepared.work.await.failed);
    assert_eq!(scratch.text("root/new"), "someone else's\n");
}

#[tokio::test]
async fn several_edits_of_one_file_may_be_prepared_at_once() {
    let scratch = Scratch::new();
    scratch.put("root/f", "one\ntwo\n");
    let session = Session::new(&scratch);
    session.done(&ReadFile, json!({"path": "f"})).await;
    let edit = |old: &str, new: &str| json!({"path": "f", "old": old, "new": new});
    let first = session.prepare(&EditFile, edit("one", "1")).await.unwrap();
    let second = session.prepare(&EditFile, edit("two", "2")).await.unwrap();
    let clash = session.prepare(&EditFile, edit("one", "3")).await.unwrap();
    assert!(!first.work.await.failed);
    let outcome = second.work.await;
    assert!(!outcome.failed, "{}", outcome.text);
    // What was announced for the second did not know of the first.
    assert_eq!(outcome.changes.unwrap()[0].new.as_deref(), Some("1\n2\n"));
    assert!(clash.work.await.failed);
    assert_eq!(scratch.text("root/f"), "1\n2\n");
}

// Also: H10.
#[tokio::test]
async fn h3_a_place_that_means_another_by_the_time_of_the_write_is_refused() {
    let scratch = Scratch::new();
    scratch.put("root/a/f", "a\n");
    scratch.put("root/b/f", "a\n");
    let session = Session::new(&scratch);
    session.done(&ReadFile, json!({"path": "a/f"})).await;
    session.done(&ReadFile, json!({"path": "b/f"})).await;
    let edit = json!({"path": "a/f", "old": "a", "new": "b"});
    let prepared = session.prepare(&EditFile, edit).await.unwrap();
    std::fs::rename(scratch.at("root/a"), scratch.at("root/old")).unwrap();
    scratch.link("root/a", "b");
    let outcome = prepared.work.await;
    assert!(outcome.text.contains("another place"), "{}", outcome.text);
    assert_eq!(scratch.text("root/b/f"), "a\n");
}

#[tokio::test]
async fn edits_are_all_done_or_none() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\nb\n");
    let session = Session::new(&scratch);
    session.done(&ReadFile, json!({"path": "f"})).await;
    let edits = json!([{"old": "a", "new": "x"}, {"old": "zzz", "new": "y"}]);
    let outcome = session
        .refused(
            &EditFile,
            json!({"path": "f", "edits": edits}),
            "Edit 2 of 2",
        )
        .await;
    assert!(outcome.text.contains("None of the edits was done"));
    assert_eq!(scratch.text("root/f"), "a\nb\n");
    for (arguments, words) in [
        (json!({"path": "f"}), "`old` is missing"),
        (json!({"path": "f", "edits": []}), "`edits` is empty"),
        (
            json!({"path": "f", "edits": [{"old": "a"}]}),
            "`edits[0].new` is missing",
        ),
        (
            json!({"path": "f", "old": "", "new": "x"}),
            "`old` is empty",
        ),
        (
            json!({"path": "missing", "old": "a", "new": "x"}),
            "no such file",
        ),
        (json!("nonsense"), "not a JSON object"),
    ] {
        session.refused(&EditFile, arguments, words).await;
    }
}

#[tokio::test]
async fn h6_a_change_keeps_mode_line_ends_and_byte_order_mark() {
    let scratch = Scratch::new();
    let path = scratch.put("root/script", "\u{feff}#!/bin/sh\r\necho a\r\nno end");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o750)).unwrap();
    let session = Session::new(&scratch);
    session.done(&ReadFile, json!({"path": "script"})).await;
    let edit = json!({"path": "script", "old": "echo a\n", "new": "echo b\necho c\n"});
    session.done(&EditFile, edit).await;
    assert_eq!(
        scratch.text("root/script"),
        "\u{feff}#!/bin/sh\r\necho b\r\necho c\r\nno end"
    );
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o750);
    // Nothing is left behind.
    assert_eq!(scratch.everything("root").len(), 1);
}

#[tokio::test]
async fn h2_a_write_through_a_link_changes_its_target() {
    let scratch = Scratch::new();
    scratch.put("root/real", "a\n");
    scratch.link("root/link", "real");
    let session = Session::new(&scratch);
    session.done(&ReadFile, json!({"path": "link"})).await;
    let edit = json!({"path": "link", "old": "a", "new": "b"});
    let prepared = session.prepare(&EditFile, edit).await.unwrap();
    assert_eq!(prepared.access, [Access::Write(scratch.at("root/real"))]);
    assert!(!prepared.work.await.failed);
    assert_eq!(scratch.text("root/real"), "b\n");
    assert!(scratch.at("root/link").is_symlink());
}

#[tokio::test]
async fn new_files_come_with_their_directories() {
    let scratch = Scratch::new();
    let session = Session::new(&scratch);
    let write = json!({"path": "a/b/c", "content": "x\n"});
    let prepared = session.prepare(&WriteFile, write).await.unwrap();
    assert_eq!(prepared.changes[0].old, None);
    assert_eq!(prepared.access, [Access::Write(scratch.at("root/a/b/c"))]);
    assert!(!scratch.at("root/a").exists());
    assert!(!prepared.work.await.failed);
    assert_eq!(scratch.text("root/a/b/c"), "x\n");
    session
        .done(&EditFile, json!({"path": "d/e", "old": "", "new": "y\n"}))
        .await;
    assert_eq!(scratch.text("root/d/e"), "y\n");
    let outcome = session
        .call(&WriteFile, json!({"path": "a/b/c/d", "content": "x"}))
        .await;
    assert!(outcome.failed);
}

#[tokio::test]
async fn files_and_empty_directories_are_deleted() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\n");
    scratch.put("root/d/f", "b\n");
    std::fs::create_dir(scratch.at("root/empty")).unwrap();
    scratch.put("outside/kept", "c\n");
    scratch.link("root/link", "../outside/kept");
    let session = Session::new(&scratch);
    let prepared = session
        .prepare(&Delete, json!({"path": "f"}))
        .await
        .unwrap();
    assert_eq!(prepared.kind, ToolKind::Delete);
    assert_eq!(prepared.access, [Access::Delete(scratch.at("root/f"))]);
    assert_eq!(prepared.changes[0].old.as_deref(), Some("a\n"));
    assert_eq!(prepared.changes[0].new, None);
    assert!(!prepared.work.await.failed);
    session.done(&Delete, json!({"path": "empty/"})).await;
    session.done(&Delete, json!({"path": "link"})).await;
    session
        .refused(&Delete, json!({"path": "d"}), "not empty")
        .await;
    session
        .refused(&Delete, json!({"path": "f"}), "no such file")
        .await;
    session
        .refused(
            &Delete,
            json!({"path": ".", "recursive": true}),
            "session's directories",
        )
        .await;
    assert_eq!(scratch.everything("root").len(), 2);
    assert_eq!(scratch.text("outside/kept"), "c\n");
}

#[tokio::test]
async fn a_directory_is_deleted_with_exactly_what_was_announced() {
    let scratch = Scratch::new();
    scratch.put("root/d/e/f", "a\n");
    scratch.put("root/d/.git/config", "b\n");
    scratch.put("outside/kept", "c\n");
    scratch.link("root/d/link", "../../outside");
    let session = Session::new(&scratch);
    let all = json!({"path": "d", "recursive": true});
    let prepared = session.prepare(&Delete, all.clone()).await.unwrap();
    assert_eq!(prepared.title, "Delete `d` and 5 entries in it");
    assert_eq!(prepared.order, Order::Alone);
    let git = Access::Delete(scratch.at("root/d/.git/config"));
    assert!(prepared.access.contains(&git), "{:?}", prepared.access);
    scratch.put("root/d/late", "d\n");
    let outcome = prepared.work.await;
    assert!(outcome.failed, "{}", outcome.text);
    assert_eq!(scratch.text("root/d/e/f"), "a\n");
    let outcome = session.done(&Delete, all).await;
    assert!(
        outcome.text.contains("With it went 6 entries:"),
        "{}",
        outcome.text
    );
    assert!(!scratch.at("root/d").exists());
    assert_eq!(scratch.text("outside/kept"), "c\n");
}

#[tokio::test]
async fn a_directory_with_too_much_in_it_is_not_deleted() {
    let scratch = Scratch::new();
    for number in 0..1001 {
        scratch.put(&format!("root/d/{number}"), "");
    }
    let session = Session::new(&scratch);
    session
        .refused(
            &Delete,
            json!({"path": "d", "recursive": true}),
            "more than 1000 entries",
        )
        .await;
    assert_eq!(scratch.everything("root").len(), 1002);
}

#[tokio::test]
async fn files_are_moved_and_nothing_is_overwritten() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\n");
    scratch.put("root/taken", "b\n");
    scratch.put("root/d/g", "c\n");
    let session = Session::new(&scratch);
    session.done(&ReadFile, json!({"path": "f"})).await;
    session
        .refused(
            &MoveFile,
            json!({"from": "f", "to": "taken"}),
            "not overwritten",
        )
        .await;
    session
        .refused(
            &MoveFile,
            json!({"from": "f", "to": "d"}),
            "not overwritten",
        )
        .await;
    session
        .refused(
            &MoveFile,
            json!({"from": "d", "to": "d/inside"}),
            "not a directory",
        )
        .await;
    session
        .refused(
            &MoveFile,
            json!({"from": "missing", "to": "x"}),
            "no such file",
        )
        .await;
    let arguments = json!({"from": "f", "to": "new/g"});
    let prepared = session.prepare(&MoveFile, arguments).await.unwrap();
    assert_eq!(
        prepared.access,
        [
            Access::Delete(scratch.at("root/f")),
            Access::Read(scratch.at("root/f")),
            Access::Write(scratch.at("root/new/g"))
        ]
    );
    assert!(!prepared.work.await.failed);
    assert_eq!(scratch.text("root/new/g"), "a\n");
    // What was read under the old name is known under the new one.
    session
        .done(&EditFile, json!({"path": "new/g", "old": "a", "new": "z"}))
        .await;
    session
        .done(&MoveFile, json!({"from": "d", "to": "e"}))
        .await;
    assert_eq!(scratch.text("root/e/g"), "c\n");
    // A name that is taken meanwhile.
    let arguments = json!({"from": "e/g", "to": "late"});
    let prepared = session.prepare(&MoveFile, arguments).await.unwrap();
    scratch.put("root/late", "d\n");
    assert!(prepared.work.await.failed);
    assert_eq!(scratch.text("root/late"), "d\n");
}

#[tokio::test]
async fn additional_directories_are_named_by_absolute_paths() {
    let scratch = Scratch::new();
    let file = scratch.put("more/f", "a\n");
    let workspace = Workspace::new(scratch.at("root"), vec![scratch.at("more")]).unwrap();
    assert_eq!(workspace.roots(), [scratch.at("root"), scratch.at("more")]);
    assert_eq!(workspace.cwd(), scratch.at("root"));
    let session = Session::on(workspace, Client::default());
    session.done(&ReadFile, json!({"path": file})).await;
    let edit = json!({"path": file, "old": "a", "new": "b"});
    let outcome = session.done(&EditFile, edit).await;
    let told = format!("Edited `{}`.", file.display());
    assert!(outcome.text.starts_with(&told), "{}", outcome.text);
    session
        .done(&MoveFile, json!({"from": file, "to": "here"}))
        .await;
    assert_eq!(scratch.text("root/here"), "b\n");
    session
        .refused(
            &Delete,
            json!({"path": scratch.at("more"), "recursive": true}),
            "session's directories",
        )
        .await;
}

#[test]
fn every_tool_has_a_schema_that_names_its_arguments() {
    let tools: [&dyn Tool; 8] = [
        &ReadFile, &ListDir, &Glob, &Grep, &EditFile, &WriteFile, &Delete, &MoveFile,
    ];
    for tool in tools {
        let spec = tool.spec();
        assert_eq!(spec.schema["type"], "object", "{}", spec.name);
        let properties = spec.schema["properties"].as_object().unwrap();
        for (name, property) in properties {
            assert!(property["type"].is_string(), "{}: {name}", spec.name);
        }
        let required = spec.schema["required"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for name in required {
            assert!(
                properties.contains_key(name.as_str().unwrap()),
                "{}",
                spec.name
            );
        }
    }
}

#[tokio::test]
async fn a_move_needs_permission_for_everything_that_it_takes_along() {
    let scratch = Scratch::new();
    scratch.put("root/d/workflows/x.yml", "a\n");
    let session = Session::new(&scratch);
    let arguments = json!({"from": "d", "to": ".github"});
    let prepared = session.prepare(&MoveFile, arguments).await.unwrap();
    for path in ["", "/workflows", "/workflows/x.yml"] {
        let from = scratch.at(&format!("root/d{path}"));
        let to = scratch.at(&format!("root/.github{path}"));
        for one in [
            Access::Delete(from.clone()),
            Access::Read(from),
            Access::Write(to),
        ] {
            assert!(prepared.access.contains(&one), "{one:?}");
        }
    }
    // What is put in after that was not allowed.
    scratch.put("root/d/late", "b\n");
    assert!(prepared.work.await.failed);
    assert_eq!(scratch.text("root/d/late"), "b\n");
}

#[tokio::test]
async fn the_text_of_a_secret_is_not_shown_before_it_is_deleted() {
    let scratch = Scratch::new();
    scratch.put("root/d/.env", "KEY=1\n");
    scratch.put("root/d/f", "a\n");
    let session = Session::new(&scratch);
    let arguments = json!({"path": "d", "recursive": true});
    let prepared = session.prepare(&Delete, arguments).await.unwrap();
    let shown: Vec<_> = prepared.changes.iter().map(|one| &one.path).collect();
    assert_eq!(shown, [&scratch.at("root/d/f")]);
}
