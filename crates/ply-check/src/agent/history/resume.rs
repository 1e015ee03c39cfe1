//! Resuming: the session goes on, with a replay only where one is asked for.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::super::bench::{Agent, Bench};
use super::super::judging::{QUIET, is_not_found, tell};
use super::super::talk::{Talk, has_kind, messages, said, talk};
use super::load::{has_options, judge_order, tells};
use crate::peer::{Answer, Stopped};
use crate::recording::Frame;
use crate::rule::id;

fn params(agent: &Agent, session: &str, more: Value) -> Value {
    let mut params = json!({"sessionId": session, "cwd": agent.cwd, "mcpServers": []});
    if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
        params.extend(more);
    }
    params
}

pub(super) async fn resuming(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted_with(json!({})).await?;
    let setup = agent.setup();
    let (_, opened) = agent.need("session/new", setup).await?;
    let session = opened
        .get("sessionId")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let spoken = talk(&bench.subject, bench.version, &mut agent, &session).await?;
    agent.end().await;
    let mut agent = bench.greeted_with(json!({})).await?;
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]});
    let before = match bench.version {
        Version::V1 => None,
        Version::V2 => Some(agent.ask("session/prompt", prompt).await?),
    };
    let plain = params(&agent, &session, json!({}));
    let mut answer = agent.ask("session/resume", plain.clone()).await?;
    let mut session = session;
    let mut spoken = spoken;
    if answer.result().is_none() {
        // Sessions need not outlive the process; then the one that has it is asked.
        session = agent.new_session().await?;
        spoken = talk(&bench.subject, bench.version, &mut agent, &session).await?;
        let close = json!({"sessionId": session});
        agent.ask("session/close", close).await?;
        let plain = params(&agent, &session, json!({}));
        answer = agent.ask("session/resume", plain).await?;
    } else if let Some(before) = before {
        let is_kept = is_not_found(&before, &session);
        let saw = format!(
            "{}, for a session that was not resumed",
            tell("session/prompt", &before)
        );
        bench.judge(id::V2_SESS_09, is_kept, &agent, &before.frames(), saw);
    }
    let saw = tell("session/resume", &answer);
    bench.judge(
        id::V2_RESUME_01,
        answer.result().is_some(),
        &agent,
        &answer.frames(),
        saw,
    );
    let Some(result) = answer.result() else {
        let message = answer.error_message();
        let method = "session/resume".to_owned();
        return Err(Stopped::Refused { method, message });
    };
    let early: Vec<_> = agent
        .heard_since(answer.request)
        .into_iter()
        .filter(|frame| frame.number < answer.frame && tells(frame, &session))
        .map(|frame| frame.number)
        .collect();
    let frames = [answer.frames().to_vec(), early.clone()].concat();
    let saw = "part of the conversation was replayed";
    bench.judge_all(
        &[id::V1_RESUME_03, id::V2_RESUME_02],
        early.is_empty(),
        &agent,
        &frames,
        saw,
    );
    if has_options(&opened) {
        let heard = agent.heard_since(answer.request);
        let is_kept = has_options(result) || has_kind(&heard, &session, "config_option_update");
        let saw = "a new session has options, but the resumed one has none";
        bench.judge(id::V2_RESUME_15, is_kept, &agent, &answer.frames(), saw);
    }
    if bench.version == Version::V2 {
        state(bench, &agent, &session, &answer);
        at_rest(bench, &mut agent, &session, &answer).await?;
        replay(bench, &mut agent, &session, &spoken).await?;
        cursors(bench, &mut agent, &session).await?;
        return Ok(());
    }
    let next = agent.recording().len();
    match talk(&bench.subject, bench.version, &mut agent, &session).await {
        Ok(_) => bench.judge(id::V1_RESUME_04, true, &agent, &[next], ""),
        Err(Stopped::Refused { message, .. }) => {
            let saw = format!("a prompt was refused after resuming: {message}");
            bench.judge(id::V1_RESUME_04, false, &agent, &[next], saw);
        }
        Err(stopped) => return Err(stopped),
    }
    Ok(())
}

fn is_state(frame: &Frame, session: &str) -> bool {
    frame.session() == Some(session) && frame.update_kind() == Some("state_update")
}

/// The state comes before the answer, and after everything that is replayed.
fn state(bench: &mut Bench, agent: &Agent, session: &str, answer: &Answer) {
    let heard = agent.heard_since(answer.request);
    let before = heard.iter().filter(|frame| frame.number < answer.frame);
    let state = before.clone().rfind(|frame| is_state(frame, session));
    let told = before.clone().rfind(|frame| tells(frame, session));
    let is_last = match (state, told) {
        (Some(state), Some(told)) => state.number > told.number,
        (state, None) => state.is_some(),
        (None, Some(_)) => false,
    };
    let frames: Vec<_> = answer
        .frames()
        .into_iter()
        .chain(state.map(|frame| frame.number))
        .collect();
    let saw = "the state was not reported between the replay and the response";
    bench.judge(id::V2_RESUME_08, is_last, agent, &frames, saw);
}

/// Judges that a session which nobody has prompted since it came to rest is not told to be at work. An agent may begin something by
/// itself, but then it ends.
async fn at_rest(
    bench: &mut Bench,
    agent: &mut Agent,
    session: &str,
    answer: &Answer,
) -> Result<(), Stopped> {
    agent.listen(QUIET).await?;
    let heard = agent.heard_since(answer.request);
    let last = heard.iter().rfind(|frame| is_state(frame, session));
    let told = last.and_then(|frame| frame.update()?.get("state")?.as_str());
    let frames = [
        answer.frames().to_vec(),
        last.iter().map(|frame| frame.number).collect(),
    ];
    let is_kept = told != Some("running");
    let saw = "an idle session is reported as running";
    bench.judge(id::V2_RESUME_08, is_kept, agent, &frames.concat(), saw);
    Ok(())
}

async fn replay(
    bench: &mut Bench,
    agent: &mut Agent,
    session: &str,
    spoken: &Talk,
) -> Result<(), Stopped> {
    let from_start = params(agent, session, json!({"replayFrom": {"type": "start"}}));
    let (answer, _) = agent.need("session/resume", from_start).await?;
    agent.listen(QUIET).await?;
    let heard = agent.heard_since(answer.request);
    let frames = answer.frames();
    judge_order(bench, id::V2_RESUME_07, agent, &answer, &heard, session);
    state(bench, agent, session, &answer);
    let before: Vec<_> = heard
        .iter()
        .filter(|frame| frame.number < answer.frame)
        .cloned()
        .collect();
    let replayed = messages(&before, session);
    let reply = said(&spoken.messages, false);
    let has_prompt = said(&replayed, true).contains(&spoken.prompt);
    let is_kept = has_prompt && said(&replayed, false).contains(&reply);
    let saw = "the prompt or the reply is missing in the replay";
    bench.judge(id::V2_RESUME_03, is_kept, agent, &frames, saw);
    let is_first = replayed.first().is_some_and(|first| first.is_users);
    let saw = "the replay does not begin with the first message";
    bench.judge(
        id::V2_RESUME_04,
        has_prompt && is_first,
        agent,
        &frames,
        saw,
    );
    let mut live = spoken
        .messages
        .iter()
        .filter(|message| message.id.is_some());
    let is_kept = live.all(|message| {
        let mut replayed = replayed.iter();
        replayed.any(|again| again.id == message.id && again.is_users == message.is_users)
    });
    let saw = "a message has another id in the replay than it had live";
    bench.judge(id::V2_RESUME_06, is_kept, agent, &frames, saw);
    let has_notice = has_kind(&before, session, "notice");
    bench.judge(
        id::V2_RESUME_13,
        !has_notice,
        agent,
        &frames,
        "a notice was replayed",
    );
    Ok(())
}

async fn cursors(bench: &mut Bench, agent: &mut Agent, session: &str) -> Result<(), Stopped> {
    for cursor in [json!({"type": "_ply_check"}), json!({}), json!("start")] {
        let strange = params(agent, session, json!({"replayFrom": cursor}));
        let answer = agent.ask("session/resume", strange).await?;
        let is_kept = answer.error_code() == Some(-32602);
        let saw = format!(
            "{}, with the cursor {cursor}",
            tell("session/resume", &answer)
        );
        bench.judge_all(
            &[id::V2_RESUME_05, id::V2_ERR_02],
            is_kept,
            agent,
            &answer.frames(),
            saw,
        );
    }
    Ok(())
}
