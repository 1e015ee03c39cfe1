//! Locking without giving up after a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. What a panic left behind is still the best there is, and no state here can be half-written in a harmful way.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
