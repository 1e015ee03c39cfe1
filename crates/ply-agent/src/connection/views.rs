//! The sessions that a connection sees.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_session::{Input, ViewId};
use ply_wire::v2;

use crate::session::Session;

/// Which sessions this connection has attached to. Clones share it, since a session that closes may be opened again for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Views(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    attached: HashMap<v2::SessionId, Attached>,
    /// Whether the client is gone, so that a session opened late is left at once.
    gone: bool,
}

/// A session and the view that this connection has of it.
#[derive(Debug, Clone)]
pub(crate) struct Attached {
    pub(crate) session: Session,
    pub(crate) view: ViewId,
}

impl Views {
    pub(super) fn get(&self, session: &v2::SessionId) -> Option<Attached> {
        let state = self.lock();
        let attached = state.attached.get(session);
        attached
            .filter(|attached| !attached.session.is_closed())
            .cloned()
    }

    /// Returns the view that this connection has of a session, or notes that it gets `fresh`.
    pub(super) fn attach(&self, session: &Session, fresh: ViewId) -> ViewId {
        let mut state = self.lock();
        let known = state.attached.get(session.id());
        let known = known.filter(|known| known.session.is(session));
        let view = known.map_or(fresh, |known| known.view);
        state.insert(session, view);
        view
    }

    /// Notes that a session was opened again while the client was about to attach to it.
    pub(crate) fn rebind(&self, session: &Session, view: ViewId) {
        let mut state = self.lock();
        if state.gone {
            drop(state);
            return session.input_if_open(Input::Detach { view });
        }
        state.insert(session, view);
    }

    pub(super) fn remove(&self, session: &v2::SessionId) {
        self.lock().attached.remove(session);
    }

    /// Tells every session that the client will send nothing more.
    pub(super) fn hang_up(&self) {
        for Attached { session, view } in self.lock().attached.values() {
            session.input_if_open(Input::HungUp { view: *view });
        }
    }

    /// Leaves every session, as the client is gone.
    pub(crate) fn detach_all(&self) {
        let all = {
            let mut state = self.lock();
            state.gone = true;
            std::mem::take(&mut state.attached)
        };
        for Attached { session, view } in all.into_values() {
            session.input_if_open(Input::Detach { view });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned map is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn insert(&mut self, session: &Session, view: ViewId) {
        let session = session.clone();
        let id = session.id().clone();
        self.attached.insert(id, Attached { session, view });
    }
}
