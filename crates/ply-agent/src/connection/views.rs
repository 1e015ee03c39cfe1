//! The sessions that a connection sees.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_session::{Input, ViewId};
use ply_wire::v2;

use crate::session::Session;

/// Closed sessions that may be kept before they are looked for.
const SWEEP_AT_MIN: usize = 16;

/// Which sessions this connection has attached to. Clones share it, since a session that closes may be opened again for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Views(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    attached: HashMap<v2::SessionId, Attached>,
    /// How many there may be before those that are closed are looked for.
    sweep_at: usize,
    /// Whether the client is gone, so that a session opened late is left at once.
    gone: bool,
}

/// A session and the view that this connection has of it.
#[derive(Debug, Clone)]
pub(crate) struct Attached {
    pub(crate) session: Session,
    pub(crate) view: ViewId,
    /// Whether the client asked to close it. Until that is answered nothing else of the client's is for this view.
    leaves: bool,
}

/// A client that asked to close a session, and may be refused.
#[derive(Debug)]
pub(crate) struct Leaving {
    views: Views,
    session: Session,
    pub(crate) view: ViewId,
}

impl Views {
    pub(super) fn get(&self, session: &v2::SessionId) -> Option<Attached> {
        let state = self.lock();
        let attached = state.attached.get(session);
        attached
            .filter(|attached| !attached.leaves && !attached.session.is_closed())
            .cloned()
    }

    /// Returns a session that this connection sees.
    pub(crate) fn session(&self, session: &v2::SessionId) -> Option<Session> {
        self.get(session).map(|attached| attached.session)
    }

    /// Returns the view that this connection has of a session, or notes that it gets `fresh`.
    pub(super) fn attach(&self, session: &Session, fresh: ViewId) -> ViewId {
        let mut state = self.lock();
        // Those that others closed, or that were deleted, would stay for as long as the client does. To look at all of them
        // each time would make many sessions slow to open.
        if state.attached.len() >= state.sweep_at {
            state.attached.retain(|_, seen| !seen.session.is_closed());
            state.sweep_at = SWEEP_AT_MIN.max(2 * state.attached.len());
        }
        let known = state.attached.get(session.id());
        let known = known.filter(|known| known.session.is(session) && !known.leaves);
        let view = known.map_or(fresh, |known| known.view);
        if !state.gone {
            state.insert(session, view);
        }
        view
    }

    /// Leaves a session again whose attachment was on its way when the client went: the session was not told, or too early.
    pub(super) fn detach_if_gone(&self, session: &Session, view: ViewId) {
        let is_gone = self.lock().gone;
        if is_gone {
            session.input_if_open(Input::Detach { view });
        }
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

    /// Takes nothing more for a session that the client asked to close or to delete. The view stays until that is done, so
    /// that a client which goes away meanwhile still leaves it.
    pub(super) fn leave(&self, session: &v2::SessionId) -> Option<Leaving> {
        let mut state = self.lock();
        let attached = state.attached.get_mut(session)?;
        if attached.session.is_closed() {
            state.attached.remove(session);
            return None;
        }
        if std::mem::replace(&mut attached.leaves, true) {
            return None;
        }
        Some(Leaving {
            views: self.clone(),
            session: attached.session.clone(),
            view: attached.view,
        })
    }

    /// Tells every session that the client will send nothing more.
    pub(super) fn hang_up(&self) {
        for Attached { session, view, .. } in self.lock().attached.values() {
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
        for Attached { session, view, .. } in all.into_values() {
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
        let attached = Attached {
            session: session.clone(),
            view,
            leaves: false,
        };
        self.attached.insert(session.id().clone(), attached);
    }
}

impl Leaving {
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Forgets the view, which the session has closed.
    pub(crate) fn closed(self) {
        let mut state = self.views.lock();
        if self.is_last(&state) {
            state.attached.remove(self.session.id());
        }
    }

    /// Takes the view up again, as the session stays open.
    pub(crate) fn refused(self) {
        let mut state = self.views.lock();
        if self.is_last(&state)
            && let Some(attached) = state.attached.get_mut(self.session.id())
        {
            attached.leaves = false;
            return;
        }
        // The client is gone, or it sees the session anew.
        drop(state);
        self.session
            .input_if_open(Input::Detach { view: self.view });
    }

    /// Returns whether this is the last view of the session that the client has.
    fn is_last(&self, state: &State) -> bool {
        let attached = state.attached.get(self.session.id());
        attached.is_some_and(|last| last.view == self.view && last.session.is(&self.session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::control::Control;

    fn session() -> Session {
        Session::new(v2::SessionId::new("s"), "/work".into(), Vec::new())
    }

    /// Returns the views that the session was told of as detached.
    fn detached(session: &Session) -> Vec<ViewId> {
        let controls = session.take_controls().into_iter();
        let views = controls.filter_map(|control| match control {
            Control::Input(input) => match *input {
                Input::Detach { view } => Some(view),
                _ => None,
            },
            _ => None,
        });
        views.collect()
    }

    #[test]
    fn a_client_whose_close_is_refused_sees_the_session_as_before() {
        let (views, session) = (Views::default(), session());
        views.attach(&session, ViewId(1));
        let leaving = views.leave(session.id()).unwrap();
        assert!(views.get(session.id()).is_none());
        assert!(views.leave(session.id()).is_none(), "once is enough");
        leaving.refused();
        assert_eq!(views.get(session.id()).unwrap().view, ViewId(1));
        views.leave(session.id()).unwrap().closed();
        assert!(views.get(session.id()).is_none());
        views.detach_all();
        assert_eq!(detached(&session), []);
    }

    #[test]
    fn a_client_that_goes_away_while_it_closes_a_session_leaves_it() {
        let (views, session) = (Views::default(), session());
        views.attach(&session, ViewId(1));
        let leaving = views.leave(session.id()).unwrap();
        views.detach_all();
        assert_eq!(detached(&session), [ViewId(1)]);
        leaving.refused();
        assert!(views.get(session.id()).is_none());
    }

    #[test]
    fn a_session_that_is_attached_to_late_is_left_at_once() {
        let (views, session) = (Views::default(), session());
        let view = views.attach(&session, ViewId(1));
        views.detach_if_gone(&session, view);
        assert_eq!(detached(&session), []);
        views.detach_all();
        let late = views.attach(&session, ViewId(2));
        views.detach_if_gone(&session, late);
        assert_eq!(detached(&session), [view, late]);
        assert!(views.get(session.id()).is_none());
    }

    #[test]
    fn a_client_that_comes_again_before_its_close_is_answered_keeps_its_new_view() {
        for is_refused in [false, true] {
            let (views, session) = (Views::default(), session());
            views.attach(&session, ViewId(1));
            let leaving = views.leave(session.id()).unwrap();
            assert_eq!(views.attach(&session, ViewId(2)), ViewId(2));
            match is_refused {
                true => leaving.refused(),
                false => leaving.closed(),
            }
            assert_eq!(views.get(session.id()).unwrap().view, ViewId(2));
            let left: &[ViewId] = if is_refused { &[ViewId(1)] } else { &[] };
            assert_eq!(detached(&session), left);
        }
    }
}
