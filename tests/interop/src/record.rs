//! What happened on a connection, in order, as plain JSON.

use std::sync::Mutex;

use serde_json::Value;
use tokio::sync::watch;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The agent sent `session/update` with these params.
    Update(Value),
    /// The agent asked for something: permission, a file, a terminal.
    Asked {
        /// The method of its request.
        method: String,
        /// The params of its request.
        params: Value,
    },
    /// The agent took a request back with `$/cancel_request`.
    Withdrawn {
        /// The method of its request.
        method: String,
    },
    /// The agent answered a request.
    Answered {
        /// The method of our request.
        method: String,
        /// The result, or the error object.
        answer: Result<Value, Value>,
    },
}

/// Everything that happened so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The events in the order in which they arrived.
    pub events: Vec<Event>,
}

impl Record {
    /// Returns the updates of a session, without the envelope.
    #[must_use]
    pub fn updates(&self, session: &str) -> Vec<&Value> {
        self.pick(|event| match event {
            Event::Update(params) if params.get("sessionId")? == session => params.get("update"),
            _ => None,
        })
    }

    /// Returns the updates of one kind of a session.
    #[must_use]
    pub fn updates_of(&self, session: &str, kind: &str) -> Vec<&Value> {
        let mut updates = self.updates(session);
        updates.retain(|update| word(update, "sessionUpdate") == kind);
        updates
    }

    /// Returns the kinds of a session's updates.
    #[must_use]
    pub fn kinds(&self, session: &str) -> Vec<&str> {
        let updates = self.updates(session).into_iter();
        updates
            .map(|update| word(update, "sessionUpdate"))
            .collect()
    }

    /// Returns the statuses that a session's tool calls went through.
    #[must_use]
    pub fn statuses(&self, session: &str) -> Vec<&str> {
        let updates = self.updates(session).into_iter();
        let calls = updates.filter(|update| word(update, "sessionUpdate").starts_with("tool_call"));
        calls
            .filter_map(|call| call.get("status")?.as_str())
            .collect()
    }

    /// Returns the text of a session's messages of one kind: `user_message`, `agent_message` or `agent_thought`.
    ///
    /// Chunks append to their message and whole messages replace it, as in version 2.
    #[must_use]
    pub fn text(&self, session: &str, kind: &str) -> String {
        let mut messages: Vec<(Option<&Value>, String)> = Vec::new();
        for update in self.updates(session) {
            let Some(form) = word(update, "sessionUpdate").strip_prefix(kind) else {
                continue;
            };
            let id = update.get("messageId");
            let at = messages.iter().position(|(known, _)| *known == id);
            let mut text = at.map(|at| messages.remove(at).1).unwrap_or_default();
            let content = update.get("content");
            match (form, content.and_then(Value::as_array)) {
                ("_chunk", _) => text.push_str(content.map_or("", |block| word(block, "text"))),
                (_, Some(blocks)) => {
                    text = blocks.iter().map(|block| word(block, "text")).collect()
                }
                _ => {}
            }
            messages.insert(at.unwrap_or(messages.len()), (id, text));
        }
        messages.into_iter().map(|(_, text)| text).collect()
    }

    /// Returns what a session's updates come to, from the one at `from` on, in order: messages as `kind: text`, tool calls
    /// as objects and plans as lists, in their final form.
    #[must_use]
    pub fn story(&self, session: &str, from: usize) -> Vec<Value> {
        let updates: Vec<_> = self.updates(session).into_iter().skip(from).collect();
        crate::story::fold(&updates)
    }

    /// Returns the params of what the agent asked with this method.
    #[must_use]
    pub fn asked(&self, method: &str) -> Vec<&Value> {
        self.pick(|event| match event {
            Event::Asked { method: by, params } if by == method => Some(params),
            _ => None,
        })
    }

    /// Returns the agent's permission requests.
    #[must_use]
    pub fn permissions(&self) -> Vec<&Value> {
        self.asked("session/request_permission")
    }

    /// Returns the error objects that the agent answered.
    #[must_use]
    pub fn errors(&self) -> Vec<&Value> {
        self.pick(|event| match event {
            Event::Answered { answer, .. } => answer.as_ref().err(),
            _ => None,
        })
    }

    fn pick<'a>(&'a self, look: impl Fn(&'a Event) -> Option<&'a Value>) -> Vec<&'a Value> {
        self.events.iter().filter_map(look).collect()
    }
}

/// Returns a string member, or nothing as the empty string.
pub(crate) fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The record while it grows.
pub(crate) struct Log {
    record: Mutex<Record>,
    grown: watch::Sender<()>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self {
            record: Mutex::default(),
            grown: watch::Sender::new(()),
        }
    }

    pub(crate) fn push(&self, event: Event) {
        self.with(|record| record.events.push(event));
        self.grown.send_replace(());
    }

    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Record) -> T) -> T {
        look(
            &mut self
                .record
                .lock()
                .expect("a look at the record does not panic"),
        )
    }

    /// Waits until the look at the record finds something.
    pub(crate) async fn until<T>(&self, look: impl Fn(&Record) -> Option<T>) -> T {
        let mut grown = self.grown.subscribe();
        loop {
            if let Some(found) = self.with(|record| look(record)) {
                return found;
            }
            // Fails only without a sender, and the log holds one.
            drop(grown.changed().await);
        }
    }
}
