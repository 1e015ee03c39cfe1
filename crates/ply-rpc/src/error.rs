//! The three ways a call can fail, kept apart: the peer said no, the link is gone, nobody answered.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// An error object as it travels in an answer.
#[derive(Debug, Clone, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
#[non_exhaustive]
pub struct RpcError {
    /// The JSON-RPC or protocol error code.
    pub code: i64,
    /// One concise sentence.
    pub message: String,
    /// Details, as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl PartialEq for RpcError {
    fn eq(&self, other: &Self) -> bool {
        let data = |error: &Self| error.data.as_ref().map(|data| data.get().to_owned());
        self.code == other.code && self.message == other.message && data(self) == data(other)
    }
}

impl RpcError {
    /// Unparsable JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// JSON that is no message, or a message out of place.
    pub const INVALID_REQUEST: i64 = -32600;
    /// A method that is not offered.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// Params that do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// A fault on the answering side.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The request was cancelled.
    pub const REQUEST_CANCELLED: i64 = -32800;

    /// Returns an error with `code` and `message`.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds `data`. Data that cannot be encoded is left out: the error itself matters more.
    #[must_use]
    pub fn with_data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }

    /// Returns the answer to an unknown method.
    #[must_use]
    pub fn method_not_found() -> Self {
        Self::new(Self::METHOD_NOT_FOUND, "Method not found")
    }

    /// Returns the answer to params that do not fit.
    #[must_use]
    pub fn invalid_params(reason: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, "Invalid params").with_data(&reason.into())
    }

    /// Returns the answer to a message that is out of place.
    #[must_use]
    pub fn invalid_request(reason: impl Into<String>) -> Self {
        Self::new(Self::INVALID_REQUEST, "Invalid request").with_data(&reason.into())
    }

    /// Returns the answer to a fault of ours.
    #[must_use]
    pub fn internal(reason: impl Into<String>) -> Self {
        Self::new(Self::INTERNAL_ERROR, "Internal error").with_data(&reason.into())
    }

    /// Returns the answer to a cancelled request.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(Self::REQUEST_CANCELLED, "Request cancelled")
    }

    /// Returns the answer to params that failed to decode, without repeating any of the input.
    #[must_use]
    pub fn from_decode(error: &serde_json::Error) -> Self {
        Self::invalid_params(decode_reason(error))
    }
}

/// Says why decoding failed in words of the expected type only, because serde's own text quotes the input.
#[must_use]
pub fn decode_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(text, _)| text);
    // Field names are the type's own words.
    if ["missing field `", "duplicate field `", "recursion limit"]
        .iter()
        .any(|own| text.starts_with(own))
    {
        return text.to_owned();
    }
    let place = format!("at column {}", error.column());
    match text.rsplit_once(", expected ") {
        Some((_, expected)) if error.is_data() => format!("expected {expected} {place}"),
        _ => format!("does not fit {place}"),
    }
}

/// Why a call brought no result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The peer answered with an error.
    #[error(transparent)]
    Peer(#[from] RpcError),
    /// The link closed before the answer came.
    #[error("the link closed before `{method}` was answered: {reason}")]
    Closed {
        /// The method called.
        method: Box<str>,
        /// Why the link closed.
        reason: Closed,
    },
    /// The peer did not answer in time. It was told that the answer is no longer wanted.
    #[error("`{method}` was not answered within {} ms", after.as_millis())]
    Deadline {
        /// The method called.
        method: Box<str>,
        /// How long we waited.
        after: Duration,
    },
    /// The peer let this method's deadline pass so often that it is no longer asked.
    #[error("`{method}` is switched off: the peer left it unanswered {times} times")]
    Unresponsive {
        /// The method called.
        method: Box<str>,
        /// Deadlines missed in a row.
        times: u8,
    },
    /// The answer does not fit its type.
    #[error("the answer to `{method}` is not what the protocol says: {reason}")]
    BadAnswer {
        /// The method called.
        method: Box<str>,
        /// Where it differs.
        reason: Box<str>,
    },
    /// The params could not be encoded as JSON.
    #[error("the params of `{method}` cannot be encoded: {reason}")]
    Encode {
        /// The method called.
        method: Box<str>,
        /// What the encoder said.
        reason: Box<str>,
    },
}

impl CallError {
    /// Returns whether the peer says that the request was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Peer(error) if error.code == RpcError::REQUEST_CANCELLED)
    }

    /// Returns whether the link is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }
}

/// Why a link ended.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// The peer closed its side between two messages.
    #[error("the peer closed the connection")]
    Eof,
    /// The peer closed its side inside a message.
    #[error("the peer closed the connection inside a message, {bytes} bytes in")]
    Torn {
        /// Length of the unfinished line.
        bytes: usize,
    },
    /// We closed it.
    #[error("the connection was closed on this side")]
    Local,
    /// Reading failed.
    #[error("reading from the peer failed: {0}")]
    Read(#[source] Arc<io::Error>),
    /// Writing failed.
    #[error("writing to the peer failed: {0}")]
    Write(#[source] Arc<io::Error>),
    /// The transport panicked, or [`Handler::poll_ready`](crate::Handler::poll_ready) did.
    #[error("the code behind the connection panicked")]
    Panicked,
    /// A line went on far past the limit.
    #[error("the peer sent a line that does not end, {bytes} bytes so far")]
    EndlessLine {
        /// Bytes seen.
        bytes: u64,
    },
    /// The peer printed other things and never a message.
    #[error("the peer printed {bytes} bytes and no protocol message")]
    OnlyNoise {
        /// Bytes seen.
        bytes: u64,
    },
    /// The peer asks but does not read the answers.
    #[error("the peer does not read its answers, of which {bytes} bytes wait for it")]
    NotReading {
        /// Bytes waiting.
        bytes: usize,
    },
}
