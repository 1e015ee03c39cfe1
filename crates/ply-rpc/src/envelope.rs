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
}

/// Reads one line, already stripped of what stands around it.
///
/// # Errors
///
/// [`Rejected`] says what is wrong with the line, without repeating any of it.
pub fn parse(line: &[u8]) -> Result<Message<'_>, Rejected> {
    let Ok(text) = std::str::from_utf8(line) else {
        return Err(parse_error("the line is not UTF-8"));
    };
    if depth::exceeds(line, NESTING_MAX) {
        return Err(too_deep(line));
    }
    if !text.starts_with('{') {
        return Err(match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => no_message("a message is a JSON object", Answer::ToNull),
            Err(_) => parse_error("the line is not JSON"),
        });
    }
    let raw: Raw<'_> = serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            no_message("a member occurs twice", Answer::ToNull)
        } else {
            parse_error("the line is not JSON")
        }
    })?;
    raw.classify()
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
        let id = self.id.map(|id| RequestId::from_json(id.get()));
        let has_outcome = self.result.is_some() || self.error.is_some();
        let Some(method) = self.method else {
            return self.classify_response(id, has_outcome);
        };
        let answer = self.answer_for(id.as_ref());
        if has_outcome {
            return Err(no_message(
                "a message has either a method or an outcome",
                answer,
            ));
        }
        if !is_version_2(self.jsonrpc) {
            return Err(no_message("`jsonrpc` must be \"2.0\"", answer));
        }
        let Some(method) = text_of(method) else {
            return Err(no_message("`method` must be a string", answer));
        };
        let params = self.params.filter(|params| params.get() != "null");
        match id {
            None => Ok(Message::Notification { method, params }),
            Some(Ok(id)) => Ok(Message::Request { id, method, params }),
            Some(Err(_)) => Err(no_message("`id` must be a string or an integer", answer)),
        }
    }

    fn classify_response(
        self,
        id: Option<Result<RequestId, BadId>>,
        has_outcome: bool,
    ) -> Result<Message<'a>, Rejected> {
        if !has_outcome {
            // An object with an id and nothing else was meant as a question; without an id it was meant as nothing.
            let answer = if id.is_some() {
                self.answer_for(id.as_ref())
            } else {
                Answer::ToNull
            };
            return Err(no_message("`method` is missing", answer));
        }
        let Some(Ok(id)) = id else {
            return Err(no_message(
                "a response needs the id of a request",
                Answer::Nobody,
            ));
        };
        // A missing `jsonrpc` is forgiven here: refusing the answer would only leave our own call hanging.
        let outcome = match (self.result, self.error) {
            (Some(result), None) => Outcome::Result(result),
            (None, Some(error)) => Outcome::Error(error),
            _ => Outcome::Neither,
        };
        Ok(Message::Response { id, outcome })
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

fn parse_error(reason: &str) -> Rejected {
    let error = RpcError::new(RpcError::PARSE_ERROR, "Parse error").with_data(&reason);
    Rejected {
        error,
        answer: Answer::ToNull,
    }
}

fn no_message(reason: &str, answer: Answer) -> Rejected {
    Rejected {
        error: RpcError::invalid_request(reason),
        answer,
    }
}

fn too_deep(line: &[u8]) -> Rejected {
    let head = Head::scan(line);
    no_message("the message is nested too deeply", head.answer())
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
            b"method" => self.has_method = true,
            b"result" | b"error" => self.has_outcome = true,
            b"id" => self.id = scalar(value).and_then(|text| RequestId::from_json(text).ok()),
            _ => {}
        }
    }

    /// To whom a refusal of this message goes.
    #[must_use]
    pub fn answer(self) -> Answer {
        match self.id {
            Some(id) if self.has_method && !self.has_outcome => Answer::To(id),
            // Without a method in sight this may be a response, and responses are never answered.
            _ => Answer::Nobody,
        }
    }
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
