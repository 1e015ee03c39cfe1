//! Permission requests.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::{Answer, Stopped};

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-PERM-01",
            "Every client answers permission requests.",
            "Agents that ask before they act can do nothing.",
            "Implement `session/request_permission`.",
        ),
        rule(
            "V1-PERM-05",
            "The answer is an outcome: `selected` with an option, or `cancelled`.",
            "The agent cannot read the answer, and does not act.",
            "Nest it: `outcome: {outcome: \"selected\", optionId}`.",
        ),
        rule(
            "V1-PERM-06",
            "The option chosen is one that was offered.",
            "The agent takes it for no permission.",
            "Answer with the `optionId` of the request, not its kind or name.",
        ),
        rule(
            "V1-PERM-11",
            "A permission request may be about a tool call that was not announced.",
            "The question is lost, and the turn hangs.",
            "Take the tool call of the request as an announcement.",
        )
        .should(),
        rule(
            "V2-PERM-03",
            "A permission request may be the first to tell of a tool call.",
            "The question is lost, and the work hangs.",
            "Apply the tool call of the subject before you ask.",
        ),
        rule(
            "V2-PERM-06",
            "A permission request may be about nothing, or about what is not known.",
            "The question is lost, and the work hangs.",
            "Ask generically, or decline.",
        )
        .should(),
        rule(
            "V2-PERM-10",
            "Options of an unknown kind are shown like others.",
            "The question is lost, and the work hangs.",
            "Show the name, and answer with the id.",
        )
        .should(),
        rule(
            "V2-PERM-12",
            "The answer is an outcome: `selected` with an option that was offered, or `cancelled`.",
            "The agent takes it for no permission.",
            "Nest it: `outcome: {outcome: \"selected\", optionId}`.",
        ),
    ],
    scenes: &[
        Scene {
            name: "permission",
            start: Start::AtPrompt,
            rules: &[
                "V1-PERM-01",
                "V1-PERM-05",
                "V1-PERM-06",
                "V1-RPC-15",
                "V2-PERM-12",
                "V2-RPC-05",
            ],
            leaves: false,
            run: |stage| Box::pin(permission(stage)),
        },
        Scene {
            name: "permission-unseen",
            start: Start::AtPrompt,
            rules: &["V1-PERM-11", "V2-PERM-03"],
            leaves: false,
            run: |stage| Box::pin(unseen(stage)),
        },
        Scene {
            name: "permission-odd",
            start: Start::AtPrompt,
            rules: &["V2-PERM-06", "V2-PERM-10"],
            leaves: false,
            run: |stage| Box::pin(odd(stage)),
        },
    ],
};

/// Returns whether the client said anything that an agent can act on.
fn is_outcome(answer: &Answer) -> bool {
    let outcome = answer
        .result()
        .and_then(|result| result.pointer("/outcome/outcome"));
    outcome.is_some_and(Value::is_string)
}

fn saw(answer: &Answer) -> String {
    match answer.error_code() {
        Some(code) => format!("a permission request was answered with {code}"),
        None => "a permission request was answered with no outcome".to_owned(),
    }
}

async fn permission(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(&["V1-PERM-01", "V2-PERM-12"], "a permission request");
    let call = stage.ask_permission("edit-1").await?;
    let answer = stage.decision(&call).await?;
    let is_served = answer.error_code().is_none();
    stage.judge(&["V1-PERM-01"], is_served, &answer.frames(), saw(&answer));
    stage.judge(&["V1-RPC-15"], true, &answer.frames(), "");
    let is_kept = is_outcome(&answer);
    stage.judge(
        &["V1-PERM-05", "V2-PERM-12"],
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
        &["V1-PERM-05", "V2-PERM-12"],
        is_outcome(&answer),
        &answer.frames(),
        saw(&answer),
    );
    Ok(())
}

async fn unseen(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(
        &["V1-PERM-11", "V2-PERM-03"],
        "a permission request about a tool call that was not announced",
    );
    let params = stage.permission("never-announced");
    let call = stage.begin("session/request_permission", params).await?;
    let answer = stage.decision(&call).await?;
    let rules = ["V1-PERM-11", "V2-PERM-03"];
    stage.judge(&rules, is_outcome(&answer), &answer.frames(), saw(&answer));
    Ok(())
}

async fn odd(stage: &mut Stage) -> Result<(), Stopped> {
    if stage.version == Version::V1 {
        return Ok(());
    }
    stage.bear(
        &["V2-PERM-06", "V2-PERM-10"],
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
            &["V2-PERM-06"],
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
        &["V2-PERM-10"],
        is_outcome(&answer),
        &answer.frames(),
        saw(&answer),
    );
    Ok(())
}
