//! Gemini.

use serde_json::Value;

use super::{Decoder, GEMINI, list, number, parse, text};
use crate::model::service::answer::Answer;
use crate::model::service::failure;
use crate::model::{Failure, Stopped, Usage};

#[derive(Debug, Default)]
pub(super) struct Gemini {
    calls: u64,
    stopped: Option<Stopped>,
}

impl Decoder for Gemini {
    fn frame(&mut self, data: &str, answer: &mut Answer) -> Result<(), Failure> {
        let Some(frame) = parse(data, answer)? else {
            return Ok(());
        };
        if let Some(error) = frame.get("error") {
            return Err(failure::of_error(answer.service(), error));
        }
        if let Some(candidate) = list(&frame, "/candidates").first() {
            for part in list(candidate, "/content/parts") {
                self.part(part, answer)?;
            }
            self.finish(text(candidate, "/finishReason"), answer)?;
        }
        if !text(&frame, "/promptFeedback/blockReason").is_empty() {
            self.stopped = Some(Stopped::Refusal);
        }
        if let Some(usage) = frame.get("usageMetadata") {
            let count = |pointer: &str| number(usage, pointer).unwrap_or_default();
            let sum = |one, other| count(one).saturating_add(count(other));
            // Thoughts, and what the service's own tools put into the request, are counted apart.
            answer.usage(Usage {
                input_tokens: sum("/promptTokenCount", "/toolUsePromptTokenCount"),
                output_tokens: sum("/candidatesTokenCount", "/thoughtsTokenCount"),
                cached_tokens: count("/cachedContentTokenCount"),
                ..Usage::default()
            });
        }
        Ok(())
    }

    // There is no last frame: an answer is whole when a reason to stop came before the body ended.
    fn end(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        let stopped = self.stopped.ok_or_else(|| failure::cut(answer.service()))?;
        answer.stop(stopped);
        Ok(())
    }
}

impl Gemini {
    fn part(&mut self, part: &Value, answer: &mut Answer) -> Result<(), Failure> {
        let signature = text(part, "/thoughtSignature");
        if let Some(call) = part.get("functionCall") {
            let key = self.calls;
            self.calls += 1;
            answer.call_started(key, text(call, "/id"), text(call, "/name"))?;
            if !signature.is_empty() {
                answer.call_signature(key, GEMINI, signature);
            }
            if let Some(arguments) = call.get("args") {
                answer.call_arguments(key, &arguments.to_string());
            }
            answer.call_ended(key);
        } else if part.get("thought").and_then(Value::as_bool) == Some(true) {
            answer.thought(text(part, "/text"));
            answer.signature(GEMINI, signature);
        } else {
            // The signature goes back with the part that follows it.
            answer.signature(GEMINI, signature);
            answer.text(text(part, "/text"));
        }
        Ok(())
    }

    fn finish(&mut self, reason: &str, answer: &Answer) -> Result<(), Failure> {
        self.stopped = match reason {
            "" => self.stopped,
            "MAX_TOKENS" => Some(Stopped::MaxTokens),
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => Some(Stopped::Refusal),
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
                return Err(failure::malformed(
                    answer.service(),
                    "the model made a call that makes no sense",
                ));
            }
            _ => Some(Stopped::End),
        };
        Ok(())
    }
}
