//! What is known of the connection.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::Passive;
use super::message::text;
use crate::rule::{Side, id};
use crate::trace::Exit;

/// Requests of both sides that are tracked while they wait for an answer.
const OPEN_MAX: usize = 100_000;
/// Answered requests that are remembered, to know a second answer.
const ANSWERED_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Link {
    /// The version both sides agreed on.
    pub(super) version: Option<u64>,
    /// The version the client asked for last.
    pub(super) asked: Option<u64>,
    /// What the client said of itself.
    pub(super) hello: Option<Value>,
    /// What the agent said of itself.
    pub(super) welcome: Option<Value>,
    /// Whether anything but `initialize` was asked by the client.
    pub(super) is_in_use: bool,
    /// The client was told a version above its newest; said once.
    pub(super) cannot_go_on: bool,
    /// Relative directories in which the client asked for sessions.
    pub(super) misplaced: BTreeSet<String>,
    pub(super) is_hung_up: bool,
    pub(super) exit: Option<Exit>,
    /// Who sent something that cannot be told apart from a request or from a notification: its answers may be to anything.
    pub(super) odd: HashSet<Side>,
    /// Who sent a notification.
    pub(super) has_notified: HashSet<Side>,
    /// A line that looks cut off, which is no fault if it is the last one of its sender.
    pub(super) torn: HashMap<Side, usize>,
    /// Cursors that the agent gave out.
    pub(super) cursors: HashSet<String>,
    /// Pages that users were sent to.
    pub(super) pages: HashSet<String>,
    open: HashMap<(Side, String), Open>,
    answered: HashMap<(Side, String), (usize, bool)>,
    order: VecDeque<(Side, String)>,
    /// Ids that were used again before their answer.
    reused: HashSet<(Side, String)>,
    has_forgotten: bool,
    /// Some requests were not tracked.
    has_overflowed: bool,
}

/// A request that waits for its answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Open {
    pub(super) method: String,
    pub(super) frame: usize,
    pub(super) session: Option<String>,
    /// It came before any `initialize`.
    pub(super) is_early: bool,
    /// When its sender took it back.
    pub(super) taken_back: Option<f64>,
    /// A second `initialize` on a connection that is in use.
    pub(super) is_repeated: bool,
    /// It uses what the other side does not offer, so that nothing is expected of its answer.
    pub(super) is_ungated: bool,
    /// Whether the session was not introduced.
    pub(super) is_for_unknown: bool,
    /// Whether a replay was asked for.
    pub(super) replays: bool,
    /// The session was running when this was asked.
    pub(super) while_running: bool,
    /// What the session has become since this was asked, and the frame in which it came to rest.
    pub(super) saw_running: bool,
    pub(super) idle_at: Option<usize>,
    pub(super) saw_state: bool,
    /// The options of a question, each with whether it rejects.
    pub(super) options: Vec<(String, bool)>,
    pub(super) tool_call: Option<String>,
}

impl Link {
    pub(super) fn is_v1(&self) -> bool {
        self.version.is_some_and(|version| version <= 1)
    }

    pub(super) fn is_v2(&self) -> bool {
        self.version == Some(2)
    }

    /// Returns whether the sides agreed on a version that nothing is known of.
    pub(super) fn is_unknown(&self) -> bool {
        self.version.is_some_and(|version| version > 2)
    }

    pub(super) fn open(&mut self, from: Side, id: &Value, open: Open) {
        if self.open.len() < OPEN_MAX {
            let key = (from, id.to_string());
            self.answered.remove(&key);
            if self.open.insert(key.clone(), open).is_some() {
                self.reused.insert(key);
            }
        } else {
            self.has_forgotten = true;
            self.has_overflowed = true;
        }
    }

    pub(super) fn opened(&self, from: Side, id: &Value) -> Option<&Open> {
        self.open.get(&(from, id.to_string()))
    }

    pub(super) fn opened_mut(&mut self, from: Side, id: &Value) -> Option<&mut Open> {
        self.open.get_mut(&(from, id.to_string()))
    }

    /// Returns the open requests of a side.
    pub(super) fn waiting_mut(&mut self, from: Side) -> impl Iterator<Item = &mut Open> {
        let open = self.open.iter_mut();
        open.filter(move |((side, _), _)| *side == from)
            .map(|(_, open)| open)
    }

    /// Returns whether the agent waits for the client in a session.
    pub(super) fn has_question(&self, session: &str) -> bool {
        let mut open = self.open.iter();
        open.any(|((side, _), open)| {
            *side == Side::Agent && open.session.as_deref() == Some(session)
        })
    }

    /// Returns the frame of the first answer to a request, and whether that was a prompt.
    pub(super) fn answered(&self, from: Side, id: &Value) -> Option<(usize, bool)> {
        self.answered.get(&(from, id.to_string())).copied()
    }

    /// Returns whether an answer that fits no open request is a fault: not if the request may have been missed or misread.
    pub(super) fn is_stray(&self, from: Side, id: &Value) -> bool {
        let is_reused = self.reused.contains(&(from, id.to_string()));
        !self.has_overflowed && !is_reused && !self.odd.contains(&from)
    }

    /// Returns whether a request with this id was never made.
    pub(super) fn is_unheard_of(&self, from: Side, id: &Value) -> bool {
        let key = (from, id.to_string());
        !self.has_forgotten && !self.open.contains_key(&key) && !self.answered.contains_key(&key)
    }

    pub(super) fn close(&mut self, from: Side, id: &Value, frame: usize) -> Option<Open> {
        let key = (from, id.to_string());
        let open = self.open.remove(&key)?;
        if self.order.len() >= ANSWERED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.answered.remove(&oldest);
            self.has_forgotten = true;
        }
        self.order.push_back(key.clone());
        let is_prompt = open.method == "session/prompt";
        self.answered.insert(key, (frame, is_prompt));
        Some(open)
    }
}

impl Passive {
    /// Looks at a message of a version that nothing is known of.
    pub(super) fn beyond(&mut self, from: Side, value: &Value) {
        let is_call = from == Side::Client && text(value, "/method").is_some();
        if is_call && std::mem::take(&mut self.link.cannot_go_on) {
            self.goes_on();
        }
    }

    /// The client goes on with a version above its newest.
    pub(super) fn goes_on(&mut self) {
        let rule = match self.link.asked {
            Some(0 | 1) => id::V1_INIT_09,
            _ => id::V2_INIT_06,
        };
        let what = "the client continues with a version above its newest";
        self.find(rule, Side::Client, what);
    }

    /// Judges what was said in sessions that nobody made, loaded or resumed.
    pub(super) fn strangers(&mut self) {
        let is_setup = |open: &Open| {
            let setup = [
                "session/new",
                "session/load",
                "session/resume",
                "session/fork",
            ];
            setup.contains(&open.method.as_str())
        };
        let is_waiting = self
            .link
            .waiting_mut(Side::Client)
            .any(|open| is_setup(open));
        if is_waiting || !self.link.is_v1() {
            return;
        }
        for frame in self.sessions.strangers() {
            let what = "an update is about a session that was not created, loaded or resumed";
            self.find_at(id::V1_SESS_09, Side::Agent, vec![frame], what);
        }
    }

    /// Judges what is left when the agent ended by itself, in good order, with the client still there.
    pub(super) fn end_of_link(&mut self) {
        let is_clean = self.link.exit.is_some_and(|exit| exit.code == Some(0));
        if !is_clean || self.link.is_hung_up || !self.link.is_v1() {
            return;
        }
        let unanswered = self.link.open.iter();
        let unanswered = unanswered
            .filter(|((side, _), open)| *side == Side::Client && open.method == "session/prompt");
        let mut frames: Vec<usize> = unanswered.map(|(_, open)| open.frame).collect();
        frames.sort_unstable();
        for frame in frames {
            let what = "the agent exited without a prompt response";
            self.find_at(id::V1_PROMPT_07, Side::Agent, vec![frame], what);
        }
    }
}
