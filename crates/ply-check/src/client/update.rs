//! Updates that are strange, and must not do harm.

pub(super) mod messages;

use ply_wire::negotiate::Version;
use serde_json::json;

use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::Stopped;

const LOST: &str =
    "What the agent tells is not shown, or the connection ends in the middle of a turn.";

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-EXT-07",
            "An update of an unknown kind is ignored.",
            LOST,
            "Ignore what you do not know.",
        )
        .unspecified(),
        rule(
            "V1-PLAN-05",
            "A plan replaces the one before it, also by an empty one.",
            LOST,
            "Replace the whole plan.",
        ),
        rule(
            "V1-CMD-02",
            "A list of commands replaces the one before it, also by an empty one.",
            LOST,
            "Replace the whole list.",
        ),
        rule(
            "V1-INFO-02",
            "Members of session info that are null are cleared.",
            LOST,
            "Take null as cleared, absent as unchanged.",
        ),
        rule(
            "V2-EXT-05",
            "An update of an unknown kind is ignored.",
            LOST,
            "Keep it, and ignore it otherwise.",
        )
        .should(),
        rule(
            "V2-INFO-01",
            "Members of session info that are null are cleared.",
            LOST,
            "Take null as cleared, absent as unchanged.",
        ),
        rule(
            "V2-PLAN-05",
            "A plan of an unknown type is taken.",
            LOST,
            "Replace the plan of that id.",
        ),
        rule(
            "V2-PLAN-04",
            "Entries of a plan may be cancelled, or of a status of one's own.",
            LOST,
            "Show an unknown status plainly.",
        ),
        rule(
            "V2-USAGE-01",
            "Usage may come without a cost, or with a null one.",
            LOST,
            "Keep the last cost, or clear it.",
        ),
        rule(
            "V2-NOTICE-01",
            "Notices may be ignored, and change nothing.",
            LOST,
            "Show it, or ignore it.",
        )
        .may(),
        rule(
            "V2-COMPACT-01",
            "Compactions may come at any time.",
            LOST,
            "Show it, or ignore it.",
        ),
    ],
    scenes: &[
        Scene {
            name: "unknown-updates",
            start: Start::AtPrompt,
            rules: &["V1-EXT-07", "V2-EXT-05"],
            leaves: false,
            run: |stage| Box::pin(unknown_updates(stage)),
        },
        Scene {
            name: "lists",
            start: Start::AtPrompt,
            rules: &[
                "V1-PLAN-05",
                "V1-CMD-02",
                "V1-INFO-02",
                "V2-INFO-01",
                "V2-PLAN-04",
                "V2-PLAN-05",
                "V2-USAGE-01",
                "V2-NOTICE-01",
                "V2-COMPACT-01",
            ],
            leaves: false,
            run: |stage| Box::pin(lists(stage)),
        },
    ],
};

async fn unknown_updates(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(
        &["V1-EXT-07", "V2-EXT-05"],
        "updates of kinds that it does not know",
    );
    let future = stage
        .update(json!({"sessionUpdate": "future", "of": ["everything"]}))
        .await?;
    let own = stage
        .update(json!({"sessionUpdate": "_ply_weather", "sun": true}))
        .await?;
    let other = stage
        .update_in(
            "a session that never was",
            json!({"sessionUpdate": "agent_message_chunk", "messageId": "x",
        "content": {"type": "text", "text": "Is anybody there?"}}),
        )
        .await?;
    let rules = ["V1-EXT-07", "V2-EXT-05"];
    stage
        .survives(
            &rules,
            &[future, own, other],
            "updates of kinds that it does not know",
        )
        .await?;
    stage.say("And on it goes.").await.map(drop)
}

async fn lists(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(
        &["V1-INFO-02", "V2-INFO-01"],
        "session info that is cleared",
    );
    let info = stage
        .update(json!({"sessionUpdate": "session_info_update", "title": "A title"}))
        .await?;
    let cleared = stage
        .update(json!({"sessionUpdate": "session_info_update", "title": null}))
        .await?;
    stage
        .survives(
            &["V1-INFO-02", "V2-INFO-01"],
            &[info, cleared],
            "session info that is cleared",
        )
        .await?;
    let entry = |status: &str| json!({"content": "Do it", "priority": "medium", "status": status});
    if stage.version == Version::V1 {
        stage.bear(&["V1-PLAN-05"], "a plan that is replaced by an empty one");
        let plan = stage
            .update(
                json!({"sessionUpdate": "plan", "entries": [entry("pending"), entry("completed")]}),
            )
            .await?;
        let empty = stage
            .update(json!({"sessionUpdate": "plan", "entries": []}))
            .await?;
        stage
            .survives(
                &["V1-PLAN-05"],
                &[plan, empty],
                "a plan that is replaced by an empty one",
            )
            .await?;
        stage.bear(&["V1-CMD-02"], "an empty list of commands");
        let none = stage
            .update(json!({"sessionUpdate": "available_commands_update", "availableCommands": []}))
            .await?;
        return stage
            .survives(&["V1-CMD-02"], &[none], "an empty list of commands")
            .await;
    }
    stage.bear(&["V2-PLAN-04"], "entries of a plan that are cancelled");
    let items = json!({"type": "items", "planId": "p-1", "entries": [entry("cancelled"), entry("_dreamt")]});
    let items = stage
        .update(json!({"sessionUpdate": "plan_update", "plan": items}))
        .await?;
    stage
        .survives(
            &["V2-PLAN-04"],
            &[items],
            "entries of a plan that are cancelled",
        )
        .await?;
    stage.bear(&["V2-PLAN-05"], "a plan of a type that it does not know");
    let odd = stage.update(json!({"sessionUpdate": "plan_update", "plan": {"type": "_map", "planId": "p-1", "north": 1}})).await?;
    stage
        .survives(
            &["V2-PLAN-05"],
            &[odd],
            "a plan of a type that it does not know",
        )
        .await?;
    stage.bear(&["V2-USAGE-01"], "usage without a cost");
    let usage = stage
        .update(json!({"sessionUpdate": "usage_update", "used": 10, "size": 100}))
        .await?;
    let cleared = stage
        .update(json!({"sessionUpdate": "usage_update", "used": 11, "size": 100, "cost": null}))
        .await?;
    stage
        .survives(&["V2-USAGE-01"], &[usage, cleared], "usage without a cost")
        .await?;
    stage.bear(&["V2-NOTICE-01"], "a notice");
    let notice = stage
        .update(json!({"sessionUpdate": "notice", "severity": "info", "message": "Tea is ready"}))
        .await?;
    stage
        .survives(&["V2-NOTICE-01"], &[notice], "a notice")
        .await?;
    stage.bear(&["V2-COMPACT-01"], "a compaction");
    let compaction = stage.update(json!({"sessionUpdate": "compaction_update", "compactionId": "c-1", "status": "in_progress"})).await?;
    stage
        .survives(&["V2-COMPACT-01"], &[compaction], "a compaction")
        .await
}
