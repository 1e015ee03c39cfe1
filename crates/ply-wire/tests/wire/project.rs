//! What a v1 client is sent for v2 events, row by row.
#[path = "project/view.rs"]
#[allow(unreachable_pub, reason = "a module of tests")]
mod view;

use ply_wire::{
    convert::diff,
    project::{Down, EditText, Projector, Shows},
    transcript::Transcript,
    v1, v2,
};
use serde_json::{Value, json};
use view::{View, call, chunk, event, idle, item, message, state, with};

#[track_caller]
fn check(events: &[Value], expected: &[Value]) {
    check_for(Shows::ALL, events, expected);
}

#[track_caller]
fn check_for(shows: Shows, events: &[Value], expected: &[Value]) {
    let mut view = View::new(shows);
    view.apply(events.iter().cloned());
    view.projector.flush(&mut view.out);
    assert_eq!(view.sent(), expected);
}

#[test]
fn chunks_keep_their_ids() {
    let chunks = [
        chunk("agent_message", "m", "a"),
        chunk("agent_thought", "m", "b"),
        chunk("user_message", "m", "c"),
    ];
    check(&chunks, &chunks);
}

#[test]
fn only_plain_chunks_under_their_own_id_are_sent_as_they_are_in_v2() {
    let mut projector = Projector::new(Shows::ALL, "v/");
    let mut is_same = |json: Value| {
        let (update, mut out) = (event(json), Vec::new());
        projector.apply(&update, &mut out);
        for down in &out {
            view::expanded(down.clone(), &update);
        }
        out == [Down::Same]
    };
    let said = |id: &str| chunk("agent_message", id, "é\n\"\u{1}");
    assert!(is_same(said("m")));
    assert!(is_same(said("m")));
    assert!(is_same(chunk("agent_thought", "m", "")));
    assert!(!is_same(chunk("user_message", "m", "yo")));
    let mut with_meta = said("m");
    with_meta["_meta"] = json!({"k": 1});
    assert!(!is_same(with_meta));
    let mut annotated = said("m");
    annotated["content"]["annotations"] = json!({"priority": 1.0});
    assert!(!is_same(annotated));
    let mut image = said("m");
    image["content"] = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
    assert!(!is_same(image));
    assert!(is_same(said("m")));
    // After other content the message goes on under another id.
    assert!(!is_same(message("agent_message", "m", &["b"])));
    assert!(!is_same(said("m")));
    // One that was emptied, and one whose id is taken by the other's new one.
    assert!(is_same(said("n")));
    assert!(!is_same(message("agent_message", "n", &[])));
    assert!(!is_same(said("n")));
    assert!(!is_same(said("m~2")));
    assert!(is_same(chunk("agent_thought", "m~2", "")));
    // A message that began as a whole goes on in chunks.
    assert!(!is_same(message("agent_message", "o", &["b"])));
    assert!(is_same(said("o")));
}

#[test]
fn the_clients_own_messages_are_not_echoed_and_those_of_others_are() {
    let mut view = View::new(Shows::ALL);
    view.apply([state("running")]);
    view.projector.own_message(v2::MessageId::new("own"));
    // What ran before may end before the message comes (V2-STATE-14).
    view.apply([
        idle("end_turn"),
        idle("end_turn"),
        chunk("user_message", "own", "h"),
        message("user_message", "other", &["yo"]),
        state("running"),
        message("user_message", "own", &["hi"]),
        chunk("user_message", "own", " there"),
        state("requires_action"),
        message("user_message", "own", &["hello"]),
    ]);
    assert_eq!(view.sent(), [chunk("user_message", "other", "yo")]);
    // Later only what is new is shown: the client has the rest.
    view.apply([
        idle("end_turn"),
        message("user_message", "own", &["hello"]),
        message("user_message", "own", &["hello you"]),
        message("user_message", "own", &["bye"]),
    ]);
    let mut bye = chunk("user_message", "own~2", "bye");
    bye["_meta"] = json!({"ply/replaces": "own"});
    assert_eq!(view.sent(), [chunk("user_message", "own", " you"), bye]);
}

#[test]
fn states_are_swallowed() {
    let states = ["running", "requires_action", "idle", "_mine", "idle"];
    check(&states.map(state), &[]);
    check(&[state("running"), idle("max_tokens"), idle("error")], &[]);
}

#[test]
fn there_is_something_unsent_exactly_when_a_flush_sends_something() {
    let terminal = |fields: Value| with("terminal_update", "terminalId", "t", fields);
    let grow = |words: &str| {
        with(
            "tool_call_content_chunk",
            "toolCallId",
            "c",
            json!({"content": item(words)}),
        )
    };
    let mut view = View::new(Shows::ALL);
    let mut check = |events: &[Value], expected: bool| {
        view.apply(events.iter().cloned());
        assert_eq!(view.projector.has_unsent(), expected);
        view.sent();
        view.projector.flush(&mut view.out);
        assert_eq!(!view.sent().is_empty(), expected);
        assert!(!view.projector.has_unsent());
    };
    check(&[chunk("agent_message", "m", "a")], false);
    check(&[terminal(json!({}))], false);
    check(&[terminal(json!({"command": "ls"}))], true);
    check(&[call("c", json!({"title": "T"})), grow("a")], false);
    let long = "x".repeat(10_000);
    check(&[grow(&long), grow("b")], true);
    check(
        &[grow("c"), call("c", json!({"status": "completed"}))],
        false,
    );
    check(&[state("running"), grow("d"), idle("end_turn")], false);
}

#[test]
fn a_whole_message_is_sent_block_by_block_and_then_only_what_is_new() {
    check(
        &[
            message("agent_message", "m", &["a", "b"]),
            message("agent_message", "m", &["abc", "d"]),
        ],
        &[
            chunk("agent_message", "m", "a"),
            chunk("agent_message", "m", "b"),
            chunk("agent_message", "m", "c"),
            chunk("agent_message", "m", "d"),
        ],
    );
}

#[test]
fn a_replaced_message_is_a_new_one_that_says_what_it_replaces() {
    let mut replaced = chunk("agent_message", "m~2", "b");
    replaced["_meta"] = json!({"ply/replaces": "m"});
    check(
        &[
            chunk("agent_message", "m", "a"),
            message("agent_message", "m", &["b"]),
            chunk("agent_message", "m", "c"),
        ],
        &[
            chunk("agent_message", "m", "a"),
            replaced,
            chunk("agent_message", "m~2", "c"),
        ],
    );
}

#[test]
fn a_cleared_message_leaves_a_note_only_if_it_was_shown() {
    check(&[message("agent_message", "m", &[])], &[]);
    let mut note = chunk("agent_message", "m~2", "(message withdrawn)");
    note["_meta"] = json!({"ply/replaces": "m", "ply/withdrawn": true});
    let cleared = json!({"sessionUpdate": "agent_message", "messageId": "m", "content": null});
    check(
        &[
            chunk("agent_message", "m", "a"),
            cleared,
            message("agent_message", "m", &[]),
        ],
        &[chunk("agent_message", "m", "a"), note],
    );
}

#[test]
fn a_call_is_announced_at_first_sight_with_a_title_and_then_updated() {
    check(
        &[
            call("c", json!({"name": "grep", "status": "in_progress"})),
            call(
                "c",
                json!({"title": "Search", "locations": null, "content": null}),
            ),
            call("c", json!({"capabilities": {"cancel": {}}})),
            call("c", json!({"status": null, "kind": "_k"})),
        ],
        &[
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "grep",
                "name": "grep", "status": "in_progress"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Search",
                "locations": [], "content": []}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "pending",
                "kind": "other"}),
        ],
    );
}

#[test]
fn statuses_that_v1_lacks_have_stand_ins() {
    let announced = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"});
    let start = call("c", json!({"title": "T"}));
    for (status, expected) in [
        ("paused", json!({"status": "in_progress"})),
        ("_s", json!({"status": "in_progress"})),
        (
            "cancelled",
            json!({"status": "failed", "content": [item("cancelled")]}),
        ),
    ] {
        let updated = with("tool_call_update", "toolCallId", "c", expected);
        check(
            &[start.clone(), call("c", json!({"status": status}))],
            &[announced.clone(), updated],
        );
    }
}

#[test]
fn content_chunks_are_sent_as_the_whole_content() {
    let chunk = |words: &str| {
        json!({"sessionUpdate": "tool_call_content_chunk",
        "toolCallId": "c", "content": item(words)})
    };
    check(
        &[chunk("a"), chunk("b")],
        &[
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Tool call",
                "content": [item("a")]}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
                "content": [item("a"), item("b")]}),
        ],
    );
}

#[test]
fn large_content_is_sent_less_often_but_whole_with_the_status() {
    let mut view = View::new(Shows::ALL);
    let chunk = |bytes: usize| {
        json!({"sessionUpdate": "tool_call_content_chunk",
        "toolCallId": "c", "content": item(&"x".repeat(bytes))})
    };
    view.apply([chunk(100_000)]).sent();
    view.apply((0..100).map(|_| chunk(10)));
    assert_eq!(view.sent().len(), 0);
    view.apply([call("c", json!({"status": "completed"}))]);
    let sent = view.sent();
    assert_eq!(
        (sent.len(), sent[0]["content"].as_array().unwrap().len()),
        (1, 101)
    );
    view.projector.flush(&mut view.out);
    assert_eq!(view.sent().len(), 0);
}

#[test]
fn a_new_title_does_not_send_content_that_waits() {
    let mut view = View::new(Shows::ALL);
    let chunk = |bytes: usize| {
        let resource = json!({"uri": "file:///x", "text": "x".repeat(bytes)});
        let block = json!({"type": "resource", "resource": resource});
        json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c",
            "content": {"type": "content", "content": block}})
    };
    view.apply([chunk(100_000)]).sent();
    view.apply([chunk(10), call("c", json!({"title": "U"}))]);
    let titled = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "U"});
    assert_eq!(view.sent(), [titled]);
    view.projector.flush(&mut view.out);
    let sent = view.sent();
    assert_eq!(sent[0]["content"].as_array().unwrap().len(), 2);
}

#[test]
fn a_terminal_is_sent_again_only_if_it_looks_different() {
    let terminal = |fields: Value| with("terminal_update", "terminalId", "t", fields);
    let output = json!({"command": "ls", "output": {"data": "b2s="}});
    let mut view = View::new(Shows::ALL);
    view.apply([
        terminal(output.clone()),
        call(
            "c",
            json!({"content": [{"type": "terminal", "terminalId": "t"}]}),
        ),
    ]);
    view.sent();
    view.apply([
        terminal(json!({"size": {"cols": 80, "rows": 24}})),
        terminal(json!({"cwd": "/w", "_meta": {"k": 1}})),
        terminal(output),
    ]);
    assert_eq!(view.sent(), [] as [Value; 0]);
    view.apply([terminal(json!({"output": {"data": "b2sh"}}))]);
    assert_eq!(view.sent().len(), 1);
}

#[test]
fn fields_that_v1_cannot_clear_are_named_in_the_metadata() {
    check(
        &[
            call(
                "c",
                json!({"title": "T", "name": "n", "rawInput": 1, "_meta": {"k": 1}}),
            ),
            call("c", json!({"name": null, "rawInput": null, "_meta": null})),
        ],
        &[
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "name": "n",
                "rawInput": 1, "_meta": {"k": 1}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "_meta": {"k": null,
                "ply/cleared": ["name", "rawInput"]}}),
        ],
    );
}

#[test]
fn a_terminal_grows_as_one_text_in_its_call_and_never_as_a_v1_terminal_v2_term_12() {
    let output = |data: &str| {
        json!({"sessionUpdate": "terminal_output_chunk",
        "terminalId": "t", "data": data})
    };
    let grown = |words: &str| {
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "content": [item(words)]})
    };
    check(
        &[
            with(
                "terminal_update",
                "terminalId",
                "t",
                json!({"command": "ls"}),
            ),
            call(
                "c",
                json!({"title": "List", "content": [{"type": "terminal", "terminalId": "t"}]}),
            ),
            // A red "ok" whose escape is cut in two.
            output("b2sbWw=="),
            output("MzFtIQ=="),
            with(
                "terminal_update",
                "terminalId",
                "t",
                json!({"exitStatus": {"exitCode": 2}}),
            ),
        ],
        &[
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "List",
                "content": [item("$ ls\n")]}),
            grown("$ ls\nok"),
            grown("$ ls\nok!"),
            grown("$ ls\nok!\n[exit code 2]"),
        ],
    );
}

#[test]
fn a_terminal_that_no_call_shows_gets_a_call_of_its_own() {
    let mut view = View::new(Shows::ALL);
    view.apply([with(
        "terminal_update",
        "terminalId",
        "t",
        json!({"command": "make"}),
    )]);
    assert_eq!(view.sent().len(), 0);
    view.apply([state("running"), state("idle")]);
    let shown = json!({"sessionUpdate": "tool_call", "toolCallId": "ply/terminal/t",
        "title": "make", "kind": "execute",
        "status": "in_progress", "content": [item("$ make\n")]});
    assert_eq!(view.sent(), [shown]);
    view.apply([with(
        "terminal_update",
        "terminalId",
        "t",
        json!({"exitStatus": {}}),
    )]);
    let last = view.sent().pop().unwrap();
    assert_eq!(last["status"], "completed");
}

#[test]
fn a_terminal_that_ended_before_its_reference_is_shown_once() {
    let history: Vec<_> = [
        state("running"),
        call("c", json!({"title": "List"})),
        with(
            "terminal_update",
            "terminalId",
            "t",
            json!({"command": "ls", "output": {"data": "b2s="}, "exitStatus": {"exitCode": 0}}),
        ),
        call(
            "d",
            json!({"title": "Run", "status": "completed",
                "content": [{"type": "terminal", "terminalId": "t"}]}),
        ),
        idle("end_turn"),
    ]
    .into();
    let count = |sent: &[Value]| -> Vec<Value> {
        let calls = sent
            .iter()
            .filter(|update| update["sessionUpdate"] == "tool_call");
        calls.map(|call| call["toolCallId"].clone()).collect()
    };
    let mut view = View::new(Shows::ALL);
    view.apply(history.clone());
    assert_eq!(count(&view.sent()), ["c", "d"]);
    let history: Vec<_> = history.into_iter().map(event).collect();
    let transcript = Transcript::fold(&history);
    let _projector = Projector::load(Shows::ALL, "v/", &transcript, &(), &mut view.out);
    let sent = view.sent();
    assert_eq!(count(&sent), ["c", "d"]);
    assert_eq!(sent[1]["content"], json!([item("$ ls\nok\n[exit code 0]")]));
}

#[test]
fn loading_shows_a_lone_terminal_that_ended_once() {
    let ended = with(
        "terminal_update",
        "terminalId",
        "t",
        json!({"command": "ls", "exitStatus": {}}),
    );
    let transcript = Transcript::fold([&event(ended)]);
    let mut view = View::new(Shows::ALL);
    let _projector = Projector::load(Shows::ALL, "v/", &transcript, &(), &mut view.out);
    let sent = view.sent();
    assert_eq!((sent.len(), &sent[0]["status"]), (1, &json!("completed")));
}

#[test]
fn plans_are_one_list_by_first_sight_without_cancelled_entries() {
    let entry =
        |text: &str, status: &str| json!({"content": text, "priority": "_p", "status": status});
    let plan = |id: &str, entries: Value| {
        json!({"sessionUpdate": "plan_update",
        "plan": {"type": "items", "planId": id, "entries": entries}})
    };
    let shown = |entries: &[(&str, &str)]| {
        let entries: Vec<_> = entries
            .iter()
            .map(|(text, status)| json!({"content": text, "priority": "medium", "status": status}))
            .collect();
        json!({"sessionUpdate": "plan", "entries": entries})
    };
    check(
        &[
            plan(
                "p",
                json!([entry("a", "pending"), entry("gone", "cancelled")]),
            ),
            plan("q", json!([entry("b", "_s")])),
            plan("p", json!([entry("c", "completed")])),
            json!({"sessionUpdate": "plan_update", "plan": {"type": "_x", "planId": "p"}}),
            json!({"sessionUpdate": "plan_update", "plan": {"type": "_x", "planId": "r"}}),
        ],
        &[
            shown(&[("a", "pending")]),
            shown(&[("a", "pending"), ("b", "in_progress")]),
            shown(&[("c", "completed"), ("b", "in_progress")]),
            shown(&[("b", "in_progress")]),
        ],
    );
}

#[test]
fn a_changed_mode_is_sent_both_ways_and_an_unchanged_one_once() {
    let options = |mode: &str| {
        json!({"sessionUpdate": "config_option_update", "configOptions": [{
            "configId": "mode", "name": "Mode", "category": "mode", "type": "select",
                "currentValue": mode,
            "options": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}],
        }]})
    };
    let mut view = View::new(Shows::ALL);
    let kinds = |view: &mut View| {
        view.sent()
            .into_iter()
            .map(|json| json["sessionUpdate"].clone())
            .collect::<Vec<_>>()
    };
    view.apply([options("ask")]);
    assert_eq!(
        kinds(&mut view),
        ["config_option_update", "current_mode_update"]
    );
    view.apply([options("ask")]);
    assert_eq!(kinds(&mut view), ["config_option_update"]);
    view.apply([options("code")]);
    assert_eq!(
        view.sent()[1],
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"})
    );
    // The answer to `session/new` has told the mode.
    let mut view = View::new(Shows::ALL);
    view.projector.mode_answered(v1::SessionModeId::new("ask"));
    view.apply([options("ask")]);
    assert_eq!(kinds(&mut view), ["config_option_update"]);
}

#[test]
fn info_metadata_is_sent_merged_and_cost_is_sent_every_time() {
    let info = |mut fields: Value| {
        fields["sessionUpdate"] = json!("session_info_update");
        fields
    };
    let usage = |mut fields: Value| {
        fields["sessionUpdate"] = json!("usage_update");
        fields["used"] = json!(1);
        fields["size"] = json!(2);
        fields
    };
    let cost = json!({"amount": 1.0, "currency": "EUR"});
    check(
        &[
            info(json!({"title": "t", "_meta": {"a": 1, "b": 2}})),
            info(json!({"title": null, "_meta": {"b": null, "c": 3}})),
            usage(json!({"cost": cost})),
            usage(json!({})),
            usage(json!({"cost": null})),
        ],
        &[
            info(json!({"title": "t", "_meta": {"a": 1, "b": 2}})),
            info(json!({"title": null, "_meta": {"a": 1, "b": null, "c": 3}})),
            usage(json!({"cost": cost})),
            usage(json!({"cost": cost})),
            usage(json!({"_meta": {"ply/cleared": ["cost"]}})),
        ],
    );
}

#[test]
fn notices_and_compaction_go_only_to_clients_that_show_them() {
    let notice = |severity: &str| {
        json!({"sessionUpdate": "notice", "severity": severity,
        "title": "Disk full"})
    };
    let compaction =
        json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"});
    let events = [notice("info"), notice("warning"), compaction];
    check(&events, &events);
    check_for(
        Shows::LEAST,
        &events,
        &[chunk(
            "agent_message",
            "ply/notice/v/1",
            "\n\nWarning: Disk full\n\n",
        )],
    );
}

#[test]
fn unknown_things_are_dropped_or_named() {
    check(&[json!({"sessionUpdate": "_x", "a": 1})], &[]);
    let block = json!({"type": "_hologram", "data": 1});
    let event = json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": block});
    check(
        &[event],
        &[chunk("agent_message", "m", "[content of type _hologram]")],
    );
}

#[test]
fn diffs_are_exact_when_the_texts_were_kept() {
    let edit = diff::edit("/x".as_ref(), Some("a\nb\n"), Some("a\nc\n"));
    let update = v2::ToolCallUpdate::new("c")
        .title("Edit")
        .content(vec![v2::ToolCallContent::Diff(edit)]);
    let kept = |_: &v2::ToolCallId, _: &v2::Diff, _: &std::path::Path| {
        Some(EditText {
            old: Some("a\nb\n".into()),
            new: "a\nc\n".into(),
        })
    };
    let mut view = View::new(Shows::ALL);
    view.projector.apply_with(
        &v2::SessionUpdate::ToolCallUpdate(update),
        &kept,
        &mut view.out,
    );
    let expected = json!({"type": "diff", "path": "/x", "oldText": "a\nb\n", "newText": "a\nc\n"});
    assert_eq!(view.sent()[0]["content"], json!([expected]));
}

#[test]
fn diffs_of_a_foreign_agent_are_shown_by_hunk_and_marked_partial() {
    let patch = "diff --git /x /x\n--- /x\n+++ /x\n@@ -3,2 +3 @@\n a\n-b\n@@ -9 +8,2 @@\n c\n+d\n";
    let change = |operation: &str| json!({"operation": operation, "path": "/x"});
    let shown = |operation: &str| {
        let diff = json!({"type": "diff", "changes": [change(operation)],
            "patch": {"format": "git_patch", "text": patch}});
        let mut view = View::new(Shows::ALL);
        view.apply([call("c", json!({"content": [diff]}))]);
        view.sent()[0]["content"].clone()
    };
    let hunk = |old: &str, new: &str, old_line: u32, new_line: u32| {
        json!({"type": "diff", "path": "/x", "oldText": old, "newText": new,
               "_meta": {"ply/partial": {"oldLine": old_line, "newLine": new_line}}})
    };
    assert_eq!(
        shown("modify"),
        json!([hunk("a\nb\n", "a\n", 3, 3), hunk("c\n", "c\nd\n", 9, 8)])
    );
    assert_eq!(
        shown("delete"),
        json!([
            hunk("a\nb\n", "", 3, 3),
            hunk("c\n", "", 9, 8),
            item("Delete /x")
        ])
    );
    assert_eq!(
        shown("add"),
        json!([{"type": "diff", "path": "/x", "newText": "a\nc\nd\n"}])
    );
}

#[test]
fn file_operations_that_v1_cannot_show_are_named_v2_diff_05() {
    let diff = json!({"type": "diff", "changes": [
        {"operation": "move", "oldPath": "/a", "path": "/b"},
        {"operation": "copy", "oldPath": "/a", "path": "/c"},
        {"operation": "modify", "path": "/p.png", "fileType": "binary"},
        {"operation": "add", "path": "/d"},
        {"operation": "_touch", "path": "/e"},
    ]});
    let mut view = View::new(Shows::ALL);
    view.apply([call("c", json!({"content": [diff]}))]);
    let texts = [
        "Move /a to /b",
        "Copy /a to /c",
        "Change /p.png",
        "Add /d",
        "File operation _touch",
    ];
    assert_eq!(view.sent()[0]["content"], json!(texts.map(item)));
}

#[test]
fn loading_shows_final_content_once_and_goes_on_from_there() {
    let history: Vec<_> = [
        message("user_message", "u", &["hi"]),
        state("running"),
        chunk("agent_message", "m", "draft"),
        message("agent_message", "m", &["final"]),
        call("c", json!({"title": "T"})),
        call("c", json!({"status": "completed"})),
        idle("end_turn"),
    ]
    .map(event)
    .into();
    let transcript = Transcript::fold(&history);
    let mut view = View::new(Shows::ALL);
    view.projector = Projector::load(Shows::ALL, "v/", &transcript, &(), &mut view.out);
    let announced = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T",
        "status": "completed"});
    assert_eq!(
        view.sent(),
        [
            chunk("user_message", "u", "hi"),
            chunk("agent_message", "m", "final"),
            announced
        ]
    );
    view.apply([
        message("agent_message", "m", &["final word"]),
        call("c", json!({"title": "U"})),
    ]);
    let updated = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "U"});
    assert_eq!(view.sent(), [chunk("agent_message", "m", " word"), updated]);
}

#[test]
fn resuming_sends_nothing_and_knows_what_is_there() {
    let history: Vec<_> = [
        state("running"),
        call("c", json!({"title": "T", "kind": "read"})),
    ]
    .map(event)
    .into();
    let mut view = View::new(Shows::ALL);
    view.projector = Projector::resume(Shows::ALL, "v/", &Transcript::fold(&history), &());
    view.projector.own_message(v2::MessageId::new("own"));
    view.apply([
        message("user_message", "own", &["hi"]),
        call("c", json!({"status": "completed"})),
        idle("end_turn"),
    ]);
    let announced = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T",
        "kind": "read", "status": "completed"});
    assert_eq!(view.sent(), [announced]);
}

#[test]
fn a_half_streamed_message_goes_on_after_resuming() {
    let history = event(chunk("agent_message", "m", "half"));
    let mut view = View::new(Shows::ALL);
    view.projector = Projector::resume(Shows::ALL, "v/", &Transcript::fold([&history]), &());
    view.apply([message("agent_message", "m", &["half and half"])]);
    assert_eq!(view.sent(), [chunk("agent_message", "m", " and half")]);
}
