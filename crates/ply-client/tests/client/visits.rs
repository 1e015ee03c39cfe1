//! URLs that an agent sends the user to.

use std::io::ErrorKind;
use std::net::TcpListener;

use crate::support::{SESSION, elicitation, prompt, v1_session_of, v2_session_of};
use ply_client::{Client, Elicitations, Event, v2};
use serde_json::{Value, json};

fn asking() -> Client {
    Client::new().elicitation(Elicitations::new().forms().urls())
}

fn visit(url: &str, id: &str) -> Value {
    json!({ "mode": "url", "sessionId": SESSION, "message": "Log in", "elicitationId": id, "url": url })
}

// Also: V1-ELIC-09, V1-ELIC-16, V1-ELIC-21.
#[tokio::test]
async fn v1_elic_08_a_url_is_shown_whole_and_never_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("http://{address}/login?state=1");
    for is_v2 in [false, true] {
        let (session, mut script) = match is_v2 {
            false => v1_session_of(asking()).await,
            true => v2_session_of(asking()).await,
        };
        let (mut turn, _) = prompt(&session, &mut script, "hi").await;
        let id = script.ask("elicitation/create", visit(&url, "e1")).await;
        let ask = elicitation(&mut turn).await;
        let shown = ask.visit().unwrap();
        assert_eq!(shown.url(), url);
        assert_eq!(shown.host(), Some("127.0.0.1"));
        assert!(ask.is_open(), "nobody agreed yet");
        let accept = v2::ElicitationAcceptAction::new();
        ask.answer(v2::ElicitationAction::Accept(accept))
            .await
            .unwrap();
        assert_eq!(
            script.answered(&id).await["result"],
            json!({ "action": "accept" })
        );
        // The end is told once, and to nobody who was not asked.
        for name in ["unknown", "e1", "e1"] {
            script
                .notify("elicitation/complete", json!({ "elicitationId": name }))
                .await;
        }
        script.say_or_chunk(is_v2).await;
        let mut finished = 0;
        loop {
            match turn.next().await.unwrap().unwrap() {
                Event::VisitFinished(id) => {
                    assert_eq!(&*id.0, "e1");
                    finished += 1;
                }
                Event::Message(_) => break,
                _ => {}
            }
        }
        assert_eq!(finished, 1);
        let untouched = listener.accept().unwrap_err();
        assert_eq!(
            untouched.kind(),
            ErrorKind::WouldBlock,
            "nothing fetches it"
        );
    }
}

trait Says {
    async fn say_or_chunk(&mut self, is_v2: bool);
}

impl Says for crate::support::Script {
    async fn say_or_chunk(&mut self, is_v2: bool) {
        match is_v2 {
            false => self.say("done").await,
            true => self.update(crate::support::words_of("m", "done")).await,
        }
    }
}

// Also: V1-ELIC-10.
#[tokio::test]
async fn v1_elic_08_the_host_is_the_one_that_a_browser_would_open() {
    let (session, mut script) = v2_session_of(asking()).await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    let cases = [
        ("https://example.org/a", Some("example.org"), false),
        ("https://example.org:8443?x", Some("example.org"), false),
        ("https://[::1]:80/", Some("[::1]"), false),
        ("https://bank.com@evil.org/", Some("evil.org"), true),
        ("https://evil.org\\@bank.com/", Some("evil.org"), true),
        ("https://xn--pple-43d.com/", Some("xn--pple-43d.com"), true),
        ("https://\u{430}pple.com/", Some("\u{430}pple.com"), true),
        ("http://example.org/", Some("example.org"), true),
        ("https://example.org/\u{202e}", Some("example.org"), false),
        ("mailto:a", None, true),
    ];
    for (number, (url, host, warns)) in cases.into_iter().enumerate() {
        script
            .ask("elicitation/create", visit(url, &format!("e{number}")))
            .await;
        let ask = elicitation(&mut turn).await;
        let visit = ask.visit().unwrap();
        assert_eq!(visit.host(), host, "{url}");
        assert_eq!(
            visit.warning().is_some(),
            warns,
            "{url}: {:?}",
            visit.warning()
        );
        ask.decline().await;
        script.next().await;
    }
}

#[tokio::test]
async fn v1_elic_13_a_form_that_is_not_flat_is_refused() {
    let nested = [
        json!({ "a": { "type": "object", "properties": { "b": { "type": "string" } } } }),
        json!({ "a": { "type": "array", "items": { "type": "object" } } }),
        json!({ "ok": { "type": "string" }, "a": { "type": "object" } }),
    ];
    let flat = [
        json!({ "a": { "type": "string" }, "b": { "type": "integer" }, "c": { "type": "boolean" } }),
        json!({ "a": { "type": "array", "items": { "type": "string", "enum": ["x"] } } }),
        json!({ "a": { "type": "_color" } }),
    ];
    for is_v2 in [false, true] {
        let (session, mut script) = match is_v2 {
            false => v1_session_of(asking()).await,
            true => v2_session_of(asking()).await,
        };
        let (mut turn, _) = prompt(&session, &mut script, "hi").await;
        let form = |properties: &Value| {
            json!({ "mode": "form", "sessionId": SESSION, "message": "?",
                "requestedSchema": { "type": "object", "properties": properties } })
        };
        for properties in &nested {
            let id = script.ask("elicitation/create", form(properties)).await;
            let answer = script.answered(&id).await;
            assert_eq!(answer["error"]["code"], -32602, "{properties}");
        }
        for properties in &flat {
            let id = script.ask("elicitation/create", form(properties)).await;
            elicitation(&mut turn).await.decline().await;
            let answer = script.answered(&id).await;
            assert_eq!(answer["result"]["action"], "decline", "{properties}");
        }
    }
}
