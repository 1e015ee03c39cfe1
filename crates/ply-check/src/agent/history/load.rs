//! Loading: the conversation comes back.

use ply_client::Direction;
use serde_json::{Value, json};

use super::super::bench::{Agent, Bench};
use super::super::judging::{QUIET, tell};
use super::super::talk::{Message, Talk, has_kind, messages, said, talk};
use crate::peer::{Answer, Stopped};
use crate::recording::Frame;
use crate::rule::id;

/// Kinds of updates that tell a conversation.
const TOLD: &[&str] = &[
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "user_message",
    "agent_message",
    "agent_thought",
    "tool_call_content_chunk",
];

/// Returns whether an update tells something of the conversation.
pub(super) fn tells(frame: &Frame, session: &str) -> bool {
    frame.direction == Direction::ToClient
        && frame.session() == Some(session)
        && frame.update_kind().is_some_and(|kind| TOLD.contains(&kind))
}

/// Judges that nothing of the conversation came after the answer that it belongs to.
pub(super) fn judge_order(
    bench: &mut Bench,
    rule: &'static str,
    agent: &Agent,
    answer: &Answer,
    heard: &[Frame],
    session: &str,
) {
    let late = heard
        .iter()
        .find(|frame| frame.number > answer.frame && tells(frame, session));
    let shown: Vec<_> = answer
        .frames()
        .into_iter()
        .chain(late.map(|frame| frame.number))
        .collect();
    let saw = "part of the conversation came after the response";
    bench.judge(rule, late.is_none(), agent, &shown, saw);
}

pub(super) async fn loading(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted_with(json!({})).await?;
    let session = agent.new_session().await?;
    let spoken = talk(&bench.subject, bench.version, &mut agent, &session).await?;
    let params = json!({"sessionId": session, "cwd": agent.cwd, "mcpServers": []});
    // Sessions may outlive the process or not; those that do are looked at in the next one.
    agent.end().await;
    let mut agent = bench.greeted_with(json!({})).await?;
    let answer = agent.ask("session/load", params.clone()).await?;
    if answer.result().is_none() {
        return loading_here(bench, agent).await;
    }
    let first = replay(bench, &mut agent, &session, &spoken, &answer).await?;
    // An agent that is killed while it rests has nothing to lose.
    drop(agent);
    let mut agent = bench.greeted_with(json!({})).await?;
    let answer = agent.ask("session/load", params).await?;
    if answer.result().is_none() {
        // What a killed process could not keep is its own affair, and a session that is not there takes no prompts.
        return Ok(());
    }
    // Ids and the places where messages are cut may be others each time.
    let second = told(&agent, &session, &answer);
    let is_kept = [true, false]
        .into_iter()
        .all(|is_users| plain(&said(&second, is_users)) == plain(&said(&first, is_users)));
    let saw = "after the agent was killed, the restored conversation is different";
    bench.judge(id::V1_LOAD_04, is_kept, &agent, &answer.frames(), saw);
    go_on(bench, &mut agent, &session).await
}

/// Loads a session that the same process has.
async fn loading_here(bench: &mut Bench, mut agent: Agent) -> Result<(), Stopped> {
    let session = agent.new_session().await?;
    let spoken = talk(&bench.subject, bench.version, &mut agent, &session).await?;
    if agent.offers("/sessionCapabilities/close") {
        agent
            .ask("session/close", json!({"sessionId": session}))
            .await?;
    }
    let params = json!({"sessionId": session, "cwd": agent.cwd, "mcpServers": []});
    let (answer, _) = agent.need("session/load", params).await?;
    replay(bench, &mut agent, &session, &spoken, &answer).await?;
    go_on(bench, &mut agent, &session).await
}

/// Returns the messages of a replay.
fn told(agent: &Agent, session: &str, answer: &Answer) -> Vec<Message> {
    let heard = agent.heard_since(answer.request);
    let replayed: Vec<_> = heard
        .into_iter()
        .filter(|frame| frame.number < answer.frame)
        .collect();
    messages(&replayed, session)
}

async fn replay(
    bench: &mut Bench,
    agent: &mut Agent,
    session: &str,
    spoken: &Talk,
    answer: &Answer,
) -> Result<Vec<Message>, Stopped> {
    let frames = answer.frames();
    let is_kept = answer
        .result()
        .is_some_and(|result| result.is_object() || result.is_null());
    bench.judge(
        id::V1_LOAD_08,
        is_kept,
        agent,
        &frames,
        tell("session/load", answer),
    );
    agent.listen(QUIET).await?;
    let heard = agent.heard_since(answer.request);
    judge_order(bench, id::V1_LOAD_05, agent, answer, &heard, session);
    // What came late is judged above; here counts that it came at all.
    let replayed = messages(&heard, session);
    let (asked, answered) = (said(&replayed, true), said(&replayed, false));
    let reply = said(&spoken.messages, false);
    let is_whole = is_whole(&(asked.clone() + &answered), &spoken.prompt, &reply);
    let saw = "the prompt or the reply is missing in the replay";
    bench.judge(id::V1_LOAD_04, is_whole, agent, &frames, saw);
    let first = replayed.first().is_none_or(|first| first.is_users);
    let is_kept = tells_again(&asked, &spoken.prompt) && tells_again(&answered, &reply) && first;
    let saw = "messages are replayed with the wrong role or in another order";
    if is_whole {
        bench.judge(id::V1_LOAD_06, is_kept, agent, &frames, saw);
    }
    let ids: Vec<_> = replayed
        .iter()
        .filter_map(|message| message.id.as_ref())
        .collect();
    if !ids.is_empty() {
        let is_kept = ids
            .iter()
            .all(|id| ids.iter().filter(|other| other == &id).count() == 1);
        let saw = "two messages of the replay have the same id";
        bench.judge(id::V1_LOAD_11, is_kept, agent, &frames, saw);
    }
    let has_notice = has_kind(&heard, session, "notice");
    bench.judge(
        id::V1_LOAD_12,
        !has_notice,
        agent,
        &frames,
        "a notice was replayed",
    );
    if spoken.has_usage {
        let is_kept = has_kind(&heard, session, "usage_update");
        let saw = "context usage was reported live, but not after loading";
        bench.judge(id::V1_LOAD_13, is_kept, agent, &frames, saw);
    }
    Ok(told(agent, session, answer))
}

/// Returns a text without its white space: where lines and messages are cut is the agent's choice.
fn plain(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns whether a replay tells what was said live. What is only for the moment, such as a warning, need not come back, so half of
/// the lines are enough.
pub(in crate::agent) fn tells_again(replayed: &str, live: &str) -> bool {
    let replayed = plain(replayed);
    let lines = live.lines().map(plain).filter(|line| !line.is_empty());
    let (found, lost): (Vec<_>, Vec<_>) = lines.partition(|line| replayed.contains(line.as_str()));
    found.len() >= lost.len()
}

/// Returns whether a replay has a prompt and its reply, whoever is said to have said them. A prompt may have the words of the reply in it.
fn is_whole(replayed: &str, prompt: &str, reply: &str) -> bool {
    let rest = plain(replayed).replacen(&plain(prompt), "", 1);
    tells_again(replayed, prompt) && tells_again(&rest, reply)
}

async fn go_on(bench: &mut Bench, agent: &mut Agent, session: &str) -> Result<(), Stopped> {
    let before = agent.recording().len();
    let went_on = talk(&bench.subject, bench.version, agent, session).await;
    let is_kept = match &went_on {
        Ok(_) => true,
        // An agent that fails for another reason may fail in every session.
        Err(Stopped::Refused { .. }) => false,
        Err(_) => return Ok(()),
    };
    let saw = went_on.err().map(|stopped| stopped.to_string());
    bench.judge(
        id::V1_LOAD_09,
        is_kept,
        agent,
        &[before],
        saw.unwrap_or_default(),
    );
    Ok(())
}

/// Returns whether an answer has members that say how the session stands.
pub(super) fn has_options(result: &Value) -> bool {
    let options = result.get("configOptions").and_then(Value::as_array);
    options.is_some_and(|options| !options.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{is_whole, tells_again};

    #[test]
    fn the_words_of_a_prompt_are_no_reply() {
        let (prompt, reply) = ("Reply with the one word: ready", "ready");
        assert!(!is_whole(prompt, prompt, reply));
        assert!(is_whole(
            "Reply with the one word: ready ready",
            prompt,
            reply
        ));
        assert!(is_whole(
            "ready\nReply with the one word: ready",
            prompt,
            reply
        ));
    }

    #[test]
    fn a_replay_may_leave_out_what_was_for_the_moment_and_cut_words_elsewhere() {
        let live = "Warning: no network.\nThe answer is 42.\nIt always was.";
        assert!(tells_again("The answer\n is 42.It always was.", live));
        assert!(tells_again("anything", ""));
        assert!(!tells_again("It always was.", live));
        assert!(!tells_again("", live));
    }
}
