//! `$/cancel_request` in both directions, and through a relay.

use crate::support::{Rig, request};
use ply_rpc::transport::memory;
use ply_rpc::{Handler, Notification, Options, Peer, Request, Responder, RpcError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

fn cancel(id: impl std::fmt::Display) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{{\"requestId\":{id}}}}}\n"
    )
}

// Also: V1-CREQ-03.
#[tokio::test]
async fn v2_creq_01_a_request_has_one_answer_however_its_cancellation_falls() {
    let mut rig = Rig::new(Options::agent());
    rig.peer.refuse_odd_ids_with_null();
    for id in 0..1000 {
        // Answered at once, when it is cancelled, or with a result all the same.
        let method = ["echo", "never", "stubborn"][id % 3];
        let (before, after) = (request(id, method), cancel(id));
        match id % 2 {
            0 => rig.send(format!("{before}{after}{after}")).await,
            _ => {
                rig.send(before).await;
                rig.send(after).await;
            }
        }
        let answer = rig.json().await;
        assert_eq!(answer["id"], id);
        match method {
            "never" => assert_eq!(answer["error"]["code"], -32800),
            _ => assert!(answer.get("result").is_some() || answer["error"]["code"] == -32800),
        }
    }
    rig.still_alive().await;
}

#[tokio::test]
async fn v2_creq_02_an_id_that_is_unknown_or_answered_is_ignored() {
    let mut rig = Rig::new(Options::agent());
    rig.peer.refuse_odd_ids_with_null();
    rig.ask(request(1, "echo")).await;
    for id in ["1", "77", "\"1\"", "null", "1.5", "{}"] {
        rig.send(cancel(id)).await;
    }
    rig.still_alive().await;
}

#[tokio::test]
async fn v2_creq_03_a_cancellation_is_for_the_request_of_whoever_sends_it() {
    let mut rig = Rig::new(Options::client());
    rig.peer.refuse_odd_ids_with_null();
    // Both sides have a request with the id 1 open.
    let call = rig.peer.call::<Value>("question", &json!({}));
    assert_eq!(rig.json().await["id"], 1);
    rig.send(request(1, "never")).await;
    rig.send(cancel(1)).await;
    let answer = rig.json().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&1.into(), &(-32800).into())
    );
    // The other one goes on.
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"mine\"}\n")
        .await;
    assert_eq!(call.await.unwrap(), "mine");

    // And the other way round: what we cancel is ours, and theirs goes on.
    let call = rig.peer.call::<Value>("question", &json!({}));
    let id = rig.json().await["id"].clone();
    rig.send(request(&id, "stubborn")).await;
    rig.still_alive().await;
    drop(call);
    let told = rig.json().await;
    assert_eq!(told["params"], json!({ "requestId": id }));
    rig.send(cancel(&id)).await;
    assert_eq!(rig.json().await["result"], "finished anyway");
}

/// Passes every request on to another link.
struct Relay(Peer);

impl Handler for Relay {
    fn request(&mut self, _: &Peer, request: Request<'_>, responder: Responder) {
        let call = self.0.call::<Value>(request.method, &json!({}));
        // Cancelled, the work is dropped, and the call with it.
        responder.run(async move {
            let answer = call.await;
            answer.map_err(|error| RpcError::internal(error.to_string()))
        });
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        panic!("{} is not for the relay to pass on", notification.method);
    }
}

#[tokio::test]
async fn v2_creq_05_a_relay_cancels_with_the_id_of_its_own_request() {
    // Below the relay, with a call that moves its ids away from those above.
    let mut below = Rig::new(Options::client());
    let first = below.peer.call::<Value>("first", &json!({}));
    assert_eq!(below.json().await["id"], 1);
    let (here, (reader, mut writer)) = memory::pair(1 << 16);
    let relay = Relay(below.peer.clone());
    let (_peer, link) = ply_rpc::connect(here.0, here.1, relay, Options::agent());
    tokio::spawn(link);
    let mut above = BufReader::new(reader).lines();
    writer
        .write_all(request("\"top\"", "work").as_bytes())
        .await
        .unwrap();
    let passed_on = below.json().await;
    assert_eq!(passed_on["method"], "work");
    assert_eq!(passed_on["id"], 2);
    writer
        .write_all(cancel("\"top\"").as_bytes())
        .await
        .unwrap();
    let told = below.json().await;
    assert_eq!(told["method"], "$/cancel_request");
    assert_eq!(told["params"], json!({ "requestId": 2 }));
    let answer: Value = serde_json::from_str(&above.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&"top".into(), &(-32800).into())
    );
    drop(first);
}
