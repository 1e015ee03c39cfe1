//! The peer's requests that we have not answered yet.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::{RequestId, RpcError};

#[derive(Debug, Default)]
pub(crate) struct Served(Mutex<HashMap<RequestId, Arc<Cancel>>>);

/// The peer's wish, or the link's end, as seen by whoever works on the answer.
#[derive(Default)]
pub(crate) struct Cancel {
    asked: AtomicBool,
    notify: Notify,
    hook: Mutex<Option<Hook>>,
}

type Hook = Box<dyn FnOnce() + Send>;

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel")
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}

/// Why a request is not taken on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    IdInUse,
    TooMany,
    NotReading,
}

impl Refused {
    /// Says in an answer what to do about it.
    pub(crate) fn into_error(self) -> RpcError {
        match self {
            Self::IdInUse => {
                RpcError::invalid_request("a request with this id is not answered yet")
            }
            Self::TooMany => {
                RpcError::internal("too many requests are being served; wait for an answer")
            }
            Self::NotReading => {
                RpcError::internal("earlier answers wait to be read; read them first")
            }
        }
    }
}

impl Served {
    pub(crate) fn begin(&self, id: &RequestId, max: usize) -> Result<Arc<Cancel>, Refused> {
        let mut requests = self.lock();
        if requests.contains_key(id) {
            return Err(Refused::IdInUse);
        }
        if requests.len() >= max {
            return Err(Refused::TooMany);
        }
        let cancel = Arc::new(Cancel::default());
        requests.insert(id.clone(), Arc::clone(&cancel));
        Ok(cancel)
    }

    /// Gives the answer through `answer`, if it is the first and only one.
    ///
    /// The lock is held meanwhile: a link that ends once every request is answered must not see the request gone and its
    /// answer not there yet.
    pub(crate) fn end(&self, id: &RequestId, answer: impl FnOnce()) {
        let mut requests = self.lock();
        if requests.remove(id).is_some() {
            answer();
        }
    }

    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let cancel = self.lock().get(id).map(Arc::clone);
        if let Some(cancel) = &cancel {
            cancel.ask();
        }
        cancel.is_some()
    }

    pub(crate) fn cancel_all(&self) {
        // Hooks may answer, which takes the lock.
        let all: Vec<_> = self.lock().values().map(Arc::clone).collect();
        for cancel in all {
            cancel.ask();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Arc<Cancel>>> {
        // No code that can panic runs under the lock, so a poisoned map is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cancel {
    fn ask(&self) {
        self.asked.store(true, Ordering::Release);
        self.notify.notify_waiters();
        self.run_hook();
    }

    /// Calls `hook` when the wish comes, or now if it has come.
    pub(crate) fn on_asked(&self, hook: Hook) {
        *self.hook() = Some(hook);
        // A wish between the two may have missed the hook.
        if self.is_asked() {
            self.run_hook();
        }
    }

    fn run_hook(&self) {
        // Taken on a line of its own, so that the lock is free while the hook runs.
        let hook = self.hook().take();
        // Most hooks run on the link's task, and a panic of one there would end every session of the link.
        if let Some(hook) = hook
            && catch_unwind(AssertUnwindSafe(hook)).is_err()
        {
            tracing::error!("a hook for cancelled requests panicked");
        }
    }

    fn hook(&self) -> MutexGuard<'_, Option<Hook>> {
        self.hook.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    pub(crate) async fn asked(&self) {
        loop {
            // Made before the check, so that a wish between check and wait is not missed.
            let notified = self.notify.notified();
            if self.is_asked() {
                return;
            }
            notified.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_runs_without_the_lock() {
        let cancel = Arc::new(Cancel::default());
        let (same, (told, heard)) = (Arc::clone(&cancel), std::sync::mpsc::sync_channel(1));
        cancel.on_asked(Box::new(move || {
            same.on_asked(Box::new(move || told.send(()).unwrap_or_default()));
        }));
        cancel.ask();
        assert_eq!(heard.try_recv(), Ok(()));
    }
}
