//! Agents that are not there, do not let one in, or die.

use insta::assert_snapshot;
use terminal_tests::{Key, Screen as _, Terminal};

use crate::place::{Chat as _, Place};

#[test]
fn a_dead_agent_leaves_its_exit_status_and_last_words_and_is_started_again() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("die");
    let shot = terminal.wait_for_text("has stopped");
    assert_snapshot!(place.steady(&shot));
    assert!(!shot.text().contains('\u{1b}'));
    let notes = place.notes();
    assert_eq!(notes.matches("pid ").count(), 1, "{notes}");
}

#[test]
fn an_agent_that_ends_at_once_is_told_with_what_it_said() {
    let place = Place::new();
    let terminal = Terminal::spawn(&place.hostile("dead")).unwrap();
    let shot = terminal.wait_for_text("no configuration");
    assert_snapshot!(place.steady(&shot));
}

#[test]
fn an_agent_that_is_not_there_is_told_with_how_to_get_it() {
    let place = Place::new();
    // Nothing but the program itself can be found.
    let launch = place
        .chat()
        .args(["-a", "gemini"])
        .env("PATH", "/nonexistent");
    let terminal = Terminal::spawn(&launch).unwrap();
    let shot = terminal.wait_for_text("To install it:");
    assert_snapshot!(place.steady(&shot));
}

#[test]
fn an_agent_that_wants_a_login_gets_one() {
    let place = Place::new();
    let terminal = Terminal::spawn(&place.hostile("auth")).unwrap();
    let shot = terminal.wait_for_text("needs you to log in first");
    assert_snapshot!(place.steady(&shot));
    // What is written meanwhile is not lost.
    terminal.type_text("say");
    terminal.wait_for_text("Enter queues; sent when this is solved");
    terminal.press(Key::Enter);
    terminal.wait_for_text("queued 1: say");
    terminal.press(Key::Enter);
    terminal.wait_until_ready_with("Hello, world.");
    assert!(place.notes().contains("authenticate"));
}

#[test]
fn an_agent_that_never_answers_can_be_left() {
    let place = Place::new();
    let terminal = Terminal::spawn(&place.hostile("hang")).unwrap();
    terminal.wait_for_text("Starting");
    terminal.quit();
    assert!(terminal.left_on().is_empty(), "{:?}", terminal.left_on());
}

#[test]
fn a_turn_that_fails_says_why_without_commanding_the_terminal() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.say("fail");
    terminal.wait_until_ready_with("on fire");
}
