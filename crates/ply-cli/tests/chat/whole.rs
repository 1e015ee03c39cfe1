//! A whole session, on a terminal and inside tmux.

use std::cell::RefCell;

use terminal_tests::{Key, on_every_screen};

use crate::place::{Chat as _, Place};

#[test]
fn a_session_from_the_first_prompt_to_its_return() {
    let places = RefCell::new(Vec::new());
    let launch = || {
        let place = Place::new();
        let launch = place
            .launch("/bin/sh")
            .arg("-i")
            .env("PS1", "SHELL> ")
            .size(90, 30);
        places.borrow_mut().push(place);
        launch
    };
    on_every_screen(launch, |screen| {
        screen.wait_for_text("SHELL>");
        screen.type_text("ply\r");
        screen.wait_for_text("· ready");
        // A prompt and its answer.
        screen.say("explain this repository");
        screen.wait_until_ready_with("A pot for tea");
        // A question with a diff.
        screen.say("replace todo with serve in src/pot.rs");
        screen.wait_for_text("1  Allow once");
        screen.wait_for_text("todo();");
        screen.wait_for_text("serve();");
        screen.wait_for_text("1–9 answer");
        screen.type_text("1");
        screen.wait_for(
            &|shot| !shot.contains("1  Allow once") && shot.contains("· ready"),
            "the end of the turn",
        );
        let changed = {
            let places = places.borrow();
            std::fs::read_to_string(places.last().unwrap().path("teapot/src/pot.rs")).unwrap()
        };
        assert!(changed.contains("serve();"), "{changed}");
        // A question that stays open while a prompt is queued, and a cancel.
        screen.say("write note.txt: never");
        screen.wait_for_text("1  Allow once");
        screen.say("read README.md");
        screen.wait_for_text("queued 1: read README.md");
        screen.press(Key::Esc);
        screen.wait_for_text("held 1: read README.md");
        screen.wait_for_text("· ready");
        screen.press(Key::Enter);
        screen.wait_for(
            &|shot| !shot.contains("held 1") && shot.contains("· ready"),
            "the end of the turn",
        );
        // It is stored, and comes back.
        screen.say(":quit");
        screen.wait_for(
            &|shot| !shot.contains("· ready") && shot.contains("SHELL>"),
            "the shell",
        );
        screen.type_text("ply chat --continue\r");
        screen.wait_until_ready_with("loaded with its history");
        screen.wait_for_text("▌ read README.md");
        screen.press(Key::PageUp);
        screen.press(Key::PageUp);
        screen.press(Key::PageUp);
        screen.wait_for_text("▌ explain this repository");
        screen.say(":quit");
        screen.wait_for(
            &|shot| !shot.contains("· ready") && shot.contains("SHELL>"),
            "the shell",
        );
        screen.type_text("exit\r");
        screen.ended();
    });
}
