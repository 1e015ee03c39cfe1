//! Where a hub is, and who may come.

use ply_client::Supported;
use ply_hub::connect::{self, ConnectError};
use ply_hub::{Daemon, DaemonError};

use crate::support::Scene;

#[tokio::test]
async fn there_is_one_hub_and_a_dead_ones_socket_is_replaced() {
    let mut scene = Scene::new();
    assert!(matches!(
        Daemon::bind(scene.place()),
        Err(DaemonError::Running)
    ));
    scene.stop().await;
    // As a hub that was killed leaves it.
    drop(std::os::unix::net::UnixListener::bind(scene.place().socket()).unwrap());
    let nobody = connect::connect(&scene.place(), &scene.hello(Some("one"))).await;
    assert!(matches!(nobody, Err(ConnectError::None)));
    scene.start();
    scene.client("one", Supported::Both).await;
}

#[tokio::test]
async fn a_client_of_another_store_or_greeting_is_refused_in_words() {
    let scene = Scene::new();
    let mut hello = scene.hello(Some("one"));
    hello.store = "/elsewhere/sessions.db".into();
    let refused = connect::connect(&scene.place(), &hello).await.unwrap_err();
    assert!(
        refused.to_string().contains("/elsewhere/sessions.db"),
        "{refused}"
    );
    let mut hello = scene.hello(Some("one"));
    hello.protocol += 1;
    let refused = connect::connect(&scene.place(), &hello).await.unwrap_err();
    assert!(refused.to_string().contains("ply hub stop"), "{refused}");
}

#[tokio::test]
async fn only_its_user_can_reach_a_hub() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(scene.place().socket()), 0o600);
    assert_eq!(mode(scene.place().path().to_owned()), 0o700);
}

#[tokio::test]
async fn what_comes_without_a_greeting_is_not_served() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let scene = Scene::new();
    let mut stream = tokio::net::UnixStream::connect(scene.place().socket())
        .await
        .unwrap();
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;
    stream.write_all(line).await.unwrap();
    stream.write_all(b"\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "");
}
