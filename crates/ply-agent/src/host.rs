//! The sessions of an agent: which are open, and how one is made, found, closed and forgotten.

mod alone;
mod erased;
#[cfg(feature = "unstable_session_fork")]
mod fork;
mod late;
mod partial;
mod reading;
mod stored;

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ply_journal::{Filter, Journal, Page};
use ply_rpc::Responder;
use ply_session::{CLOSE_TIME_MAX, Input, Keep, RequestId, Settings, ViewId, no_such_session};
use ply_wire::v2;
use tokio::sync::{Notify, oneshot};

use self::alone::Alone;
pub(crate) use self::alone::Place;
pub(crate) use self::erased::{DynAgent, Erased};
#[cfg(feature = "unstable_session_fork")]
use self::fork::Copies;
pub use self::partial::is_partial;
pub(crate) use self::partial::open as open_stored;
pub use self::reading::read_history;
#[cfg(feature = "unstable_session_status")]
pub(crate) use self::stored::StatusAsked;
pub(crate) use self::stored::change;
use crate::server::NewPrompts;
use crate::session::control::{Control, Waiter};
use crate::session::{Origin, Session, Task, close_by_host, refuse};
use crate::{About, Caller, SessionSetup, clock};

/// Sessions on one page of a listing.
const LIST_PAGE_MAX: usize = 50;
/// How long all sessions together may take to close when the agent ends: longer than one whose journal does not answer, or
/// nobody would see it give up.
const SHUTDOWN_TIME_MAX: Duration = CLOSE_TIME_MAX.saturating_add(Duration::from_secs(1));
/// How long the journal itself may take to end after them.
const JOURNAL_CLOSE_TIME_MAX: Duration = Duration::from_secs(2);
/// Sessions that wait in memory until something is said in them; more are written as they are made.
const UNWRITTEN_MAX: usize = 16;
/// Sessions in which nothing was said that stay open without a client; the oldest is written and closed for one more.
const UNATTENDED_MAX: usize = 16;

/// The sessions of one agent. All its connections share them.
#[derive(Debug)]
pub(crate) struct Host {
    agent: Arc<dyn DynAgent>,
    journal: Arc<dyn Journal>,
    about: About,
    settings: Settings,
    sessions: Mutex<HashMap<v2::SessionId, Session>>,
    /// Sessions that nobody sees and that are kept in memory alone, oldest first.
    unattended: Mutex<VecDeque<Session>>,
    /// Each session that waits in memory has a clone, which counts it.
    unwritten: Arc<()>,
    /// Each turn that runs has a clone, which counts it.
    turns: Arc<()>,
    /// Who is at the journal of a session that is not open.
    alone: Alone,
    #[cfg(feature = "unstable_session_fork")]
    copies: Copies,
    /// Numbers views and requests.
    numbers: AtomicU64,
    new_prompts: Mutex<NewPrompts>,
    /// A question waits, and nobody is there who may answer it.
    pub(crate) question_waits: Notify,
}

impl Host {
    pub(crate) fn new(
        agent: Arc<dyn DynAgent>,
        journal: Arc<dyn Journal>,
        settings: Settings,
    ) -> Arc<Self> {
        let about = agent.about();
        Arc::new(Self {
            agent,
            journal,
            about,
            settings,
            sessions: Mutex::default(),
            unattended: Mutex::default(),
            unwritten: Arc::default(),
            turns: Arc::default(),
            alone: Alone::default(),
            #[cfg(feature = "unstable_session_fork")]
            copies: Copies::default(),
            numbers: AtomicU64::new(1),
            new_prompts: Mutex::default(),
            question_waits: Notify::new(),
        })
    }

    /// Counts a turn for as long as the returned value lives, and returns how many run now.
    pub(crate) fn count_turn(&self) -> (Arc<()>, usize) {
        let turn = Arc::clone(&self.turns);
        (turn, Arc::strong_count(&self.turns) - 1)
    }

    pub(crate) fn agent(&self) -> Arc<dyn DynAgent> {
        Arc::clone(&self.agent)
    }

    pub(crate) fn journal(&self) -> Arc<dyn Journal> {
        Arc::clone(&self.journal)
    }

    pub(crate) fn about(&self) -> &About {
        &self.about
    }

    /// Returns how a session is treated that is opened for this client.
    pub(crate) fn settings(&self, caller: &Caller) -> Settings {
        let about = caller.about.as_deref().unwrap_or(&self.about);
        let mut settings = self.settings;
        settings.accepts = about.accepts;
        // Words for a turn that does not ask for them would be lost.
        settings.steering = about.steering;
        settings
    }

    pub(crate) fn next_view(&self) -> ViewId {
        ViewId(self.next_number())
    }

    pub(crate) fn next_request(&self) -> RequestId {
        RequestId(self.next_number())
    }

    pub(crate) fn set_new_prompts(&self, what: NewPrompts) {
        *self.lock_new_prompts() = what;
    }

    /// Returns what becomes of a prompt that comes now.
    pub(crate) fn new_prompts(&self) -> NewPrompts {
        self.lock_new_prompts().clone()
    }

    fn lock_new_prompts(&self) -> MutexGuard<'_, NewPrompts> {
        // No code that can panic runs under the lock.
        let locked = self.new_prompts.lock();
        locked.unwrap_or_else(PoisonError::into_inner)
    }

    fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes a session. Its agent prepares it before anybody is served.
    pub(crate) fn create(self: &Arc<Self>, setup: SessionSetup) -> Session {
        self.start(fresh_id(), setup, Origin::New, &mut self.sessions())
    }

    /// Returns a session that is open, or opens it from the journal. Whether there is such a session is for it to tell.
    pub(crate) fn open(
        self: &Arc<Self>,
        id: &v2::SessionId,
        setup: SessionSetup,
        origin: Origin,
    ) -> Session {
        let mut sessions = self.sessions();
        if let Some(session) = sessions.get(id).filter(|session| !session.is_closed()) {
            return session.clone();
        }
        let mut setup = setup;
        setup.reopened = true;
        self.start(id.clone(), setup, origin, &mut sessions)
    }

    fn start(
        self: &Arc<Self>,
        id: v2::SessionId,
        setup: SessionSetup,
        origin: Origin,
        sessions: &mut HashMap<v2::SessionId, Session>,
    ) -> Session {
        let additional = setup.additional_directories.clone();
        let session = Session::new(id.clone(), setup.cwd.clone(), additional);
        // While the sessions are locked, so that whoever did not find it open comes first.
        let place = (origin != Origin::New).then(|| self.alone.queue(&id));
        sessions.insert(id, session.clone());
        let (opened, host) = (session.clone(), Arc::clone(self));
        match place {
            None => Task::start(opened, host, setup),
            Some(place) => Task::start_again(opened, host, setup, origin, place),
        }
        session
    }

    /// Returns a place for one more session that waits in memory until something is said in it, if there is one.
    pub(crate) fn place_in_memory(&self) -> Option<Arc<()>> {
        let is_free = Arc::strong_count(&self.unwritten) <= UNWRITTEN_MAX;
        is_free.then(|| Arc::clone(&self.unwritten))
    }

    /// Forgets a session that is over.
    pub(crate) fn forget(&self, session: &Session) {
        session.set_listed();
        let mut sessions = self.sessions();
        if sessions
            .get(session.id())
            .is_some_and(|open| open.is(session))
        {
            sessions.remove(session.id());
        }
        drop(sessions);
        self.lock_unattended().retain(|other| !other.is(session));
    }

    /// Notes a session that nobody sees and in which nothing was said. It lives with the server, but only so many do.
    pub(crate) fn unattended(&self, session: &Session) {
        let mut unattended = self.lock_unattended();
        unattended.retain(|other| !other.is(session));
        unattended.push_back(session.clone());
        if unattended.len() > UNATTENDED_MAX
            && let Some(oldest) = unattended.pop_front()
        {
            drop(unattended);
            oldest.input_if_open(Input::Leave);
        }
    }

    pub(crate) async fn list(
        &self,
        cwd: Option<PathBuf>,
        cursor: Option<String>,
        archived: Option<bool>,
        of: Option<&str>,
    ) -> Result<Page, ply_journal::Error> {
        let mut filter = Filter::new(LIST_PAGE_MAX);
        // Those that are not written are on the first page, in their place. What is listed stays as it is.
        let mut unlisted = match cursor {
            // None of them is archived.
            None if archived != Some(true) => self.unlisted(cwd.as_deref()),
            _ => Vec::new(),
        };
        filter.cwd = cwd;
        filter.cursor = cursor;
        filter.archived = archived;
        let mut page = self.journal.list(filter).await?;
        page.sessions.retain(|head| {
            let is_partial = is_partial(head);
            if is_partial {
                self.clear_away(&head.id);
            }
            !is_partial
        });
        // One that is created just now may be in both.
        unlisted.retain(|head| page.sessions.iter().all(|listed| listed.id != head.id));
        if !unlisted.is_empty() {
            page.sessions.extend(unlisted);
            page.sessions
                .sort_by_key(|head| std::cmp::Reverse(head.updated_ms));
        }
        if let Some(of) = of {
            page.sessions.retain(|head| is_of(head, of));
        }
        Ok(page)
    }

    fn unlisted(&self, cwd: Option<&std::path::Path>) -> Vec<ply_journal::Head> {
        let sessions = self.sessions();
        let heads = sessions.values().filter_map(Session::unlisted);
        heads
            .filter(|head| cwd.is_none_or(|cwd| cwd == head.cwd))
            .collect()
    }

    /// Deletes a session; one that is open is closed first (E11).
    pub(crate) fn delete(self: &Arc<Self>, id: &v2::SessionId, responder: Responder) {
        let close = close_by_host(self.next_request(), Keep::Nothing);
        let control = Control::Request(close, Waiter::Client(responder));
        let Some((Control::Request(_, Waiter::Client(responder)), place)) =
            self.pass_on(id, control)
        else {
            return;
        };
        let (journal, id) = (self.journal(), id.clone());
        tokio::spawn(async move {
            place.comes().await;
            let deleted = journal.delete(&id.0).await;
            let deleted = deleted.map(|_| serde_json::Map::new());
            responder.respond(deleted.map_err(|error| crate::Error::from(error).to_rpc()));
        });
    }

    /// Deletes a session that nobody was told of.
    #[cfg(feature = "unstable_session_fork")]
    pub(crate) fn delete_unknown(&self, id: &v2::SessionId) {
        let (journal, id) = (self.journal(), id.clone());
        tokio::spawn(async move {
            if let Err(error) = journal.delete(&id.0).await {
                tracing::error!(session = %id.0, %error, "a session is not deleted");
            }
        });
    }

    /// Passes something on to a session that is open. If it is not, gives it back with a place at the session's journal: who
    /// opens the session from now on comes after that.
    fn pass_on(&self, id: &v2::SessionId, control: Control) -> Option<(Control, Place)> {
        let mut control = control;
        loop {
            let session = {
                let sessions = self.sessions();
                let open = sessions.get(id).filter(|session| !session.is_closed());
                match open {
                    Some(session) => session.clone(),
                    None => return Some((control, self.alone.queue(id))),
                }
            };
            match session.control(control) {
                Ok(()) => return None,
                // It is over by now.
                Err(given_back) => control = given_back,
            }
        }
    }

    /// Returns the sessions that are open.
    pub(crate) fn open_sessions(&self) -> Vec<Session> {
        let sessions = self.sessions();
        let open = sessions.values().filter(|session| !session.is_closed());
        open.cloned().collect()
    }

    /// Returns a session that is open.
    pub(crate) fn open_session(&self, id: &v2::SessionId) -> Option<Session> {
        let session = self.sessions().get(id).cloned();
        session.filter(|session| !session.is_closed())
    }

    /// Closes every session but those `left`, so that their journals say how their turns ended. Copies that are being made are
    /// given up.
    pub(crate) async fn shutdown(&self, left: &[v2::SessionId]) {
        #[cfg(feature = "unstable_session_fork")]
        self.copies.give_up();
        let sessions: Vec<Session> = {
            let sessions = self.sessions();
            let closed = sessions.iter().filter(|(id, _)| !left.contains(id));
            closed.map(|(_, session)| session.clone()).collect()
        };
        let closings: Vec<_> = sessions
            .iter()
            .map(|session| {
                let (tell, told) = oneshot::channel();
                let close = close_by_host(self.next_request(), Keep::IfUsed);
                let control = Control::Request(close, Waiter::Host(tell));
                if let Err(control) = session.control(control) {
                    refuse(control, &no_such_session(session.id()));
                }
                told
            })
            .collect();
        let all = async {
            for closing in closings {
                // Told, or gone because the session is over.
                drop(closing.await);
            }
            #[cfg(feature = "unstable_session_fork")]
            self.copies.over().await;
        };
        if tokio::time::timeout(SHUTDOWN_TIME_MAX, all).await.is_err() {
            tracing::warn!("not every session could be closed in time");
        }
        match tokio::time::timeout(JOURNAL_CLOSE_TIME_MAX, self.journal.close()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the journal did not end well"),
            Err(_) => tracing::error!("the journal did not end in time"),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<v2::SessionId, Session>> {
        // No code that can panic runs under the lock, so a poisoned map is whole.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_unattended(&self) -> MutexGuard<'_, VecDeque<Session>> {
        // As above.
        self.unattended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what a client is told about a change of a session that is not open.
#[cfg(any(
    feature = "unstable_session_set_title",
    feature = "unstable_session_archive"
))]
fn told_of(
    id: &v2::SessionId,
    changed: Result<bool, ply_journal::Error>,
) -> Result<(), ply_rpc::RpcError> {
    match changed {
        Ok(true) => Ok(()),
        Ok(false) | Err(ply_journal::Error::Deleted) => Err(crate::error::no_such_session(id)),
        Err(error) => Err(crate::Error::from(error).to_rpc()),
    }
}

/// Returns whether a session is of this host; what else the host remembers of it follows on further lines.
fn is_of(head: &ply_journal::Head, host: &str) -> bool {
    let kept = head.host.as_deref().and_then(|kept| kept.lines().next());
    kept == host.lines().next()
}

/// Returns an id that no session has: the hasher's keys come from the system's random source.
fn fresh_id() -> v2::SessionId {
    let half = || RandomState::new().hash_one(clock::now_ms());
    v2::SessionId::new(format!("sess-{:016x}{:016x}", half(), half()))
}
