//! Sessions that are opened again, by another hub and another process of the agent.

use std::sync::Arc;

use ply_agent::journal::{Filter, Journal, Memory};
use ply_client::{Event, SessionSetup};
use ply_hub::down::Downstream;
use serde_json::{Value, json};

use crate::stage::{BOTH, Cast, Stage, connect, prompt};

/// Returns a journal with a session in which something was said, and the session's id.
async fn stored(version: u16) -> (Arc<Memory>, String) {
    let journal = Arc::new(Memory::new());
    let cast = Cast::new(move |_, mut stage: Stage| async move {
        stage.begin(version).await;
        stage.serve(version, "first").await;
        stage.rest().await;
    });
    let server =
        ply_agent::serve(cast.hub().await).journal(Arc::clone(&journal) as Arc<dyn Journal>);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    assert_eq!(prompt(&session, "one").await.unwrap(), "first");
    let id = session.id().0.to_string();
    server.shutdown().await;
    (journal, id)
}

async fn load(
    hub: Downstream,
    (journal, id): &(Arc<Memory>, String),
    client: ply_client::Supported,
) -> ply_client::Session {
    let journal = Arc::clone(journal) as Arc<dyn Journal>;
    let server = ply_agent::serve(hub).journal(journal);
    let agent = connect(&server, client).await;
    agent
        .load_session(id.clone(), SessionSetup::from("/"))
        .await
        .unwrap()
}

fn texts(session: &ply_client::Session) -> Vec<String> {
    session
        .transcript()
        .messages()
        .map(|it| it.text())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_head_of_a_session_says_who_runs_it() {
    let (journal, _) = stored(1).await;
    let page = journal.list(Filter::new(10)).await.unwrap();
    let host: Value = serde_json::from_str(page.sessions[0].host.as_deref().unwrap()).unwrap();
    assert_eq!(
        host,
        json!({"agent": "played", "version": "7", "session": "d1"})
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_goes_on_with_its_own_session() {
    for version in [1, 2] {
        let stored = stored(version).await;
        let cast = Cast::new(move |_, mut stage: Stage| async move {
            stage.greet(version).await;
            let resume = stage.expect("session/resume").await;
            assert_eq!(resume["params"]["sessionId"], "d1");
            stage.answer(&resume, json!({})).await;
            stage.serve(version, "second").await;
            stage.rest().await;
        });
        let session = load(cast.hub().await, &stored, BOTH[0]).await;
        assert_eq!(prompt(&session, "two").await.unwrap(), "second");
        assert_eq!(texts(&session), ["one", "first", "two", "second"]);
    }
}

/// Refuses to resume, and loads with these messages of the user.
async fn loads(stage: &mut Stage, version: u16, prompts: &[&str]) {
    stage.greet(version).await;
    let resume = stage.expect("session/resume").await;
    stage.refuse(&resume, -32601).await;
    let method = if version == 1 {
        "session/load"
    } else {
        "session/resume"
    };
    let load = stage.expect(method).await;
    for prompt in prompts {
        let content = json!({"type": "text", "text": prompt});
        let user =
            json!({"sessionUpdate": "user_message_chunk", "messageId": prompt, "content": content});
        stage.update(user).await;
        stage.say(&format!("answer to {prompt}")).await;
    }
    stage.answer(&load, json!({})).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_resumed_is_loaded_and_not_shown_twice() {
    for version in [1, 2] {
        let stored = stored(version).await;
        let cast = Cast::new(move |_, mut stage: Stage| async move {
            loads(&mut stage, version, &["one"]).await;
            stage.serve(version, "second").await;
            stage.rest().await;
        });
        let session = load(cast.hub().await, &stored, BOTH[1]).await;
        assert_eq!(prompt(&session, "two").await.unwrap(), "second");
        assert_eq!(texts(&session), ["one", "first", "two", "second"]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_remembers_something_else_is_told_of() {
    // After a death, so that somebody is there to be told.
    let cast = Cast::new(|number, mut stage: Stage| async move {
        if number == 1 {
            stage.begin(1).await;
            stage.serve(1, "first").await;
            stage.expect("session/prompt").await;
            return stage.die(crate::stage::killed()).await;
        }
        loads(&mut stage, 1, &["another"]).await;
        stage.serve(1, "third").await;
        stage.rest().await;
    });
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    prompt(&session, "one").await.unwrap();
    prompt(&session, "two").await.unwrap_err();
    let mut turn = session.prompt("three").await.unwrap();
    let mut notices = Vec::new();
    while let Some(event) = turn.next().await {
        if let Event::Notice(notice) = event.unwrap() {
            notices.push(notice.title.clone());
        }
    }
    assert!(notices[0].contains("told of 1"), "{notices:?}");
    assert_eq!(session.transcript().last_agent_text(), "third");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_the_agent_lost_can_be_read_and_is_never_made_anew() {
    for version in [1, 2] {
        let stored = stored(version).await;
        let cast = Cast::new(move |_, mut stage: Stage| async move {
            stage.greet(version).await;
            let resume = stage.expect("session/resume").await;
            stage.refuse(&resume, -32002).await;
            let load = stage.next().await.unwrap();
            assert_ne!(load["method"], "session/new");
            stage.refuse(&load, -32002).await;
            assert!(stage.next().await.is_none(), "nothing else is asked of it");
            stage.die(ply_hub::pipe::Exit::default()).await;
        });
        let session = load(cast.hub().await, &stored, BOTH[0]).await;
        assert_eq!(texts(&session), ["one", "first"]);
        let error = prompt(&session, "two").await.unwrap_err();
        assert!(error.contains("make a new session"), "{error}");
    }
}
