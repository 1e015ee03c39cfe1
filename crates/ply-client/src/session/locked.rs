//! The lock of a session, and when its readers are woken.
//!
//! A reader that is woken under the lock runs into it, and one that is woken for the first of many messages finds only that
//! one. So readers are woken after the lock is given back, and by the link's task only when it has handed over all that it has.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, MutexGuard};
use std::task::Waker;

use super::cell::{SessionCell, State};

/// A session that is locked. When it is unlocked, the readers who have something to read are woken.
pub(crate) struct Locked<'a> {
    // In this order: fields are dropped as they are declared.
    state: MutexGuard<'a, State>,
    woken: Woken,
}

/// Wakes when dropped.
#[derive(Default)]
struct Woken(Vec<Waker>);

impl<'a> Locked<'a> {
    pub(super) fn new(state: MutexGuard<'a, State>) -> Self {
        Self {
            state,
            woken: Woken::default(),
        }
    }
}

impl Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if !self.state.holds_wakes {
            self.woken.0 = self.state.readers.take_due();
        }
    }
}

impl Drop for Woken {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

/// Sessions whose readers are woken together.
#[derive(Default)]
pub(crate) struct Quiet(Vec<Arc<SessionCell>>);

impl Quiet {
    /// Puts off waking the readers of a session.
    pub(crate) fn add(&mut self, session: &Arc<SessionCell>) {
        if !self.0.last().is_some_and(|last| Arc::ptr_eq(last, session)) {
            session.lock().holds_wakes = true;
            self.0.push(Arc::clone(session));
        }
    }

    /// Wakes all who have something to read.
    pub(crate) fn end(&mut self) {
        for session in self.0.drain(..) {
            session.lock().holds_wakes = false;
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        self.end();
    }
}
