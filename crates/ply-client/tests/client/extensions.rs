//! Methods, notifications, updates and metadata that the protocol does not know.

use std::sync::Arc;

use crate::support::{Script, greet, prompt, reported, v1_session, v1_session_of, v1_with};
use ply_client::{
    Client, Error, Event, Extension, Extensions, Prompt, ReportKind, RpcError, Value, v2,
};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

/// Doubles numbers, and passes notifications on when it may.
struct Own {
    heard: mpsc::Sender<(String, Value)>,
    may_hear: Arc<Semaphore>,
}

impl Extensions for Own {
    async fn request(&self, request: &Extension) -> Result<Value, RpcError> {
        match request.method() {
            "_own/double" => Ok(json!(request.params::<i64>()? * 2)),
            _ => Err(RpcError::method_not_found()),
        }
    }

    async fn notification(&self, notification: &Extension) {
        self.may_hear.acquire().await.unwrap().forget();
        let params = notification.params().unwrap();
        let heard = (notification.method().to_owned(), params);
        self.heard.send(heard).await.unwrap();
    }
}

/// Asks the client, and returns its answer.
async fn asked(script: &mut Script, method: &str, params: Value) -> Value {
    let id = script.ask(method, params).await;
    script.answered(&id).await
}

#[tokio::test]
async fn v1_ext_03_own_requests_of_the_agent_are_served_and_unknown_ones_are_refused() {
    let (heard, _) = mpsc::channel(1024);
    let may_hear = Arc::new(Semaphore::new(0));
    let (session, mut script) =
        v1_session_of(Client::new().extensions(Own { heard, may_hear })).await;
    assert_eq!(
        asked(&mut script, "_own/double", json!(21)).await["result"],
        42
    );
    let wrong = asked(&mut script, "_own/double", json!("much")).await;
    assert_eq!(wrong["error"]["code"], -32602);
    let unknown = asked(&mut script, "_own/other", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
    drop(session);
    let (_session, mut script) = v1_session().await;
    let unknown = asked(&mut script, "_own/double", json!(21)).await;
    assert_eq!(unknown["error"]["code"], -32601, "nobody serves it");
}

#[tokio::test]
async fn own_notifications_come_in_order_and_too_many_cost_only_themselves() {
    let (heard, mut hears) = mpsc::channel(1024);
    let may_hear = Arc::new(Semaphore::new(0));
    let own = Own {
        heard,
        may_hear: Arc::clone(&may_hear),
    };
    let (session, mut script) = v1_session_of(Client::new().extensions(own)).await;
    for number in 0..1000 {
        script
            .notify("_own/count", json!({ "number": number }))
            .await;
    }
    // Whatever is answered now came after all of them.
    assert_eq!(
        asked(&mut script, "_own/double", json!(1)).await["result"],
        2
    );
    let dropped = reported(session.agent(), ReportKind::NotificationsDropped);
    assert!((700..1000).contains(&dropped), "{dropped}");
    may_hear.add_permits(1000);
    for number in 0..1000 - dropped {
        let (method, params) = hears.recv().await.unwrap();
        assert_eq!(
            (method.as_str(), &params["number"]),
            ("_own/count", &json!(number))
        );
    }
}

#[tokio::test]
async fn own_methods_of_the_agent_are_called_with_any_params() {
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let calling = agent.call::<Vec<u8>>("_theirs/list", &[1, 2]);
    let (listed, ()) = tokio::join!(calling, async {
        let request = script.expect("_theirs/list").await;
        assert_eq!(request["params"], json!([1, 2]));
        script.answer(&request, json!([3])).await;
    });
    assert_eq!(listed.unwrap(), [3]);
    agent
        .notify("_theirs/hint", &json!({"a": 1}))
        .await
        .unwrap();
    assert_eq!(script.expect("_theirs/hint").await["params"]["a"], 1);
    let calling = agent.call::<Value>("_theirs/none", json!({}));
    let (refused, ()) = tokio::join!(calling, async {
        let request = script.expect("_theirs/none").await;
        script.refuse(&request, -32601, "no").await;
    });
    match refused.unwrap_err() {
        Error::Refused(error) => assert_eq!(error.code, -32601),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn v1_ext_07_an_unknown_update_is_handed_over_as_it_came() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    let future = json!({ "sessionUpdate": "future", "a": { "b": [1, null] }, "_meta": { "c": 2 } });
    script.update(future.clone()).await;
    script.stop(&request, "end_turn").await;
    let mut seen = Vec::new();
    while let Some(event) = turn.next().await {
        let event = event.unwrap();
        if let Event::Other(v2::SessionUpdate::Other(other)) = &event {
            assert_eq!(event.meta().unwrap()["c"], 2);
            seen.push(serde_json::to_value(other).unwrap());
        }
    }
    assert_eq!(seen, [future]);
}

#[tokio::test]
async fn metadata_of_the_client_its_sessions_and_its_prompts_is_sent() {
    let meta = |value: Value| value.as_object().unwrap().clone();
    let client = Client::new().meta(meta(json!({ "own": 1 })));
    let answer = json!({ "protocolVersion": 1, "agentCapabilities": { "_meta": { "theirs": 2 } } });
    let (agent, mut script, request) = greet(client, answer).await;
    let agent = agent.unwrap();
    assert_eq!(request["params"]["clientCapabilities"]["_meta"]["own"], 1);
    assert_eq!(request["params"]["capabilities"]["_meta"]["own"], 1);
    assert_eq!(agent.capabilities().meta.unwrap()["theirs"], 2);

    let setup = ply_client::SessionSetup::new("/work").meta(meta(json!({ "traceparent": "t" })));
    let (session, ()) = tokio::join!(agent.new_session(setup), async {
        let request = script.expect("session/new").await;
        assert_eq!(request["params"]["_meta"], json!({ "traceparent": "t" }));
        let answer = json!({ "sessionId": "s", "_meta": { "kept": true } });
        script.answer(&request, answer).await;
    });
    let session = session.unwrap();
    assert_eq!(session.meta(), meta(json!({ "kept": true })));
    let said = Prompt::new("hi").meta(meta(json!({ "urgent": 3 })));
    let _turn = session.prompt(said).await.unwrap();
    let request = script.expect("session/prompt").await;
    assert_eq!(request["params"]["_meta"], json!({ "urgent": 3 }));
}
