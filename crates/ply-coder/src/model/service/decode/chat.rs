//! OpenAI Chat Completions, and what others made of it.

use std::collections::HashMap;

use serde_json::Value;

use super::{Decoder, list, number, parse, text};
use crate::model::service::answer::Answer;
use crate::model::service::failure;
use crate::model::{Failure, Stopped, Usage};

#[derive(Debug, Default)]
pub(super) struct Chat {
    finish: Option<Stopped>,
    refused: bool,
    /// Ids of the calls, for services that leave out `index`.
    ids: Vec<String>,
    /// The call that each index stands for at the moment.
    open: HashMap<u64, Open>,
    /// How many calls there were.
    calls: u64,
}

/// The call that an index stands for.
#[derive(Debug)]
struct Open {
    /// How the answer tells it from others.
    key: u64,
    /// Its id as the service sent it; empty if it did not.
    id: String,
    name: String,
}

impl Decoder for Chat {
    fn frame(&mut self, data: &str, answer: &mut Answer) -> Result<(), Failure> {
        if data.trim() == "[DONE]" {
            let finish = self.finish.unwrap_or(Stopped::End);
            self.stop(finish, answer);
            return Ok(());
        }
        let Some(frame) = parse(data, answer)? else {
            return Ok(());
        };
        if let Some(error) = frame.get("error").filter(|error| !error.is_null()) {
            return Err(failure::of_error(answer.service(), error));
        }
        if let Some(choice) = list(&frame, "/choices").first() {
            self.choice(choice, answer)?;
        }
        let usage = frame
            .get("usage")
            .or_else(|| frame.pointer("/x_groq/usage"));
        if let Some(usage) = usage.filter(|usage| usage.is_object()) {
            let cached = number(usage, "/prompt_tokens_details/cached_tokens")
                .or_else(|| number(usage, "/prompt_cache_hit_tokens"));
            answer.usage(Usage {
                input_tokens: number(usage, "/prompt_tokens").unwrap_or_default(),
                output_tokens: number(usage, "/completion_tokens").unwrap_or_default(),
                cached_tokens: cached.unwrap_or_default(),
                ..Usage::default()
            });
        }
        Ok(())
    }

    // Not every service sends `[DONE]`; one that gave a reason to stop is done without it.
    fn end(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        match self.finish {
            Some(finish) => {
                self.stop(finish, answer);
                Ok(())
            }
            None => Err(failure::cut(answer.service())),
        }
    }
}

impl Chat {
    fn stop(&self, finish: Stopped, answer: &mut Answer) {
        let refused = self.refused && finish == Stopped::End;
        answer.stop(if refused { Stopped::Refusal } else { finish });
    }

    fn choice(&mut self, choice: &Value, answer: &mut Answer) -> Result<(), Failure> {
        if let Some(delta) = choice.get("delta") {
            answer.thought(text(delta, "/reasoning_content"));
            answer.thought(text(delta, "/reasoning"));
            content(delta.get("content"), answer);
            let refusal = text(delta, "/refusal");
            self.refused |= !refusal.is_empty();
            answer.text(refusal);
            for call in list(delta, "/tool_calls") {
                self.call(call, answer)?;
            }
        }
        self.finish = match text(choice, "/finish_reason") {
            "" => self.finish,
            "length" => Some(Stopped::MaxTokens),
            "content_filter" => Some(Stopped::Refusal),
            // OpenRouter's word for a service behind it that failed in the middle.
            "error" => return Err(failure::broke(answer.service())),
            _ => Some(Stopped::End),
        };
        Ok(())
    }

    fn call(&mut self, call: &Value, answer: &mut Answer) -> Result<(), Failure> {
        let id = text(call, "/id");
        let index = match number(call, "/index") {
            Some(index) => index,
            None => self.position(id),
        };
        let name = text(call, "/function/name");
        let key = self.key(index, call, answer);
        if !name.is_empty() {
            answer.call_started(key, id, name)?;
        }
        match call.pointer("/function/arguments") {
            Some(Value::String(json)) => answer.call_arguments(key, json),
            // Some services send the arguments as JSON, and then all at once.
            Some(whole @ Value::Object(_)) => answer.call_arguments(key, &whole.to_string()),
            _ => {}
        }
        Ok(())
    }

    /// Returns the key of the call that a piece belongs to. Some services have the same index for all
    /// calls of an answer.
    fn key(&mut self, index: u64, piece: &Value, answer: &mut Answer) -> u64 {
        let (id, name) = (text(piece, "/id"), text(piece, "/function/name"));
        if let Some(open) = self.open.get_mut(&index) {
            if !open.is_left_by(piece, answer) {
                for (known, new) in [(&mut open.id, id), (&mut open.name, name)] {
                    if known.is_empty() {
                        known.push_str(new);
                    }
                }
                return open.key;
            }
            answer.call_ended(open.key);
        }
        let key = self.calls;
        self.calls += 1;
        let (id, name) = (id.to_owned(), name.to_owned());
        self.open.insert(index, Open { key, id, name });
        key
    }

    /// Returns the place of a call by its id: a new one for a new id, the last one for none.
    fn position(&mut self, id: &str) -> u64 {
        let known = self.ids.iter().position(|known| known == id);
        let place = match known {
            Some(place) => place,
            None if id.is_empty() => self.ids.len().saturating_sub(1),
            None => {
                self.ids.push(id.to_owned());
                self.ids.len() - 1
            }
        };
        place as u64
    }
}

impl Open {
    /// Says whether a piece with the same index begins another call. Some services say the name with
    /// every piece, so that it alone tells nothing.
    fn is_left_by(&self, piece: &Value, answer: &Answer) -> bool {
        let (id, name) = (text(piece, "/id"), text(piece, "/function/name"));
        if name.is_empty() {
            return false;
        }
        if !id.is_empty() && !self.id.is_empty() {
            return id != self.id;
        }
        let arguments = piece.pointer("/function/arguments");
        let says_more = match arguments {
            Some(Value::String(json)) => !json.is_empty(),
            Some(Value::Object(_)) => true,
            _ => false,
        };
        (name != self.name || says_more) && answer.is_call_complete(self.key)
    }
}

/// Reads the content of a delta: text, or Mistral's list of texts and thoughts.
fn content(content: Option<&Value>, answer: &mut Answer) {
    match content {
        Some(Value::String(text)) => answer.text(text),
        Some(Value::Array(chunks)) => {
            for chunk in chunks {
                answer.text(text(chunk, "/text"));
                for thought in list(chunk, "/thinking") {
                    answer.thought(text(thought, "/text"));
                }
            }
        }
        _ => {}
    }
}
