//! What is on the screen, and what the terminal was told beside it.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use insta::{allow_duplicates, assert_snapshot};
use terminal_tests::{
    Background, Colour, Ended, Launch, Screen as _, Shot, Terminal, on_every_screen,
};

fn sh(script: &str) -> Launch {
    Launch::new("sh").args(["-c", script])
}

fn spawn(script: &str) -> Terminal {
    Terminal::spawn(&sh(script)).unwrap()
}

#[test]
fn styles_are_seen_also_inside_tmux() {
    on_every_screen(
        || {
            sh(
                "printf 'plain \\033[1;31mred\\033[0m \\033[4;38;5;200mline\\033[0m\\n'; \
                printf '\\033[38;2;1;2;3;48;2;250;250;250m rgb \\033[0m \\033[7mover\\033[0m'; printf '\\033[?25l'; sleep 1000",
            )
        },
        |screen| {
            let shot = screen.wait_for(
                &|shot| shot.contains("over") && shot.cursor().is_none(),
                "all",
            );
            allow_duplicates! { assert_snapshot!(shot.styled(), @r"
            |plain red line
                   aaa bbbb
            | rgb  over
             ccccc dddd
            a: bold red
            b: underline colour-200
            c: #010203 on #fafafa
            d: inverse
            ") };
            assert_eq!(
                shot.style_of("line").unwrap().foreground,
                Colour::Indexed(200)
            );
        },
    );
}

#[test]
fn wide_characters_take_two_columns_also_inside_tmux() {
    on_every_screen(
        || sh("printf '世界|👋|\\n\\033[32m语\\033[0mx'; sleep 1000"),
        |screen| {
            let shot = screen.wait_for_text("x");
            allow_duplicates! { assert_snapshot!(shot.styled(), @r"
            |世界|👋|
            |语x
             aa
            cursor: column 3, row 1
            a: green
            ") };
            assert_eq!(shot.style_of("x").unwrap().foreground, Colour::Default);
        },
    );
}

#[test]
fn a_program_hears_of_a_new_size_also_inside_tmux() {
    on_every_screen(
        || sh("trap 'clear; stty size' WINCH; stty size; while :; do sleep 0.1; done").size(60, 12),
        |screen| {
            screen.wait_for_text("12 60");
            screen.resize(100, 31);
            let shot = screen.wait_for_text("31 100");
            assert_eq!((shot.columns(), shot.rows()), (100, 31));
            screen.resize(20, 3);
            screen.wait_for_text("3 20");
        },
    );
}

#[test]
fn a_screen_of_one_cell_is_a_screen() {
    let terminal = Terminal::spawn(&sh("stty size >&2; printf x; sleep 1000").size(0, 0)).unwrap();
    terminal.wait_for_text("x");
    terminal.resize(1, 1);
    assert_eq!((terminal.shot().columns(), terminal.shot().rows()), (1, 1));
}

#[test]
fn what_a_program_left_on_is_named() {
    let on = "\\033[?1049h\\033[?25l\\033[?2004h\\033[?1000h\\033[?1004h\\033[?2026h\\033[?1h";
    let off = "\\033[?1l\\033[?2026l\\033[?1004l\\033[?1000l\\033[?2004l\\033[?25h\\033[?1049l";
    let careless = spawn(&format!("stty raw; printf '{on}'"));
    assert_eq!(careless.ended(), Ended::Code(0));
    let mut left = careless.left_on();
    left.sort_unstable();
    assert_eq!(
        left,
        [
            "a synchronized update",
            "application cursor keys",
            "bracketed paste",
            "focus events",
            "raw mode",
            "the alternate screen",
            "the hidden cursor",
            "the mouse",
        ]
    );
    let careful = spawn(&format!("stty raw; printf '{on}{off}'; stty sane"));
    assert_eq!(careful.ended(), Ended::Code(0));
    assert!(careful.left_on().is_empty(), "{:?}", careful.left_on());
    let output = String::from_utf8(careful.output()).unwrap();
    assert!(
        output.ends_with("\x1b[?2004l\x1b[?25h\x1b[?1049l"),
        "{output:?}"
    );
}

#[test]
fn titles_bells_and_notifications_are_heard() {
    let terminal = spawn(
        "printf '\\033]2;a title\\007\\007\\033]9;needs you; now\\007\\033]9;4;1;50\\007'; sleep 1000",
    );
    let heard =
        terminal.wait_until_heard(&|heard| !heard.notifications.is_empty(), "a notification");
    assert_eq!((heard.title.as_str(), heard.bells), ("a title", 1));
    assert_eq!(heard.notifications, ["needs you; now"]);
}

#[test]
fn questions_to_the_terminal_are_answered() {
    let ask = |question: &str, bytes: usize| {
        format!("stty raw -echo; printf 'ab{question}'; head -c {bytes} | cat -v; printf .")
    };
    for (question, answer) in [
        ("\\033[c", "^[[?64;22c"),
        ("\\033[>c", "^[[>41;0;0c"),
        ("\\033[5n", "^[[0n"),
        ("\\033[6n", "^[[1;3R"),
        ("\\033[18t", "^[[8;24;80t"),
        ("\\033[?996n", "^[[?997;1n"),
        ("\\033[?2026$p", "^[[?2026;0$y"),
        ("\\033]10;?\\007", "^[]10;rgb:eeee/eeee/eeee^[\\"),
        ("\\033]11;?\\033\\\\", "^[]11;rgb:1111/1111/1111^[\\"),
        // A terminal that does not know this keyboard says nothing about it, and a program waits for the answer after it.
        ("\\033[?u\\033[c", "^[[?64;22c"),
    ] {
        // `cat -v` shows Esc as two characters.
        let bytes = answer.replace("^[", "e").len();
        let terminal = spawn(&ask(question, bytes));
        terminal.wait_for_text(&format!("{answer}."));
    }
    let light = sh(&ask("\\033]11;?\\007", 25)).background(Background::Light);
    Terminal::spawn(&light)
        .unwrap()
        .wait_for_text("rgb:eeee/eeee/eeee");
}

#[test]
fn what_is_typed_ahead_without_echo_is_not_shown() {
    let terminal =
        Terminal::spawn(&sh("sleep 0.1; read line; echo got $line").without_echo()).unwrap();
    terminal.type_text("it\n");
    assert_eq!(terminal.ended(), Ended::Code(0));
    assert_eq!(terminal.output(), b"got it\r\n");
}

#[test]
fn a_wait_that_cannot_end_well_ends_with_the_program_and_shows_the_screen() {
    let terminal = spawn("echo something else; exit 3");
    let error = terminal
        .try_wait_for(&|shot| shot.contains("the answer"), "the answer")
        .unwrap_err();
    assert_snapshot!(error, @r"
    the answer never came: the program ended with code 3
    the main screen, 80x24, the cursor at column 0, row 1:
    | something else
    ");
}

#[test]
fn shots_are_equal_when_they_look_the_same() {
    let shot = |text: &str| Shot::of_bytes(text.as_bytes(), 20, 2);
    assert_eq!(
        shot("a\x1b[31mb"),
        shot("\x1b[31m\x1b[2Gb\x1b[H\x1b[0ma\x1b[C")
    );
    assert_ne!(shot("ab"), shot("a\x1b[31mb"));
}
