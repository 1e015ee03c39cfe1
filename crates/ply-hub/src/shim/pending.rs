//! What the editor sent and the hub has not answered, in order, so that it can be sent again.

use std::collections::VecDeque;

use super::json::{self, Object};

/// Bytes of requests that are kept to be sent again. Those beyond are answered with an error when the hub is lost.
const KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Pending {
    entries: VecDeque<Entry>,
    bytes: usize,
}

#[derive(Debug)]
pub(super) enum Entry {
    Request(Request),
    /// A `session/cancel` that the hub may not have heard.
    Cancel {
        session: String,
        line: Vec<u8>,
        /// Whether it is over with the turn, since the prompt is answered before.
        with_turn: bool,
    },
}

/// A request of the editor.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) method: String,
    pub(super) params: Option<String>,
    pub(super) key: Option<String>,
    pub(super) session: Option<String>,
    /// How far the editor has seen the session that it opens.
    cursor: Option<String>,
    /// Whether it is too large to be sent again.
    is_large: bool,
    /// Whether the editor took it back.
    is_cancelled: bool,
}

impl Request {
    pub(super) fn new(id: &str, method: &str, params: Option<&str>) -> Self {
        Self {
            id: id.to_owned(),
            method: method.to_owned(),
            params: params.map(str::to_owned),
            key: None,
            session: None,
            cursor: None,
            is_large: false,
            is_cancelled: false,
        }
    }

    pub(super) fn line(&self) -> Vec<u8> {
        let mut params = self.params.clone();
        if let Some(cursor) = &self.cursor
            && let Some(mut object) = params.as_deref().and_then(Object::read)
        {
            object.set_meta("ply/after", cursor);
            params = Some(object.write());
        }
        json::request(&self.id, &self.method, params.as_deref())
    }

    fn opens(&self) -> bool {
        matches!(&*self.method, "session/load" | "session/resume")
    }

    fn bytes(&self) -> usize {
        self.params.as_ref().map_or(0, String::len)
    }
}

impl Pending {
    pub(super) fn push(&mut self, mut entry: Entry) {
        if let Entry::Request(request) = &mut entry {
            let bytes = request.bytes();
            if self.bytes + bytes > KEPT_BYTES_MAX {
                request.is_large = true;
                request.params = None;
            } else {
                self.bytes += bytes;
            }
        }
        self.entries.push_back(entry);
    }

    /// Notes a cancel, which is sent again unless it is known to have been heard.
    pub(super) fn cancel(&mut self, session: &str, line: &[u8], is_v2: bool) {
        let is_old =
            |entry: &Entry| matches!(entry, Entry::Cancel { session: of, .. } if of == session);
        self.entries.retain(|entry| !is_old(entry));
        for entry in &mut self.entries {
            if let Entry::Request(request) = entry
                && request.session.as_deref() == Some(session)
            {
                request.is_cancelled = true;
            }
        }
        if is_v2 || self.has_prompt(session) {
            self.entries.push_back(Entry::Cancel {
                session: session.to_owned(),
                line: line.to_vec(),
                with_turn: is_v2,
            });
        }
    }

    /// Notes that the editor took a request back.
    pub(super) fn cancelled(&mut self, id: &str) {
        for entry in &mut self.entries {
            if let Entry::Request(request) = entry
                && request.id == id
            {
                request.is_cancelled = true;
            }
        }
    }

    /// Returns whether the editor waits for an answer and has not taken the request back.
    pub(super) fn is_wanted(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| match entry {
            Entry::Request(request) => request.id == id && !request.is_cancelled,
            Entry::Cancel { .. } => false,
        })
    }

    fn has_prompt(&self, session: &str) -> bool {
        self.entries.iter().any(|entry| match entry {
            Entry::Request(request) => {
                request.method == "session/prompt" && request.session.as_deref() == Some(session)
            }
            Entry::Cancel { .. } => false,
        })
    }

    /// Takes a request out that is answered.
    pub(super) fn answered(&mut self, id: &str) -> Option<Request> {
        let is_it = |entry: &Entry| matches!(entry, Entry::Request(request) if request.id == id);
        let at = self.entries.iter().position(is_it)?;
        let Some(Entry::Request(request)) = self.entries.remove(at) else {
            return None;
        };
        self.bytes = self.bytes.saturating_sub(request.bytes());
        if let Some(session) = &request.session
            && !self.has_prompt(session)
        {
            self.entries.retain(|entry| {
                !matches!(entry, Entry::Cancel { session: of, with_turn: false, .. } if of == session)
            });
        }
        Some(request)
    }

    /// Notes what the hub says of a session: a turn that ended was cancelled if it was to be.
    pub(super) fn updated(&mut self, session: &str, params: &str) {
        let waits = |entry: &Entry| matches!(entry, Entry::Cancel { session: of, with_turn: true, .. } if of == session);
        if self.entries.iter().any(waits) && params.contains("\"stopReason\"") {
            self.entries.retain(|entry| !waits(entry));
        }
    }

    /// Returns where is noted how far the editor has seen a session that it opens.
    pub(super) fn opening(&mut self, session: &str) -> Option<&mut Option<String>> {
        let requests = self.entries.iter_mut().filter_map(|entry| match entry {
            Entry::Request(request) => Some(request),
            Entry::Cancel { .. } => None,
        });
        let mut opening = requests
            .filter(|request| request.opens() && request.session.as_deref() == Some(session));
        opening.next().map(|request| &mut request.cursor)
    }

    /// Returns the sessions that are to be deleted, or are opened by requests which are sent again.
    pub(super) fn sessions_asked_for(&self) -> Vec<String> {
        let sessions = self.entries.iter().filter_map(|entry| match entry {
            Entry::Request(request) if request.opens() || request.method == "session/delete" => {
                request.session.clone()
            }
            _ => None,
        });
        sessions.collect()
    }

    /// Forgets the requests that cannot be sent again, and returns their ids.
    pub(super) fn forget_large(&mut self) -> Vec<String> {
        let large =
            |entry: &mut Entry| matches!(entry, Entry::Request(request) if request.is_large);
        let mut forgotten = Vec::new();
        self.entries.retain_mut(|entry| {
            let is_large = large(entry);
            if let (true, Entry::Request(request)) = (is_large, entry) {
                forgotten.push(request.id.clone());
            }
            !is_large
        });
        forgotten
    }

    /// Returns the lines to send again.
    pub(super) fn lines(&self) -> impl Iterator<Item = Vec<u8>> {
        self.entries.iter().map(|entry| match entry {
            Entry::Request(request) => request.line(),
            Entry::Cancel { line, .. } => line.clone(),
        })
    }
}
