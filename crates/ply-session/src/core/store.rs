//! What the core knows of its journal: whether there is one, how far it has come, and whether it works.

use std::time::Duration;

use ply_wire::v2;

use super::Core;
use super::effect::{Description, Effect, Persist};
use super::failure::Failure;
use crate::{Event, Level, RETRY_EVERY, RETRY_TIME_MAX};

/// The journal of a session.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) state: State,
    /// Up to which place, and how many records, the journal has taken.
    pub(super) confirmed: (u64, u64),
    /// The same for what it has written: what it only has taken may be lost when it fails.
    pub(super) written: (u64, u64),
    pub(super) description: Option<Description>,
    /// Whether the session is created though nothing was said in it.
    pub(super) is_wanted: bool,
    /// Up to where the lines of another program were reported, if the journal was not told so.
    unmarked: Option<u64>,
}

#[derive(Debug)]
pub(super) enum State {
    /// Nothing was kept yet; what there is waits in the window. If creating it failed, that is tried again for the next request.
    New { has_failed: bool },
    /// It is being created.
    Creating,
    /// It is opened again.
    Opening(Failure),
    Open {
        under_way: Option<UnderWay>,
        retry: Option<Retry>,
    },
    /// It failed, and is opened again for the next request.
    Failed(Failure),
    /// It is another owner's, or closed.
    Gone,
}

/// An append that was not answered yet.
#[derive(Debug)]
pub(super) struct UnderWay {
    upto: u64,
    level: Level,
    records: u64,
    description: Option<Description>,
}

/// An append that failed in passing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retry {
    at: Duration,
    until: Duration,
}

impl Store {
    pub(super) fn new() -> Self {
        Self {
            state: State::New { has_failed: false },
            confirmed: (0, 0),
            written: (0, 0),
            description: None,
            is_wanted: false,
            unmarked: None,
        }
    }

    pub(super) fn open(records: u64) -> Self {
        Self {
            state: State::Open {
                under_way: None,
                retry: None,
            },
            confirmed: (0, records),
            written: (0, records),
            description: None,
            is_wanted: false,
            unmarked: None,
        }
    }

    pub(super) fn is_new(&self) -> bool {
        matches!(self.state, State::New { .. })
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self.state, State::Gone)
    }

    pub(super) fn is_failed(&self) -> bool {
        matches!(self.state, State::Failed(_))
    }

    /// Returns whether requests can be served: there is a journal that works, or none is needed yet.
    pub(super) fn is_usable(&self) -> bool {
        match self.state {
            State::New { .. } | State::Creating | State::Open { .. } => true,
            State::Opening(_) | State::Failed(_) | State::Gone => false,
        }
    }

    pub(super) fn description(&mut self) -> &mut Option<Description> {
        &mut self.description
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        match &self.state {
            State::Open {
                retry: Some(retry),
                under_way: None,
            } => Some(retry.at),
            _ => None,
        }
    }

    /// Notes up to where the lines of another program were reported.
    pub(super) fn lines(&mut self, upto: u64) {
        self.unmarked = Some(upto);
    }

    pub(super) fn set_gone(&mut self) {
        self.state = State::Gone;
    }
}

impl Core {
    /// Has the session created in the journal though nothing was said in it.
    pub fn keep(&mut self) {
        self.store.is_wanted = true;
    }

    /// Returns what is to be appended to the journal now. To be asked for after every batch of inputs.
    pub fn persist(&mut self) -> Option<Persist> {
        let write_bytes = self.limits().write_bytes;
        let is_traced = self.has_traced();
        let State::Open { under_way, retry } = &self.store.state else {
            return None;
        };
        if under_way.is_some() || retry.is_some_and(|retry| self.now < retry.at) {
            return None;
        }
        // In one append with what the lines mean: either both are there or neither is.
        if let Some(upto) = self.store.unmarked.take() {
            self.mark(Event::Lines { upto });
        }
        let run = self.window.hand_over();
        let mut description = self.store.description.take();
        // What was found in the journal when it was opened again may not be safe yet.
        let level = run.as_ref().map_or(Level::Accepted, |run| run.level);
        let mut level = level.max(self.window.unsafe_level().unwrap_or_default());
        let is_much = self.window.unwritten_bytes() > write_bytes;
        if (is_much || is_traced) && self.window.has_unreported() {
            // What is written can be forgotten here, and shown to clients that come back to it.
            level = level.max(Level::Written);
        }
        if run.is_none() && level > Level::Accepted {
            // A store has to write something to make sure of what is before it.
            description.get_or_insert_default();
        }
        if run.is_none() && description.is_none() {
            return None;
        }
        if let State::Open { under_way, .. } = &mut self.store.state {
            *under_way = Some(UnderWay {
                upto: self.window.handed(),
                level,
                records: self.window.records(),
                description: description.clone(),
            });
        }
        Some(Persist {
            records: run.map_or_else(Vec::new, |run| run.records),
            level,
            description,
        })
    }

    /// Appends something that is for the journal alone. The conversation counts it too: its places are those of the window.
    pub(super) fn mark(&mut self, event: Event) {
        self.engine.restore(&event);
        self.window.push(event, self.engine.settings());
    }

    pub(super) fn persisted(&mut self, reached: Level) {
        let State::Open { under_way, retry } = &mut self.store.state else {
            return;
        };
        *retry = None;
        if let Some(done) = under_way.take() {
            self.store.confirmed = (done.upto, done.records);
            let level = done.level.max(reached);
            if level >= Level::Written {
                self.store.written = self.store.confirmed;
            }
            self.window.persisted(done.upto, level);
        }
    }

    pub(super) fn not_persisted(
        &mut self,
        error: &v2::Error,
        may_pass: bool,
        out: &mut Vec<Effect>,
    ) {
        let State::Open { under_way, retry } = &mut self.store.state else {
            return;
        };
        if let Some(failed) = under_way.take() {
            Description::restore(&mut self.store.description, failed.description);
        }
        let until = retry.map_or(self.now + RETRY_TIME_MAX, |retry| retry.until);
        if may_pass && self.now < until {
            *retry = Some(Retry {
                at: self.now + RETRY_EVERY,
                until,
            });
            let (place, records) = self.store.confirmed;
            return self.window.rewind(place, records);
        }
        self.fail(error, out);
    }

    /// Creates the journal once there is something that must be kept.
    pub(super) fn create_if_needed(&mut self, out: &mut Vec<Effect>) {
        let State::New { has_failed: false } = self.store.state else {
            return;
        };
        let is_needed = self.store.is_wanted
            || self.window.needs_journal()
            || self.window.unwritten_bytes() > self.limits().uncreated_bytes
            || self.closing.wants_journal();
        if is_needed && !self.closing.deletes() {
            self.store.state = State::Creating;
            out.push(Effect::Create);
        }
    }

    /// Gives a journal that failed another chance, since somebody needs it.
    pub(super) fn open_if_failed(&mut self, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.store.state, State::Gone) {
            State::New { .. } => self.store.state = State::New { has_failed: false },
            State::Failed(failure) => {
                self.store.state = State::Opening(failure);
                let from = self.store.written.1;
                out.push(Effect::Open { from });
            }
            state => self.store.state = state,
        }
    }

    /// Returns whether all that can be kept is.
    pub(super) fn is_kept(&self) -> bool {
        match &self.store.state {
            State::Open { under_way, .. } => {
                under_way.is_none()
                    && !self.window.has_unhanded()
                    && self.store.description.is_none()
            }
            State::New { .. } => !self.closing.wants_journal(),
            State::Creating | State::Opening(_) => false,
            State::Failed(_) | State::Gone => true,
        }
    }
}
