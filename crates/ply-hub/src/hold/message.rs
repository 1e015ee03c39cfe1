//! The bodies of frames that are no lines.

use serde::{Deserialize, Serialize};

use crate::pipe;

/// The version of what hubs and holders say to each other. Whoever has the higher one keeps to the lower.
pub(super) const PROTOCOL: u32 = 1;

/// What a hub says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FromHub {
    pub(super) protocol: u32,
    /// Rises with each hub that owns the sessions.
    pub(super) epoch: u64,
}

/// What a holder says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FromHolder {
    pub(super) protocol: u32,
    /// The agent's process id, which with `started` names it until the next boot.
    pub(super) pid: u32,
    pub(super) started: u64,
    pub(super) last_in: u64,
    pub(super) first_out: u64,
    pub(super) last_out: u64,
}

impl FromHolder {
    pub(super) fn stands(&self) -> pipe::Hello {
        pipe::Hello {
            last_in: self.last_in,
            first_out: self.first_out,
            last_out: self.last_out,
        }
    }
}

/// How the agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
}

/// What a holder says on its standard output once, when its agent runs or does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Started {
        pid: u32,
    },
    /// In words.
    Failed(String),
}

/// Returns a body. These types cannot fail to be written.
pub(super) fn body(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}
