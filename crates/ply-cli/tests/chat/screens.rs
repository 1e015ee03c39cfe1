//! What is on the screen, from the start to the end of a turn.

use insta::assert_snapshot;
use terminal_tests::{Key, Screen as _};

use crate::place::{Chat as _, Place};

#[test]
fn the_first_screen_says_who_is_there_and_what_the_keys_do() {
    let place = Place::new();
    let terminal = place.open();
    let shot = terminal.wait_for_text("? help");
    assert_snapshot!(place.steady(&shot));
    assert!(shot.cursor().is_some(), "the composer has a cursor");
}

#[test]
fn a_whole_turn_has_its_plan_its_tool_calls_and_its_answer() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.resize(80, 40);
    terminal.say("turn");
    let shot = terminal.wait_until_ready_with("• two");
    assert_snapshot!(place.steady(&shot));
}

#[test]
fn on_a_wide_screen_the_plan_is_beside_the_transcript() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.resize(140, 40);
    terminal.say("turn");
    let shot = terminal.wait_until_ready_with("• two");
    assert_snapshot!(place.steady(&shot));
}

#[test]
fn the_agent_in_the_program_explains_the_repository() {
    let place = Place::new();
    let terminal = place.open();
    terminal.resize(80, 40);
    terminal.say("explain this repository");
    let shot = terminal.wait_until_ready_with("A pot for tea");
    assert_snapshot!(place.steady(&shot));
}

#[test]
fn a_question_shows_the_change_and_is_answered_by_a_number() {
    let place = Place::new();
    let terminal = place.open();
    terminal.say("replace todo with serve in src/pot.rs");
    // A question is answered by a number once it was in sight for a moment.
    let shot = terminal.wait_for_text("1–9 answer");
    assert_snapshot!(place.steady(&shot));
    terminal.type_text("1");
    terminal.wait_for(
        &|shot| !shot.contains("[1]") && shot.contains("· ready"),
        "the end of the turn",
    );
    let changed = std::fs::read_to_string(place.path("teapot/src/pot.rs")).unwrap();
    assert!(changed.contains("serve();"), "{changed}");
}

#[test]
fn a_question_can_be_answered_with_no() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("edit");
    terminal.wait_for_text("1–9 answer");
    terminal.type_text("3");
    terminal.wait_until_ready_with("Rejected.");
    assert!(place.notes().contains(r#""optionId":"no""#));
}

#[test]
fn prompts_wait_while_the_agent_works_and_are_held_after_a_cancel() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("work");
    terminal.wait_for_text("working");
    terminal.type_text("say");
    terminal.wait_for_text("Enter queues · Esc");
    terminal.press(Key::Enter);
    terminal.wait_for_text("queued 1: say");
    terminal.say("refuse");
    let shot = terminal.wait_for_text("queued 2: refuse");
    assert_snapshot!("queued", place.steady(&shot));
    terminal.press(Key::Esc);
    let shot = terminal.wait_for_text("held 1: say");
    assert_snapshot!("held", place.steady(&shot));
    terminal.press(Key::Enter);
    terminal.wait_for_text("Hello, world.");
    // The queue goes on by itself after that, and ends with a refusal that is told.
    terminal.wait_until_ready_with("the agent refused");
}

#[test]
fn an_interrupt_sends_at_once_what_was_written() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("work");
    terminal.wait_for_text("working");
    terminal.type_text("say");
    terminal.wait_for_text("Alt-I interrupts");
    terminal.press(Key::Alt('i'));
    terminal.wait_until_ready_with("Hello, world.");
    assert!(place.notes().contains("session/cancel"));
}

#[test]
fn the_mode_changes_with_a_key_and_with_a_command() {
    let place = Place::new();
    let terminal = place.open();
    let before = terminal.shot().row(23);
    terminal.press(Key::BackTab);
    let shot = terminal.wait_for(&|shot| shot.row(23) != before, "another mode");
    assert_snapshot!(place.steady_text(&format!("{before}\n{}", shot.row(23))));
    terminal.say(":mode plan");
    terminal.wait_for(&|shot| shot.row(23).contains("· Plan"), "the mode");
}

#[test]
fn a_version_1_agent_writes_files_and_runs_commands_by_the_client() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("serve me");
    terminal.wait_until_ready_with("Served.");
    terminal.press(Key::Alt('f'));
    terminal.wait_for_text("from the terminal");
    let made = std::fs::read_to_string(place.path("teapot/made.txt"));
    assert_eq!(made.unwrap(), "made\n");
    terminal.quit();
    std::fs::remove_file(place.path("teapot/made.txt")).unwrap();
    let terminal = crate::place::ready(&place.hostile_with(&["--offer="], ""));
    terminal.say("serve me");
    terminal.wait_until_ready_with("Served.");
    assert!(!place.path("teapot/made.txt").exists());
}
