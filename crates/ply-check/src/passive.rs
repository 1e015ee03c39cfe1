//! Rules that can be judged from a recording alone: nobody is asked anything, nothing is sent.
//!
//! [`Passive`] is fed the entries of a trace in order. It learns the version from the answer to
//! `initialize` and keeps a small state for the connection and each session. Where a recording cannot
//! tell (two messages may have crossed, a part is missing, somebody else may have acted) nothing is found.
//!
//! [`judge`] feeds it the recordings of a run, for [`crate::agent::check`] and whoever checks clients.

mod ask;
mod capability;
mod content;
mod diff;
mod envelope;
mod feed;
mod finding;
mod form;
mod handshake;
mod link;
mod message;
mod option;
mod plan;
mod recorded;
mod report;
mod rules;
mod schema;
mod services;
mod session;
mod setup;
mod state;
mod tool;
mod turn;
mod update;

pub use self::feed::judge;
pub(crate) use self::feed::judged;
pub use self::finding::{Finding, Judgement};
pub use self::recorded::Recorded;
pub use self::rules::rules;

use ply_wire::negotiate::Version;

use self::finding::Report;
use self::link::Link;
use self::message::Message;
use self::session::Sessions;
use crate::rule::{Side, id};
use crate::trace::{Direction, Entry, Event};

/// Messages of both sides may cross on their way. What follows a message sooner than that may have been
/// sent without knowing it; a busy machine holds a peer up that long.
const CROSSING_S: f64 = 0.5;

/// What comes so soon after an end belongs to what ended. Later it may be something new.
const AFTERMATH_S: f64 = 1.0;

/// Rules that a line keeps whatever went before it.
const OF_A_LINE: &[&str] = &[id::V1_STDIO_03, id::V1_STDIO_04, id::V1_RPC_03];

/// Judges a recording, entry by entry.
///
/// ```
/// use ply_check::passive::Passive;
/// use ply_check::trace::{Direction, Entry};
///
/// let mut passive = Passive::new();
/// let early = br#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"src","mcpServers":[]}}"#;
/// passive.observe(&Entry::line(0.0, Direction::ToAgent, early));
/// let found = passive.finish().findings;
/// let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
/// assert_eq!(rules, ["V1-INIT-01", "V1-SESS-02", "V1-RPC-13"]);
/// ```
#[derive(Debug, Default)]
pub struct Passive {
    /// The number of the current frame; the first is 1.
    frame: usize,
    /// The time of the current entry.
    t: f64,
    link: Link,
    sessions: Sessions,
    report: Report,
    /// The other side breaks rules on purpose, so that only lines and answers as such are judged.
    is_of_lines: bool,
    /// A part of the recording is missing, so that nothing after it can be judged.
    is_blind: bool,
}

impl Passive {
    /// Returns a judge that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a judge of lines and answers as such, whatever they are about.
    pub(crate) fn of_lines() -> Self {
        Self {
            is_of_lines: true,
            ..Self::default()
        }
    }

    /// Looks at the next entry.
    ///
    /// After a gap in the recording nothing more is judged.
    pub fn observe(&mut self, entry: &Entry) {
        if entry.direction().is_some() {
            self.frame += 1;
        }
        if self.is_blind {
            return;
        }
        self.t = entry.t;
        if let Some(dir) = entry.direction() {
            self.line(sender(dir));
        }
        match &entry.event {
            Event::Frame { dir, frame } => self.frame(sender(*dir), frame),
            Event::Text { dir, text } => self.text(sender(*dir), text),
            Event::Bytes { dir, .. } => self.bytes(sender(*dir)),
            Event::Closed(Direction::ToAgent) => self.link.is_hung_up = true,
            Event::Exit(exit) => self.link.exit = Some(*exit),
            Event::Lost(_) => self.is_blind = true,
            _ => {}
        }
    }

    /// Returns how many frames were seen.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.frame
    }

    /// Returns the version of the protocol, once both sides agreed on one.
    #[must_use]
    pub fn version(&self) -> Option<u64> {
        self.link.version
    }

    /// Returns what the recording shows.
    #[must_use]
    pub fn finish(mut self) -> Judgement {
        if !self.is_blind {
            self.strangers();
            self.end_of_link();
        }
        self.report.finish()
    }

    /// Returns the id under which the version that is spoken has a rule; none if it has no such rule.
    fn named(&self, rule: &'static str, side: Side) -> Option<&'static str> {
        if self.is_of_lines && !OF_A_LINE.contains(&rule) {
            return None;
        }
        let version = match self.link.version {
            Some(0 | 1) => Version::V1,
            Some(2) => Version::V2,
            // What is judged before the version is known gets its name when it is.
            None if rule.starts_with("V2-") && self.link.asked != Some(2) => return None,
            _ => return rules::rule(rule, side).map(|rule| rule.id),
        };
        rules::named(rule, side, version)
    }

    /// Notes that something happened that a rule is about.
    fn look(&mut self, rule: &'static str, side: Side) {
        if let Some(rule) = self.named(rule, side) {
            self.report.look(rule, side);
        }
    }

    fn find(&mut self, rule: &'static str, side: Side, what: impl Into<String>) {
        self.find_at(rule, side, vec![self.frame], what);
    }

    /// Reports something that only shows together with an earlier frame.
    fn find_with(
        &mut self,
        rule: &'static str,
        side: Side,
        earlier: usize,
        what: impl Into<String>,
    ) {
        self.find_at(rule, side, vec![earlier, self.frame], what);
    }

    fn find_at(
        &mut self,
        rule: &'static str,
        side: Side,
        frames: Vec<usize>,
        what: impl Into<String>,
    ) {
        if let Some(rule) = self.named(rule, side) {
            self.report.add(rule, side, frames, what.into());
        }
    }

    /// Judges a rule by the current frame.
    fn keeps(&mut self, rule: &'static str, side: Side, is_kept: bool, what: &str) {
        match is_kept {
            true => self.look(rule, side),
            false => self.find(rule, side, what),
        }
    }

    fn frame(&mut self, from: Side, frame: &serde_json::value::RawValue) {
        // Too deep to be read is no rule of the protocol; such a frame is left out.
        let Ok(value) = serde_json::from_str(frame.get()) else {
            return;
        };
        if self.link.is_unknown() {
            return self.beyond(from, &value);
        }
        match self.envelope(from, &value) {
            Some(Message::Request { id, method, params }) => {
                self.request(from, id, method, params);
            }
            Some(Message::Notification { method, params }) => {
                self.notification(from, method, params);
            }
            Some(Message::Answer { id, result, error }) => self.answer(from, id, result, error),
            None => {}
        }
    }
}

fn sender(dir: Direction) -> Side {
    match dir {
        Direction::ToAgent => Side::Client,
        Direction::ToClient => Side::Agent,
    }
}
