//! Sessions on disk: what a client saw live is what any client is shown later, by another process' worth of server.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use ply_agent::Server;
use ply_agent::journal::Sqlite;
use ply_agent::transcript::{Transcript, what_v1_can_carry};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::actor::{Actor, hear, run};
use crate::fold::{v1_fold, v2_fold};
use crate::support::*;

/// A directory that lasts as long as a test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ply-agent-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.0.join("sessions.db")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It may not be there yet.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn serve(store: &Path) -> Server {
    Actor::new().serve().journal(store)
}

async fn resume(client: &mut Client, session: &str, replay: bool) -> Vec<Value> {
    let mut params = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    if replay {
        params["replayFrom"] = json!({"type": "start"});
    }
    let id = client.ask("session/resume", params).await;
    let seen = client.answered(id).await;
    assert!(seen.last().unwrap()["result"].is_object(), "{seen:#?}");
    seen
}

async fn load(client: &mut Client, session: &str) -> Vec<Value> {
    let params = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    let id = client.ask("session/load", params).await;
    let seen = client.answered(id).await;
    assert!(seen.last().unwrap()["result"].is_object(), "{seen:#?}");
    seen
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "say [a-c]{1,3}",
        2 => "think [a-c]{1,3}",
        1 => Just("everything".to_owned()),
        1 => "locate /work/[a-c]\\.rs",
        1 => "mode (ask|code)",
        1 => "fail [a-c]{3}",
    ]
}

/// Turns, each a few lines of script.
fn turns() -> impl Strategy<Value = Vec<String>> {
    let turn = prop::collection::vec(line(), 1..5).prop_map(|lines| lines.join("\n"));
    prop::collection::vec(turn, 1..4)
}

/// What is the same however the history is told: notices and the place of a client are not.
fn told(transcript: &Transcript) -> Transcript {
    what_v1_can_carry(transcript)
}

/// Runs the turns under the eyes of a client of each version, then shows the session anew from the file.
async fn replay_equals_live(turns: Vec<String>) {
    let scratch = Scratch::new();
    let first = serve(&scratch.store());
    let mut v2_live = v2_with(&first, json!({})).await;
    let session = v2_live.session().await;
    let mut v1_live = v1_with(&first, json!({})).await;
    load(&mut v1_live, &session).await;
    for turn in turns {
        v2_live.prompt(&session, &turn).await;
        v2_live.idle().await;
    }
    // Whatever the other client was told is on its way before this is answered.
    v1_live.ok("session/list", json!({})).await;
    let v2_seen = v2_live.vanish().await;
    let v1_seen = v1_live.vanish().await;
    first.shutdown().await;
    drop(first);

    let second = serve(&scratch.store());
    let mut v2_later = v2_with(&second, json!({})).await;
    let v2_shown = resume(&mut v2_later, &session, true).await;
    let mut v1_later = v1_with(&second, json!({})).await;
    let v1_shown = load(&mut v1_later, &session).await;
    let (live, shown) = (v2_fold(&v2_seen, &session), v2_fold(&v2_shown, &session));
    assert_eq!(shown, live, "version 2");
    let (live, shown) = (v1_fold(&v1_seen, &session), v1_fold(&v1_shown, &session));
    assert_eq!(told(&shown), told(&live), "version 1");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    // Also: E2, V1-LOAD-04, V2-RESUME-03, V2-RESUME-06.
    #[test]
    fn e2_a_replay_from_disk_equals_what_was_seen_live(turns in turns()) {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(replay_equals_live(turns));
    }
}

#[tokio::test]
async fn v2_resume_02_nothing_is_replayed_from_disk_unless_it_is_asked_for() {
    let scratch = Scratch::new();
    let first = serve(&scratch.store());
    let mut client = v2_with(&first, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "everything").await;
    client.vanish().await;
    first.shutdown().await;

    let second = serve(&scratch.store());
    let mut client = v2_with(&second, json!({})).await;
    let seen = resume(&mut client, &session, false).await;
    let kinds = kinds(&seen);
    assert_eq!(kinds, ["state_update"], "{seen:#?}");
    let recalled = hear(&mut client, &session, "recall").await;
    assert!(recalled.starts_with("everything|"), "{recalled}");
}

#[tokio::test]
async fn e9_a_session_that_another_server_holds_is_refused_with_its_name() {
    let scratch = Scratch::new();
    let (first, second) = (serve(&scratch.store()), serve(&scratch.store()));
    let mut owner = v1_with(&first, json!({})).await;
    let session = owner.session().await;
    run(&mut owner, &session, "say mine").await;
    let mut other = v1_with(&second, json!({})).await;
    let params = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    let id = other.ask("session/load", params).await;
    let answer = other.answered(id).await.pop().unwrap();
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("in use by this process"), "{answer}");
    // It is listed there all the same, and free once its owner has closed it.
    let listed = other.ok("session/list", json!({})).await;
    assert_eq!(listed["sessions"][0]["sessionId"], session);
    owner
        .ok("session/close", json!({"sessionId": session}))
        .await;
    load(&mut other, &session).await;
    assert_eq!(hear(&mut other, &session, "say yours").await, "yours");
}

// Also: V2-SESS-09.
#[tokio::test]
async fn an_unknown_session_is_not_found_on_disk_either_and_none_is_made() {
    let scratch = Scratch::new();
    let server = serve(&scratch.store());
    let mut client = v1_with(&server, json!({})).await;
    let params = json!({"sessionId": "sess-nobody", "cwd": "/work", "mcpServers": []});
    let id = client.ask("session/load", params).await;
    let answer = client.answered(id).await.pop().unwrap();
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    assert_eq!(answer["error"]["data"]["sessionId"], "sess-nobody");
    let listed = client.ok("session/list", json!({})).await;
    assert_eq!(listed["sessions"], json!([]));
}

#[tokio::test]
async fn nothing_is_opened_on_disk_before_something_is_said() {
    let scratch = Scratch::new();
    let server = serve(&scratch.store());
    let mut client = v1_with(&server, json!({})).await;
    let session = client.session().await;
    assert!(!scratch.store().exists());
    run(&mut client, &session, "say hello").await;
    assert!(scratch.store().exists());
}

/// Editors make sessions that nobody uses; those are listed while they are open, and leave nothing behind.
#[tokio::test]
async fn a_session_without_a_prompt_is_listed_and_is_kept_only_if_it_is_closed() {
    let scratch = Scratch::new();
    let first = serve(&scratch.store());
    let mut client = v1_with(&first, json!({})).await;
    let (closed, left) = (client.session().await, client.session().await);
    client
        .ok("session/close", json!({"sessionId": closed}))
        .await;
    load(&mut client, &closed).await;
    let sessions = client.ok("session/list", json!({})).await;
    let listed = sessions["sessions"].to_string();
    assert!(
        listed.contains(&left) && listed.contains(&closed),
        "{listed}"
    );
    client.vanish().await;
    first.shutdown().await;

    let second = serve(&scratch.store());
    let mut client = v1_with(&second, json!({})).await;
    load(&mut client, &closed).await;
    assert_eq!(hear(&mut client, &closed, "say here").await, "here");
    let params = json!({"sessionId": left, "cwd": "/work", "mcpServers": []});
    let id = client.ask("session/load", params).await;
    let answer = client.answered(id).await.pop().unwrap();
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
}

/// Titles and times are what a listing is for.
#[tokio::test]
async fn a_listing_shows_sessions_of_earlier_servers_with_title_and_time() {
    let scratch = Scratch::new();
    let actor = Actor::new();
    let first = actor.serve().journal(Sqlite::new(scratch.store()));
    let mut client = v2_with(&first, json!({})).await;
    let session = client.session().await;
    actor
        .last_session()
        .set_title("Fix the parser")
        .await
        .unwrap();
    run(&mut client, &session, "say done").await;
    client.vanish().await;
    first.shutdown().await;

    let second = serve(&scratch.store());
    let mut client = v2_with(&second, json!({})).await;
    let listed = client.ok("session/list", json!({"cwd": "/work"})).await;
    let listed = listed["sessions"].as_array().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["sessionId"], session);
    assert_eq!(listed[0]["title"], "Fix the parser");
    assert!(listed[0]["updatedAt"].as_str().unwrap().starts_with("20"));
    let elsewhere = client.ok("session/list", json!({"cwd": "/else"})).await;
    assert_eq!(elsewhere["sessions"], json!([]));
    client
        .ok("session/delete", json!({"sessionId": session}))
        .await;
    let listed = client.ok("session/list", json!({})).await;
    assert_eq!(listed["sessions"], json!([]));
}
