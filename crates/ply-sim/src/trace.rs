//! What happened in a simulated world: a hash to compare, and lines to read.

use std::fmt;

use crate::Kind;

/// The record of one run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Trace {
    /// The same for two runs of the same choices.
    pub hash: u64,
    /// How many things happened.
    pub steps: u64,
    /// How many turns were started.
    pub turns: u64,
    /// How often the process died.
    pub crashes: u64,
    /// How often another life went on with what ran the turns.
    pub adoptions: u64,
    /// How often the session ended otherwise.
    pub closes: u64,
    /// How often a client was so slow that it had to be shown the journal.
    pub reads: u64,
    /// How often the journal failed.
    pub failures: u64,
    /// What happened, one line each; empty unless it was asked for.
    pub lines: Vec<String>,
    is_kept: bool,
}

/// FNV-1a, which is short and gives the same on every machine.
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;
const HASH_FACTOR: u64 = 0x0000_0100_0000_01b3;

impl Trace {
    pub(crate) fn new(is_kept: bool) -> Self {
        Self {
            hash: HASH_START,
            is_kept,
            ..Self::default()
        }
    }

    /// Adds something that must be the same in every run of the same choices.
    pub(crate) fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(HASH_FACTOR);
        }
    }

    /// Adds a line for people, which is made only if somebody reads it.
    pub(crate) fn note(&mut self, now_ms: u64, line: impl FnOnce() -> String) {
        if self.is_kept {
            self.lines.push(format!("{now_ms:>7} ms  {}", line()));
        }
    }
}

/// A world in which a promise was broken.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Failure {
    /// What kind of world and its seed; none if the choices were bytes.
    pub seed: Option<(Kind, u64)>,
    /// Which promise, in words.
    pub broken: String,
    /// What happened until then.
    pub trace: Trace,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.broken)?;
        match self.seed {
            Some((Kind::Agent, seed)) => write!(f, "\nreplay with: cargo xtask sim --seed {seed}"),
            Some((Kind::Hub, seed)) => {
                write!(f, "\nreplay with: cargo xtask sim --hub --seed {seed}")
            }
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}
