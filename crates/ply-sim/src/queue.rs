//! Virtual time: what is due when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ply_session::{Input, Keep, RequestId, TurnId, ViewId};

use crate::journal::Fate;
use crate::message::Down;

/// Something that happens at a moment.
#[derive(Debug)]
pub(crate) enum Due {
    /// A client does something.
    ClientActs { client: usize },
    /// A slow client takes what waits for it.
    ClientReads { client: usize },
    /// A message of a client arrives.
    FromClient {
        client: usize,
        epoch: u64,
        input: Box<Input>,
    },
    /// The process notices that a link is gone.
    LinkLost { view: ViewId },
    /// A message arrives at a client.
    ToClient {
        client: usize,
        epoch: u64,
        message: Down,
    },
    /// The agent's code for a turn does something.
    AgentActs { life: u64, turn: TurnId },
    /// The driver of a program that outlives it does what there is to do.
    DriverActs { life: u64 },
    /// A program that outlives its owners says something.
    ProgramActs { program: u64 },
    /// The agent does something outside any turn.
    BackgroundActs { life: u64 },
    /// The agent is ready, or cannot serve the session.
    Prepared { life: u64 },
    /// The agent has taken note of an option.
    OptionSet { life: u64, request: RequestId },
    /// The host opens the session for those who wait for it.
    Host,
    /// An append has come to its end.
    Appended { life: u64, append: u64, fate: Fate },
    /// The journal wrote what it had accepted.
    Committed { life: u64 },
    /// The journal answers to an opening.
    Opened { life: u64, from: Option<u64> },
    /// The journal answers to a read.
    Page { life: u64, view: ViewId, from: u64 },
    /// Another owner takes the journal.
    Taken { life: u64 },
    /// The process hears that its journal has another owner.
    Lost { life: u64 },
    /// Everything of the session is closed.
    Released { life: u64, then: Keep },
    /// A deadline of the core passes.
    Tick { life: u64 },
    /// The process dies.
    Crash { life: u64 },
}

/// What is due, soonest first; at one moment, in the order in which it was planned.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<(u64, u64, Planned)>>,
    planned: u64,
    now_ms: u64,
    /// How far the clock was moved while nothing ran.
    jumped_ms: u64,
}

#[derive(Debug)]
struct Planned(Due);

impl PartialEq for Planned {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Planned {}

impl PartialOrd for Planned {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The numbers before it order them all.
impl Ord for Planned {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Queue {
    pub(crate) fn now_ms(&self) -> u64 {
        self.now_ms
    }

    pub(crate) fn jumped_ms(&self) -> u64 {
        self.jumped_ms
    }

    pub(crate) fn after(&mut self, delay_ms: u64, due: Due) {
        self.at(self.now_ms + delay_ms, due);
    }

    pub(crate) fn at(&mut self, time_ms: u64, due: Due) {
        self.planned += 1;
        let entry = (time_ms.max(self.now_ms), self.planned, Planned(due));
        self.heap.push(Reverse(entry));
    }

    pub(crate) fn next(&mut self) -> Option<Due> {
        let Reverse((time_ms, _, Planned(due))) = self.heap.pop()?;
        self.now_ms = self.now_ms.max(time_ms);
        Some(due)
    }

    /// Moves the clock, as the sleep of a machine does: much is due at once then.
    pub(crate) fn jump(&mut self, by_ms: u64) {
        self.now_ms += by_ms;
        self.jumped_ms += by_ms;
    }
}
