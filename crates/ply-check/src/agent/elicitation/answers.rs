//! What comes of each answer to a form or a page.

use std::time::Duration;

use ply_client::Direction;
use serde_json::{Map, Value, json};

use crate::agent::bench::{Agent, Bench};
use crate::agent::turn::{self, Choice, Course, QUIET, STOP_PATIENCE, permit, state, word};
use crate::peer::{Reply, Stopped};
use crate::recording::Frame;
use crate::rule::id;

/// A text that no agent says by itself.
const MARK: &str = "ply-check-mark";
/// How long a form is left open.
const OPEN_FOR: Duration = Duration::from_millis(300);

/// Makes the agent ask while the client has no forms.
pub(super) async fn not_offered(bench: &mut Bench) -> Result<(), Stopped> {
    let Some(form) = bench.subject.prompts.form.clone() else {
        return Ok(());
    };
    // An empty object offers no mode at all.
    for capabilities in [json!({}), json!({"elicitation": {}})] {
        let mut agent = bench.greeted_with(capabilities).await?;
        let session = agent.new_session().await?;
        permit(&mut agent, Choice::Allow);
        let course = turn::run(bench, &mut agent, &session, &form).await?;
        let asked = course.requests("elicitation/create").next().is_some();
        if !asked {
            bench.judge_all(
                &[id::V1_ELIC_01, id::V2_ELIC_01],
                true,
                &agent,
                &course.ends(),
                "",
            );
        }
        let is_kept = course.answer.error_code().is_none() && !course.ended("error");
        let saw = course.how();
        bench.judge(id::V1_ELIC_02, is_kept, &agent, &course.ends(), saw);
    }
    Ok(())
}

/// Accepts a form, then declines, dismisses and fails it, then answers it with an action that does not exist.
pub(super) async fn forms(bench: &mut Bench) -> Result<(), Stopped> {
    let Some(prompt) = bench.subject.prompts.form.clone() else {
        return Ok(());
    };
    let mut agent = bench
        .greeted_with(json!({"elicitation": {"form": {}}}))
        .await?;
    permit(&mut agent, Choice::Allow);
    let session = agent.new_session().await?;
    for action in ["accept", "decline", "cancel", "error", "_maybe"] {
        agent
            .service
            .on("elicitation/create", move |params| answer(params, action));
        let course = turn::run(bench, &mut agent, &session, &prompt).await?;
        let Some(question) = course.requests("elicitation/create").next() else {
            return Ok(());
        };
        let frames = [question.number, course.end];
        // A question that cannot be asked may be the end of the turn, as long as nothing is made up.
        let is_calm = course.answer.error_code().is_none() && !course.ended("error");
        let is_kept = is_calm || action == "error";
        let saw = format!("after `{action}`, {}", course.how());
        if matches!(action, "decline" | "cancel" | "error") {
            bench.judge_all(
                &[id::V1_ELIC_17, id::V2_ELIC_01],
                is_kept,
                &agent,
                &frames,
                &saw,
            );
        }
        if action == "_maybe" {
            let told = mark(&course);
            let frames: Vec<_> = [question.number].into_iter().chain(told).collect();
            let saw = "a response with an unknown action was used";
            bench.judge_all(
                &[id::V1_ELIC_28, id::V2_ELIC_04],
                told.is_none(),
                &agent,
                &frames,
                saw,
            );
        }
    }
    Ok(())
}

/// Returns the first frame of the agent in which the mark is said back.
fn mark(course: &Course) -> Option<usize> {
    let mut theirs = course
        .frames
        .iter()
        .filter(|frame| frame.direction == Direction::ToClient);
    let says = |frame: &&Frame| {
        frame
            .bytes
            .windows(MARK.len())
            .any(|bytes| bytes == MARK.as_bytes())
    };
    theirs.find(says).map(|frame| frame.number)
}

fn answer(params: &Value, action: &str) -> Reply {
    match action {
        "error" => Reply::Error(-32603, "Internal error"),
        "accept" | "_maybe" => Reply::Result(json!({"action": action, "content": filled(params)})),
        _ => Reply::Result(json!({"action": action})),
    }
}

/// Returns a value for each field of a form.
fn filled(params: &Value) -> Value {
    let fields = params
        .pointer("/requestedSchema/properties")
        .and_then(Value::as_object);
    let value = |field: &Value| {
        let first = |list: &str| field.get(list)?.as_array()?.first().cloned();
        let choice = first("enum").or_else(|| first("oneOf")?.get("const").cloned());
        let least = field.get("minimum").cloned();
        match word(field, "type").as_deref() {
            Some("boolean") => json!(true),
            Some("number" | "integer") => least.unwrap_or(json!(1)),
            Some("array") => json!([]),
            _ => choice.unwrap_or(json!(MARK)),
        }
    };
    let filled = fields
        .into_iter()
        .flatten()
        .map(|(name, field)| (name.clone(), value(field)));
    Value::Object(filled.collect::<Map<_, _>>())
}

/// Leaves a form open, cancels the work, and sees whether the form is withdrawn.
pub(super) async fn left_open(bench: &mut Bench) -> Result<(), Stopped> {
    let Some(prompt) = bench.subject.prompts.form.clone() else {
        return Ok(());
    };
    let mut agent = bench
        .greeted_with(json!({"elicitation": {"form": {}}}))
        .await?;
    permit(&mut agent, Choice::Allow);
    agent.service.on("elicitation/create", |_| Reply::Hold);
    let session = agent.new_session().await?;
    let turn = turn::begin(&mut agent, &session, &prompt).await?;
    let Some(held) = open_form(&mut agent, &turn, bench.subject.turn_patience).await? else {
        return Ok(());
    };
    agent.listen(OPEN_FOR).await?;
    let waits = agent.seen_since(turn.call.frame, |frame| {
        state(frame) == Some("requires_action")
    });
    // Other work may go on beside the form, and a tool call in progress is a sign of it.
    let lives = turn::lives(&agent, &session, agent.recording().len());
    let is_alone = lives.iter().all(|life| life.status() != "in_progress");
    if waits.is_some() || is_alone {
        let saw = "an elicitation was open, but the state was not `requires_action`";
        bench.judge(id::V2_STATE_04, waits.is_some(), &agent, &[held.frame], saw);
    }
    let cancel = agent
        .notify("session/cancel", json!({"sessionId": session}))
        .await?;
    let course = turn.finish(&mut agent, STOP_PATIENCE).await?;
    if waits.is_some() {
        let saw = "the work was cancelled, but the state stayed `requires_action`";
        bench.judge(
            id::V2_ELIC_02,
            course.is_some(),
            &agent,
            &[held.frame, cancel],
            saw,
        );
    }
    let withdraws = |frame: &Frame| {
        let named = frame.params().and_then(|params| params.get("requestId"));
        frame.method() == Some("$/cancel_request") && named == Some(&held.id)
    };
    // It may come right after the end of the work.
    if agent.seen_since(cancel, withdraws).is_none() {
        agent.until(QUIET, withdraws).await?;
    }
    let withdrawn = agent.seen_since(cancel, withdraws);
    let saw = "the work was cancelled, but its open elicitation was not cancelled";
    bench.judge(
        id::V2_CANCEL_13,
        withdrawn.is_some(),
        &agent,
        &[held.frame, cancel],
        saw,
    );
    Ok(())
}

async fn open_form(
    agent: &mut Agent,
    turn: &turn::Turn,
    patience: Duration,
) -> Result<Option<crate::peer::Held>, Stopped> {
    let is_form = |frame: &Frame| frame.method() == Some("elicitation/create");
    let ends = |frame: &Frame| frame.is_answer() || state(frame) == Some("idle");
    loop {
        if let Some(held) = agent.service.take_held("elicitation/create") {
            return Ok(Some(held));
        }
        if turn.course(agent).is_some() {
            return Ok(None);
        }
        if agent
            .until(patience, |frame| is_form(frame) || ends(frame))
            .await?
            .is_none()
        {
            return Ok(None);
        }
    }
}

/// Accepts a page.
pub(super) async fn page(bench: &mut Bench) -> Result<(), Stopped> {
    let Some(prompt) = bench.subject.prompts.visit.clone() else {
        return Ok(());
    };
    let mut agent = bench
        .greeted_with(json!({"elicitation": {"url": {}}}))
        .await?;
    permit(&mut agent, Choice::Allow);
    agent.service.on("elicitation/create", |_| {
        Reply::Result(json!({"action": "accept"}))
    });
    let session = agent.new_session().await?;
    turn::run(bench, &mut agent, &session, &prompt).await?;
    turn::run(bench, &mut agent, &session, &prompt).await?;
    Ok(())
}
