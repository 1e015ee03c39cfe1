//! Whatever the agent is started with: little in its environment, signals ignored, streams closed.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;
use tokio::process::Command;

use crate::place::{PLY, Place, soon};
use crate::raw::{Raw, prompt};

/// Returns a command with nothing in its environment but the path.
fn bare(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .current_dir("/");
    command
}

/// Returns `ply agent` started by a shell that does this first.
fn after(shell: &str, place: &Place) -> Command {
    let line = format!("{shell}; exec \"$0\" agent --store \"$@\"");
    let mut command = bare(&["sh", "-c", &line, PLY]);
    command.arg(place.store()).args(["--model", "offline"]);
    command.env("HOME", place.path("home"));
    command
}

/// Opens a session and has the agent run a command in it.
async fn works(agent: &mut Raw, place: &Place) {
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    let mode = json!({ "sessionId": id, "modeId": "full" });
    agent.call("session/set_mode", mode).await.unwrap();
    let stop = agent.prompt(&id, "run echo $((6 * 7))").await.unwrap();
    assert_eq!(stop["stopReason"], "end_turn");
    let told = serde_json::to_string(&agent.updates).unwrap();
    assert!(told.contains("42"), "{told}");
}

async fn ends_well(mut agent: Raw) {
    agent.hang_up();
    agent.rest().await;
    let (status, _) = agent.ended().await;
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn an_agent_started_with_nothing_but_path_takes_its_home_from_the_password_entry() {
    let place = Place::new();
    let mut command = bare(&[PLY, "agent", "--model", "offline", "--store"]);
    command.arg(place.store());
    let mut agent = Raw::start(command);
    works(&mut agent, &place).await;
    ends_well(agent).await;
    assert!(place.store().exists());
    // No session is made in the home that is really somebody's.
    let mut agent = Raw::start(bare(&[PLY, "agent"]));
    agent.hello_v2().await;
    ends_well(agent).await;
}

#[tokio::test]
async fn an_agent_without_any_home_keeps_sessions_in_memory_and_says_so() {
    let place = Place::new();
    for with_store in [false, true] {
        let stderr = place.path("stderr");
        let file = std::fs::File::create(&stderr).unwrap();
        let mut command = bare(&[PLY, "agent", "--model", "offline"]);
        command
            // A relative one is none, and stands before the password entry.
            .env("HOME", "nowhere")
            .env("TMPDIR", place.path("tmp"));
        if with_store {
            command.arg("--store").arg(place.store());
        }
        let mut agent = Raw::start_as_it_is(command, Stdio::from(file));
        works(&mut agent, &place).await;
        ends_well(agent).await;
        let told = std::fs::read_to_string(&stderr).unwrap();
        assert_eq!(told.contains("kept in memory"), !with_store, "{told}");
        assert_eq!(place.store().exists(), with_store);
    }
    let left = std::fs::read_dir(place.path("tmp")).unwrap();
    assert_eq!(left.count(), 0);
}

#[tokio::test]
async fn signals_that_were_ignored_at_the_start_stay_so_and_harm_nothing() {
    let place = Place::new();
    let command = after("trap '' PIPE INT HUP QUIT CHLD TERM USR1", &place);
    let mut agent = Raw::start_as_it_is(command, Stdio::null());
    works(&mut agent, &place).await;
    agent.signal(Signal::INT);
    agent.signal(Signal::HUP);
    let id = agent.session(&place.project()).await;
    // A command is not as stubborn, and its status is known.
    let stop = agent.prompt(&id, "run kill -INT $$; echo survived").await;
    assert_eq!(stop.unwrap()["stopReason"], "end_turn");
    let told = serde_json::to_string(&agent.updates).unwrap();
    assert!(told.contains("ended by SIGINT"), "{told}");
    agent.signal(Signal::TERM);
    let (status, _) = agent.ended().await;
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn a_closed_standard_error_is_no_trouble() {
    let place = Place::new();
    let mut agent = Raw::start(after("exec 2>&-", &place));
    works(&mut agent, &place).await;
    ends_well(agent).await;
}

#[tokio::test]
async fn a_closed_standard_input_is_one_that_has_ended() {
    let place = Place::new();
    for streams in ["exec 0<&-", "exec 0<&- 1>&- 2>&-"] {
        let mut agent = Raw::start(after(streams, &place));
        let (status, _) = agent.ended().await;
        assert!(status.success(), "{streams}: {status}");
    }
}

#[tokio::test]
async fn an_agent_with_a_closed_standard_output_ends_with_its_input() {
    let place = Place::new();
    let mut agent = Raw::start(after("exec 1>&-", &place));
    agent
        .ask("initialize", json!({ "protocolVersion": 1 }))
        .await;
    agent.ask("session/prompt", prompt("none", "hello")).await;
    agent.hang_up();
    let (status, _) = soon(agent.ended()).await;
    assert!(status.success(), "{status}");
}
