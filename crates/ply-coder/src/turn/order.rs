//! Which calls may run beside each other.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{
    OwnedMutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit,
};

use crate::tool::Order;

/// How many calls may run beside each other.
const SIDE_BY_SIDE_MAX: usize = 8;

/// The queue of the calls of a turn. Whoever waits is served in the order of asking.
#[derive(Debug)]
pub(super) struct Queue {
    alone: RwLock<()>,
    places: Semaphore,
    paths: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
}

/// The right to run.
#[derive(Debug)]
#[expect(dead_code, reason = "held, not looked at")]
pub(super) enum Right<'q> {
    Apart,
    Alone(RwLockWriteGuard<'q, ()>),
    Shared(
        RwLockReadGuard<'q, ()>,
        SemaphorePermit<'q>,
        Vec<OwnedMutexGuard<()>>,
    ),
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            alone: RwLock::new(()),
            places: Semaphore::new(SIDE_BY_SIDE_MAX),
            paths: Mutex::default(),
        }
    }
}

impl Queue {
    /// Waits until a call may run.
    pub(super) async fn enter(&self, order: &Order) -> Right<'_> {
        let paths = match order {
            // It would wait for its own calls, and they for it.
            Order::Apart => return Right::Apart,
            Order::Alone => return Right::Alone(self.alone.write().await),
            Order::Shared => Vec::new(),
            Order::Paths(paths) => {
                // In one order for all, so that no two wait for each other.
                let mut paths = paths.clone();
                paths.sort();
                paths.dedup();
                paths
            }
        };
        let shared = self.alone.read().await;
        let mut held = Vec::new();
        for path in paths {
            let lock = {
                let mut locks = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(locks.entry(path).or_default())
            };
            held.push(lock.lock_owned().await);
        }
        let place = self.places.acquire().await;
        let place = place.expect("the semaphore is never closed");
        Right::Shared(shared, place, held)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn paths(path: &str) -> Order {
        Order::Paths(vec![PathBuf::from(path)])
    }

    #[test]
    fn shared_calls_run_side_by_side_and_alone_means_alone() {
        let queue = Queue::default();
        let one = queue.enter(&Order::Shared).now_or_never().unwrap();
        let two = queue.enter(&paths("/a")).now_or_never().unwrap();
        assert!(queue.enter(&Order::Alone).now_or_never().is_none());
        drop((one, two));
        let alone = queue.enter(&Order::Alone).now_or_never().unwrap();
        assert!(queue.enter(&Order::Shared).now_or_never().is_none());
        drop(alone);
        assert!(queue.enter(&Order::Shared).now_or_never().is_some());
    }

    #[test]
    fn a_call_that_has_calls_of_its_own_holds_none_of_them_up() {
        let queue = Queue::default();
        let apart = queue.enter(&Order::Apart).now_or_never().unwrap();
        let alone = queue.enter(&Order::Alone).now_or_never().unwrap();
        assert!(queue.enter(&Order::Apart).now_or_never().is_some());
        drop((apart, alone));
    }

    #[test]
    fn one_file_is_changed_by_one_call_at_a_time() {
        let queue = Queue::default();
        let one = queue.enter(&paths("/a")).now_or_never().unwrap();
        assert!(queue.enter(&paths("/a")).now_or_never().is_none());
        assert!(queue.enter(&paths("/b")).now_or_never().is_some());
        drop(one);
        assert!(queue.enter(&paths("/a")).now_or_never().is_some());
    }
}
