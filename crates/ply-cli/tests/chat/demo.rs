//! `ply demo` from its first step to its last.

use terminal_tests::{Ended, Key, Screen as _, Terminal};

use crate::place::Place;

#[test]
fn the_tour_shows_what_it_says_on_the_smallest_usual_screen_too() {
    for (columns, rows) in [(80, 24), (80, 17)] {
        let place = Place::new();
        let launch = place.launch(env!("CARGO_BIN_EXE_ply")).arg("demo");
        let terminal = Terminal::spawn(&launch.size(columns, rows)).unwrap();
        for step in 1..=9 {
            let shot = terminal.wait_for_text(&format!("Tour {step} of 9"));
            match step {
                6 => {
                    // The question of the third step was answered, and the queued prompt sent.
                    assert!(!shot.contains("cancelled"), "{}", shot.text());
                    assert!(!shot.contains("needs you"), "{}", shot.text());
                }
                7 => assert!(shot.contains("cancelled"), "{}", shot.text()),
                _ => {}
            }
            // What is cancelled has to have begun.
            if step != 6 {
                terminal.press(Key::Right);
            }
        }
        terminal.wait_for_text("that was the tour");
        terminal.press(Key::Ctrl('d'));
        assert_eq!(terminal.ended(), Ended::Code(0));
    }
}
