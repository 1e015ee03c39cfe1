//! An agent that was killed leaves nothing for long.

use std::io::Write as _;

use rustix::process::Signal;
use serde_json::json;

use crate::place::Place;
use crate::raw::prompt;
use crate::tether::Tether;

#[tokio::test]
async fn c6_what_a_killed_agent_left_behind_the_next_one_ends() {
    let place = Place::new();
    let mut tether = Tether::new(&place.project(), "tether");
    let mut agent = place.agent().with(["--mode", "full"]).raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    let line = format!("run {}; sleep 1000", tether.hold());
    agent.ask("session/prompt", prompt(&id, &line)).await;
    tether.held().await;
    agent.signal(Signal::KILL);
    let (status, _) = agent.ended().await;
    assert!(!status.success());

    // It is a start like any other, with somebody else's session.
    let mut next = place.agent().raw();
    next.hello_v1().await;
    next.session(&place.project()).await;
    tether.released().await;
}

#[tokio::test]
async fn c6_what_an_agent_that_lives_started_the_next_one_leaves_alone() {
    let place = Place::new();
    let mut tether = Tether::new(&place.project(), "tether");
    let mut agent = place.agent().with(["--mode", "full"]).raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    // It goes on when the test says so, and only if it still lives.
    let go = place.project().join("go");
    let made = std::process::Command::new("mkfifo").arg(&go).status();
    assert!(made.unwrap().success());
    // Opened for both, so that neither side waits for the other to be there.
    let mut gate = std::fs::OpenOptions::new();
    let mut gate = gate.read(true).write(true).open(&go).unwrap();
    let line = format!("run {}; read word <go; touch survived", tether.hold());
    let asked = agent.ask("session/prompt", prompt(&id, &line)).await;
    tether.held().await;

    let mut next = place.agent().raw();
    next.hello_v1().await;
    let other = next.session(&place.project()).await;
    let stop = next.prompt(&other, "run true").await.unwrap();
    assert_eq!(stop["stopReason"], "end_turn");
    next.hang_up();
    assert!(next.ended().await.0.success());

    gate.write_all(b"go\n").unwrap();
    tether.released().await;
    assert!(place.project().join("survived").exists());
    let cancel = json!({ "sessionId": id });
    assert!(asked > 0 && agent.call("session/close", cancel).await.is_ok());
}
