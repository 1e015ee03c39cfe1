//! Sessions that come back: loading and resuming.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::agent::{Agent, Answer, Refusal};
use crate::methods::{fitted, text};
use crate::sessions::{Session, gate, recall};
use crate::voice::Moment;
use crate::{options, setup, turn, voice};

/// Returns the session that a request wants back, with its setup read.
fn wanted(agent: &Agent, params: &Value, kind: setup::Kind) -> Result<Arc<Session>, Refusal> {
    gate(agent)?;
    let session = text(params, "sessionId")?;
    setup::read(agent, params, kind)?;
    recall(agent, session)
}

/// Loads a session: its conversation comes before the answer.
pub(crate) fn load(agent: &Arc<Agent>, id: &Value, params: &Value) {
    let found = match agent.is("odd-forgets-sessions") {
        true => Err(Refusal::new(-32002, "There is no such session")),
        false => wanted(agent, params, setup::Kind::Load),
    };
    let session = match found {
        Ok(session) => session,
        Err(_) if agent.is("loads-unknown-sessions") => return agent.answer(id, Ok(json!({}))),
        Err(refusal) => return agent.answer(id, fitted(agent, Err(refusal))),
    };
    let answer = match agent.is("load-answers-text") {
        true => json!("loaded"),
        false => Value::Object(options::told(agent, &session)),
    };
    come_back(agent, &session, id, answer, true);
}

/// Resumes a session: its conversation comes only if version 2 asks for it.
pub(crate) fn resume(agent: &Arc<Agent>, id: &Value, params: &Value) {
    if agent.is("resumes-nothing") {
        return agent.answer(id, Err(Refusal::new(-32603, "Something went wrong")));
    }
    let resumed = wanted(agent, params, setup::Kind::Resume)
        .and_then(|session| Ok((session, wants_replay(agent, params)?)));
    let (session, wants_replay) = match resumed {
        Ok(resumed) => resumed,
        Err(refusal) => return agent.answer(id, fitted(agent, Err(refusal))),
    };
    let wants_replay = wants_replay || agent.is("resume-always-replays");
    let answer = Value::Object(options::told(agent, &session));
    come_back(agent, &session, id, answer, wants_replay);
}

fn wants_replay(agent: &Agent, params: &Value) -> Result<bool, Refusal> {
    let cursor = params.get("replayFrom").filter(|_| agent.is_v2());
    let kind = cursor.and_then(|cursor| cursor.get("type"));
    match (cursor, kind.and_then(Value::as_str)) {
        (None | Some(Value::Null), _) => Ok(false),
        (_, Some("start")) => Ok(true),
        _ if agent.is("replays-from-anywhere") => Ok(true),
        _ => Err(Refusal::params("There is no such place to replay from")),
    }
}

fn come_back(agent: &Agent, session: &Session, id: &Value, answer: Value, wants_replay: bool) {
    session.state().is_open = !agent.is("loaded-sessions-are-deaf");
    let wants_replay = wants_replay && !agent.is("replays-nothing");
    let is_late = agent.is("replays-after-the-answer");
    if wants_replay && !is_late {
        replay(agent, session);
    }
    turn::tell_usage(agent, session);
    if agent.is_v2() && !agent.is("resumes-without-state") {
        let is_running = session.state().running.is_some() || agent.is("resumes-as-running");
        let state = match is_running {
            true => "running",
            false => "idle",
        };
        agent.update(
            &session.id,
            &json!({"sessionUpdate": "state_update", "state": state}),
        );
    }
    let answered: Answer = match agent.is("odd-load-answers-null") && !agent.is_v2() {
        true => Ok(Value::Null),
        false => Ok(answer),
    };
    agent.answer(id, answered);
    if wants_replay && is_late {
        replay(agent, session);
    }
    options::tell_commands(agent, session);
}

fn replay(agent: &Agent, session: &Session) {
    let history = session.state().history.clone();
    let skipped = usize::from(agent.is("replays-without-the-first"));
    let is_told = |item: &Value| {
        !agent.is("replays-prompts-only") || item.get("kind") == Some(&json!("user"))
    };
    for mut item in history.into_iter().skip(skipped).filter(is_told) {
        swap_roles(agent, &mut item);
        if agent.is("replays-with-other-ids") {
            let id = match agent.is_v2() {
                true => session.new_id("again"),
                false => "one".to_owned(),
            };
            if let Some(item) = item.as_object_mut()
                && item.contains_key("id")
            {
                item.insert("id".to_owned(), json!(id));
            }
        }
        renamed(agent, session, &mut item);
        for update in voice::render(agent, &item, Moment::Replay) {
            agent.update(&session.id, &update);
        }
    }
}

/// Gives what is replayed in version 1 other ids or titles than it had live, which nothing forbids.
fn renamed(agent: &Agent, session: &Session, item: &mut Value) {
    if agent.is_v2() {
        return;
    }
    if agent.is("odd-new-ids-in-replays") {
        if item.get("id").is_some_and(Value::is_string)
            && let Some(item) = item.as_object_mut()
        {
            item.insert("id".to_owned(), json!(session.new_id("again")));
        }
        // All reports of one call have one id.
        if let Some(id) = item.pointer_mut("/fields/toolCallId") {
            *id = json!(format!("again-{}", id.as_str().unwrap_or_default()));
        }
    }
    if agent.is("odd-new-titles-in-replays")
        && let Some(title) = item.pointer_mut("/fields/title")
    {
        *title = json!("Something was done");
    }
}

fn swap_roles(agent: &Agent, item: &mut Value) {
    if !agent.is("replays-with-swapped-roles") || item.get("kind") != Some(&json!("user")) {
        return;
    }
    let words = item.pointer("/blocks/0/text").cloned();
    let id = item.get("id").cloned();
    *item = json!({"kind": "say", "id": id, "text": words});
}
