//! What ends work early.

use serde_json::{Value, json};

use crate::agent::{Agent, Refusal};
use crate::sessions::{Held, Session, find};

/// `session/cancel`.
pub(crate) fn session(agent: &Agent, params: &Value) {
    if agent.is("answers-cancels") {
        agent.answer(&Value::Null, Ok(json!({})));
    }
    let session = params.get("sessionId").and_then(Value::as_str);
    let Some(Ok(session)) = session.map(|session| find(agent, session)) else {
        return;
    };
    if agent.is("cancels-poison-the-next-turn") {
        let mut state = session.state();
        state.is_poisoned = state.running.is_none();
    }
    if agent.is("ignores-cancels") {
        return;
    }
    if agent.is("cancels-every-session") {
        let sessions: Vec<_> = agent.state().sessions.values().cloned().collect();
        for session in sessions {
            all(agent, &session);
        }
    }
    all(agent, &session);
}

/// Ends all work of a session, also what has not begun.
pub(crate) fn all(agent: &Agent, session: &Session) {
    let held: Vec<_> = match agent.is("cancels-leave-held-prompts") {
        true => Vec::new(),
        false => session.state().held.drain(..).collect(),
    };
    for prompt in held {
        withdraw(agent, &prompt);
    }
    session.cancels.send_modify(|count| *count += 1);
}

/// Answers a prompt that was never begun.
fn withdraw(agent: &Agent, prompt: &Held) {
    if prompt.is_answered {
        return;
    }
    let answer = match agent.is_v2() {
        true => Err(Refusal::cancelled()),
        false => Ok(json!({"stopReason": "cancelled"})),
    };
    agent.answer(&prompt.id, answer);
}

/// `$/cancel_request`.
pub(crate) fn request(agent: &Agent, params: &Value) {
    let Some(id) = params.get("requestId") else {
        return;
    };
    let sessions: Vec<_> = agent.state().sessions.values().cloned().collect();
    let mut is_known = false;
    for session in sessions {
        let (held, is_running) = {
            let mut state = session.state();
            let place = state.held.iter().position(|held| held.id == *id);
            let held = place.and_then(|place| state.held.remove(place));
            (held, state.running.as_ref() == Some(id))
        };
        is_known |= held.is_some() || is_running;
        if let Some(prompt) = held
            && !agent.is("loses-withdrawn-prompts")
        {
            withdraw(agent, &prompt);
        }
        // In version 2 the request of work that runs is answered already.
        let is_served = !agent.is_v2() || agent.is("withdrawals-stop-work");
        if is_running && is_served && !agent.is("odd-deaf-to-withdrawals") {
            session.state().is_withdrawn = true;
            all(agent, &session);
        }
    }
    if !is_known && agent.is("answers-unknown-withdrawals") {
        agent.answer(id, Err(Refusal::cancelled()));
    }
}
