//! Whether an agent can come back, for those who wait for what it does next.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

/// What is to be expected of an agent, over all its lives.
#[derive(Debug)]
pub(crate) struct Fate {
    can_return: AtomicBool,
    over: watch::Sender<bool>,
}

impl Fate {
    /// Returns the fate of an agent that is started again when it is needed.
    pub(crate) fn returning() -> Self {
        Self {
            can_return: AtomicBool::new(true),
            over: watch::Sender::new(false),
        }
    }

    /// Returns the fate of an agent that has one life.
    pub(crate) fn final_life() -> Self {
        let fate = Self::returning();
        fate.give_up();
        fate
    }

    /// Notes that the agent is not started again.
    pub(crate) fn give_up(&self) {
        self.can_return.store(false, Ordering::SeqCst);
    }

    /// Notes that a life has ended and its sessions know.
    pub(crate) fn life_ended(&self) {
        if !self.can_return.load(Ordering::SeqCst) {
            self.over.send_replace(true);
        }
    }

    /// Waits until nothing will happen any more.
    pub(crate) async fn over(&self) {
        let mut over = self.over.subscribe();
        // The sender is ours, so waiting cannot fail.
        drop(over.wait_for(|over| *over).await);
    }
}
