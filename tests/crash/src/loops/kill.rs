//! When an agent is killed.

use ply_sim::Choices;

use crate::fault::{Call, Effect, Fault};

/// Calls on the store, or lines, in one life, about; kills are spread over so many.
const CALLS_MAX: u64 = 150;

/// When an agent is killed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kill {
    /// So many microseconds after it wrote so many lines.
    After { lines: u64, micros: u64 },
    /// By itself, at one of its calls.
    At(Fault),
}

impl Kill {
    /// Returns one at any moment.
    pub(super) fn random(choices: &mut Choices<'_>) -> Self {
        // Most lives are short, so small numbers are the usual ones.
        let limit = 1 + choices.below(CALLS_MAX);
        if choices.percent(50) {
            let lines = choices.below(limit);
            let micros = match choices.percent(50) {
                true => choices.below(30_000),
                false => choices.below(500),
            };
            return Self::After { lines, micros };
        }
        use Effect::{KillAfter, KillBefore, KillTorn};
        let (call, limit, effects) = match choices.weighted(&[60, 25, 5, 5, 5]) {
            0 => (Call::Write, limit, [KillBefore, KillTorn, KillAfter]),
            1 => (
                Call::Sync,
                1 + limit / 6,
                [KillBefore, KillAfter, KillAfter],
            ),
            2 => (Call::Open, 6, [KillBefore, KillAfter, KillAfter]),
            3 => (Call::Truncate, 2, [KillBefore, KillAfter, KillAfter]),
            _ => (
                Call::Read,
                1 + limit / 4,
                [KillBefore, KillBefore, KillBefore],
            ),
        };
        let number = 1 + choices.below(limit);
        let effect = choices.pick(&effects).copied().unwrap_or(KillBefore);
        Self::At(Fault {
            call,
            number,
            effect,
        })
    }

    /// Returns one soon after the start.
    pub(super) fn soon(choices: &mut Choices<'_>) -> Self {
        let (call, effect) = match choices.below(3) {
            0 => {
                let (lines, micros) = (choices.below(4), choices.below(3_000));
                return Self::After { lines, micros };
            }
            1 => (Call::Sync, Effect::KillBefore),
            _ => (Call::Write, Effect::KillTorn),
        };
        let number = 1 + choices.below(12);
        Self::At(Fault {
            call,
            number,
            effect,
        })
    }

    /// Returns the fault that the agent is to meet.
    pub(super) fn fault(self) -> Option<Fault> {
        match self {
            Self::After { .. } => None,
            Self::At(fault) => Some(fault),
        }
    }
}
