//! What belongs to one connection and is touched by its link: sessions and open questions.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use ply_rpc::Closed;
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};
use tokio::sync::Notify;

use crate::Error;
use crate::ask::{Answer, Pending};
use crate::client::Settings;
use crate::limits::{EARLY_BYTES_MAX, EARLY_UPDATES_MAX, OPENING_WAIT_MAX, VISITS_MAX};
use crate::lock::lock;
use crate::report::{ReportKind, Reports};
use crate::services::DynTerminals;
use crate::session::cell::SessionCell;

/// An update as the agent sent it.
#[derive(Debug)]
pub(crate) enum RawUpdate {
    V1(v1::SessionUpdate),
    V2(v2::SessionUpdate),
    /// An update of version 1 of an unknown kind.
    UnknownV1(v2::OtherSessionUpdate),
}

/// An update of a session that is not known yet.
struct Early {
    session: v2::SessionId,
    update: RawUpdate,
    bytes: usize,
}

/// What the link's task and the handles of one connection share.
pub(crate) struct Routes {
    state: Mutex<State>,
    pub(crate) version: OnceLock<Version>,
    pub(crate) settings: Arc<Settings>,
    /// Those of this connection alone, which end with it.
    pub(crate) terminals: Option<Arc<dyn DynTerminals>>,
    pub(crate) reports: Arc<Reports>,
    /// Whether the agent was of use: it answered a prompt.
    pub(crate) useful: AtomicBool,
    /// Whether the agent sends back what it is given.
    pub(crate) echoes: AtomicBool,
    /// Why the input ended, once it has.
    pub(crate) over: OnceLock<Closed>,
    pub(crate) ended: Notify,
}

#[derive(Default)]
struct State {
    /// A session that nobody holds any more stays here as one that is known and ignored.
    sessions: HashMap<Arc<str>, Weak<SessionCell>>,
    /// The sessions that the agent was asked to open and has not said that it did.
    opening: HashMap<Arc<str>, Weak<tokio::sync::Mutex<()>>>,
    /// How many `session/new` wait for their answer.
    introducing: usize,
    early: Vec<Early>,
    early_bytes: usize,
    asks: Vec<Weak<Pending>>,
    /// Visits to URLs whose end was not told, the oldest first.
    visits: VecDeque<(v2::ElicitationId, Weak<SessionCell>)>,
}

impl State {
    /// Whether no other session of this id is open. One that was dropped while its prompt runs is nobody's: what the agent still
    /// says is for whoever opens it again.
    fn is_free(&self, session: &Arc<SessionCell>) -> bool {
        let known = self.sessions.get(&session.id.0).and_then(Weak::upgrade);
        known.is_none_or(|known| Arc::ptr_eq(&known, session) || known.is_abandoned())
    }
}

/// The right to open a session, held until the agent has answered. Only then has it told all of the history that belongs to
/// the request, also if whoever asked lost patience.
pub(crate) type Opening = tokio::sync::OwnedMutexGuard<()>;

/// Whom an update is for.
pub(crate) enum Route {
    Session(Arc<SessionCell>),
    /// A session that was given up here.
    Nobody,
    /// No such session.
    Unknown,
}

impl Routes {
    /// Notes that the user is asked to visit a URL, so that its end finds the session.
    pub(crate) fn add_visit(&self, id: v2::ElicitationId, session: Option<&Arc<SessionCell>>) {
        let visits = &mut lock(&self.state).visits;
        if visits.len() >= VISITS_MAX {
            visits.pop_front();
        }
        let session = session.map(Arc::downgrade).unwrap_or_default();
        visits.push_back((id, session));
    }

    /// Returns the session of a visit that is over, once. Of one that belongs to no session it leads to none.
    pub(crate) fn take_visit(&self, id: &v2::ElicitationId) -> Option<Weak<SessionCell>> {
        let visits = &mut lock(&self.state).visits;
        let at = visits.iter().position(|(known, _)| known == id)?;
        Some(visits.remove(at)?.1)
    }

    pub(crate) fn new(settings: Arc<Settings>, reports: Arc<Reports>) -> Self {
        let terminals = settings.terminals.as_ref().map(|it| it.fresh());
        Self {
            state: Mutex::default(),
            version: OnceLock::new(),
            settings,
            terminals,
            reports,
            useful: AtomicBool::new(false),
            echoes: AtomicBool::new(false),
            over: OnceLock::new(),
            ended: Notify::new(),
        }
    }

    pub(crate) fn report(&self, kind: ReportKind, detail: &str) {
        self.reports.add(kind, detail);
    }

    /// Keeps an open question, to close it when the agent takes it back or the connection ends.
    pub(crate) fn add_ask(&self, ask: &Arc<Pending>) {
        let mut state = lock(&self.state);
        state.asks.retain(|ask| ask.strong_count() > 0);
        state.asks.push(Arc::downgrade(ask));
        drop(state);
        if self.over.get().is_some() {
            ask.cancel();
        } else {
            ask.watch();
        }
    }

    /// Ends everything. Questions are closed without an answer: whoever leaves has said neither yes nor no, and an agent that
    /// outlives its clients can ask somebody else.
    pub(crate) fn end(&self, reason: &Closed) {
        self.over.get_or_init(|| reason.clone());
        let asks = std::mem::take(&mut lock(&self.state).asks);
        for ask in asks.iter().filter_map(Weak::upgrade) {
            ask.answer(Answer::NotMine);
        }
        self.ended.notify_waiters();
    }

    /// Returns the sessions that somebody holds.
    pub(crate) fn sessions(&self) -> Vec<Arc<SessionCell>> {
        let state = lock(&self.state);
        state.sessions.values().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn find(&self, id: &str) -> Route {
        match lock(&self.state).sessions.get(id) {
            Some(session) => session.upgrade().map_or(Route::Nobody, Route::Session),
            None => Route::Unknown,
        }
    }

    /// Adds a session, unless another one of its id is open; returns whether it is there now.
    #[must_use]
    pub(crate) fn insert(&self, session: &Arc<SessionCell>) -> bool {
        let mut state = lock(&self.state);
        let is_free = state.is_free(session);
        if is_free {
            let id = Arc::clone(&session.id.0);
            state.sessions.insert(id, Arc::downgrade(session));
        }
        is_free
    }

    /// Waits until the agent has answered an earlier request to open the session that was given up.
    pub(crate) async fn may_open(&self, session: &Arc<SessionCell>) -> Result<Opening, Error> {
        let turns = {
            let mut state = lock(&self.state);
            if !state.is_free(session) {
                return Err(Error::SessionOpen);
            }
            state.opening.retain(|_, turns| turns.strong_count() > 0);
            let known = state.opening.entry(Arc::clone(&session.id.0)).or_default();
            let turns = known.upgrade().unwrap_or_default();
            *known = Arc::downgrade(&turns);
            turns
        };
        let turn = tokio::time::timeout(OPENING_WAIT_MAX, turns.lock_owned()).await;
        turn.map_err(|_| Error::SessionOpening)
    }

    /// Takes a session out that could not be opened, if it is still the one there is.
    pub(crate) fn remove(&self, session: &Arc<SessionCell>) {
        let mut state = lock(&self.state);
        if let Some(known) = state.sessions.get_mut(&session.id.0)
            && std::ptr::eq(known.as_ptr(), Arc::as_ptr(session))
        {
            *known = Weak::new();
        }
    }

    /// Notes that nobody here has a session any more, unless it was opened anew; what still comes for it is ignored.
    pub(crate) fn forget(&self, id: &v2::SessionId) {
        let mut state = lock(&self.state);
        state.sessions.entry(Arc::clone(&id.0)).or_default();
    }

    /// Notes that a `session/new` is on its way, whose session is not known yet.
    pub(crate) fn introduction_begins(&self) {
        lock(&self.state).introducing += 1;
    }

    /// Notes the end of a `session/new`, and returns the updates that came for its session before.
    pub(crate) fn introduction_ends(&self, session: Option<&Arc<SessionCell>>) -> Vec<RawUpdate> {
        let mut mine = Vec::new();
        let mut strays = 0;
        {
            let mut state = lock(&self.state);
            state.introducing = state.introducing.saturating_sub(1);
            let early = std::mem::take(&mut state.early);
            state.early_bytes = 0;
            for early in early {
                if session.is_some_and(|session| session.id == early.session) {
                    mine.push(early.update);
                } else if state.introducing > 0 {
                    state.early_bytes += early.bytes;
                    state.early.push(early);
                } else {
                    strays += 1;
                }
            }
        }
        for _ in 0..strays {
            self.report(ReportKind::UnknownSession, "session/update");
        }
        if !mine.is_empty() {
            self.report(ReportKind::EarlyUpdate, "session/update");
        }
        mine
    }

    /// Keeps an update of an unknown session, if one is about to become known.
    pub(crate) fn hold(&self, session: v2::SessionId, update: RawUpdate, bytes: usize) {
        let kind = {
            let mut state = lock(&self.state);
            if state.introducing == 0 {
                ReportKind::UnknownSession
            } else if state.early.len() < EARLY_UPDATES_MAX
                && state.early_bytes + bytes <= EARLY_BYTES_MAX
            {
                state.early_bytes += bytes;
                state.early.push(Early {
                    session,
                    update,
                    bytes,
                });
                return;
            } else {
                ReportKind::EarlyUpdatesDropped
            }
        };
        self.report(kind, "session/update");
    }
}
