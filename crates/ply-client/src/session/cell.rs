//! The state of one session, written by the link's task and read by the handles.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};

use ply_rpc::Peer;
use ply_wire::lift::Lifter;
use ply_wire::negotiate::Version;
use ply_wire::transcript::{Change, Transcript};
use ply_wire::{v1, v2};

use super::asking::OpenAsk;
use super::locked::Locked;
use super::options::Kept;
use super::readers::{Delivery, Kind, Queue, Readers, Taken};
use super::turns::OpenTurn;
use crate::SessionSetup;
use crate::lock::lock;
use crate::report::ReportKind;
use crate::routes::{RawUpdate, Routes};
use crate::services::{Roots, Scene};
use crate::turn::TurnEnd;

/// One session, over all lives of its agent.
pub(crate) struct SessionCell {
    pub(crate) id: v2::SessionId,
    pub(crate) setup: SessionSetup,
    pub(crate) roots: Roots,
    /// Held while the session is brought back after its agent was started again.
    pub(crate) attaching: tokio::sync::Mutex<()>,
    /// Whether nobody holds the session any more, so that nobody here will ever answer. It changes under the lock of the state.
    pub(super) abandoned: AtomicBool,
    state: Mutex<State>,
}

pub(crate) struct State {
    pub(super) transcript: Transcript,
    pub(super) lifter: Option<Lifter>,
    /// Whether the options were made from the modes of a version 1 agent.
    pub(super) by_modes: bool,
    /// What the options were, to be set back when the agent is started again.
    pub(super) kept: Kept,
    pub(super) wire: Option<Wire>,
    /// How often the session was bound to a connection, which tells one try to open it from the next.
    pub(super) attached: u64,
    /// The life of the agent on which the session is open: the agent has said so.
    pub(super) opened: Option<u64>,
    pub(super) closed: bool,
    pub(super) history: History,
    pub(super) turns: Vec<OpenTurn>,
    pub(super) turns_ended: u64,
    pub(super) prompts_made: u64,
    pub(super) readers: Readers,
    /// The questions that wait for an answer, whether or not anybody reads them.
    pub(super) asks: Vec<OpenAsk>,
    /// Whether readers are woken later, when the link has handed over all that it has.
    pub(super) holds_wakes: bool,
    /// Kept for its capacity.
    lifted: Vec<v2::SessionUpdate>,
    me: Weak<SessionCell>,
}

/// The connection that a session is attached to.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) peer: Peer,
    pub(crate) routes: Arc<Routes>,
    pub(crate) epoch: u64,
    pub(crate) version: Version,
}

/// What to do with history that the agent tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    /// Take it in.
    Taken,
    /// It is known already: an agent that was started again repeats it.
    Known,
}

impl SessionCell {
    pub(crate) fn new(id: v2::SessionId, setup: SessionSetup) -> Arc<Self> {
        let roots = Roots::new(std::iter::once(setup.cwd.clone()).chain(setup.roots.clone()));
        Arc::new_cyclic(|me| Self {
            id,
            setup,
            roots,
            attaching: tokio::sync::Mutex::default(),
            abandoned: AtomicBool::new(false),
            state: Mutex::new(State {
                transcript: Transcript::new(),
                lifter: None,
                by_modes: false,
                kept: Kept::default(),
                wire: None,
                attached: 0,
                opened: None,
                closed: false,
                history: History::Taken,
                turns: Vec::new(),
                turns_ended: 0,
                prompts_made: 0,
                readers: Readers::default(),
                asks: Vec::new(),
                holds_wakes: false,
                lifted: Vec::new(),
                me: me.clone(),
            }),
        })
    }

    pub(crate) fn lock(&self) -> Locked<'_> {
        Locked::new(lock(&self.state))
    }

    pub(crate) fn read<T>(&self, look: impl FnOnce(&Transcript) -> T) -> T {
        look(&self.lock().transcript)
    }

    /// Takes one update of the agent.
    pub(crate) fn update(&self, update: RawUpdate, bytes: usize, routes: &Routes) {
        let mut state = self.lock();
        match update {
            RawUpdate::V1(update) => {
                if state.is_late(&update) {
                    routes.report(ReportKind::LateUpdate, "session/update");
                }
                if matches!(update, v1::SessionUpdate::ConfigOptionUpdate(_)) {
                    state.by_modes = false;
                }
                state.lift(bytes, |lifter, out| lifter.update(update, out));
            }
            RawUpdate::UnknownV1(other) => {
                routes.report(ReportKind::UnknownUpdate, &other.session_update);
                if ply_wire::method::is_extension(&other.session_update) {
                    state.lift(bytes, |lifter, out| lifter.unknown_update(&other, out));
                } else {
                    // Handed over as it came, but version 2 may mean something else by the name.
                    state.deliver(v2::SessionUpdate::Other(other), bytes, Change::Nothing);
                }
            }
            RawUpdate::V2(update) => {
                if let v2::SessionUpdate::Other(other) = &update {
                    routes.report(ReportKind::UnknownUpdate, &other.session_update);
                }
                state.fold(update, bytes);
            }
        }
    }

    /// Returns the tool call that the agent means by an id: v1 agents may use one again.
    pub(crate) fn call_meant(&self, id: v2::ToolCallId) -> Option<v2::ToolCallId> {
        match &self.lock().lifter {
            Some(lifter) => lifter.tool_call_id(&v1::ToolCallId::new(id.0)),
            None => Some(id),
        }
    }

    pub(crate) fn terminal_created(&self, terminal: v1::TerminalId) {
        if let Some(lifter) = &mut self.lock().lifter {
            lifter.terminal_created(terminal);
        }
    }

    /// Takes in what happens in a terminal that this crate runs for the agent.
    pub(crate) fn terminal_shows(&self, id: &v1::TerminalId, scene: Scene<'_>) {
        let bytes = match scene {
            Scene::Output(text) => text.len(),
            _ => 0,
        };
        self.lock().lift(bytes, |lifter, out| match scene {
            Scene::Started { command, cwd } => lifter.terminal_started(id, command, cwd, out),
            Scene::Output(text) => lifter.terminal_output(id, text, out),
            Scene::Exited(status) => lifter.terminal_exited(id, status, out),
        });
    }

    /// Adds a reader of everything, who first hears which questions are open.
    pub(crate) fn add_stream(&self) -> u64 {
        let mut state = self.lock();
        let id = state.readers.add(Kind::Stream);
        state.tell_asks(id);
        id
    }

    /// Ends a stream that will hear nothing any more.
    pub(crate) fn end_reader(&self, id: u64) {
        let mut state = self.lock();
        let State {
            readers,
            transcript,
            ..
        } = &mut *state;
        if let Some(reader) = readers.get_mut(id) {
            reader.end(Ok(TurnEnd::default()), transcript);
        }
    }

    pub(crate) fn remove_reader(&self, id: u64) {
        let removed = self.lock().readers.remove(id);
        // Here, where no lock is held, since questions in its queue may be answered now.
        drop(removed);
    }

    pub(crate) fn poll_take(
        &self,
        id: u64,
        batch: &mut Queue,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Taken>> {
        let mut state = self.lock();
        let State {
            readers,
            transcript,
            me,
            ..
        } = &mut *state;
        readers.poll_take(id, batch, cx, transcript, me)
    }
}

impl State {
    /// Runs the lifter and folds what it makes of it.
    pub(super) fn lift(
        &mut self,
        bytes: usize,
        lift: impl FnOnce(&mut Lifter, &mut Vec<v2::SessionUpdate>),
    ) {
        let Some(lifter) = &mut self.lifter else {
            return;
        };
        let mut lifted = std::mem::take(&mut self.lifted);
        lift(lifter, &mut lifted);
        for update in lifted.drain(..) {
            self.fold(update, bytes);
        }
        self.lifted = lifted;
    }

    /// Adds an update to the transcript, tells it, and draws the consequences.
    pub(super) fn fold(&mut self, update: v2::SessionUpdate, bytes: usize) {
        if self.history == History::Known && is_history(&update) {
            return;
        }
        if let v2::SessionUpdate::ConfigOptionUpdate(_) = &update {
            self.kept.told = true;
        }
        let is_v2 = self.lifter.is_none();
        if is_v2 {
            self.before_fold(&update);
        }
        let change = self.transcript.apply(&update);
        self.deliver(update, bytes, change);
        if is_v2 {
            self.after_fold(change);
        }
    }

    /// Tells an update that the transcript has, and what it changed there.
    pub(super) fn deliver(&mut self, update: v2::SessionUpdate, bytes: usize, change: Change) {
        let to = Delivery {
            turn: self.current_turn(),
            bytes,
            change,
            transcript: &self.transcript,
            session: &self.me,
        };
        self.readers.update(update, &to);
    }

    fn is_late(&self, update: &v1::SessionUpdate) -> bool {
        use v1::SessionUpdate::{AgentMessageChunk, AgentThoughtChunk};
        self.turns_ended > 0
            && !self.turns.iter().any(|turn| turn.sent)
            && self.history == History::Taken
            && matches!(update, AgentMessageChunk(_) | AgentThoughtChunk(_))
    }
}

/// Whether an update tells what was said and done, rather than how things are now.
fn is_history(update: &v2::SessionUpdate) -> bool {
    !matches!(
        update,
        v2::SessionUpdate::ConfigOptionUpdate(_)
            | v2::SessionUpdate::AvailableCommandsUpdate(_)
            | v2::SessionUpdate::SessionInfoUpdate(_)
            | v2::SessionUpdate::UsageUpdate(_)
            | v2::SessionUpdate::StateUpdate(_)
            | v2::SessionUpdate::Notice(_)
    )
}
