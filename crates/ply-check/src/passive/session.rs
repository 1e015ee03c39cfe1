//! What is known of each session.

use std::collections::HashMap;

use super::Passive;
use super::link::Open;
use super::plan::Plan;

/// Sessions that are tracked.
const SESSIONS_MAX: usize = 10_000;
/// Tool calls, messages and terminals that are tracked in a session.
pub(super) const THINGS_MAX: usize = 50_000;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: HashMap<String, Session>,
    /// Updates of sessions that nobody introduced: the first frame of each.
    early: HashMap<String, usize>,
    /// Parts of turns of such sessions: the first frame of each.
    strangers: HashMap<String, usize>,
    is_full: bool,
}

#[derive(Debug, Default)]
pub(super) struct Session {
    /// `session/new` gave it its id here.
    pub(super) is_made: bool,
    /// Something happened before the recording, or more than is tracked.
    pub(super) has_past: bool,
    /// The frame of the answer to `session/close`.
    pub(super) closed: Option<usize>,
    /// Replays that are under way.
    pub(super) loading: usize,
    /// When the history had been replayed, if no prompt came since.
    pub(super) loaded: Option<f64>,
    /// Prompts of version 1 without an answer.
    pub(super) running: usize,
    /// A prompt was sent to it here.
    pub(super) was_prompted: bool,
    /// When the last turn ended.
    pub(super) ended: Option<f64>,
    /// The last cancel of the running work: its frame and time.
    pub(super) cancel: Option<(usize, f64)>,
    pub(super) calls: HashMap<String, Call>,
    pub(super) terminals: HashMap<String, usize>,
    pub(super) has_made_terminals: bool,
    /// Terminals of the agent's own, each with whether it has ended.
    pub(super) own_terminals: HashMap<String, bool>,
    pub(super) plans: HashMap<String, Plan>,
    /// Compactions that are over, and the frame of each end.
    pub(super) compactions: HashMap<String, usize>,
    /// It was active when it was asked to close.
    pub(super) was_closed_at_work: bool,
    pub(super) modes: Option<Vec<String>>,
    /// It was told to have options that can be set.
    pub(super) has_options: bool,
    /// In version 2: the frame since when it is active, if it is.
    pub(super) active: Option<usize>,
    pub(super) has_state: bool,
    pub(super) has_background: bool,
    /// The frame of the prompt whose work has not been told to run yet.
    pub(super) awaits_work: Option<usize>,
    /// The frame since when the user is waited for.
    pub(super) waits: Option<usize>,
    /// The client answered something since the work began.
    pub(super) was_answered: bool,
    /// The client did something that may end the running work.
    pub(super) is_stop_chosen: bool,
    /// Messages of the user that were shown, and the frame of each.
    pub(super) user_messages: HashMap<String, usize>,
    /// Accepted prompts whose message was not shown yet: id and frame of the answer.
    pub(super) accepted: Vec<(String, usize)>,
}

#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) status: String,
    pub(super) frame: usize,
    /// That it is open was told at the end of a turn.
    pub(super) is_told: bool,
    pub(super) can_be_cancelled: bool,
    /// When that was withdrawn.
    pub(super) withdrawn: Option<f64>,
    /// The frame in which the user said no.
    pub(super) rejected: Option<usize>,
    pub(super) is_announced: bool,
    /// It was told to run.
    pub(super) was_running: bool,
    /// A question named it before it was announced.
    pub(super) is_mentioned: bool,
}

impl Call {
    pub(super) fn is_over(&self) -> bool {
        ["completed", "failed", "cancelled"].contains(&self.status.as_str())
    }
}

impl Sessions {
    /// Returns a session that was introduced.
    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.known.get_mut(id)
    }

    pub(super) fn is_known(&self, id: &str) -> bool {
        self.is_full || self.known.contains_key(id)
    }

    /// Introduces a session and returns it with the frame of an update that came too early.
    pub(super) fn introduce(&mut self, id: &str) -> (Option<&mut Session>, Option<usize>) {
        let early = self.early.remove(id);
        self.strangers.remove(id);
        if self.known.len() >= SESSIONS_MAX && !self.known.contains_key(id) {
            self.is_full = true;
            return (None, early);
        }
        (Some(self.known.entry(id.to_owned()).or_default()), early)
    }

    /// Returns whether a session is at work.
    pub(super) fn has_running(&self) -> bool {
        self.known.values().any(|session| session.running > 0)
    }

    /// Notes what was said in a session that nobody introduced.
    pub(super) fn note_stranger(&mut self, id: &str, frame: usize) {
        if self.strangers.len() < SESSIONS_MAX {
            self.strangers.entry(id.to_owned()).or_insert(frame);
        }
    }

    /// Returns the first frame of each session in which something was said and which nobody ever introduced.
    pub(super) fn strangers(&self) -> Vec<usize> {
        let is_whole = !self.is_full && self.known.values().any(|session| session.is_made);
        let mut frames: Vec<_> = self
            .strangers
            .values()
            .copied()
            .filter(|_| is_whole)
            .collect();
        frames.sort_unstable();
        frames
    }

    pub(super) fn note_early(&mut self, id: &str, frame: usize) {
        if self.early.len() < SESSIONS_MAX {
            self.early.entry(id.to_owned()).or_insert(frame);
        }
    }
}

impl Passive {
    /// Returns the session that a request was for, if it was introduced.
    pub(super) fn session_of(&mut self, open: &Open) -> Option<&mut Session> {
        self.sessions.get_mut(open.session.as_ref()?)
    }
}
