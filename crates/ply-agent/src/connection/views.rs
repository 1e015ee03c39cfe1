//! The sessions that a connection sees.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_session::ViewId;
use ply_wire::v2;

use crate::session::Session;
use crate::session::control::Control;

/// Which sessions this connection has attached to. Clones share it, since sessions are set up in
/// tasks of their own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Views(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    attached: HashMap<v2::SessionId, Attached>,
    /// Whether the client is gone, so that a session set up late is left at once.
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

    /// Adds a view and returns the one it takes the place of; gives it back if the client is gone.
    pub(super) fn insert(&self, attached: Attached) -> Result<Option<Attached>, Attached> {
        let mut state = self.lock();
        if state.gone {
            return Err(attached);
        }
        let id = attached.session.id().clone();
        Ok(state.attached.insert(id, attached))
    }

    pub(super) fn remove(&self, session: &v2::SessionId) -> Option<Attached> {
        self.lock().attached.remove(session)
    }

    /// Leaves every session, as the client is gone.
    pub(crate) fn detach_all(&self) {
        let all = {
            let mut state = self.lock();
            state.gone = true;
            std::mem::take(&mut state.attached)
        };
        for attached in all.into_values() {
            attached
                .session
                .control_if_open(Control::Detach(attached.view));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned map is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
