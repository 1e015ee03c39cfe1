//! Lists, help and panes.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use terminal_tests::{Key, Screen as _, Shot};

use crate::place::{Chat as _, Place, ready};

#[test]
fn a_mention_is_chosen_from_the_files_and_sent_as_a_link() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.type_text("look at @po");
    let shot = terminal.wait_for_text("@src/pot.rs");
    assert_snapshot!(place.steady(&shot));
    terminal.press(Key::Enter);
    terminal.wait_for(&|shot| !shot.contains("Enter inserts"), "the mention");
    terminal.press(Key::Enter);
    terminal.wait_until_ready_with("Heard.");
    assert!(place.notes().contains("resource_link"), "{}", place.notes());
    assert!(place.notes().contains("teapot/src/pot.rs"));
}

#[test]
fn commands_of_the_agent_are_listed() {
    let place = Place::new();
    let terminal = place.open();
    terminal.type_text("/");
    let shot = terminal.wait_for_text("Enter inserts");
    assert_snapshot!(place.steady(&shot));
}

#[test]
fn commands_of_the_client_are_listed_completed_and_run() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.type_text(":th");
    let shot = terminal.wait_for(
        &|shot| shot.contains("› :th") && shot.contains(":thoughts"),
        "the list",
    );
    assert_snapshot!(place.steady(&shot));
    terminal.press(Key::Tab);
    terminal.wait_for_text("› :theme");
    terminal.press(Key::Ctrl('u'));
    terminal.wait_for_text("Say something");
    terminal.type_text(":nonsense");
    terminal.wait_for_text("› :nonsense");
    terminal.press(Key::Enter);
    // It says so, and what was written stays.
    terminal.wait_for(
        &|shot| shot.contains("unknown command") && shot.contains("› :nonsense"),
        "the notice",
    );
}

#[test]
fn help_is_one_key_away_and_goes_with_any() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.press(Key::F(1));
    let shot = terminal.wait_for_text("sends; while the agent works, queues");
    assert_snapshot!(place.steady(&shot));
    terminal.press(Key::Esc);
    terminal.wait_for_text("Say something");
}

#[test]
fn a_stored_session_is_picked_and_comes_back_with_its_history() {
    let place = Place::new();
    let terminal = place.open();
    terminal.say("explain this repository");
    terminal.wait_until_ready_with("A pot for tea");
    terminal.quit();
    let terminal = terminal_tests::Terminal::spawn(&place.chat().arg("--pick")).unwrap();
    let shot = terminal.wait_for_text("1 stored");
    assert_snapshot!(place.steady(&shot));
    // It is chosen already, being the latest.
    terminal.press(Key::Enter);
    terminal.wait_until_ready_with("A pot for tea");
}

#[test]
fn the_latest_session_goes_on_and_a_text_that_was_not_sent_is_still_there() {
    let place = Place::new();
    let terminal = place.open();
    terminal.say("explain this repository");
    terminal.wait_until_ready_with("A pot for tea");
    terminal.type_text("half a thought");
    terminal.wait_for_text("› half a thought");
    // Ctrl-C would clear it.
    terminal.signal(rustix::process::Signal::TERM);
    terminal.ended();
    let terminal = ready(&place.chat().arg("--continue"));
    terminal.wait_for_text("A pot for tea");
    terminal.wait_for_text("› half a thought");
}

#[test]
fn the_wire_log_shows_what_goes_both_ways() {
    let place = Place::new();
    let terminal = place.open_hostile();
    terminal.press(Key::Alt('l'));
    let shot = terminal.wait_for_text("wire log");
    let text = shot.text();
    for method in ["initialize", "session/new"] {
        assert!(text.contains(method), "{text}");
    }
    terminal.say("say");
    terminal.wait_for_text("session/prompt");
    // As long as a turn runs, Esc would cancel it.
    terminal.wait_until_ready_with("Hello, world.");
    terminal.press(Key::Esc);
    terminal.wait_for(&|shot| !shot.contains("wire log"), "no wire log");
}

/// Whether words of the code are told apart by their style.
fn has_coloured_code(styled: &str) -> bool {
    let styles_of = |words: &str| {
        let mut lines = styled.lines().skip_while(|line| !line.contains(words));
        let styles: BTreeSet<char> = lines.nth(1).unwrap_or_default().chars().collect();
        styles.iter().filter(|style| **style != ' ').count()
    };
    // The panel behind it, plain code, and at least one colour; in a diff also the number, the sign and the words that differ.
    styles_of("fn pour()") > 2 && styles_of(" - ") > 4
}

#[test]
fn themes_are_chosen_by_background_by_name_and_not_at_all() {
    let place = Place::new();
    let styles = |launch, lines: &[&str]| {
        let terminal = ready(&launch);
        for line in lines {
            terminal.say(line);
        }
        terminal.wait_until_ready_with("• two");
        // Code gets its colours when there is time for them.
        let is_coloured = |shot: &Shot| has_coloured_code(&shot.styled());
        terminal
            .wait_for(&is_coloured, "the colours of the code")
            .styled()
    };
    let dark = styles(place.hostile(""), &["turn"]);
    let by_variable = styles(place.hostile("").env("COLORFGBG", "0;15"), &["turn"]);
    let light = styles(place.hostile(""), &[":theme light", "turn"]);
    let plain = {
        let terminal = ready(&place.hostile("").env("NO_COLOR", "1"));
        terminal.say("turn");
        terminal.wait_until_ready_with("• two");
        let is_styled = |shot: &Shot| {
            let styled = shot.styled();
            let mut lines = styled
                .lines()
                .skip_while(|line| !line.contains("fn pour()"));
            lines.nth(1).is_some_and(|line| !line.starts_with('|'))
        };
        terminal
            .wait_for(&is_styled, "the styles of the code")
            .styled()
    };
    let colours = |styled: &str| {
        let legend = styled
            .lines()
            .rev()
            .take_while(|line| !line.starts_with('|'));
        let mut legend: Vec<_> = legend
            .map(|line| {
                line.split_once(' ')
                    .map_or("", |(_, style)| style)
                    .to_owned()
            })
            .collect();
        legend.sort();
        legend.join("\n")
    };
    assert_ne!(colours(&dark), colours(&light));
    assert_eq!(colours(&by_variable), colours(&light));
    assert_snapshot!("theme_dark", without_time(&place.steady_text(&dark)));
    assert_snapshot!(
        "theme_light",
        without_time(&place.steady_text(&by_variable))
    );
    assert_snapshot!("theme_plain", without_time(&place.steady_text(&plain)));
    // Meaning does not depend on colours.
    assert!(!colours(&plain).contains("fg"), "{plain}");
}

/// Leaves out the line where the turn ended, with its styles: how many digits its time has is not known.
fn without_time(styled: &str) -> String {
    let mut lines = styled.lines();
    let mut kept = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with("|✓ N s") {
            lines.next();
        } else {
            kept.push(line);
        }
    }
    kept.join("\n")
}

#[test]
fn sessions_of_an_agent_that_keeps_no_list_are_found_again() {
    let place = Place::new();
    let launch = || place.hostile("").env("CAPS", r#"{"loadSession":true}"#);
    let terminal = ready(&launch());
    terminal.say("say");
    terminal.wait_until_ready_with("Hello, world.");
    terminal.quit();
    // By the list, which has its first prompt.
    let terminal = ready(&launch());
    terminal.press(Key::Ctrl('s'));
    terminal.wait_for(
        &|shot| shot.contains("1 stored") && shot.contains("● say"),
        "the list",
    );
    terminal.press(Key::Esc);
    terminal.quit();
    assert!(!place.notes().contains("session/load"));
    let continued = place.hostile_with(&["--continue"], "");
    let terminal = ready(&continued.env("CAPS", r#"{"loadSession":true}"#));
    terminal.quit();
    assert!(place.notes().contains("session/load"), "{}", place.notes());
}
