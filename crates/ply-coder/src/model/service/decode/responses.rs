//! OpenAI Responses.

use serde_json::Value;

use super::{Decoder, OPENAI, list, number, parse, text};
use crate::model::service::answer::Answer;
use crate::model::service::failure;
use crate::model::{Failure, Stopped, Usage};

#[derive(Debug, Default)]
pub(super) struct Responses {
    refused: bool,
}

impl Decoder for Responses {
    fn frame(&mut self, data: &str, answer: &mut Answer) -> Result<(), Failure> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let Some(frame) = parse(data, answer)? else {
            return Ok(());
        };
        let key = number(&frame, "/output_index").unwrap_or_default();
        let delta = text(&frame, "/delta");
        match text(&frame, "/type") {
            "response.output_item.added" => added(key, &frame, answer)?,
            "response.output_item.done" => done(key, &frame, answer)?,
            "response.output_text.delta" => answer.text(delta),
            "response.refusal.delta" => {
                self.refused = true;
                answer.text(delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                answer.thought(delta);
            }
            "response.reasoning_summary_part.added"
                if number(&frame, "/summary_index").is_some_and(|index| index > 0) =>
            {
                answer.thought("\n\n");
            }
            "response.function_call_arguments.delta" => answer.call_arguments(key, delta),
            "response.function_call_arguments.done" => {
                answer.call_all_arguments(key, text(&frame, "/arguments"));
                answer.call_ended(key);
            }
            "response.completed" | "response.incomplete" => self.completed(&frame, answer)?,
            "response.failed" => {
                let error = frame.pointer("/response/error").unwrap_or(&Value::Null);
                return Err(failure::of_error(answer.service(), error));
            }
            "error" => {
                // The fields are in the event itself, or in an object of it.
                let error = frame.get("error").unwrap_or(&frame);
                return Err(failure::of_error(answer.service(), error));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Responses {
    fn completed(&mut self, frame: &Value, answer: &mut Answer) -> Result<(), Failure> {
        let response = frame.get("response").unwrap_or(&Value::Null);
        // A proxy that does not stream sends everything at the end.
        if !answer.spoke() {
            for (key, item) in (0_u64..).zip(list(response, "/output")) {
                self.whole(key, item, answer)?;
            }
        }
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            answer.usage(Usage {
                input_tokens: number(usage, "/input_tokens").unwrap_or_default(),
                output_tokens: number(usage, "/output_tokens").unwrap_or_default(),
                cached_tokens: number(usage, "/input_tokens_details/cached_tokens")
                    .unwrap_or_default(),
                ..Usage::default()
            });
        }
        let incomplete = text(frame, "/type") == "response.incomplete";
        answer.stop(match text(response, "/incomplete_details/reason") {
            "content_filter" => Stopped::Refusal,
            _ if incomplete => Stopped::MaxTokens,
            _ if self.refused => Stopped::Refusal,
            _ => Stopped::End,
        });
        Ok(())
    }

    fn whole(&mut self, key: u64, item: &Value, answer: &mut Answer) -> Result<(), Failure> {
        for content in list(item, "/content") {
            answer.text(text(content, "/text"));
            let refusal = text(content, "/refusal");
            self.refused |= !refusal.is_empty();
            answer.text(refusal);
        }
        call(key, item, answer)
    }
}

fn added(key: u64, frame: &Value, answer: &mut Answer) -> Result<(), Failure> {
    let item = frame.get("item").unwrap_or(&Value::Null);
    if text(item, "/type") == "function_call" {
        answer.call_started(key, text(item, "/call_id"), text(item, "/name"))?;
    }
    Ok(())
}

fn done(key: u64, frame: &Value, answer: &mut Answer) -> Result<(), Failure> {
    let item = frame.get("item").unwrap_or(&Value::Null);
    if text(item, "/type") == "reasoning" {
        answer.signature(OPENAI, text(item, "/encrypted_content"));
    }
    call(key, item, answer)
}

/// Reads a call that is complete.
fn call(key: u64, item: &Value, answer: &mut Answer) -> Result<(), Failure> {
    if text(item, "/type") == "function_call" {
        answer.call_started(key, text(item, "/call_id"), text(item, "/name"))?;
        answer.call_all_arguments(key, text(item, "/arguments"));
        answer.call_ended(key);
    }
    Ok(())
}
