//! Files that the client has open, with changes that are not saved.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "tests fail by panicking"
)]

use ply_coder::tool::delete::Delete;
use ply_coder::tool::edit_file::EditFile;
use ply_coder::tool::grep::Grep;
use ply_coder::tool::move_file::MoveFile;
use ply_coder::tool::read_file::ReadFile;
use ply_coder::tool::write_file::WriteFile;
use serde_json::json;

use crate::support::{Client, Saves, Scratch, Session};

#[tokio::test]
async fn unsaved_changes_are_read_and_the_model_is_told() {
    let scratch = Scratch::new();
    let path = scratch.put("root/f", "on disk\n");
    let session = Session::with_client(&scratch, Client::with_files());
    session.client.open(path, "in the editor\n");
    let read = session.done(&ReadFile, json!({"path": "f"})).await;
    assert!(read.text.contains("1\tin the editor"), "{}", read.text);
    assert!(read.text.contains("not saved to disk yet"), "{}", read.text);
}

#[tokio::test]
async fn a_buffer_equal_to_the_disk_is_nothing_special() {
    let scratch = Scratch::new();
    let path = scratch.put("root/f", "\u{feff}a\r\nb\r\n");
    let session = Session::with_client(&scratch, Client::with_files());
    // Editors drop the mark and keep lines with `\n`.
    session.client.open(path.clone(), "a\nb\n");
    let read = session.done(&ReadFile, json!({"path": "f"})).await;
    assert!(!read.text.contains("not saved"), "{}", read.text);
    session
        .done(&EditFile, json!({"path": "f", "old": "b", "new": "c"}))
        .await;
    assert_eq!(scratch.text("root/f"), "\u{feff}a\r\nc\r\n");
}

#[tokio::test]
async fn a_buffer_that_holds_what_was_on_disk_before_is_merely_stale() {
    let scratch = Scratch::new();
    let path = scratch.put("root/f", "first\n");
    let session = Session::with_client(&scratch, Client::with_files());
    session.client.open(path, "first\n");
    session.done(&ReadFile, json!({"path": "f"})).await;
    // A command changes the file and the client does not notice.
    scratch.put("root/f", "second\n");
    for _ in 0..3 {
        let read = session.done(&ReadFile, json!({"path": "f"})).await;
        assert!(read.text.contains("1\tsecond"), "{}", read.text);
        assert!(!read.text.contains("not saved"), "{}", read.text);
    }
}

#[tokio::test]
async fn a_new_file_that_was_never_saved_is_read_and_edited_in_the_client() {
    let scratch = Scratch::new();
    let session = Session::with_client(&scratch, Client::with_files());
    session.client.open(scratch.at("root/new"), "draft\n");
    let read = session.done(&ReadFile, json!({"path": "new"})).await;
    assert!(read.text.contains("1\tdraft"), "{}", read.text);
    session
        .done(
            &EditFile,
            json!({"path": "new", "old": "draft", "new": "done"}),
        )
        .await;
    assert_eq!(scratch.text("root/new"), "done\n");
    session
        .refused(&ReadFile, json!({"path": "other"}), "no such file")
        .await;
}

#[tokio::test]
async fn an_edit_of_unsaved_changes_goes_through_the_client() {
    let scratch = Scratch::new();
    let path = scratch.put("root/f", "on disk\n");
    let session = Session::with_client(&scratch, Client::with_files());
    session.client.open(path.clone(), "mine\nin the editor\n");
    session.done(&ReadFile, json!({"path": "f"})).await;
    session
        .done(
            &EditFile,
            json!({"path": "f", "old": "in the editor", "new": "edited"}),
        )
        .await;
    assert_eq!(scratch.text("root/f"), "mine\nedited\n");
    assert_eq!(session.client.buffer(&path).unwrap(), "mine\nedited\n");
}

#[tokio::test]
async fn h5_an_edit_is_refused_when_the_user_typed_since() {
    let scratch = Scratch::new();
    let path = scratch.put("root/f", "a\n");
    let session = Session::with_client(&scratch, Client::with_files());
    session.done(&ReadFile, json!({"path": "f"})).await;
    session.client.open(path, "a\ntyped\n");
    session
        .refused(
            &EditFile,
            json!({"path": "f", "old": "a", "new": "b"}),
            "has changed since",
        )
        .await;
    session
        .refused(
            &WriteFile,
            json!({"path": "f", "content": "b"}),
            "has changed since",
        )
        .await;
    assert_eq!(scratch.text("root/f"), "a\n");
}

#[tokio::test]
async fn what_the_client_formats_while_saving_is_reported_as_the_change() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\n");
    let session = Session::with_client(&scratch, Client::saving(Saves::Formatted));
    session.done(&ReadFile, json!({"path": "f"})).await;
    let edit = json!({"path": "f", "old": "a", "new": "b   \nc"});
    let prepared = session.prepare(&EditFile, edit).await.unwrap();
    assert_eq!(prepared.changes[0].new.as_deref(), Some("b   \nc\n"));
    let outcome = prepared.work.await;
    assert!(outcome.text.contains("formatted it"), "{}", outcome.text);
    let changes = outcome.changes.unwrap();
    assert_eq!(changes[0].old.as_deref(), Some("a\n"));
    assert_eq!(changes[0].new.as_deref(), Some("b\nc\n"));
    // What landed is known, so the next edit needs no further look.
    session
        .done(&EditFile, json!({"path": "f", "old": "c", "new": "d"}))
        .await;
    assert_eq!(scratch.text("root/f"), "b\nd\n");
}

#[tokio::test]
async fn line_ends_that_the_client_loses_are_put_right() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\r\nb\r\n");
    let session = Session::with_client(&scratch, Client::saving(Saves::UnixLines));
    session.done(&ReadFile, json!({"path": "f"})).await;
    let edit = json!({"path": "f", "old": "b", "new": "c"});
    let outcome = session.done(&EditFile, edit).await;
    assert_eq!(outcome.changes, None);
    assert_eq!(scratch.text("root/f"), "a\r\nc\r\n");
}

#[tokio::test]
async fn a_write_that_the_client_refuses_is_done_without_it() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\n");
    let session = Session::with_client(&scratch, Client::saving(Saves::Refused));
    session.done(&ReadFile, json!({"path": "f"})).await;
    session
        .done(&EditFile, json!({"path": "f", "old": "a", "new": "b"}))
        .await;
    session
        .done(&WriteFile, json!({"path": "deep/new", "content": "x"}))
        .await;
    assert_eq!(scratch.text("root/f"), "b\n");
    assert_eq!(scratch.text("root/deep/new"), "x");
}

#[tokio::test]
async fn a_buffer_that_missed_our_own_write_is_merely_stale() {
    let scratch = Scratch::new();
    let path = scratch.put("root/f", "a\n");
    let session = Session::with_client(&scratch, Client::saving(Saves::Refused));
    session.client.open(path, "a\n");
    session.done(&ReadFile, json!({"path": "f"})).await;
    for (old, new) in [("a", "b"), ("b", "c")] {
        session
            .done(&EditFile, json!({"path": "f", "old": old, "new": new}))
            .await;
    }
    let read = session.done(&ReadFile, json!({"path": "f"})).await;
    assert_eq!(read.text, "     1\tc\n");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_answers_holds_nobody_up() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\n");
    let session = Session::with_client(&scratch, Client::saving(Saves::Silent));
    session.done(&ReadFile, json!({"path": "f"})).await;
    // From then on there is the disk, and the client is not asked again.
    session
        .done(&EditFile, json!({"path": "f", "old": "a", "new": "b"}))
        .await;
    session.done(&ReadFile, json!({"path": "f"})).await;
    assert_eq!(scratch.text("root/f"), "b\n");
    let calls = session.client.calls();
    let asked = calls.iter().filter(|call| *call != "notice").count();
    assert_eq!((asked, calls.len()), (1, 2), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_write_of_which_nothing_was_heard_is_no_success() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\n");
    let session = Session::with_client(&scratch, Client::saving(Saves::SilentWrites));
    session.done(&ReadFile, json!({"path": "f"})).await;
    session
        .refused(
            &EditFile,
            json!({"path": "f", "old": "a", "new": "b"}),
            "did not say in time",
        )
        .await;
}

#[tokio::test]
async fn a_write_that_the_client_refuses_never_loses_unsaved_changes() {
    let scratch = Scratch::new();
    let path = scratch.put("root/f", "a\n");
    let session = Session::with_client(&scratch, Client::saving(Saves::Refused));
    session.client.open(path.clone(), "typed\n");
    session.done(&ReadFile, json!({"path": "f"})).await;
    session
        .refused(
            &EditFile,
            json!({"path": "f", "old": "typed", "new": "b"}),
            "unsaved changes in it",
        )
        .await;
    assert_eq!(scratch.text("root/f"), "a\n");
    assert_eq!(session.client.buffer(&path).unwrap(), "typed\n");
}

#[tokio::test]
async fn a_client_that_keeps_the_text_in_its_buffer_is_told_about() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\n");
    let session = Session::with_client(&scratch, Client::saving(Saves::InBuffer));
    session.done(&ReadFile, json!({"path": "f"})).await;
    let edit = json!({"path": "f", "old": "a", "new": "b"});
    let outcome = session.done(&EditFile, edit).await;
    assert!(
        outcome.text.contains("has not saved it"),
        "{}",
        outcome.text
    );
    let read = session.done(&ReadFile, json!({"path": "f"})).await;
    assert!(read.text.contains("1\tb"), "{}", read.text);
    session
        .done(&EditFile, json!({"path": "f", "old": "b", "new": "c"}))
        .await;
}

#[tokio::test]
async fn a_client_that_loses_the_text_is_no_success() {
    let scratch = Scratch::new();
    scratch.put("root/f", "a\n");
    let session = Session::with_client(&scratch, Client::saving(Saves::Nowhere));
    session.done(&ReadFile, json!({"path": "f"})).await;
    session
        .refused(
            &EditFile,
            json!({"path": "f", "old": "a", "new": "b"}),
            "read the file again",
        )
        .await;
}

#[tokio::test]
async fn a_client_that_cannot_both_read_and_write_is_not_asked() {
    let scratch = Scratch::new();
    let path = scratch.put("root/f", "on disk\n");
    let session = Session::new(&scratch);
    session.client.open(path, "in the editor\n");
    let read = session.done(&ReadFile, json!({"path": "f"})).await;
    assert!(read.text.contains("1\ton disk"), "{}", read.text);
    session
        .done(
            &EditFile,
            json!({"path": "f", "old": "on disk", "new": "x"}),
        )
        .await;
    assert_eq!(scratch.text("root/f"), "x\n");
    assert_eq!(session.client.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn files_with_unsaved_changes_are_neither_deleted_nor_moved() {
    let scratch = Scratch::new();
    let path = scratch.put("root/f", "a\n");
    let session = Session::with_client(&scratch, Client::with_files());
    session.client.open(path, "typed\n");
    session
        .refused(&Delete, json!({"path": "f"}), "unsaved changes")
        .await;
    session
        .refused(
            &MoveFile,
            json!({"from": "f", "to": "g"}),
            "unsaved changes",
        )
        .await;
    assert_eq!(scratch.text("root/f"), "a\n");
}

#[tokio::test]
async fn unsaved_changes_that_were_read_are_searched() {
    let scratch = Scratch::new();
    let path = scratch.put("root/f", "on disk\n");
    let session = Session::with_client(&scratch, Client::with_files());
    session.client.open(path, "needle\n");
    session.done(&ReadFile, json!({"path": "f"})).await;
    let found = session.done(&Grep, json!({"pattern": "needle|disk"})).await;
    assert_eq!(found.text, "f:1:needle\n");
}

#[tokio::test]
async fn the_client_is_asked_by_the_name_it_gave_its_root() {
    let scratch = Scratch::new();
    scratch.put("root/f", "on disk\n");
    scratch.link("name", "root");
    let session = Session::at(scratch.at("name"), Client::with_files());
    session.client.open(scratch.at("name/f"), "in the editor\n");
    let read = session.done(&ReadFile, json!({"path": "f"})).await;
    assert!(read.text.contains("1\tin the editor"), "{}", read.text);
}
