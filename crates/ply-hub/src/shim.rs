//! What stands between an editor and the hub, so that the editor notices nothing of the hub's end but a pause.
//!
//! [`Shim`] is a state machine: lines of the editor and of the hub go in, lines for both come out, and whoever drives it says when
//! the connection to the hub is lost and when there is another. It reads JSON-RPC envelopes and, of what they carry, only what
//! it needs to open sessions again. It asks the hub for cursors and takes them out of what the editor sees; it gives prompts and
//! new sessions keys, so that they can be sent again. [`run`] drives it over any byte streams.

mod asked;
mod json;
mod pending;
mod run;
mod session;

use std::collections::{BTreeMap, VecDeque};

use ply_rpc::envelope::{self, Message, Outcome};

use self::asked::{Fate, Questions};
use self::json::{CURSOR, Object};
use self::pending::{Entry, Pending, Request};
pub use self::run::{DIAL_TIME_MAX, Error, run};
use self::session::{Attempt, Open};

/// Bytes of the editor that are kept while the hub is away; then the editor is not read.
pub const HELD_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The key that names a question in every connection.
const QUESTION: &str = "ply/question";

/// A line for one of the two sides, without its line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// For the editor.
    Editor(Vec<u8>),
    /// For the hub.
    Hub(Vec<u8>),
}

/// The state between an editor and the hub.
#[derive(Debug)]
pub struct Shim {
    /// What keys and ids of our own begin with, new in each process.
    name: String,
    /// How many ids, and how many keys, were made.
    ids: u64,
    keys: u64,
    phase: Phase,
    hello: Option<Hello>,
    sessions: BTreeMap<String, Open>,
    /// Requests of ours that open sessions again, by id.
    resuming: BTreeMap<String, String>,
    pending: Pending,
    questions: Questions,
    /// Answers that say that a request was cancelled, which the editor did not do: so ends a connection whose hub ends. They are
    /// believed once the hub says something else.
    doubtful: Vec<(String, Vec<u8>)>,
    /// Lines of the editor that came while the hub was away.
    held: VecDeque<Vec<u8>>,
    held_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// There is no connection.
    Down,
    /// `initialize` was said again.
    Hello,
    /// Sessions are being opened again.
    Resuming,
    Up,
}

/// The editor's `initialize`.
#[derive(Debug)]
struct Hello {
    /// The editor's id for it.
    id: String,
    params: String,
    is_answered: bool,
    /// The version that the hub speaks with the editor.
    version: u64,
    /// The id under which it was said last.
    said_as: String,
}

impl Shim {
    /// Returns the state before anything was said. The name must be one that no other shim has or had, since keys begin with it.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ids: 0,
            keys: 0,
            phase: Phase::Down,
            hello: None,
            sessions: BTreeMap::new(),
            resuming: BTreeMap::new(),
            pending: Pending::default(),
            questions: Questions::default(),
            doubtful: Vec::new(),
            held: VecDeque::new(),
            held_bytes: 0,
        }
    }

    /// Returns whether the editor may be read.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.held_bytes < HELD_BYTES_MAX
    }

    /// Returns whether everything that the editor said was passed on.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.phase == Phase::Up
    }

    /// Takes that there is a connection to the hub, in which nothing was said yet.
    pub fn connected(&mut self, out: &mut Vec<Line>) {
        let own = self.next_id();
        let Some(hello) = &mut self.hello else {
            return self.up(out);
        };
        self.phase = Phase::Hello;
        hello.said_as = match hello.is_answered {
            true => own,
            false => hello.id.clone(),
        };
        let line = json::request(&hello.said_as, "initialize", Some(&hello.params));
        out.push(Line::Hub(line));
    }

    /// Takes that the connection to the hub is lost.
    pub fn lost(&mut self, out: &mut Vec<Line>) {
        self.phase = Phase::Down;
        self.doubtful.clear();
        self.resuming.clear();
        for open in self.sessions.values_mut() {
            open.attempt = Attempt::Cursor;
        }
        out.extend(self.questions.lost().into_iter().map(Line::Editor));
        for id in self.pending.forget_large() {
            let reason = "The connection to the hub was lost, and the request is too large to be kept. Send it again.";
            let line = json::response(&id, &json::error(-32603, reason));
            out.push(Line::Editor(line));
        }
    }

    /// Takes a line of the editor.
    pub fn from_editor(&mut self, line: &[u8], out: &mut Vec<Line>) {
        if self.phase == Phase::Up {
            return self.take(line, out);
        }
        // An answer is for a question that may be asked again before anything else is sent.
        if let Ok(Message::Response { id, outcome }) = envelope::parse(line)
            && id.as_i64().is_some()
        {
            return self.answered(&id.to_string(), &outcome, line, out);
        }
        self.held_bytes += line.len();
        self.held.push_back(line.to_vec());
    }

    fn take(&mut self, line: &[u8], out: &mut Vec<Line>) {
        match envelope::parse(line) {
            Ok(Message::Request { id, method, params }) => {
                let params = params.map(serde_json::value::RawValue::get);
                self.request(&id.to_string(), &method, params, out);
            }
            Ok(Message::Notification { method, params }) => {
                let params = params.map_or("", serde_json::value::RawValue::get);
                self.tells(&method, params, line);
                out.push(Line::Hub(line.to_vec()));
            }
            Ok(Message::Response { id, outcome }) => {
                self.answered(&id.to_string(), &outcome, line, out);
            }
            // The hub knows what to say to that.
            Err(_) => out.push(Line::Hub(line.to_vec())),
        }
    }

    /// Notes what the editor does not want any more.
    fn tells(&mut self, method: &str, params: &str, line: &[u8]) {
        if method == "$/cancel_request" {
            let id = Object::read(params).and_then(|params| params.id("requestId"));
            if let Some(id) = id {
                self.pending.cancelled(&id);
            }
        } else if method == "session/cancel"
            && let Some(session) = json::session_of(params)
        {
            let is_v2 = self.hello.as_ref().is_some_and(|hello| hello.version >= 2);
            self.pending.cancel(&session, line, is_v2);
        }
    }

    fn request(&mut self, id: &str, method: &str, params: Option<&str>, out: &mut Vec<Line>) {
        let mut request = Request::new(id, method, params);
        match (method, params.and_then(Object::read)) {
            ("initialize", Some(params)) => {
                let params = with_cursors(params);
                out.push(Line::Hub(json::request(id, method, Some(&params))));
                self.hello = Some(Hello {
                    id: id.to_owned(),
                    params,
                    is_answered: false,
                    version: 0,
                    said_as: id.to_owned(),
                });
                return;
            }
            ("session/prompt" | "session/new", Some(mut params)) => {
                let key = params.object("_meta").text("ply/operation");
                let key = key.unwrap_or_else(|| {
                    let key = self.next_key();
                    params.set_meta("ply/operation", &key);
                    key
                });
                if let Some(session) = params.text("sessionId")
                    && let Some(open) = self.sessions.get_mut(&session)
                {
                    open.prompted(&key);
                }
                request.session = params.text("sessionId");
                request.params = Some(params.write());
                request.key = Some(key);
            }
            (_, Some(params)) => request.session = params.text("sessionId"),
            (_, None) => {}
        }
        out.push(Line::Hub(request.line()));
        self.pending.push(Entry::Request(request));
    }

    /// Takes an answer of the editor.
    fn answered(&mut self, id: &str, outcome: &Outcome<'_>, line: &[u8], out: &mut Vec<Line>) {
        let reply = json::outcome(outcome);
        let editor = id.parse().ok();
        match editor.and_then(|editor| self.questions.answered(editor, &reply)) {
            Some(Some(hub)) => out.push(Line::Hub(json::response(&hub, &reply))),
            Some(None) => {}
            None if self.phase == Phase::Up => out.push(Line::Hub(line.to_vec())),
            None => {}
        }
    }

    /// Takes a line of the hub.
    pub fn from_hub(&mut self, line: &[u8], out: &mut Vec<Line>) {
        let message = envelope::parse(line);
        if let Ok(Message::Response { id, outcome }) = &message
            && is_cancelled(outcome)
            && self.pending.is_wanted(&id.to_string())
        {
            let doubtful = (id.to_string(), line.to_vec());
            return self.doubtful.push(doubtful);
        }
        for (id, line) in std::mem::take(&mut self.doubtful) {
            if self.pending.answered(&id).is_some() {
                out.push(Line::Editor(line));
            }
        }
        match message {
            Ok(Message::Notification { method, params }) => {
                let params = params.map_or("", serde_json::value::RawValue::get);
                self.told(&method, params, line, out);
            }
            Ok(Message::Request { id, method, params }) => {
                let params = params.map(serde_json::value::RawValue::get);
                self.asked(id.to_string(), &method, params, out);
            }
            Ok(Message::Response { id, outcome }) => {
                self.response(&id.to_string(), &outcome, line, out);
            }
            Err(_) => out.push(Line::Editor(line.to_vec())),
        }
    }

    fn told(&mut self, method: &str, params: &str, line: &[u8], out: &mut Vec<Line>) {
        if method == "$/cancel_request" {
            let id = Object::read(params).and_then(|params| params.id("requestId"));
            if let Some(editor) = id.and_then(|id| self.questions.forget(&id)) {
                let line = json::cancel_request(&editor.to_string());
                out.push(Line::Editor(line));
            }
            return;
        }
        if method != "session/update" {
            return out.push(Line::Editor(line.to_vec()));
        }
        let session = json::session_of(params);
        if let Some(session) = &session {
            self.pending.updated(session, params);
        }
        let Some((shown, cursor)) = json::split_cursor(params) else {
            return out.push(Line::Editor(line.to_vec()));
        };
        if let Some(session) = session {
            self.is_at(&session, &cursor);
        }
        out.push(Line::Editor(json::notification(method, &shown)));
    }

    /// Notes how far the editor has seen a session, or one that is being opened.
    fn is_at(&mut self, session: &str, cursor: &str) {
        let opening = self.pending.opening(session);
        let open = self.sessions.get_mut(session).map(|open| &mut open.cursor);
        if let Some(known) = opening.or(open) {
            let known = known.get_or_insert_default();
            known.clear();
            known.push_str(cursor);
        }
    }

    fn asked(&mut self, id: String, method: &str, params: Option<&str>, out: &mut Vec<Line>) {
        let mut params = params.and_then(Object::read);
        let mut name = None;
        if let Some(params) = &mut params {
            let session = params.text("sessionId");
            let [question, cursor] = params.take_meta([QUESTION, CURSOR]);
            if let (Some(session), Some(cursor)) = (&session, cursor) {
                self.is_at(session, &cursor);
            }
            name = session.zip(question);
        }
        match self.questions.asked(id.clone(), name) {
            Fate::Ask(editor) => {
                let params = params.map(|params| params.write());
                let line = json::request(&editor.to_string(), method, params.as_deref());
                out.push(Line::Editor(line));
            }
            Fate::Waits => {}
            Fate::Answer(reply) => out.push(Line::Hub(json::response(&id, &reply))),
        }
    }

    fn response(&mut self, id: &str, outcome: &Outcome<'_>, line: &[u8], out: &mut Vec<Line>) {
        if self.hello.as_ref().is_some_and(|hello| {
            hello.said_as == id && (!hello.is_answered || self.phase == Phase::Hello)
        }) {
            return self.welcomed(outcome, line, out);
        }
        if let Some(session) = self.resuming.remove(id) {
            return self.resumed(&session, outcome, out);
        }
        let Some(request) = self.pending.answered(id) else {
            return out.push(Line::Editor(line.to_vec()));
        };
        let Outcome::Result(result) = outcome else {
            return out.push(Line::Editor(line.to_vec()));
        };
        let result = self.done(request, result.get());
        out.push(Line::Editor(match result {
            Some(result) => json::response(id, &format!("\"result\":{result}")),
            None => line.to_vec(),
        }));
    }

    /// Sees to what a request came to; returns the result without what is not for the editor, if there was any of that.
    fn done(&mut self, request: Request, result: &str) -> Option<String> {
        match &*request.method {
            "session/new" | "session/fork" | "session/load" | "session/resume" => {
                let mut result = Object::read(result)?;
                let [cursor] = result.take_meta([CURSOR]);
                let made = result.text("sessionId");
                let session = made.or_else(|| request.session.clone())?;
                let params = request.params.as_deref().and_then(Object::read);
                let open = Open::new(params.unwrap_or_default(), cursor, request.key);
                self.sessions.insert(session, open);
                return Some(result.write());
            }
            "session/close" | "session/delete" => {
                self.sessions.remove(&request.session?);
            }
            "session/prompt" => {
                let open = self.sessions.get_mut(&request.session?)?;
                open.was_used = true;
            }
            _ => {}
        }
        None
    }

    fn welcomed(&mut self, outcome: &Outcome<'_>, line: &[u8], out: &mut Vec<Line>) {
        let Some(hello) = &mut self.hello else {
            return;
        };
        let is_first = !std::mem::replace(&mut hello.is_answered, true);
        if let Outcome::Result(result) = outcome {
            let result = Object::read(result.get()).unwrap_or_default();
            hello.version = result.number("protocolVersion").unwrap_or(1);
        }
        if is_first {
            out.push(Line::Editor(line.to_vec()));
        }
        if self.phase != Phase::Hello {
            return;
        }
        self.phase = Phase::Resuming;
        let asked_for = self.pending.sessions_asked_for();
        let sessions = self.sessions.keys().cloned();
        let sessions: Vec<String> = sessions.filter(|id| !asked_for.contains(id)).collect();
        for session in sessions {
            self.resume(session, out);
        }
        if self.resuming.is_empty() {
            self.up(out);
        }
    }

    fn resume(&mut self, session: String, out: &mut Vec<Line>) {
        let id = self.next_id();
        if let Some(open) = self.sessions.get(&session) {
            let (method, params) = open.again(&session);
            out.push(Line::Hub(json::request(&id, method, Some(&params))));
            self.resuming.insert(id, session);
        }
    }

    /// Takes the answer to a request of ours that opens a session again.
    fn resumed(&mut self, session: &str, outcome: &Outcome<'_>, out: &mut Vec<Line>) {
        match outcome {
            Outcome::Result(result) => {
                let mut result = Object::read(result.get()).unwrap_or_default();
                let [cursor] = result.take_meta([CURSOR]);
                if let Some(open) = self.sessions.get_mut(session) {
                    open.cursor = cursor.or(open.cursor.take());
                    if open.attempt == Attempt::Live {
                        let line = self.told_of_gap(session);
                        out.push(Line::Editor(line));
                    }
                }
                let lines = self.questions.resumed(session);
                out.extend(lines.into_iter().map(Line::Editor));
            }
            Outcome::Error(error) => {
                let code = Object::read(error.get()).and_then(|error| error.integer("code"));
                let open = self.sessions.get_mut(session);
                if open.is_some_and(|open| open.try_otherwise(code)) {
                    return self.resume(session.to_owned(), out);
                }
                // What the editor sends to it is answered by the hub.
                self.sessions.remove(session);
                let lines = self.questions.resumed(session);
                out.extend(lines.into_iter().map(Line::Editor));
            }
            Outcome::Neither => {}
        }
        if self.resuming.is_empty() {
            self.up(out);
        }
    }

    /// Returns what tells the user that something may be missing.
    fn told_of_gap(&self, session: &str) -> Vec<u8> {
        let text = "The hub was restarted and does not know what was shown here last. Load the session again to see all of it.";
        let session = serde_json::to_string(session).unwrap_or_default();
        let update = match self.hello.as_ref().map_or(1, |hello| hello.version) {
            0 | 1 => format!(
                "{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}"
            ),
            _ => format!(
                "{{\"sessionUpdate\":\"notice\",\"severity\":\"warning\",\"message\":\"{text}\"}}"
            ),
        };
        let params = format!("{{\"sessionId\":{session},\"update\":{update}}}");
        json::notification("session/update", &params)
    }

    /// Sends again what was not answered, and what the editor said meanwhile.
    fn up(&mut self, out: &mut Vec<Line>) {
        self.phase = Phase::Up;
        out.extend(self.pending.lines().map(Line::Hub));
        self.held_bytes = 0;
        for line in std::mem::take(&mut self.held) {
            self.take(&line, out);
        }
    }

    fn next_id(&mut self) -> String {
        self.ids += 1;
        format!("\"{}-{}\"", self.name, self.ids)
    }

    fn next_key(&mut self) -> String {
        self.keys += 1;
        format!("{}.{}", self.name, self.keys)
    }
}

/// Returns whether an answer says that its request was cancelled.
fn is_cancelled(outcome: &Outcome<'_>) -> bool {
    /// The code of such an answer.
    const CANCELLED: i64 = -32800;
    match outcome {
        Outcome::Error(error) => {
            let code = Object::read(error.get()).and_then(|error| error.integer("code"));
            code == Some(CANCELLED)
        }
        _ => false,
    }
}

/// Adds to the editor's capabilities that it wants cursors.
fn with_cursors(mut params: Object) -> String {
    let is_v1 = params.number("protocolVersion").unwrap_or(1) < 2;
    for (name, is_its) in [("clientCapabilities", is_v1), ("capabilities", !is_v1)] {
        if is_its || params.has(name) {
            let mut capabilities = params.object(name);
            let mut meta = capabilities.object("_meta");
            let mut own = meta.object("ply");
            own.set("cursors", &true);
            meta.set_object("ply", &own);
            capabilities.set_object("_meta", &meta);
            params.set_object(name, &capabilities);
        }
    }
    params.write()
}
