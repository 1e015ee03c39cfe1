//! The fold of v2 updates, rule by rule.
use std::sync::Arc;

use ply_wire::{
    lift::Lifter,
    transcript::{Change, Entry, MessageKind, State, TERMINAL_OUTPUT_BYTES_MAX, Transcript},
    v1, v2,
};
use serde_json::{Value, json};

fn update(json: Value) -> v2::SessionUpdate {
    serde_json::from_value(json).unwrap()
}

#[track_caller]
fn fold(updates: &[Value]) -> Transcript {
    let updates: Vec<_> = updates.iter().cloned().map(update).collect();
    Transcript::fold(&updates)
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn agent_chunk(id: &str, words: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": text(words)})
}

fn agent(id: &str, fields: Value) -> Value {
    upsert("agent_message", "messageId", id, fields)
}

fn call(id: &str, fields: Value) -> Value {
    upsert("tool_call_update", "toolCallId", id, fields)
}

fn terminal(id: &str, fields: Value) -> Value {
    upsert("terminal_update", "terminalId", id, fields)
}

fn upsert(kind: &str, key: &str, id: &str, mut fields: Value) -> Value {
    fields["sessionUpdate"] = json!(kind);
    fields[key] = json!(id);
    fields
}

fn output(id: &str, data: &str) -> Value {
    json!({"sessionUpdate": "terminal_output_chunk", "terminalId": id, "data": data})
}

fn state(state: &str) -> Value {
    json!({"sessionUpdate": "state_update", "state": state})
}

#[track_caller]
fn agent_text(transcript: &Transcript, id: &str) -> String {
    transcript
        .message(MessageKind::Agent, &v2::MessageId::new(id))
        .unwrap()
        .text()
}

#[track_caller]
fn only_call(transcript: &Transcript) -> &ply_wire::transcript::ToolCall {
    assert_eq!(transcript.entries().len(), 1);
    transcript.tool_calls().next().unwrap()
}

#[test]
fn message_content_is_kept_when_omitted_and_cleared_by_null_or_nothing_v2_msg_02() {
    for (patch, expected) in [
        (json!({}), "ab"),
        (json!({"content": null}), ""),
        (json!({"content": []}), ""),
        (json!({"content": [text("c")]}), "c"),
    ] {
        let transcript = fold(&[
            agent_chunk("m", "a"),
            agent_chunk("m", "b"),
            agent("m", patch),
        ]);
        assert_eq!(agent_text(&transcript, "m"), expected);
    }
}

#[test]
fn chunks_append_to_what_an_upsert_set_v2_msg_03() {
    let transcript = fold(&[
        agent("m", json!({"content": [text("a")]})),
        agent_chunk("m", "b"),
        agent("m", json!({"content": [text("c")]})),
        agent_chunk("m", "d"),
    ]);
    assert_eq!(agent_text(&transcript, "m"), "cd");
}

// Also: V2-MSG-04.
#[test]
fn messages_interleave_and_each_kind_has_its_own_ids_v2_msg_05() {
    let user =
        json!({"sessionUpdate": "user_message_chunk", "messageId": "1", "content": text("u")});
    let transcript = fold(&[
        agent_chunk("1", "a"),
        user,
        agent_chunk("2", "x"),
        agent_chunk("1", "b"),
    ]);
    let texts: Vec<_> = transcript
        .messages()
        .map(|message| (message.kind, message.text()))
        .collect();
    let expected = [
        (MessageKind::Agent, "ab"),
        (MessageKind::User, "u"),
        (MessageKind::Agent, "x"),
    ];
    assert_eq!(texts, expected.map(|(kind, text)| (kind, text.to_owned())));
}

#[test]
fn a_message_keeps_the_place_where_it_was_first_seen_v2_msg_06() {
    let transcript = fold(&[
        agent("1", json!({})),
        agent_chunk("2", "x"),
        agent("1", json!({"content": [text("late")]})),
    ]);
    let ids: Vec<_> = transcript
        .messages()
        .map(|message| message.id.to_string())
        .collect();
    assert_eq!(ids, ["1", "2"]);
}

#[test]
fn metadata_is_patched_by_key_and_chunks_do_not_touch_it_v2_msg_07_08() {
    let mut chunk = agent_chunk("m", "a");
    chunk["_meta"] = json!({"chunk": 1});
    let first = agent("m", json!({"_meta": {"a": 1, "b": {"x": 1, "y": 2}}}));
    for (patch, expected) in [
        (json!({}), json!({"a": 1, "b": {"x": 1, "y": 2}})),
        (json!({"_meta": null}), json!({})),
        (
            json!({"_meta": {"a": null, "b": {"x": 3}}}),
            json!({"b": {"x": 3}}),
        ),
    ] {
        let transcript = fold(&[first.clone(), chunk.clone(), agent("m", patch)]);
        let message = transcript.messages().next().unwrap();
        assert_eq!(Value::Object(message.meta.clone()), expected);
    }
}

#[test]
fn blocks_that_say_more_than_text_are_not_joined() {
    let mut marked = agent_chunk("m", "b");
    marked["content"]["annotations"] = json!({"priority": 1.0});
    let transcript = fold(&[
        agent_chunk("m", "a"),
        marked,
        agent_chunk("m", "c"),
        agent_chunk("m", "d"),
    ]);
    assert_eq!(transcript.messages().next().unwrap().content.len(), 3);
    assert_eq!(agent_text(&transcript, "m"), "abcd");
}

#[test]
fn a_tool_call_starts_with_defaults_v2_tool_04() {
    let transcript = fold(&[call("c", json!({}))]);
    let call = only_call(&transcript);
    assert_eq!(
        (&call.kind, &call.status),
        (&v2::ToolKind::Other, &v2::ToolCallStatus::Pending)
    );
    assert_eq!(
        (&call.title, &call.name, call.content.len()),
        (&None, &None, 0)
    );
    assert_eq!(call.shown_title(), "Tool call");
}

#[test]
fn a_tool_call_is_patched_field_by_field_v2_tool_02() {
    let full = json!({
        "title": "t", "name": "n", "kind": "read", "status": "completed", "rawInput": {"x": 1},
        "content": [{"type": "content", "content": text("a")}], "locations": [{"path": "/x",
            "line": 3}],
    });
    let kept = fold(&[call("c", full.clone()), call("c", json!({}))]);
    assert_eq!(only_call(&kept).title.as_deref(), Some("t"));
    assert_eq!(only_call(&kept).status, v2::ToolCallStatus::Completed);
    let nulls = json!({
        "title": null, "name": null, "kind": null, "status": null, "rawInput": null,
            "content": null,
        "locations": null,
    });
    let cleared = fold(&[call("c", full), call("c", nulls)]);
    assert_eq!(cleared, fold(&[call("c", json!({}))]));
}

#[test]
fn tool_content_chunks_append_until_content_replaces_them_v2_tool_05() {
    let chunk = |words: &str| {
        json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c",
               "content": {"type": "content", "content": text(words)}})
    };
    let replace = call(
        "c",
        json!({"content": [{"type": "content", "content": text("r")}]}),
    );
    assert_eq!(only_call(&fold(&[chunk("a"), chunk("b")])).text(), "a\nb");
    assert_eq!(
        only_call(&fold(&[chunk("a"), replace, chunk("b")])).text(),
        "r\nb"
    );
}

#[test]
fn an_unknown_status_is_not_finished_v2_tool_07() {
    for (status, finished) in [
        ("_x", false),
        ("paused", false),
        ("cancelled", true),
        ("failed", true),
    ] {
        let transcript = fold(&[call("c", json!({"status": status}))]);
        assert_eq!(only_call(&transcript).is_finished(), finished, "{status}");
    }
}

#[test]
fn terminal_chunks_are_decoded_one_by_one_and_a_snapshot_replaces_them_v2_term_06_07() {
    let transcript = fold(&[output("t", "YQ=="), output("t", "!!"), output("t", "Yg==")]);
    let id = v2::TerminalId::new("t");
    assert_eq!(transcript.terminal(&id).unwrap().output.as_bytes(), b"ab");
    let snapshot = terminal(
        "t",
        json!({"output": {"data": "eA=="}, "command": "ls", "cwd": "/w"}),
    );
    let transcript = fold(&[output("t", "YQ=="), snapshot.clone(), output("t", "eQ==")]);
    assert_eq!(transcript.terminal(&id).unwrap().output.as_bytes(), b"xy");
    let cleared = fold(&[
        snapshot,
        terminal("t", json!({"output": null, "command": null})),
    ]);
    let shown = cleared.terminal(&id).unwrap();
    assert_eq!(
        (
            &shown.output[..],
            shown.command.as_deref(),
            shown.cwd.is_some()
        ),
        (&b""[..], None, true)
    );
}

#[test]
fn an_empty_exit_status_means_exited_v2_term_09() {
    let id = v2::TerminalId::new("t");
    for (fields, exited) in [
        (json!({}), false),
        (json!({"exitStatus": {}}), true),
        (json!({"exitStatus": {"exitCode": -1}}), true),
    ] {
        assert_eq!(
            fold(&[terminal("t", fields)])
                .terminal(&id)
                .unwrap()
                .exit_status
                .is_some(),
            exited
        );
    }
}

#[test]
fn a_plan_is_replaced_by_id_and_an_unknown_type_replaces_it_too_v2_plan_03_05() {
    let entry = |text: &str| json!({"content": text, "priority": "low", "status": "pending"});
    let plan = |id: &str, entries: Value| {
        json!({"sessionUpdate": "plan_update",
        "plan": {"type": "items", "planId": id, "entries": entries}})
    };
    let unknown = json!({"sessionUpdate": "plan_update", "plan": {"type": "_x", "planId": "p"}});
    let transcript = fold(&[
        plan("p", json!([entry("a"), entry("b")])),
        plan("q", json!([entry("c")])),
        plan("p", json!([entry("d")])),
    ]);
    let sizes: Vec<_> = transcript
        .plans()
        .map(|plan| plan.entries().map(<[_]>::len))
        .collect();
    assert_eq!(sizes, [Some(1), Some(1)]);
    assert_eq!(transcript.last_plan(), transcript.plans().next_back());
    assert_eq!(fold(&[]).last_plan(), None);
    let transcript = fold(&[plan("p", json!([entry("a")])), unknown]);
    assert_eq!(
        transcript.plan(&v2::PlanId::new("p")).unwrap().entries(),
        None
    );
}

#[test]
fn only_the_change_from_active_to_idle_completes_v2_state_08_10() {
    let mut transcript = Transcript::new();
    let completed: Vec<bool> = [
        "idle",
        "running",
        "running",
        "idle",
        "idle",
        "_x",
        "idle",
        "requires_action",
        "idle",
    ]
    .into_iter()
    .map(|name| transcript.apply(&update(state(name))) == Change::Completed)
    .collect();
    assert_eq!(
        completed,
        [false, false, false, true, false, false, true, false, true]
    );
}

#[test]
fn an_unknown_state_is_busy_and_other_updates_do_not_change_the_state_v2_state_07() {
    let transcript = fold(&[state("_paused"), call("c", json!({}))]);
    assert_eq!(transcript.state(), &State::Unknown("_paused".to_owned()));
    assert!(transcript.state().is_active());
    assert_eq!(
        fold(&[call("c", json!({"status": "in_progress"}))]).state(),
        &State::Idle
    );
}

#[test]
fn background_work_is_a_snapshot_and_a_repeated_idle_keeps_the_stop_reason() {
    let mut idle = state("idle");
    idle["stopReason"] = json!("refusal");
    idle["background"] = json!([{"type": "terminal", "terminalId": "t"}]);
    let transcript = fold(&[state("running"), idle.clone()]);
    assert_eq!(transcript.background().map(<[_]>::len), Some(1));
    assert_eq!(transcript.stop_reason(), Some(&v2::StopReason::Refusal));
    let transcript = fold(&[state("running"), idle, state("idle")]);
    assert_eq!(transcript.background(), None);
    assert_eq!(transcript.stop_reason(), Some(&v2::StopReason::Refusal));
}

#[test]
fn info_is_patched_and_cost_stays_until_it_is_cleared_v2_info_01_v2_usage_01() {
    let info = |mut fields: Value| {
        fields["sessionUpdate"] = json!("session_info_update");
        fields
    };
    let transcript = fold(&[
        info(json!({"title": "t", "updatedAt": "now"})),
        info(json!({"title": null})),
    ]);
    assert_eq!(
        (
            &transcript.info().title,
            transcript.info().updated_at.as_deref()
        ),
        (&None, Some("now"))
    );
    let usage = |mut fields: Value| {
        fields["sessionUpdate"] = json!("usage_update");
        fields["used"] = json!(1);
        fields["size"] = json!(2);
        fields
    };
    let cost = usage(json!({"cost": {"amount": 1.5, "currency": "EUR"}}));
    for (patch, amount) in [(json!({}), Some(1.5)), (json!({"cost": null}), None)] {
        let transcript = fold(&[cost.clone(), usage(patch)]);
        assert_eq!(
            transcript
                .usage()
                .unwrap()
                .cost
                .as_ref()
                .map(|cost| cost.amount),
            amount
        );
    }
}

#[test]
fn a_compaction_that_starts_with_a_chunk_is_in_progress_v2_compact_01() {
    let chunk = json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "k",
        "content": text("s")});
    let done =
        json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"});
    let Some(Entry::Compaction(open)) = fold(std::slice::from_ref(&chunk)).entry(0).cloned() else {
        panic!("no compaction")
    };
    assert_eq!(open.status, v2::CompactionStatus::InProgress);
    let Some(Entry::Compaction(ended)) = fold(&[chunk, done]).entry(0).cloned() else {
        panic!("no compaction")
    };
    assert_eq!(
        (ended.status, ended.summary.len()),
        (v2::CompactionStatus::Completed, 1)
    );
}

#[test]
fn unknown_updates_are_kept_in_place_and_notices_are_not_history() {
    let notice = json!({"sessionUpdate": "notice", "severity": "info", "title": "n"});
    let unknown = json!({"sessionUpdate": "_x", "payload": [1]});
    let transcript = fold(&[agent_chunk("m", "a"), notice, unknown]);
    assert_eq!(transcript.entries().len(), 2);
    let Some(Entry::Unknown(kept)) = transcript.entry(1) else {
        panic!("lost")
    };
    assert_eq!(kept.fields["payload"], json!([1]));
}

#[test]
fn changes_name_the_one_entry_to_redraw() {
    let mut transcript = Transcript::new();
    let changes: Vec<Change> = [
        agent_chunk("m", "a"),
        call("c", json!({})),
        agent_chunk("m", "b"),
        call("c", json!({"title": "t"})),
    ]
    .into_iter()
    .map(|json| transcript.apply(&update(json)))
    .collect();
    assert_eq!(
        changes,
        [
            Change::Added(0),
            Change::Added(1),
            Change::Extended(0),
            Change::Changed(1)
        ]
    );
}

#[test]
fn a_relative_directory_of_a_terminal_is_dropped_v2_term_04() {
    let transcript = fold(&[
        terminal("t", json!({"cwd": "/w"})),
        terminal("t", json!({"cwd": "src", "command": "ls"})),
    ]);
    let shown = transcript.terminal(&v2::TerminalId::new("t")).unwrap();
    assert_eq!(shown.cwd, Some(v2::AbsolutePath::new("/w")));
    assert_eq!(shown.command.as_deref(), Some("ls"));
}

#[test]
fn a_terminal_that_prints_for_ever_keeps_its_end_and_replays_to_itself() {
    let chunk = "eHh4".repeat(100_000);
    let mut updates = vec![update(output("t", "YQ=="))];
    updates.extend((0..6).map(|_| update(output("t", &chunk))));
    updates.push(update(output("t", "eg==")));
    let transcript = Transcript::fold(&updates);
    let shown = transcript.terminal(&v2::TerminalId::new("t")).unwrap();
    assert_eq!(shown.output.len(), TERMINAL_OUTPUT_BYTES_MAX);
    assert_eq!(shown.output.last(), Some(&b'z'));
    assert_eq!(Transcript::fold(&transcript.to_updates()), transcript);
}

#[test]
fn a_local_cancel_marks_unfinished_calls_and_later_updates_win_v1_cancel_02_08() {
    let mut transcript = fold(&[
        call("a", json!({"status": "in_progress"})),
        call("b", json!({"status": "completed"})),
        call("c", json!({})),
    ]);
    assert_eq!(transcript.mark_cancelled(), [0, 2]);
    let status = |transcript: &Transcript, id: &str| {
        transcript
            .tool_call(&v2::ToolCallId::new(id))
            .unwrap()
            .status
            .clone()
    };
    transcript.apply(&update(call("a", json!({"status": "completed"}))));
    transcript.apply(&update(call("c", json!({"title": "t"}))));
    assert_eq!(status(&transcript, "a"), v2::ToolCallStatus::Completed);
    assert_eq!(status(&transcript, "b"), v2::ToolCallStatus::Completed);
    assert_eq!(status(&transcript, "c"), v2::ToolCallStatus::Cancelled);
}

#[test]
fn a_permission_request_brings_its_call_but_not_its_words_v2_perm_02_03() {
    let request = json!({"sessionId": "s", "title": "Really?", "options": [],
        "subject": {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Delete x"}}});
    let request: v2::RequestPermissionRequest = serde_json::from_value(request).unwrap();
    let mut transcript = Transcript::new();
    assert_eq!(transcript.permission_requested(&request), Change::Added(0));
    assert_eq!(only_call(&transcript).title.as_deref(), Some("Delete x"));
}

#[test]
fn updates_of_a_v1_agent_fold_through_the_lifter() {
    let updates = [
        json!({"sessionUpdate": "agent_message_chunk", "content": text("Hel")}),
        json!({"sessionUpdate": "agent_message_chunk", "content": text("lo")}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read"}),
        json!({"sessionUpdate": "agent_message_chunk", "content": text("done")}),
    ];
    let (mut lifter, mut lifted) = (Lifter::new("m", ""), Vec::new());
    for json in updates {
        let update: v1::SessionUpdate = serde_json::from_value(json).unwrap();
        lifter.update(update, &mut lifted);
    }
    let transcript = Transcript::fold(&lifted);
    assert_eq!(transcript.entries().len(), 3);
    assert_eq!(
        (agent_text(&transcript, "m1"), agent_text(&transcript, "m2")),
        ("Hello".into(), "done".into())
    );
    assert_eq!(transcript.last_agent_text(), "done");
}

#[test]
fn a_stamp_tells_what_is_still_true_of_an_entry() {
    let mut transcript = fold(&[
        agent_chunk("m1", "Hello"),
        call("c1", json!({"title": "Read"})),
    ]);
    let (message, tool) = (transcript.stamp(0).unwrap(), transcript.stamp(1).unwrap());
    transcript.apply(&update(agent_chunk("m1", ", world")));
    let extended = transcript.stamp(0).unwrap();
    assert_ne!(extended, message);
    assert_eq!(extended.rewritten_at, message.rewritten_at);
    assert_eq!(transcript.stamp(1), Some(tool));
    transcript.apply(&update(agent("m1", json!({"content": [text("Bye")]}))));
    assert_ne!(
        transcript.stamp(0).unwrap().rewritten_at,
        message.rewritten_at
    );
    transcript.mark_cancelled();
    assert_ne!(transcript.stamp(1), Some(tool));
    assert_eq!(transcript.stamp(2), None);
}

#[test]
fn a_clone_shares_every_entry_until_one_of_the_two_changes_it() {
    let mut original = fold(&[
        agent_chunk("m1", "a"),
        call("c1", json!({"status": "completed"})),
        call("c2", json!({"status": "in_progress"})),
        agent_chunk("m2", "b"),
        terminal("t", json!({"command": "ls"})),
    ]);
    let before = original.clone();
    let shared = |one: &Transcript| -> Vec<bool> {
        let pairs = one.shared_entries().zip(before.shared_entries());
        pairs.map(|(one, other)| Arc::ptr_eq(one, other)).collect()
    };
    assert_eq!(shared(&original), [true; 5]);
    original.apply(&update(agent_chunk("m2", "c")));
    original.mark_cancelled();
    original.apply(&update(output("t", "eA==")));
    original.apply(&update(agent_chunk("m3", "new")));
    assert_eq!(shared(&original), [true, true, false, false, false]);
    // The clone is what the original was.
    assert_eq!(before.last_agent_text(), "b");
    assert_eq!(before.entries().len(), 5);
    assert!(
        before
            .message(MessageKind::Agent, &v2::MessageId::new("m3"))
            .is_none()
    );
    assert!(before.tool_calls().any(|call| !call.is_finished()));
    assert!(
        before
            .terminal(&v2::TerminalId::new("t"))
            .unwrap()
            .output
            .is_empty()
    );
    assert_eq!(original.last_agent_text(), "new");
}

#[test]
fn terminals_are_open_until_their_end_is_reported_v2_term_09() {
    let open = |transcript: &Transcript| -> Vec<String> {
        transcript
            .open_terminals()
            .map(ToString::to_string)
            .collect()
    };
    let mut transcript = fold(&[
        output("t1", "eA=="),
        agent_chunk("m", "a"),
        terminal("t2", json!({"command": "ls"})),
        terminal("t3", json!({"command": "ls", "exitStatus": {}})),
        terminal("t4", json!({})),
    ]);
    assert_eq!(open(&transcript), ["t1", "t2", "t4"]);
    let before = transcript.clone();
    for ended in [
        terminal("t1", json!({"exitStatus": {"exitCode": 0}})),
        terminal("t1", json!({"command": "pwd"})),
        output("t1", "eA=="),
        output("t3", "eA=="),
        terminal("t4", json!({"exitStatus": {"signal": "KILL"}})),
    ] {
        transcript.apply(&update(ended));
    }
    assert_eq!(open(&transcript), ["t2"]);
    // Whoever takes the end back has a terminal in its first place again.
    transcript.apply(&update(terminal("t1", json!({"exitStatus": null}))));
    assert_eq!(open(&transcript), ["t1", "t2"]);
    assert_eq!(open(&before), ["t1", "t2", "t4"]);
    let replayed = Transcript::fold(&transcript.to_updates());
    assert_eq!(open(&replayed), ["t1", "t2"]);
    assert_eq!(
        open(&ply_wire::transcript::what_v1_can_carry(&transcript)),
        [""; 0]
    );
}
