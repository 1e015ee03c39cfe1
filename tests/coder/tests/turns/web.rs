//! Pages of the web.

use coder_tests::{Reply, Setup, Tell as _, World, read_story};
use ply_agent::v2::StopReason;
use ply_coder::permission::{Decision, Mode, Rule};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

async fn world(listener: &TcpListener, after: impl IntoIterator<Item = Reply>) -> World {
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let rule = format!("fetch({})", listener.local_addr().unwrap());
    let setup = Setup {
        configure: Box::new(move |config| {
            config.web_fetch = true;
            config.rules = vec![Rule::parse(Decision::Allow, &rule).unwrap()];
        }),
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

/// Lets the model fetch these addresses in full mode, and returns what it is told of each.
async fn told(rules: &[String], addresses: &[String]) -> (Vec<String>, Vec<String>) {
    let rules = rules
        .iter()
        .map(|rule| Rule::parse(Decision::Allow, rule).unwrap());
    let rules: Vec<Rule> = rules.collect();
    let setup = Setup {
        mode: Mode::Full,
        configure: Box::new(move |config| {
            config.web_fetch = true;
            config.rules = rules;
        }),
        ..Setup::default()
    };
    let calls = addresses
        .iter()
        .map(|url| Reply::call("web_fetch", json!({ "url": url })));
    let world = World::with(setup, calls.chain([Reply::say("Done.")])).await;
    let story = world.turn("Fetch").await;
    (
        story.told().into_iter().map(str::to_owned).collect(),
        world.asked(),
    )
}

#[tokio::test]
async fn h8_this_machine_and_its_network_are_refused_unless_a_rule_names_them() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let addresses = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://169.254.169.254/latest/".to_owned(),
        "http://10.0.0.1/".to_owned(),
    ];
    for rules in [vec![], vec!["fetch(*)".to_owned()]] {
        let (told, asked) = told(&rules, &addresses).await;
        assert_eq!(told.len(), addresses.len());
        for told in told {
            assert!(told.contains("private network"), "{told}");
        }
        assert!(asked.is_empty(), "{asked:?}");
    }
    let connected = tokio::time::timeout(std::time::Duration::ZERO, listener.accept()).await;
    assert!(connected.is_err(), "nobody connected");
}

#[tokio::test]
async fn h8_a_redirect_to_another_host_is_not_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = listener.local_addr().unwrap();
    let there = target.local_addr().unwrap();
    let rules = [format!("fetch({here})")];
    let addresses = [format!("http://{here}/")];
    let serve = async {
        for location in ["/second".to_owned(), format!("http://{there}/secret")] {
            let mut stream = asked(&listener).await;
            let answer = format!(
                "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    };
    let ((told, _), ()) = tokio::join!(told(&rules, &addresses), serve);
    assert!(
        told[0].contains(&format!("moved to http://{there}/secret")),
        "{told:?}"
    );
    let connected = tokio::time::timeout(std::time::Duration::ZERO, target.accept()).await;
    assert!(connected.is_err(), "nobody connected");
}
