//! Requests: which there are in which version.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::agent::{Agent, Answer, Refusal};
use crate::{hello, history, options, sessions, turn};

/// Serves a request. Its answer may come later.
pub(crate) fn serve(agent: &Arc<Agent>, id: &Value, method: &str, params: &Value) {
    let version = agent.state().version;
    if method == "initialize" {
        return agent.answer(id, hello::initialize(agent, params));
    }
    if version.is_none() && !(agent.is("serves-before-hello") && method == "session/new") {
        let refusal = Refusal::new(-32600, "Send `initialize` first");
        return agent.answer(id, Err(refusal));
    }
    agent.state().is_used = true;
    if let Some(refusal) = strange_members(agent, params) {
        return agent.answer(id, Err(refusal));
    }
    let is_v2 = version == Some(2);
    let has_login = agent.switches.login;
    let answer = match method {
        "authenticate" if has_login && !is_v2 => hello::login(agent, params),
        "logout" if has_login && !is_v2 => hello::logout(agent),
        "auth/login" if has_login && is_v2 => hello::login(agent, params),
        "auth/logout" if has_login && is_v2 => hello::logout(agent),
        "session/new" => return sessions::open(agent, id, params),
        "session/load" if agent.is("offers-what-is-missing") => Err(unknown(agent)),
        "session/list" if is_v2 && agent.is("offers-what-is-missing") => Err(unknown(agent)),
        "session/load" if !is_v2 || agent.is("speaks-both-versions") => {
            return history::load(agent, id, params);
        }
        "tool_call/cancel" if agent.is("speaks-both-versions") => nothing(),
        "tool_call/cancel" if is_v2 && agent.is("cancels-any-call") => nothing(),
        "session/prompt" if agent.is("has-no-prompts") => Err(unknown(agent)),
        method if method.starts_with('_') && agent.is("odd-serves-custom-methods") => nothing(),
        "auth/login" | "tool_call/cancel" | "terminal/cancel" | "authenticate" | "logout"
            if agent.is("odd-inner-errors") && !is_v2 =>
        {
            Err(Refusal::new(-32603, "Unknown extension method"))
        }
        "session/resume" => return history::resume(agent, id, params),
        "session/list" => sessions::list(agent, params),
        "session/close" => return sessions::close(agent, id, params),
        "session/delete" => sessions::delete(agent, params),
        "session/set_mode" if !is_v2 => options::set_mode(agent, params),
        "session/set_config_option" => options::set_option(agent, params),
        "session/prompt" => return turn::prompt(agent, id, params),
        _ => Err(unknown(agent)),
    };
    agent.answer(id, fitted(agent, answer));
}

fn unknown(agent: &Agent) -> Refusal {
    match agent.is("unknown-methods-are-inner-errors") {
        true => Refusal::new(-32603, "There is no such method"),
        false => Refusal::new(-32601, "There is no such method"),
    }
}

/// Returns an answer as it goes out.
pub(crate) fn fitted(agent: &Agent, answer: Answer) -> Answer {
    match answer {
        Err(refusal) if agent.is("bad-params-are-inner-errors") => {
            let code = refusal.json().get("code").and_then(Value::as_i64);
            match code == Some(-32602) {
                true => Err(Refusal::new(-32603, "Something went wrong")),
                false => Err(refusal),
            }
        }
        answer => answer,
    }
}

fn strange_members(agent: &Agent, params: &Value) -> Option<Refusal> {
    let known = [
        "sessionId",
        "cwd",
        "mcpServers",
        "additionalDirectories",
        "prompt",
        "modeId",
        "configId",
        "value",
        "type",
        "cursor",
        "replayFrom",
        "methodId",
        "_meta",
    ];
    let is_strange = |object: &serde_json::Map<String, Value>| {
        object.keys().any(|key| !known.contains(&key.as_str()))
    };
    let is_strange = params.as_object().is_some_and(is_strange);
    let has_meta = params.get("_meta").is_some_and(Value::is_object);
    let is_refused = (is_strange && agent.is("refuses-new-members"))
        || (has_meta && agent.is("refuses-new-meta"));
    is_refused.then(|| Refusal::params("The parameters have a member that is not known"))
}

/// Returns a member that must be a text.
pub(crate) fn text<'a>(params: &'a Value, key: &str) -> Result<&'a str, Refusal> {
    let text = params.get(key).and_then(Value::as_str);
    text.ok_or_else(|| Refusal::params("A member is missing or no text"))
}

/// Returns an empty result.
pub(crate) fn nothing() -> Answer {
    Ok(json!({}))
}
