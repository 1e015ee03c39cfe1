//! A client that comes back by a cursor and keeps what it has seen: with what it sees then, that must be the whole session.

use std::collections::BTreeMap;

use ply_session::{After, How, Input, Prompt, RequestId, ViewId};
use ply_wire::v2;

use super::{Client, Link, Wanted};
use crate::Broken;
use crate::agent::Numbers;
use crate::message::Cursor;

/// What a client needs to come back.
#[derive(Debug, Default)]
pub(crate) struct Away {
    /// How far it is.
    cursor: Option<Cursor>,
    /// Whether what it is being shown begins at the beginning.
    begins: bool,
    /// Whether it went away and was not answered since.
    is_away: bool,
    /// Whether it had its first answer before it went away.
    was_answered: bool,
    keys: Vec<String>,
    /// Prompts without an answer, by key.
    unanswered: BTreeMap<String, (RequestId, Vec<v2::ContentBlock>)>,
}

impl Client {
    pub(super) fn attaches(&mut self, how: How) {
        if let Some(away) = self.away.as_mut().filter(|away| !away.is_away) {
            away.begins = matches!(how, How::New | How::Replay);
            away.was_answered = false;
        }
    }

    /// Notes how far it is.
    pub(super) fn got(&mut self, cursor: Option<Cursor>) {
        if let (Some(away), Some(cursor)) = (&mut self.away, cursor) {
            away.cursor = Some(cursor);
        }
    }

    /// Returns which session of the name it has seen.
    pub(crate) fn generation(&self) -> Option<u64> {
        let cursor = self.away.as_ref()?.cursor.as_ref()?;
        Some(cursor.generation)
    }

    pub(crate) fn is_away(&self) -> bool {
        self.away.as_ref().is_some_and(|away| away.is_away)
    }

    pub(super) fn can_come_back(&self) -> bool {
        let Some(away) = self.away.as_ref().filter(|away| away.cursor.is_some()) else {
            return false;
        };
        let is_whole = match self.link {
            Link::Attached => self.is_whole,
            Link::Attaching => away.begins,
            Link::Down => away.is_away,
        };
        is_whole && !self.is_cut
    }

    pub(super) fn go_away(&mut self) {
        if let Some(away) = &mut self.away {
            away.is_away = true;
        }
        self.asks.clear();
        self.old_asks.clear();
        self.ever_asked.clear();
    }

    /// Connects again, goes on where it was, and sends again what was not answered.
    pub(crate) fn come_back(&mut self, numbers: &mut Numbers) -> Vec<Input> {
        self.epoch += 1;
        numbers.views += 1;
        self.view = ViewId(numbers.views);
        let mut attach = self.attach(How::Replay, "/work", numbers);
        let Some(away) = &mut self.away else {
            return vec![attach];
        };
        if let (Input::Attach(attach), Some(cursor)) = (&mut attach, &away.cursor) {
            attach.after = Some(After {
                cursor: cursor.text.clone(),
                operations: away.keys.clone(),
            });
        }
        let mut inputs = vec![attach];
        for (key, (_, content)) in std::mem::take(&mut away.unanswered) {
            let request = self.request(Wanted::Prompt, numbers);
            self.keep(request, &key, &content);
            inputs.push(Input::Prompt(Prompt {
                request,
                view: self.view,
                content,
                operation: Some(key),
                steers: false,
            }));
        }
        inputs
    }

    /// Notes a prompt, to send it again if it is not answered.
    pub(super) fn keep(&mut self, request: RequestId, key: &str, content: &[v2::ContentBlock]) {
        if let Some(away) = &mut self.away {
            if !away.keys.iter().any(|known| known == key) {
                away.keys.push(key.to_owned());
            }
            let prompt = (request, content.to_vec());
            away.unanswered.insert(key.to_owned(), prompt);
        }
    }

    pub(super) fn settled(&mut self, request: RequestId) {
        if let Some(away) = &mut self.away {
            away.unanswered.retain(|_, (of, _)| *of != request);
        }
    }

    /// Notes that it is attached again; returns whether it had no such answer before.
    pub(super) fn is_back(&mut self) -> bool {
        let Some(away) = &mut self.away else {
            return true;
        };
        away.is_away = false;
        !std::mem::replace(&mut away.was_answered, true)
    }

    /// Notes that it is not attached again.
    pub(super) fn refused(&mut self, error: &v2::Error) -> Result<(), Broken> {
        if !self.is_away() {
            return Ok(());
        }
        let is_wrong = error.code == v2::ErrorCode::InvalidParams;
        let cursor = self.away.as_ref().and_then(|away| away.cursor.clone());
        self.forget();
        // The journal failed while it was there, so nobody can tell how far it is; or there was none of the session yet.
        let is_lost = cursor.as_ref().is_some_and(|cursor| {
            cursor.is_in_memory || cursor.text.split('-').nth(2) == Some("0")
        });
        match is_wrong && !is_lost {
            true => Err(format!("{} is refused with {cursor:?}: {error}", self.name)),
            false => Ok(()),
        }
    }
}
