//! Calls and terminals that can be stopped one by one, and those that outlive their turn.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ply_session::Entity;

use super::Session;
use crate::cancel::Cancel;

/// Whom to tell that a call or terminal is to stop.
#[derive(Debug, Default)]
pub(super) struct Watches(Mutex<HashMap<Entity, Cancel>>);

/// Hears that one call or terminal is to stop, by itself or with its session.
#[derive(Debug)]
pub(crate) struct Watched {
    session: Session,
    entity: Entity,
    pub(crate) cancel: Cancel,
}

impl Session {
    /// Listens for the wish that something stop. To be done before clients hear that they may wish it.
    pub(crate) fn watch(&self, entity: Entity) -> Watched {
        let cancel = Cancel::default();
        self.0.watches.lock().insert(entity.clone(), cancel.clone());
        if self.is_closed() {
            cancel.ask();
        }
        Watched {
            session: self.clone(),
            entity,
            cancel,
        }
    }

    /// Passes on the wish that one call or terminal stop.
    pub(super) fn stop(&self, entity: &Entity) {
        if let Some(cancel) = self.0.watches.lock().get(entity) {
            cancel.ask();
        }
    }

    /// Has everything stop, as the session is over.
    pub(super) fn stop_all(&self) {
        self.0.watches.lock().values().for_each(Cancel::ask);
    }
}

impl Watches {
    fn lock(&self) -> MutexGuard<'_, HashMap<Entity, Cancel>> {
        // No code that can panic runs under the lock, so a poisoned map is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.session.0.watches.lock().remove(&self.entity);
    }
}
