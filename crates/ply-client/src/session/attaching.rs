//! Binding a session to a life of its agent.

use std::sync::Arc;

use ply_wire::lift::Lifter;
use ply_wire::negotiate::Version;

use super::cell::{History, SessionCell, State, Wire};

impl SessionCell {
    /// Binds the session to a connection, under which its updates go from now on, and returns the name of this try to open it.
    /// None if the connection has another session of this id.
    pub(crate) fn attach(self: &Arc<Self>, wire: Wire, history: History) -> Option<u64> {
        if !wire.routes.insert(self) {
            return None;
        }
        let mut state = self.lock();
        state.attached += 1;
        state.opened = None;
        if history == History::Known {
            state.keep_options();
        }
        state.kept.told = false;
        state.lifter = (wire.version == Version::V1).then(|| {
            // Made-up ids must be new for each life of the agent.
            let prefix = format!("ply.{}.", wire.epoch);
            Lifter::new(prefix, &self.setup.cwd)
        });
        state.history = history;
        state.wire = Some(wire);
        Some(state.attached)
    }

    /// Takes what the agent said when it opened the session, which may be prompted from now on; a session that was open in
    /// another life of the agent, only once its options are what they were. The answer to a try that was given up says nothing
    /// about the one that is under way.
    pub(crate) fn opened(&self, attached: u64, settle: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        if state.attached != attached || state.wire.is_none() {
            return;
        }
        settle(&mut state);
        let history = std::mem::replace(&mut state.history, History::Taken);
        if history == History::Taken {
            state.note_first_options();
            state.opened = state.wire.as_ref().map(|wire| wire.epoch);
        }
    }

    /// Notes that the options are what they were, so that the session may be prompted again.
    pub(super) fn restored(&self, attached: u64) {
        let mut state = self.lock();
        if state.attached == attached {
            state.kept.restored();
            state.opened = state.wire.as_ref().map(|wire| wire.epoch);
        }
    }

    /// Takes the session off a connection on which it could not be opened.
    pub(crate) fn detach(self: &Arc<Self>, attached: u64) {
        let wire = {
            let mut state = self.lock();
            if state.attached != attached {
                return;
            }
            state.opened = None;
            state.wire.take()
        };
        if let Some(wire) = wire {
            wire.routes.remove(self);
        }
    }

    /// Returns the life of the agent on which the session is open.
    pub(crate) fn epoch(&self) -> Option<u64> {
        self.lock().opened
    }
}
