//! Whose turn it is at the journal of a session that is not open.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_wire::v2;
use tokio::sync::Notify;

/// Keeps a session from being opened while its journal is changed, since a journal has one owner at a time.
#[derive(Debug, Clone, Default)]
pub(super) struct Alone(Arc<Mutex<HashMap<v2::SessionId, VecDeque<Arc<Notify>>>>>);

/// A place in the queue for the journal of a session. Dropped, it lets the next one in.
#[derive(Debug)]
pub(crate) struct Place {
    alone: Alone,
    id: v2::SessionId,
    /// Told when the place is the first.
    is_first: Arc<Notify>,
}

impl Alone {
    /// Takes the last place in the queue, at once: requests are served in the order in which they came, whichever task runs
    /// first.
    pub(super) fn queue(&self, id: &v2::SessionId) -> Place {
        let is_first = Arc::<Notify>::default();
        let mut all = self.lock();
        let queue = all.entry(id.clone()).or_default();
        if queue.is_empty() {
            is_first.notify_one();
        }
        queue.push_back(Arc::clone(&is_first));
        drop(all);
        Place {
            alone: self.clone(),
            id: id.clone(),
            is_first,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<v2::SessionId, VecDeque<Arc<Notify>>>> {
        // No code that can panic runs under the lock, so a poisoned map is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Waits until nobody else is at the session's journal.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, it keeps its place and can be called again.
    pub(crate) async fn comes(&self) {
        self.is_first.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.alone.lock();
        let Some(queue) = all.get_mut(&self.id) else {
            return;
        };
        let was_first = |queue: &VecDeque<Arc<Notify>>| {
            let first = queue.front();
            first.is_some_and(|first| Arc::ptr_eq(first, &self.is_first))
        };
        if was_first(queue) {
            queue.pop_front();
            if let Some(next) = queue.front() {
                next.notify_one();
            }
        } else {
            queue.retain(|place| !Arc::ptr_eq(place, &self.is_first));
        }
        if queue.is_empty() {
            all.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn is_first(place: &Place) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        pin!(place.comes()).poll(&mut cx).is_ready()
    }

    #[test]
    fn places_come_in_their_order_and_one_that_is_given_up_is_skipped() {
        let (alone, id) = (Alone::default(), v2::SessionId::new("s"));
        let [one, two, three] = [(); 3].map(|()| alone.queue(&id));
        let other = alone.queue(&v2::SessionId::new("other"));
        assert!(is_first(&one) && is_first(&other));
        assert!(!is_first(&two) && !is_first(&three));
        drop(two);
        assert!(!is_first(&three), "the first is still there");
        drop(one);
        assert!(is_first(&three));
        drop((three, other));
        assert!(alone.lock().is_empty());
    }
}
