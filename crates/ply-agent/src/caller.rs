//! What a server knows of a client besides what the client says itself.

use std::any::Any;
use std::sync::Arc;

use ply_session::Rights;

use crate::About;

/// What a server knows of a client besides what the client says itself. For programs that host sessions of several agents or
/// people; a client that came with nothing may do everything.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Caller {
    /// The agent that the client is told it speaks to, where that is not the same for all of them.
    pub about: Option<Arc<About>>,
    /// On whose behalf it acts.
    pub principal: Option<Arc<str>>,
    /// What it may do.
    pub rights: Rights,
    /// What the journal keeps of sessions that it makes ([`Head::host`](crate::journal::Head::host)). Listings show it those whose
    /// first line is the same, or all if it has none.
    pub host: Option<Arc<str>>,
    context: Option<Arc<dyn Any + Send + Sync>>,
}

impl Caller {
    /// Returns a client of which nothing is known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says which agent it is told that it speaks to.
    #[must_use]
    pub fn about(mut self, about: Arc<About>) -> Self {
        self.about = Some(about);
        self
    }

    /// Says on whose behalf it acts.
    #[must_use]
    pub fn principal(mut self, principal: impl Into<Arc<str>>) -> Self {
        self.principal = Some(principal.into());
        self
    }

    /// Says what it may do.
    #[must_use]
    pub fn rights(mut self, rights: Rights) -> Self {
        self.rights = rights;
        self
    }

    /// Says what the journal keeps of sessions that it makes.
    #[must_use]
    pub fn host(mut self, host: impl Into<Arc<str>>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Adds something of the program's own, which [`Agent::open`](crate::Agent::open) finds with [`Caller::get`]. It is never
    /// written anywhere.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(mut self, context: Arc<T>) -> Self {
        self.context = Some(context);
        self
    }

    /// Returns what was added, if it is of this type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        Arc::clone(self.context.as_ref()?).downcast().ok()
    }
}

impl std::fmt::Debug for Caller {
    /// Leaves out what the program added: it may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller")
            .field("principal", &self.principal)
            .field("rights", &self.rights)
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}
