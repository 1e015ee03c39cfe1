//! Updates that are strange, and must not do harm: rows of what is sent, and the rules that a client breaks which does not bear it.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::scene::{Scene, Start};
use super::stage::{Stage, merge};
use crate::peer::Stopped;
use crate::rule::id;

/// Updates of the session of the prompt, which a client has to bear.
struct Burden {
    /// The rules that say so; those of one version only are for that version.
    rules: &'static [&'static str],
    /// What they are, as in "the client closed the connection over …".
    what: &'static str,
    updates: fn(Version) -> Vec<Value>,
}

/// Returns a scene that sends these updates.
macro_rules! scene {
    ($name:literal, $burdens:ident, [$($rule:ident),+ $(,)?]) => {
        Scene {
            name: $name,
            start: Start::AtPrompt,
            rules: &[$(id::$rule),+],
            leaves: false,
            run: |stage| Box::pin(endure(stage, $burdens)),
        }
    };
}

pub(super) const SCENES: &[Scene] = &[
    scene!(
        "every-content",
        CONTENT,
        [
            V1_CONTENT_09,
            V1_CONTENT_12,
            V1_MSGID_02,
            V2_CONTENT_01,
            V2_CONTENT_02
        ]
    ),
    scene!("messages", MESSAGES, [V2_MSG_02, V2_MSG_04, V2_MSG_05]),
    scene!(
        "odd-tool-calls",
        TOOL_CALLS,
        [
            V1_TOOL_08,
            V1_TOOL_16,
            V1_TOOL_18,
            V2_TOOL_02,
            V2_TOOL_04,
            V2_TOOL_05,
            V2_TOOL_07,
            V2_TOOL_11,
            V2_DIFF_05,
            V2_ECANCEL_06,
        ]
    ),
    scene!("shown-terminals", TERMINALS, [V2_TERM_02, V2_TERM_09]),
    scene!("unknown-updates", UNKNOWN, [V1_EXT_07, V2_EXT_05]),
    scene!(
        "lists",
        LISTS,
        [
            V1_PLAN_05,
            V1_CMD_02,
            V1_INFO_02,
            V2_INFO_01,
            V2_PLAN_04,
            V2_PLAN_05,
            V2_USAGE_01,
            V2_NOTICE_01,
            V2_COMPACT_01,
        ]
    ),
];

/// Sends one burden after the other, and sees whether the client goes on.
async fn endure(stage: &mut Stage, burdens: &[Burden]) -> Result<(), Stopped> {
    for burden in burdens {
        let version = stage.version;
        if !burden
            .rules
            .iter()
            .any(|rule| super::scene::is_of(rule, version))
        {
            continue;
        }
        stage.bear(burden.rules, burden.what);
        let mut frames = Vec::new();
        for mut update in (burden.updates)(version) {
            // An update of another session names it.
            let session = update
                .as_object_mut()
                .and_then(|update| update.remove("in"));
            frames.push(match session.as_ref().and_then(Value::as_str) {
                Some(session) => stage.update_in(session, update).await?,
                None => stage.update(update).await?,
            });
        }
        stage.survives(burden.rules, &frames, burden.what).await?;
    }
    Ok(())
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Returns a part of a message of the agent.
fn chunk(id: &str, content: Value) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": content})
}

/// Returns the announcement of a tool call.
fn call(version: Version, id: &str, members: Value) -> Value {
    let kind = match version {
        Version::V1 => "tool_call",
        Version::V2 => "tool_call_update",
    };
    let mut update =
        json!({"sessionUpdate": kind, "toolCallId": id, "title": "Look around", "kind": "read"});
    merge(&mut update, &members);
    update
}

/// Returns a change of a tool call.
fn change(id: &str, members: Value) -> Value {
    let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
    merge(&mut update, &members);
    update
}

const CONTENT: &[Burden] = &[
    Burden {
        rules: &[id::V1_CONTENT_12, id::V2_CONTENT_01],
        what: "content of every kind",
        updates: |_| {
            let blocks = [
                text("plain"),
                json!({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}),
                json!({"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}),
                json!({"type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"}),
                json!({"type": "resource", "resource": {"uri": "file:///a.txt", "text": "a"}}),
                json!({"type": "resource", "resource": {"uri": "file:///b", "blob": "AAEC"}}),
                json!({"type": "_smell", "of": "roses"}),
            ];
            blocks.map(|block| chunk("all-1", block)).to_vec()
        },
    },
    Burden {
        rules: &[id::V2_CONTENT_02],
        what: "a link with icons",
        updates: |_| {
            let icons = json!([{"src": "https://example.org/a.png"}, {"src": "data:image/png;base64,AA=="}]);
            let link =
                json!({"type": "resource_link", "name": "a", "uri": "file:///a", "icons": icons});
            vec![chunk("icon-1", link)]
        },
    },
    Burden {
        rules: &[id::V1_CONTENT_09],
        what: "unusual annotations",
        updates: |_| {
            let odd = json!({"audience": ["nobody"], "priority": 1.5, "mood": "blue", "lastModified": "yesterday"});
            let odd = json!({"type": "text", "text": "odd", "annotations": odd});
            vec![json!({"sessionUpdate": "agent_message_chunk", "content": odd})]
        },
    },
    Burden {
        rules: &[id::V1_MSGID_02],
        what: "unusual message ids",
        updates: |_| {
            let ids = [json!("1"), json!("01"), json!(" 1 "), json!(null)];
            let chunk = |id| json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": text("under an odd id")});
            ids.map(chunk).to_vec()
        },
    },
];

const MESSAGES: &[Burden] = &[
    Burden {
        rules: &[id::V2_MSG_04],
        what: "chunks of several messages",
        updates: |_| {
            let parts = [
                ("a", "one "),
                ("b", "two "),
                ("a", "three "),
                ("c", "four "),
                ("b", "five"),
            ];
            parts.map(|(id, part)| chunk(id, text(part))).to_vec()
        },
    },
    Burden {
        rules: &[id::V2_MSG_02],
        what: "messages that replace what was said",
        updates: |_| {
            vec![
                json!({"sessionUpdate": "agent_message", "messageId": "a", "content": [text("all of it")]}),
                json!({"sessionUpdate": "agent_message", "messageId": "b", "content": null}),
                json!({"sessionUpdate": "agent_message", "messageId": "c"}),
            ]
        },
    },
    Burden {
        rules: &[id::V2_MSG_05],
        what: "a message of the user under an id of the agent",
        updates: |_| {
            let content = [text("from the user")];
            vec![json!({"sessionUpdate": "user_message", "messageId": "a", "content": content})]
        },
    },
];

const TOOL_CALLS: &[Burden] = &[
    Burden {
        rules: &[id::V1_TOOL_08, id::V2_TOOL_02],
        what: "a tool call whose members are null",
        updates: |version| {
            let nothing = json!({"title": null, "kind": null, "status": null, "content": null, "locations": null, "rawInput": null, "rawOutput": null});
            let first = call(version, "tool-1", json!({"status": "in_progress"}));
            vec![first, change("tool-1", nothing)]
        },
    },
    Burden {
        rules: &[id::V1_TOOL_16, id::V2_TOOL_04],
        what: "an update of an unknown tool call",
        updates: |_| {
            let done = json!({"status": "completed"});
            vec![
                change("never-seen", json!({})),
                change("never-seen-either", done),
            ]
        },
    },
    Burden {
        rules: &[id::V1_TOOL_18, id::V2_TOOL_11],
        what: "unknown tool call content",
        updates: |_| {
            let content = json!([
                {"type": "content", "content": text("one")},
                {"type": "_hologram", "depth": 3},
                {"type": "content", "content": {"type": "_smell", "of": "roses"}},
                {"type": "content", "content": text("two")}
            ]);
            vec![change("tool-1", json!({"content": content}))]
        },
    },
    Burden {
        rules: &[id::V2_TOOL_07],
        what: "an unknown kind and status",
        updates: |version| {
            let odd = json!({"kind": "_dream", "status": "_dreaming"});
            vec![call(version, "tool-2", odd)]
        },
    },
    Burden {
        rules: &[id::V2_TOOL_05],
        what: "content of a tool call in chunks",
        updates: |_| {
            let content = json!({"type": "content", "content": text("bit by bit")});
            vec![
                json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "tool-2", "content": content}),
            ]
        },
    },
    Burden {
        rules: &[id::V2_DIFF_05],
        what: "a diff without a patch",
        updates: |_| {
            let changes = json!([{"operation": "modify", "path": "/a"}, {"operation": "move", "oldPath": "/b", "path": "/c"}, {"operation": "_touch", "path": "/d"}]);
            let diff = json!({"type": "diff", "changes": changes});
            vec![change("tool-2", json!({"content": [diff]}))]
        },
    },
    Burden {
        rules: &[id::V2_ECANCEL_06],
        what: "capabilities of a tool call that are a number",
        updates: |_| {
            vec![change(
                "tool-2",
                json!({"capabilities": 1, "status": "completed"}),
            )]
        },
    },
];

const TERMINALS: &[Burden] = &[
    Burden {
        rules: &[id::V2_TERM_02],
        what: "a terminal whose output came before the call that shows it",
        updates: |version| {
            // "hi" and the first half of a character, then its other half.
            let output = ["aGnDlA==", "pA=="].map(|data| {
                json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "term-1", "data": data})
            });
            let shown = json!({"content": [{"type": "terminal", "terminalId": "term-1"}]});
            let [first, second] = output;
            vec![first, second, call(version, "tool-1", shown)]
        },
    },
    Burden {
        rules: &[id::V2_TERM_09],
        what: "an empty or negative exit status",
        updates: |_| {
            let exits = [json!({}), json!({"exitCode": -1})];
            let update = |exit| json!({"sessionUpdate": "terminal_update", "terminalId": "term-1", "exitStatus": exit});
            exits.map(update).to_vec()
        },
    },
];

const UNKNOWN: &[Burden] = &[Burden {
    rules: &[id::V1_EXT_07, id::V2_EXT_05],
    what: "unknown kinds of updates",
    updates: |_| {
        let mut elsewhere = chunk("x", text("Is anybody there?"));
        merge(&mut elsewhere, &json!({"in": "a session that never was"}));
        vec![
            json!({"sessionUpdate": "future", "of": ["everything"]}),
            json!({"sessionUpdate": "_ply_weather", "sun": true}),
            elsewhere,
            chunk("on-1", text("And on it goes.")),
        ]
    },
}];

fn entry(status: &str) -> Value {
    json!({"content": "Do it", "priority": "medium", "status": status})
}

const LISTS: &[Burden] = &[
    Burden {
        rules: &[id::V1_INFO_02, id::V2_INFO_01],
        what: "session info that is cleared",
        updates: |_| {
            let titles = [json!("A title"), json!(null)];
            let info = |title| json!({"sessionUpdate": "session_info_update", "title": title});
            titles.map(info).to_vec()
        },
    },
    Burden {
        rules: &[id::V1_PLAN_05],
        what: "a plan that is replaced by an empty one",
        updates: |_| {
            let plans = [json!([entry("pending"), entry("completed")]), json!([])];
            let plan = |entries| json!({"sessionUpdate": "plan", "entries": entries});
            plans.map(plan).to_vec()
        },
    },
    Burden {
        rules: &[id::V1_CMD_02],
        what: "an empty list of commands",
        updates: |_| {
            vec![json!({"sessionUpdate": "available_commands_update", "availableCommands": []})]
        },
    },
    Burden {
        rules: &[id::V2_PLAN_04],
        what: "entries of a plan that are cancelled",
        updates: |_| {
            let entries = [entry("cancelled"), entry("_dreamt")];
            let plan = json!({"type": "items", "planId": "p-1", "entries": entries});
            vec![json!({"sessionUpdate": "plan_update", "plan": plan})]
        },
    },
    Burden {
        rules: &[id::V2_PLAN_05],
        what: "a plan of an unknown type",
        updates: |_| {
            let plan = json!({"type": "_map", "planId": "p-1", "north": 1});
            vec![json!({"sessionUpdate": "plan_update", "plan": plan})]
        },
    },
    Burden {
        rules: &[id::V2_USAGE_01],
        what: "usage without a cost",
        updates: |_| {
            vec![
                json!({"sessionUpdate": "usage_update", "used": 10, "size": 100}),
                json!({"sessionUpdate": "usage_update", "used": 11, "size": 100, "cost": null}),
            ]
        },
    },
    Burden {
        rules: &[id::V2_NOTICE_01],
        what: "a notice",
        updates: |_| {
            vec![json!({"sessionUpdate": "notice", "severity": "info", "title": "Tea is ready"})]
        },
    },
    Burden {
        rules: &[id::V2_COMPACT_01],
        what: "a compaction",
        updates: |_| {
            vec![
                json!({"sessionUpdate": "compaction_update", "compactionId": "c-1", "status": "in_progress"}),
            ]
        },
    },
];
