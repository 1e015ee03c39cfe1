//! Calls and terminals that can be stopped one by one, and those that outlive their turn.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ply_session::Entity;

use super::Session;
use crate::cancel::Cancel;

/// Whom to tell that a call or terminal is to stop.
#[derive(Debug, Default)]
pub(super) struct Watches(Mutex<HashMap<Entity, Cancel>>, Mutex<Option<Passed>>);

/// Passes on what another program is to stop.
struct Passed(Box<dyn Fn(Entity) + Send + Sync>);

impl std::fmt::Debug for Passed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passed")
    }
}

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

    /// Says who is told that a call or terminal is to stop which another program reported. It is called on the session's task, so
    /// it must not wait.
    pub(crate) fn pass_cancels_to(&self, tell: impl Fn(Entity) + Send + Sync + 'static) {
        *self.0.watches.passed() = Some(Passed(Box::new(tell)));
    }

    /// Passes on the wish that one call or terminal stop.
    pub(super) fn stop(&self, entity: &Entity) {
        if let Some(cancel) = self.0.watches.lock().get(entity) {
            return cancel.ask();
        }
        if let Some(Passed(tell)) = &*self.0.watches.passed() {
            tell(entity.clone());
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

    fn passed(&self) -> MutexGuard<'_, Option<Passed>> {
        self.1.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.session.0.watches.lock().remove(&self.entity);
    }
}
