//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::{Words, Writer, deltas};
use crate::{Stop, Usage};

pub(super) struct Chat {
    usage: Option<Usage>,
    calls: usize,
}

impl Chat {
    pub(super) fn new(usage: Option<Usage>) -> Self {
        Self { usage, calls: 0 }
    }
}

fn chunk(out: &mut Writer, delta: &Value, finish: Option<&str>) {
    out.data(&json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }));
}

impl Words for Chat {
    fn begin(&mut self, out: &mut Writer) {
        chunk(out, &json!({"role": "assistant", "content": ""}), None);
    }

    fn say(&mut self, out: &mut Writer, text: &str) {
        for text in deltas(text) {
            chunk(out, &json!({"content": text}), None);
        }
    }

    fn think(&mut self, out: &mut Writer, text: &str, _: Option<&str>) {
        for text in deltas(text) {
            chunk(out, &json!({"reasoning_content": text}), None);
        }
    }

    fn call(&mut self, out: &mut Writer, id: &str, name: &str, arguments: &str) {
        let index = self.calls;
        self.calls += 1;
        let mut first = json!({
            "index": index,
            "type": "function",
            "function": {"name": name, "arguments": ""},
        });
        if !id.is_empty() {
            first["id"] = id.into();
        }
        chunk(out, &json!({"tool_calls": [first]}), None);
        for arguments in deltas(arguments) {
            let more = json!({"index": index, "function": {"arguments": arguments}});
            chunk(out, &json!({"tool_calls": [more]}), None);
        }
    }

    fn end(&mut self, out: &mut Writer, stop: Stop) {
        let finish = match stop {
            Stop::End if self.calls > 0 => "tool_calls",
            Stop::End => "stop",
            Stop::MaxTokens => "length",
            Stop::Refusal => "content_filter",
        };
        chunk(out, &json!({}), Some(finish));
        if let Some(usage) = self.usage {
            out.data(&json!({
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "choices": [],
                "usage": {
                    "prompt_tokens": usage.input,
                    "completion_tokens": usage.output,
                    "total_tokens": usage.input + usage.output,
                    "prompt_tokens_details": {"cached_tokens": usage.cached},
                },
            }));
        }
        out.sse(None, "[DONE]");
    }
}
