//! `ply chat` as users have it: the real program on a real terminal, with real agents.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod demo;
mod endings;
mod lists;
mod place;
mod questions;
mod screens;
mod streaming;
mod text;
mod trouble;
mod typing;
mod whole;

use std::process::{Command, Stdio};

/// Runs the program without a terminal and returns its exit code and what it says.
fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ply"))
        .args(arguments)
        .env("HOME", home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.stdout.is_empty(), "nothing is printed as data");
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said)
}

#[test]
fn without_a_terminal_it_names_what_needs_none() {
    for arguments in [&[][..], &["chat"], &["chat", "-a", "nobody", "hello"]] {
        let (code, said) = run(arguments);
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.contains("needs a terminal") && said.contains("`ply run"),
            "{said}"
        );
    }
}

#[test]
fn arguments_that_exclude_each_other_are_refused() {
    let (code, said) = run(&["chat", "--continue", "--pick"]);
    assert_eq!(code, Some(2), "{said}");
    let (code, said) = run(&["chat", "--set", "mode"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("ID=VALUE"), "{said}");
}
