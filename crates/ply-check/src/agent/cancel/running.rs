//! A cancel of work, and of none.

use std::time::Duration;

use ply_wire::negotiate::Version;
use serde_json::json;

use crate::agent::bench::{Agent, Bench};
use crate::agent::turn::{
    self, Choice, Course, QUIET, STOP_PATIENCE, STOP_TIME_MAX, Turn, is_of_turn, permit, state,
};
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::id;

/// How long a session that was not cancelled is watched.
const UNHARMED_FOR: Duration = Duration::from_millis(400);

/// Starts something long, cancels it, and prompts again.
pub(super) async fn in_the_middle(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let long = bench.subject.prompts.long.clone();
    let turn = turn::begin(&mut agent, &session, &long).await?;
    turn.under_way(&mut agent, bench.subject.turn_patience)
        .await?;
    let open = open_calls(&agent, &turn);
    let cancel = agent
        .notify("session/cancel", json!({"sessionId": session}))
        .await?;
    let Some(course) = ended(bench, &mut agent, &turn, cancel).await? else {
        return Ok(());
    };
    for life in course.calls(&agent) {
        // One that ends by itself at that moment has a right to its own status.
        if open.contains(&life.id) && life.status() == "failed" {
            let saw = "a call that a cancel interrupted is `failed`";
            bench.judge(id::V2_TOOL_10, false, &agent, &[cancel, life.last()], saw);
        }
    }
    let heard = agent.listen(QUIET).await?;
    quiet_after(bench, &agent, &course, &heard);
    let stray = agent.seen_since(cancel, |frame| is_stray(frame, &turn));
    let frames: Vec<_> = [cancel]
        .into_iter()
        .chain(stray.as_ref().map(|frame| frame.number))
        .collect();
    let saw = "the agent sent a response that matches no request";
    bench.judge(id::V1_CANCEL_09, stray.is_none(), &agent, &frames, saw);
    let short = bench.subject.prompts.short.clone();
    let next = turn::run(bench, &mut agent, &session, &short).await?;
    let saw = format!("the next turn failed: {}", next.how());
    let is_kept = next.stop.is_some() && !next.ended("cancelled");
    bench.judge(
        id::V1_CANCEL_10,
        is_kept,
        &agent,
        &[cancel, next.prompt, next.end],
        saw,
    );
    bench.give_back(agent);
    Ok(())
}

/// Cancels an idle session and one that does not exist, and prompts.
pub(super) async fn while_idle(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    // The session may still be reported as idle once more, whatever is cancelled.
    agent.listen(QUIET).await?;
    let first = agent
        .notify("session/cancel", json!({"sessionId": session}))
        .await?;
    let unknown = json!({"sessionId": "ply-check-unknown"});
    let second = agent.notify("session/cancel", unknown).await?;
    let heard = agent.listen(QUIET).await?;
    let answer = heard.iter().find(|frame| frame.is_answer());
    let frames: Vec<_> = [first, second]
        .into_iter()
        .chain(answer.map(|frame| frame.number))
        .collect();
    let saw = "`session/cancel` got a response";
    bench.judge_all(
        &[id::V1_CANCEL_09, id::V2_CANCEL_14],
        answer.is_none(),
        &agent,
        &frames,
        saw,
    );
    let idle = heard.iter().find(|frame| {
        let stop = frame.update().and_then(|update| update.get("stopReason"));
        state(frame) == Some("idle") && stop.is_some_and(|stop| stop == "cancelled")
    });
    let frames: Vec<_> = [first]
        .into_iter()
        .chain(idle.map(|frame| frame.number))
        .collect();
    let saw = "an idle session was reported as cancelled";
    bench.judge(id::V2_CANCEL_06, idle.is_none(), &agent, &frames, saw);
    let short = bench.subject.prompts.short.clone();
    let course = turn::run(bench, &mut agent, &session, &short).await?;
    let is_kept = course.stop.is_some() && !course.ended("cancelled");
    let saw = format!("after a cancel of nothing, {}", course.how());
    let frames = [first, second, course.prompt, course.end];
    bench.judge_all(
        &[id::V1_CANCEL_11, id::V2_CANCEL_14],
        is_kept,
        &agent,
        &frames,
        &saw,
    );
    bench.give_back(agent);
    Ok(())
}

/// Starts something long in two sessions and cancels one.
pub(super) async fn one_of_two(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, first) = bench.session().await?;
    let second = agent.new_session().await?;
    permit(&mut agent, Choice::Allow);
    let long = bench.subject.prompts.long.clone();
    let one = turn::begin(&mut agent, &first, &long).await?;
    let two = turn::begin(&mut agent, &second, &long).await?;
    one.under_way(&mut agent, bench.subject.turn_patience)
        .await?;
    two.under_way(&mut agent, bench.subject.turn_patience)
        .await?;
    let cancel = agent
        .notify("session/cancel", json!({"sessionId": first}))
        .await?;
    let stopped = one.finish(&mut agent, STOP_PATIENCE).await?;
    agent.listen(UNHARMED_FOR).await?;
    let other = two.course(&agent);
    let is_kept = other.as_ref().is_none_or(|other| !other.ended("cancelled"));
    let end = other.as_ref().map_or(cancel, |other| other.end);
    let saw = "a cancel for one session ended the turn of another";
    bench.judge(
        id::V1_CANCEL_13,
        is_kept,
        &agent,
        &[two.call.frame, cancel, end],
        saw,
    );
    agent
        .notify("session/cancel", json!({"sessionId": second}))
        .await?;
    two.finish(&mut agent, STOP_PATIENCE).await?;
    if stopped.is_some() {
        bench.give_back(agent);
    }
    Ok(())
}

/// Waits for the end of a cancelled turn, and judges how it came; none if it never does.
pub(super) async fn ended(
    bench: &mut Bench,
    agent: &mut Agent,
    turn: &Turn,
    cancel: usize,
) -> Result<Option<Course>, Stopped> {
    let course = turn.finish(agent, STOP_PATIENCE).await?;
    let frames = [turn.call.frame, cancel];
    let Some(course) = course else {
        let saw = format!(
            "the turn did not end within {} s of the cancel",
            STOP_PATIENCE.as_secs()
        );
        let rules = [
            id::V1_CANCEL_04,
            id::V1_CANCEL_05,
            id::V1_STOP_07,
            id::V2_CANCEL_05,
            id::V2_CANCEL_06,
        ];
        bench.judge_all(&rules, false, agent, &frames, &saw);
        return Ok(None);
    };
    let frames = [turn.call.frame, cancel, course.end];
    let took = agent.recording().with_frames(|frames| {
        let at = |frame: usize| frames.get(frame).map(|frame| frame.at);
        at(course.end)
            .unwrap_or_default()
            .saturating_sub(at(cancel).unwrap_or_default())
    });
    let saw = format!("the turn ended {} ms after the cancel", took.as_millis());
    bench.judge_all(
        &[id::V1_CANCEL_04, id::V2_CANCEL_05],
        took <= STOP_TIME_MAX,
        agent,
        &frames,
        &saw,
    );
    let is_error = match course.version {
        Version::V1 => course.answer.is_error(),
        Version::V2 => course.ended("error"),
    };
    let how = course.how();
    let is_cancelled = course.ended("cancelled");
    let rules = [id::V1_CANCEL_05, id::V1_STOP_07, id::V2_CANCEL_06];
    bench.judge_all(&rules, is_cancelled, agent, &frames, &how);
    bench.judge_all(
        &[id::V1_CANCEL_06, id::V2_CANCEL_07],
        !is_error,
        agent,
        &frames,
        &how,
    );
    Ok(Some(course))
}

/// Judges that nothing of a turn came after its end.
pub(super) fn quiet_after(bench: &mut Bench, agent: &Agent, course: &Course, heard: &[Frame]) {
    let is_late =
        |frame: &&Frame| is_of_turn(frame) && frame.session() == Some(course.session.as_str());
    let late = heard.iter().find(is_late);
    let frames: Vec<_> = course
        .ends()
        .into_iter()
        .chain(late.map(|frame| frame.number))
        .collect();
    let saw = "an update of the turn came after its end";
    bench.judge_all(
        &[id::V1_CANCEL_07, id::V2_CANCEL_08],
        late.is_none(),
        agent,
        &frames,
        saw,
    );
}

/// Returns the ids of the calls of a turn that are not over.
fn open_calls(agent: &Agent, turn: &Turn) -> Vec<String> {
    let lives = turn::lives(agent, &turn.session, agent.recording().len());
    let open = lives.into_iter().filter(|life| !life.is_final());
    open.map(|life| life.id).collect()
}

/// Returns whether an answer of the agent is for no request of ours in this turn.
fn is_stray(frame: &Frame, turn: &Turn) -> bool {
    let is_theirs = frame.direction == ply_client::Direction::ToClient;
    is_theirs && frame.is_answer() && frame.id() != Some(&turn.call.id)
}
