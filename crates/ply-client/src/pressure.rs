//! How slow readers slow the agent down.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use crate::lock::lock;

/// The full queues of a connection. While there is one, no more is read from the agent.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    full: AtomicUsize,
    link: Mutex<Option<Waker>>,
}

impl Pressure {
    pub(crate) fn add(&self) {
        self.full.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn remove(&self) {
        self.full.fetch_sub(1, Ordering::SeqCst);
        // On a line of its own, so that nobody is woken under the lock.
        let link = lock(&self.link).take();
        if let Some(link) = link {
            link.wake();
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.full.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn poll_none(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.full.load(Ordering::SeqCst) == 0 {
            return Poll::Ready(());
        }
        *lock(&self.link) = Some(cx.waker().clone());
        // A queue may have been emptied between the look and the note.
        if self.full.load(Ordering::SeqCst) == 0 {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}
