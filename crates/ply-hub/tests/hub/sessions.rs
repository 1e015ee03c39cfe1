//! Sessions that outlive their clients.

use ply_client::Supported;
use ply_hub::Ended;
use ply_hub::ask::{Ask, Told};
use ply_hub::connect::ConnectError;

use crate::support::{Scene, said};

#[tokio::test]
async fn a_turn_goes_on_when_its_client_is_gone_and_another_sees_its_end() {
    for versions in [Supported::V1, Supported::Both] {
        let scene = Scene::new();
        let client = scene.client("one", versions).await;
        let session = client.new_session(scene.cwd()).await.unwrap();
        let id = session.id().clone();
        let turn = session.prompt("wait").await.unwrap();
        scene.live(|live| live[0].state == "running").await;
        drop((turn, session));
        client.close().await;
        scene.live(|live| live[0].clients == 0).await;
        scene.actors.get("one").go.notify_one();
        scene.live(|live| live[0].state == "idle").await;
        let client = scene.client("one", Supported::Both).await;
        let session = client.load_session(id.clone(), scene.cwd()).await.unwrap();
        assert_eq!(said(&session).concat(), "waitingdone");
    }
}

#[tokio::test]
async fn clients_of_both_versions_share_a_session() {
    let scene = Scene::new();
    let first = scene.client("one", Supported::V1).await;
    let second = scene.client("one", Supported::Both).await;
    let session = first.new_session(scene.cwd()).await.unwrap();
    session.prompt("a").await.unwrap().finish().await.unwrap();
    let beside = second
        .load_session(session.id().clone(), scene.cwd())
        .await
        .unwrap();
    beside.prompt("b").await.unwrap().finish().await.unwrap();
    session.prompt("c").await.unwrap().finish().await.unwrap();
    assert_eq!(
        said(&session),
        ["one heard: a", "one heard: b", "one heard: c"]
    );
    // Closed by one, it stays for the other.
    session.close().await.unwrap();
    beside.prompt("d").await.unwrap().finish().await.unwrap();
    assert_eq!(said(&beside).last().unwrap(), "one heard: d");
}

#[tokio::test]
async fn sessions_survive_the_hub() {
    let mut scene = Scene::new();
    let client = scene.client("one", Supported::Both).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    session.prompt("a").await.unwrap().finish().await.unwrap();
    let id = session.id().clone();
    scene.stop().await;
    scene.start();
    let client = scene.client("one", Supported::V1).await;
    let session = client.load_session(id.clone(), scene.cwd()).await.unwrap();
    session.prompt("b").await.unwrap().finish().await.unwrap();
    assert_eq!(said(&session), ["one heard: a", "one heard: b"]);
}

#[tokio::test]
async fn a_session_keeps_its_agent_whoever_opens_it() {
    let mut scene = Scene::new();
    let client = scene.client("one", Supported::Both).await;
    assert_eq!(client.info().name, "one");
    let session = client.new_session(scene.cwd()).await.unwrap();
    session.prompt("a").await.unwrap().finish().await.unwrap();
    let id = session.id().clone();
    scene.stop().await;
    scene.start();
    let other = scene.client("two", Supported::Both).await;
    assert_eq!(other.info().name, "two");
    let session = other.load_session(id.clone(), scene.cwd()).await.unwrap();
    session.prompt("b").await.unwrap().finish().await.unwrap();
    assert_eq!(said(&session).last().unwrap(), "one heard: b");
    // Editors list the sessions of the agent they asked for.
    let own = other.new_session(scene.cwd()).await.unwrap();
    own.prompt("c").await.unwrap().finish().await.unwrap();
    let listed = other
        .list_sessions(ply_client::SessionFilter::all())
        .await
        .unwrap();
    let listed: Vec<_> = listed
        .iter()
        .map(|listed| listed.session_id.clone())
        .collect();
    assert_eq!(listed, [own.id().clone()]);
}

#[tokio::test]
async fn a_session_of_an_agent_that_cannot_be_started_says_so() {
    let mut scene = Scene::new();
    let client = scene.client("unknown", Supported::Both).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    session.prompt("a").await.unwrap().finish().await.unwrap();
    let id = session.id().clone();
    scene.stop().await;
    scene.start();
    let other = scene.client("two", Supported::Both).await;
    let refused = other
        .load_session(id.clone(), scene.cwd())
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("ply attach unknown"),
        "{refused}"
    );
}

#[tokio::test]
async fn an_agent_that_cannot_be_had_is_refused_in_words() {
    let scene = Scene::new();
    let hello = scene.hello(Some("missing"));
    let refused = scene.client_of(hello, Supported::Both).await.unwrap_err();
    assert!(matches!(refused, ConnectError::Refused(reason) if reason == "there is no such agent"));
}

#[tokio::test]
async fn a_hub_that_is_to_end_waits_for_turns_that_run() {
    let mut scene = Scene::new();
    let client = scene.client("one", Supported::Both).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    let turn = session.prompt("wait").await.unwrap();
    scene.live(|live| live[0].state == "running").await;
    assert_eq!(
        scene.ask(Ask::Stop { drain: true }).await.unwrap(),
        Told::Done
    );
    // It is served until then.
    assert!(scene.ask(Ask::Status).await.is_ok());
    scene.actors.get("one").go.notify_one();
    assert!(turn.finish().await.is_ok());
    assert_eq!(scene.ended().await, Ended::All);
}

#[tokio::test]
async fn a_hub_tells_how_it_is() {
    let scene = Scene::new();
    let client = scene.client("one", Supported::Both).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    session.prompt("a").await.unwrap().finish().await.unwrap();
    let Told::Status(status) = scene.ask(Ask::Status).await.unwrap() else {
        panic!("the hub answers something else");
    };
    assert_eq!((status.sessions, status.busy, status.questions), (1, 0, 0));
    assert_eq!(status.store, scene.store());
    let live = scene.live(|_| true).await;
    assert_eq!(live[0].agent.as_deref(), Some("one"));
    assert_eq!(live[0].clients, 1);
}

#[tokio::test]
async fn a_prompt_can_be_sent_from_a_shell() {
    let scene = Scene::new();
    let client = scene.client("one", Supported::V1).await;
    let session = client.new_session(scene.cwd()).await.unwrap();
    let mut events = session.events();
    let sent = Ask::Send {
        session: session.id().0.to_string(),
        text: "from a shell".to_owned(),
    };
    assert_eq!(scene.ask(sent).await.unwrap(), Told::Done);
    while said(&session) != ["one heard: from a shell"] {
        events.next().await.unwrap();
    }
    let nowhere = Ask::Send {
        session: "sess-none".to_owned(),
        text: "hello".to_owned(),
    };
    assert!(matches!(
        scene.ask(nowhere).await,
        Err(ConnectError::Refused(_))
    ));
}
