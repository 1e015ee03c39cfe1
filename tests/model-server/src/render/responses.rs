//! OpenAI Responses.

use serde_json::{Value, json};

use super::{Words, Writer, deltas};
use crate::{Stop, Usage};

pub(super) struct Responses {
    usage: Option<Usage>,
    output: Vec<Value>,
}

impl Responses {
    pub(super) fn new(usage: Option<Usage>) -> Self {
        Self {
            usage,
            output: Vec::new(),
        }
    }

    fn place(&self) -> usize {
        self.output.len()
    }

    fn added(&self, out: &mut Writer, item: &Value) {
        out.typed(&json!({
            "type": "response.output_item.added",
            "output_index": self.place(),
            "item": item,
        }));
    }

    fn done(&mut self, out: &mut Writer, item: Value) {
        out.typed(&json!({
            "type": "response.output_item.done",
            "output_index": self.place(),
            "item": item,
        }));
        self.output.push(item);
    }

    fn deltas(&self, out: &mut Writer, kind: &str, text: &str) {
        for text in deltas(text) {
            out.typed(&json!({"type": kind, "output_index": self.place(), "delta": text}));
        }
    }

    fn message(&mut self, out: &mut Writer, kind: &str, text: &str) {
        let item = json!({"type": "message", "role": "assistant", "content": []});
        self.added(out, &item);
        self.deltas(out, &format!("response.{kind}.delta"), text);
        let item = json!({
            "type": "message",
            "role": "assistant",
            "content": [{"type": kind, "text": text}],
        });
        self.done(out, item);
    }
}

impl Words for Responses {
    fn begin(&mut self, out: &mut Writer) {
        let response = json!({"id": "resp_1", "status": "in_progress", "output": []});
        out.typed(&json!({"type": "response.created", "response": response}));
    }

    fn say(&mut self, out: &mut Writer, text: &str) {
        self.message(out, "output_text", text);
    }

    fn think(&mut self, out: &mut Writer, text: &str, signature: Option<&str>) {
        let item = json!({"type": "reasoning", "id": "rs_1", "summary": []});
        self.added(out, &item);
        self.deltas(out, "response.reasoning_summary_text.delta", text);
        let mut item = json!({
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": text}],
        });
        if let Some(signature) = signature {
            item["encrypted_content"] = signature.into();
        }
        self.done(out, item);
    }

    fn call(&mut self, out: &mut Writer, id: &str, name: &str, arguments: &str) {
        let item = |arguments: &str| {
            let mut item = json!({"type": "function_call", "name": name, "arguments": arguments});
            if !id.is_empty() {
                item["call_id"] = id.into();
            }
            item
        };
        self.added(out, &item(""));
        self.deltas(out, "response.function_call_arguments.delta", arguments);
        out.typed(&json!({
            "type": "response.function_call_arguments.done",
            "output_index": self.place(),
            "arguments": arguments,
        }));
        self.done(out, item(arguments));
    }

    fn end(&mut self, out: &mut Writer, stop: Stop) {
        if stop == Stop::Refusal {
            self.message(out, "refusal", "I will not.");
        }
        let (kind, status, details) = match stop {
            Stop::MaxTokens => (
                "response.incomplete",
                "incomplete",
                json!({"reason": "max_output_tokens"}),
            ),
            Stop::End | Stop::Refusal => ("response.completed", "completed", Value::Null),
        };
        let mut response = json!({
            "id": "resp_1",
            "model": "scripted",
            "status": status,
            "incomplete_details": details,
            "output": self.output,
        });
        if let Some(usage) = self.usage {
            response["usage"] = json!({
                "input_tokens": usage.input,
                "input_tokens_details": {"cached_tokens": usage.cached},
                "output_tokens": usage.output,
                "total_tokens": usage.input + usage.output,
            });
        }
        out.typed(&json!({"type": kind, "response": response}));
    }
}
