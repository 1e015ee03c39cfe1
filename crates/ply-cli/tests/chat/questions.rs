//! Questions of the agent in the program, which names the call it asks about and said before what the call will do.

use terminal_tests::{Key, Screen as _};

use crate::place::{Chat as _, Place};

/// Pages that may be needed to read a question.
const PAGES_MAX: usize = 20;

#[test]
fn no_key_approves_a_change_that_was_not_on_the_screen() {
    for rows in [9, 16] {
        let place = Place::new();
        let terminal = place.open();
        terminal.resize(80, rows);
        terminal.say("replace todo with serve in src/pot.rs");
        let mut shot = terminal.wait_for_text("needs you");
        let mut read = shot.text();
        let is_cut = |text: &str| text.contains("more line") || text.contains("more: PgDn");
        if rows == 9 {
            assert!(is_cut(&read), "{read}");
        }
        for _ in 0..PAGES_MAX {
            if shot.contains("1–9 answer") {
                break;
            }
            if is_cut(&shot.text()) {
                // It approves nothing, and the question stays.
                terminal.type_text("1");
                terminal.press(Key::PageDown);
                let before = shot.text();
                shot = terminal.wait_for(&|shot| shot.text() != before, "the next lines");
            } else {
                shot = terminal.wait_for_text("1–9 answer");
            }
            read.push_str(&shot.text());
        }
        assert!(shot.contains("1–9 answer"), "{read}");
        assert!(read.contains("- ") && read.contains("todo();"), "{read}");
        assert!(read.contains("+ ") && read.contains("serve();"), "{read}");
        let file = || std::fs::read_to_string(place.path("teapot/src/pot.rs")).unwrap();
        assert!(file().contains("todo();"), "{}", file());
        terminal.type_text("1");
        terminal.wait_for(
            &|shot| !shot.contains("needs you") && shot.contains("· ready"),
            "the end of the turn",
        );
        assert!(file().contains("serve();"), "{}", file());
    }
}
