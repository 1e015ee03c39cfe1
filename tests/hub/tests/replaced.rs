//! The hub is asked to end while agents work, as for an upgrade, and another one goes on with them.

use hub_tests::world::{World, kill, said, terminate};
use ply_client::Supported;

const PEER: &str = env!("CARGO_BIN_EXE_hub-peer");

#[tokio::test]
async fn nothing_is_lost_or_said_twice_when_the_hub_is_replaced_again_and_again() {
    let world = World::new(PEER, 2).unwrap();
    let editor = world.attach(Supported::Both).await.unwrap();
    let session = editor.new_session(world.project()).await.unwrap();
    let words: Vec<String> = (0..40).map(|at| format!("say:w{at} nap:20")).collect();
    let turn = session.prompt(words.join(" ").as_str()).await.unwrap();
    let turn = tokio::spawn(turn.finish());
    for round in 0..4 {
        let replaced = async || match world.hub().await {
            // Killed every other time, since the next hub has to go on from what either leaves.
            Some(hub) if round % 2 == 1 => kill(hub),
            Some(hub) => terminate(hub),
            None => false,
        };
        world.until("the end of a hub", replaced).await.unwrap();
    }
    turn.await.unwrap().unwrap();
    let expected: String = (0..40).map(|at| format!("w{at} ")).collect();
    assert_eq!(said(&session).concat(), expected);
    assert_eq!(world.got("session/prompt").unwrap().len(), 1);
    editor.close().await;
    world.stop().await;
}

#[tokio::test]
async fn a_session_that_nobody_comes_for_is_taken_over_and_its_question_answered() {
    for version in [1, 2] {
        let world = World::new(PEER, version).unwrap();
        let editor = world.attach(Supported::Both).await.unwrap();
        let session = editor.new_session(world.project()).await.unwrap();
        let id = session.id().clone();
        let turn = session.prompt("ask:it say:done").await.unwrap();
        let is_asked = async || {
            let open = world.sessions().await;
            open.first().is_some_and(|live| live.questions.len() == 1)
        };
        world.until("the question", is_asked).await.unwrap();
        // The editor must not bring the hub back.
        let shim = editor.process_id().unwrap();
        assert!(kill(shim));
        drop((turn, session, editor));
        assert!(kill(world.hub().await.unwrap()));
        world.serve().unwrap();
        // Its agent is on no list, and no client has told the next hub how to start it.
        world
            .until("the question in the next hub", is_asked)
            .await
            .unwrap();
        world.answer_first("yes").await.unwrap();
        let is_idle = async || {
            let open = world.sessions().await;
            open.first().is_some_and(|live| live.state == "idle")
        };
        world.until("the end of the turn", is_idle).await.unwrap();
        let log = world.log().unwrap();
        let started = log.iter().filter(|line| line.what == "start").count();
        assert_eq!(started, 1, "nothing was started to find out who it is");
        let beside = world.attach(Supported::Both).await.unwrap();
        let kept = beside.load_session(id, world.project()).await.unwrap();
        assert_eq!(said(&kept).concat(), "it=yes done ");
        assert_eq!(world.got("session/prompt").unwrap().len(), 1);
        beside.close().await;
        world.stop().await;
    }
}
