//! The sessions that a connection sees.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_session::ViewId;
use ply_wire::v2;

use crate::SessionSetup;
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
    /// What the session was given to work with, to open it again after its journal failed.
    pub(crate) setup: Arc<SessionSetup>,
}

impl Views {
    pub(super) fn get(&self, session: &v2::SessionId) -> Option<Attached> {
        let state = self.lock();
        let attached = state.attached.get(session);
        attached
            .filter(|attached| !attached.session.is_closed())
            .cloned()
    }

    /// Returns what a session was given to work with that ended because its journal failed.
    pub(super) fn failed(&self, session: &v2::SessionId) -> Option<Arc<SessionSetup>> {
        let state = self.lock();
        let attached = state.attached.get(session)?;
        attached.session.failure()?;
        Some(Arc::clone(&attached.setup))
    }

    /// Attaches to a session through `attach`, under the view that this connection has of it, or
    /// else under `fresh`. Returns the view, or none if the client is gone.
    ///
    /// `attach` runs under the lock, so that leaving cannot come before it.
    pub(super) fn attach(
        &self,
        session: &Session,
        setup: &Arc<SessionSetup>,
        fresh: ViewId,
        attach: impl FnOnce(ViewId),
    ) -> Option<ViewId> {
        let mut state = self.lock();
        if state.gone {
            return None;
        }
        let known = state.attached.get(session.id());
        let known = known.filter(|known| known.session.is(session));
        let view = known.map_or(fresh, |known| known.view);
        let attached = Attached {
            session: session.clone(),
            view,
            setup: Arc::clone(setup),
        };
        state.attached.insert(session.id().clone(), attached);
        attach(view);
        Some(view)
    }

    pub(super) fn remove(&self, session: &v2::SessionId) -> Option<Attached> {
        self.lock().attached.remove(session)
    }

    /// Forgets a view, unless another one took its place.
    pub(super) fn remove_view(&self, session: &v2::SessionId, view: ViewId) {
        let mut state = self.lock();
        let attached = state.attached.get(session);
        if attached.is_some_and(|attached| attached.view == view) {
            state.attached.remove(session);
        }
    }

    /// Tells every session that the client will send nothing more.
    pub(super) fn hang_up(&self) {
        for attached in self.lock().attached.values() {
            let hung_up = Control::HungUp(attached.view);
            attached.session.control_if_open(hung_up);
        }
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
