//! Questions that wait for whoever comes.

use ply_client::{Event, Supported};
use ply_hub::ask::{Ask, Live};
use ply_hub::connect::ConnectError;

use crate::support::{Scene, said};

fn answer(live: &Live, option: &str) -> Ask {
    Ask::Answer {
        session: live.id.clone(),
        question: live.questions[0].id,
        option: option.to_owned(),
        by: "a shell".to_owned(),
    }
}

fn option(live: &Live, kind: &str) -> String {
    let mut options = live.questions[0].options.iter();
    options
        .find(|option| option.kind == kind)
        .unwrap()
        .id
        .clone()
}

#[tokio::test]
async fn a_question_waits_with_nobody_there_and_is_answered_from_a_shell() {
    let scene = Scene::new();
    let client = scene.client("one", Supported::V1).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    let id = session.id().clone();
    let turn = session.prompt("ask").await.unwrap();
    scene.live(|live| live[0].questions.len() == 1).await;
    drop((turn, session));
    client.close().await;
    let live = scene.live(|live| live[0].clients == 0).await;
    assert_eq!(live[0].state, "requires_action");
    assert_eq!(live[0].questions[0].title, "Delete everything");
    let wrong = scene.ask(answer(&live[0], "nothing like it")).await;
    assert!(matches!(wrong, Err(ConnectError::Refused(_))));
    let allow = answer(&live[0], &option(&live[0], "allow_once"));
    scene.ask(allow.clone()).await.unwrap();
    scene.live(|live| live[0].state == "idle").await;
    // The first answer counts.
    assert!(scene.ask(allow).await.is_err());
    let client = scene.client("one", Supported::Both).await;
    let session = client.load_session(id.clone(), scene.cwd()).await.unwrap();
    assert_eq!(said(&session), ["allowed"]);
}

#[tokio::test]
async fn a_client_that_comes_back_is_asked_what_waits() {
    for versions in [Supported::V1, Supported::Both] {
        let scene = Scene::new();
        let client = scene.client("one", Supported::V1).await;
        let session = client.new_session(scene.cwd()).await.unwrap();
        let id = session.id().clone();
        let turn = session.prompt("ask").await.unwrap();
        scene.live(|live| live[0].questions.len() == 1).await;
        drop((turn, session));
        client.close().await;
        let client = scene.client("one", versions).await;
        let session = client.load_session(id.clone(), scene.cwd()).await.unwrap();
        let mut events = session.events();
        let permission = loop {
            let event = events.next().await.unwrap();
            if let Event::Permission(permission) = event.event {
                break permission;
            }
        };
        permission.allow_once().await.unwrap();
        scene.live(|live| live[0].state == "idle").await;
        assert_eq!(said(&session), ["allowed"]);
    }
}

#[tokio::test]
async fn a_client_that_fails_to_ask_gives_no_answer_for_the_others() {
    let scene = Scene::new();
    let client = scene.client("one", Supported::Both).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    let _turn = session.prompt("ask").await.unwrap();
    let mut events = session.events();
    loop {
        if let Event::Permission(permission) = events.next().await.unwrap().event {
            permission.leave_to_others().await;
            break;
        }
    }
    let live = scene.live(|live| live[0].questions.len() == 1).await;
    assert_eq!(live[0].state, "requires_action");
    let reject = answer(&live[0], &option(&live[0], "reject_once"));
    scene.ask(reject).await.unwrap();
    scene.live(|live| live[0].state == "idle").await;
    assert_eq!(said(&session), ["not allowed"]);
}

#[tokio::test]
async fn a_question_that_nobody_sees_is_told_to_the_users_command() {
    let scene = Scene::notifying(|dir| {
        // Renamed when it is whole.
        let told = dir.join("told").display().to_string();
        let script = "env > $1.new && mv $1.new $1".to_owned();
        vec!["sh".into(), "-c".into(), script, "sh".into(), told]
    });
    let told = scene.cwd().join("told");
    let client = scene.client("one", Supported::V1).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    let turn = session.prompt("ask").await.unwrap();
    let live = scene.live(|live| live[0].questions.len() == 1).await;
    assert_eq!(live[0].approvers, 1);
    assert!(!told.exists(), "somebody sees it");
    drop((turn, session));
    client.close().await;
    let live = scene.live(|_| told.exists()).await;
    let text = std::fs::read_to_string(&told).unwrap();
    let id = &live[0].id;
    for line in [
        format!("PLY_HUB_SESSION={id}"),
        "PLY_HUB_QUESTION=Delete everything".to_owned(),
        "PLY_HUB_AGENT=one".to_owned(),
        format!(
            "PLY_HUB_ANSWER=ply permits allow {id}:{}",
            live[0].questions[0].id
        ),
    ] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
}

#[tokio::test]
async fn whoever_watches_sees_everything_and_changes_nothing() {
    let scene = Scene::new();
    let client = scene.client("one", Supported::V1).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    let turn = session.prompt("ask").await.unwrap();
    scene.live(|live| live[0].questions.len() == 1).await;
    let mut hello = scene.hello(None);
    hello.ask = Some(Ask::Watch);
    let watcher = scene.client_of(hello, Supported::V2).await.unwrap();
    let watched = watcher
        .load_session(session.id().clone(), scene.cwd())
        .await
        .unwrap();
    let live = scene.live(|live| live[0].clients == 2).await;
    assert_eq!(live[0].approvers, 1, "it is asked nothing");
    let refused = watched.prompt("a").await.unwrap().finish().await;
    let refused = refused.map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("watch"), "{refused}");
    let allow = answer(&live[0], &option(&live[0], "allow_once"));
    scene.ask(allow).await.unwrap();
    turn.finish().await.unwrap();
    let ended = async {
        while said(&watched) != ["allowed"] {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), ended)
        .await
        .unwrap();
}
