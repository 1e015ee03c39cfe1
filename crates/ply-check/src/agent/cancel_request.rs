//! `$/cancel_request`.

use std::time::Duration;

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::turn::{self, Choice, QUIET, STOP_PATIENCE, Turn, permit};
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::id;
use crate::topic::Probe;

/// How long an agent that supports it may take to answer.
const ANSWERED_WITHIN: Duration = Duration::from_millis(2500);
/// How long work goes on that is not to be stopped.
const UNHARMED_FOR: Duration = Duration::from_millis(300);

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "a cancel of requests that are not open",
        rules: &[id::V1_CREQ_08, id::V2_CREQ_02],
        run: |bench| Box::pin(not_open(bench)),
    },
    Probe {
        name: "a cancel of the request of a prompt",
        rules: &[
            id::V1_CREQ_03,
            id::V2_CREQ_01,
            id::V2_CREQ_02,
            id::V2_PROMPT_16,
        ],
        run: |bench| Box::pin(of_a_prompt(bench)),
    },
];

/// Cancels a request that never was and one that was answered, then prompts.
async fn not_open(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let unknown = agent
        .notify("$/cancel_request", json!({"requestId": 987_654_321}))
        .await?;
    let word = json!({"requestId": "ply-check-unknown"});
    agent.notify("$/cancel_request", word).await?;
    let short = bench.subject.prompts.short.clone();
    let course = turn::run(bench, &mut agent, &session, &short).await?;
    let id = course.answer.message.get("id").cloned().unwrap_or_default();
    let used = agent
        .notify("$/cancel_request", json!({"requestId": id}))
        .await?;
    let heard = agent.listen(QUIET).await?;
    let answer = heard.iter().find(|frame| frame.is_answer());
    let stray = agent.seen_since(unknown, |frame| is_answer_to_nothing(frame, &id));
    let found = answer.cloned().or(stray);
    let is_kept = found.is_none() && course.answer.error_code().is_none();
    let frames: Vec<_> = [unknown, used]
        .into_iter()
        .chain(found.map(|frame| frame.number))
        .collect();
    let saw =
        "a cancel for a request that was not open got a response, or affected another request";
    bench.judge_all(
        &[id::V1_CREQ_08, id::V2_CREQ_02],
        is_kept,
        &agent,
        &frames,
        saw,
    );
    bench.give_back(agent);
    Ok(())
}

fn is_answer_to_nothing(frame: &Frame, id: &Value) -> bool {
    frame.direction == Direction::ToClient && frame.is_answer() && frame.id() != Some(id)
}

/// Cancels the request of a prompt that is worked on; in version 2 also that of one which waits.
async fn of_a_prompt(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let long = bench.subject.prompts.long.clone();
    let turn = turn::begin(&mut agent, &session, &long).await?;
    turn.under_way(&mut agent, bench.subject.turn_patience)
        .await?;
    let cancel = agent
        .notify("$/cancel_request", json!({"requestId": turn.call.id}))
        .await?;
    match bench.version {
        Version::V1 => {
            // Support is optional. An agent without it goes on, and is stopped in the usual way.
            let ended = turn.finish(&mut agent, ANSWERED_WITHIN).await?;
            if ended.is_none() {
                bench.not_offered(id::V1_CREQ_03, "`$/cancel_request`");
                agent
                    .notify("session/cancel", json!({"sessionId": session}))
                    .await?;
                turn.finish(&mut agent, STOP_PATIENCE).await?;
            }
            // One that cannot be stopped, or not in this way, is another matter.
            if ended.is_none() {
                return Ok(());
            }
            agent.listen(QUIET).await?;
            let answers = answers(&agent, &turn);
            let is_fit = |message: &Value| {
                let code = message.pointer("/error/code").and_then(Value::as_i64);
                message.pointer("/result/stopReason").is_some() || code == Some(-32800)
            };
            let is_kept = matches!(&answers[..], [(_, message)] if is_fit(message));
            let frames: Vec<_> = [cancel]
                .into_iter()
                .chain(answers.iter().map(|(frame, _)| *frame))
                .collect();
            let saw = format!(
                "a cancelled prompt got {} answers, or neither a result nor -32800",
                answers.len()
            );
            bench.judge(id::V1_CREQ_03, is_kept, &agent, &frames, saw);
        }
        Version::V2 => {
            agent.listen(UNHARMED_FOR).await?;
            let ended = turn.course(&agent);
            let is_kept = ended
                .as_ref()
                .is_none_or(|course| !course.ended("cancelled"));
            let frames: Vec<_> = [turn.call.frame, cancel]
                .into_iter()
                .chain(ended.map(|course| course.end))
                .collect();
            let saw = "cancelling the request stopped the work on an inserted prompt";
            bench.judge(id::V2_PROMPT_16, is_kept, &agent, &frames, saw);
            let once = answers(&agent, &turn).len() == 1;
            let saw = "a cancel for a completed request caused a second response";
            bench.judge(id::V2_CREQ_02, once, &agent, &frames, saw);
            withdrawn(bench, &mut agent, &turn).await?;
        }
    }
    bench.give_back(agent);
    Ok(())
}

/// Sends a prompt to a session at work and takes it back.
async fn withdrawn(bench: &mut Bench, agent: &mut Agent, first: &Turn) -> Result<(), Stopped> {
    let short = bench.subject.prompts.short.clone();
    let second = turn::begin(agent, &first.session, &short).await?;
    agent.listen(QUIET).await?;
    let was_inserted = second.answered(agent).is_some();
    let cancel = agent
        .notify("$/cancel_request", json!({"requestId": second.call.id}))
        .await?;
    let answer = match agent.answer(&second.call).await {
        Ok(answer) => Some(answer),
        // It may get its answer when the work before it is over.
        Err(Stopped::Silent { .. }) => None,
        Err(stopped) => return Err(stopped),
    };
    let mut frames = vec![second.call.frame, cancel];
    frames.extend(answer.as_ref().map(|answer| answer.frame));
    // It may have been inserted just before the notification was read.
    if let Some(answer) = answer.filter(|answer| !was_inserted && answer.result().is_none()) {
        let is_kept = answer.error_code() == Some(-32800);
        let saw = format!("a withdrawn prompt: {}", answer.error_message());
        bench.judge(id::V2_PROMPT_16, is_kept, agent, &frames, saw);
    }
    let stop = json!({"sessionId": first.session});
    agent.notify("session/cancel", stop).await?;
    first.finish(agent, STOP_PATIENCE).await?;
    agent.listen(QUIET).await?;
    let count = answers(agent, &second).len();
    let saw = format!("a cancelled request got {count} responses");
    bench.judge(id::V2_CREQ_01, count == 1, agent, &frames, saw);
    Ok(())
}

/// Returns every answer to a prompt.
fn answers(agent: &Agent, turn: &Turn) -> Vec<(usize, Value)> {
    agent.recording().with_frames(|frames| {
        let later = frames.iter().skip(turn.call.frame);
        let fits = |frame: &&Frame| {
            let is_theirs = frame.direction == Direction::ToClient;
            is_theirs && frame.is_answer() && frame.id() == Some(&turn.call.id)
        };
        let found = later.filter(fits);
        found
            .map(|frame| (frame.number, frame.json.clone().unwrap_or_default()))
            .collect()
    })
}
