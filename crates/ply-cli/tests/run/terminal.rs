//! What is different where somebody sits at a terminal.

use std::process::Command;

use insta::assert_snapshot;
use terminal_tests::{Ended, Launch, Screen as _};

use crate::place::Place;

/// A run on a terminal.
struct Terminal(terminal_tests::Terminal);

impl Terminal {
    /// Starts a command with a terminal of its own, so that Ctrl-C there is a signal.
    fn start(command: &Command, columns: u16) -> Self {
        // What is typed is not shown, since it would be anywhere.
        let launch = Launch::from(command).size(columns, 40).without_echo();
        Self(terminal_tests::Terminal::spawn(&launch).unwrap())
    }

    #[track_caller]
    fn wait_for(&self, words: &str) {
        self.0.wait_for_text(words);
    }

    fn type_keys(&self, keys: &str) {
        self.0.type_text(keys);
    }

    /// Waits for the end and returns all that was written, and the exit code.
    #[track_caller]
    fn end(self) -> (String, Option<i32>) {
        let code = match self.0.ended() {
            Ended::Code(code) => Some(code),
            Ended::Signal(_) => None,
        };
        let output = String::from_utf8_lossy(&self.0.output()).replace("\r\n", "\n");
        (output, code)
    }
}

#[test]
fn a_question_shows_what_would_change_and_is_answered_by_a_number() {
    let place = Place::new();
    let mut command = place.hostile("", &["edit"]);
    command.env("NO_COLOR", "1");
    let terminal = Terminal::start(&command, 80);
    terminal.wait_for("Choose 1-3:");
    terminal.type_keys("7\n");
    terminal.wait_for("say the number of one of them");
    terminal.type_keys("1\n");
    let (screen, code) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    let question = screen
        .split_once("\n? ")
        .unwrap()
        .1
        .split_once("Allowed.")
        .unwrap()
        .0;
    assert_snapshot!(question, @r"
    Allow: Write a.txt
      │ edit /w/a.txt
      │ --- /w/a.txt
      │ +++ /w/a.txt
      │ @@ -1 +1 @@
      │ -one
      │ +two
      1) yes, once: Allow
      2) yes, always: Always allow
      3) no, once: Reject
    Choose 1-3:   say the number of one of them; Ctrl-D for none
    Choose 1-3:
    ");
    assert!(place.notes().contains(r#""optionId":"yes""#));
}

#[test]
fn the_user_who_says_no_is_no_failure() {
    let place = Place::new();
    let terminal = Terminal::start(&place.hostile("", &["edit"]), 80);
    terminal.wait_for("Choose 1-3:");
    terminal.type_keys("3\n");
    let (screen, code) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("Rejected."), "{screen}");
}

#[test]
fn the_end_of_the_input_is_a_no() {
    let place = Place::new();
    let terminal = Terminal::start(&place.hostile("", &["edit"]), 80);
    terminal.wait_for("Choose 1-3:");
    terminal.type_keys("\u{4}");
    let (screen, code) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("Rejected."), "{screen}");
}

#[test]
fn ctrl_c_during_a_question_cancels_the_turn() {
    let place = Place::new();
    let terminal = Terminal::start(&place.hostile("", &["edit"]), 80);
    terminal.wait_for("Choose 1-3:");
    terminal.type_keys("\u{3}");
    let (screen, code) = terminal.end();
    assert_eq!(code, Some(130), "{screen}");
    assert!(place.notes().contains("session/cancel"));
    place.agent_ends();
}

#[test]
fn ctrl_c_during_a_question_leaves_no_other_to_be_asked() {
    let place = Place::new();
    let command = place.hostile("", &["--output", "json", "both"]);
    let terminal = Terminal::start(&command, 80);
    terminal.wait_for("Choose 1-3:");
    terminal.type_keys("\u{3}");
    let (screen, code) = terminal.end();
    assert_eq!(code, Some(130), "{screen}");
    assert_eq!(screen.matches("Choose 1-3: ").count(), 1, "{screen}");
    assert_eq!(
        screen.matches(r#""answer": "cancelled""#).count(),
        2,
        "{screen}"
    );
}

#[test]
fn a_form_is_filled_in_field_by_field_and_may_be_declined() {
    let place = Place::new();
    let terminal = Terminal::start(&place.hostile("", &["form"]), 80);
    terminal.wait_for("  │ Who are you?");
    terminal.wait_for("age [Enter for none]:");
    terminal.type_keys("old\n");
    terminal.wait_for("say a whole number");
    terminal.type_keys("\n");
    terminal.wait_for("Name:");
    terminal.type_keys("Ada\n");
    let (screen, code) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("Hello, Ada."), "{screen}");
    let terminal = Terminal::start(&place.hostile("", &["form"]), 80);
    terminal.wait_for("age [Enter for none]:");
    terminal.type_keys("\u{4}");
    let (screen, _) = terminal.end();
    assert!(screen.contains("You need not say."), "{screen}");
}

#[test]
fn waiting_is_shown_with_its_seconds_and_wiped_away() {
    let place = Place::new();
    let terminal = Terminal::start(&place.hostile("", &["work"]), 80);
    terminal.wait_for("waiting for the agent … 1 s");
    terminal.type_keys("\u{3}");
    let (screen, code) = terminal.end();
    assert_eq!(code, Some(130), "{screen}");
    let (_, after) = screen.rsplit_once(" … ").unwrap();
    assert!(after.contains("\r\u{1b}[K"), "{screen:?}");
}

#[test]
fn the_last_word_of_a_sentence_is_shown_and_the_wait_after_it() {
    let place = Place::new();
    let terminal = Terminal::start(&place.hostile("", &["sentence"]), 80);
    terminal.wait_for("One moment, please wait.");
    terminal.wait_for("waiting for the agent …");
    terminal.type_keys("\u{3}");
    let (screen, code) = terminal.end();
    assert_eq!(code, Some(130), "{screen}");
}

#[test]
fn lines_fit_the_terminal() {
    let place = Place::new();
    let words = "A repository about many things that are told in long sentences. ".repeat(5);
    place.write("project/README.md", format!("# Title\n\n{words}\n"));
    let mut command = place.ply(["--color", "never", "explain this repository"]);
    command.env("NO_COLOR", "1");
    let (screen, code) = Terminal::start(&command, 60).end();
    assert_eq!(code, Some(0), "{screen}");
    let told = screen.split_once("\n\n").unwrap().1;
    for line in told.lines() {
        let shown = line.rsplit("\u{1b}[K").next().unwrap();
        assert!(shown.chars().count() <= 60, "{shown:?}");
    }
}

#[test]
fn j1_nothing_that_a_terminal_obeys_reaches_it_in_any_format() {
    for format in ["text", "final", "json", "events", "acp", "md"] {
        let place = Place::new();
        let arguments = ["--color", "never", "--quiet", "--output", format, "deceive"];
        let (screen, code) = Terminal::start(&place.hostile("noise", &arguments), 80).end();
        assert_eq!(code, Some(1), "{screen}");
        let obeyed = |char: char| char.is_control() && !matches!(char, '\n' | '\t' | '\r');
        assert!(!screen.contains(obeyed), "{format}: {screen:?}");
        assert!(!screen.contains('\u{202e}'), "{format}: {screen:?}");
    }
}
