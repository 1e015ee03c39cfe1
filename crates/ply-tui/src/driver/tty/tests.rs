//! A panic on a real terminal. The program that panics is this one, with a test that is ignored otherwise.

use ratatui::widgets::Paragraph;
use terminal_tests::{Ended, Launch, Screen as _, Terminal};

use super::*;

/// Runs an ignored test of this program on a terminal of its own.
fn run(test: &str) -> Terminal {
    let launch = Launch::new(std::env::current_exe().unwrap()).args([
        "--ignored",
        "--exact",
        &format!("driver::tty::tests::{test}"),
        "--nocapture",
        "--test-threads=1",
    ]);
    Terminal::spawn(&launch).unwrap()
}

#[test]
#[ignore = "breaks down on the terminal it is run on; another test runs it there"]
fn breaks_down_while_it_draws() {
    let mut tty = Tty::new(true).unwrap();
    tty.draw(&mut |frame| frame.render_widget(Paragraph::new("all is well"), frame.area()))
        .unwrap();
    tty.draw(&mut |frame| {
        frame.render_widget(Paragraph::new("half a frame"), frame.area());
        panic!("a block fell over");
    })
    .unwrap();
}

#[test]
#[ignore = "breaks down on the terminal it is run on; another test runs it there"]
fn breaks_down_in_another_thread() {
    let mut tty = Tty::new(true).unwrap();
    let thread = std::thread::spawn(|| panic!("a task fell over"));
    assert!(thread.join().is_err());
    // The terminal is the user's by now, and is not drawn on.
    let drawn = tty.draw(&mut |frame| {
        frame.render_widget(Paragraph::new("half a frame"), frame.area());
    });
    assert!(drawn.is_err());
}

#[test]
fn a_panic_gives_the_terminal_back_and_is_readable() {
    for (test, words, code) in [
        ("breaks_down_while_it_draws", "a block fell over", 101),
        ("breaks_down_in_another_thread", "a task fell over", 0),
    ] {
        let terminal = run(test);
        assert_eq!(terminal.ended(), Ended::Code(code));
        let shot = terminal.shot();
        assert!(shot.contains(words), "{shot:?}");
        assert!(!shot.contains("half a frame"), "{shot:?}");
        assert!(terminal.left_on().is_empty(), "{:?}", terminal.left_on());
        let output = terminal.output();
        let taken = b"\x1b[?1049h";
        assert!(output.windows(taken.len()).any(|bytes| bytes == taken));
    }
}
