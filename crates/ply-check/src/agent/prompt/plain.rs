//! Prompts to a session that does nothing else.

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use crate::agent::bench::{Agent, Bench};
use crate::agent::hearing::Wish;
use crate::agent::judging::is_refused;
use crate::agent::turn::{
    self, Choice, Course, QUIET, Turn, is_of_turn, is_user_message, new_user_message, permit, said,
    state, word,
};
use crate::peer::{Answer, Stopped};
use crate::recording::Frame;
use crate::rule::id;

/// A prompt that gets a short answer, and silence after it.
pub(super) async fn short(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let text = bench.subject.prompts.short.clone();
    let turn = turn::begin(&mut agent, &session, &text).await?;
    let Some(course) = turn.finish(&mut agent, bench.subject.turn_patience).await? else {
        agent.hearing.miss(Wish::Turn);
        return unending(bench, &agent, &turn);
    };
    let heard = agent.listen(QUIET).await?;
    let frames = course.ends();
    let how = course.how();
    // An answer without a stop reason is another rule's business, and a model that fails is nobody's.
    if course.answer.error_code().is_none_or(|code| code == -32602) {
        let is_taken = course.answer.error_code().is_none();
        bench.judge(id::V1_CONTENT_02, is_taken, &agent, &frames, how.clone());
    }
    // A model may decline or meet a limit even here, which is no fault of the agent.
    if course.ended("end_turn") || course.ended("cancelled") {
        bench.judge(
            id::V1_STOP_02,
            course.ended("end_turn"),
            &agent,
            &frames,
            how,
        );
    }
    spoken(bench, &agent, &course);
    let late = heard.iter().find(|frame| is_of_turn(frame));
    let shown: Vec<_> = frames
        .into_iter()
        .chain(late.map(|frame| frame.number))
        .collect();
    let saw = "an update of the turn came after the prompt response";
    bench.judge(id::V1_PROMPT_10, late.is_none(), &agent, &shown, saw);
    answered_once(bench, &agent, &turn);
    if bench.version == Version::V2 {
        accepted(bench, &agent, &course);
        let again = turn::run(bench, &mut agent, &session, &text).await?;
        let id = |course: &Course| word(course.answer.result()?, "messageId");
        let is_new = id(&again).is_none() || id(&again) != id(&course);
        let frames = [course.answer.frame, again.answer.frame];
        let saw = "two prompts became one message";
        bench.judge(id::V2_PROMPT_09, is_new, &agent, &frames, saw);
    }
    bench.give_back(agent);
    Ok(())
}

/// Judges a turn of which no end came. A model may be slow, but one that has spoken and fallen silent is done.
fn unending(bench: &mut Bench, agent: &Agent, turn: &Turn) -> Result<(), Stopped> {
    let waited = bench.subject.turn_patience;
    let is_spoken = agent.seen_since(turn.call.frame, is_of_turn).is_some();
    if is_spoken {
        let saw = format!("no end of the turn came within {} s", waited.as_secs());
        let frames = [turn.call.frame];
        bench.judge_all(
            &[id::V1_PROMPT_06, id::V2_STATE_02],
            false,
            agent,
            &frames,
            &saw,
        );
    }
    Err(Stopped::Silent {
        method: turn.call.method.clone(),
        waited,
    })
}

/// Judges that what was said came during the turn: words that come only after it are the same words too late.
fn spoken(bench: &mut Bench, agent: &Agent, course: &Course) {
    let is_word = |kind: &str| kind.starts_with("agent_message");
    let is_said = course
        .updates()
        .any(|(_, update)| word(update, "sessionUpdate").is_some_and(|kind| is_word(&kind)));
    let late = agent.seen_since(course.end, |frame| frame.update_kind().is_some_and(is_word));
    if is_said || late.is_some() {
        let frames: Vec<_> = course
            .ends()
            .into_iter()
            .chain(late.map(|frame| frame.number))
            .collect();
        let saw = "the model's output came only after the turn";
        bench.judge(id::V1_PROMPT_03, is_said, agent, &frames, saw);
    }
}

/// Judges that the prompt has one answer by now.
pub(super) fn answered_once(bench: &mut Bench, agent: &Agent, turn: &Turn) {
    let answers: Vec<_> = agent.recording().with_frames(|frames| {
        let later = frames.iter().skip(turn.call.frame);
        let fits = |frame: &&Frame| {
            let is_theirs = frame.direction == Direction::ToClient;
            is_theirs && frame.is_answer() && frame.id() == Some(&turn.call.id)
        };
        later.filter(fits).map(|frame| frame.number).collect()
    });
    let saw = format!("the prompt got {} responses", answers.len());
    bench.judge(id::V1_PROMPT_07, answers.len() == 1, agent, &answers, saw);
}

/// Judges what version 2 says of an accepted prompt.
fn accepted(bench: &mut Bench, agent: &Agent, course: &Course) {
    let Some(result) = course.answer.result() else {
        return;
    };
    let id = word(result, "messageId");
    let frames = course.answer.frames();
    let saw = "the response has no `messageId`";
    bench.judge(id::V2_PROMPT_07, id.is_some(), agent, &frames, saw);
    let is_early = course.answer.frame < course.end;
    let saw = "the prompt response came only after the work";
    bench.judge(
        id::V2_PROMPT_05,
        is_early,
        agent,
        &[course.prompt, course.end, course.answer.frame],
        saw,
    );
    let session = Some(course.session.as_str());
    // One whole message may come in chunks; two whole ones are one too many.
    let told: Vec<_> = course
        .frames
        .iter()
        .filter(|frame| frame.session() == session && is_user_message(frame, None))
        .collect();
    let is_ours = |frame: &&&Frame| is_user_message(frame, id.as_deref());
    let others = told.iter().filter(|frame| !is_ours(frame)).count();
    let shown: Vec<_> = frames
        .into_iter()
        .chain(told.iter().map(|frame| frame.number))
        .collect();
    let saw = match told.is_empty() {
        true => "the accepted prompt was not reported as a user message",
        false => "the accepted prompt was reported under another id",
    };
    let is_kept = others == 0 && told.iter().any(|frame| is_ours(&frame));
    bench.judge(id::V2_PROMPT_09, is_kept, agent, &shown, saw);
    // The id may only be wrong in the answer.
    if id.is_some() && !told.is_empty() {
        let saw = "the response has another id than the reported message";
        bench.judge(id::V2_PROMPT_07, is_kept, agent, &shown, saw);
    }
}

/// Prompts that must be refused: for no session, and with a block that does not exist.
pub(super) async fn impossible(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    agent.recording().play_foul();
    let text = bench.subject.prompts.short.clone();
    let params = json!({"sessionId": "ply-check-unknown", "prompt": [said(&text)]});
    let answer = agent.ask("session/prompt", params).await?;
    let is_refused = is_refused(&answer);
    let saw = "a prompt for an unknown session was accepted";
    bench.judge(id::V1_PROMPT_14, is_refused, &agent, &answer.frames(), saw);
    if bench.version == Version::V1 {
        return Ok(());
    }
    if is_refused {
        not_reported(bench, &mut agent, &answer).await?;
    }
    // An empty prompt may be refused, too.
    let unknown = json!([{"type": "_ply-check/unknown"}]);
    for blocks in [unknown, json!([])] {
        let params = json!({"sessionId": session, "prompt": blocks});
        let answer = agent.ask("session/prompt", params).await?;
        if answer.is_error() {
            not_reported(bench, &mut agent, &answer).await?;
        }
    }
    Ok(())
}

async fn not_reported(
    bench: &mut Bench,
    agent: &mut Agent,
    refusal: &Answer,
) -> Result<(), Stopped> {
    agent.listen(QUIET).await?;
    let told = new_user_message(agent, refusal.request);
    let frames: Vec<_> = refusal
        .frames()
        .into_iter()
        .chain(told.as_ref().map(|frame| frame.number))
        .collect();
    let saw = "a prompt was refused and reported as a user message";
    bench.judge(id::V2_PROMPT_12, told.is_none(), agent, &frames, saw);
    Ok(())
}

/// Runs a command that only helps, if there is one.
pub(super) async fn command(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let setup = agent.setup();
    let (_, result) = agent.need("session/new", setup).await?;
    let Some(session) = word(&result, "sessionId") else {
        return Ok(());
    };
    permit(&mut agent, Choice::Allow);
    agent.listen(QUIET).await?;
    let told = agent.seen_since(0, |frame| {
        frame.update_kind() == Some("available_commands_update")
    });
    let told = told
        .and_then(|frame| frame.update().cloned())
        .unwrap_or_default();
    let mut commands = [&result, &told]
        .into_iter()
        .filter_map(|holder| holder.get("availableCommands"));
    let names_help = |list: &Value| {
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter()
            .any(|command| word(command, "name").as_deref() == Some("help"))
    };
    if !commands.any(names_help) {
        bench.give_back(agent);
        return Ok(());
    }
    let course = turn::run(bench, &mut agent, &session, "/help").await?;
    let ran = course
        .frames
        .iter()
        .any(|frame| state(frame) == Some("running"));
    let saw = "a command reported no start and end of its work";
    bench.judge(
        id::V2_PROMPT_21,
        ran && course.stop.is_some(),
        &agent,
        &course.ends(),
        saw,
    );
    bench.give_back(agent);
    Ok(())
}
