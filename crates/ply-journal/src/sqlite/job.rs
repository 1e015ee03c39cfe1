//! What is asked of the writer, and what it gives out.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::oneshot;

use super::queue::Queue;
use super::run::{Frames, Key};
use super::trouble::Trouble;
use crate::{Description, Durability, Head};

/// Where an outcome goes.
pub(super) type Tell<T> = oneshot::Sender<Result<T, Trouble>>;

/// One thing to do, in the order of the queue.
#[derive(Debug)]
pub(super) enum Job {
    Create {
        head: Head,
        tell: Tell<Lease>,
    },
    Open {
        id: String,
        tell: Tell<Option<(Head, Lease)>>,
    },
    Delete {
        id: String,
        tell: Tell<bool>,
    },
    Append {
        held: Arc<Held>,
        frames: Frames,
        durability: Durability,
        /// None if whoever wrote it was told already that it is accepted.
        tell: Option<Tell<()>>,
    },
    Describe {
        held: Arc<Held>,
        change: Description,
        tell: Tell<()>,
    },
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

/// A session that this store holds.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) number: i64,
    pub(super) lease: i64,
    pub(super) key: Key,
    /// Why nothing can be written any more.
    pub(super) over: OnceLock<Trouble>,
    /// Appends that were accepted and are not written yet.
    pub(super) unwritten: AtomicUsize,
}

impl Held {
    /// Notes that an append that was accepted is written.
    pub(super) fn note_written(&self) {
        self.unwritten.fetch_sub(1, Ordering::AcqRel);
    }

    pub(super) fn check(&self) -> Result<(), Trouble> {
        self.over.get().map_or(Ok(()), |over| Err(over.clone()))
    }
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
