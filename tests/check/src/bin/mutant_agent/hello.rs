//! The greeting, and logging in.

use serde_json::{Value, json};

use crate::agent::{Agent, Answer, Refusal};
use crate::methods::{nothing, text};

/// The way to log in that needs no terminal.
const KEY: &str = "key";

pub(crate) fn initialize(agent: &Agent, params: &Value) -> Answer {
    let asked = params.get("protocolVersion").and_then(Value::as_u64);
    let asked = asked.filter(|version| *version <= u64::from(u16::MAX));
    let asked = asked.ok_or_else(|| Refusal::params("`protocolVersion` is no version"))?;
    if asked == 0 && agent.is("fails-on-version-0") {
        return Err(Refusal::new(-32603, "Something went wrong"));
    }
    let is_again = {
        let state = agent.state();
        state.version == Some(2) && state.is_used
    };
    if is_again && !agent.is("greets-again") {
        return Err(Refusal::new(-32600, "The connection is in use"));
    }
    let version = match asked {
        0 | 1 if agent.is("swaps-versions") => 2,
        _ if agent.is("swaps-versions") => 1,
        0 | 1 if agent.is("forgets-version-1") => 2,
        0 | 1 => 1,
        _ => 2,
    };
    let has_info = params.pointer("/info/name").is_some_and(Value::is_string)
        && params
            .pointer("/info/version")
            .is_some_and(Value::is_string);
    if asked == 2 && !has_info && !agent.is("takes-anonymous-clients") {
        return Err(Refusal::params("`info` is missing"));
    }
    let key = match version {
        1 => "clientCapabilities",
        _ => "capabilities",
    };
    let client = params.get(key).cloned().unwrap_or_default();
    if agent.is("fails-on-odd-capabilities") && is_odd(&client) {
        return Err(Refusal::params("A capability cannot be read"));
    }
    {
        let mut state = agent.state();
        state.version = Some(version);
        state.client = client;
    }
    let mut hello = match version {
        1 => first(agent),
        _ => second(agent),
    };
    let told = match agent.is("echoes-any-version") {
        true => asked,
        false => u64::from(version),
    };
    if let Some(hello) = hello.as_object_mut() {
        hello.insert("protocolVersion".to_owned(), json!(told));
        if agent.switches.login {
            hello.insert("authMethods".to_owned(), ways(agent, version));
        }
        if agent.is("odd-unknown-capabilities") {
            for key in ["agentCapabilities", "capabilities"] {
                let capabilities = hello.get_mut(key).and_then(Value::as_object_mut);
                if let Some(capabilities) = capabilities {
                    capabilities.insert("telepathy".to_owned(), json!({"range": 7}));
                }
            }
        }
        if agent.is("nameless") {
            hello.remove("agentInfo");
            hello.remove("info");
        }
        if agent.is("capabilities-are-text") {
            for key in ["agentCapabilities", "capabilities"] {
                if let Some(value) = hello.get_mut(key) {
                    *value = json!("all");
                }
            }
        }
    }
    Ok(hello)
}

/// Returns whether a capability has a type that it cannot have.
fn is_odd(value: &Value) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(key, member)| key != "_meta" && is_odd(member)),
        Value::Null | Value::Bool(_) => false,
        _ => true,
    }
}

fn about() -> Value {
    json!({"name": "mutant", "title": "Mutant", "version": "1.0.0"})
}

fn first(agent: &Agent) -> Value {
    let mut sessions = json!({"list": {}, "resume": {}, "close": {}, "additionalDirectories": {}});
    if let Some(sessions) = sessions.as_object_mut() {
        if !agent.is("hides-delete") {
            sessions.insert("delete".to_owned(), json!({}));
        }
        if agent.is("markers-of-another-type") {
            sessions.insert("list".to_owned(), json!(true));
        }
    }
    let load = match agent.is("flags-are-objects") {
        true => json!({}),
        false => json!(true),
    };
    let auth = match agent.switches.login {
        true => json!({"logout": {}}),
        false => json!({}),
    };
    json!({
        "agentInfo": about(),
        "agentCapabilities": {
            "loadSession": load,
            "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
            "mcpCapabilities": {"http": true, "sse": false},
            "sessionCapabilities": sessions,
            "auth": auth,
        },
    })
}

fn second(agent: &Agent) -> Value {
    let delete = match agent.is("markers-of-another-type") {
        true => json!(true),
        false => json!({}),
    };
    json!({
        "info": about(),
        "capabilities": {
            "session": {
                "prompt": {"image": {}, "embeddedContext": {}},
                "mcp": {"stdio": {}},
                "delete": delete,
                "additionalDirectories": {},
            },
        },
    })
}

/// Returns the ways to log in, in the words of a version.
fn ways(agent: &Agent, version: u8) -> Value {
    let id = match version {
        1 => "id",
        _ => "methodId",
    };
    let one = json!({"name": "MUTANT", "value": "1"});
    let env = match (version, agent.is("terminal-logins-with-odd-variables")) {
        (1, false) => json!({"MUTANT": "1"}),
        (1, true) | (_, false) => json!([one]),
        (_, true) => json!([one, one]),
    };
    let kind = match agent.is("logins-of-its-own-type") {
        true => "stamp",
        false => "agent",
    };
    let mut ways = vec![json!({id: KEY, "type": kind, "name": "Use the key"})];
    if agent.is("logins-share-an-id") {
        ways.push(json!({id: KEY, "type": "agent", "name": "Use another key"}));
    }
    if agent.client_has("/auth/terminal") || agent.is("offers-terminal-logins-to-all") {
        ways.push(
            json!({id: "terminal", "type": "terminal", "name": "Log in", "args": ["login"], "env": env}),
        );
    }
    Value::Array(ways)
}

pub(crate) fn login(agent: &Agent, params: &Value) -> Answer {
    let way = text(params, "methodId")?;
    if way != KEY && !agent.is("any-login-will-do") {
        return Err(Refusal::params("There is no such way to log in"));
    }
    agent.state().is_logged_in = !agent.is("login-changes-nothing");
    match agent.is("login-answers-with-a-token") {
        true => Ok(json!({"token": "secret"})),
        false => nothing(),
    }
}

pub(crate) fn logout(agent: &Agent) -> Answer {
    agent.state().is_logged_in = agent.is("logout-changes-nothing");
    nothing()
}
