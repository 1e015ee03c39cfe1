//! Requests of an agent's own.

use serde_json::json;

use crate::actor::{Actor, hear};
use crate::support::*;

async fn both() -> [Client; 2] {
    let server = Actor::new().serve();
    [
        v1_with(&server, json!({})).await,
        v2_with(&server, json!({})).await,
    ]
}

// Also: V1-EXT-02, V2-EXT-04, V1-RPC-08.
#[tokio::test(start_paused = true)]
async fn v1_ext_03_a_custom_request_is_served_and_an_unknown_one_is_refused() {
    for mut client in both().await {
        let doubled = client.ok("_actor/double", json!({"a": [1, null]})).await;
        assert_eq!(
            doubled,
            json!({"twice": [{"a": [1, null]}, {"a": [1, null]}]})
        );
        assert_eq!(client.fails("_actor/nope", json!({})).await, -32601);
        client
            .write(r#"{"jsonrpc":"2.0","id":"x","method":"_actor/double"}"#)
            .await;
        let answer = client.next().await.unwrap();
        assert_eq!(answer["result"], json!({"twice": [{}, {}]}));
        assert_eq!(answer["id"], "x");
    }
}

// Also: B13.
#[tokio::test(start_paused = true)]
async fn a_custom_request_whose_code_panics_fails_alone() {
    for mut client in both().await {
        assert_eq!(client.fails("_actor/panic", json!({})).await, -32603);
        let session = client.session().await;
        assert_eq!(hear(&mut client, &session, "say fine").await, "fine");
    }
}

// Also: V2-EXT-04.
#[tokio::test(start_paused = true)]
async fn v1_rpc_09_custom_notifications_and_odd_metadata_are_ignored() {
    for mut client in both().await {
        client.notify("_actor/double", json!({"a": 1})).await;
        client.notify("foo/bar", json!([1])).await;
        let params =
            json!({"cwd": "/work", "mcpServers": [], "_meta": {"odd": 1}, "futureField": 2});
        client.ok("session/new", params).await;
        assert_eq!(client.log.len(), 2);
    }
}
