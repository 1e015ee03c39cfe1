//! The hub is killed in the middle of a turn, or asked to end as for an upgrade, and another one goes on where it stopped.

use hub_tests::world::{World, is_alive, kill, said, say_yes, terminate};
use ply_client::{Event, Supported};

const PEER: &str = env!("CARGO_BIN_EXE_hub-peer");

/// How a hub is made to end: it has to do nothing about it, or may wait for what it runs itself.
const ENDS: [fn(u32) -> bool; 2] = [kill, terminate];

/// Every pair of what the editor and the agent speak.
fn pairs() -> impl Iterator<Item = (Supported, u16)> {
    let clients = [Supported::V1, Supported::Both];
    clients
        .into_iter()
        .flat_map(|client| [1, 2].map(|agent| (client, agent)))
}

fn ways() -> impl Iterator<Item = (fn(u32) -> bool, Supported, u16)> {
    pairs().flat_map(|(client, agent)| ENDS.map(|end| (end, client, agent)))
}

#[tokio::test]
async fn a_turn_goes_on_when_the_hub_ends() {
    for (end_hub, client, version) in ways() {
        let world = World::new(PEER, version).unwrap();
        let (before, after) = (world.gate("before").unwrap(), world.gate("after").unwrap());
        let editor = world.attach(client).await.unwrap();
        let session = editor.new_session(world.project()).await.unwrap();
        let words = format!(
            "say:one {} say:two {} say:three",
            before.word(),
            after.word()
        );
        let turn = session.prompt(words.as_str()).await.unwrap();
        let turn = tokio::spawn(turn.finish());
        let at = before.reached().await.unwrap();
        let hub = world.hub().await.unwrap();
        assert!(end_hub(hub));
        // It does not wait for the agent, which is at the gate and works without a hub.
        let is_gone = async || !is_alive(hub);
        world.until("the end of the hub", is_gone).await.unwrap();
        drop(at);
        drop(after.reached().await.unwrap());
        let end = turn.await.unwrap().unwrap();
        assert_eq!(said(&session), ["one two three "], "{client:?} {version}");
        assert!(format!("{end:?}").contains("EndTurn"), "{end:?}");
        assert_ne!(world.hub().await.unwrap(), hub);
        let got = world.got("session/prompt").unwrap();
        assert_eq!(got.len(), 1, "it got the prompt once");
        assert!(world.got("session/cancel").unwrap().is_empty());
        // The same process goes on, also when the hub ends between turns.
        assert!(end_hub(world.hub().await.unwrap()));
        let turn = session.prompt("say:four").await.unwrap();
        turn.finish().await.unwrap();
        assert_eq!(world.got("session/prompt").unwrap(), [got[0], got[0]]);
        // Whoever comes later sees the same.
        let beside = world.attach(Supported::Both).await.unwrap();
        let kept = beside.load_session(session.id().clone(), world.project());
        assert_eq!(said(&kept.await.unwrap()), said(&session));
        editor.close().await;
        beside.close().await;
        world.stop().await;
    }
}

#[tokio::test]
async fn a_question_that_is_open_when_the_hub_ends_is_answered_once() {
    for (end_hub, client, version) in ways() {
        let world = World::new(PEER, version).unwrap();
        let editor = world.attach(client).await.unwrap();
        let session = editor.new_session(world.project()).await.unwrap();
        let mut turn = session.prompt("say:may ask:it say:done").await.unwrap();
        let permission = loop {
            let event = turn.next().await.unwrap().unwrap();
            if let Event::Permission(permission) = event {
                break permission;
            }
        };
        let hub = world.hub().await.unwrap();
        assert!(end_hub(hub));
        permission.allow_once().await.unwrap();
        turn.finish().await.unwrap();
        assert_eq!(
            said(&session).concat(),
            "may it=yes done ",
            "{client:?} {version}"
        );
        assert_eq!(world.got("session/prompt").unwrap().len(), 1);
        assert_eq!(world.got("optionId").unwrap().len(), 1);
        editor.close().await;
        world.stop().await;
    }
}

#[tokio::test]
async fn an_answer_that_the_agent_did_not_get_is_sent_by_the_next_hub() {
    let world = World::new(PEER, 1).unwrap();
    let editor = world.attach(Supported::Both).await.unwrap();
    let session = editor.new_session(world.project()).await.unwrap();
    let yes = tokio::spawn(say_yes(session.clone()));
    for round in 0..5 {
        let turn = session
            .prompt(format!("ask:a{round} say:x").as_str())
            .await
            .unwrap();
        let turn = tokio::spawn(turn.finish());
        // Somewhere between the question and the agent's answer to the answer. The hub may be about to come back from the last time.
        let is_killed = async || world.hub().await.is_some_and(kill);
        world.until("the end of a hub", is_killed).await.unwrap();
        turn.await.unwrap().unwrap();
        assert_eq!(world.got(&format!("-a{round}\"")).unwrap().len(), 1);
    }
    let answers = "a0=yes x a1=yes x a2=yes x a3=yes x a4=yes x ";
    assert_eq!(said(&session).concat(), answers);
    yes.abort();
    editor.close().await;
    world.stop().await;
}

#[tokio::test]
async fn nothing_is_left_of_agents_when_the_hub_is_stopped() {
    let world = World::new(PEER, 1).unwrap();
    let editor = world.attach(Supported::Both).await.unwrap();
    let session = editor.new_session(world.project()).await.unwrap();
    session
        .prompt("say:x")
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
    kill(world.hub().await.unwrap());
    session
        .prompt("say:y")
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
    editor.close().await;
    world.stop().await;
    let is_none = async || world.processes().is_ok_and(|left| left.is_empty());
    world
        .until("the end of all processes", is_none)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_agent_that_no_session_needs_ends_when_the_next_hub_starts() {
    let world = World::new(PEER, 1).unwrap();
    let editor = world.attach(Supported::Both).await.unwrap();
    let used = editor.new_session(world.project()).await.unwrap();
    used.prompt("say:x").await.unwrap().finish().await.unwrap();
    // Nothing is said in it, so that it lives with the hub.
    editor.new_session(world.project()).await.unwrap();
    let before = world.holders();
    assert_eq!(before.len(), 2);
    let id = used.id().clone();
    let hub = world.hub().await.unwrap();
    editor.close().await;
    assert!(kill(hub));
    let editor = world.attach(Supported::Both).await.unwrap();
    let is_one_left = async || {
        let now = world.holders();
        before.iter().filter(|pid| now.contains(pid)).count() == 1
    };
    world
        .until("the end of the agent that no session names", is_one_left)
        .await
        .unwrap();
    let used = editor.load_session(id, world.project()).await.unwrap();
    used.prompt("say:y").await.unwrap().finish().await.unwrap();
    let got = world.got("session/prompt").unwrap();
    assert_eq!(got, [got[0], got[0]], "the same process goes on");
    editor.close().await;
    world.stop().await;
}

#[tokio::test]
async fn a_prompt_for_an_agent_that_died_unnoticed_is_not_lost() {
    for (client, version) in pairs() {
        let world = World::new(PEER, version).unwrap();
        let editor = world.attach(client).await.unwrap();
        let session = editor.new_session(world.project()).await.unwrap();
        for word in ["say:one", "say:two", "say:three"] {
            session
                .prompt(word)
                .await
                .unwrap()
                .finish()
                .await
                .unwrap_or_else(|error| panic!("{word}: {error}"));
            let agents = world.got("session/prompt").unwrap();
            let agent = *agents.last().unwrap();
            assert!(kill(agent));
            // Its descriptors are closed then, and the hub may not have heard of it.
            let is_gone = async || !is_alive(agent);
            world.until("the agent's end", is_gone).await.unwrap();
        }
        assert_eq!(said(&session).concat(), "one two three ");
        assert_eq!(world.got("session/prompt").unwrap().len(), 3);
        editor.close().await;
        world.stop().await;
    }
}
