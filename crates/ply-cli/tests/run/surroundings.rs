//! Whatever the run is started with: streams closed, signals ignored.

use std::process::Command;

use crate::place::{Place, finish};

/// Returns `ply run` with the agent that breaks the rules, started by a shell that does this first.
fn after(shell: &str, place: &Place, prompt: &str) -> Command {
    let run = place.hostile("", &["--output", "json", prompt]);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{shell}; exec \"$0\" \"$@\"")])
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(run.get_current_dir().unwrap())
        .env_clear();
    for (name, value) in run.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

#[test]
fn closed_streams_are_no_trouble() {
    let place = Place::new();
    for (shell, is_told) in [
        ("exec 2>&-", true),
        ("exec 0<&-", true),
        ("exec 0<&- 2>&-", true),
        ("exec 1>&-", false),
        ("exec 0<&- 1>&- 2>&-", false),
    ] {
        let ran = finish(after(shell, &place, "say")).ends_with(0);
        match is_told {
            true => assert_eq!(ran.json()["text"], "Hello, world.", "{shell}"),
            false => assert_eq!(ran.stdout, "", "{shell}"),
        }
    }
}

#[test]
fn signals_that_were_ignored_at_the_start_hide_no_death() {
    let place = Place::new();
    let shell = "trap '' PIPE CHLD INT HUP QUIT TERM";
    finish(after(shell, &place, "say")).ends_with(0);
    let ran = finish(after(shell, &place, "die")).ends_with(10);
    let detail = ran.json()["error"]["detail"].to_string();
    assert!(detail.contains("signal: 9"), "{detail}");
}
