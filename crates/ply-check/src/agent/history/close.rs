//! Closing: at rest, and in the middle of a turn.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::super::bench::{Agent, Bench};
use super::super::busy;
use super::super::judging::{QUIET, is_not_found, tell};
use crate::peer::{Call, Stopped};
use crate::recording::Frame;
use crate::rule::id;

pub(super) async fn closing(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    let closed = agent
        .ask("session/close", json!({"sessionId": session}))
        .await?;
    let saw = tell("session/close", &closed);
    let is_object = closed.result().is_some_and(Value::is_object);
    bench.judge_all(
        &[id::V1_CLOSE_03, id::V2_RPC_05],
        is_object,
        &agent,
        &closed.frames(),
        saw,
    );
    let heard = agent.listen(QUIET).await?;
    silent(bench, &agent, &session, &heard, closed.frame);
    let again = agent
        .ask("session/close", json!({"sessionId": session}))
        .await?;
    let is_answered = again.result().is_some() || again.is_error();
    let saw = format!(
        "{}, for a session that is closed",
        tell("session/close", &again)
    );
    bench.judge(id::V1_CLOSE_04, is_answered, &agent, &again.frames(), &*saw);
    bench.judge(
        id::V2_CLOSE_05,
        again.result().is_some(),
        &agent,
        &again.frames(),
        saw,
    );
    if bench.version == Version::V2 {
        let unknown = json!({"sessionId": "ply-check-no-such-session"});
        let answer = agent.ask("session/close", unknown).await?;
        let saw = format!(
            "{}, for a session that does not exist",
            tell("session/close", &answer)
        );
        bench.judge(
            id::V2_CLOSE_05,
            answer.result().is_some(),
            &agent,
            &answer.frames(),
            saw,
        );
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]});
        let answer = agent.ask("session/prompt", prompt).await?;
        let is_kept = is_not_found(&answer, &session);
        let saw = format!(
            "{}, for a session that is closed",
            tell("session/prompt", &answer)
        );
        bench.judge(id::V2_SESS_09, is_kept, &agent, &answer.frames(), saw);
    }
    bench.give_back(agent);
    Ok(())
}

/// Judges that nothing was sent for a session that is closed.
fn silent(bench: &mut Bench, agent: &Agent, session: &str, heard: &[Frame], closed: usize) {
    let late = heard
        .iter()
        .find(|frame| frame.number > closed && frame.session() == Some(session));
    let frames: Vec<_> = std::iter::once(closed)
        .chain(late.map(|frame| frame.number))
        .collect();
    let saw = "an update about the session came after the `session/close` response";
    bench.judge(id::V2_CLOSE_04, late.is_none(), agent, &frames, saw);
}

pub(super) async fn closing_amid(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    // An agent that never asks cannot be caught at work without a race.
    let Some(busy) = busy::waiting(&bench.subject, bench.version, &mut agent, &session).await?
    else {
        return Ok(());
    };
    let held = match bench.version {
        Version::V1 => None,
        Version::V2 => {
            let prompt = json!([{"type": "text", "text": bench.subject.prompts.short}]);
            let params = json!({"sessionId": session, "prompt": prompt});
            Some(agent.begin("session/prompt", params).await?)
        }
    };
    let close = agent
        .begin("session/close", json!({"sessionId": session}))
        .await?;
    let withdraws = |frame: &Frame| {
        let id = frame.params().and_then(|params| params.get("requestId"));
        frame.method() == Some("$/cancel_request") && id == Some(&busy.question.id)
    };
    let is_closed = |frame: &Frame| frame.is_answer() && frame.id() == Some(&close.id);
    // A client answers an open question when it closes the session, or when the agent takes the question back.
    if bench.version == Version::V2 {
        let waited = agent.patience / 2;
        agent
            .until(waited, |frame| withdraws(frame) || is_closed(frame))
            .await?;
    }
    let outcome = json!({"outcome": {"outcome": "cancelled"}});
    agent.respond(&busy.question.id, outcome).await?;
    let closed = agent.answer(&close).await?;
    let mut heard = agent.heard_since(closed.request);
    heard.extend(agent.listen(QUIET).await?);
    let frames = [[busy.prompt.frame, busy.question.frame], closed.frames()].concat();
    match bench.version {
        Version::V1 => {
            let answer = agent.answer(&busy.prompt).await?;
            let reason = answer
                .message
                .pointer("/result/stopReason")
                .and_then(Value::as_str);
            let is_kept = reason == Some("cancelled");
            let frames = [answer.request, closed.request, answer.frame];
            let saw = format!(
                "{}, and not with `cancelled`",
                tell("session/prompt", &answer)
            );
            bench.judge(id::V1_CLOSE_02, is_kept, &agent, &frames, saw);
        }
        Version::V2 => {
            let idle = heard.iter().find(|frame| is_cancelled(frame, &session));
            let is_kept = idle.is_some_and(|idle| idle.number < closed.frame);
            let saw = "no idle state with `cancelled` came before the `session/close` response";
            bench.judge_all(
                &[id::V2_CLOSE_01, id::V2_CLOSE_02],
                is_kept,
                &agent,
                &frames,
                saw,
            );
            let withdrawn = heard.iter().find(|frame| withdraws(frame));
            let is_kept = withdrawn.is_some_and(|frame| frame.number < closed.frame);
            let saw = "the open request was not cancelled before the `session/close` response";
            bench.judge(id::V2_CLOSE_07, is_kept, &agent, &frames, saw);
            silent(bench, &agent, &session, &heard, closed.frame);
            if let Some(held) = held {
                waited(bench, &mut agent, &held).await?;
            }
        }
    }
    Ok(())
}

/// Judges what became of a prompt that waited, or was taken into the turn.
async fn waited(bench: &mut Bench, agent: &mut Agent, held: &Call) -> Result<(), Stopped> {
    let answer = match agent.answer(held).await {
        Ok(answer) => answer,
        Err(Stopped::Silent { .. }) => {
            let saw = "a queued prompt got no response";
            bench.judge(id::V2_CLOSE_03, false, agent, &[held.frame], saw);
            return Ok(());
        }
        Err(stopped) => return Err(stopped),
    };
    let message = answer.message.pointer("/result/messageId");
    let is_kept = answer.error_code() == Some(-32800) || message.is_some();
    let saw = format!(
        "{}, for a prompt that waited",
        tell("session/prompt", &answer)
    );
    bench.judge(id::V2_CLOSE_03, is_kept, agent, &answer.frames(), saw);
    Ok(())
}

fn is_cancelled(frame: &Frame, session: &str) -> bool {
    let text = |key: &str| {
        frame
            .update()
            .and_then(|update| update.get(key))
            .and_then(Value::as_str)
    };
    frame.session() == Some(session)
        && text("state") == Some("idle")
        && text("stopReason") == Some("cancelled")
}
