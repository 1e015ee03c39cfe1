//! Ollama's chat.

use serde_json::Value;

use super::{Decoder, list, number, parse, text};
use crate::model::service::answer::Answer;
use crate::model::service::failure;
use crate::model::{Failure, Stopped, Usage};

#[derive(Debug, Default)]
pub(super) struct Ollama {
    calls: u64,
}

impl Decoder for Ollama {
    fn frame(&mut self, data: &str, answer: &mut Answer) -> Result<(), Failure> {
        let Some(frame) = parse(data, answer)? else {
            return Ok(());
        };
        if let Some(error) = frame.get("error") {
            return Err(failure::of_error(answer.service(), error));
        }
        answer.thought(text(&frame, "/message/thinking"));
        answer.text(text(&frame, "/message/content"));
        for call in list(&frame, "/message/tool_calls") {
            self.call(call, answer)?;
        }
        if frame.get("done").and_then(Value::as_bool) == Some(true) {
            let count = |pointer: &str| number(&frame, pointer);
            if let Some(input_tokens) = count("/prompt_eval_count") {
                answer.usage(Usage {
                    input_tokens,
                    output_tokens: count("/eval_count").unwrap_or_default(),
                    cached_tokens: count("/prompt_eval_cached_count").unwrap_or_default(),
                    ..Usage::default()
                });
            }
            answer.stop(match text(&frame, "/done_reason") {
                "length" => Stopped::MaxTokens,
                _ => Stopped::End,
            });
        }
        Ok(())
    }
}

impl Ollama {
    fn call(&mut self, call: &Value, answer: &mut Answer) -> Result<(), Failure> {
        let key = self.calls;
        self.calls += 1;
        answer.call_started(key, text(call, "/id"), text(call, "/function/name"))?;
        if let Some(arguments) = call.pointer("/function/arguments") {
            answer.call_arguments(key, &arguments.to_string());
        }
        answer.call_ended(key);
        Ok(())
    }
}
