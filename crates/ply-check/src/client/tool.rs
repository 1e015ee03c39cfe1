//! Tool calls that are strange, and must not do harm.

use ply_wire::negotiate::Version;
use serde_json::json;

use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::Stopped;

const LOST: &str =
    "The call, and what it did, is not shown; or the connection ends in the middle of a turn.";

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-TOOL-08",
            "Members of a tool call that are null are taken as unchanged.",
            LOST,
            "Read null as absent.",
        ),
        rule(
            "V1-TOOL-16",
            "An update of a tool call that was not announced is taken.",
            LOST,
            "Make the call from the update.",
        )
        .unspecified(),
        rule(
            "V1-TOOL-18",
            "Content of a tool call that is not known is skipped.",
            LOST,
            "Skip the item, not the update.",
        )
        .should(),
        rule(
            "V2-TOOL-02",
            "Members of a tool call that are null are cleared, those left out are kept.",
            LOST,
            "Tell null and absent apart.",
        ),
        rule(
            "V2-TOOL-04",
            "A tool call may be told by its id alone.",
            LOST,
            "Take the defaults for all else.",
        ),
        rule(
            "V2-TOOL-05",
            "Content of a tool call may come in chunks.",
            LOST,
            "Append each chunk to the call's content.",
        ),
        rule(
            "V2-TOOL-07",
            "A status or kind that is not known is taken.",
            LOST,
            "Show it as in progress, and as other.",
        )
        .should(),
        rule(
            "V2-TOOL-08",
            "Tool calls may change while the session is idle.",
            LOST,
            "Take the update and leave the state.",
        ),
        rule(
            "V2-TOOL-11",
            "Content of a type that is not known is taken.",
            LOST,
            "Show it generically.",
        )
        .should(),
        rule(
            "V2-DIFF-05",
            "A diff without a patch is taken.",
            LOST,
            "List the changes.",
        ),
        rule(
            "V2-TERM-02",
            "Output of a terminal may come before and after the call that shows it.",
            LOST,
            "Keep terminals by their id.",
        ),
        rule(
            "V2-TERM-09",
            "A terminal has exited when it has an exit status, also an empty one.",
            LOST,
            "Look whether it is there, not what it holds.",
        ),
        rule(
            "V2-ECANCEL-06",
            "Capabilities of a tool call that are malformed mean none.",
            LOST,
            "Fall back to none.",
        ),
    ],
    scenes: &[
        Scene {
            name: "odd-tool-calls",
            start: Start::AtPrompt,
            rules: &[
                "V1-TOOL-08",
                "V1-TOOL-16",
                "V1-TOOL-18",
                "V2-TOOL-02",
                "V2-TOOL-04",
                "V2-TOOL-05",
                "V2-TOOL-07",
                "V2-TOOL-11",
                "V2-DIFF-05",
                "V2-ECANCEL-06",
            ],
            leaves: false,
            run: |stage| Box::pin(odd_tool_calls(stage)),
        },
        Scene {
            name: "shown-terminals",
            start: Start::AtPrompt,
            rules: &["V2-TERM-02", "V2-TERM-09"],
            leaves: false,
            run: |stage| Box::pin(shown_terminals(stage)),
        },
    ],
};

async fn odd_tool_calls(stage: &mut Stage) -> Result<(), Stopped> {
    let nothing = json!({"title": null, "kind": null, "status": null, "content": null, "locations": null, "rawInput": null, "rawOutput": null});
    stage.bear(
        &["V1-TOOL-08", "V2-TOOL-02"],
        "a tool call whose members are null",
    );
    let first = stage
        .tool_call("tool-1", json!({"status": "in_progress"}))
        .await?;
    let second = stage.tool_update("tool-1", nothing).await?;
    stage
        .survives(
            &["V1-TOOL-08", "V2-TOOL-02"],
            &[first, second],
            "a tool call whose members are null",
        )
        .await?;

    stage.bear(
        &["V1-TOOL-16", "V2-TOOL-04"],
        "an update of a tool call that was not announced",
    );
    let alone = stage.tool_update("never-seen", json!({})).await?;
    let done = stage
        .tool_update("never-seen-either", json!({"status": "completed"}))
        .await?;
    let rules = ["V1-TOOL-16", "V2-TOOL-04"];
    stage
        .survives(
            &rules,
            &[alone, done],
            "an update of a tool call that was not announced",
        )
        .await?;

    stage.bear(
        &["V1-TOOL-18", "V2-TOOL-11"],
        "content of a tool call that it does not know",
    );
    let content = json!([
        {"type": "content", "content": {"type": "text", "text": "one"}},
        {"type": "_hologram", "depth": 3},
        {"type": "content", "content": {"type": "_smell", "of": "roses"}},
        {"type": "content", "content": {"type": "text", "text": "two"}}
    ]);
    let strange = stage
        .tool_update("tool-1", json!({"content": content}))
        .await?;
    let rules = ["V1-TOOL-18", "V2-TOOL-11"];
    stage
        .survives(
            &rules,
            &[strange],
            "content of a tool call that it does not know",
        )
        .await?;
    if stage.version == Version::V1 {
        return stage
            .tool_update("tool-1", json!({"status": "completed"}))
            .await
            .map(drop);
    }

    stage.bear(&["V2-TOOL-07"], "a kind and status that it does not know");
    let kind = stage
        .tool_call("tool-2", json!({"kind": "_dream", "status": "_dreaming"}))
        .await?;
    stage
        .survives(
            &["V2-TOOL-07"],
            &[kind],
            "a kind and status that it does not know",
        )
        .await?;
    stage.bear(&["V2-TOOL-05"], "content of a tool call in chunks");
    let chunk = json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "tool-2",
        "content": {"type": "content", "content": {"type": "text", "text": "bit by bit"}}});
    let chunk = stage.update(chunk).await?;
    stage
        .survives(
            &["V2-TOOL-05"],
            &[chunk],
            "content of a tool call in chunks",
        )
        .await?;
    stage.bear(&["V2-DIFF-05"], "a diff without a patch");
    let diff = json!({"type": "diff", "changes": [
        {"operation": "modify", "path": "/a"}, {"operation": "move", "oldPath": "/b", "path": "/c"}, {"operation": "_touch", "path": "/d"}
    ]});
    let diff = stage
        .tool_update("tool-2", json!({"content": [diff]}))
        .await?;
    stage
        .survives(&["V2-DIFF-05"], &[diff], "a diff without a patch")
        .await?;
    stage.bear(
        &["V2-ECANCEL-06"],
        "capabilities of a tool call that are a number",
    );
    let odd = stage
        .tool_update("tool-2", json!({"capabilities": 1, "status": "completed"}))
        .await?;
    stage
        .survives(
            &["V2-ECANCEL-06"],
            &[odd],
            "capabilities of a tool call that are a number",
        )
        .await
}

async fn shown_terminals(stage: &mut Stage) -> Result<(), Stopped> {
    let output = |data: &str| json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "term-1", "data": data});
    stage.bear(&["V2-TERM-02"], "output of a terminal");
    // "hi" and the first half of a character, then its other half.
    let first = stage.update(output("aGnDlA==")).await?;
    let second = stage.update(output("pA==")).await?;
    let shown = stage
        .tool_call(
            "tool-1",
            json!({"content": [{"type": "terminal", "terminalId": "term-1"}]}),
        )
        .await?;
    let what = "a terminal whose output came before the call that shows it";
    stage
        .survives(&["V2-TERM-02"], &[first, second, shown], what)
        .await?;
    stage.bear(&["V2-TERM-09"], "an empty or negative exit status");
    let update = |exit| json!({"sessionUpdate": "terminal_update", "terminalId": "term-1", "exitStatus": exit});
    let empty = stage.update(update(json!({}))).await?;
    let negative = stage.update(update(json!({"exitCode": -1}))).await?;
    stage
        .survives(
            &["V2-TERM-09"],
            &[empty, negative],
            "an empty or negative exit status",
        )
        .await
}
