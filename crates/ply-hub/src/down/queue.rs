//! What an agent does, in its order, on the way to whoever reports it to the session.
//!
//! One reports at a time: the code of a turn, or between turns a task of the session's own. The right to is the guard of the
//! queue, which goes from the task to the turn when the turn begins and comes back when it is over.

use std::sync::Arc;

use ply_agent::Line;
use ply_agent::event::Connection;
use ply_wire::v2;
use tokio::sync::{Mutex, OwnedMutexGuard, mpsc, oneshot};

use super::book::Noted;
use super::link::{End, Question, Service};

/// Events that may wait before nothing more is read from the agent.
pub(super) const EVENTS_MAX: usize = 256;

/// Something an agent did.
pub(super) enum Event {
    /// The turn of a prompt begins here, and whoever works on it takes over.
    Begin(oneshot::Sender<Baton>),
    /// Somebody waits for everything before this to be reported.
    Barrier(oneshot::Sender<()>),
    /// What a line means, or a part of it.
    Line(Box<Line>),
    /// The state of the connection, to be recorded after everything before it. Whoever waits is told when it is.
    State(Box<Connection>, oneshot::Sender<Noted>),
    Ask(u64, Question),
    Service(u64, Service),
    Retracted(u64),
    VisitOver(v2::ElicitationId),
    Background(Vec<v2::BackgroundWork>),
    /// Work that the agent began by itself, and its end.
    Began,
    Rested(End),
    /// The end of the work on the prompt.
    Ended(End),
    /// The process is gone.
    Gone {
        /// In words.
        words: String,
        /// Whether it never got the prompt that was sent last.
        is_unread: bool,
        /// Whether this hub ended it.
        is_wanted: bool,
    },
}

/// The events of one process.
#[derive(Debug)]
pub(super) struct Queue {
    events: mpsc::Receiver<Event>,
    /// Whether what comes belongs to a turn that is over for everybody but the agent.
    pub(super) is_late: bool,
}

/// The right to take events.
pub(super) type Baton = OwnedMutexGuard<Queue>;

impl Queue {
    pub(super) fn new(events: mpsc::Receiver<Event>) -> Arc<Mutex<Self>> {
        let is_late = false;
        Arc::new(Mutex::new(Self { events, is_late }))
    }

    /// Returns the next event; none when the process is gone and all was told.
    pub(super) async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }
}
