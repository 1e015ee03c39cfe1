//! What the clients and the code of the small world have seen.

use std::collections::BTreeSet;

use ply_session::{RequestId, ViewId};

use super::small::PerView;
use crate::Broken;

#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Requests that were answered.
    responded: BTreeSet<RequestId>,
    sent: BTreeSet<RequestId>,
    /// Whether a view shows the question.
    asked: PerView<bool>,
    /// Whether the code waits for an answer.
    pub(super) waits_for: bool,
    resolved: bool,
    /// The turns that a view was told of: how often work began and ended.
    states: PerView<(u64, u64)>,
    /// Whether a client was told that the journal failed.
    has_failed: bool,
    /// Whether the journal was given up with something under way.
    pub(super) is_lost: bool,
}

impl Seen {
    pub(super) fn is_asked(&self, view: ViewId) -> bool {
        self.asked.get(&view.0) == Some(&true)
    }

    pub(super) fn asked(&mut self, view: ViewId) -> Result<(), Broken> {
        match self.asked.insert(view.0, true) {
            None => Ok(()),
            Some(_) => Err("a client was asked twice".into()),
        }
    }

    pub(super) fn answered(&mut self, view: ViewId) {
        self.asked.insert(view.0, false);
    }

    pub(super) fn retracted(&mut self, view: ViewId) -> Result<(), Broken> {
        match self.asked.insert(view.0, false) {
            Some(true) => Ok(()),
            _ => Err("a question was taken back that was not asked".into()),
        }
    }

    pub(super) fn resolved(&mut self) -> Result<(), Broken> {
        if std::mem::replace(&mut self.resolved, true) {
            return Err("a question was resolved twice".into());
        }
        self.waits_for = false;
        Ok(())
    }

    pub(super) fn sent(&mut self, request: RequestId) {
        self.sent.insert(request);
    }

    pub(super) fn responded(&mut self, request: RequestId) -> Result<(), Broken> {
        match self.responded.insert(request) {
            true => Ok(()),
            false => Err(format!("{request:?} was answered twice")),
        }
    }

    /// Notes what a client is shown of the state. What it is shown of a turn comes before the turn's end, unless the journal
    /// failed and turns out to have it.
    pub(super) fn updated(&mut self, view: ViewId, json: &str) -> Result<(), Broken> {
        self.has_failed |= json.contains("\"stopReason\":\"error\"");
        let (began, ended) = self.states.entry(view.0).or_default();
        if json.contains("\"running\"") && began == ended {
            *began += 1;
        }
        if json.contains("\"idle\"") && *ended < *began {
            *ended += 1;
        }
        if json.contains("word ") && began == ended && view.0 == 2 && !self.has_failed {
            return Err("a client saw words after their turn".into());
        }
        Ok(())
    }

    /// Checks that nobody waits any more.
    pub(super) fn at_rest(&self) -> Result<(), Broken> {
        if let Some(request) = self.sent.difference(&self.responded).next()
            && request.0 != 3
        {
            return Err(format!("{request:?} got no answer"));
        }
        if self.waits_for {
            return Err("the code waits for an answer".into());
        }
        if self.asked.values().any(|asked| *asked) {
            return Err("a client still shows a question that is over".into());
        }
        Ok(())
    }

    /// Checks the same, and that the session was closed.
    pub(super) fn at_end(&self) -> Result<(), Broken> {
        self.at_rest()?;
        match self.sent.difference(&self.responded).next() {
            Some(request) => Err(format!("{request:?} got no answer when the session closed")),
            None => Ok(()),
        }
    }
}
