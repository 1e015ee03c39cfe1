//! What comes of each answer to a question for permission.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use ply_wire::negotiate::Version;

use crate::agent::bench::{Agent, Bench};
use crate::agent::turn::{
    self, Choice, Course, Place, Turn, asked_about, offers, permit, state, word,
};
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::id;

/// How long a question is left open, to see that the tool waits.
const OPEN_FOR: Duration = Duration::from_millis(300);

/// A session in which the agent was asked for a change, with what the directory held before.
struct Scene {
    agent: Agent,
    place: Place,
    turn: Turn,
}

async fn scene(bench: &mut Bench, choice: Choice) -> Result<Scene, Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, choice);
    let place = Place::look(&bench.subject.cwd).await;
    let change = bench.subject.prompts.change.clone();
    let turn = turn::begin(&mut agent, &session, &change).await?;
    Ok(Scene { agent, place, turn })
}

/// Leaves a question open for a while, allows it, and sees the turn to its end.
pub(super) async fn given(bench: &mut Bench) -> Result<(), Stopped> {
    let Scene {
        mut agent,
        place,
        turn,
    } = scene(bench, Choice::Hold).await?;
    let patience = bench.subject.turn_patience;
    let Some(held) = turn.question(&mut agent, patience).await? else {
        // It asks for nothing, so there is nothing to find out.
        turn.complete(bench, &mut agent).await?;
        place.clear(&place.made_since().await).await;
        return Ok(());
    };
    let waits = |frame: &Frame| state(frame) == Some("requires_action");
    let waiting = agent.seen_since(turn.call.frame, waits);
    agent.listen(OPEN_FOR).await?;
    let waiting = waiting.or_else(|| agent.seen_since(turn.call.frame, waits));
    let frames = [turn.call.frame, held.frame];
    let saw = "a permission request was open, but the state was not `requires_action`";
    bench.judge(id::V2_STATE_04, waiting.is_some(), &agent, &frames, saw);
    let early = place.made_since().await;
    let id = word_of_call(&held.params);
    let done = agent.seen_since(turn.call.frame, |frame| ended_well(frame, &id));
    let saw = "the tool ran before the permission request was answered";
    let is_kept = early.is_empty() && done.is_none();
    bench.judge(id::V1_PERM_02, is_kept, &agent, &frames, saw);
    if !is_kept {
        // Whatever the answer would have been, it could not have kept the tool from running.
        let rules = [id::V1_PERM_09, id::V2_PERM_07, id::V2_PERM_08];
        bench.judge_all(&rules, false, &agent, &frames, saw);
    }
    permit(&mut agent, Choice::Allow);
    agent.respond(&held.id, turn::allowed(&held.params)).await?;
    let course = turn.complete(bench, &mut agent).await?;
    let made = place.made_since().await;
    if !made.is_empty() {
        let is_told = !course.calls(&agent).is_empty();
        let saw = "a file was created without a tool call";
        bench.judge(id::V1_PROMPT_05, is_told, &agent, &course.ends(), saw);
    }
    place.clear(&made).await;
    bench.give_back(agent);
    Ok(())
}

/// Says no, and sees that it is kept to.
pub(super) async fn refused(bench: &mut Bench) -> Result<(), Stopped> {
    let Some((agent, course)) =
        answered_with(bench, Choice::Reject, &[id::V1_PERM_09, id::V2_PERM_07]).await?
    else {
        return Ok(());
    };
    let Some(question) = course.asks().next().cloned() else {
        return Ok(());
    };
    let frames = [question.number, course.end];
    let lives = course.calls(&agent);
    let id = asked_about(&question).and_then(|call| word(call, "toolCallId"));
    let life = lives.iter().find(|life| Some(&life.id) == id.as_ref());
    let is_closed = life.is_none_or(|life| life.status() == "failed");
    let is_calm = course.stop.is_some();
    let saw = match is_calm {
        true => "a call that was refused is not reported as failed".to_owned(),
        false => course.how(),
    };
    bench.judge(id::V1_PERM_12, is_closed && is_calm, &agent, &frames, saw);
    Ok(())
}

/// Answers with what does not mean yes: something that was not offered, something unknown, an error.
pub(super) async fn strange(bench: &mut Bench) -> Result<(), Stopped> {
    let rules = [id::V1_PERM_09, id::V2_PERM_07];
    answered_with(bench, Choice::Unoffered, &rules).await?;
    match bench.version {
        Version::V1 => {
            answered_with(bench, Choice::Error(-32603), &rules).await?;
            answered_with(
                bench,
                Choice::Error(-32800),
                &[id::V1_CREQ_09, id::V1_PERM_09],
            )
            .await?;
        }
        Version::V2 => {
            answered_with(bench, Choice::UnknownOutcome, &rules).await?;
        }
    }
    Ok(())
}

/// Answers `cancelled`, which in version 1 is only said of a turn that is cancelled.
pub(super) async fn dismissed(bench: &mut Bench) -> Result<(), Stopped> {
    let rules = [id::V1_PERM_09, id::V2_PERM_08];
    let Some((agent, course)) = answered_with(bench, Choice::Cancelled, &rules).await? else {
        return Ok(());
    };
    let Some(question) = course.asks().next() else {
        return Ok(());
    };
    let frames = [question.number, course.end];
    let saw = course.how();
    bench.judge(
        id::V1_CANCEL_12,
        course.ended("cancelled"),
        &agent,
        &frames,
        saw,
    );
    Ok(())
}

/// Asks for a change, answers the question with something that is not a yes, and judges whether it happened nevertheless.
/// None if the agent asks for nothing, or offers no such answer.
async fn answered_with(
    bench: &mut Bench,
    choice: Choice,
    rules: &[&str],
) -> Result<Option<(Agent, Course)>, Stopped> {
    let Scene {
        mut agent,
        place,
        turn,
    } = scene(bench, choice).await?;
    if !matches!(choice, Choice::Reject | Choice::Cancelled) {
        agent.recording().play_foul();
    }
    let course = turn.complete(bench, &mut agent).await?;
    let made = place.made_since().await;
    place.clear(&made).await;
    let Some(question) = course.asks().next().cloned() else {
        return Ok(None);
    };
    let params = question.params().cloned().unwrap_or_default();
    if choice == Choice::Reject && !offers(&params, "reject") {
        return Ok(None);
    }
    let id = word_of_call(&params);
    let ran = ran(&agent, &course, &id, &made);
    let frames = [question.number, ran.unwrap_or(course.end)];
    let saw = "the tool ran although it was not allowed to";
    bench.judge_all(rules, ran.is_none(), &agent, &frames, saw);
    Ok(Some((agent, course)))
}

/// Returns a frame that shows that a call ran. A file that was made counts only if nothing but this call can have made it.
fn ran(agent: &Agent, course: &Course, id: &str, made: &BTreeSet<OsString>) -> Option<usize> {
    let lives = course.calls(agent);
    let life = lives.iter().find(|life| life.id == id);
    let told = life.filter(|life| life.was("completed"));
    let is_alone = lives.iter().all(|life| life.id == id);
    match told {
        Some(life) => Some(life.last()),
        None if is_alone && !made.is_empty() => Some(course.end),
        None => None,
    }
}

fn word_of_call(params: &serde_json::Value) -> String {
    let call = params
        .get("toolCall")
        .or_else(|| params.pointer("/subject/toolCall"));
    call.and_then(|call| word(call, "toolCallId"))
        .unwrap_or_default()
}

fn ended_well(frame: &Frame, id: &str) -> bool {
    let update = frame.update();
    let is_about = |key: &str, value: &str| {
        update.is_some_and(|update| word(update, key).as_deref() == Some(value))
    };
    is_about("toolCallId", id) && is_about("status", "completed")
}
