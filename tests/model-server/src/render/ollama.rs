//! Ollama's chat.

use serde_json::{Value, json};

use super::{Words, Writer, arguments_json, deltas};
use crate::{Stop, Usage};

pub(super) struct Ollama {
    usage: Option<Usage>,
}

impl Ollama {
    pub(super) fn new(usage: Option<Usage>) -> Self {
        Self { usage }
    }
}

fn line(out: &mut Writer, mut message: Value) {
    message["role"] = "assistant".into();
    out.line(&json!({"model": "scripted", "message": message, "done": false}));
}

impl Words for Ollama {
    fn begin(&mut self, _: &mut Writer) {}

    fn say(&mut self, out: &mut Writer, text: &str) {
        for text in deltas(text) {
            line(out, json!({"content": text}));
        }
    }

    fn think(&mut self, out: &mut Writer, text: &str, _: Option<&str>) {
        for text in deltas(text) {
            line(out, json!({"content": "", "thinking": text}));
        }
    }

    fn call(&mut self, out: &mut Writer, id: &str, name: &str, arguments: &str) {
        let function = json!({"name": name, "arguments": arguments_json(arguments)});
        let mut call = json!({"function": function});
        // The service gives its calls no ids, unless the test wants one.
        if !id.is_empty() && !id.starts_with("call_") {
            call["id"] = id.into();
        }
        line(out, json!({"content": "", "tool_calls": [call]}));
    }

    fn end(&mut self, out: &mut Writer, stop: Stop) {
        // The service knows no refusals.
        let reason = match stop {
            Stop::End | Stop::Refusal => "stop",
            Stop::MaxTokens => "length",
        };
        let mut last = json!({
            "model": "scripted",
            "message": {"role": "assistant", "content": ""},
            "done": true,
            "done_reason": reason,
        });
        if let Some(usage) = self.usage {
            last["prompt_eval_count"] = usage.input.into();
            last["prompt_eval_cached_count"] = usage.cached.into();
            last["eval_count"] = usage.output.into();
        }
        out.line(&last);
    }
}
