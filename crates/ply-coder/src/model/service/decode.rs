//! Reads the frames of an answer, one reader per API.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use serde_json::Value;

use super::answer::Answer;
use super::{Api, Service, failure};
use crate::model::Failure;

/// The first word of a signature that Anthropic made.
pub(super) const ANTHROPIC: &str = "anthropic";
/// The first word of a thought of Anthropic's that nobody may read.
pub(super) const ANTHROPIC_REDACTED: &str = "anthropic-redacted";
/// The first word of an encrypted thought of OpenAI's.
pub(super) const OPENAI: &str = "openai";
/// The first word of a signature that Gemini made.
pub(super) const GEMINI: &str = "gemini";

/// Reads the frames of one answer.
pub(super) trait Decoder: Send {
    /// Reads one frame.
    fn frame(&mut self, data: &str, answer: &mut Answer) -> Result<(), Failure>;

    /// Says whether the answer was whole, when no more frames come.
    fn end(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        Err(failure::cut(answer.service()))
    }
}

pub(super) fn decoder(service: &Service) -> Box<dyn Decoder> {
    match service.api {
        Api::OpenAi => Box::new(chat::Chat::default()),
        Api::OpenAiResponses => Box::new(responses::Responses::default()),
        Api::Anthropic => Box::new(anthropic::Anthropic::default()),
        Api::Gemini => Box::new(gemini::Gemini::default()),
        Api::Ollama => Box::new(ollama::Ollama::default()),
    }
}

/// Parses a frame; none for one that only keeps the connection alive.
fn parse(data: &str, answer: &Answer) -> Result<Option<Value>, Failure> {
    if data.trim().is_empty() {
        return Ok(None);
    }
    match serde_json::from_str::<Value>(data) {
        Ok(value @ Value::Object(_)) => Ok(Some(value)),
        _ => Err(failure::malformed(
            answer.service(),
            "a piece of it is no JSON object",
        )),
    }
}

/// Returns a string of an object, empty where there is none.
fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Returns a number of an object.
fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// Returns a list of an object, empty where there is none.
fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
