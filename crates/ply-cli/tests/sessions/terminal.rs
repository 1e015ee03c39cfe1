//! What is different on a terminal.

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use terminal_tests::{Ended, Launch, Screen as _, Terminal};

use crate::store::Store;
use crate::tale::{HOSTILE, tell};

/// Runs a command on a terminal with so many columns, where the user has typed something; returns what
/// it wrote there, and the exit code.
fn run(command: Command, columns: u16, typed: &str) -> (String, Option<i32>) {
    // What is typed is not shown, since it would be anywhere.
    let launch = Launch::from(&command).size(columns, 24).without_echo();
    let terminal = Terminal::spawn(&launch).unwrap();
    terminal.type_text(typed);
    let code = match terminal.ended() {
        Ended::Code(code) => Some(code),
        Ended::Signal(_) => None,
    };
    let output = String::from_utf8(terminal.output()).unwrap();
    (output.replace("\r\n", "\n"), code)
}

async fn two() -> Store {
    let store = Store::new();
    let project = Path::new("/home/me/work/a-project-with-a-long-name");
    store
        .add(
            "sess-0123456789abcdef",
            project,
            Some("Fix the failing test of the parser"),
            0,
        )
        .await;
    store
        .add("sess-fedcba9876543210", Path::new("/tmp"), None, -1)
        .await;
    store
}

#[tokio::test]
async fn a_table_fits_the_terminal() {
    let store = two().await;
    let (screen, code) = run(store.sessions(["ls"]), 80, "");
    assert_eq!(code, Some(0));
    assert!(
        screen.lines().all(|line| line.chars().count() <= 80),
        "{screen}"
    );
    assert_snapshot!(screen, @r#"
    ID                     UPDATED     TITLE                   CWD
    sess-0123456789abcdef  2020-07-14  Fix the failing test …  …ect-with-a-long-name
    sess-fedcba9876543210  2020-07-14  -                       /tmp
    "#);
    let (wide, _) = run(store.sessions(["ls"]), 200, "");
    assert!(wide.contains("Fix the failing test of the parser  /home/me/work/a-project"));
}

#[tokio::test]
async fn rm_asks_first_and_no_is_the_answer_unless_it_is_yes() {
    let store = two().await;
    for typed in ["\n", "n\n", "no\n", "\u{4}"] {
        let (screen, code) = run(store.sessions(["rm", "sess-f"]), 80, typed);
        assert_eq!(code, Some(0));
        assert!(screen.ends_with("nothing was deleted\n"), "{screen}");
    }
    let (screen, code) = run(store.sessions(["rm", "sess-f", "sess-0"]), 80, "y\n");
    assert_eq!(code, Some(0));
    assert_snapshot!(screen, @r#"
    sess-fedcba9876543210  -  /tmp
    sess-0123456789abcdef  Fix the failing test of the parser  /home/me/work/a-project-with-a-long-name
    delete these 2 sessions permanently? [y/N] deleted sess-fedcba9876543210
    deleted sess-0123456789abcdef
    "#);
    assert_eq!(store.run(["ls"]).stdout, "");
}

#[tokio::test]
async fn rm_does_not_ask_when_told_so() {
    let store = two().await;
    let (screen, code) = run(store.sessions(["rm", "--yes", "sess-f"]), 80, "");
    assert_eq!(
        (screen.as_str(), code),
        ("deleted sess-fedcba9876543210\n", Some(0))
    );
}

#[tokio::test]
async fn j1_nothing_that_a_terminal_obeys_reaches_it() {
    let store = Store::new();
    let cwd = format!("/work/{HOSTILE}");
    let id = tell(&store, Path::new(&cwd), &["Be hostile"]).await;
    for arguments in [
        &["ls"][..],
        &["ls", "--json"],
        &["show", &id],
        &["show", &id, "--json"],
        &["export", &id],
        &["export", &id, "--format", "ndjson"],
        &["rm", &id],
    ] {
        let (screen, code) = run(store.sessions(arguments), 80, "n\n");
        assert_eq!(code, Some(0));
        let obeyed = |char: char| char.is_control() && !matches!(char, '\n' | '\t' | '\r');
        assert!(!screen.contains(obeyed), "{arguments:?}: {screen:?}");
        assert!(!screen.contains('\u{202e}'), "{arguments:?}: {screen:?}");
        assert!(screen.contains("txt"), "{arguments:?}: {screen:?}");
    }
}
