//! The sessions of an agent: which are open, and how one is made, found, closed and forgotten.

mod deferred;
mod erased;
mod reading;

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ply_journal::{Filter, Head, Journal, Page};
use ply_rpc::Responder;
use ply_session::{Engine, Settings, ViewId};
use ply_wire::v2;
use tokio::sync::oneshot;

use self::deferred::Deferred;
pub(crate) use self::erased::{DynAgent, Erased};
pub use self::reading::read_history;
use crate::error::no_such_session;
use crate::session::control::{Control, Done};
use crate::session::{Kept, Session, Task};
use crate::{About, Error, Result, SessionSetup, clock};

/// Sessions on one page of a listing.
const LIST_PAGE_MAX: usize = 50;
/// How long all sessions together may take to close when the agent ends.
const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(4);

/// The place of one session, open or about to be. Its lock is held while the session is opened, so
/// that two clients who ask for it at once get the same one.
type Slot = Arc<tokio::sync::Mutex<Option<Session>>>;

/// The sessions of one agent. All its connections share them.
#[derive(Debug)]
pub(crate) struct Host {
    agent: Arc<dyn DynAgent>,
    journal: Deferred,
    about: About,
    slots: Mutex<HashMap<v2::SessionId, Slot>>,
    views: AtomicU64,
}

impl Host {
    pub(crate) fn new(agent: Arc<dyn DynAgent>, journal: Arc<dyn Journal>) -> Arc<Self> {
        let about = agent.about();
        Arc::new(Self {
            agent,
            journal: Deferred::new(journal),
            about,
            slots: Mutex::default(),
            views: AtomicU64::new(1),
        })
    }

    pub(crate) fn agent(&self) -> Arc<dyn DynAgent> {
        Arc::clone(&self.agent)
    }

    pub(crate) fn about(&self) -> &About {
        &self.about
    }

    pub(crate) fn next_view(&self) -> ViewId {
        ViewId(self.views.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes a session and lets the agent prepare it, unless the client gives up.
    pub(crate) async fn create(
        self: &Arc<Self>,
        setup: SessionSetup,
        request: &Responder,
    ) -> Result<Session> {
        let id = fresh_id();
        let head = Head::new(&*id.0, setup.cwd.clone(), clock::now_ms());
        let slot = self.slot(&id);
        let mut place = slot.lock().await;
        let engine = Engine::new(self.settings());
        let opened = match self.journal.create(head).await {
            Ok(log) => {
                let kept = Kept {
                    engine,
                    log,
                    actions: Vec::new(),
                    damaged: 0,
                };
                let opened = self.start(id.clone(), setup, kept, request);
                let opened = opened.await;
                if opened.is_err() {
                    self.undo_create(&id).await;
                }
                opened
            }
            Err(error) => Err(error.into()),
        };
        if let Ok(session) = &opened {
            *place = Some(session.clone());
        } else {
            drop(place);
            drop(slot);
            self.forget(&id);
        }
        opened
    }

    /// Makes a session that was refused one that was never there.
    async fn undo_create(&self, id: &v2::SessionId) {
        if let Err(error) = self.journal.delete(&id.0).await {
            tracing::warn!(%error, "a session that was refused cannot be deleted");
        }
    }

    /// Finds an open session, or opens it from the journal and lets the agent prepare it, unless the
    /// client gives up.
    pub(crate) async fn open(
        self: &Arc<Self>,
        id: &v2::SessionId,
        setup: SessionSetup,
        request: &Responder,
    ) -> Result<Session> {
        let slot = self.slot(id);
        let opened = self.open_in(&slot, id, setup, request).await;
        drop(slot);
        if opened.is_err() {
            self.forget(id);
        }
        opened
    }

    async fn open_in(
        self: &Arc<Self>,
        slot: &Slot,
        id: &v2::SessionId,
        mut setup: SessionSetup,
        request: &Responder,
    ) -> Result<Session> {
        // Somebody else may be at it, and take long.
        let mut place = tokio::select! {
            biased;
            place = slot.lock() => place,
            () = request.cancelled() => return Err(Error::cancelled()),
        };
        if let Some(session) = place.as_ref().filter(|session| !session.is_closed()) {
            check_cwd(session.cwd(), &setup.cwd)?;
            return Ok(session.clone());
        }
        let Some((head, mut log)) = self.journal.open(&id.0).await? else {
            return Err(no_such_session(id).into());
        };
        check_cwd(&head.cwd, &setup.cwd)?;
        let mut actions = Vec::new();
        let (opening, damaged) = reading::read_back(&mut *log).await?;
        if damaged > 0 {
            tracing::warn!(session = %id.0, damaged, "records of a session cannot be read");
        }
        let engine = opening.finish(self.settings(), &mut actions);
        setup.reopened = true;
        let kept = Kept {
            engine,
            log,
            actions,
            damaged,
        };
        let opened = self.start(id.clone(), setup, kept, request);
        let session = opened.await?;
        *place = Some(session.clone());
        Ok(session)
    }

    async fn start(
        self: &Arc<Self>,
        id: v2::SessionId,
        setup: SessionSetup,
        kept: Kept,
        request: &Responder,
    ) -> Result<Session> {
        let additional = setup.additional_directories.clone();
        let session = Session::new(id, setup.cwd.clone(), additional);
        Task::start(session.clone(), Arc::clone(self), kept);
        // In a task of its own, so that a panic leaves no session half open.
        let mut opening = tokio::spawn(self.agent().open(session.clone(), setup));
        let prepared = tokio::select! {
            biased;
            opened = &mut opening => opened.unwrap_or_else(|_| Err(Error::broke_off())),
            () = request.cancelled() => Err(Error::cancelled()),
        };
        opening.abort();
        if prepared.is_err() {
            close(&session).await;
        }
        prepared.map(|()| session)
    }

    /// Forgets the place of a session that is over, unless somebody is about to open it.
    pub(crate) fn forget(&self, id: &v2::SessionId) {
        let mut slots = self.slots();
        // Places are cloned under the lock only, so the count is exact.
        let unused = slots.get(id).is_some_and(|slot| {
            Arc::strong_count(slot) == 1
                && slot
                    .try_lock()
                    .is_ok_and(|place| place.as_ref().is_none_or(Session::is_closed))
        });
        if unused {
            slots.remove(id);
        }
    }

    pub(crate) async fn list(
        &self,
        cwd: Option<PathBuf>,
        cursor: Option<String>,
    ) -> Result<Page, ply_journal::Error> {
        let mut filter = Filter::new(LIST_PAGE_MAX);
        filter.cwd = cwd;
        filter.cursor = cursor;
        self.journal.list(filter).await
    }

    /// Has a session written that its client closes, so that it can be opened again.
    pub(crate) async fn keep(&self, id: &v2::SessionId) -> Result<()> {
        self.journal.keep(&id.0).await.map_err(Error::from)
    }

    /// Deletes a session; one that is open is closed first (E11).
    pub(crate) async fn delete(&self, id: &v2::SessionId) -> Result<()> {
        let slot = self.slot(id);
        let mut place = slot.lock().await;
        if let Some(session) = place.take() {
            close(&session).await;
        }
        // Still under the lock, so that nobody opens what is being deleted.
        let deleted = self.journal.delete(&id.0).await;
        drop(place);
        drop(slot);
        self.forget(id);
        deleted.map(|_| ()).map_err(Error::from)
    }

    /// Closes every session, so that their journals say how their turns ended.
    pub(crate) async fn shutdown(&self) {
        let slots: Vec<Slot> = self.slots().values().map(Arc::clone).collect();
        let all = async {
            let mut closings = Vec::new();
            // Those that are being opened come last, since that may take time.
            let (open, opening): (Vec<_>, Vec<_>) = slots
                .iter()
                .map(|slot| slot.try_lock())
                .zip(&slots)
                .partition(|(place, _)| place.is_ok());
            for (place, _) in open {
                let session = place.ok().and_then(|place| place.clone());
                closings.extend(session.as_ref().map(begin_close));
            }
            for (_, slot) in opening {
                closings.extend(slot.lock().await.as_ref().map(begin_close));
            }
            for closing in closings {
                // Told, or gone because the session is over.
                drop(closing.await);
            }
        };
        if tokio::time::timeout(SHUTDOWN_TIME_MAX, all).await.is_err() {
            tracing::warn!("not every session could be closed in time");
        }
        if let Err(error) = self.journal.close().await {
            tracing::error!(%error, "the journal did not end well");
        }
    }

    fn settings(&self) -> Settings {
        Settings {
            accepts: self.about.accepts,
        }
    }

    fn slot(&self, id: &v2::SessionId) -> Slot {
        Arc::clone(self.slots().entry(id.clone()).or_default())
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<v2::SessionId, Slot>> {
        // No code that can panic runs under the lock, so a poisoned map is whole.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn begin_close(session: &Session) -> oneshot::Receiver<()> {
    let (tell, told) = oneshot::channel();
    let done = Done::Tell(tell);
    session.control_if_open(Control::Close { view: None, done });
    told
}

async fn close(session: &Session) {
    // Told, or gone because the session is over.
    drop(begin_close(session).await);
}

fn check_cwd(own: &std::path::Path, given: &std::path::Path) -> Result<()> {
    match own == given {
        true => Ok(()),
        false => Err(Error::invalid_params(
            "The session has another working directory; give the one that session/list shows.",
        )),
    }
}

/// Returns an id that no session has: the hasher's keys come from the system's random source.
fn fresh_id() -> v2::SessionId {
    let half = || RandomState::new().hash_one(clock::now_ms());
    v2::SessionId::new(format!("sess-{:016x}{:016x}", half(), half()))
}
