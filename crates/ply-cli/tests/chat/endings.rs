//! The terminal is given back as it was, however the client ends.

use rustix::process::Signal;
use terminal_tests::{Ended, Key, Keyboard, Screen as _, Terminal};

use crate::place::{Chat as _, Place, ready};

#[track_caller]
fn is_restored(terminal: &Terminal) {
    assert!(terminal.left_on().is_empty(), "{:?}", terminal.left_on());
    let shot = terminal.shot();
    assert!(!shot.is_alternate() && shot.cursor().is_some());
}

#[test]
fn quitting_gives_the_terminal_back() {
    let place = Place::new();
    for keyboard in [Keyboard::Legacy, Keyboard::Kitty] {
        let terminal = ready(&place.hostile("").keyboard(keyboard));
        assert!(!terminal.left_on().is_empty());
        terminal.say(":quit");
        assert_eq!(terminal.ended(), Ended::Code(0));
        is_restored(&terminal);
    }
}

#[test]
fn signals_give_the_terminal_back_and_end_the_agent() {
    let place = Place::new();
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let terminal = place.open_hostile();
        terminal.say("work");
        terminal.wait_for_text("working");
        terminal.signal(signal);
        assert_eq!(terminal.ended(), Ended::Code(0), "{signal:?}");
        is_restored(&terminal);
        let notes = place.notes();
        let pid = notes
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("pid "))
            .unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_alive = stat
            .rsplit_once(") ")
            .is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']));
        assert!(!is_alive, "{signal:?}: {stat}");
    }
}

#[test]
fn a_shell_gets_the_terminal_at_ctrl_z_and_the_client_gets_it_back() {
    let place = Place::new();
    let launch = place.launch("/bin/sh").args(["-i"]).env("PS1", "SHELL> ");
    let terminal = Terminal::spawn(&launch).unwrap();
    terminal.wait_for_text("SHELL>");
    terminal.type_text("ply chat\r");
    for round in ["once", "again"] {
        terminal.wait_for_text("· ready");
        terminal.press(Key::Ctrl('z'));
        terminal.wait_for(
            &|shot| !shot.is_alternate() && shot.text().ends_with("SHELL>"),
            "the shell",
        );
        terminal.type_text(&format!("echo in the $((40+2)) shell {round}\r"));
        let words = format!("in the 42 shell {round}");
        terminal.wait_for(
            &|shot| shot.contains(&words) && shot.text().ends_with("SHELL>"),
            "the shell's answer",
        );
        terminal.type_text("fg\r");
        terminal.wait_for(
            &|shot| shot.is_alternate() && shot.contains("· ready"),
            "the client",
        );
        terminal.type_text(round);
        terminal.wait_for_text(&format!("› {round}"));
        terminal.press(Key::Ctrl('u'));
        terminal.wait_for_text("Say something");
    }
    terminal.say(":quit");
    terminal.wait_for(
        &|shot| !shot.is_alternate() && shot.text().ends_with("SHELL>"),
        "the shell",
    );
    terminal.type_text("exit\r");
    terminal.ended();
    is_restored(&terminal);
}

#[test]
fn ctrl_c_clears_a_text_and_keeps_it_and_then_quits_the_second_time_only() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.type_text("half a thought");
    terminal.wait_for_text("› half a thought");
    terminal.press(Key::Ctrl('c'));
    terminal.wait_for_text("Say something");
    terminal.press(Key::Ctrl('c'));
    terminal.wait_for_text("Ctrl-C again quits");
    terminal.press(Key::Ctrl('c'));
    assert_eq!(terminal.ended(), Ended::Code(0));
    is_restored(&terminal);
    let terminal = place.open_hostile();
    terminal.press(Key::Up);
    terminal.wait_for_text("› half a thought");
}

#[test]
fn the_command_that_goes_on_with_the_session_is_printed_and_works() {
    let place = Place::new();
    let terminal = place.open();
    terminal.say("explain this repository");
    terminal.wait_until_ready_with("A pot for tea");
    terminal.say("/quit");
    assert_eq!(terminal.ended(), Ended::Code(0));
    let text = terminal.shot().text();
    let line = text
        .lines()
        .find(|line| line.contains("ply chat --session"));
    let words: Vec<&str> = line
        .unwrap_or_else(|| panic!("{text}"))
        .split_whitespace()
        .collect();
    assert_eq!(words.len(), 4, "{words:?}");
    let again = place.launch(env!("CARGO_BIN_EXE_ply")).args(&words[1..]);
    ready(&again).wait_for_text("session loaded with its history");
}

#[test]
fn options_and_prompts_without_a_command_open_the_client() {
    let place = Place::new();
    let launch = || place.launch(env!("CARGO_BIN_EXE_ply"));
    ready(&launch().args(["-a", "ply"])).quit();
    ready(&launch().arg("--continue")).quit();
    ready(&launch().arg("explain this repository")).wait_for_text("A pot for tea");
}
