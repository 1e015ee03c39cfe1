//! Sessions that outlive their agent, also one that was killed, and agents that share a store.

use coder_tests::Tell as _;
use ply_agent::transcript::Entry;
use ply_client::v2::{StopReason, ToolCallStatus};
use ply_client::{Client, SessionFilter, Supported, Transcript};
use rustix::process::Signal;
use serde_json::json;

use crate::place::Place;
use crate::raw::prompt;
use crate::tether::Tether;

/// Returns all that a transcript holds, but for the ids of messages: those of prompts are the client's.
fn told(transcript: &Transcript) -> Vec<String> {
    let entries = transcript.entries().map(|entry| match entry {
        Entry::Message(message) => format!("{:?} {:?}", message.kind, message.content),
        entry => format!("{entry:?}"),
    });
    entries.collect()
}

#[tokio::test]
async fn a_session_is_there_for_the_next_agent_with_all_that_was_said_and_done() {
    for versions in [Supported::V1, Supported::V2] {
        let place = Place::new();
        place.write("a.txt", "one\n");
        let client = || Client::new().versions(versions);
        let first = place.agent().client(client()).await;
        let session = first.new_session(place.project()).await.unwrap();
        session.tell("read a.txt").await;
        session.tell("plan look, act").await;
        let id = session.id().clone();
        let seen = session.transcript();
        first.close().await;

        let second = place.agent().client(client()).await;
        let listed = second.list_sessions(SessionFilter::all()).await.unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].session_id, id);
        assert_eq!(listed[0].title.as_deref(), Some("read a.txt"));
        let session = second.load_session(id.clone(), place.project()).await;
        let session = session.unwrap();
        assert_eq!(told(&session.transcript()), told(&seen), "{versions:?}");
        let story = session.tell("run cat a.txt").await;
        assert_eq!(story.stop, Some(StopReason::EndTurn), "{story:#?}");
        session.close().await.unwrap();
        second.delete_session(id.clone()).await.unwrap();
        second.close().await;

        let third = place.agent().client(client()).await;
        let listed = third.list_sessions(SessionFilter::all()).await.unwrap();
        assert!(listed.is_empty(), "{listed:?}");
        assert!(third.load_session(id, place.project()).await.is_err());
    }
}

#[tokio::test]
async fn a_session_of_a_killed_agent_is_whole_and_goes_on() {
    let place = Place::new();
    place.write("a.txt", "one\n");
    let mut tether = Tether::new(&place.project(), "tether");
    let mut agent = place.agent().with(["--mode", "full"]).raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    agent.prompt(&id, "read a.txt").await.unwrap();
    let line = format!("run {}; sleep 1000", tether.hold());
    agent.ask("session/prompt", prompt(&id, &line)).await;
    tether.held().await;
    agent.signal(Signal::KILL);
    agent.ended().await;

    let next = place.client().await;
    let session = next.load_session(id.clone(), place.project()).await;
    let session = session.unwrap();
    let transcript = session.transcript();
    let calls: Vec<_> = transcript.tool_calls().collect();
    assert_eq!(calls.len(), 2, "{calls:#?}");
    for call in calls {
        let status = &call.status;
        let is_over = *status != ToolCallStatus::Pending && *status != ToolCallStatus::InProgress;
        assert!(is_over, "{call:#?}");
    }
    let story = session.tell("run cat a.txt").await;
    assert_eq!(story.stop, Some(StopReason::EndTurn), "{story:#?}");
    assert!(story.told()[0].contains("one"), "{story:#?}");
    tether.released().await;
}

#[tokio::test]
async fn two_agents_share_a_store_and_a_session_has_one_of_them() {
    let place = Place::new();
    let (mut first, mut second) = (place.agent().raw(), place.agent().raw());
    first.hello_v1().await;
    second.hello_v1().await;
    let ours = first.session(&place.project()).await;
    let theirs = second.session(&place.project()).await;
    for (agent, id) in [(&mut first, &ours), (&mut second, &theirs)] {
        let stop = agent.prompt(id, "run echo here").await.unwrap();
        assert_eq!(stop["stopReason"], "end_turn");
    }
    let listed = first.call("session/list", json!({})).await.unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);

    let load = json!({ "sessionId": ours, "cwd": place.project(), "mcpServers": [] });
    let refused = second.call("session/load", load.clone()).await.unwrap_err();
    let words = refused["message"].as_str().unwrap();
    assert!(
        words.contains("in use") || words.contains("open"),
        "{refused}"
    );
    let delete = json!({ "sessionId": ours });
    second.call("session/delete", delete).await.unwrap_err();

    // Once it is closed there, it can be had here.
    let close = json!({ "sessionId": ours });
    first.call("session/close", close).await.unwrap();
    second.updates.clear();
    second.call("session/load", load).await.unwrap();
    assert_eq!(second.text("user_message_chunk"), "run echo here");
    let stop = second.prompt(&ours, "run echo again").await.unwrap();
    assert_eq!(stop["stopReason"], "end_turn");
}

#[tokio::test]
async fn a_directory_that_is_gone_is_said_to_be() {
    let place = Place::new();
    let mut agent = place.agent().raw();
    agent.hello_v1().await;
    let setup = json!({ "cwd": place.path("nowhere"), "mcpServers": [] });
    let refused = agent.call("session/new", setup).await.unwrap_err();
    assert!(
        refused["message"].as_str().unwrap().contains("nowhere"),
        "{refused}"
    );
}
