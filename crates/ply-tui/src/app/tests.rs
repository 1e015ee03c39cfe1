//! Keys and events in, actions and state out.

mod asking;
mod sessions;
mod shell;
mod turns;
mod writing;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ply_client::{Command, v2};
use serde_json::json;

use super::event::{Ended, How, Opened, Question};
use super::*;
use crate::composer::Block;
use crate::options::AgentChoice;

pub(crate) fn options() -> Options {
    let choice = |name: &str, install: Option<&str>| AgentChoice {
        name: name.to_owned(),
        key: name.to_owned(),
        command: Command::new(name),
        install: install.map(str::to_owned),
        resume: Some(format!("ply chat -a {name} --session {{}}")),
    };
    let agents = vec![
        choice("ply", None),
        choice("claude", Some("npm install claude")),
    ];
    let mut options = Options::new(agents, "/project");
    options.colors = None;
    options
}

/// An app whose first session is still being opened.
pub(crate) fn starting() -> App {
    App::new(&options(), Vec::new(), WireLog::default()).0
}

/// An app with an open session.
pub(crate) fn ready() -> App {
    let mut app = starting();
    open(&mut app, 1);
    app
}

pub(crate) fn open(app: &mut App, tab: u64) -> Vec<Action> {
    let opened = Opened {
        session: format!("s{tab}"),
        how: How::New,
        draft: String::new(),
        told: None,
        refused: Vec::new(),
    };
    app.update(Event::Opened(TabId(tab), opened))
}

/// Presses keys: text, and names in angle brackets such as `<enter>`, `<c-x>`, `<a-i>`.
pub(crate) fn press(app: &mut App, keys: &str) -> Vec<Action> {
    let mut out = Vec::new();
    let mut rest = keys;
    while let Some(char) = rest.chars().next() {
        let name = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let key = match name {
            Some((name, after)) => {
                rest = after;
                named(name)
            }
            None => {
                rest = &rest[char.len_utf8()..];
                KeyEvent::new(KeyCode::Char(char), KeyModifiers::NONE)
            }
        };
        out.extend(app.update(Event::Key(key)));
    }
    out
}

fn named(name: &str) -> KeyEvent {
    let (modifiers, name) = match name.split_once('-') {
        Some(("c", name)) => (KeyModifiers::CONTROL, name),
        Some(("a", name)) => (KeyModifiers::ALT, name),
        Some(("s", name)) => (KeyModifiers::SHIFT, name),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" if modifiers == KeyModifiers::SHIFT => KeyCode::BackTab,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "pgdn" => KeyCode::PageDown,
        "pgup" => KeyCode::PageUp,
        "del" => KeyCode::Delete,
        "back" => KeyCode::Backspace,
        "f1" => KeyCode::F(1),
        name => KeyCode::Char(name.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

/// Tells the app of something.
pub(crate) fn tell(app: &mut App, event: Event) -> Vec<Action> {
    app.update(event)
}

/// Returns the prompts among actions, as text.
pub(crate) fn prompts(actions: &[Action]) -> Vec<String> {
    let prompts = actions.iter().filter_map(|action| match action {
        Action::Prompt(_, outgoing) => Some(outgoing),
        _ => None,
    });
    let text = prompts.map(|outgoing| match &outgoing.blocks[..] {
        [Block::Text(text)] => text.clone(),
        blocks => format!("{blocks:?}"),
    });
    text.collect()
}

pub(crate) fn written(app: &App) -> &str {
    app.tab().unwrap().composer.text()
}

pub(crate) fn done(reason: v2::StopReason) -> Event {
    Event::TurnEnded(TabId(1), Ended::Done(Some(reason)))
}

pub(crate) fn permission(title: &str, subject: serde_json::Value) -> Question {
    let request = json!({
        "sessionId": "s1",
        "title": title,
        "subject": subject,
        "options": [
            {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"}
        ]
    });
    Question::Permission(Box::new(serde_json::from_value(request).unwrap()))
}

pub(crate) fn command(title: &str) -> Question {
    permission(
        title,
        json!({"type": "command", "command": "cargo test", "cwd": "/project"}),
    )
}

/// Draws the open question and lets the time pass after which keys answer it.
pub(crate) fn look(app: &mut App) {
    app.asks_drawn(true);
    let later = app.now + ASK_MS;
    tell(app, Event::Tick(later));
}

pub(crate) fn hint(app: &App) -> String {
    let hints = app.hint().into_iter();
    let hints = hints.map(|(key, what)| format!("{key} {what}"));
    hints.collect::<Vec<_>>().join(" · ")
}
