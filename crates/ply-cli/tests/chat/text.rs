//! Texts of others: wide, from right to left, hostile, not text at all.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use insta::assert_snapshot;
use terminal_tests::{Key, Screen as _};

use crate::place::{Chat as _, Place};

#[test]
fn wide_characters_and_emoji_take_their_columns_and_marks_turn_nothing_around() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.resize(60, 40);
    terminal.say("wide");
    let shot = terminal.wait_until_ready_with("名前");
    assert_snapshot!(place.steady(&shot));
    let output = String::from_utf8_lossy(&terminal.output()).into_owned();
    for mark in ['\u{202e}', '\u{2069}'] {
        assert!(
            !output.contains(mark),
            "{:x} reached the terminal",
            u32::from(mark)
        );
    }
}

#[test]
fn wide_characters_are_written_moved_through_and_deleted() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.type_text("茶壺👍x");
    let shot = terminal.wait_for_text("› 茶壺👍x");
    // Two columns for the sign, two for each wide character, one for the last.
    assert_eq!(shot.cursor().map(|(column, _)| column), Some(9));
    terminal.press(Key::Left);
    terminal.press(Key::Left);
    terminal.wait_for(
        &|shot| shot.cursor().is_some_and(|(column, _)| column == 6),
        "the cursor before the thumb",
    );
    terminal.press(Key::Delete);
    terminal.wait_for(&|shot| shot.contains("› 茶壺x"), "no thumb");
    terminal.press(Key::Backspace);
    terminal.wait_for(&|shot| shot.contains("› 茶x"), "no pot");
}

#[test]
fn j1_nothing_that_a_terminal_obeys_comes_through_from_the_agent() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("deceive");
    terminal.wait_for(
        &|shot| shot.contains("· ready") && shot.contains("txt"),
        "the end of the turn",
    );
    terminal.press(Key::Alt('l'));
    terminal.wait_for_text("wire log");
    assert!(terminal.heard().copied.is_empty(), "{:?}", terminal.heard());
    let output = String::from_utf8_lossy(&terminal.output()).into_owned();
    assert!(!output.contains("\x1b]52"), "the clipboard was set");
    assert!(!output.contains('\u{202e}'), "text was turned around");
    assert!(
        !output.contains('\u{85}'),
        "a control character of the upper half"
    );
}

#[test]
fn files_whose_names_are_no_text_or_hostile_do_no_harm() {
    let place = Place::new();
    let odd: [&[u8]; 4] = [
        b"bad-\xff\xfe.txt",
        b"esc-\x1b[31mred.txt",
        "rtl-\u{202e}txt.exe".as_bytes(),
        "wide-茶壺.txt".as_bytes(),
    ];
    for name in odd {
        place.write(
            std::path::Path::new("teapot").join(OsStr::from_bytes(name)),
            "x",
        );
    }
    let terminal = place.open_hostile();
    terminal.type_text("@.");
    let shot = terminal.wait_for_text("wide-茶壺.txt");
    assert_snapshot!(place.steady(&shot));
    let output = String::from_utf8_lossy(&terminal.output()).into_owned();
    assert!(!output.contains("\x1b[31mred"));
    assert!(!output.contains('\u{202e}'));
    // Every one that is offered can be sent.
    terminal.press(Key::Ctrl('u'));
    terminal.wait_for_text("Say something");
    terminal.type_text("@rtl");
    terminal.wait_for(
        &|shot| shot.row(20).contains("@rtl") || shot.row(19).contains("@rtl"),
        "the file",
    );
    terminal.press(Key::Enter);
    terminal.wait_for(&|shot| !shot.contains("Enter inserts"), "the mention");
    terminal.press(Key::Enter);
    terminal.wait_until_ready_with("Heard.");
    assert!(place.notes().contains("resource_link"));
}
