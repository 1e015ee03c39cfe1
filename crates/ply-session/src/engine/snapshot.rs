//! The conversation as clients may see it, while something of it is not safe yet.

use super::update::{OpenCalls, OpenTerminals};
use super::{Action, Engine, Phase};
use crate::{Event, History, Level};

/// The conversation as it was at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// How many things had been appended or told.
    pub(crate) at: u64,
    pub(crate) history: History,
}

impl Engine {
    /// Brings it forward by one thing that clients may see by now.
    pub(crate) fn advance_snapshot(&mut self, event: Option<&Event>) {
        let Some(snapshot) = &mut self.snapshot else {
            return;
        };
        snapshot.at += 1;
        if let Some(event) = event {
            snapshot.history.apply(event);
        }
    }

    /// Forgets it, since clients may see everything.
    pub(crate) fn drop_snapshot(&mut self) {
        self.snapshot = None;
    }

    /// Goes back to the first `place` things that were appended or told, as the rest could not be kept. `since` are the events
    /// from the snapshot on. What goes on is given up: queued prompts, the turn, questions.
    ///
    /// What was cut off by that is ended by [`Engine::repair`], once something can be kept again.
    pub(crate) fn roll_back<'a>(
        &mut self,
        place: u64,
        since: impl IntoIterator<Item = &'a Event>,
        out: &mut Vec<Action>,
    ) {
        self.give_up_queue(out);
        for (ask, view) in self.asks.take_offers() {
            out.push(Action::Retract { ask, view });
        }
        self.turn = None;
        if let Some(snapshot) = self.snapshot.take() {
            self.history = snapshot.history;
            for event in since {
                self.history.apply(event);
            }
        }
        self.emitted = place;
        // What comes next is not safe before what is here, and that may not be: a journal that fails again takes it back.
        self.snapshot = Some(Snapshot {
            at: place,
            history: self.history.clone(),
        });
        self.calls = OpenCalls::default();
        self.terminals = OpenTerminals::default();
        (self.speaking, self.compacting) = (None, None);
        if self.phase == Phase::Closing {
            // The turn that it waited for is gone.
            self.phase = Phase::Closed;
            self.views.clear();
            out.push(Action::Closed);
        }
    }

    /// Adds an event that turned out to be kept, or that is for the journal alone.
    pub(crate) fn restore(&mut self, event: &Event) {
        self.take_snapshot(event);
        self.emitted += 1;
        self.history.apply(event);
    }

    /// Keeps the conversation before the first thing that clients may not see yet.
    pub(super) fn take_snapshot(&mut self, event: &Event) {
        if self.snapshot.is_none() && event.level(&self.settings) > Level::Accepted {
            self.snapshot = Some(Snapshot {
                at: self.emitted,
                history: self.history.clone(),
            });
        }
    }
}
