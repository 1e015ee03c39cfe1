//! What belongs to one connection and is touched by its link: sessions, ordered calls, open questions.

use std::collections::HashMap;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Context, Poll, Waker};

use ply_rpc::{CallError, CallOptions, Closed, InFlight, Peer};
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::task::coop::{Unconstrained, unconstrained};

use crate::ask::Pending;
use crate::client::Settings;
use crate::limits::{EARLY_BYTES_MAX, EARLY_UPDATES_MAX};
use crate::lock::lock;
use crate::pressure::Pressure;
use crate::report::{ReportKind, Reports};
use crate::services::Terminals;
use crate::session::cell::SessionCell;

/// The raw answer to a call.
pub(crate) type RawAnswer = Result<Box<RawValue>, CallError>;
type Then = Box<dyn FnOnce(RawAnswer) + Send>;

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

/// A call whose answer takes effect in its place among the updates.
struct Ordered {
    /// Unconstrained, because a budget that is used up would make the answer look absent, and the next update would overtake it.
    call: Unconstrained<InFlight<Box<RawValue>>>,
    then: Then,
}

/// What the link's task and the handles of one connection share.
pub(crate) struct Routes {
    state: Mutex<State>,
    /// Copies of the lengths of two lists, so that a message that finds both empty takes no lock for them.
    ordered: AtomicUsize,
    asks: AtomicUsize,
    pub(crate) pressure: Arc<Pressure>,
    pub(crate) version: OnceLock<Version>,
    pub(crate) settings: Arc<Settings>,
    /// Those of this connection alone, which end with it.
    pub(crate) terminals: Option<Terminals>,
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
    /// How many `session/new` wait for their answer.
    introducing: usize,
    early: Vec<Early>,
    early_bytes: usize,
    ordered: Vec<Ordered>,
    asks: Vec<Weak<Pending>>,
    over: bool,
}

/// Whom an update is for.
pub(crate) enum Route {
    Session(Arc<SessionCell>),
    /// A session that was given up here.
    Nobody,
    /// No such session.
    Unknown,
}

impl Routes {
    pub(crate) fn new(settings: Arc<Settings>, reports: Arc<Reports>) -> Self {
        let terminals = settings.terminals.as_ref().map(Terminals::fresh);
        Self {
            state: Mutex::default(),
            ordered: AtomicUsize::new(0),
            asks: AtomicUsize::new(0),
            pressure: Arc::default(),
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

    /// Asks, and runs `then` with the answer before any later message of the agent is looked at.
    pub(crate) fn ask(
        &self,
        peer: &Peer,
        method: &str,
        params: &impl Serialize,
        options: CallOptions,
        then: impl FnOnce(RawAnswer) + Send + 'static,
    ) {
        let mut state = lock(&self.state);
        if state.over {
            drop(state);
            let reason = self.over.get().cloned().unwrap_or(Closed::Local);
            let method = method.into();
            // Not here: the caller may hold the lock that `then` needs.
            tokio::spawn(async move { then(Err(CallError::Closed { method, reason })) });
            return;
        }
        // Counted before it is sent: the link may write it, read the answer and look for it while this thread is held up, and
        // nothing would make it look again. It then waits for the lock, which is held until the call is on the list.
        self.ordered
            .store(state.ordered.len() + 1, Ordering::Release);
        let call = unconstrained(peer.call_with(method, params, options));
        let then = Box::new(then);
        state.ordered.push(Ordered { call, then });
        self.ordered.store(state.ordered.len(), Ordering::Release);
    }

    /// Lets the answers that have come take effect, and takes back what the agent no longer asks.
    pub(crate) fn settle(&self, cx: &mut Context<'_>) {
        if self.ordered.load(Ordering::Acquire) > 0 {
            let mut answered = Vec::new();
            {
                let mut state = lock(&self.state);
                let mut at = 0;
                while let Some(ordered) = state.ordered.get_mut(at) {
                    match Pin::new(&mut ordered.call).poll(cx) {
                        Poll::Pending => at += 1,
                        Poll::Ready(answer) => {
                            answered.push((state.ordered.remove(at).then, answer));
                        }
                    }
                }
                self.ordered.store(state.ordered.len(), Ordering::Release);
            }
            for (then, answer) in answered {
                then(answer);
            }
        }
        if self.asks.load(Ordering::Acquire) > 0 {
            for ask in self.open_asks() {
                if ask.is_withdrawn() {
                    ask.cancel();
                }
            }
        }
    }

    pub(crate) fn add_ask(&self, ask: &Arc<Pending>) {
        let mut state = lock(&self.state);
        state.asks.push(Arc::downgrade(ask));
        self.asks.store(state.asks.len(), Ordering::Release);
    }

    fn open_asks(&self) -> Vec<Arc<Pending>> {
        let mut state = lock(&self.state);
        let open: Vec<_> = state
            .asks
            .iter()
            .filter_map(Weak::upgrade)
            .filter(|ask| ask.is_open())
            .collect();
        state.asks = open.iter().map(Arc::downgrade).collect();
        self.asks.store(state.asks.len(), Ordering::Release);
        open
    }

    /// Ends everything: calls fail, questions are withdrawn.
    pub(crate) fn end(&self, reason: &Closed) {
        self.over.get_or_init(|| reason.clone());
        let ordered = {
            let mut state = lock(&self.state);
            state.over = true;
            self.ordered.store(0, Ordering::Release);
            std::mem::take(&mut state.ordered)
        };
        let mut cx = Context::from_waker(Waker::noop());
        for Ordered { mut call, then } in ordered {
            // An answer that came with the last bytes still counts.
            let answer = match Pin::new(&mut call).poll(&mut cx) {
                Poll::Ready(answer) => answer,
                Poll::Pending => Err(CallError::Closed {
                    method: "a call".into(),
                    reason: reason.clone(),
                }),
            };
            then(answer);
        }
        for ask in self.open_asks() {
            ask.cancel();
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
        let known = state.sessions.get(&session.id.0).and_then(Weak::upgrade);
        let is_free = known
            .as_ref()
            .is_none_or(|known| Arc::ptr_eq(known, session));
        if is_free {
            let id = Arc::clone(&session.id.0);
            state.sessions.insert(id, Arc::downgrade(session));
        }
        is_free
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

    /// Ends a session that was closed or deleted, and its terminals; what still comes for it is ignored.
    pub(crate) async fn end_session(&self, id: &v2::SessionId) {
        if let Route::Session(session) = self.find(&id.0) {
            session.close();
        }
        lock(&self.state)
            .sessions
            .insert(Arc::clone(&id.0), Weak::new());
        if let Some(terminals) = &self.terminals {
            let id = v1::SessionId::new(Arc::clone(&id.0));
            terminals.end_session(&id).await;
        }
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
