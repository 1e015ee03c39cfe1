//! What to do about a failed request. Pure: time and chance are passed in.

use std::time::Duration;

use crate::model::{Failure, FailureClass};

/// How many times in a row a request is made anew after it failed.
pub const TRIES_MAX: u32 = 5;
/// How many times in a row a request is made anew while there is no network: 55 minutes of waiting, and
/// on top of it the time in which each try finds that out.
pub const NETWORK_TRIES_MAX: u32 = 60;
/// The longest wait that a service may ask for.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
/// The longest wait between tries.
pub const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// The wait between tries while there is no network, once the first tries failed.
pub const NETWORK_WAIT: Duration = Duration::from_secs(60);
/// The most that the first try waits; each further one waits up to twice as long.
const BACKOFF_BASE: Duration = Duration::from_secs(1);

/// What happened to a request before, since an answer last came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct History {
    /// How often it was made anew.
    pub retries: u32,
    /// Whether the conversation was made shorter for it.
    pub compacted: bool,
    /// Whether the conversation was repaired for it.
    pub repaired: bool,
    /// Whether an answer that was cut was continued.
    pub continued: bool,
}

impl History {
    /// Returns the history with what was decided.
    #[must_use]
    pub fn with(self, next: Next) -> Self {
        match next {
            Next::Retry { .. } => Self {
                retries: self.retries.saturating_add(1),
                ..self
            },
            Next::Compact => Self {
                compacted: true,
                ..self
            },
            Next::Repair => Self {
                repaired: true,
                ..self
            },
            Next::Continue { .. } => Self {
                continued: true,
                ..self
            },
            Next::GiveUp => self,
        }
    }
}

/// How much of the answer had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// Nothing that the user or a tool got to see; thoughts do not count.
    Nothing,
    /// Text, or a complete call, which may have been run.
    Something,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Make the same request after a while.
    Retry {
        /// How long to wait.
        after: Duration,
    },
    /// Make the conversation shorter, then make the request.
    Compact,
    /// Repair the conversation, then make the request.
    Repair,
    /// Keep the text and the complete calls with their results, drop what is incomplete, and ask the
    /// model to go on. No call is run again.
    Continue {
        /// How long to wait.
        after: Duration,
    },
    /// Tell the user.
    GiveUp,
}

/// Says what to do about a failure. `jitter` is a random number from 0 to 1.
pub fn decide(history: History, failure: &Failure, received: Received, jitter: f64) -> Next {
    use FailureClass as Class;
    match failure.class {
        Class::Busy
        | Class::Service
        | Class::Network
        | Class::Unreachable
        | Class::Silent
        | Class::Cut
        | Class::Malformed => {
            let Some(after) = wait(history, failure, jitter) else {
                return Next::GiveUp;
            };
            match received {
                Received::Nothing => Next::Retry { after },
                Received::Something if history.continued => Next::GiveUp,
                Received::Something => Next::Continue { after },
            }
        }
        Class::Rejected if !history.repaired && received == Received::Nothing => Next::Repair,
        Class::ContextOverflow if !history.compacted => Next::Compact,
        _ => Next::GiveUp,
    }
}

/// Returns how long to wait; none when there were enough tries.
fn wait(history: History, failure: &Failure, jitter: f64) -> Option<Duration> {
    if let Some(after) = failure.retry_after {
        return (after <= RETRY_AFTER_MAX && history.retries < TRIES_MAX).then_some(after);
    }
    if history.retries < TRIES_MAX {
        let most = BACKOFF_BASE.saturating_mul(1 << history.retries.min(16));
        let jitter = if jitter.is_finite() { jitter } else { 1.0 };
        return Some(most.min(BACKOFF_MAX).mul_f64(jitter.clamp(0.0, 1.0)));
    }
    // A silent service is not asked that often: each try takes minutes, and may cost.
    let down = failure.class == FailureClass::Network && history.retries < NETWORK_TRIES_MAX;
    down.then_some(NETWORK_WAIT)
}

#[cfg(test)]
mod tests;
