//! Prompts to a session that is at work.

use std::time::Duration;

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::json;

use super::plain::answered_once;
use crate::agent::bench::{Agent, Bench};
use crate::agent::turn::{
    self, Choice, Place, QUIET, Turn, is_user_message, permit, said, state, word,
};
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::id;

/// How long an accepted prompt may take to be reported once the work is over.
const REPORTED_WITHIN: Duration = Duration::from_millis(200);

/// Sends two prompts while a question of a turn is open, so that the session is at work for certain, then answers it.
pub(super) async fn more_prompts(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Hold);
    let place = Place::look(&bench.subject.cwd).await;
    let prompts = bench.subject.prompts.clone();
    let first = turn::begin(&mut agent, &session, &prompts.change).await?;
    let held = first
        .question(&mut agent, bench.subject.turn_patience)
        .await?;
    permit(&mut agent, Choice::Allow);
    let second = turn::begin(&mut agent, &session, &prompts.short).await?;
    let third = turn::begin(&mut agent, &session, &prompts.short).await?;
    let mut is_lawful = true;
    if bench.version == Version::V2 && held.is_some() {
        is_lawful = !refusal_leaves_work(bench, &mut agent, &first).await?;
    }
    if let Some(held) = held {
        agent.respond(&held.id, turn::allowed(&held.params)).await?;
    }
    let patience = bench.subject.turn_patience;
    for turn in [&first, &second, &third] {
        let ended = turn.finish(&mut agent, patience).await?;
        let frames = [turn.call.frame];
        let saw = "a prompt was sent during a turn, and one of the two got no response";
        bench.judge(
            id::V1_PROMPT_13,
            turn.answered(&agent).is_some(),
            &agent,
            &frames,
            saw,
        );
        if ended.is_none() {
            return Err(Stopped::Silent {
                method: "session/prompt".to_owned(),
                waited: patience,
            });
        }
    }
    agent.listen(REPORTED_WITHIN).await?;
    for turn in [&first, &second, &third] {
        answered_once(bench, &agent, turn);
    }
    let made = place.made_since().await;
    place.clear(&made).await;
    if bench.version == Version::V2 {
        inserted_in_order(bench, &agent, &second, &third);
    }
    if is_lawful {
        bench.give_back(agent);
    }
    Ok(())
}

/// Judges that both prompts were taken, that they are in the conversation, and in their order.
fn inserted_in_order(bench: &mut Bench, agent: &Agent, second: &Turn, third: &Turn) {
    let mut places = Vec::new();
    for turn in [second, third] {
        let Some(answer) = turn.answered(agent) else {
            continue;
        };
        let result = answer.json.as_ref().and_then(|json| json.get("result"));
        let frames = [turn.call.frame, answer.number];
        let saw = "a prompt was refused while work was running";
        bench.judge(id::V2_PROMPT_14, result.is_some(), agent, &frames, saw);
        let id = result.and_then(|result| word(result, "messageId"));
        let Some(id) = id else {
            continue;
        };
        let told = agent.seen_since(turn.call.frame, |frame| is_user_message(frame, Some(&id)));
        let saw = "a prompt was accepted but never inserted";
        bench.judge(id::V2_PROMPT_06, told.is_some(), agent, &frames, saw);
        places.extend(told.map(|frame| frame.number));
    }
    if let [earlier, later] = places[..] {
        let saw = "two prompts were inserted in the wrong order";
        bench.judge(
            id::V2_PROMPT_14,
            earlier < later,
            agent,
            &[earlier, later],
            saw,
        );
    }
}

/// Sends a prompt that must be refused, and judges that the work is not called idle for it. Returns whether it was sent.
async fn refusal_leaves_work(
    bench: &mut Bench,
    agent: &mut Agent,
    turn: &Turn,
) -> Result<bool, Stopped> {
    agent.recording().play_foul();
    let blocks = json!([said("look"), {"type": "_ply-check/unknown"}]);
    let call = turn::begin_with(agent, &turn.session, blocks).await?.call;
    agent.listen(QUIET).await?;
    let answer = agent.seen_since(call.frame, |frame| {
        frame.is_answer() && frame.id() == Some(&call.id)
    });
    let Some(answer) = answer.filter(|frame| {
        frame
            .json
            .as_ref()
            .is_some_and(|json| json.get("error").is_some())
    }) else {
        return Ok(true);
    };
    let session = Some(turn.session.as_str());
    let idle = agent.seen_since(call.frame, |frame: &Frame| {
        let is_theirs = frame.direction == Direction::ToClient && frame.session() == session;
        is_theirs && state(frame) == Some("idle")
    });
    let frames: Vec<_> = [call.frame, answer.number]
        .into_iter()
        .chain(idle.as_ref().map(|frame| frame.number))
        .collect();
    let saw = "a refused prompt made the session idle while work was running";
    bench.judge(id::V2_STATE_12, idle.is_none(), agent, &frames, saw);
    Ok(true)
}
