//! A session that the editor has open, and how it is opened again.

use std::collections::VecDeque;

use super::json::Object;

/// Keys of prompts that are told when a session is resumed: more than a session queues.
const KEYS_MAX: usize = 300;

/// A session that the editor has open.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// What it was opened with.
    params: Object,
    /// How far the editor has seen it.
    pub(super) cursor: Option<String>,
    /// Keys of the editor's prompts, newest last.
    keys: VecDeque<String>,
    /// The key under which it was made.
    made: Option<String>,
    /// Whether a prompt was accepted in it, so that it cannot be made once more.
    pub(super) was_used: bool,
    /// How the hub was asked for it after the connection was lost.
    pub(super) attempt: Attempt,
}

/// How a session is opened again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Attempt {
    /// From where the editor has seen it.
    #[default]
    Cursor,
    /// Made once more: nothing was said in it, and the hub that made it did not keep it.
    Made,
    /// From where it is now: the hub does not know where the editor was.
    Live,
}

impl Open {
    pub(super) fn new(mut params: Object, cursor: Option<String>, made: Option<String>) -> Self {
        params.remove("replayFrom");
        params.take_meta(["ply/operation", "ply/after"]);
        Self {
            params,
            cursor,
            made,
            ..Self::default()
        }
    }

    pub(super) fn prompted(&mut self, key: &str) {
        self.keys.push_back(key.to_owned());
        if self.keys.len() > KEYS_MAX {
            self.keys.pop_front();
        }
    }

    /// Returns the request that opens it again: the method and the params.
    pub(super) fn again(&self, session: &str) -> (&'static str, String) {
        let mut params = self.params.clone();
        if let (Attempt::Made, Some(key)) = (self.attempt, &self.made) {
            params.remove("sessionId");
            params.set_meta("ply/operation", key);
            return ("session/new", params.write());
        }
        params.set("sessionId", &session);
        if let (Attempt::Cursor, Some(cursor)) = (self.attempt, &self.cursor) {
            params.set_meta("ply/after", cursor);
            params.set_meta("ply/operations", &self.keys);
        }
        ("session/resume", params.write())
    }

    /// Chooses another way after one was refused with a code; returns whether there is one.
    pub(super) fn try_otherwise(&mut self, code: Option<i64>) -> bool {
        /// What a hub says that has no such session.
        const NOT_FOUND: i64 = -32002;
        self.attempt = match self.attempt {
            Attempt::Cursor if code == Some(NOT_FOUND) => {
                if self.made.is_none() || self.was_used {
                    return false;
                }
                Attempt::Made
            }
            Attempt::Cursor => Attempt::Live,
            _ => return false,
        };
        true
    }
}
