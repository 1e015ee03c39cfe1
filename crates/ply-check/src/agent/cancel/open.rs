//! A cancel while something is open: a question, or a prompt that waits.

use std::time::Duration;

use ply_wire::negotiate::Version;
use serde_json::json;

use super::running::ended;
use crate::agent::bench::Bench;
use crate::agent::turn::{
    self, Choice, Place, QUIET, STOP_PATIENCE, is_user_message, permit, state, word,
};
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::id;

/// How long an agent has to withdraw its question before the client answers it.
const WITHDRAWN_WITHIN: Duration = Duration::from_millis(400);

/// Cancels while a question for permission is open. A client of version 1 has to answer it then; one of version 2 need not.
pub(super) async fn question(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Hold);
    let place = Place::look(&bench.subject.cwd).await;
    let change = bench.subject.prompts.change.clone();
    let turn = turn::begin(&mut agent, &session, &change).await?;
    let patience = bench.subject.turn_patience;
    let Some(held) = turn.question(&mut agent, patience).await? else {
        place.clear(&place.made_since().await).await;
        return Ok(());
    };
    let cancel = agent
        .notify("session/cancel", json!({"sessionId": session}))
        .await?;
    let withdraws = |frame: &Frame| {
        let named = frame.params().and_then(|params| params.get("requestId"));
        frame.method() == Some("$/cancel_request") && named == Some(&held.id)
    };
    agent.until(WITHDRAWN_WITHIN, withdraws).await?;
    let withdrawn = agent.seen_since(cancel, withdraws);
    let frames: Vec<_> = [held.frame, cancel]
        .into_iter()
        .chain(withdrawn.as_ref().map(|frame| frame.number))
        .collect();
    if bench.version == Version::V1 {
        let saw = "the turn was cancelled, but its open request was not cancelled";
        bench.judge(id::V1_CREQ_07, withdrawn.is_some(), &agent, &frames, saw);
        agent
            .respond(&held.id, json!({"outcome": {"outcome": "cancelled"}}))
            .await?;
        let course = ended(bench, &mut agent, &turn, cancel).await?;
        let made = place.made_since().await;
        place.clear(&made).await;
        if course.is_some() {
            let saw = "the tool ran although the turn was cancelled";
            bench.judge(id::V1_PERM_09, made.is_empty(), &agent, &frames, saw);
            bench.give_back(agent);
        }
        return Ok(());
    }
    let course = turn.finish(&mut agent, STOP_PATIENCE).await?;
    let saw = "the work did not end while its permission request was open";
    bench.judge(id::V2_CANCEL_04, course.is_some(), &agent, &frames, saw);
    let Some(course) = course else {
        return Ok(());
    };
    let saw = course.how();
    bench.judge(
        id::V2_CANCEL_06,
        course.ended("cancelled"),
        &agent,
        &course.ends(),
        saw,
    );
    let frames = [held.frame, cancel, course.end];
    bench.judge(id::V2_STATE_05, true, &agent, &frames, "");
    // The answer crosses the cancel, as it can on any slow link.
    let late = agent.respond(&held.id, turn::allowed(&held.params)).await?;
    let heard = agent.listen(QUIET * 2).await?;
    let revived = heard.iter().find(|frame| is_at_work(frame));
    let made = place.made_since().await;
    place.clear(&made).await;
    let is_kept = revived.is_none() && made.is_empty();
    let frames: Vec<_> = [cancel, late]
        .into_iter()
        .chain(revived.map(|frame| frame.number))
        .collect();
    let saw = "a late response restarted the work";
    bench.judge_all(
        &[id::V2_CANCEL_12, id::V2_STATE_13],
        is_kept,
        &agent,
        &frames,
        saw,
    );
    bench.give_back(agent);
    Ok(())
}

fn is_at_work(frame: &Frame) -> bool {
    let status = frame.update().and_then(|update| word(update, "status"));
    state(frame) == Some("running")
        || matches!(status.as_deref(), Some("in_progress" | "completed"))
}

/// Cancels while one prompt is worked on and another one waits, then sends a third.
pub(super) async fn prompt(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let prompts = bench.subject.prompts.clone();
    let first = turn::begin(&mut agent, &session, &prompts.long).await?;
    first
        .under_way(&mut agent, bench.subject.turn_patience)
        .await?;
    let second = turn::begin(&mut agent, &session, &prompts.short).await?;
    agent.listen(QUIET).await?;
    let was_inserted = second.answered(&agent).is_some();
    let cancel = agent
        .notify("session/cancel", json!({"sessionId": session}))
        .await?;
    let third = turn::begin(&mut agent, &session, &prompts.short).await?;
    let answer = agent.answer(&second.call).await?;
    let stopped = first.finish(&mut agent, STOP_PATIENCE).await?;
    let id = answer.result().and_then(|result| word(result, "messageId"));
    let is_ours = |frame: &Frame| is_user_message(frame, id.as_deref());
    // An accepted prompt may get its answer before its message.
    if id.is_some() && agent.seen_since(second.call.frame, is_ours).is_none() {
        agent.until(QUIET, is_ours).await?;
    }
    let inserted = agent.seen_since(second.call.frame, is_ours);
    // Both cross: it may be inserted just before the cancel is read, but not once the cancelled work is over.
    let is_late = |frame: Frame| {
        stopped
            .as_ref()
            .is_some_and(|course| frame.number > course.end)
    };
    let is_kept = match (was_inserted, answer.error_code()) {
        (true, code) => code.is_none(),
        (false, Some(code)) => code == -32800,
        (false, None) => !inserted.is_some_and(is_late),
    };
    let saw = match answer.error_code() {
        Some(code) => format!("a prompt that was queued at the cancel returned error {code}"),
        None => "a prompt that waited when the cancel came was accepted".to_owned(),
    };
    let frames = [second.call.frame, cancel, answer.frame];
    bench.judge(id::V2_CANCEL_10, is_kept, &agent, &frames, saw);
    let course = third.complete(bench, &mut agent).await?;
    let is_kept = course.answer.error_code().is_none() && !course.ended("cancelled");
    let saw = format!(
        "of a prompt that was sent after the cancel, {}",
        course.how()
    );
    bench.judge(
        id::V2_CANCEL_10,
        is_kept,
        &agent,
        &[cancel, course.prompt, course.end],
        saw,
    );
    bench.give_back(agent);
    Ok(())
}
