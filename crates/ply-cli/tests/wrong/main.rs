//! Wrong uses of the program. Each ends with an error that says what is wrong, and with a hint at what to do next.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod uses;

use std::path::Path;
use std::process::{Command, Stdio};

use uses::{USES, Wrong};

/// A home and a project with files that are not what they should be.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let project = place.path().join("project");
    std::fs::create_dir_all(project.join("directory")).unwrap();
    std::fs::create_dir_all(place.path().join("home")).unwrap();
    for (name, content) in [
        ("notes.txt", &b"notes\n"[..]),
        ("binary.bin", b"\x00\xff\x00"),
        ("bad.json", b"{\"mcpServers\": "),
        ("list.json", b"[1, 2]"),
        ("bad.toml", b"model = \n"),
        ("strange.toml", b"[agents.x]\ncommand = 1\n"),
        (
            "garbage.db",
            b"this is no database, and long enough to be looked at as if it were one\n",
        ),
    ] {
        std::fs::write(project.join(name), content).unwrap();
    }
    place
}

fn run(place: &Path, wrong: &Wrong) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ply"))
        .args(wrong.words)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", place.join("home"))
        .env("PLY_STORE", place.join("sessions.db"))
        .envs(wrong.environment.iter().copied())
        .current_dir(place.join("project"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), told)
}

/// Returns what is missing in how the program answers a wrong use.
fn fault(code: Option<i32>, told: &str, wrong: &Wrong) -> Option<String> {
    let has_error = told.lines().any(|line| line.starts_with("error: "));
    // Those of ours, and those of the parser of the command line.
    let hints = ["hint: ", "tip: ", "Usage: ", "try '--help'"];
    let has_hint = hints.iter().any(|hint| told.contains(hint));
    let says = wrong.says.iter().find(|words| !told.contains(**words));
    match () {
        () if code != Some(wrong.code) => Some(format!("exit code {code:?}, not {}", wrong.code)),
        () if !has_error && wrong.wants_error => Some("no line with `error: `".to_owned()),
        () if !has_hint => Some("no hint".to_owned()),
        () => says.map(|words| format!("not a word of {words:?}")),
    }
}

#[test]
fn every_wrong_use_ends_with_an_error_and_a_hint() {
    let place = place();
    let mut faults = Vec::new();
    for wrong in USES {
        let (code, told) = run(place.path(), wrong);
        if let Some(fault) = fault(code, &told, wrong) {
            faults.push(format!("ply {}: {fault}\n{told}", wrong.words.join(" ")));
        }
    }
    assert!(
        faults.is_empty(),
        "{} of {}\n\n{}",
        faults.len(),
        USES.len(),
        faults.join("\n")
    );
}

#[test]
fn there_are_at_least_fifty_of_them_and_none_twice() {
    let mut words: Vec<_> = USES
        .iter()
        .map(|wrong| (wrong.words, wrong.environment))
        .collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), USES.len());
    assert!(words.len() >= 50, "{}", words.len());
}
