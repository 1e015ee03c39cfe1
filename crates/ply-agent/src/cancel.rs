//! The wish of the user that a turn stop, as its code sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Says once that something is to stop. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    asked: AtomicBool,
    notify: Notify,
}

impl Cancel {
    pub(crate) fn ask(&self) {
        self.0.asked.store(true, Ordering::Release);
        self.0.notify.notify_waiters();
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.0.asked.load(Ordering::Acquire)
    }

    pub(crate) async fn asked(&self) {
        loop {
            // Made before the check, so that a wish between check and wait is not missed.
            let notified = self.0.notify.notified();
            if self.is_asked() {
                return;
            }
            notified.await;
        }
    }
}
