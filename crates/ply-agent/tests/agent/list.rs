//! `session/list`.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::actor::{Actor, run};
use crate::support::*;

const INVALID_PARAMS: i64 = -32602;

async fn both() -> [Client; 2] {
    [v1(Actor::new()).await, v2(Actor::new()).await]
}

async fn session_in(client: &mut Client, cwd: &str) -> String {
    let made = client
        .ok("session/new", json!({"cwd": cwd, "mcpServers": []}))
        .await;
    made["sessionId"].as_str().unwrap().to_owned()
}

async fn list(client: &mut Client, params: Value) -> Vec<Value> {
    let answer = client.ok("session/list", params).await;
    answer["sessions"].as_array().unwrap().clone()
}

// Also: V1-LIST-07, V2-LIST-01, V2-LIST-03.
#[tokio::test(start_paused = true)]
async fn v1_list_02_a_directory_lists_its_own_sessions_only() {
    for mut client in both().await {
        let mine = session_in(&mut client, "/work/a").await;
        session_in(&mut client, "/work/a/below").await;
        session_in(&mut client, "/work/ab").await;
        let found = list(&mut client, json!({"cwd": "/work/a"})).await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["sessionId"], mine);
        assert_eq!(
            list(&mut client, json!({"cwd": "/unused"})).await,
            Vec::<Value>::new()
        );
        assert_eq!(list(&mut client, json!({})).await.len(), 3);
        assert_eq!(
            list(&mut client, json!({"cwd": null, "cursor": null}))
                .await
                .len(),
            3
        );
        assert_eq!(
            client.fails("session/list", json!({"cwd": "work/a"})).await,
            INVALID_PARAMS
        );
    }
}

// Also: V1-LIST-06, V2-LIST-01, V2-LIST-02.
#[tokio::test(start_paused = true)]
async fn v1_list_06_many_sessions_come_in_pages_that_repeat_and_miss_none() {
    for mut client in both().await {
        let mut made = HashSet::new();
        for _ in 0..120 {
            made.insert(client.session().await);
        }
        let (mut found, mut pages, mut params) = (HashSet::new(), 0, json!({}));
        loop {
            let answer = client.ok("session/list", params).await;
            pages += 1;
            for session in answer["sessions"].as_array().unwrap() {
                let id = session["sessionId"].as_str().unwrap().to_owned();
                assert!(found.insert(id), "a session came twice");
            }
            match answer["nextCursor"].as_str() {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => break,
            }
        }
        assert_eq!(found, made);
        assert!(pages >= 3, "{pages} pages");
    }
}

// Also: V2-LIST-01.
#[tokio::test(start_paused = true)]
async fn v1_list_05_a_cursor_that_was_not_given_out_is_refused() {
    for mut client in both().await {
        for cursor in ["", "garbage", "x.y", "99999999999999999999.z"] {
            let params = json!({"cursor": cursor});
            assert_eq!(
                client.fails("session/list", params).await,
                INVALID_PARAMS,
                "{cursor}"
            );
        }
    }
}

// Also: V2-LIST-04, V1-LIST-09, V2-LIST-01.
#[tokio::test(start_paused = true)]
async fn v1_list_10_entries_have_times_and_titles_and_listing_changes_nothing() {
    for mut client in both().await {
        let session = client.session().await;
        run(&mut client, &session, "everything").await;
        client
            .ok("session/close", json!({"sessionId": session}))
            .await;
        let first = list(&mut client, json!({})).await;
        assert_eq!(first[0]["cwd"], "/work");
        assert_eq!(first[0]["title"], "A title");
        let time = first[0]["updatedAt"].as_str().unwrap();
        assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
        assert!(time.contains('T') && time.ends_with('Z'), "{time}");
        assert_eq!(list(&mut client, json!({})).await, first);
        // It was not opened by that.
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}]});
        assert_eq!(client.fails("session/prompt", prompt).await, -32002);
    }
}
