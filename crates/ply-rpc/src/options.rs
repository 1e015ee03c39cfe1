//! How a link behaves.

use std::time::Duration;

use crate::limits::Limits;

/// For the side that starts the other one: when that closes its output, hardly anyone is left to read an answer.
const CLIENT_DRAIN_TIME_MAX: Duration = Duration::from_millis(100);

/// What to do about input that is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Garbage {
    /// Answer with an error under `id: null`, a limited number of times.
    Answer,
    /// Count it and keep the first lines, and never write back: the other side's output may be anything.
    Count,
}

/// How a link behaves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// What to do about input that is no message.
    pub garbage: Garbage,
    /// Sizes and times.
    pub limits: Limits,
    /// Whether a request may be written by the task that makes it, if the link's task sleeps and nothing else is to be written,
    /// rather than wake the one for the other. The transport then runs wherever requests are made.
    pub direct_writes: bool,
}

impl Options {
    /// For the side that is started and serves: it answers what it cannot read.
    #[must_use]
    pub fn agent() -> Self {
        Self {
            garbage: Garbage::Answer,
            limits: Limits::default(),
            direct_writes: false,
        }
    }

    /// For the side that starts the other one: it only counts what it cannot read.
    #[must_use]
    pub fn client() -> Self {
        let limits = Limits {
            drain_time: CLIENT_DRAIN_TIME_MAX,
            ..Limits::default()
        };
        Self {
            garbage: Garbage::Count,
            limits,
            direct_writes: false,
        }
    }

    /// Replaces the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets requests be written where they are made, or not.
    #[must_use]
    pub fn direct_writes(mut self, direct: bool) -> Self {
        self.direct_writes = direct;
        self
    }
}
