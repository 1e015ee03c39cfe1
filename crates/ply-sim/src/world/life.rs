//! The process's side of the session: the core, and what its driver has to remember.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ply_session::{Answer, AskId, Core, Handover, Persist, RequestId, TurnId, ViewId};

use super::held::Driver;
use crate::agent::AgentTurn;

#[derive(Debug)]
pub(super) struct Life {
    pub(super) number: u64,
    /// Which session of the name it is.
    pub(super) generation: u64,
    pub(super) core: Core,
    /// Which client a view belongs to, and which of its connections.
    pub(super) seats: BTreeMap<ViewId, (usize, u64)>,
    /// Views for which records are being read.
    pub(super) reading: BTreeSet<ViewId>,
    pub(super) turns: BTreeMap<TurnId, AgentTurn>,
    pub(super) background: AgentTurn,
    /// What is to be known of a program that runs the turns.
    pub(super) driver: Option<Driver>,
    /// What an earlier life left, until somebody goes on with it, and what was answered meanwhile.
    pub(super) handover: Option<Handover>,
    pub(super) unclaimed: BTreeMap<AskId, Answer>,
    /// The append under way.
    pub(super) append: Option<(u64, Persist)>,
    pub(super) appends: u64,
    /// Turns that the agent asked for itself and hears of.
    pub(super) own: BTreeSet<RequestId>,
    pub(super) barriers: BTreeSet<u64>,
    /// The change of an option that the agent was told of, and when.
    pub(super) option: Option<(RequestId, u64)>,
    /// Prompts whose turns were started, with their senders.
    pub(super) started: Vec<(RequestId, ViewId)>,
    /// Who prompted the turn that was started last.
    pub(super) prompter: Option<(TurnId, ViewId)>,
    /// Clients that sent prompts for a turn that runs, and may have become prompters of it.
    pub(super) steering: BTreeSet<ViewId>,
    /// When turns were cancelled.
    pub(super) cancelled: BTreeMap<TurnId, u64>,
    /// The turn that ran after the last step.
    pub(super) running: Option<TurnId>,
    pub(super) ticks_at: Option<u64>,
    pub(super) is_releasing: bool,
    pub(super) is_over: bool,
}

impl Life {
    pub(super) fn new(number: u64, generation: u64, core: Core, background: AgentTurn) -> Self {
        Self {
            number,
            generation,
            core,
            seats: BTreeMap::new(),
            reading: BTreeSet::new(),
            turns: BTreeMap::new(),
            background,
            driver: None,
            handover: None,
            unclaimed: BTreeMap::new(),
            append: None,
            appends: 0,
            own: BTreeSet::new(),
            barriers: BTreeSet::new(),
            option: None,
            started: Vec::new(),
            prompter: None,
            steering: BTreeSet::new(),
            cancelled: BTreeMap::new(),
            running: None,
            ticks_at: None,
            is_releasing: false,
            is_over: false,
        }
    }
}

/// Returns a moment of the virtual clock.
pub(super) fn at(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Returns a moment in milliseconds, rounded up.
pub(super) fn ms(at: Duration) -> u64 {
    let ms = at.as_nanos().div_ceil(1_000_000);
    u64::try_from(ms).unwrap_or(u64::MAX)
}
