//! Line to message: the JSON-RPC envelope, read once with borrowed payloads.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::id::{BadId, RequestId};
use crate::limits::NESTING_MAX;
use crate::{RpcError, depth};

/// One JSON-RPC message, borrowing from its line.
#[derive(Debug)]
pub enum Message<'a> {
    /// Wants an answer.
    Request {
        /// The peer's id for it.
        id: RequestId,
        /// What is asked.
        method: Cow<'a, str>,
        /// With what.
        params: Option<&'a RawValue>,
    },
    /// Wants none.
    Notification {
        /// What is told.
        method: Cow<'a, str>,
        /// With what.
        params: Option<&'a RawValue>,
    },
    /// Answers a request of ours.
    Response {
        /// Our id for it, as the peer wrote it.
        id: RequestId,
        /// The result, or the error object as JSON text.
        outcome: Outcome<'a>,
    },
}

/// What a response says.
#[derive(Debug)]
pub enum Outcome<'a> {
    /// `result`.
    Result(&'a RawValue),
    /// `error`.
    Error(&'a RawValue),
    /// Both or neither, which is no answer but ends the wait for one.
    Neither,
}

/// Why a line is no message, and what may be answered.
#[derive(Debug)]
pub struct Rejected {
    /// What is wrong.
    pub error: RpcError,
    /// Whether and under which id the refusal may be answered.
    pub answer: Answer,
    /// Whether the line says that it is JSON-RPC 2.0. One that does not may be anything, such as a log line with an `id`.
    pub claims_version: bool,
}

/// To whom a refusal goes.
#[derive(Debug, PartialEq)]
pub enum Answer {
    /// To this request.
    To(RequestId),
    /// To a request whose id is a scalar of the wrong kind, echoed as written.
    ToText(Box<str>),
    /// To nobody in particular (`id: null`); counts as noise.
    ToNull,
    /// The line looks like a response or a notification, which are never answered.
    Nobody,
    /// The line would have answered this call of ours, had it been readable.
    EndsCall(RequestId),
}

/// Reads one line, already stripped of what stands around it.
///
/// # Errors
///
/// [`Rejected`] says what is wrong with the line, without repeating any of it.
pub fn parse(line: &[u8]) -> Result<Message<'_>, Rejected> {
    let Ok(text) = std::str::from_utf8(line) else {
        return Err(unreadable(line, parse_error("the line is not UTF-8")));
    };
    if depth::exceeds(line, NESTING_MAX) {
        let error = RpcError::invalid_request("the message is nested too deeply");
        return Err(unreadable(line, error));
    }
    if !text.starts_with('{') {
        let error = match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => RpcError::invalid_request("a message is a JSON object"),
            Err(_) => parse_error("the line is not JSON"),
        };
        return Err(unreadable(line, error));
    }
    match serde_json::from_str::<Raw<'_>>(text) {
        Ok(raw) => raw.classify(),
        Err(error) if error.is_data() => {
            let error = RpcError::invalid_request("a member occurs twice");
            let rejected = unreadable(line, error);
            // Which of two ids would be meant? Only our own call may end, never a request be refused.
            let answer = match rejected.answer {
                Answer::To(_) => Answer::ToNull,
                answer => answer,
            };
            Err(Rejected { answer, ..rejected })
        }
        Err(_) => Err(unreadable(line, parse_error("the line is not JSON"))),
    }
}

fn parse_error(reason: &str) -> RpcError {
    RpcError::new(RpcError::PARSE_ERROR, "Parse error").with_data(&reason)
}

/// Refuses a line whose members could not be read, by what its beginning tells.
fn unreadable(line: &[u8], error: RpcError) -> Rejected {
    let head = Head::scan(line);
    let answer = match (head.ends_call(), head.answer()) {
        (Some(id), _) => Answer::EndsCall(id),
        // What cannot be parsed at all is answered under no id.
        (None, Answer::To(id)) if error.code == RpcError::INVALID_REQUEST => Answer::To(id),
        _ => Answer::ToNull,
    };
    Rejected {
        error,
        answer,
        claims_version: head.claims_version,
    }
}

/// The members of a message, each as its own text. Absent and `null` are told apart.
#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Raw<'a> {
    fn classify(self) -> Result<Message<'a>, Rejected> {
        let claims_version = is_version_2(self.jsonrpc);
        let reject = |reason: &str, answer| Rejected {
            error: RpcError::invalid_request(reason),
            answer,
            claims_version,
        };
        let id = self.id.map(|id| RequestId::from_json(id.get()));
        let has_outcome = self.result.is_some() || self.error.is_some();
        let answer = self.answer_for(id.as_ref());
        let Some(method) = self.method else {
            return match (claims_version, has_outcome, id) {
                (false, true, _) => Err(reject("`jsonrpc` must be \"2.0\"", Answer::Nobody)),
                (false, false, _) => Err(reject("`jsonrpc` must be \"2.0\"", Answer::ToNull)),
                (true, false, None) => Err(reject("`method` is missing", Answer::ToNull)),
                (true, false, Some(_)) => Err(reject("`method` is missing", answer)),
                (true, true, Some(Ok(id))) => Ok(self.response(id)),
                (true, true, _) => Err(reject("a response needs an id", Answer::Nobody)),
            };
        };
        if has_outcome {
            let reason = "a message has either a method or an outcome";
            return Err(reject(reason, answer));
        }
        if !claims_version {
            return Err(reject("`jsonrpc` must be \"2.0\"", answer));
        }
        let Some(method) = text_of(method) else {
            return Err(reject("`method` must be a string", answer));
        };
        let params = self.params.filter(|params| params.get() != "null");
        match id {
            None => Ok(Message::Notification { method, params }),
            Some(Ok(id)) => Ok(Message::Request { id, method, params }),
            Some(Err(_)) => Err(reject("`id` must be a string or an integer", answer)),
        }
    }

    fn response(self, id: RequestId) -> Message<'a> {
        let outcome = match (self.result, self.error) {
            (Some(result), None) => Outcome::Result(result),
            (None, Some(error)) => Outcome::Error(error),
            _ => Outcome::Neither,
        };
        Message::Response { id, outcome }
    }

    fn answer_for(&self, id: Option<&Result<RequestId, BadId>>) -> Answer {
        match (id, self.id) {
            (None, _) => Answer::Nobody,
            (Some(Ok(id)), _) => Answer::To(id.clone()),
            (Some(Err(BadId::Scalar)), Some(written)) => Answer::ToText(written.get().into()),
            (Some(Err(_)), _) => Answer::ToNull,
        }
    }
}

fn is_version_2(jsonrpc: Option<&RawValue>) -> bool {
    jsonrpc.is_some_and(|version| {
        version.get() == "\"2.0\"" || text_of(version).as_deref() == Some("2.0")
    })
}

fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(text).ok().map(Cow::Owned)
}

/// What can be told from the beginning of a message that is not read as a whole.
#[derive(Debug, Default, PartialEq)]
pub struct Head {
    /// The id, where it was found and is one.
    pub id: Option<RequestId>,
    /// Whether a `method` was found.
    pub has_method: bool,
    /// Whether a `result` or `error` was found.
    pub has_outcome: bool,
    /// Whether it says that it is JSON-RPC 2.0.
    pub claims_version: bool,
}

impl Head {
    /// Looks for the id among the top-level members at the beginning of a line that may be cut off.
    #[must_use]
    pub fn scan(head: &[u8]) -> Self {
        let mut found = Self::default();
        let head = head.get(..crate::limits::HEAD_BYTES_MAX).unwrap_or(head);
        let mut rest = crate::clean::strip(head);
        let mut depth = 0_usize;
        // A string directly inside the outermost object is a key when a colon follows it.
        while let Some((byte, tail)) = rest.split_first() {
            rest = tail;
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b'"' => {
                    let Some((string, tail)) = split_string(tail) else {
                        break;
                    };
                    rest = tail;
                    let value = tail
                        .trim_ascii_start()
                        .strip_prefix(b":")
                        .map(<[u8]>::trim_ascii_start);
                    if let (1, Some(value)) = (depth, value) {
                        found.note(string, value);
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn note(&mut self, key: &[u8], value: &[u8]) {
        match key {
            b"jsonrpc" => self.claims_version = value.starts_with(b"\"2.0\""),
            b"method" => self.has_method = true,
            b"result" | b"error" => self.has_outcome = true,
            b"id" => self.id = scalar(value).and_then(valid_id),
            _ => {}
        }
    }

    /// To whom a refusal of this message goes.
    #[must_use]
    pub fn answer(&self) -> Answer {
        match &self.id {
            Some(id) if self.has_method && !self.has_outcome => Answer::To(id.clone()),
            // Without a method in sight this may be a response, and responses are never answered.
            _ => Answer::Nobody,
        }
    }

    /// The call of ours that this message answers, if it is a response.
    #[must_use]
    pub fn ends_call(&self) -> Option<RequestId> {
        let is_response = self.claims_version && self.has_outcome && !self.has_method;
        self.id.clone().filter(|_| is_response)
    }
}

/// Reads an id that no parser has seen yet: it is going to be written back, so it must be JSON.
fn valid_id(text: &str) -> Option<RequestId> {
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    RequestId::from_json(raw.get()).ok()
}

/// Splits off the string whose opening quote is gone; `None` when it is cut off.
fn split_string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', bytes.get(from..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some((bytes.get(..at)?, bytes.get(at + 1..)?));
        }
        from = at + 2;
    }
}

/// Returns the text of a string or number that is surely complete: something follows it.
fn scalar(value: &[u8]) -> Option<&str> {
    let end = match value.strip_prefix(b"\"") {
        Some(inner) => split_string(inner)?.0.len() + 2,
        None => value
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\t' | b'\r'))?,
    };
    std::str::from_utf8(value.get(..end)?).ok()
}

#[cfg(test)]
mod tests;
