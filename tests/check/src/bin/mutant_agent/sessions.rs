//! Sessions: what they hold, how they begin and end, and the list of them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::agent::{Agent, Answer, Refusal};
use crate::methods::{fitted, nothing, text};
use crate::{cancel, options, setup, store};

/// Entries of a page of the list.
const PAGE_ENTRIES: usize = 50;
/// Entries that were listed, which only an agent with a fault counts.
static LISTED: AtomicUsize = AtomicUsize::new(0);
/// What comes before the last id of a page in a cursor.
const CURSOR: &str = "after ";

/// A prompt that waits for its turn.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) id: Value,
    pub(crate) blocks: Vec<Value>,
    /// Whether it was answered already, which only an agent with a fault does.
    pub(crate) is_answered: bool,
}

/// What changes in a session.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) is_open: bool,
    pub(crate) mode: String,
    pub(crate) model: String,
    pub(crate) is_verbose: bool,
    pub(crate) title: Option<String>,
    /// The conversation, in words of no version; see `voice`.
    pub(crate) history: Vec<Value>,
    /// Ids that were given out.
    pub(crate) ids: usize,
    /// The request whose turn runs, if one does.
    pub(crate) running: Option<Value>,
    pub(crate) held: VecDeque<Held>,
    /// What is told when the turn is over, which only an agent with a fault has.
    pub(crate) late: Vec<Value>,
    /// Whether the next turn counts as cancelled, which only an agent with a fault does.
    pub(crate) is_poisoned: bool,
    /// Items of the conversation when it was last listed, and one more.
    pub(crate) listed: usize,
    /// Whether the request of the turn was withdrawn.
    pub(crate) is_withdrawn: bool,
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) cwd: PathBuf,
    state: Mutex<State>,
    /// Cancels, counted.
    pub(crate) cancels: watch::Sender<u64>,
    /// Whether a turn runs.
    pub(crate) busy: watch::Sender<bool>,
}

impl Session {
    pub(crate) fn new(id: String, cwd: PathBuf, state: State) -> Self {
        Self {
            id,
            cwd,
            state: Mutex::new(state),
            cancels: watch::Sender::new(0),
            busy: watch::Sender::new(false),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("nothing panics while it holds the lock")
    }

    /// Makes an id that no other thing of the session has.
    pub(crate) fn new_id(&self, what: &str) -> String {
        let mut state = self.state();
        state.ids += 1;
        format!("{what}-{}", state.ids)
    }
}

/// Returns a session that is open.
pub(crate) fn find(agent: &Agent, id: &str) -> Result<Arc<Session>, Refusal> {
    let session = agent.state().sessions.get(id).cloned();
    let session = session.filter(|session| session.state().is_open);
    session.ok_or_else(|| Refusal::unknown_session(agent, id))
}

/// Returns a session that was open at some time, here or in another process.
pub(crate) fn recall(agent: &Agent, id: &str) -> Result<Arc<Session>, Refusal> {
    let known = agent.state().sessions.get(id).cloned();
    if let Some(session) = known {
        return Ok(session);
    }
    let session = store::read(agent, id).map(Arc::new);
    let session = session.ok_or_else(|| Refusal::unknown_session(agent, id))?;
    let mut state = agent.state();
    state.sessions.insert(id.to_owned(), Arc::clone(&session));
    Ok(session)
}

/// Refuses whoever has not logged in.
pub(crate) fn gate(agent: &Agent) -> Result<(), Refusal> {
    match agent.state().is_logged_in {
        true => Ok(()),
        false => Err(Refusal::new(-32000, "Log in first")),
    }
}

/// Makes a session.
pub(crate) fn open(agent: &Arc<Agent>, id: &Value, params: &Value) {
    let opened = gate(agent).and_then(|()| setup::read(agent, params, setup::Kind::New));
    let cwd = match opened {
        Ok(cwd) => cwd,
        Err(refusal) => return agent.answer(id, fitted(agent, Err(refusal))),
    };
    let number = {
        let mut state = agent.state();
        state.sessions_made += 1;
        match agent.is("session-ids-repeat") {
            true => state.sessions_made.min(2),
            false => state.sessions_made,
        }
    };
    // The process makes it one that no other process gives out.
    let process = match agent.is("session-ids-repeat-in-processes") {
        true => 0,
        false => std::process::id(),
    };
    let name = format!("mutant-{process}-{number:06}");
    let state = State {
        is_open: true,
        mode: "ask".to_owned(),
        model: "large".to_owned(),
        ..State::default()
    };
    let session = Arc::new(Session::new(name.clone(), cwd, state));
    store::write(agent, &session);
    let kept = Arc::clone(&session);
    agent.state().sessions.insert(name.clone(), kept);
    let mut answer = json!({"sessionId": name});
    if let Some(answer) = answer.as_object_mut() {
        answer.extend(options::told(agent, &session));
        if agent.is("snake-case-members") {
            answer.insert("created_at".to_owned(), json!("2026-01-01T00:00:00Z"));
        }
        if agent.is("members-of-its-own") {
            answer.insert("mutant".to_owned(), json!(true));
        }
        if agent.is("options-are-null") {
            answer.insert("configOptions".to_owned(), Value::Null);
        }
    }
    if agent.is("noise-on-stdout") {
        agent.write("mutant: a session begins\n");
    }
    if agent.is("updates-before-the-session") {
        options::tell_commands(agent, &session);
    }
    agent.answer(id, Ok(answer));
    options::tell_commands(agent, &session);
}

/// Closes a session: its work ends first.
pub(crate) fn close(agent: &Arc<Agent>, id: &Value, params: &Value) {
    let session = text(params, "sessionId").and_then(|name| find(agent, name));
    let session = match session {
        Ok(session) => session,
        Err(refusal) => {
            let is_fine = agent.is_v2() && !agent.is("close-fails-twice");
            let is_unknown = params.get("sessionId").is_some_and(Value::is_string);
            let answer = match is_fine && is_unknown {
                true => nothing(),
                false => Err(refusal),
            };
            return agent.answer(id, fitted(agent, answer));
        }
    };
    session.state().is_open = false;
    if agent.is("close-loses-prompts") {
        session.state().held.clear();
    }
    if !agent.is("close-leaves-the-turn") {
        cancel::all(agent, &session);
    }
    let (agent, id) = (Arc::clone(agent), id.clone());
    tokio::spawn(async move {
        let mut busy = session.busy.subscribe();
        if !agent.is("close-leaves-the-turn") {
            // The sender lives in the session, which is held here.
            drop(busy.wait_for(|is_busy| !is_busy).await);
        }
        let answer = match agent.is("close-answers-null") {
            true => Value::Null,
            false => json!({}),
        };
        if agent.is("close-is-not-answered") {
            return;
        }
        agent.answer(&id, Ok(answer));
        if agent.is("talks-after-close") {
            options::tell_commands(&agent, &session);
            agent.update(
                &session.id,
                &json!({"sessionUpdate": "session_info_update", "title": "Closed"}),
            );
        }
    });
}

pub(crate) fn delete(agent: &Agent, params: &Value) -> Answer {
    let name = text(params, "sessionId")?;
    let known = agent.state().sessions.get(name).cloned();
    let is_known = known.is_some() || store::has(agent, name);
    if agent.is("delete-wants-a-session") && !is_known {
        return Err(Refusal::unknown_session(agent, name));
    }
    if agent.is("delete-keeps-the-session") {
        return nothing();
    }
    if let Some(session) = known {
        session.state().is_open = false;
        cancel::all(agent, &session);
    }
    agent.state().sessions.remove(name);
    store::remove(agent, name);
    nothing()
}

pub(crate) fn list(agent: &Agent, params: &Value) -> Answer {
    let wanted = params.get("cwd").filter(|cwd| !cwd.is_null());
    let wanted = match wanted {
        None => None,
        Some(cwd) => Some(setup::absolute(agent, cwd)?),
    };
    let mut names = store::names(agent);
    names.extend(agent.state().sessions.keys().cloned());
    names.sort();
    names.dedup();
    let cursor = params.get("cursor").filter(|cursor| !cursor.is_null());
    let after = match cursor.map(|cursor| cursor.as_str().unwrap_or_default()) {
        None => None,
        Some(cursor) => {
            let after = cursor.strip_prefix(CURSOR);
            let after = after.filter(|name| names.iter().any(|known| known == name));
            match after {
                None if agent.is("takes-any-cursor") => None,
                None => return Err(Refusal::params("The cursor was not given out")),
                after => after,
            }
        }
    };
    let mut entries = Vec::new();
    let mut next = None;
    for name in names {
        if after.is_some_and(|after| name.as_str() <= after) {
            continue;
        }
        let Ok(session) = recall(agent, &name) else {
            continue;
        };
        let is_wanted = wanted.as_ref().is_none_or(|cwd| *cwd == session.cwd);
        if !is_wanted && !agent.is("list-ignores-the-directory") {
            continue;
        }
        if entries.len() == PAGE_ENTRIES {
            break;
        }
        entries.push(entry(agent, &session));
        next = (entries.len() == PAGE_ENTRIES).then(|| format!("{CURSOR}{name}"));
        if agent.is("list-never-ends") {
            next = Some(format!("{CURSOR}{name}"));
            break;
        }
    }
    let mut answer = match agent.is("list-of-another-shape") {
        true => json!({"items": entries}),
        false => json!({"sessions": entries}),
    };
    if let (Some(answer), Some(mut next)) = (answer.as_object_mut(), next) {
        if let (true, Some(cursor)) = (agent.is("list-never-ends"), cursor) {
            next = cursor.as_str().unwrap_or_default().to_owned();
        }
        answer.insert("nextCursor".to_owned(), json!(next));
    }
    Ok(answer)
}

fn entry(agent: &Agent, session: &Session) -> Value {
    let mut state = session.state();
    // What was said is all the time there is: no clock is read.
    let second = match agent.is("listing-changes-times") {
        true => LISTED.fetch_add(1, Ordering::Relaxed) % 60,
        false => state.history.len() % 60,
    };
    let items = state.history.len();
    let is_settled = std::mem::replace(&mut state.listed, items + 1) > items;
    let second = match agent.is("odd-times-settle") && !is_settled {
        true => (second + 1) % 60,
        false => second,
    };
    let time = match agent.is("list-tells-odd-times") {
        true => "yesterday".to_owned(),
        false if agent.is("odd-local-times") && !agent.is_v2() => {
            format!("2026-01-01T00:00:{second:02}")
        }
        false => format!("2026-01-01T00:00:{second:02}Z"),
    };
    let mut cwd = session.cwd.clone();
    if agent.is("sessions-are-elsewhere") {
        cwd = std::env::current_dir().unwrap_or_default();
    }
    if agent.is("list-tells-relative-paths") {
        cwd = Path::new("work").to_owned();
    }
    let mut entry = json!({"sessionId": session.id, "cwd": cwd, "updatedAt": time});
    if let (Some(entry), Some(title)) = (entry.as_object_mut(), &state.title) {
        entry.insert("title".to_owned(), json!(title));
    }
    entry
}
