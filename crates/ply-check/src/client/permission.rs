//! Permission requests.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::scene::{Scene, Start};
use super::stage::Stage;
use crate::peer::{Answer, Stopped};
use crate::rule::id;

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "permission",
        start: Start::AtPrompt,
        rules: &[
            id::V1_PERM_01,
            id::V1_PERM_05,
            id::V1_PERM_06,
            id::V1_RPC_15,
            id::V2_PERM_12,
            id::V2_RPC_05,
        ],
        leaves: false,
        run: |stage| Box::pin(permission(stage)),
    },
    Scene {
        name: "permission-unseen",
        start: Start::AtPrompt,
        rules: &[id::V1_PERM_11, id::V2_PERM_03],
        leaves: false,
        run: |stage| Box::pin(unseen(stage)),
    },
    Scene {
        name: "permission-odd",
        start: Start::AtPrompt,
        rules: &[id::V2_PERM_06, id::V2_PERM_10],
        leaves: false,
        run: |stage| Box::pin(odd(stage)),
    },
];

/// Returns whether the client said anything that an agent can act on.
fn is_outcome(answer: &Answer) -> bool {
    let outcome = answer
        .result()
        .and_then(|result| result.pointer("/outcome/outcome"));
    outcome.is_some_and(Value::is_string)
}

fn saw(answer: &Answer) -> String {
    match answer.error_code() {
        Some(code) => format!("a permission request returned error {code}"),
        None => "a permission request returned no outcome".to_owned(),
    }
}

async fn permission(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(&[id::V1_PERM_01, id::V2_PERM_12], "a permission request");
    let call = stage.ask_permission("edit-1").await?;
    let answer = stage.decision(&call).await?;
    let is_served = answer.error_code().is_none();
    stage.judge(&[id::V1_PERM_01], is_served, &answer.frames(), saw(&answer));
    stage.judge(&[id::V1_RPC_15], true, &answer.frames(), "");
    let is_kept = is_outcome(&answer);
    stage.judge(
        &[id::V1_PERM_05, id::V2_PERM_12],
        is_kept,
        &answer.frames(),
        saw(&answer),
    );
    if stage.version == Version::V2 {
        stage.state("running").await?;
    }
    // An unusual choice: every option of one kind, with ids that look like others.
    let mut params = stage.permission("edit-2");
    let options = json!([
        {"optionId": "allow_once", "name": "Reject", "kind": "reject_once"},
        {"optionId": "Allow", "name": "Allow it this time", "kind": "allow_once"}
    ]);
    super::stage::merge(&mut params, &json!({"options": options}));
    let call = stage.begin("session/request_permission", params).await?;
    let answer = stage.decision(&call).await?;
    stage.judge(
        &[id::V1_PERM_05, id::V2_PERM_12],
        is_outcome(&answer),
        &answer.frames(),
        saw(&answer),
    );
    Ok(())
}

async fn unseen(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(
        &[id::V1_PERM_11, id::V2_PERM_03],
        "a permission request about an unknown tool call",
    );
    let params = stage.permission("never-announced");
    let call = stage.begin("session/request_permission", params).await?;
    let answer = stage.decision(&call).await?;
    let rules = [id::V1_PERM_11, id::V2_PERM_03];
    stage.judge(&rules, is_outcome(&answer), &answer.frames(), saw(&answer));
    Ok(())
}

async fn odd(stage: &mut Stage) -> Result<(), Stopped> {
    if stage.version == Version::V1 {
        return Ok(());
    }
    stage.bear(
        &[id::V2_PERM_06, id::V2_PERM_10],
        "a permission request that is unusual",
    );
    let session = stage.session.clone();
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]);
    for subject in [Value::Null, json!({"type": "_stars", "sign": "leo"})] {
        let mut params = json!({"sessionId": session, "title": "May I?", "options": options});
        if !subject.is_null() {
            super::stage::merge(&mut params, &json!({"subject": subject}));
        }
        let call = stage.begin("session/request_permission", params).await?;
        let answer = stage.decision(&call).await?;
        stage.judge(
            &[id::V2_PERM_06],
            is_outcome(&answer),
            &answer.frames(),
            saw(&answer),
        );
    }
    let options = json!([{"optionId": "boss", "name": "Ask my boss", "kind": "_defer"}, {"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let params = json!({"sessionId": session, "title": "May I?", "options": options});
    let call = stage.begin("session/request_permission", params).await?;
    let answer = stage.decision(&call).await?;
    stage.judge(
        &[id::V2_PERM_10],
        is_outcome(&answer),
        &answer.frames(),
        saw(&answer),
    );
    Ok(())
}
