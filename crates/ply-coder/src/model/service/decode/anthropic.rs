//! Anthropic Messages.

use serde_json::Value;

use super::{ANTHROPIC, ANTHROPIC_REDACTED, Decoder, number, parse, text};
use crate::model::service::answer::Answer;
use crate::model::service::failure;
use crate::model::{Failure, Stopped};

#[derive(Debug, Default)]
pub(super) struct Anthropic {
    /// The signature of the thought that is being sent; it comes in pieces.
    signature: String,
    stopped: Option<Stopped>,
}

// Events are told apart by `type` in their data and not by their name: `genai` takes a line end that
// is split between two packets for the end of an event, and the name is lost with it.
impl Decoder for Anthropic {
    fn frame(&mut self, data: &str, answer: &mut Answer) -> Result<(), Failure> {
        let Some(frame) = parse(data, answer)? else {
            return Ok(());
        };
        let key = number(&frame, "/index").unwrap_or_default();
        match text(&frame, "/type") {
            "message_start" => usage(frame.pointer("/message/usage"), answer),
            "content_block_start" => self.begin(key, &frame, answer)?,
            "content_block_delta" => self.delta(key, &frame, answer),
            "content_block_stop" => {
                answer.signature(ANTHROPIC, &self.signature);
                self.signature.clear();
                answer.call_ended(key);
            }
            "message_delta" => {
                usage(frame.get("usage"), answer);
                self.stopped = match text(&frame, "/delta/stop_reason") {
                    "" => self.stopped,
                    "max_tokens" | "model_context_window_exceeded" => Some(Stopped::MaxTokens),
                    "refusal" => Some(Stopped::Refusal),
                    _ => Some(Stopped::End),
                };
            }
            "message_stop" => answer.stop(self.stopped.unwrap_or(Stopped::End)),
            "error" => {
                let error = frame.get("error").unwrap_or(&Value::Null);
                return Err(failure::of_error(answer.service(), error));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Anthropic {
    fn begin(&mut self, key: u64, frame: &Value, answer: &mut Answer) -> Result<(), Failure> {
        let block = frame.get("content_block").unwrap_or(&Value::Null);
        match text(block, "/type") {
            "text" => answer.text(text(block, "/text")),
            "thinking" => {
                answer.thought(text(block, "/thinking"));
                text(block, "/signature").clone_into(&mut self.signature);
            }
            "redacted_thinking" => answer.signature(ANTHROPIC_REDACTED, text(block, "/data")),
            "tool_use" => answer.call_started(key, text(block, "/id"), text(block, "/name"))?,
            _ => {}
        }
        Ok(())
    }

    fn delta(&mut self, key: u64, frame: &Value, answer: &mut Answer) {
        let delta = frame.get("delta").unwrap_or(&Value::Null);
        match text(delta, "/type") {
            "text_delta" => answer.text(text(delta, "/text")),
            "thinking_delta" => answer.thought(text(delta, "/thinking")),
            "signature_delta" => self.signature.push_str(text(delta, "/signature")),
            "input_json_delta" => answer.call_arguments(key, text(delta, "/partial_json")),
            _ => {}
        }
    }
}

/// Adds what is counted so far. Tokens of the request are told once, cached ones apart from the rest.
fn usage(usage: Option<&Value>, answer: &mut Answer) {
    let Some(usage) = usage else {
        return;
    };
    let mut so_far = answer.usage_so_far();
    let cached = number(usage, "/cache_read_input_tokens");
    let written = number(usage, "/cache_creation_input_tokens");
    if let Some(input) = number(usage, "/input_tokens") {
        let cached = cached.unwrap_or_default();
        let written = written.unwrap_or_default();
        so_far.cached_tokens = cached;
        so_far.cache_write_tokens = written;
        so_far.input_tokens = input.saturating_add(cached).saturating_add(written);
    }
    if let Some(output) = number(usage, "/output_tokens") {
        so_far.output_tokens = output;
    }
    answer.usage(so_far);
}
