//! What works while an agent talks without end.

use terminal_tests::{Key, Screen as _, Shot};

use crate::place::{Chat as _, Place, SIZE};

#[test]
fn keys_are_shown_and_commands_done_while_the_agent_floods() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("gush");
    terminal.wait_for_text("and on and on");
    terminal.type_text("typed meanwhile");
    terminal.wait_for_text("› typed meanwhile");
    terminal.press(Key::Ctrl('u'));
    terminal.wait_for_text("Say something");
    terminal.press(Key::F(1));
    terminal.wait_for_text("sends; while the agent works, queues");
    terminal.press(Key::Esc);
    terminal.wait_for_text("Esc cancels the turn");
    terminal.press(Key::Esc);
    terminal.wait_for_text("· ready");
}

#[test]
fn the_screen_changes_its_size_in_the_middle_of_it_down_to_one_cell() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("gush");
    terminal.wait_for_text("and on and on");
    let (columns, rows) = SIZE;
    for size in [
        (120, 50),
        (20, 5),
        (1, 1),
        (2, 30),
        (200, 1),
        (3, 3),
        (columns, rows),
    ] {
        terminal.resize(size.0, size.1);
        let is_drawn = |shot: &Shot| shot.columns() == size.0 && !shot.text().is_empty();
        terminal.wait_for(&is_drawn, &format!("something at {size:?}"));
    }
    terminal.wait_for_text("and on and on");
    terminal.type_text("still here");
    terminal.wait_for_text("› still here");
    terminal.press(Key::Ctrl('u'));
    terminal.wait_for_text("Say something");
    terminal.press(Key::Esc);
    let shot = terminal.wait_until_ready_with("? help");
    assert_eq!((shot.columns(), shot.rows()), SIZE);
}

#[test]
fn whoever_scrolls_up_stays_there_while_more_comes() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("lines");
    terminal.wait_until_ready_with("line 60");
    // A prompt goes to the end.
    terminal.say("gush");
    terminal.wait_for_text("and on and on");
    terminal.press(Key::Alt('1'));
    terminal.send(b"\x1b[1;3A");
    let up = terminal.wait_for_text("new below");
    terminal.press(Key::Esc);
    let after = terminal.wait_for_text("· ready");
    assert_eq!(after.row(0), up.row(0));
    // Ctrl-End.
    terminal.send(b"\x1b[1;5F");
    terminal.wait_for(&|shot| !shot.contains("new below"), "the end");
}

#[test]
fn ten_megabytes_of_tool_output_are_a_few_rows() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("flood");
    terminal.wait_until_ready_with("That was much.");
    // What was drawn is a small part of it.
    assert!(
        terminal.output().len() < 1_000_000,
        "{} bytes",
        terminal.output().len()
    );
    terminal.type_text("x");
    terminal.wait_for_text("› x");
    let status = std::fs::read_to_string(format!("/proc/{}/status", terminal.pid())).unwrap();
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    let kib: u64 = resident.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib < 300_000, "{kib} KiB");
}
