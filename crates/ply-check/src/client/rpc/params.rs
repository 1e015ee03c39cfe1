//! Parameters that do not fit, and members that nobody knows yet.

use serde_json::json;

use crate::client::scene::{Scene, Start};
use crate::client::stage::Stage;
use crate::peer::Stopped;
use crate::rule::id;

pub(in crate::client) const SCENES: &[Scene] = &[
    Scene {
        name: "wrong-params",
        start: Start::AtPrompt,
        rules: &[id::V1_RPC_11, id::V1_RPC_17, id::V2_RPC_01],
        leaves: false,
        run: |stage| Box::pin(wrong_params(stage)),
    },
    Scene {
        name: "future-members",
        start: Start::AtBeginning,
        rules: &[
            id::V1_RPC_16,
            id::V1_INIT_23,
            id::V1_EXT_06,
            id::V2_RPC_01,
            id::V2_EXT_04,
        ],
        leaves: false,
        run: |stage| Box::pin(future_members(stage)),
    },
];

async fn wrong_params(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(
        &[id::V1_RPC_11, id::V2_RPC_01],
        "a permission request without its members",
    );
    let session = stage.session.clone();
    let wrong = [
        json!({"sessionId": session}),
        json!({"sessionId": 7, "options": "all"}),
    ];
    for params in wrong {
        let answer = stage.ask("session/request_permission", params).await?;
        let saw = match answer.error_code() {
            Some(code) => {
                format!("a permission request without its members returned error {code}")
            }
            None => "a permission request without its members returned a result".to_owned(),
        };
        let is_kept = answer.error_code() == Some(-32602);
        stage.judge(
            &[id::V1_RPC_11, id::V2_RPC_01],
            is_kept,
            &answer.frames(),
            saw,
        );
    }
    stage.bear(&[id::V1_RPC_17], "a tool call whose kind is a number");
    let frame = stage
        .tool_call(
            "odd-1",
            json!({"kind": 7, "status": 3, "locations": [{"line": "x"}]}),
        )
        .await?;
    stage
        .survives(
            &[id::V1_RPC_17],
            &[frame],
            "a tool call whose kind is a number",
        )
        .await
}

async fn future_members(stage: &mut Stage) -> Result<(), Stopped> {
    let rules = [
        id::V1_RPC_16,
        id::V1_INIT_23,
        id::V1_EXT_06,
        id::V2_RPC_01,
        id::V2_EXT_04,
    ];
    stage.bear(&rules, "unknown members");
    let strange = json!({
        "futureField": {"deep": [1, 2, {"x": null}]},
        "_meta": {"example.org/thing": [true], "traceparent": "00-0-0-01"}
    });
    {
        let mut house = stage.house.lock();
        house.extra = strange.clone();
        for root in ["agentCapabilities", "capabilities"] {
            if let Some(capabilities) = house.welcome.get_mut(root) {
                crate::client::stage::merge(
                    capabilities,
                    &json!({"timeTravel": {"far": true}, "_meta": {"x": 1}}),
                );
            }
        }
    }
    stage.reach_prompt().await?;
    stage.judge(&rules, true, &[], "");
    let mut chunk = json!({
        "sessionUpdate": "agent_message_chunk", "messageId": "m-1",
        "content": {"type": "text", "text": "Hello from the future.", "futureField": 1, "_meta": {"a": {}}}
    });
    crate::client::stage::merge(&mut chunk, &strange);
    let first = stage.update(chunk).await?;
    let second = stage.tool_call("t-1", strange.clone()).await?;
    // What is no object counts as left out in version 2.
    let odd = json!({"sessionUpdate": "agent_message_chunk", "messageId": "m-2", "_meta": 3,
        "content": {"type": "text", "text": "And again."}});
    let third = match stage.version {
        ply_wire::negotiate::Version::V1 => second,
        ply_wire::negotiate::Version::V2 => stage.update(odd).await?,
    };
    stage
        .survives(&rules, &[first, second, third], "unknown members")
        .await
}
