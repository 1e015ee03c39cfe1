//! Sessions that outlive the process: a file each.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::sessions::{Session, State};

fn path(agent: &Agent, id: &str) -> Option<PathBuf> {
    // Ids come from clients too, and must not lead elsewhere.
    let is_plain = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let store = agent.switches.store.as_ref().filter(|_| is_plain)?;
    Some(store.join(format!("{id}.json")))
}

/// Writes a session as it stands.
pub(crate) fn write(agent: &Agent, session: &Session) {
    let Some(path) = path(agent, &session.id) else {
        return;
    };
    let state = session.state();
    let kept = json!({
        "cwd": session.cwd,
        "mode": state.mode,
        "model": state.model,
        "verbose": state.is_verbose,
        "title": state.title,
        "ids": state.ids,
        "history": state.history,
    });
    // A reader sees the old file or the new one. A store that fails costs only what it would have kept.
    let fresh = path.with_extension("new");
    if std::fs::write(&fresh, kept.to_string()).is_ok() {
        drop(std::fs::rename(&fresh, &path));
    }
}

/// Reads a session that nobody has open.
pub(crate) fn read(agent: &Agent, id: &str) -> Option<Session> {
    let text = std::fs::read(path(agent, id)?).ok()?;
    let kept: Value = serde_json::from_slice(&text).ok()?;
    let text = |key: &str| kept.get(key).and_then(Value::as_str).map(str::to_owned);
    let ids = kept.get("ids").and_then(Value::as_u64);
    let state = State {
        mode: text("mode")?,
        model: text("model")?,
        is_verbose: kept.get("verbose") == Some(&json!(true)),
        title: text("title"),
        ids: usize::try_from(ids?).ok()?,
        history: kept.get("history")?.as_array()?.clone(),
        ..State::default()
    };
    Some(Session::new(
        id.to_owned(),
        PathBuf::from(text("cwd")?),
        state,
    ))
}

pub(crate) fn has(agent: &Agent, id: &str) -> bool {
    path(agent, id).is_some_and(|path| path.exists())
}

pub(crate) fn remove(agent: &Agent, id: &str) {
    if let Some(path) = path(agent, id) {
        // It may never have been written.
        drop(std::fs::remove_file(path));
    }
}

/// Returns the ids of all that are kept.
pub(crate) fn names(agent: &Agent) -> Vec<String> {
    let files = agent.switches.store.as_ref().map(std::fs::read_dir);
    let files = files.and_then(Result::ok).into_iter().flatten();
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    names
        .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()))
        .collect()
}
