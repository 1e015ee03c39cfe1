//! `ply attach`, in place of an agent.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::place::{PLY, Place, text};

async fn asked(agent: &ply_client::Agent, place: &Place) -> ply_client::Session {
    let session = agent.new_session(place.project()).await.unwrap();
    let turn = session.prompt("what can you do?").await.unwrap();
    turn.finish().await.unwrap();
    session
}

#[tokio::test]
async fn an_editor_that_is_closed_finds_its_session_again() {
    let place = Place::new();
    assert_eq!(place.hub(), None);
    let editor = place.attach().await;
    let session = asked(&editor, &place).await;
    let (id, said) = (session.id().clone(), session.transcript().entries().len());
    let hub = place.hub();
    assert!(hub.is_some());
    editor.close().await;
    assert_eq!(place.hub(), hub, "it outlives its editor");
    let open = place.says(&["hub", "sessions"]);
    assert!(open.starts_with(&*id.0), "{open}");
    let editor = place.attach().await;
    let session = editor
        .load_session(id.clone(), place.project())
        .await
        .unwrap();
    assert_eq!(session.transcript().entries().len(), said);
    assert_eq!(place.hub(), hub);
    editor.close().await;
}

#[tokio::test]
async fn editors_that_start_at_once_share_one_hub() {
    let place = Place::new();
    let (one, two, three) = tokio::join!(place.attach(), place.attach(), place.attach());
    let session = asked(&one, &place).await;
    for other in [&two, &three] {
        let beside = other
            .load_session(session.id().clone(), place.project())
            .await;
        assert!(beside.is_ok());
    }
    let open = place.says(&["hub", "sessions", "--json"]);
    let open: serde_json::Value = serde_json::from_str(&open).unwrap();
    assert_eq!(open[0]["clients"], 3);
    for editor in [one, two, three] {
        editor.close().await;
    }
}

#[tokio::test]
async fn an_editor_never_fails_because_of_the_hub() {
    let place = Place::new();
    let own = place.runtime().join("ply");
    fs::create_dir(&own).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
    let editor = place.attach().await;
    asked(&editor, &place).await;
    let end = editor.close().await;
    let told = end.stderr_tail;
    assert!(told.contains("chmod 700"), "{told}");
    assert!(told.contains("without the hub"), "{told}");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(place.hub(), None);
}

#[tokio::test]
async fn a_hub_that_is_stopped_is_started_again_with_its_sessions() {
    let place = Place::new();
    let editor = place.attach().await;
    let session = asked(&editor, &place).await;
    let id = session.id().clone();
    editor.close().await;
    let first = place.hub().unwrap();
    place.says(&["hub", "stop"]);
    place.until(|place| place.hub().is_none()).await;
    let editor = place.attach().await;
    editor
        .load_session(id.clone(), place.project())
        .await
        .unwrap();
    assert_ne!(place.hub().unwrap(), first);
    editor.close().await;
}

#[tokio::test]
async fn the_process_of_another_agent_outlives_the_editor_too() {
    let place = Place::new();
    let words = ["--", PLY, "agent"];
    let editor = place.attach_to(&words).await;
    let session = asked(&editor, &place).await;
    let (id, said) = (session.id().clone(), session.transcript().entries().len());
    editor.close().await;
    let open = place.says(&["hub", "sessions", "--json"]);
    let open: serde_json::Value = serde_json::from_str(&open).unwrap();
    assert_eq!(open[0]["id"], &*id.0);
    assert_eq!(open[0]["agent"], words[1..].join(" "));
    let editor = place.attach_to(&words).await;
    let session = editor.load_session(id, place.project()).await.unwrap();
    assert_eq!(session.transcript().entries().len(), said);
    let turn = session.prompt("what can you do?").await.unwrap();
    turn.finish().await.unwrap();
    assert!(session.transcript().entries().len() > said);
    editor.close().await;
}

#[tokio::test]
async fn an_agent_that_cannot_be_started_is_told_by_the_program_itself() {
    let place = Place::new();
    let missing = place.project().join("no-such-agent");
    let output = place.ply(&["attach", "--", missing.to_str().unwrap()]);
    let told = text(&output.stderr);
    assert!(!output.status.success());
    assert!(told.contains("cannot be started"), "{told}");
}

#[tokio::test]
async fn an_editor_notices_nothing_of_a_hub_that_is_killed() {
    let place = Place::new();
    let editor = place.attach().await;
    let session = asked(&editor, &place).await;
    for _ in 0..3 {
        let hub = place.hub().unwrap();
        let pid = rustix::process::Pid::from_raw(i32::try_from(hub).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        let said = session.transcript().entries().len();
        let turn = session.prompt("what can you do?").await.unwrap();
        turn.finish().await.unwrap();
        assert!(session.transcript().entries().len() > said);
        assert_ne!(place.hub().unwrap(), hub);
    }
    // What the editor has seen is what is kept.
    let beside = place.attach().await;
    let kept = beside.load_session(session.id().clone(), place.project());
    let kept = kept.await.unwrap();
    let entries = |session: &ply_client::Session| {
        session.with_transcript(|transcript| {
            let entries = transcript.entries();
            entries
                .map(|entry| format!("{entry:?}"))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(entries(&kept), entries(&session));
    editor.close().await;
    beside.close().await;
}

#[tokio::test]
async fn a_shell_sends_prompts_to_sessions_that_nobody_sees() {
    let place = Place::new();
    let editor = place.attach().await;
    let session = asked(&editor, &place).await;
    let (id, said) = (session.id().clone(), session.transcript().entries().len());
    editor.close().await;
    place.says(&["send", &id.0[..12], "what can you do?"]);
    let is_idle = |place: &Place| place.says(&["hub", "status"]).contains("busy: 0");
    place.until(is_idle).await;
    let editor = place.attach().await;
    let session = editor.load_session(id, place.project()).await.unwrap();
    assert!(session.transcript().entries().len() > said);
    editor.close().await;
    let output = place.ply(&["send", "sess-none", "hello"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn commands_about_the_hub_say_so_where_there_is_none() {
    let place = Place::new();
    assert!(place.says(&["hub", "status"]).contains("no hub runs"));
    assert_eq!(place.says(&["hub", "status", "--json"]), "null\n");
    assert_eq!(place.says(&["hub", "sessions", "--json"]), "[]\n");
    assert!(place.says(&["hub", "stop"]).contains("no hub runs"));
    assert_eq!(place.says(&["permits", "ls"]), "");
    let output = place.ply(&["permits", "allow"]);
    assert_eq!(output.status.code(), Some(2));
}
