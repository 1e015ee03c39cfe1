//! Where the store is.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::store::{Store, run};

/// Makes a session with this id in this file.
async fn put(path: PathBuf, id: &str) {
    use ply_journal::{Head, Journal as _, Sqlite};
    let journal = Sqlite::new(path);
    let head = Head::new(id, "/work", 0);
    drop(journal.create(head, id).await.unwrap());
    journal.close().await.unwrap();
}

#[tokio::test]
async fn an_argument_wins_over_the_variable_and_that_over_the_default() {
    let store = Store::new();
    let at = |name: &str| store.directory().join(name);
    put(at("argument.db"), "sess-argument").await;
    put(at("variable.db"), "sess-variable").await;
    put(at("data/ply/sessions.db"), "sess-data").await;
    put(at(".local/share/ply/sessions.db"), "sess-home").await;
    let listed = |command: &mut std::process::Command| {
        let ran = run(command.args(["sessions", "ls"]));
        ran.stdout.split('\t').next().unwrap().to_owned()
    };
    assert_eq!(listed(&mut store.command()), "sess-home");
    let mut command = store.command();
    assert_eq!(
        listed(command.env("XDG_DATA_HOME", at("data"))),
        "sess-data"
    );
    let mut command = store.command();
    command.env("XDG_DATA_HOME", at("data"));
    assert_eq!(
        listed(command.env("PLY_STORE", at("variable.db"))),
        "sess-variable"
    );
    // Relative to where the program runs, before or after the command.
    for arguments in [
        ["--store", "argument.db", "ls"],
        ["ls", "--store", "argument.db"],
    ] {
        let mut command = store.command();
        command.env("PLY_STORE", at("variable.db")).arg("sessions");
        let ran = run(command.args(arguments));
        assert!(ran.stdout.starts_with("sess-argument"), "{ran:?}");
    }
}

#[test]
fn without_any_place_it_says_what_to_set() {
    // A relative HOME is none, and stands before the password entry.
    let mut command = std::process::Command::new(Store::new().command().get_program());
    command
        .args(["sessions", "ls"])
        .env_clear()
        .env("HOME", "nowhere");
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(2));
    assert_snapshot!(ran.stderr, @r#"
    error: there is no directory for sessions: neither HOME nor the password entry names a home directory
      hint: set HOME or PLY_STORE, or give `--store FILE`
    "#);
}

#[test]
fn a_directory_is_no_store() {
    let store = Store::new();
    let mut command = store.command();
    command
        .args(["sessions", "ls", "--store"])
        .arg(Path::new("/"));
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(1));
    assert_snapshot!(ran.stderr, @r#"
    error: the journal cannot be read or written: / is not a file
      hint: the store is /; `--store FILE` names another
    "#);
}
