//! Agents that break the rules.

use std::process::Stdio;

use crate::place::Place;

#[test]
fn a1_noise_between_messages_is_survived() {
    let ran = Place::new().run_hostile("noise", &["say"]).ends_with(0);
    assert!(ran.stdout.starts_with("Hello, world.\n"), "{ran:#?}");
    assert!(!ran.stdout.contains("npm"), "{ran:#?}");
}

#[test]
fn d3_updates_before_the_new_answer_are_no_part_of_the_turn_and_hurt_nobody() {
    let ran = Place::new()
        .run_hostile("early", &["--output", "final", "say"])
        .ends_with(0);
    assert_eq!(ran.stdout, "Hello, world.\n", "{ran:#?}");
}

#[test]
fn d1_words_after_the_end_of_the_turn_are_still_heard() {
    for format in ["text", "final"] {
        let ran = Place::new()
            .run_hostile("", &["--output", format, "late"])
            .ends_with(0);
        assert!(ran.stdout.contains("too late."), "{ran:#?}");
    }
}

#[test]
fn j1_nothing_that_a_terminal_obeys_is_passed_on() {
    for format in ["text", "json", "events", "md"] {
        let ran = Place::new()
            .run_hostile("", &["--output", format, "deceive"])
            .ends_with(1);
        let obeyed = |char: char| char.is_control() && !matches!(char, '\n' | '\t');
        for stream in [&ran.stdout, &ran.stderr] {
            assert!(!stream.contains(obeyed), "{format}: {stream:?}");
            assert!(!stream.contains('\u{202e}'), "{format}: {stream:?}");
        }
        assert!(ran.stdout.contains("txt"), "{format}: {ran:#?}");
    }
    // An error is told in words of the agent too.
    let ran = Place::new().run_hostile("", &["fail"]).ends_with(1);
    assert!(
        ran.stderr.contains("on fire") && !ran.stderr.contains('\u{1b}'),
        "{ran:#?}"
    );
    let ran = Place::new().run_hostile("", &["die"]).ends_with(10);
    assert!(!ran.stderr.contains('\u{1b}'), "{ran:#?}");
}

#[test]
fn ten_megabytes_of_tool_output_are_a_few_lines() {
    let ran = Place::new().run_hostile("", &["flood"]).ends_with(0);
    assert!(ran.stdout.len() < 100_000, "{} bytes", ran.stdout.len());
    assert!(ran.stdout.contains("    last\n"), "{}", &ran.stdout[..1000]);
    assert!(ran.stdout.contains("That was much."));
}

#[test]
fn an_agent_that_never_stops_talking_is_stopped() {
    let place = Place::new();
    let arguments = ["--timeout", "1s", "--output", "final", "endless"];
    place.run_hostile("", &arguments).ends_with(3);
    place.agent_ends();
}

#[test]
fn a_closed_pipe_is_a_quiet_success_that_cancels_the_turn_and_ends_the_agent() {
    let place = Place::new();
    let mut command = place.hostile("", &["--timeout", "30s", "big"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Nobody reads: what the agent says is more than a pipe holds.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(
        place.notes().contains("session/cancel"),
        "{}",
        place.notes()
    );
    place.agent_ends();
}

#[test]
fn a_reader_that_does_not_read_gets_no_agent_killed_and_is_not_its_silence() {
    let place = Place::new();
    let limits = ["--idle-timeout", "1s", "--timeout", "4s", "pour"];
    let mut command = place.hostile("", &limits);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8_lossy(&output.stderr);
    let expected = "the time limit of 4 s is over; the turn was cancelled";
    assert!(told.contains(expected), "{told}");
    drop(stdout);
    place.agent_ends();
}

#[test]
fn a_closed_pipe_makes_no_success_of_a_failure() {
    let place = Place::new();
    // The object is written when everything is over, and nobody reads it.
    let mut command = place.hostile("", &["--output", "json", "refuse much"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut first = [0; 1];
    std::io::Read::read_exact(&mut stdout, &mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(8), "{output:?}");
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let place = Place::new();
    let mut command = place.hostile("", &["say"]);
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    command
        .stdin(Stdio::null())
        .stdout(full)
        .stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("the output cannot be written"), "{told}");
}
