//! Updates that patch: what is left out, what is null and what has a value are three things.
use ply_wire::{
    transcript::{Entry, State, Terminal, Transcript},
    v2,
};
use serde_json::{Value, json};

fn update(json: Value) -> v2::SessionUpdate {
    serde_json::from_value(json).unwrap()
}

fn fold(updates: &[Value]) -> Transcript {
    let updates: Vec<_> = updates.iter().cloned().map(update).collect();
    Transcript::fold(&updates)
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// Every update with fields that patch, with a value for each of them.
fn patches() -> Vec<(Value, Value)> {
    let message = |kind: &str| {
        let update = json!({"sessionUpdate": kind, "messageId": "m"});
        (update, json!({"content": text("a"), "_meta": {"k": 1}}))
    };
    vec![
        message("user_message"),
        message("agent_message"),
        message("agent_thought"),
        (
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c"}),
            json!({
                "name": "read", "title": "Read", "kind": "read", "status": "in_progress",
                "content": [{"type": "terminal", "terminalId": "t"}],
                "locations": [{"path": "/a"}], "rawInput": {"a": 1}, "rawOutput": [2],
                "capabilities": {"cancel": {}}, "_meta": {"k": 1},
            }),
        ),
        (
            json!({"sessionUpdate": "terminal_update", "terminalId": "t"}),
            terminal_fields(),
        ),
        (
            json!({"sessionUpdate": "session_info_update"}),
            json!({"title": "T", "updatedAt": "2026-01-01T00:00:00Z", "_meta": {"k": 1}}),
        ),
        (
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
            json!({"cost": {"amount": 1.5, "currency": "USD"}}),
        ),
        (
            json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"}),
            json!({"summary": text("short"), "error": "none", "_meta": {"k": 1}}),
        ),
    ]
}

fn terminal_fields() -> Value {
    json!({
        "command": "make", "cwd": "/work", "output": {"data": "YQ=="},
        "exitStatus": {"exitCode": 1}, "size": {"cols": 80, "rows": 24},
        "capabilities": {"cancel": {}}, "_meta": {"k": 1},
    })
}

#[test]
fn v2_msg_09_omitted_null_and_a_value_survive_as_three_things() {
    for (base, fields) in patches() {
        let same =
            |json: &Value| assert_eq!(serde_json::to_value(update(json.clone())).unwrap(), *json);
        same(&base);
        for (name, value) in fields.as_object().unwrap() {
            for value in [&Value::Null, value] {
                let mut json = base.clone();
                json[name] = value.clone();
                same(&json);
            }
        }
    }
}

fn only_terminal(transcript: &Transcript) -> &Terminal {
    let mut entries = transcript.entries();
    match (entries.next(), entries.next()) {
        (Some(Entry::Terminal(terminal)), None) => terminal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn v2_term_03_each_field_of_a_terminal_is_kept_cleared_or_replaced() {
    let with = |fields: &Value| {
        let mut json = fields.clone();
        json["sessionUpdate"] = json!("terminal_update");
        json["terminalId"] = json!("t");
        json
    };
    let blank = fold(&[with(&json!({}))]);
    let filled = fold(&[with(&terminal_fields())]);
    assert_ne!(only_terminal(&blank), only_terminal(&filled));
    let kept = fold(&[with(&terminal_fields()), with(&json!({}))]);
    assert_eq!(only_terminal(&kept), only_terminal(&filled));
    let fields = terminal_fields();
    for name in fields.as_object().unwrap().keys() {
        let cleared = fold(&[with(&fields), with(&json!({ name: null }))]);
        let mut rest = fields.clone();
        rest.as_object_mut().unwrap().remove(name);
        let without = fold(&[with(&rest)]);
        assert_eq!(only_terminal(&cleared), only_terminal(&without), "{name}");
        let set = fold(&[with(&rest), with(&json!({ name: fields[name] }))]);
        assert_eq!(only_terminal(&set), only_terminal(&filled), "{name}");
    }
    let emptied = fold(&[
        with(&fields),
        with(&json!({"output": {"data": ""}, "command": ""})),
    ]);
    assert!(only_terminal(&emptied).output.is_empty());
    assert_eq!(only_terminal(&emptied).command.as_deref(), Some(""));
}

#[test]
fn v2_term_02_a_terminal_is_the_same_whether_its_reference_or_its_output_comes_first() {
    let output =
        json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "aGk="});
    let reference = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "content": [{"type": "terminal", "terminalId": "t"}]});
    let before = fold(&[output.clone(), reference.clone()]);
    let after = fold(&[reference, output]);
    let (call, terminal) = (v2::ToolCallId::new("c"), v2::TerminalId::new("t"));
    assert_eq!(before.terminal(&terminal).unwrap().text(), "hi");
    assert_eq!(before.terminal(&terminal), after.terminal(&terminal));
    assert_eq!(before.tool_call(&call), after.tool_call(&call));
}

#[test]
fn v2_term_11_escapes_for_the_clipboard_or_the_title_are_not_in_the_text() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let hostile = b"a\x1b]52;c;c2VjcmV0\x07b\x1b]0;mine\x1b\\c\x1b[2Jd\x9b31me\x08\x00f\r\n";
    let chunk = json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t",
        "data": STANDARD.encode(hostile)});
    let transcript = fold(&[chunk]);
    let shown = only_terminal(&transcript).text();
    assert!(
        !shown.chars().any(|char| char.is_control() && char != '\n'),
        "{shown:?}"
    );
    for hidden in ["52;", "c2VjcmV0", "mine", "2J"] {
        assert!(!shown.contains(hidden), "{shown:?}");
    }
    assert!(shown.starts_with("abcd"), "{shown:?}");
}

#[test]
fn v2_tool_08_tools_and_terminals_that_go_on_while_idle_change_no_state() {
    let idle = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"});
    let call = |status: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": status});
    let chunk = json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c",
        "content": {"type": "terminal", "terminalId": "t"}});
    let transcript = fold(&[idle, call("in_progress"), chunk, call("completed")]);
    assert_eq!(transcript.state(), &State::Idle);
    assert_eq!(transcript.stop_reason(), Some(&v2::StopReason::EndTurn));
    let call = transcript.tool_call(&v2::ToolCallId::new("c")).unwrap();
    assert_eq!(call.status, v2::ToolCallStatus::Completed);
    assert_eq!(call.content.len(), 1);
}

#[test]
fn v2_bg_05_an_unknown_item_is_still_work_and_a_malformed_list_is_no_report() {
    for state in ["idle", "running", "requires_action"] {
        let with = |background: Value| {
            fold(&[
                json!({"sessionUpdate": "state_update", "state": state, "background": background}),
            ])
        };
        let unknown = with(json!([{"type": "_x", "id": 1}, {"type": "later"}]));
        assert_eq!(unknown.background().map(<[_]>::len), Some(2), "{state}");
        assert_eq!(with(json!([])).background(), Some(&[][..]), "{state}");
        for malformed in [json!(3), json!("x"), json!({}), Value::Null] {
            assert_eq!(with(malformed).background(), None, "{state}");
        }
    }
}

#[test]
fn v2_ecancel_06_capabilities_that_cannot_be_read_are_no_capabilities() {
    for malformed in [
        json!(1),
        json!("x"),
        json!([]),
        json!({"cancel": 1}),
        json!({"cancel": null}),
    ] {
        let transcript = fold(&[
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "capabilities": malformed}),
            json!({"sessionUpdate": "terminal_update", "terminalId": "t", "capabilities": malformed}),
        ]);
        let call = transcript.tool_call(&v2::ToolCallId::new("c")).unwrap();
        let terminal = transcript.terminal(&v2::TerminalId::new("t")).unwrap();
        let offers = call
            .capabilities
            .as_ref()
            .and_then(|offers| offers.cancel.as_ref());
        assert_eq!(offers, None, "{malformed}");
        let offers = terminal
            .capabilities
            .as_ref()
            .and_then(|offers| offers.cancel.as_ref());
        assert_eq!(offers, None, "{malformed}");
    }
}

#[test]
fn v2_plan_06_plans_of_the_unstable_schema_are_taken_and_replace_one_another() {
    let plan = |fields: Value| {
        let mut plan = fields;
        plan["planId"] = json!("p");
        json!({"sessionUpdate": "plan_update", "plan": plan})
    };
    let items = plan(json!({"type": "items", "entries": [
        {"content": "a", "priority": "high", "status": "pending"}]}));
    let markdown = plan(json!({"type": "markdown", "content": "# Plan"}));
    let file = plan(json!({"type": "file", "uri": "file:///work/plan.md"}));
    let removed = json!({"sessionUpdate": "plan_removed", "planId": "p"});
    let id = v2::PlanId::new("p");
    for other in [markdown, file] {
        let transcript = fold(&[items.clone(), other.clone()]);
        assert_eq!(transcript.plans().count(), 1, "{other}");
        let update = update(other.clone());
        assert_eq!(serde_json::to_value(update).unwrap(), other);
        assert_ne!(
            transcript.plan(&id),
            fold(std::slice::from_ref(&items)).plan(&id)
        );
    }
    // It is passed on as it came, and nothing else is lost by it.
    let transcript = fold(&[items.clone(), removed.clone(), items]);
    assert_eq!(
        serde_json::to_value(update(removed.clone())).unwrap(),
        removed
    );
    assert_eq!(transcript.plans().count(), 1);
}
