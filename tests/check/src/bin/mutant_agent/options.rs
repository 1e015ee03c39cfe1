//! Modes, config options and commands.

use serde_json::{Map, Value, json};

use crate::agent::{Agent, Answer, Refusal};
use crate::methods::text;
use crate::sessions::{Session, find};
use crate::store;

const MODES: [(&str, &str); 2] = [("ask", "Ask first"), ("code", "Write code")];
/// A mode that is offered and that nobody may set.
const LOCKED_MODE: &str = "unasked";
const MODELS: [(&str, &str); 2] = [("large", "Large"), ("small", "Small")];

/// Returns what the answers that open a session tell.
pub(crate) fn told(agent: &Agent, session: &Session) -> Map<String, Value> {
    let mut told = Map::new();
    if agent.is_v2() {
        told.insert("availableCommands".to_owned(), commands(agent));
    } else {
        told.insert("modes".to_owned(), modes(agent, session));
    }
    told.insert("configOptions".to_owned(), list(agent, session));
    told
}

fn modes(agent: &Agent, session: &Session) -> Value {
    let locked = agent
        .is("odd-refuses-one-mode")
        .then_some((LOCKED_MODE, "Act unasked"));
    let known = locked.into_iter().chain(MODES);
    let known: Vec<_> = known
        .map(|(id, name)| json!({"id": id, "name": name}))
        .collect();
    let current = match agent.is("modes-out-of-step") {
        true => "code".to_owned(),
        false => session.state().mode.clone(),
    };
    json!({"currentModeId": current, "availableModes": known})
}

/// Returns all options with their values.
pub(crate) fn list(agent: &Agent, session: &Session) -> Value {
    let is_v2 = agent.is_v2();
    let key = match is_v2 != agent.is("options-with-the-wrong-key") {
        true => "configId",
        false => "id",
    };
    let has_booleans =
        is_v2 || agent.client_has("/session/configOptions/boolean") || agent.is("booleans-for-all");
    let state = session.state();
    let values =
        |known: [(&str, &str); 2]| known.map(|(id, name)| json!({"value": id, "name": name}));
    let model = match agent.is("values-not-offered") {
        true => "huge",
        false => &state.model,
    };
    let category = match agent.is("categories-of-its-own") {
        true => "brain",
        false => "model",
    };
    let mut options = vec![
        json!({key: "model", "name": "Model", "category": category, "type": "select", "currentValue": model, "options": values(MODELS)}),
        json!({key: "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": state.mode, "options": values(MODES)}),
    ];
    if has_booleans {
        options.push(
            json!({key: "verbose", "name": "Say more", "type": "boolean", "currentValue": state.is_verbose}),
        );
    }
    Value::Array(options)
}

fn commands(agent: &Agent) -> Value {
    let mut greet =
        json!({"name": "greet", "description": "Says hello", "input": {"hint": "a name"}});
    let mut help = json!({"name": "help", "description": "Says what there is"});
    if agent.is_v2() {
        for command in [&mut greet, &mut help] {
            insert(command, "type", json!("command"));
        }
        if let Some(input) = greet.get_mut("input") {
            insert(input, "type", json!("text"));
        }
    }
    if agent.is("commands-without-description")
        && let Some(help) = help.as_object_mut()
    {
        help.remove("description");
    }
    if agent.is("commands-with-a-slash") {
        insert(&mut help, "name", json!("/help"));
    }
    if agent.is("inputs-without-type") {
        insert(&mut greet, "input", json!({"hint": "a name"}));
    }
    json!([greet, help])
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

/// Tells the commands where the answer that opened the session did not.
pub(crate) fn tell_commands(agent: &Agent, session: &Session) {
    if !agent.is_v2() {
        let commands = commands(agent);
        let update =
            json!({"sessionUpdate": "available_commands_update", "availableCommands": commands});
        agent.update(&session.id, &update);
        if agent.is("odd-commands-twice") {
            agent.update(&session.id, &update);
        }
    }
    if agent.is("methods-of-its-own") {
        agent.notify("mutant/hello", &json!({}));
    }
    if agent.is("sends-arrays") {
        let note = json!({"jsonrpc": "2.0", "method": "_mutant/hello", "params": {}});
        agent.send(&json!([note]));
    }
    if agent.is("takes-back-what-it-never-asked") {
        agent.notify("$/cancel_request", &json!({"requestId": 4711}));
    }
    if agent.is("odd-custom-notifications") {
        agent.notify("_mutant/hello", &json!(["any", "shape"]));
    }
}

/// Keeps a new mode and, in version 1, tells both of its forms.
fn change_mode(agent: &Agent, session: &Session, mode: &str) {
    mode.clone_into(&mut session.state().mode);
    if agent.is_v2() || agent.is("mode-changes-in-silence") {
        return;
    }
    let key = match agent.is("mode-updates-with-the-wrong-key") {
        true => "modeId",
        false => "currentModeId",
    };
    let told = match agent.is("unknown-modes-in-updates") {
        true => "no-such-mode",
        false => mode,
    };
    agent.update(
        &session.id,
        &json!({"sessionUpdate": "current_mode_update", key: told}),
    );
    let mut options = list(agent, session);
    if let (true, Some(options)) = (agent.is("partial-option-updates"), options.as_array_mut()) {
        options.truncate(1);
    }
    if let (true, Some(options)) = (
        agent.is("contradicting-option-updates"),
        options.as_array_mut(),
    ) {
        let other = MODES.iter().find(|(known, _)| *known != mode);
        for option in options.iter_mut().filter(|option| is_mode(option)) {
            insert(option, "currentValue", json!(other.map(|(id, _)| id)));
        }
    }
    agent.update(
        &session.id,
        &json!({"sessionUpdate": "config_option_update", "configOptions": options}),
    );
}

fn is_mode(option: &Value) -> bool {
    option.get("category").and_then(Value::as_str) == Some("mode")
}

pub(crate) fn set_mode(agent: &Agent, params: &Value) -> Answer {
    let mode = text(params, "modeId")?;
    let session = text(params, "sessionId").and_then(|session| find(agent, session));
    let session = match session {
        Err(_) if agent.is("takes-unknown-sessions") => return Ok(json!({})),
        session => session?,
    };
    if mode == LOCKED_MODE && agent.is("odd-refuses-one-mode") {
        return Err(Refusal::new(-32603, "Nobody trusts this directory"));
    }
    let is_known = MODES.iter().any(|(known, _)| *known == mode);
    if is_known && agent.is("refuses-its-modes") {
        return Err(Refusal::params("The mode cannot be set"));
    }
    if is_known {
        change_mode(agent, &session, mode);
    } else if !agent.is("takes-unknown-modes") {
        return Err(Refusal::params("There is no such mode"));
    }
    store::write(agent, &session);
    Ok(json!({}))
}

pub(crate) fn set_option(agent: &Agent, params: &Value) -> Answer {
    let option = text(params, "configId")?;
    let session = text(params, "sessionId").and_then(|session| find(agent, session));
    let session = match session {
        Err(_) if agent.is("takes-unknown-sessions") => return Ok(json!({"configOptions": []})),
        session => session?,
    };
    if agent.is("options-wait-for-the-turn") && session.state().running.is_some() {
        return Err(Refusal::new(-32603, "A turn is running"));
    }
    if agent.is("odd-locked-options") {
        return Err(Refusal::new(-32603, "The option is locked"));
    }
    let value = params.get("value").unwrap_or(&Value::Null);
    let kind = params
        .get("type")
        .map(|kind| kind.as_str().unwrap_or_default());
    let is_fitting = match (agent.is_v2(), kind) {
        (true, Some("id")) | (false, None) => value.is_string(),
        (_, Some("boolean")) => value.is_boolean(),
        (false, Some("id")) => value.is_string(),
        _ => false,
    };
    let is_one_of =
        |known: [(&str, &str); 2]| known.iter().any(|(id, _)| value.as_str() == Some(id));
    let chosen = value.as_str().unwrap_or_default();
    match option {
        _ if !is_fitting && !agent.is("takes-any-value") => {
            return Err(Refusal::params("The type of the value does not fit"));
        }
        "mode" if is_one_of(MODES) => change_mode(agent, &session, chosen),
        "model" if is_one_of(MODELS) => chosen.clone_into(&mut session.state().model),
        "verbose" if value.is_boolean() => {
            session.state().is_verbose = value.as_bool().unwrap_or_default();
        }
        _ if agent.is("takes-any-value") => {}
        _ => return Err(Refusal::params("There is no such option, or no such value")),
    }
    store::write(agent, &session);
    let mut options = list(agent, &session);
    if agent.is("tells-one-option")
        && let Some(options) = options.as_array_mut()
    {
        options.truncate(1);
    }
    Ok(json!({"configOptions": options}))
}
