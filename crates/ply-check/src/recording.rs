//! Everything that went over one connection.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ply_client::Direction;
use serde_json::Value;

use crate::trace::{self, Entry, Header, Redactor, Writer};

/// Bytes of frames that a recording keeps; of later ones that are long only the beginning.
const RECORDED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes kept of a frame beyond that.
const LATE_FRAME_BYTES_MAX: usize = 4 * 1024;
/// Bytes of frames beyond which nothing is kept at all.
const FULL_BYTES_MAX: usize = 2 * RECORDED_BYTES_MAX;
/// What a frame costs besides its bytes, so that a flood of tiny lines has an end too.
const FRAME_COST_BYTES: usize = 512;

/// One line.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Frame {
    /// Its place in the recording, from 0.
    pub number: usize,
    /// When it was sent or came, since the connection began.
    pub at: Duration,
    /// Who sent it.
    pub direction: Direction,
    /// The line as it was, without its line end.
    pub bytes: Vec<u8>,
    /// The line read as JSON, if it is.
    pub json: Option<Value>,
    /// Whether only the beginning of it was kept.
    pub is_cut: bool,
}

impl Frame {
    /// Returns the method of a request or notification.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        self.json.as_ref()?.get("method")?.as_str()
    }

    /// Returns the id of a request or an answer.
    #[must_use]
    pub fn id(&self) -> Option<&Value> {
        self.json.as_ref()?.get("id")
    }

    /// Returns whether it asks for an answer.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.method().is_some() && self.id().is_some()
    }

    /// Returns whether it is an answer.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        let has = |key| {
            self.json
                .as_ref()
                .is_some_and(|json| json.get(key).is_some())
        };
        self.method().is_none() && (has("result") || has("error"))
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> Option<&Value> {
        self.json.as_ref()?.get("params")
    }

    /// Returns the update of a `session/update`.
    #[must_use]
    pub fn update(&self) -> Option<&Value> {
        if self.method() != Some("session/update") {
            return None;
        }
        self.params()?.get("update")
    }

    /// Returns the kind of a `session/update`.
    #[must_use]
    pub fn update_kind(&self) -> Option<&str> {
        self.update()?.get("sessionUpdate")?.as_str()
    }

    /// Returns the session that it names.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.params()?.get("sessionId")?.as_str()
    }
}

/// Everything that went over one connection. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub struct Recording(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    frames: Vec<Frame>,
    bytes: usize,
    /// What the connection was for.
    name: String,
    /// Whether our side sent something that breaks the rules on purpose.
    is_foul: bool,
}

impl Recording {
    /// Returns an empty recording.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let recording = Self::default();
        recording.state().name = name.into();
        recording
    }

    /// Adds a line and returns it.
    pub(crate) fn add(&self, at: Duration, direction: Direction, line: &[u8]) -> Frame {
        let mut state = self.state();
        let frame = Frame {
            number: state.frames.len(),
            at,
            direction,
            bytes: line.to_vec(),
            json: serde_json::from_slice(line).ok(),
            is_cut: false,
        };
        if state.bytes >= FULL_BYTES_MAX {
            return frame;
        }
        let mut kept = frame.clone();
        let is_late = state.bytes + line.len() > RECORDED_BYTES_MAX;
        if is_late && line.len() > LATE_FRAME_BYTES_MAX {
            kept.bytes.truncate(LATE_FRAME_BYTES_MAX);
            kept.json = kept.json.as_ref().map(envelope);
            kept.is_cut = true;
        }
        state.bytes += kept.bytes.len() + FRAME_COST_BYTES;
        state.frames.push(kept);
        frame
    }

    /// Returns whether so much went over the connection that it is not used for more than is needed.
    pub(crate) fn is_long(&self) -> bool {
        self.state().bytes >= RECORDED_BYTES_MAX / 2
    }

    /// Returns whether nothing more is kept.
    pub(crate) fn is_full(&self) -> bool {
        self.state().bytes >= FULL_BYTES_MAX
    }

    /// Notes that our side breaks the rules on purpose: then the recording shows nothing but what a probe says.
    pub(crate) fn play_foul(&self) {
        self.state().is_foul = true;
    }

    /// Returns whether our side broke rules on purpose.
    #[must_use]
    pub fn is_foul(&self) -> bool {
        self.state().is_foul
    }

    /// Returns what the connection was for.
    #[must_use]
    pub fn name(&self) -> String {
        self.state().name.clone()
    }

    /// Looks at the frames.
    pub fn with_frames<T>(&self, look: impl FnOnce(&[Frame]) -> T) -> T {
        look(&self.state().frames)
    }

    /// Writes it as a trace, with secrets taken out: the header on the first line, then a line for each frame.
    ///
    /// # Errors
    ///
    /// The output failed.
    pub fn write_trace(&self, output: impl Write, header: &Header) -> io::Result<()> {
        let mut writer = Writer::new(output, header, Some(Redactor::new()));
        let frames = self.with_frames(<[Frame]>::to_vec);
        for frame in &frames {
            let direction = match frame.direction {
                Direction::ToAgent => trace::Direction::ToAgent,
                Direction::ToClient => trace::Direction::ToClient,
            };
            writer.write(&Entry::line(
                frame.at.as_secs_f64(),
                direction,
                &frame.bytes,
            ))?;
        }
        writer.finish().map(drop)
    }

    /// Returns the line of a frame in a trace, from 1.
    #[must_use]
    pub fn trace_line(frame: usize) -> usize {
        // The first line is the header.
        frame + 2
    }

    /// Returns how many frames there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state().frames.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic of a probe leaves frames whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what is kept of a message that is too long: what it answers or asks, and nothing of what it says.
fn envelope(message: &Value) -> Value {
    let kept = ["jsonrpc", "id", "method"].into_iter();
    let kept = kept.filter_map(|key| Some((key.to_owned(), message.get(key)?.clone())));
    let mut kept: serde_json::Map<_, _> = kept.collect();
    for key in ["result", "error"] {
        if message.get(key).is_some() {
            kept.insert(key.to_owned(), Value::Null);
        }
    }
    Value::Object(kept)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]
mod tests {
    use super::*;

    fn filled() -> Recording {
        let recording = Recording::new("test");
        recording.state().bytes = RECORDED_BYTES_MAX;
        recording
    }

    fn add(recording: &Recording, line: &str) -> Frame {
        recording.add(Duration::ZERO, Direction::ToClient, line.as_bytes());
        recording.with_frames(|frames| frames.last().unwrap().clone())
    }

    #[test]
    fn a_short_frame_is_kept_whole_after_much_was_recorded() {
        let frame = add(&filled(), r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#);
        assert!(!frame.is_cut);
        assert_eq!(frame.json.unwrap()["result"]["a"], 1);
    }

    #[test]
    fn of_a_long_frame_it_is_kept_what_it_answers() {
        let text = "x".repeat(LATE_FRAME_BYTES_MAX);
        let line = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":"{text}"}}}}"#);
        let frame = add(&filled(), &line);
        assert!(frame.is_cut && frame.is_answer());
        assert_eq!(frame.id(), Some(&Value::from(7)));
        assert_eq!(frame.bytes.len(), LATE_FRAME_BYTES_MAX);
    }

    #[test]
    fn a_flood_of_tiny_lines_has_an_end() {
        let recording = filled();
        for _ in 0..=RECORDED_BYTES_MAX / FRAME_COST_BYTES {
            recording.add(Duration::ZERO, Direction::ToClient, b"y");
        }
        assert!(recording.is_full());
        assert!(recording.len() <= RECORDED_BYTES_MAX / FRAME_COST_BYTES);
    }
}
