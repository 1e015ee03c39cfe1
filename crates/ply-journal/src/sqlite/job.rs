//! What is asked of the writer, and what it gives out.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::held::Held;
use super::queue::Queue;
use super::run::Frames;
use super::trouble::Trouble;
use crate::{Description, Durability, Head};

/// Where an outcome goes.
pub(super) type Tell<T> = oneshot::Sender<Result<T, Trouble>>;

/// One thing to do, in the order of the queue.
#[derive(Debug)]
pub(super) enum Job {
    Create {
        head: Head,
        key: String,
        tell: Tell<Given>,
    },
    Open {
        id: String,
        tell: Tell<Option<Given>>,
    },
    Delete {
        id: String,
        tell: Tell<bool>,
    },
    Append(Append),
    /// Answered when all before it is written.
    Flush {
        tell: Tell<()>,
    },
    Release {
        held: Arc<Held>,
    },
}

impl Job {
    /// Returns whether it would give a session to somebody who has gone away.
    pub(super) fn is_in_vain(&self) -> bool {
        match self {
            Self::Create { tell, .. } => tell.is_closed(),
            Self::Open { tell, .. } => tell.is_closed(),
            _ => false,
        }
    }
}

/// Records to be written, with what they change in the session's row.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) held: Arc<Held>,
    pub(super) frames: Frames,
    pub(super) description: Option<Description>,
    pub(super) durability: Durability,
    /// How many appends of its log had failed when it was called.
    pub(super) failures: u64,
    /// None if whoever wrote it was told already that it is accepted.
    pub(super) tell: Option<Tell<()>>,
}

impl Append {
    pub(super) fn new(
        held: &Arc<Held>,
        frames: Frames,
        description: Option<Description>,
        durability: Durability,
    ) -> Self {
        Self {
            held: Arc::clone(held),
            frames,
            description,
            durability,
            failures: held.failures(),
            tell: None,
        }
    }

    /// Returns the bytes that it keeps in memory, about.
    pub(super) fn bytes(&self) -> usize {
        let text = |text: &Option<Option<String>>| {
            let text = text.as_ref().and_then(Option::as_deref);
            text.map_or(0, str::len)
        };
        let description = self.description.as_ref();
        let texts = description.map_or(0, |change| text(&change.title) + text(&change.host));
        self.frames.len() + texts
    }

    /// Returns why it must not be written: one that was called before it has failed since, or is
    /// among those that are about to, by lease.
    pub(super) fn overtaken(&self, failing: &HashMap<i64, Trouble>) -> Option<Trouble> {
        // What was accepted had none before it that could fail.
        let _waits = self.tell.as_ref()?;
        let failing = failing.get(&self.held.lease).cloned();
        failing.or_else(|| self.held.failed_since(self.failures))
    }
}

/// A session that was given out.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) head: Head,
    pub(super) epoch: u64,
    pub(super) records: u64,
    pub(super) lease: Lease,
}

/// The right to write a session. Dropped, also on its way to whoever asked for it, the session is
/// given back.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) held: Arc<Held>,
    queue: Arc<Queue>,
    is_unused: bool,
}

impl Lease {
    pub(super) fn new(held: Arc<Held>, queue: Arc<Queue>) -> Self {
        let is_unused = false;
        Self {
            held,
            queue,
            is_unused,
        }
    }

    /// Gives back a lease that nobody ever had: before all that waits, so that whoever asks for the
    /// session after the one who gave up gets it.
    pub(super) fn give_back(mut self) {
        self.is_unused = true;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let held = Arc::clone(&self.held);
        self.queue.release(held, self.is_unused);
    }
}
