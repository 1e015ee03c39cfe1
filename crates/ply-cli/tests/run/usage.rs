//! Arguments, and where the prompt comes from.

use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::place::{Place, Ran, Running, finish};

fn with_input(place: &Place, arguments: &[&str], input: &str) -> Ran {
    let mut command = place.hostile("", arguments);
    let (reader, mut writer) = std::io::pipe().unwrap();
    command.stdin(reader);
    writer.write_all(input.as_bytes()).unwrap();
    drop(writer);
    let running = Running::start(command);
    running.end()
}

#[test]
fn the_prompt_comes_from_standard_input_when_told_so() {
    let place = Place::new();
    let ran = with_input(&place, &["--stdin", "--output", "final"], "say").ends_with(0);
    assert_eq!(ran.stdout, "Hello, world.\n");
    with_input(&place, &["--stdin"], " \n").ends_with(2);
}

#[test]
fn a_pipe_that_sends_nothing_is_given_up_and_the_run_says_so() {
    let place = Place::new();
    let mut command = place.hostile("", &["--output", "final", "say"]);
    // A pipe that nobody writes to: reading it to its end would take for ever.
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdin(reader);
    let ran = Running::start(command).end().ends_with(0);
    assert_eq!(ran.stdout, "Hello, world.\n");
    assert!(
        ran.stderr
            .contains("nothing came on standard input for 2 s"),
        "{ran:#?}"
    );
    drop(writer);
}

#[test]
fn what_comes_by_a_pipe_or_a_file_goes_with_the_prompt() {
    let place = Place::new();
    let ran = with_input(&place, &["--output", "final", "say"], "+a new line\n").ends_with(0);
    // The agent hears more than the word that it knows.
    assert_eq!(ran.stdout, "Heard.\n");
    assert_eq!(
        ran.stderr
            .lines()
            .filter(|line| line.contains("standard input"))
            .count(),
        0
    );
    let notes = place.notes();
    assert!(
        notes.contains("Standard input:") && notes.contains("+a new line"),
        "{notes}"
    );
    let mut command = place.hostile("", &["say"]);
    let path = place.write("project/change.diff", "+from a file\n");
    command.stdin(std::fs::File::open(path).unwrap());
    Running::start(command).end().ends_with(0);
    assert!(place.notes().contains("+from a file"));
    // One that has nothing to say adds nothing.
    with_input(&place, &["say"], "").ends_with(0);
}

#[test]
fn several_words_are_one_prompt_and_a_dash_is_standard_input() {
    let place = Place::new();
    place.run_hostile("", &["say", "it", "now"]).ends_with(0);
    assert!(place.notes().contains("say it now"), "{}", place.notes());
    for arguments in [&["-", "--output", "final"][..], &["--output", "final"]] {
        let ran = with_input(&place, arguments, "say").ends_with(0);
        assert_eq!(ran.stdout, "Hello, world.\n");
    }
}

#[test]
fn without_a_prompt_it_says_how_to_give_one() {
    let place = Place::new();
    let ran = place.run(&[]).ends_with(2);
    assert_snapshot!(ran.stderr, @r"
    error: there is no prompt
      hint: give it as an argument, or on standard input with `ply run -`
    ");
    assert_eq!(place.notes(), "");
    with_input(&place, &["-"], " \n").ends_with(2);
    place.run(&[""]).ends_with(2);
    place.run(&["  "]).ends_with(2);
}

#[test]
fn agents_of_the_user_are_found_by_name_or_its_beginning() {
    let place = Place::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/hostile.sh");
    let config = format!(
        "[agents.mine]\ncommand = \"sh\"\nargs = [{script:?}]\nenv = {{ CAPS = \"{{}}\" }}\n"
    );
    place.write("home/.config/ply/config.toml", config);
    for name in ["mine", "mi"] {
        let ran = place
            .run(&["-a", name, "--output", "final", "say"])
            .ends_with(0);
        assert_eq!(ran.stdout, "Hello, world.\n");
    }
    // The built-in agent reads the same file and leaves that part alone.
    place.run(&["hello"]).ends_with(0);
}

#[test]
fn an_agent_that_nobody_knows_is_answered_with_near_names() {
    let place = Place::new();
    let ran = place.run(&["-a", "gemni", "hello"]).ends_with(2);
    assert_snapshot!(ran.stderr, @r"
    error: unknown agent `gemni`
      hint: did you mean one of these?
        gemini       Google's Gemini CLI
    ");
    place.write("home/.config/ply/config.toml", "[agents.x]\ncommand = 1\n");
    let ran = place.run(&["-a", "x", "hello"]).ends_with(2);
    assert!(ran.stderr.contains("config.toml"), "{ran:#?}");
}

#[test]
fn the_help_names_every_argument_and_exit_code() {
    let place = Place::new();
    let mut command = place.ply(["--help"]);
    command.env("COLUMNS", "100").stderr(Stdio::null());
    let ran = finish(command).ends_with(0);
    assert_snapshot!(ran.stdout);
}
