//! What a trace is made of, and how each part is written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::VERSION;

/// What the first line says of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// What the file is: `trace`.
    ply: String,
    /// The version of the format.
    pub version: u32,
    /// When the recording began, as RFC 3339.
    pub started: String,
    /// The agent's command.
    pub command: Vec<String>,
    /// Whether secrets were taken out.
    pub redacted: bool,
}

impl Header {
    /// Returns the header of a recording that begins now.
    pub fn new(
        started: impl Into<String>,
        command: impl IntoIterator<Item = impl Into<String>>,
        redacted: bool,
    ) -> Self {
        Self {
            ply: "trace".to_owned(),
            version: VERSION,
            started: started.into(),
            command: command.into_iter().map(Into::into).collect(),
            redacted,
        }
    }

    /// Reads a line, if it is a header.
    pub(super) fn decode(line: &[u8]) -> Option<Self> {
        let header: Self = serde_json::from_slice(line).ok()?;
        (header.ply == "trace").then_some(header)
    }
}

/// Who is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The client writes to the agent.
    ToAgent,
    /// The agent writes to the client.
    ToClient,
}

/// One thing that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Entry {
    /// Seconds after the beginning.
    pub t: f64,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A line that is a JSON object.
    Frame {
        /// To whom.
        dir: Direction,
        /// The object, as it was sent.
        frame: Box<RawValue>,
    },
    /// A line that is no JSON object.
    Text {
        /// To whom.
        dir: Direction,
        /// The line, without its end.
        text: String,
    },
    /// A line that is not UTF-8.
    Bytes {
        /// To whom.
        dir: Direction,
        /// The line, without its end.
        bytes: Vec<u8>,
    },
    /// A direction was closed by who writes it.
    Closed(Direction),
    /// The agent wrote this to standard error.
    Stderr(String),
    /// The recording has a gap here.
    Lost(Lost),
    /// The agent ended.
    Exit(Exit),
}

/// What a recording does not have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Lost {
    /// Entries, as far as they can be counted.
    pub entries: u64,
    /// Their size.
    pub bytes: u64,
    /// Why.
    pub why: String,
}

impl Lost {
    /// Returns a gap.
    pub fn new(entries: u64, bytes: u64, why: impl Into<String>) -> Self {
        Self {
            entries,
            bytes,
            why: why.into(),
        }
    }
}

/// How the agent ended: with a code or by a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Exit {
    /// The code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The number of the signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

impl Exit {
    /// Returns an end.
    #[must_use]
    pub fn new(code: Option<i32>, signal: Option<i32>) -> Self {
        Self { code, signal }
    }
}

/// An entry as it is in the file. Exactly one of the last members is there.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Wire<'a> {
    #[serde(default, skip_serializing)]
    t: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dir: Option<Direction>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    frame: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    eof: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    err: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<Lost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit: Option<Exit>,
}

impl Entry {
    /// Returns an entry.
    #[must_use]
    pub fn new(t: f64, event: Event) -> Self {
        Self { t, event }
    }

    /// Returns the entry of a line that a peer wrote, without its end.
    #[must_use]
    pub fn line(t: f64, dir: Direction, line: &[u8]) -> Self {
        let event = match std::str::from_utf8(line) {
            Err(_) => Event::Bytes {
                dir,
                bytes: line.to_owned(),
            },
            Ok(text) => match object(text) {
                Some(frame) => Event::Frame { dir, frame },
                None => Event::Text {
                    dir,
                    text: text.to_owned(),
                },
            },
        };
        Self { t, event }
    }

    /// Returns who was written to, if the entry is something that a peer wrote.
    #[must_use]
    pub fn direction(&self) -> Option<Direction> {
        match &self.event {
            Event::Frame { dir, .. } | Event::Text { dir, .. } | Event::Bytes { dir, .. } => {
                Some(*dir)
            }
            _ => None,
        }
    }

    /// Appends the entry as a line.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let mut wire = Wire::default();
        match &self.event {
            Event::Frame { dir, frame } => {
                wire.dir = Some(*dir);
                wire.frame = Some(frame);
            }
            Event::Text { dir, text } => {
                wire.dir = Some(*dir);
                wire.text = Some(text.clone());
            }
            Event::Bytes { dir, bytes } => {
                wire.dir = Some(*dir);
                wire.base64 = Some(BASE64.encode(bytes));
            }
            Event::Closed(dir) => {
                wire.dir = Some(*dir);
                wire.eof = Some(true);
            }
            Event::Stderr(text) => wire.err = Some(text.clone()),
            Event::Lost(lost) => wire.lost = Some(lost.clone()),
            Event::Exit(exit) => wire.exit = Some(*exit),
        }
        out.extend_from_slice(format!("{{\"t\":{:.6},", self.t).as_bytes());
        let body = serde_json::to_vec(&wire).expect("strings and raw JSON can be written");
        out.extend_from_slice(body.get(1..).unwrap_or_default());
        out.push(b'\n');
    }

    /// Reads a line, if it is an entry.
    pub(super) fn decode(line: &[u8]) -> Option<Self> {
        let wire: Wire<'_> = serde_json::from_slice(line).ok()?;
        let event = match wire {
            Wire {
                dir: Some(dir),
                frame: Some(frame),
                ..
            } => Event::Frame {
                dir,
                frame: frame.to_owned(),
            },
            Wire {
                dir: Some(dir),
                text: Some(text),
                ..
            } => Event::Text { dir, text },
            Wire {
                dir: Some(dir),
                base64: Some(text),
                ..
            } => Event::Bytes {
                dir,
                bytes: BASE64.decode(text).ok()?,
            },
            Wire {
                dir: Some(dir),
                eof: Some(true),
                ..
            } => Event::Closed(dir),
            Wire {
                err: Some(text), ..
            } => Event::Stderr(text),
            Wire {
                lost: Some(lost), ..
            } => Event::Lost(lost),
            Wire {
                exit: Some(exit), ..
            } => Event::Exit(exit),
            _ => return None,
        };
        Some(Self { t: wire.t, event })
    }
}

/// Returns a text as JSON, if it is an object.
fn object(text: &str) -> Option<Box<RawValue>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let frame: &RawValue = serde_json::from_str(text).ok()?;
    Some(frame.to_owned())
}
