//! The records of a journal: how they are written, and that those of older versions are read.
use crate::support::{Session, accepted, permission, started};
use ply_session::{Answer, AskId, Connection, Edit, Event, QueueChange, Runner, TurnId};
use ply_wire::v2;
use serde_json::{Value, json};

/// Checks that an event is written like this, and read as it was.
#[track_caller]
fn check(event: &Event, expected: &Value) {
    let written = serde_json::to_value(event).unwrap();
    assert_eq!(written, *expected);
    let read: Event = serde_json::from_value(written).unwrap();
    assert_eq!(read, *event);
}

#[test]
fn what_clients_are_shown() {
    let chunk = v2::ContentChunk::new("Hi".into(), "m");
    let update = v2::SessionUpdate::AgentMessageChunk(chunk);
    let shown = json!({
        "sessionUpdate": "agent_message_chunk", "messageId": "m",
        "content": {"type": "text", "text": "Hi"},
    });
    check(&Event::Update(update), &json!({ "update": shown }));
    let update = crate::support::call("c", v2::ToolCallStatus::Completed);
    let shown =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"});
    let edits = vec![Edit {
        path: "/x".into(),
        old: None,
        new: Some("text".into()),
    }];
    let written = json!([{"path": "/x", "old": null, "new": "text"}]);
    check(
        &Event::Edited { update, edits },
        &json!({"edited": {"update": shown, "edits": written}}),
    );
}

#[test]
fn questions_and_their_answers() {
    let asked = Event::Asked {
        ask: AskId(3),
        turn: Some(TurnId(2)),
        question: permission(None),
    };
    let options = json!([
        {"optionId": "yes", "name": "yes", "kind": "allow_once"},
        {"optionId": "no", "name": "no", "kind": "reject_once"},
    ]);
    let request = json!({"sessionId": "s", "title": "Really?", "options": options});
    let question = json!({ "permission": request });
    check(
        &asked,
        &json!({"asked": {"ask": 3, "turn": 2, "question": question}}),
    );
    let answered = |answer, by: Option<&str>| Event::Answered {
        ask: AskId(3),
        answer,
        by: by.map(str::to_owned),
    };
    check(
        &answered(Answer::Cancelled, None),
        &json!({"answered": {"ask": 3, "answer": "cancelled"}}),
    );
    let yes = Answer::Selected(v2::PermissionOptionId::new("yes"));
    check(
        &answered(yes, Some("ada")),
        &json!({"answered": {"ask": 3, "answer": {"selected": "yes"}, "by": "ada"}}),
    );
}

#[test]
fn the_queue() {
    let (key, content) = ("k".to_owned(), vec!["Hi".into()]);
    let written = json!([{"type": "text", "text": "Hi"}]);
    let queued = |operation: Option<&str>| Event::Queued {
        key: key.clone(),
        content: content.clone(),
        by: None,
        operation: operation.map(str::to_owned),
    };
    check(
        &queued(None),
        &json!({"queued": {"key": "k", "content": written}}),
    );
    check(
        &queued(Some("op")),
        &json!({"queued": {"key": "k", "content": written, "operation": "op"}}),
    );
    for (change, expected) in [
        (
            QueueChange::Edited {
                key: key.clone(),
                content,
            },
            json!({"edited": {"key": "k", "content": written}}),
        ),
        (
            QueueChange::Moved {
                key: key.clone(),
                to: 2,
            },
            json!({"moved": {"key": "k", "to": 2}}),
        ),
        (QueueChange::Left { key }, json!({"left": {"key": "k"}})),
        (QueueChange::Paused, json!("paused")),
        (QueueChange::Resumed, json!("resumed")),
    ] {
        check(&Event::Queue(change), &json!({ "queue": expected }));
    }
}

#[test]
fn operations_runners_and_lines() {
    check(
        &Event::Operation {
            key: "k".into(),
            message: v2::MessageId::new("m"),
        },
        &json!({"operation": {"key": "k", "message": "m"}}),
    );
    check(&Runner::new("a").into(), &json!({"runner": {"agent": "a"}}));
    check(
        &Runner::new("a").version("1").session("s").into(),
        &json!({"runner": {"agent": "a", "version": "1", "session": "s"}}),
    );
    check(&Event::Lines { upto: 9 }, &json!({"lines": {"upto": 9}}));
    let held = Runner::new("a").holder("h");
    check(
        &held.into(),
        &json!({"runner": {"agent": "a", "holder": "h"}}),
    );
    let (number, after, what) = (2, 7, "cancel".to_owned());
    let told = Connection::Told {
        number,
        after,
        what,
        once: false,
    };
    check(
        &Event::Connection(told),
        &json!({"connection": {"told": {"number": 2, "after": 7, "what": "cancel"}}}),
    );
}

#[test]
fn what_must_be_safe_before_anybody_hears_of_it() {
    let durable = [
        json!({"answered": {"ask": 3, "answer": "cancelled"}}),
        json!({"queued": {"key": "k", "content": []}}),
        json!({"queue": "paused"}),
        json!({"operation": {"key": "k", "message": "m"}}),
        json!({"runner": {"agent": "a"}}),
        json!({"connection": {"told": {"number": 1, "after": 0, "what": "prompt", "once": true}}}),
        json!({"update": {"sessionUpdate": "user_message", "messageId": "m"}}),
        json!({"update": {"sessionUpdate": "state_update", "state": "running"}}),
        json!({"update": {"sessionUpdate": "state_update", "state": "idle"}}),
        json!({"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress"}}),
    ];
    for record in durable {
        let event: Event = serde_json::from_value(record.clone()).unwrap();
        assert!(event.is_durable(), "{record}");
    }
    for record in [
        json!({"lines": {"upto": 9}}),
        json!({"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}}),
        json!({"update": {"sessionUpdate": "state_update", "state": "requires_action"}}),
    ] {
        let event: Event = serde_json::from_value(record.clone()).unwrap();
        assert!(!event.is_durable(), "{record}");
    }
}

/// A part of a journal that was written when owners had no number.
const OLD: &str = r#"
{"update":{"sessionUpdate":"user_message","messageId":"msg-0-1","content":[{"type":"text","text":"Hi"}]}}
{"update":{"sessionUpdate":"state_update","state":"running"}}
{"asked":{"ask":1,"turn":2,"question":{"permission":{"sessionId":"s","title":"Really?","options":[{"optionId":"yes","name":"yes","kind":"allow_once"}]}}}}
{"answered":{"ask":1,"answer":{"selected":"yes"}}}
{"update":{"sessionUpdate":"agent_message_chunk","messageId":"msg-2-1","content":{"type":"text","text":"Hello"}}}
{"update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}
"#;

#[test]
fn a_journal_of_an_older_version_is_read_and_goes_on_under_ids_of_its_own() {
    let lines = OLD.lines().filter(|line| !line.is_empty());
    let old: Vec<Event> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (mut session, repair) = Session::open(&old);
    assert_eq!(repair, [], "it was at rest");
    session.attach(1);
    let out = session.prompt(1, "again");
    // Old ids are `msg-` and two numbers; those of an owner with a number cannot be among them.
    assert_eq!(accepted(&out), Some((1, v2::MessageId::new("msg-e2-1"))));
    let turn = started(&out).unwrap();
    assert_eq!(session.engine.id_prefix(turn), "e2-2");
    let said = crate::support::updates(&session.say(Some(turn), "yes"));
    let chunk = v2::ContentChunk::new("yes".into(), "msg-e2-3");
    assert_eq!(said, [v2::SessionUpdate::AgentMessageChunk(chunk)]);
}
