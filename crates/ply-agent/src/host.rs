//! The sessions of an agent: which are open, and how one is made, found, closed and forgotten.

use std::collections::HashMap;
use std::future::Future;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ply_journal::{Filter, Head, Journal, Log, Page};
use ply_rpc::Responder;
use ply_session::{Engine, Event, Settings, Stop, ViewId};
use ply_wire::v2;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::error::no_such_session;
use crate::session::control::{Control, Done};
use crate::session::{Session, Task};
use crate::{About, Agent, Error, Result, SessionSetup, Turn, clock};

/// Sessions on one page of a listing.
const LIST_PAGE_MAX: usize = 50;
/// Bytes read from a journal at a time.
const READ_BYTES: usize = 256 * 1024;
/// How long all sessions together may take to close when the agent ends.
const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(4);
/// How long an agent may take to free what belongs to a session.
const CLOSE_HOOK_TIME_MAX: Duration = Duration::from_secs(5);

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// [`Agent`] in a form that can be kept without knowing its type.
pub(crate) trait DynAgent: std::fmt::Debug + Send + Sync {
    fn about(&self) -> About;
    fn prompt(self: Arc<Self>, turn: Turn) -> Work<Result<Stop>>;
    fn open(self: Arc<Self>, session: Session, setup: SessionSetup) -> Work<Result<()>>;
    fn close(self: Arc<Self>, session: Session) -> Work<()>;
    fn set_option(
        self: Arc<Self>,
        session: Session,
        option: v2::SessionConfigId,
        value: v2::SessionConfigOptionValue,
    ) -> Work<Result<()>>;
    fn login(self: Arc<Self>, method: v2::AuthMethodId) -> Work<Result<()>>;
    fn logout(self: Arc<Self>) -> Work<Result<()>>;
    fn extension(self: Arc<Self>, method: Box<str>, params: Value) -> Work<Result<Value>>;
}

/// An agent whose type is forgotten.
pub(crate) struct Erased<A>(pub(crate) A);

impl<A> std::fmt::Debug for Erased<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Agent")
    }
}

impl<A: Agent> DynAgent for Erased<A> {
    fn about(&self) -> About {
        self.0.about()
    }

    fn prompt(self: Arc<Self>, mut turn: Turn) -> Work<Result<Stop>> {
        Box::pin(async move { self.0.prompt(&mut turn).await })
    }

    fn open(self: Arc<Self>, session: Session, setup: SessionSetup) -> Work<Result<()>> {
        Box::pin(async move { self.0.open(&session, &setup).await })
    }

    fn close(self: Arc<Self>, session: Session) -> Work<()> {
        Box::pin(async move {
            let closed = tokio::time::timeout(CLOSE_HOOK_TIME_MAX, self.0.close(&session));
            if closed.await.is_err() {
                tracing::warn!(session = %session.id().0, "closing took too long and was given up");
            }
        })
    }

    fn set_option(
        self: Arc<Self>,
        session: Session,
        option: v2::SessionConfigId,
        value: v2::SessionConfigOptionValue,
    ) -> Work<Result<()>> {
        Box::pin(async move { self.0.set_option(&session, &option, &value).await })
    }

    fn login(self: Arc<Self>, method: v2::AuthMethodId) -> Work<Result<()>> {
        Box::pin(async move { self.0.login(&method).await })
    }

    fn logout(self: Arc<Self>) -> Work<Result<()>> {
        Box::pin(async move { self.0.logout().await })
    }

    fn extension(self: Arc<Self>, method: Box<str>, params: Value) -> Work<Result<Value>> {
        Box::pin(async move { self.0.extension(&method, params).await })
    }
}

/// The place of one session, open or about to be. Its lock is held while the session is opened, so
/// that two clients who ask for it at once get the same one.
type Slot = Arc<tokio::sync::Mutex<Option<Session>>>;

/// The sessions of one agent. All its connections share them.
#[derive(Debug)]
pub(crate) struct Host {
    agent: Arc<dyn DynAgent>,
    journal: Arc<dyn Journal>,
    about: About,
    slots: Mutex<HashMap<v2::SessionId, Slot>>,
    views: AtomicU64,
}

impl Host {
    pub(crate) fn new(agent: Arc<dyn DynAgent>, journal: Arc<dyn Journal>) -> Arc<Self> {
        let about = agent.about();
        Arc::new(Self {
            agent,
            journal,
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
                let opened = self.start(id.clone(), setup, engine, log, Vec::new(), request);
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
        let events = read_all(&mut *log).await?;
        let engine = Engine::open(self.settings(), events, &mut actions);
        setup.reopened = true;
        let opened = self.start(id.clone(), setup, engine, log, actions, request);
        let session = opened.await?;
        *place = Some(session.clone());
        Ok(session)
    }

    async fn start(
        self: &Arc<Self>,
        id: v2::SessionId,
        setup: SessionSetup,
        engine: Engine,
        log: Box<dyn Log>,
        actions: Vec<ply_session::Action>,
        request: &Responder,
    ) -> Result<Session> {
        let additional = setup.additional_directories.clone();
        let session = Session::new(id, setup.cwd.clone(), additional);
        Task::start(session.clone(), Arc::clone(self), engine, log, actions);
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

async fn read_all(log: &mut dyn Log) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    let mut from = 0;
    loop {
        let records = log.read(from, READ_BYTES).await?;
        if records.is_empty() {
            return Ok(events);
        }
        from += records.len() as u64;
        for record in records {
            events.push(serde_json::from_slice(&record)?);
        }
    }
}

/// Returns an id that no session has: the hasher's keys come from the system's random source.
fn fresh_id() -> v2::SessionId {
    let half = || RandomState::new().hash_one(clock::now_ms());
    v2::SessionId::new(format!("sess-{:016x}{:016x}", half(), half()))
}
