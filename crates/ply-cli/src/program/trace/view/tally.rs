//! Counts what goes by, and finds the request of each answer.

use std::collections::{BTreeMap, HashMap};

use ply_check::trace::{Direction, Entry, Event};
use serde_json::Value;

use super::row::{Kind, Row};
use super::summary;

/// Requests that are tracked while they wait for an answer.
const OPEN_MAX: usize = 100_000;
/// Methods that are counted on their own.
const METHODS_MAX: usize = 500;
/// Durations that are kept of a method. With more, every other one is dropped and less are taken.
const SAMPLES_MAX: usize = 4096;
/// What is listed at the end, of each kind.
pub(super) const LISTED_MAX: usize = 20;
/// Slowest answers that are named.
const SLOWEST_MAX: usize = 5;
/// Bytes of text that a row keeps.
const TEXT_BYTES_MAX: usize = 2000;

/// What is known at the end.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) frames: [u64; 2],
    pub(super) bytes: [u64; 2],
    pub(super) seconds: f64,
    pub(super) methods: BTreeMap<String, Times>,
    pub(super) slowest: Vec<(f64, String, usize)>,
    pub(super) open: HashMap<(Direction, String), Asked>,
    pub(super) answers_to_nothing: Listed<usize>,
    pub(super) errors: Listed<(usize, String, String)>,
    pub(super) lost: u64,
}

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) frame: usize,
    session: Option<String>,
    t: f64,
}

/// The first of many, and how many they are.
#[derive(Debug)]
pub(super) struct Listed<T> {
    pub(super) first: Vec<T>,
    pub(super) count: u64,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self {
            first: Vec::new(),
            count: 0,
        }
    }
}

impl<T> Listed<T> {
    fn push(&mut self, item: T) {
        self.count += 1;
        if self.first.len() < LISTED_MAX {
            self.first.push(item);
        }
    }
}

/// How long the answers to a method took.
#[derive(Debug, Default)]
pub(super) struct Times {
    pub(super) count: u64,
    pub(super) max: f64,
    samples: Vec<f64>,
    /// One of how many is taken, as a power of two.
    thinned: u32,
}

impl Times {
    fn push(&mut self, took: f64) {
        self.max = self.max.max(took);
        if self.count.is_multiple_of(1 << self.thinned) {
            self.samples.push(took);
        }
        self.count += 1;
        if self.samples.len() >= SAMPLES_MAX {
            let mut is_kept = false;
            self.samples.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.thinned += 1;
        }
    }

    /// Returns the time that a part of the answers did not exceed.
    pub(super) fn quantile(&self, part: f64) -> f64 {
        let mut samples = self.samples.clone();
        samples.sort_by(f64::total_cmp);
        let last = samples.len().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a place among a few thousand"
        )]
        let place = (part * last as f64).ceil() as usize;
        samples.get(place).copied().unwrap_or_default()
    }
}

impl Tally {
    /// Counts an entry and returns how it is shown.
    pub(super) fn take(&mut self, entry: &Entry, number: usize) -> Row {
        self.seconds = self.seconds.max(entry.t);
        let mut row = Row {
            frame_number: entry.direction().map(|_| number),
            t: entry.t,
            dir: entry.direction(),
            kind: Kind::Odd,
            id: None,
            method: None,
            session: None,
            update: None,
            message: None,
            took: None,
            count: 1,
            bytes: 0,
            until: None,
            text: String::new(),
        };
        let size = match &entry.event {
            Event::Frame { dir, frame } => {
                let value = serde_json::from_str(frame.get()).unwrap_or(Value::Null);
                self.message(*dir, &value, &mut row, number);
                frame.get().len()
            }
            Event::Text { text, .. } => {
                row.kind = Kind::Text;
                row.text.clone_from(text);
                text.len()
            }
            Event::Bytes { bytes, .. } => {
                row.kind = Kind::Bytes;
                row.text = String::from_utf8_lossy(bytes).into_owned();
                bytes.len()
            }
            other => {
                self.happening(other, &mut row);
                0
            }
        };
        row.bytes = u64::try_from(size).unwrap_or(u64::MAX);
        if let Some(dir) = entry.direction() {
            let [to_agent, to_client] = &mut self.frames;
            let [bytes_to_agent, bytes_to_client] = &mut self.bytes;
            let (frames, bytes) = match dir {
                Direction::ToAgent => (to_agent, bytes_to_agent),
                Direction::ToClient => (to_client, bytes_to_client),
            };
            *frames += 1;
            *bytes += row.bytes;
        }
        if let Some(end) = (0..=TEXT_BYTES_MAX)
            .rev()
            .find(|at| row.text.is_char_boundary(*at))
        {
            row.text.truncate(end);
        }
        row
    }

    fn happening(&mut self, event: &Event, row: &mut Row) {
        match event {
            Event::Closed(dir) => {
                row.kind = Kind::Closed;
                row.dir = Some(*dir);
            }
            Event::Stderr(text) => {
                row.kind = Kind::Stderr;
                row.text.clone_from(text);
            }
            Event::Lost(lost) => {
                self.lost += lost.entries;
                row.kind = Kind::Lost;
                row.text = format!(
                    "{} entries, {} bytes: {}",
                    lost.entries, lost.bytes, lost.why
                );
            }
            Event::Exit(exit) => {
                row.kind = Kind::Exit;
                row.text = match (exit.code, exit.signal) {
                    (Some(code), _) => format!("code {code}"),
                    (None, Some(signal)) => format!("signal {signal}"),
                    (None, None) => "unknown".to_owned(),
                };
            }
            _ => {}
        }
    }

    fn message(&mut self, dir: Direction, value: &Value, row: &mut Row, number: usize) {
        let text = |at: &str| value.pointer(at).and_then(Value::as_str).map(str::to_owned);
        row.id = value.get("id").map(Value::to_string);
        row.session = text("/params/sessionId");
        if let Some(method) = value.get("method").and_then(Value::as_str) {
            row.method = Some(method.to_owned());
            row.kind = match row.id {
                Some(_) => Kind::Request,
                None => Kind::Notification,
            };
            row.update =
                text("/params/update/sessionUpdate").filter(|_| method == "session/update");
            row.message = text("/params/update/messageId");
            row.text = summary::of_call(method, &value["params"]);
            if let Some(id) = row.id.clone().filter(|_| self.open.len() < OPEN_MAX) {
                let asked = Asked {
                    method: method.to_owned(),
                    frame: number,
                    session: row.session.clone(),
                    t: row.t,
                };
                self.open.insert((dir, id), asked);
            }
            return;
        }
        let (result, error) = (value.get("result"), value.get("error"));
        if result.is_none() && error.is_none() {
            return;
        }
        row.kind = match error {
            Some(_) => Kind::Error,
            None => Kind::Result,
        };
        let caller = match dir {
            Direction::ToAgent => Direction::ToClient,
            Direction::ToClient => Direction::ToAgent,
        };
        let asked = self
            .open
            .remove(&(caller, row.id.clone().unwrap_or_default()));
        if asked.is_none() {
            self.answers_to_nothing.push(number);
        }
        let method = asked.as_ref().map(|asked| asked.method.clone());
        if let Some(asked) = asked {
            self.answered(&asked, row);
            row.session = asked.session;
        }
        let method = method.unwrap_or_default();
        match (error, result) {
            (Some(error), _) => {
                row.text = summary::of_error(error);
                self.errors.push((number, method.clone(), row.text.clone()));
            }
            (None, Some(result)) => row.text = summary::of_result(&method, result),
            (None, None) => {}
        }
        row.method = Some(method).filter(|method| !method.is_empty());
    }

    fn answered(&mut self, asked: &Asked, row: &mut Row) {
        let took = row.t - asked.t;
        row.took = Some(took);
        if self.methods.len() < METHODS_MAX || self.methods.contains_key(&asked.method) {
            self.methods
                .entry(asked.method.clone())
                .or_default()
                .push(took);
        }
        self.slowest.push((took, asked.method.clone(), asked.frame));
        self.slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.slowest.truncate(SLOWEST_MAX);
    }
}
