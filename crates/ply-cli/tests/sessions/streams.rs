//! The standard streams, and the help.

use std::fs::File;
use std::path::Path;

use insta::assert_snapshot;

use crate::store::{Store, run};
use crate::tale::tell;

#[tokio::test]
async fn a_reader_that_has_seen_enough_is_no_failure() {
    let store = Store::new();
    let id = tell(&store, Path::new("/work"), &["Fix the test"]).await;
    for arguments in [
        &["ls"][..],
        &["ls", "--json"],
        &["show", &id],
        &["show", &id, "--json"],
        &["export", &id],
        &["export", &id, "--format", "ndjson"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = store.sessions(arguments);
        let output = command.stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(output.stderr, b"", "{arguments:?}");
    }
}

#[tokio::test]
async fn an_output_that_is_full_is_a_failure() {
    let store = Store::new();
    let id = tell(&store, Path::new("/work"), &["Fix the test"]).await;
    for arguments in [&["ls"][..], &["show", &id], &["export", &id]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = store.sessions(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.starts_with("error: the output cannot be written"),
            "{stderr}"
        );
    }
}

#[test]
fn the_bare_program_wants_a_terminal_and_names_what_needs_none() {
    let store = Store::new();
    let ran = run(&mut store.command());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("needs a terminal"), "{}", ran.stderr);
    assert!(ran.stderr.contains("ply run"), "{}", ran.stderr);
}

#[test]
fn help_is_data_and_writes_the_json_down() {
    let store = Store::new();
    let ran = run(store.command().args(["sessions", "ls", "--help"]));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let lines: Vec<_> = ran.stdout.lines().map(str::trim_end).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    Lists sessions, latest first.

    On a terminal, prints a table that fits. Otherwise each line has the id, the time of the last activity (RFC 3339, UTC), the title and the working directory, separated by tabs and in full. Control characters are escaped.

    Usage: ply sessions ls [OPTIONS]

    Options:
          --cwd <DIR>
              Only the sessions of this working directory

          --store <FILE>
              The store [default: $PLY_STORE, else $XDG_DATA_HOME/ply/sessions.db, else ~/.local/share/ply/sessions.db]

          --limit <N>
              The maximum number; 0 for all

              [default: 50]

          --json
              Prints one JSON array.

              Each session is an object with `id`, `cwd`, `title` (null if it has none), `createdAt` and `updatedAt` (RFC 3339, UTC). A `cwd` that is not UTF-8 is shown escaped, and `cwdBytes` then has its bytes in hexadecimal. A session that the hub has open has `live`: its agent, state, clients, queue and questions.

      -h, --help
              Print help (see a summary with '-h')
    "#);
}

#[test]
fn a_wrong_word_is_a_wrong_argument() {
    let store = Store::new();
    let ran = run(store.command().args(["session", "ls"]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("`ply sessions`"), "{}", ran.stderr);
}
