//! An answer on its way from the link's task to the task that waits for it.
//!
//! Unlike a channel it does not wake: it returns whom to wake. Answers come in bursts, and the task that is woken for the
//! first, perhaps on another thread, would find that the rest has yet to come.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// What a call's code made of the answer; none if it panicked.
#[must_use = "an answer is there when it is awaited"]
#[derive(Debug)]
pub struct Answered<T>(Arc<Mutex<Slot<T>>>);

/// Tells once.
#[derive(Debug)]
pub(crate) struct Teller<T>(Arc<Mutex<Slot<T>>>);

#[derive(Debug)]
enum Slot<T> {
    Waits(Option<Waker>),
    Told(T),
    /// There is no answer, or no more.
    Over,
}

pub(crate) fn pair<T>() -> (Teller<T>, Answered<T>) {
    let slot = Arc::new(Mutex::new(Slot::Waits(None)));
    (Teller(Arc::clone(&slot)), Answered(slot))
}

fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    // No code that can panic runs under the lock, so a poisoned slot is whole.
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Teller<T> {
    /// Returns whom to wake.
    #[must_use]
    pub(crate) fn tell(self, value: T) -> Option<Waker> {
        match std::mem::replace(&mut *lock(&self.0), Slot::Told(value)) {
            Slot::Waits(waker) => waker,
            Slot::Told(_) | Slot::Over => None,
        }
    }
}

impl<T> Drop for Teller<T> {
    fn drop(&mut self) {
        let mut slot = lock(&self.0);
        let waker = match &mut *slot {
            Slot::Waits(waker) => waker.take(),
            Slot::Told(_) | Slot::Over => return,
        };
        *slot = Slot::Over;
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Answered<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = lock(&self.0);
        if let Slot::Waits(waker) = &mut *slot {
            match waker {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            return Poll::Pending;
        }
        match std::mem::replace(&mut *slot, Slot::Over) {
            Slot::Told(value) => Poll::Ready(Some(value)),
            Slot::Waits(_) | Slot::Over => Poll::Ready(None),
        }
    }
}
