//! What the updates of a v1 agent mean in v2, row by row.
#[path = "lift/agent.rs"]
#[allow(unreachable_pub, dead_code, reason = "a module that two tests share")]
pub(crate) mod agent;

use agent::{Agent, call, chunk, text};
use ply_wire::{
    transcript::{MessageKind, Transcript},
    v1, v2,
};
use serde_json::{Value, json};

#[track_caller]
fn check(updates: &[Value], expected: &[Value]) {
    assert_eq!(
        Agent::new().send(updates.iter().cloned()).lifted(),
        expected
    );
}

#[test]
fn ids_of_the_agent_are_kept() {
    let chunks = [
        chunk("agent_message", "01", "a"),
        chunk("agent_message", "1", "b"),
        chunk("agent_thought", "1", "c"),
    ];
    check(&chunks, &chunks);
}

#[test]
fn without_ids_a_new_kind_or_a_new_call_starts_a_new_message_v1_msgid_03() {
    let ids: Vec<_> = Agent::new()
        .send([
            chunk("agent_message", None, "a"),
            chunk("agent_message", None, "b"),
            chunk("agent_thought", None, "c"),
            chunk("agent_message", None, "d"),
            json!({"sessionUpdate": "plan", "entries": []}),
            chunk("agent_message", None, "e"),
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"}),
            chunk("agent_message", None, "f"),
            call("c", json!({"status": "completed"})),
            chunk("agent_message", None, "g"),
            chunk("agent_message", "x", "h"),
            chunk("agent_message", None, "i"),
        ])
        .lifted()
        .iter()
        .filter_map(|update| update["messageId"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(
        ids,
        [
            "made-1", "made-1", "made-2", "made-3", "made-3", "made-4", "made-4", "x", "made-5"
        ]
    );
}

#[test]
fn a_call_is_one_upsert_and_null_means_unchanged_v1_tool_08() {
    let updates = [
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "kind": "read",
            "rawInput": {"x": 1}}),
        call(
            "c",
            json!({"title": null, "status": "completed", "content": null, "locations": []}),
        ),
    ];
    let first = call(
        "c",
        json!({"title": "T", "kind": "read", "status": "pending", "content": [],
            "locations": [], "rawInput": {"x": 1}}),
    );
    check(
        &updates,
        &[
            first,
            call("c", json!({"status": "completed", "locations": []})),
        ],
    );
}

#[test]
fn a_call_that_is_announced_after_its_update_is_one_complete_card_v1_tool_16() {
    let mut agent = Agent::new();
    agent.send([
        call(
            "c",
            json!({"status": "completed", "content": [{"type": "content",
            "content": text("out")}]}),
        ),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "kind": "read"}),
    ]);
    let transcript = Transcript::fold(&agent.out);
    let call = transcript.tool_call(&v2::ToolCallId::new("c")).unwrap();
    assert_eq!(
        (call.title.as_deref(), &call.status),
        (Some("T"), &v2::ToolCallStatus::Completed)
    );
    assert_eq!(
        (call.text(), transcript.entries().len()),
        ("out".to_owned(), 1)
    );
}

#[test]
fn the_plan_has_a_fixed_id() {
    let entry = json!({"content": "a", "priority": "high", "status": "in_progress"});
    let expected = json!({"sessionUpdate": "plan_update", "plan": {"type": "items",
        "planId": "main", "entries": [entry]}});
    check(
        &[json!({"sessionUpdate": "plan", "entries": [entry]})],
        &[expected],
    );
}

#[test]
fn modes_become_an_option_unless_there_are_options() {
    let modes: v1::SessionModeState = serde_json::from_value(json!({
        "currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code",
            "name": "Code"}],
    }))
    .unwrap();
    let change = json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"});
    let mut agent = Agent::new();
    let options = agent.lifter.session_started(Some(&modes), None);
    assert_eq!(
        serde_json::to_value(&options).unwrap()[0]["currentValue"],
        "ask"
    );
    let lifted = agent.send([change.clone()]).lifted();
    assert_eq!(lifted[0]["configOptions"][0]["currentValue"], "code");
    assert_eq!(lifted[0]["configOptions"][0]["configId"], "mode");
    let flag: v1::SessionConfigOption = serde_json::from_value(
        json!({"id": "flag", "name": "Flag", "type": "boolean", "currentValue": true}),
    )
    .unwrap();
    let options = agent.lifter.session_started(Some(&modes), Some(&[flag]));
    assert_eq!(
        serde_json::to_value(&options).unwrap()[0]["configId"],
        "flag"
    );
    assert!(agent.send([change]).lifted().is_empty());
}

#[test]
fn the_echo_of_the_prompt_is_dropped_and_its_id_means_the_prompt() {
    for echo in [vec!["hello"], vec!["hel", "lo"], vec!["he"]] {
        let mut agent = Agent::in_turn();
        agent.send(echo.iter().map(|words| chunk("user_message", "e", words)));
        agent.send([
            chunk("agent_message", None, "hi"),
            chunk("user_message", "e", "!"),
        ]);
        let lifted = agent.lifted();
        assert_eq!(
            lifted,
            [
                chunk("agent_message", "made-1", "hi"),
                chunk("user_message", "p", "!")
            ],
            "{echo:?}"
        );
    }
}

#[test]
fn the_echo_of_the_prompt_is_known_behind_other_news_of_the_session() {
    let usage = json!({"sessionUpdate": "usage_update", "used": 1, "size": 2});
    let mut agent = Agent::in_turn();
    agent.send([
        usage.clone(),
        chunk("user_message", "e", "hel"),
        json!({"sessionUpdate": "session_info_update", "title": "t"}),
        chunk("user_message", "e", "lo"),
        usage,
    ]);
    let kinds: Vec<_> = agent
        .lifted()
        .iter()
        .map(|update| update["sessionUpdate"].clone())
        .collect();
    assert_eq!(
        kinds,
        ["usage_update", "session_info_update", "usage_update"]
    );
}

#[test]
fn what_only_began_like_the_prompt_is_shown_whole() {
    let mut agent = Agent::in_turn();
    agent.send([
        chunk("user_message", "e", "hel"),
        chunk("user_message", "e", "p me"),
    ]);
    assert_eq!(
        agent.lifted(),
        [
            chunk("user_message", "e", "hel"),
            chunk("user_message", "e", "p me")
        ]
    );
    // Without an id the two are one made-up message.
    let mut agent = Agent::in_turn();
    agent.send([
        chunk("user_message", None, "hel"),
        chunk("user_message", None, "p me"),
    ]);
    let transcript = Transcript::fold(&agent.out);
    let id = v2::MessageId::new("made-1");
    assert_eq!(
        transcript.message(MessageKind::User, &id).unwrap().text(),
        "help me"
    );
}

#[test]
fn relative_paths_are_meant_from_the_directory_of_the_session() {
    let mut agent = Agent::new();
    agent.send([call(
        "c",
        json!({
            "content": [{"type": "diff", "path": "./src/x", "oldText": "a\n", "newText": "b\n"}],
            "locations": [{"path": "src/x", "line": 7}, {"path": "/y"}],
        }),
    )]);
    let lifted = agent.lifted();
    assert_eq!(
        lifted[0]["locations"],
        json!([{"path": "/w/src/x", "line": 7}, {"path": "/y"}])
    );
    let diff = &lifted[0]["content"][0];
    assert_eq!(diff["changes"][0]["path"], "/w/src/x");
    let patch = "diff --git /w/src/x /w/src/x\n--- /w/src/x\n+++ /w/src/x\n@@ -7 +7 @@\n-a\n+b\n";
    assert_eq!(diff["patch"]["text"], patch);
}

fn lifted_content(content: Value, locations: Value) -> Value {
    let update = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T",
        "content": content, "locations": locations});
    Agent::new().send([update]).lifted()[0]["content"].clone()
}

#[test]
fn a_new_file_is_added_with_a_patch_v2_diff_02_03() {
    let content = lifted_content(
        json!([{"type": "diff", "path": "/n", "newText": "a\nb\n"}]),
        json!([]),
    );
    let patch =
        "diff --git /n /n\nnew file mode 100644\n--- /dev/null\n+++ /n\n@@ -0,0 +1,2 @@\n+a\n+b\n";
    let expected = json!([{"type": "diff", "changes": [{"operation": "add", "path": "/n"}],
        "patch": {"format": "git_patch", "text": patch}}]);
    assert_eq!(content, expected);
}

#[test]
fn diffs_of_one_file_are_one_change_that_starts_where_the_location_says() {
    let diffs = json!([
        {"type": "diff", "path": "/f", "oldText": "a\n", "newText": "b\n"},
        {"type": "content", "content": text("note")},
        {"type": "diff", "path": "/f", "oldText": "c", "newText": "d"},
    ]);
    let content = lifted_content(
        diffs,
        json!([{"path": "/other", "line": 3}, {"path": "/f", "line": 7}]),
    );
    let patch = concat!(
        "diff --git /f /f\n--- /f\n+++ /f\n@@ -7 +7 @@\n-a\n+b\n",
        "@@ -7 +7 @@\n-c\n\\ No newline at end of file\n+d\n\\ No newline at end of file\n",
    );
    assert_eq!(
        content[0]["changes"],
        json!([{"operation": "modify", "path": "/f"}])
    );
    assert_eq!(content[0]["patch"]["text"], patch);
    assert_eq!(content[0]["_meta"], json!({"ply/approximate": true}));
    assert_eq!(content.as_array().unwrap().len(), 2);
}

#[test]
fn an_emptied_file_is_modified() {
    let content = lifted_content(
        json!([{"type": "diff", "path": "/f", "oldText": "a\n", "newText": ""}]),
        json!([]),
    );
    assert_eq!(content[0]["changes"][0]["operation"], "modify");
    assert_eq!(
        content[0]["patch"]["text"],
        "diff --git /f /f\n--- /f\n+++ /f\n@@ -1 +0,0 @@\n-a\n"
    );
}

#[test]
fn a_terminal_keeps_its_id_only_if_it_was_made_here_v2_term_12() {
    let content = json!([{"type": "terminal", "terminalId": "t"}]);
    assert_eq!(
        lifted_content(content.clone(), json!([]))[0]["type"],
        "content"
    );
    let mut agent = Agent::new();
    agent.lifter.terminal_created(v1::TerminalId::new("t"));
    agent.send([
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "content": content}),
    ]);
    assert_eq!(agent.lifted()[0]["content"], content);
}

#[test]
fn the_rest_passes_as_it_is() {
    let info = json!({"sessionUpdate": "session_info_update", "title": "t", "updatedAt": null,
        "_meta": {"a": 1}});
    let usage = json!({"sessionUpdate": "usage_update", "used": 1, "size": 2});
    let notice = json!({"sessionUpdate": "notice", "severity": "_s", "title": "n"});
    let compaction = json!({"sessionUpdate": "compaction_update", "compactionId": "k",
        "status": "completed", "error": null});
    let same = [info, usage, notice, compaction];
    check(&same, &same);
}

#[test]
fn unknown_updates_pass_only_as_extensions() {
    let mut agent = Agent::new();
    for (kind, passes) in [("_mine", true), ("future", false)] {
        let unknown = v2::OtherSessionUpdate::new(kind, std::collections::BTreeMap::new());
        agent.lifter.unknown_update(&unknown, &mut agent.out);
        assert_eq!(!agent.lifted().is_empty(), passes);
    }
}
