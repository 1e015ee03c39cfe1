//! Pages of the web.

use coder_tests::{Reply, Setup, Tell as _, World, read_story};
use ply_agent::v2::StopReason;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

async fn world(listener: &TcpListener, after: impl IntoIterator<Item = Reply>) -> World {
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let setup = Setup {
        configure: Box::new(|config| config.web_fetch = true),
        ..Setup::default()
    };
    let call = Reply::call("web_fetch", json!({ "url": url }));
    World::with(setup, [call].into_iter().chain(after)).await
}

/// Takes a request and reads it to its end.
async fn asked(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.unwrap());
    }
    stream
}

#[tokio::test]
async fn a_page_of_scripts_comes_as_its_words() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let world = world(&listener, [Reply::say("Read.")]).await;
    let page = format!("{}<p>Words", "<script></SCRIPT>".repeat(100_000));
    let serve = async {
        let mut stream = asked(&listener).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(page.as_bytes()).await.unwrap();
    };
    let session = world.session().await;
    let (story, ()) = tokio::join!(session.tell("Fetch"), serve);
    assert!(story.told()[0].ends_with("\n\nWords"), "{story:#?}");
}

#[tokio::test]
async fn a_page_that_does_not_come_is_left_at_once_when_the_user_cancels() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let world = world(&listener, []).await;
    let session = world.session().await;
    let turn = session.prompt("Fetch").await.unwrap();
    let (mut server, story) = tokio::join!(
        async {
            let stream = asked(&listener).await;
            session.cancel().await.unwrap();
            stream
        },
        read_story(&session, turn)
    );
    assert_eq!(story.stop, Some(StopReason::Cancelled), "{story:#?}");
    // Its own words: it was not waited for until it had to be dropped.
    assert_eq!(story.told(), ["It was cancelled."], "{story:#?}");
    // The connection is gone.
    assert_eq!(server.read(&mut [0]).await.unwrap_or(0), 0);
}
