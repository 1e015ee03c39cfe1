//! Tool calls and plans of a version 1 agent, as the transcript has them.

use crate::support::{prompt, v1_session, within};
use ply_client::{Event, Session, v2};
use ply_wire::transcript::ToolCall;
use serde_json::{Value, json};

async fn after(updates: impl IntoIterator<Item = Value>) -> Session {
    let (session, mut script) = v1_session().await;
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    for update in updates {
        script.update(update).await;
    }
    script.stop(&request, "end_turn").await;
    within(turn.finish()).await.unwrap();
    session
}

fn call(session: &Session, id: &str) -> ToolCall {
    session.tool_call(&v2::ToolCallId::new(id)).unwrap()
}

fn text(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

fn begun() -> Value {
    json!({
        "sessionUpdate": "tool_call",
        "toolCallId": "c1",
        "title": "Read a file",
        "kind": "read",
        "status": "in_progress",
        "content": [text("one"), text("two")],
        "locations": [{ "path": "/work/a.rs", "line": 3 }, { "path": "/work/b.rs" }],
    })
}

fn update(fields: Value) -> Value {
    let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1" });
    for (name, value) in fields.as_object().unwrap() {
        update[name] = value.clone();
    }
    update
}

// Also: V1-TOOL-20.
#[tokio::test]
async fn v1_tool_06_fields_not_sent_stay_as_they_are() {
    let session = after([begun(), update(json!({ "status": "completed" }))]).await;
    let call = call(&session, "c1");
    assert_eq!(call.status, v2::ToolCallStatus::Completed);
    assert_eq!(call.title.as_deref(), Some("Read a file"));
    assert_eq!(call.text(), "one\ntwo");
    assert_eq!(call.locations.len(), 2);
    assert_eq!(call.locations[0].line.map(|line| line.get()), Some(3));
}

#[tokio::test]
async fn v1_tool_07_collections_are_replaced_whole() {
    let fields = json!({ "content": [text("three")], "locations": [{ "path": "/work/c.rs" }] });
    let session = after([begun(), update(fields)]).await;
    let call = call(&session, "c1");
    assert_eq!(call.text(), "three");
    assert_eq!(call.locations.len(), 1);
}

#[tokio::test]
async fn v1_tool_08_null_leaves_a_field_as_it_is() {
    let fields = json!({ "title": null, "content": null, "status": null, "locations": null });
    let session = after([begun(), update(fields)]).await;
    let call = call(&session, "c1");
    assert_eq!(call.title.as_deref(), Some("Read a file"));
    assert_eq!(call.text(), "one\ntwo");
    assert_eq!(call.status, v2::ToolCallStatus::InProgress);
    assert_eq!(call.locations.len(), 2);
}

// Also: V1-TOOL-18.
#[tokio::test]
async fn v1_tool_12_content_is_wrapped_and_anything_else_is_skipped() {
    let diff = json!({ "type": "diff", "path": "/work/a.rs", "oldText": "a\n", "newText": "b\n" });
    let bare = json!({ "type": "text", "text": "bare" });
    let fields = json!({ "content": [text("kept"), bare, diff] });
    let session = after([begun(), update(fields)]).await;
    let call = call(&session, "c1");
    assert_eq!(call.text(), "kept");
    assert_eq!(call.content.len(), 2);
    assert!(matches!(call.content[1], v2::ToolCallContent::Diff(_)));
}

// Also: V1-TOOL-16.
#[tokio::test]
async fn v1_tool_21_updates_apply_in_order_to_each_call() {
    let of = |id: &str, status: &str| json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status });
    let session = after([
        of("c2", "pending"),
        of("c3", "pending"),
        of("c2", "in_progress"),
        of("c3", "in_progress"),
        of("c3", "failed"),
        of("c2", "completed"),
        json!({ "sessionUpdate": "tool_call", "toolCallId": "c2", "title": "Late title" }),
    ])
    .await;
    assert_eq!(call(&session, "c2").status, v2::ToolCallStatus::Completed);
    assert_eq!(call(&session, "c2").title.as_deref(), Some("Late title"));
    assert_eq!(call(&session, "c3").status, v2::ToolCallStatus::Failed);
    assert_eq!(session.transcript().tool_calls().count(), 2);
}

#[tokio::test]
async fn v1_tool_20_the_places_of_a_call_are_told_as_they_come() {
    let (session, mut script) = v1_session().await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    script.update(begun()).await;
    loop {
        if let Event::ToolCall(event) = turn.next().await.unwrap().unwrap() {
            let call = event.snapshot().unwrap();
            assert_eq!(event.id(), Some(&call.id));
            assert_eq!(call.locations[0].path.0.to_str(), Some("/work/a.rs"));
            break;
        }
    }
}

#[tokio::test]
async fn v1_plan_05_a_plan_replaces_the_one_before() {
    let plan = |names: &[&str]| {
        let entry =
            |name: &&str| json!({ "content": name, "priority": "high", "status": "pending" });
        let entries: Vec<_> = names.iter().map(entry).collect();
        json!({ "sessionUpdate": "plan", "entries": entries })
    };
    let session = after([plan(&["a", "b", "c"]), plan(&["d"])]).await;
    let transcript = session.transcript();
    let plans: Vec<_> = transcript.plans().collect();
    assert_eq!(plans.len(), 1);
    let entries = plans[0].entries().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].content, "d");
}
