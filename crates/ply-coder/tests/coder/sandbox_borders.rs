//! The borders of the sandbox stay where they are, whatever commands do. Needs a kernel with Landlock.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use ply_coder::shell::{Confinement, Error, Exit, Line, Processes, Ran, Sandbox};
use tokio::time::timeout;

use crate::shell_support::{Card, PATIENCE, Scratch};

/// Returns a program that Cargo builds along with the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(example.exists(), "build it first: cargo build --examples");
    example
}

fn sandbox(temporary: &[PathBuf]) -> Sandbox {
    let mut sandbox = Sandbox::default();
    sandbox.helper = Some(example("sandboxed"));
    sandbox.temporary = temporary.to_vec();
    sandbox
}

async fn run(processes: &Processes, command: &str, cwd: &Path) -> Result<Ran, Error> {
    let line = Line::new(command, cwd);
    let card = Card::new();
    let ran = timeout(PATIENCE, processes.run(&line, &card)).await;
    ran.expect("the command hangs")
}

fn names(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap();
    let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
    names.map(|entry| name(entry.unwrap())).collect()
}

#[tokio::test]
async fn a_directory_that_a_command_made_a_link_opens_nothing_to_the_next_one() {
    let scratch = Scratch::new();
    let (root, temp, home) = (
        scratch.dir("root"),
        scratch.dir("temp"),
        scratch.dir("home"),
    );
    let below = scratch.dir("temp/below");
    let script = "mv ../temp/below ../temp/old && ln -s HOME ../temp/below";
    let script = script.replace("HOME", home.to_str().unwrap());
    // The second session begins when the link is there.
    for session in ["first", "second"] {
        let mut sandbox = sandbox(&[]);
        sandbox.writable = vec![temp.clone(), below.clone()];
        let processes = Processes::new(sandbox, PathBuf::new());
        if session == "first" {
            let ran = run(&processes, &script, &root).await.unwrap();
            assert_eq!(ran.exit, Exit::Code(0), "{ran:?}");
        }
        for target in ["../temp/below/x", "../home/x"] {
            let ran = run(&processes, &format!("echo x >{target}"), &root).await;
            let ran = ran.unwrap();
            assert!(!ran.exit.is_success(), "{session} {target}: {ran:?}");
        }
        let ran = run(&processes, "echo x >../temp/x && echo x >x", &root).await;
        assert_eq!(ran.unwrap().exit, Exit::Code(0));
        assert_eq!(names(&home), [""; 0], "{session}");
    }
}

#[tokio::test]
async fn nothing_runs_with_a_directory_that_somebody_else_made_a_link() {
    let scratch = Scratch::new();
    let (root, temp, home) = (
        scratch.dir("root"),
        scratch.dir("temp"),
        scratch.dir("home"),
    );
    let mut sandbox = sandbox(&[]);
    sandbox.writable = vec![temp.clone()];
    let processes = Processes::new(sandbox, PathBuf::new());
    let ran = run(&processes, "echo x >../temp/x", &root).await.unwrap();
    assert_eq!(ran.exit, Exit::Code(0), "{ran:?}");
    std::fs::rename(&temp, scratch.0.join("old")).unwrap();
    // One that is gone is no border, and nothing can be written there.
    let ran = run(&processes, "mkdir ../temp || echo ran", &root)
        .await
        .unwrap();
    assert!(ran.output.ends_with("ran\n"), "{ran:?}");
    symlink(&home, &temp).unwrap();
    let ran = run(&processes, "echo ran; echo x >../home/x", &root).await;
    let ran = ran.unwrap();
    assert!(ran.output.contains("was replaced"), "{ran:?}");
    assert!(!ran.output.contains("ran\n") && !ran.exit.is_success());
    assert_eq!(names(&home), [""; 0]);
}

#[tokio::test]
async fn the_roots_of_a_session_do_not_change() {
    let scratch = Scratch::new();
    let (root, other) = (scratch.dir("root"), scratch.dir("other"));
    let processes = Processes::new(sandbox(&[]), PathBuf::new());
    run(&processes, "true", &root).await.unwrap();
    let refused = run(&processes, "true", &other).await;
    assert!(matches!(refused, Err(Error::OtherRoots)), "{refused:?}");
}

#[tokio::test]
async fn programs_are_pointed_to_a_cache_of_our_own() {
    let scratch = Scratch::new();
    let root = scratch.dir("root");
    let mut sandbox = sandbox(&[]);
    sandbox.cache = Some(scratch.0.join("state/cache"));
    let processes = Processes::new(sandbox, PathBuf::new());
    assert!(!scratch.0.join("state").exists(), "nobody needed it yet");
    // Of all that are pointed there this is the one that nobody sets in the environment of tests.
    let script = r#"mkdir -p "$YARN_CACHE_FOLDER" && echo x >"$YARN_CACHE_FOLDER/x" && echo "${CARGO_HOME-none}""#;
    let ran = run(&processes, script, &root).await.unwrap();
    assert_eq!(ran.exit, Exit::Code(0), "{ran:?}");
    assert!(scratch.0.join("state/cache/yarn/x").exists());
    let cargo = std::env::var("CARGO_HOME").unwrap_or("none".to_owned());
    assert_eq!(ran.output.trim(), cargo, "Cargo keeps its place");
    // Next to it nothing can be written.
    let ran = run(&processes, "echo x >../state/x", &root).await.unwrap();
    assert!(!ran.exit.is_success());
    assert!(ran.text().contains("`[sandbox]`"), "{ran:?}");
    processes.confine(Confinement::ReadOnly);
    let ran = run(&processes, "echo x >../state/cache/x", &root).await;
    assert!(!ran.unwrap().exit.is_success());
}

#[test]
fn a_program_that_was_replaced_is_still_its_own_helper() {
    let scratch = Scratch::new();
    let (root, bin) = (scratch.dir("root"), scratch.dir("bin"));
    let program = bin.join("program");
    // By another process: a descriptor of ours that may write it could be in a child of another test just now.
    let mut copy = std::process::Command::new("cp");
    let copied = copy.arg(example("own_helper")).arg(&program).status();
    assert!(copied.unwrap().success());
    let mut running = std::process::Command::new(&program);
    running.arg(&root).arg("echo x >inside; echo x >../outside");
    let output = running.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(
        said.contains("denied this") && !said.contains("replaced"),
        "{said}"
    );
    assert!(root.join("inside").exists() && !scratch.0.join("outside").exists());
}

#[tokio::test]
async fn while_nobody_knows_about_the_sandbox_nothing_runs_and_the_next_command_asks_again() {
    let scratch = Scratch::new();
    let root = scratch.dir("root");
    let helper = scratch.0.join("helper");
    let script = |script: &str| {
        std::fs::write(&helper, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o700)).unwrap();
    };
    script("kill -9 $$");
    let mut sandbox = sandbox(&[]);
    sandbox.helper = Some(helper.clone());
    let processes = Processes::new(sandbox, PathBuf::new());
    let refused = run(&processes, "touch made", &root).await;
    assert!(
        matches!(refused, Err(Error::SandboxUnknown(_))),
        "{refused:?}"
    );
    assert!(!root.join("made").exists() && !processes.is_confined());
    assert_eq!(processes.sandbox_notice(), None);
    script(&format!("exec '{}' \"$@\"", example("sandboxed").display()));
    let ran = run(&processes, "touch made", &root).await.unwrap();
    assert_eq!(ran.exit, Exit::Code(0), "{ran:?}");
    assert!(processes.is_confined());
}

#[tokio::test]
async fn whether_commands_are_confined_can_be_known_before_the_first_one() {
    let processes = Processes::new(sandbox(&[]), PathBuf::new());
    assert!(!processes.is_confined());
    assert!(processes.support().await.works());
    assert!(processes.is_confined());
    let mut absent = sandbox(&[]);
    absent.helper = None;
    let processes = Processes::new(absent, PathBuf::new());
    assert!(!processes.support().await.works() && !processes.is_confined());
    assert!(
        processes
            .sandbox_notice()
            .unwrap()
            .contains("without a sandbox")
    );
}
