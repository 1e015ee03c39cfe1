//! How a reader that was too slow goes on: from the transcript.

use std::sync::Weak;

use ply_wire::transcript::Transcript;
use ply_wire::v2;

use super::cell::SessionCell;
use super::known::Known;
use super::readers::{Item, Queue, Queued};
use crate::event::{Event, TurnId};

/// What a reader missed.
#[derive(Debug)]
pub(super) struct Lag {
    /// Where the reader stood before the first thing that it missed.
    pub(super) known: Known,
    events: u64,
    turn: Option<Turns>,
    options: bool,
    commands: bool,
    info: bool,
    usage: bool,
    state: bool,
    /// What a turn that has ended missed, as far as later turns must not add to it.
    ended: Option<Ended>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turns {
    One(Option<TurnId>),
    More,
}

#[derive(Debug)]
struct Ended {
    places: Vec<usize>,
    state: v2::StateUpdate,
}

impl Lag {
    pub(super) fn new(known: Known) -> Self {
        Self {
            known,
            events: 0,
            turn: None,
            options: false,
            commands: false,
            info: false,
            usage: false,
            state: false,
            ended: None,
        }
    }

    /// Notes an event that waited and is dropped.
    pub(super) fn drop_event(&mut self, event: &Event, turn: Option<TurnId>) {
        self.count(turn);
        match event {
            Event::ConfigOptions(_) => self.options = true,
            Event::Commands(_) => self.commands = true,
            Event::Info(_) => self.info = true,
            Event::Usage(_) => self.usage = true,
            Event::State(_) => self.state = true,
            _ => {}
        }
    }

    /// Notes an update that is not even queued.
    pub(super) fn miss(&mut self, update: &v2::SessionUpdate, turn: Option<TurnId>) {
        self.count(turn);
        match update {
            v2::SessionUpdate::ConfigOptionUpdate(_) => self.options = true,
            v2::SessionUpdate::AvailableCommandsUpdate(_) => self.commands = true,
            v2::SessionUpdate::SessionInfoUpdate(_) => self.info = true,
            v2::SessionUpdate::UsageUpdate(_) => self.usage = true,
            v2::SessionUpdate::StateUpdate(_) => self.state = true,
            _ => {}
        }
    }

    fn count(&mut self, turn: Option<TurnId>) {
        self.events += 1;
        let turn = Turns::One(turn);
        if self.turn.replace(turn).is_some_and(|before| before != turn) {
            self.turn = Some(Turns::More);
        }
    }

    /// Keeps apart what belongs to a turn that ends now.
    pub(super) fn end(&mut self, transcript: &Transcript) {
        self.ended = Some(Ended {
            places: self.known.changed(transcript),
            state: transcript.state_snapshot(),
        });
    }

    /// Tells what changed since, as it is now.
    pub(super) fn catch_up(
        self,
        transcript: &Transcript,
        session: &Weak<SessionCell>,
        queue: &mut Queue,
    ) {
        let turn = match self.turn {
            Some(Turns::One(turn)) => turn,
            _ => None,
        };
        let mut push = |event| {
            let item = Item::Event(event);
            queue.push_back(Queued { turn, item });
        };
        push(Event::Lagged {
            events: self.events,
        });
        let mut tell = |update| push(Event::from_update(update, session));
        let (places, state) = match self.ended {
            Some(ended) => (ended.places, ended.state),
            None => {
                let places = self.known.changed(transcript);
                (places, transcript.state_snapshot())
            }
        };
        for place in places {
            self.known.tell(place, transcript, &mut tell);
        }
        let about = transcript.about_updates().into_iter();
        let about = about.filter(|update| match update {
            v2::SessionUpdate::ConfigOptionUpdate(_) => self.options,
            v2::SessionUpdate::AvailableCommandsUpdate(_) => self.commands,
            v2::SessionUpdate::SessionInfoUpdate(_) => self.info,
            _ => self.usage,
        });
        let state = self.state.then_some(v2::SessionUpdate::StateUpdate(state));
        about.chain(state).for_each(tell);
    }
}
