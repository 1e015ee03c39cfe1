//! Ctrl-C and its like, with agents that heed a cancel and such that do not.

use rustix::process::Signal;

use crate::place::{Place, Running};

#[track_caller]
fn interrupted(signal: Signal, code: i32) {
    let place = Place::new();
    let mut running = Running::start(place.hostile("", &["work"]));
    running.wait_for("working");
    running.signal(signal);
    let ran = running.end().ends_with(code);
    assert!(ran.stdout.contains("— cancelled"), "{ran:#?}");
    assert!(ran.stderr.contains("the turn was cancelled"), "{ran:#?}");
    assert!(place.notes().contains("session/cancel"));
    place.agent_ends();
}

#[test]
fn exit_130_is_ctrl_c_after_a_clean_cancel() {
    interrupted(Signal::INT, 130);
}

#[test]
fn exit_143_is_a_termination_after_a_clean_cancel() {
    interrupted(Signal::TERM, 143);
}

#[test]
fn exit_129_is_a_terminal_that_went_away() {
    interrupted(Signal::HUP, 129);
}

#[test]
fn a_signal_that_was_ignored_from_the_start_stays_ignored() {
    let place = Place::new();
    let command = place.hostile("", &["work"]);
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", "trap '' INT HUP; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap());
    }
    let mut running = Running::start(shell);
    running.wait_for("working");
    running.signal(Signal::INT);
    running.signal(Signal::HUP);
    running.signal(Signal::TERM);
    running.end().ends_with(143);
}

#[test]
fn a_signal_that_cuts_off_the_last_write_is_how_it_ended() {
    let place = Place::new();
    let mut command = place.hostile("", &["--output", "json", "much"]);
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    // It is more than a pipe holds, so it is being written from here on.
    std::io::Read::read_exact(&mut stdout, &mut [0; 1]).unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    drop(stdout);
}

#[test]
fn the_time_limit_bounds_the_last_write_and_the_wait_for_the_prompt() {
    let place = Place::new();
    let mut command = place.hostile("", &["--timeout", "3s", "--output", "json", "much"]);
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    drop(stdout);
    let mut command = place.hostile("", &["--timeout", "300ms", "--stdin", "--output", "json"]);
    command.stdin(std::process::Stdio::piped());
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    drop(stdin);
}

#[test]
fn the_second_ctrl_c_stops_at_once() {
    let place = Place::new();
    let mut running = Running::start(place.hostile("", &["stubborn"]));
    running.wait_for("working");
    running.signal(Signal::INT);
    running.wait_for_error("Ctrl-C again");
    running.signal(Signal::INT);
    let ran = running.end().ends_with(130);
    // The line about a cancel that takes too long comes after seconds, and this did not take that long.
    assert!(!ran.stderr.contains("goes on although"), "{ran:#?}");
    place.agent_ends();
}

#[test]
fn ctrl_c_at_the_start_ends_the_agent_too() {
    let place = Place::new();
    let running = Running::start(place.hostile("hang", &["say"]));
    place.wait_for_agent();
    running.signal(Signal::INT);
    let ran = running.end().ends_with(130);
    assert!(
        ran.stderr.contains("nothing had been sent to the agent"),
        "{ran:#?}"
    );
    place.agent_ends();
}

#[test]
fn an_interrupted_run_still_tells_its_object() {
    let place = Place::new();
    let mut running = Running::start(place.hostile("", &["--output", "events", "work"]));
    running.wait_for("working");
    running.signal(Signal::INT);
    let lines = running.end().ends_with(130).lines();
    let result = &lines.last().unwrap()["result"];
    assert_eq!(
        (&result["outcome"], &result["exitCode"]),
        (&"cancelled".into(), &130.into())
    );
    assert_eq!(result["error"]["code"], "interrupted");
}
