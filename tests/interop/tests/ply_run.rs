//! The program `ply run` over agents that Ply did not write, and over the tour, on both versions.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

const SDK_AGENT: &str = env!("CARGO_BIN_EXE_sdk_agent");
const TOUR: &str = env!("CARGO_BIN_EXE_tour");

/// Returns the program. It is of another package, so it may have to be built.
fn ply() -> &'static Path {
    static PLY: OnceLock<PathBuf> = OnceLock::new();
    PLY.get_or_init(|| {
        let directory = Path::new(SDK_AGENT).parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        // What cargo tells a test about its package would make build scripts run anew that look at it.
        for (name, _) in std::env::vars_os() {
            let shown = name.to_string_lossy();
            if shown.starts_with("CARGO_PKG_") || shown.starts_with("CARGO_MANIFEST_") {
                build.env_remove(&name);
            }
        }
        // As `cargo test` builds it: for one package cargo would choose other features, and build most of it anew.
        build.args(["build", "--quiet", "--workspace", "--all-targets"]);
        if directory.file_name() == Some(OsStr::new("release")) {
            build.arg("--release");
        }
        // The directory of the profile is in that of the target.
        build.arg("--target-dir").arg(directory.parent().unwrap());
        assert!(build.status().unwrap().success(), "ply cannot be built");
        directory.join("ply")
    })
}

/// Runs a prompt and returns the object that it comes to.
#[track_caller]
fn run(arguments: &[&str], agent: &[&str], code: i32) -> Value {
    let directory = std::env::temp_dir();
    let output = Command::new(ply())
        .args(["run", "--output", "json"])
        // No test may hang.
        .args(
            ["--timeout", "60s"]
                .iter()
                .filter(|_| !arguments.contains(&"--timeout")),
        )
        .args(arguments)
        .arg("--")
        .args(agent)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?} {agent:?}: {told}"
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_agent_of_the_official_sdk_is_run_on_either_version() {
    for (version, number) in [("v1", 1), ("v2", 2)] {
        let agent = [SDK_AGENT, version];
        let hello = run(&["hello"], &agent, 0);
        assert_eq!(hello["text"], "Hello, world.");
        assert_eq!(hello["protocolVersion"], number);
        let edited = run(&["--permit", "all", "tool"], &agent, 0);
        assert_eq!(edited["text"], "done");
        assert_eq!(edited["toolCalls"][0]["status"], "completed", "{edited:#}");
        assert_eq!(
            edited["changedFiles"].as_array().unwrap().len(),
            1,
            "{edited:#}"
        );
        run(&["tool"], &agent, 5);
        run(&["fail"], &agent, 1);
        run(&["refuse"], &agent, 8);
        run(&["tokens"], &agent, 9);
        run(&["requests"], &agent, 9);
        run(&["--timeout", "1s", "wait"], &agent, 3);
    }
}

#[test]
fn the_tour_is_taken_on_either_version() {
    for version in ["1", "2"] {
        let tour = |word: &str, code| run(&["--protocol", version, word], &[TOUR], code);
        assert_eq!(tour("say", 0)["text"], "One message in pieces.");
        assert_eq!(tour("think", 0)["text"], "Good question.");
        assert_eq!(tour("plan", 0)["text"], "All done.");
        let edited = tour("tool", 0);
        assert_eq!(
            edited["changedFiles"].as_array().unwrap().len(),
            2,
            "{edited:#}"
        );
        assert!(tour("usage", 0)["usage"]["used"].is_u64());
        tour("permission", 5);
        tour("command", 5);
        tour("fail", 1);
        tour("refuse", 8);
        tour("form", 0);
        let locked = run(&["--protocol", version, "say"], &[TOUR, "--login"], 6);
        let hint = locked["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("Enter the tour: Lets you in."), "{hint}");
        let allowed = run(
            &["--protocol", version, "--permit", "all", "command"],
            &[TOUR],
            0,
        );
        assert_eq!(allowed["text"], "I would run them now.");
        // Version 1 has no place of its own for the command of a question.
        if version == "2" {
            let asked = &allowed["permissions"][0];
            assert_eq!(asked["command"], "cargo test", "{allowed:#}");
        }
    }
}
