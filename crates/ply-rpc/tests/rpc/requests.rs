//! Asking and answering (fault rows B1 to B8, B12, B13 and `$/cancel_request`).

use std::time::Duration;

use crate::support::{Rig, request};
use ply_rpc::{CallError, CallOptions, Closed, Limits, Options, RpcError};
use serde_json::{Value, json};

#[tokio::test]
async fn b1_an_unknown_method_is_answered_under_its_id() {
    let mut rig = Rig::new(Options::agent());
    for (id, method) in [("1", "session/nope"), ("\"a\"", "_vendor/nope")] {
        let answer = rig.ask(request(id, method)).await;
        assert_eq!(
            answer,
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#
            )
        );
    }
}

#[tokio::test]
async fn b2_unknown_notifications_are_ignored() {
    let mut rig = Rig::new(Options::agent());
    rig.send("{\"jsonrpc\":\"2.0\",\"method\":\"$/progress\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"foo/bar\",\"params\":7}\n").await;
    rig.still_alive().await;
    assert_eq!(rig.seen.take(), ["foo/bar 7", "request add"]);
}

#[tokio::test]
async fn bad_params_are_refused_without_repeating_them() {
    let mut rig = Rig::new(Options::agent());
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"add\",\"params\":[\"hunter2\",1]}\n")
        .await;
    let answer = rig.json().await;
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["data"], "expected i64 at column 10");
}

#[tokio::test]
async fn b4_the_first_answer_wins_and_unknown_ones_are_ignored() {
    let mut rig = Rig::new(Options::client());
    let call = rig.peer.call::<Value>("question", &json!({"x": 1}));
    assert_eq!(
        rig.line().await,
        r#"{"jsonrpc":"2.0","id":1,"method":"question","params":{"x":1}}"#
    );
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":0}\n{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":0}\n").await;
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":2}\n").await;
    assert_eq!(call.await.unwrap(), 1);
    rig.still_alive().await;
}

#[tokio::test]
async fn b5_a_second_request_with_an_id_in_flight_is_refused() {
    let mut rig = Rig::new(Options::agent());
    rig.send(request(1, "never")).await;
    let answer: Value = serde_json::from_str(&rig.ask(request(1, "echo")).await).unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&1.into(), &(-32600).into())
    );
    // `1` is not `"1"`, and a finished id may come again.
    assert_eq!(
        rig.ask(request("\"1\"", "echo")).await,
        r#"{"jsonrpc":"2.0","id":"1","result":{}}"#
    );
    assert_eq!(
        rig.ask(request("\"1\"", "echo")).await,
        r#"{"jsonrpc":"2.0","id":"1","result":{}}"#
    );
    assert_eq!(
        rig.seen.take(),
        ["request never", "request echo", "request echo"]
    );
}

#[tokio::test]
async fn b6_v1_rpc_05_ids_come_back_as_written() {
    let mut rig = Rig::new(Options::agent());
    for id in [
        "0",
        "-1",
        "9223372036854775807",
        "12345678901234567890",
        "\"7\"",
        "\"\\u0041\"",
        "\"\"",
        "null",
    ] {
        let answer = rig.ask(request(id, "echo")).await;
        assert_eq!(
            answer,
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        );
    }
    for (id, echoed) in [
        ("1.5", "1.5"),
        ("true", "true"),
        ("{}", "null"),
        ("[1]", "null"),
    ] {
        let answer = rig.ask(request(id, "echo")).await;
        assert!(
            answer.starts_with(&format!(
                r#"{{"jsonrpc":"2.0","id":{echoed},"error":{{"code":-32600,"#
            )),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn b7_our_ids_are_never_used_twice() {
    let mut rig = Rig::new(Options::client());
    for expected in 1..=100 {
        let call = rig.peer.call::<Value>("question", &());
        assert_eq!(rig.json().await["id"], expected);
        if expected % 3 == 0 {
            drop(call);
            assert_eq!(rig.json().await["method"], "$/cancel_request");
        } else {
            rig.send(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{expected},\"result\":null}}\n"
            ))
            .await;
            call.await.unwrap();
        }
    }
}

#[tokio::test]
async fn v1_rpc_07_each_direction_has_its_own_ids() {
    let mut rig = Rig::new(Options::client());
    let call = rig.peer.call::<Value>("question", &());
    assert_eq!(rig.json().await["id"], 1);
    assert_eq!(
        rig.ask(request(1, "echo")).await,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"mine\"}\n")
        .await;
    assert_eq!(call.await.unwrap(), "mine");
}

#[tokio::test]
async fn b12_a_handler_may_call_the_peer_that_called_it() {
    let mut rig = Rig::new(Options::agent());
    rig.send(request(1, "ask_back")).await;
    assert_eq!(
        rig.line().await,
        r#"{"jsonrpc":"2.0","id":1,"method":"question","params":{}}"#
    );
    let answer = rig
        .ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"yes\"}\n")
        .await;
    assert_eq!(
        answer,
        r#"{"jsonrpc":"2.0","id":1,"result":{"peer said":"yes"}}"#
    );
}

#[tokio::test]
async fn b13_a_handler_that_panics_fails_its_own_call_only() {
    let mut rig = Rig::new(Options::agent());
    for method in ["panic", "drop", "panic_later"] {
        let answer: Value = serde_json::from_str(&rig.ask(request(1, method)).await).unwrap();
        assert_eq!(answer["error"]["code"], -32603, "{method}");
    }
    rig.send("{\"jsonrpc\":\"2.0\",\"method\":\"panic\"}\n")
        .await;
    rig.still_alive().await;
}

#[tokio::test]
async fn the_number_of_requests_served_at_once_is_bounded() {
    let mut limits = Limits::default();
    limits.served_requests = 2;
    let mut rig = Rig::new(Options::agent().limits(limits));
    rig.send(request(1, "never") + &request(2, "never")).await;
    let answer: Value = serde_json::from_str(&rig.ask(request(3, "echo")).await).unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&3.into(), &(-32603).into())
    );
    rig.send(
        "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}\n",
    )
    .await;
    assert_eq!(rig.json().await["error"]["code"], -32800);
    rig.still_alive().await;
}

#[tokio::test]
async fn v1_creq_03_a_cancelled_request_is_answered_once() {
    let mut rig = Rig::new(Options::agent());
    let cancel =
        "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":\"x\"}}\n";
    rig.send(request("\"x\"", "never")).await;
    let answer = rig.ask(cancel).await;
    assert_eq!(
        answer,
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32800,"message":"Request cancelled"}}"#
    );
    // Unknown and finished ids are ignored (V1-CREQ-08).
    rig.send(cancel).await;
    rig.send("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{}}\n")
        .await;
    rig.still_alive().await;
    // Work that is past stopping may still give its result.
    rig.send(request("\"x\"", "stubborn")).await;
    assert_eq!(
        rig.ask(cancel).await,
        r#"{"jsonrpc":"2.0","id":"x","result":"finished anyway"}"#
    );
}

#[tokio::test]
async fn c7_a_hook_that_panics_costs_neither_the_link_nor_the_answer() {
    let mut rig = Rig::new(Options::agent());
    rig.send(request(1, "panic_when_cancelled")).await;
    let cancel =
        "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}\n";
    let answer = rig.ask(cancel).await;
    assert_eq!(
        answer,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Request cancelled"}}"#
    );
    rig.still_alive().await;

    // Nor does it keep the other requests from hearing that the link closes.
    for (id, method) in [(2, "never"), (3, "panic_when_cancelled"), (4, "never")] {
        rig.send(request(id, method)).await;
    }
    rig.still_alive().await;
    rig.peer.close();
    let mut answered = Vec::new();
    for _ in 0..3 {
        let answer = rig.json().await;
        assert_eq!(answer["error"]["code"], -32800);
        answered.push(answer["id"].as_i64());
    }
    answered.sort();
    assert_eq!(answered, [Some(2), Some(3), Some(4)]);
    assert!(matches!(rig.link.await.unwrap(), Closed::Local));
}

#[tokio::test]
async fn v1_creq_01_dropping_a_call_tells_the_peer() {
    let mut rig = Rig::new(Options::client());
    let call = rig.peer.call::<Value>("question", &());
    assert_eq!(rig.json().await["method"], "question");
    drop(call);
    assert_eq!(
        rig.line().await,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#
    );
    // The answer that crosses it on the way is late, not fatal.
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32800,\"message\":\"\"}}\n")
        .await;
    rig.still_alive().await;
}

#[tokio::test]
async fn v1_creq_06_a_caller_may_cancel_and_still_wait() {
    let mut rig = Rig::new(Options::client());
    let mut call = rig.peer.call::<Value>("question", &());
    assert_eq!(rig.json().await["method"], "question");
    call.cancel();
    assert_eq!(rig.json().await["method"], "$/cancel_request");
    rig.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32800,\"message\":\"gone\"}}\n")
        .await;
    assert!(call.await.unwrap_err().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn b3_a_method_left_unanswered_three_times_is_switched_off() {
    let mut rig = Rig::new(Options::agent());
    let options = CallOptions::default().deadline(Duration::from_secs(10));
    for _ in 0..3 {
        let error = rig
            .peer
            .call_with::<Value>("terminal/create", &(), options)
            .await
            .unwrap_err();
        assert!(matches!(error, CallError::Deadline { .. }), "{error}");
        assert_eq!(rig.json().await["method"], "terminal/create");
        assert_eq!(rig.json().await["method"], "$/cancel_request");
    }
    let error = rig
        .peer
        .call_with::<Value>("terminal/create", &(), options)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`terminal/create` is switched off: the peer left it unanswered 3 times"
    );
    // Other methods are not concerned, and an answer clears the count.
    for _ in 0..5 {
        let call = rig.peer.call_with::<Value>("fs/read", &(), options);
        let id = rig.json().await["id"].clone();
        rig.send(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":1}}\n"
        ))
        .await;
        assert_eq!(call.await.unwrap(), 1);
    }
}

#[tokio::test]
async fn answers_of_the_wrong_shape_end_the_call_with_a_reason() {
    let mut rig = Rig::new(Options::client());
    for (answer, expected) in [
        (
            "\"result\":\"seven\"",
            "the answer to `question` is not what the protocol says: expected i64 at column 7",
        ),
        (
            "\"result\":1,\"error\":{}",
            "the answer to `question` is not what the protocol says: it has both a result and an error",
        ),
        (
            "\"error\":{}",
            "the answer to `question` is not what the protocol says: its error object has no code or message",
        ),
        (
            "\"error\":{\"code\":-31999,\"message\":\"odd\"}",
            "odd (-31999)",
        ),
    ] {
        let call = rig.peer.call::<i64>("question", &());
        let id = rig.json().await["id"].clone();
        rig.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{answer}}}\n"))
            .await;
        assert_eq!(call.await.unwrap_err().to_string(), expected);
    }
    assert_eq!(RpcError::cancelled().code, -32800);
}
