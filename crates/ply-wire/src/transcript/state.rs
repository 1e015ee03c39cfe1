//! What there is one of per session: its state, its description and its usage.

use serde::{Deserialize, Serialize};

use super::entry::patch_meta;
use crate::v2;

/// Whether the session does foreground work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// No foreground work; where every session starts.
    #[default]
    Idle,
    /// Foreground work is in progress.
    Running,
    /// Foreground work waits for the user.
    RequiresAction,
    /// A state this version does not know: busy, in a way that cannot be named (V2-STATE-10).
    Unknown(String),
}

impl State {
    /// Returns whether foreground work goes on; an unknown state counts as that.
    #[must_use]
    pub fn is_active(&self) -> bool {
        *self != Self::Idle
    }
}

impl From<&v2::StateUpdate> for State {
    fn from(update: &v2::StateUpdate) -> Self {
        match update {
            v2::StateUpdate::Idle(_) => Self::Idle,
            v2::StateUpdate::Running(_) => Self::Running,
            v2::StateUpdate::RequiresAction(_) => Self::RequiresAction,
            v2::StateUpdate::Other(other) => Self::Unknown(other.state.clone()),
            _ => Self::Unknown("unknown".to_owned()),
        }
    }
}

/// How a session presents itself.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The title.
    pub title: Option<String>,
    /// The time of the last activity, RFC 3339.
    pub updated_at: Option<String>,
    /// Metadata, patched by key.
    pub meta: v2::Meta,
}

impl SessionInfo {
    pub(crate) fn apply(&mut self, update: &v2::SessionInfoUpdate) {
        update.title.clone().update_to(&mut self.title);
        update.updated_at.clone().update_to(&mut self.updated_at);
        patch_meta(&mut self.meta, &update.meta);
    }
}

/// Context size and cost.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens in the context.
    pub used: u64,
    /// Tokens the context can hold.
    pub size: u64,
    /// Cost of the session so far; the last one reported stays until it is cleared (V2-USAGE-01).
    pub cost: Option<v2::Cost>,
    /// Metadata of the last report.
    pub meta: Option<v2::Meta>,
}

impl Usage {
    pub(crate) fn apply(&mut self, update: &v2::UsageUpdate) {
        (self.used, self.size) = (update.used, update.size);
        update.cost.clone().update_to(&mut self.cost);
        self.meta.clone_from(&update.meta);
    }
}
