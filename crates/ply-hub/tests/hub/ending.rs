//! A hub that is to end.

use ply_client::Supported;
use ply_hub::ask::{Ask, Busy, Status, Stopping, Told};
use ply_hub::connect::ConnectError;
use ply_hub::{Ended, Stop};

use crate::support::{Scene, said};

async fn status(scene: &Scene) -> Status {
    match scene.ask(Ask::Status).await.unwrap() {
        Told::Status(status) => status,
        told => panic!("{told:?}"),
    }
}

async fn stopping(scene: &Scene) -> Option<Stopping> {
    status(scene).await.stopping
}

/// Prompts, and says why that came to nothing.
async fn prompted(session: &ply_client::Session, text: &str) -> Result<(), String> {
    let turn = session.prompt(text).await;
    let ended = turn.map_err(|error| error.to_string())?.finish().await;
    ended.map(drop).map_err(|error| error.to_string())
}

/// Returns a scene with a question that nobody sees, and its session.
async fn asked() -> (Scene, String) {
    let scene = Scene::new();
    let client = scene.client("one", Supported::Both).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    let turn = session.prompt("ask").await.unwrap();
    let live = scene.live(|live| live[0].questions.len() == 1).await;
    drop((turn, session));
    client.close().await;
    scene.live(|live| live[0].clients == 0).await;
    (scene, live[0].id.clone())
}

#[tokio::test]
async fn a_hub_that_waits_for_an_answer_says_so_and_takes_it() {
    let (mut scene, id) = asked().await;
    assert_eq!(stopping(&scene).await, None);
    let stop = scene.ask(Ask::Stop { drain: true }).await;
    assert_eq!(stop.unwrap(), Told::Done);
    let told = stopping(&scene).await.unwrap();
    assert!(!told.hands_over);
    assert_eq!(told.waits_for.len(), 1);
    assert_eq!(told.waits_for[0].session, id);
    assert_eq!(told.waits_for[0].what, Busy::Question);
    // Clients are served, and their prompts refused in words.
    let client = scene.client("one", Supported::V1).await;
    let session = client.load_session(id.clone(), scene.cwd()).await.unwrap();
    let refused = prompted(&session, "more").await.unwrap_err();
    assert!(refused.contains("accepts no new prompts"), "{refused}");
    let text = "more".to_owned();
    let session_id = id.clone();
    let sent = scene
        .ask(Ask::Send {
            session: session_id,
            text,
        })
        .await;
    let Err(ConnectError::Refused(refused)) = sent else {
        panic!("{sent:?}");
    };
    assert!(refused.contains("accepts no new prompts"), "{refused}");
    let live = scene.live(|live| live[0].questions.len() == 1).await;
    let allow = live[0].questions[0].options[0].id.clone();
    let answer = Ask::Answer {
        session: id.clone(),
        question: live[0].questions[0].id,
        option: allow,
        by: "a shell".to_owned(),
    };
    scene.ask(answer).await.unwrap();
    assert_eq!(scene.ended().await, Ended::All);
    scene.start();
    let client = scene.client("one", Supported::Both).await;
    let session = client.load_session(id, scene.cwd()).await.unwrap();
    assert_eq!(said(&session), ["allowed"]);
}

#[tokio::test]
async fn a_hub_that_waits_ends_when_it_is_told_again() {
    for again in [Stop::WhenIdle, Stop::Terminate, Stop::Now] {
        let (mut scene, _) = asked().await;
        scene.end(Stop::WhenIdle);
        assert_eq!(stopping(&scene).await.unwrap().waits_for.len(), 1);
        scene.end(again);
        assert_eq!(scene.ended().await, Ended::All);
    }
}

#[tokio::test]
async fn a_hub_that_is_replaced_waits_for_the_turns_in_its_process() {
    let mut scene = Scene::new();
    let client = scene.client("one", Supported::V1).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    let id = session.id().clone();
    let _turn = session.prompt("wait").await.unwrap();
    scene.live(|live| live[0].state == "running").await;
    scene.end(Stop::Terminate);
    let told = stopping(&scene).await.unwrap();
    assert!(told.hands_over);
    assert_eq!(told.waits_for[0].what, Busy::Turn);
    // Whoever sends this again finds the next hub.
    let later = tokio::spawn(async move { prompted(&session, "later").await });
    tokio::task::yield_now().await;
    assert!(!later.is_finished());
    scene.actors.get("one").go.notify_one();
    assert_eq!(scene.ended().await, Ended::HandedOver);
    // It is over with its connection, and was not taken.
    drop(later.await.unwrap());
    scene.start();
    let client = scene.client("one", Supported::Both).await;
    let session = client.load_session(id, scene.cwd()).await.unwrap();
    assert_eq!(said(&session).concat(), "waitingdone");
}
