//! Faults: what becomes of which call of the agent on its store.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::str::FromStr;

use crate::failure::Result;

/// What becomes of one call, or of all from one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The kind of call.
    pub call: Call,
    /// Its number, from 1.
    pub number: u64,
    /// What becomes of it.
    pub effect: Effect,
}

/// Kinds of calls, in the order of their numbers on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// Writes.
    Write,
    /// Syncs.
    Sync,
    /// Changes of a file's length.
    Truncate,
    /// Opens, also those that make a file.
    Open,
    /// Removals.
    Unlink,
    /// Reads.
    Read,
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// The agent is killed before it.
    KillBefore,
    /// The agent is killed after it.
    KillAfter,
    /// Half of it is done, then the agent is killed.
    KillTorn,
    /// The disk is full, once.
    Full,
    /// The disk is full from then on, until it is healed. Of the first write one half is done.
    FullOn,
    /// The disk is broken, once.
    Broken,
    /// The disk is broken from then on, until it is healed.
    BrokenOn,
}

/// Calls by the names that the library knows them by.
pub(crate) const CALLS: [(Call, &str); 6] = [
    (Call::Write, "write"),
    (Call::Sync, "sync"),
    (Call::Truncate, "truncate"),
    (Call::Open, "open"),
    (Call::Unlink, "unlink"),
    (Call::Read, "read"),
];

/// Effects by the names that the library knows them by.
const EFFECTS: [(Effect, &str); 7] = [
    (Effect::KillBefore, "kill-before"),
    (Effect::KillAfter, "kill-after"),
    (Effect::KillTorn, "kill-torn"),
    (Effect::Full, "enospc"),
    (Effect::FullOn, "enospc-on"),
    (Effect::Broken, "eio"),
    (Effect::BrokenOn, "eio-on"),
];

impl Effect {
    /// Returns whether the agent dies of it.
    #[must_use]
    pub fn is_kill(self) -> bool {
        matches!(self, Self::KillBefore | Self::KillAfter | Self::KillTorn)
    }

    /// Returns whether it lasts until it is healed.
    #[must_use]
    pub fn lasts(self) -> bool {
        matches!(self, Self::FullOn | Self::BrokenOn)
    }
}

impl Fault {
    /// Returns what happens, for a tally.
    #[must_use]
    pub fn name(&self) -> String {
        let call = CALLS.iter().find(|(call, _)| *call == self.call);
        let call = call.map_or("", |known| known.1);
        match self.effect {
            Effect::KillBefore => format!("killed before {call}"),
            Effect::KillAfter => format!("killed after {call}"),
            Effect::KillTorn => format!("killed within {call}"),
            Effect::Full => format!("disk full at one {call}"),
            Effect::FullOn => format!("disk full from one {call} on"),
            Effect::Broken => format!("disk broken at one {call}"),
            Effect::BrokenOn => format!("disk broken from one {call} on"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = CALLS.iter().find(|(call, _)| *call == self.call);
        let effect = EFFECTS.iter().find(|(effect, _)| *effect == self.effect);
        let (call, effect) = (
            call.map_or("", |known| known.1),
            effect.map_or("", |known| known.1),
        );
        write!(f, "{call}:{}:{effect}", self.number)
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(words: &str) -> std::result::Result<Self, String> {
        let parts: Vec<&str> = words.split(':').collect();
        let fault = match parts.as_slice() {
            [call, number, effect] => {
                let call = CALLS.iter().find(|(_, name)| name == call);
                let effect = EFFECTS.iter().find(|(_, name)| name == effect);
                call.zip(effect).zip(number.parse().ok())
            }
            _ => None,
        };
        let wrong = || format!("{words} is no fault; say one such as write:17:kill-torn");
        let ((call, effect), number) = fault.ok_or_else(wrong)?;
        Ok(Self {
            call: call.0,
            number,
            effect: effect.0,
        })
    }
}

/// The board: numbers that the library in the agent writes, and that outlive the agent. Its layout is the library's `Board`.
#[derive(Debug)]
pub(crate) struct Board(File);

const BOARD_WORDS: u64 = 8;
const HEALED: u64 = 0;
const FIRED: u64 = 1;
const COUNTS: u64 = 2;
const WORD_BYTES: u64 = 8;

impl Board {
    /// Makes an empty board.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(true);
        let file = options.open(path)?;
        file.set_len(BOARD_WORDS * WORD_BYTES)?;
        Ok(Self(file))
    }

    /// Has the disk work again.
    pub(crate) fn heal(&self) -> Result<()> {
        Ok(self
            .0
            .write_all_at(&1_u64.to_ne_bytes(), HEALED * WORD_BYTES)?)
    }

    /// Returns whether the fault was played.
    pub(crate) fn has_fired(&self) -> Result<bool> {
        Ok(self.word(FIRED)? > 0)
    }

    /// Returns how many calls of a kind there were.
    pub(crate) fn count(&self, call: Call) -> Result<u64> {
        self.word(COUNTS + call as u64)
    }

    fn word(&self, place: u64) -> Result<u64> {
        let mut word = [0; 8];
        self.0.read_exact_at(&mut word, place * WORD_BYTES)?;
        Ok(u64::from_ne_bytes(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_what_its_words_say() {
        for (call, _) in CALLS {
            for (effect, _) in EFFECTS {
                let fault = Fault {
                    call,
                    number: 17,
                    effect,
                };
                assert_eq!(fault.to_string().parse(), Ok(fault));
            }
        }
        for wrong in [
            "",
            "write",
            "write:1",
            "write:x:eio",
            "write:1:eio:1",
            "sing:1:eio",
        ] {
            assert!(wrong.parse::<Fault>().is_err(), "{wrong}");
        }
    }
}
