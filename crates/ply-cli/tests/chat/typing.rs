//! Keys and pastes.

use terminal_tests::{Key, Keyboard, Screen as _};

use crate::place::{Chat as _, Place, ready};

/// Keys that came after a first one were once lost, because nobody was woken for them.
#[test]
fn every_key_is_shown_however_long_nothing_happened_before() {
    let place = Place::new();
    let terminal = place.open_hostile();
    let mut text = String::new();
    for key in ["a", "b", "c"] {
        text.push_str(key);
        terminal.type_text(key);
        terminal.wait_for_text(&format!("› {text}"));
        // That is the last thing that a clock makes the client do; from then on only a key wakes it.
        place.wait_for_draft(&text);
    }
}

#[test]
fn a_line_ends_with_alt_enter_ctrl_j_and_where_it_is_told_shift_enter() {
    let place = Place::new();
    for keyboard in [Keyboard::Legacy, Keyboard::Kitty] {
        let terminal = ready(&place.hostile("").keyboard(keyboard));
        terminal.type_text("one");
        terminal.press(Key::AltEnter);
        terminal.type_text("two");
        terminal.press(Key::Ctrl('j'));
        terminal.type_text("three");
        if keyboard == Keyboard::Kitty {
            terminal.press(Key::ShiftEnter);
            terminal.type_text("four");
            terminal.wait_for(&|shot| shot.row(21).trim() == "four", "a fourth line");
        } else {
            terminal.wait_for(&|shot| shot.row(21).trim() == "three", "a third line");
        }
        terminal.press(Key::Enter);
        terminal.wait_until_ready_with("Heard.");
        assert!(
            place.notes().contains(r"one\ntwo\nthree"),
            "{}",
            place.notes()
        );
    }
}

#[test]
fn a_short_paste_is_text_and_a_large_one_a_chip_that_is_sent_whole() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.wait_for(&terminal_tests::Shot::is_paste_bracketed, "bracketed paste");
    terminal.paste("a few\nwords");
    terminal.wait_for(&|shot| shot.row(21).trim() == "words", "two lines");
    let large: String = (0..5000).map(|line| format!("line {line}\n")).collect();
    terminal.paste(&large);
    terminal.wait_for_text("[pasted 5000 lines]");
    terminal.press(Key::Enter);
    terminal.wait_until_ready_with("Heard.");
    let notes = place.notes();
    assert!(notes.contains(r"a few\nwords"), "{} bytes", notes.len());
    assert!(
        notes.contains(r"line 4998\nline 4999"),
        "{} bytes",
        notes.len()
    );
}

#[test]
fn j1_a_paste_with_escape_sequences_presses_no_key_and_commands_nothing() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.wait_for(&terminal_tests::Shot::is_paste_bracketed, "bracketed paste");
    // Ctrl-C twice would quit, Enter would send, the rest would clear the screen or set the clipboard.
    terminal.paste("a\x1b[2Jb\x03\x03c\x1b]52;c;eA==\x07d\ne");
    terminal.wait_for(&|shot| shot.row(21).trim() == "e", "the second line");
    assert!(terminal.heard().copied.is_empty());
    let notes = place.notes();
    assert!(!notes.contains("session/prompt"), "{notes}");
    terminal.press(Key::Enter);
    terminal.wait_until_ready_with("Heard.");
}

#[test]
fn earlier_prompts_come_back_also_in_the_next_client() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("say");
    terminal.wait_until_ready_with("Hello, world.");
    terminal.quit();
    let terminal = place.open_hostile();
    terminal.press(Key::Up);
    terminal.wait_for_text("› say");
    terminal.press(Key::Ctrl('u'));
    terminal.press(Key::Ctrl('r'));
    terminal.type_text("sa");
    terminal.wait_for_text("search `sa`: say");
    terminal.press(Key::Enter);
    terminal.wait_for_text("› say");
}

/// Drawing anew once asked the terminal where its cursor is, and keys and answer were taken for each other.
#[test]
fn the_users_editor_has_the_terminal_and_keys_work_again_after_it() {
    let place = Place::new();
    let editor = place.write(
        "editor",
        "#!/bin/sh\nprintf 'editing'\nread answer\nprintf '%s by the editor' \"$answer\" > \"$1\"\n",
    );
    let launch = place
        .hostile("")
        .env("EDITOR", format!("sh {}", editor.display()));
    let terminal = ready(&launch);
    for word in ["once", "twice", "thrice"] {
        terminal.press(Key::Ctrl('g'));
        terminal.wait_for(
            &|shot| !shot.is_alternate() && shot.contains("editing"),
            "the editor",
        );
        // What is typed ahead is the client's.
        terminal.type_text(&format!("{word}\r"));
        terminal.wait_for_text(&format!("› {word} by the editor"));
        terminal.type_text(" and");
        terminal.wait_for_text(&format!("› {word} by the editor and"));
        terminal.type_text(" me");
        terminal.wait_for_text(&format!("› {word} by the editor and me"));
    }
}

/// A client that is busy finds the change of size and the keys together, and must not take one for all there is.
#[test]
fn keys_that_come_with_a_change_of_size_are_shown() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("gush");
    terminal.wait_for_text("and on and on");
    for round in 0..40u16 {
        terminal.resize(80 + round % 2, 24);
        terminal.type_text("together");
        terminal.wait_for_text("› together");
        terminal.press(Key::Ctrl('u'));
        terminal.wait_for_text("Say something");
    }
}
