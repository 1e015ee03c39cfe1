//! Everything that went over one connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ply_client::Direction;
use serde_json::Value;

/// Bytes of frames that a recording keeps; of later ones only the beginning.
const RECORDED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes kept of a frame once the recording is full.
const LATE_FRAME_BYTES_MAX: usize = 4 * 1024;

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
        let mut kept = frame.clone();
        if state.bytes + line.len() > RECORDED_BYTES_MAX {
            kept.bytes.truncate(LATE_FRAME_BYTES_MAX);
            kept.json = None;
            kept.is_cut = true;
        }
        state.bytes += kept.bytes.len();
        state.frames.push(kept);
        frame
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
