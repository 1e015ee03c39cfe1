//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Words, Writer, counted, deltas};
use crate::{Stop, Usage};

pub(super) struct Anthropic {
    usage: Option<Usage>,
    blocks: usize,
    calls: usize,
}

impl Anthropic {
    pub(super) fn new(usage: Option<Usage>) -> Self {
        Self {
            usage,
            blocks: 0,
            calls: 0,
        }
    }

    fn block(&mut self, out: &mut Writer, block: &Value, deltas: Vec<Value>) {
        let index = self.blocks;
        self.blocks += 1;
        out.typed(&json!({"type": "content_block_start", "index": index, "content_block": block}));
        for delta in deltas {
            out.typed(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        out.typed(&json!({"type": "content_block_stop", "index": index}));
    }
}

impl Words for Anthropic {
    fn begin(&mut self, out: &mut Writer) {
        let mut message = json!({
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [],
            "stop_reason": null,
        });
        if self.usage.is_some() {
            let usage = counted(self.usage);
            message["usage"] = json!({
                "input_tokens": usage.input - usage.cached - usage.written,
                "cache_read_input_tokens": usage.cached,
                "cache_creation_input_tokens": usage.written,
                "output_tokens": 1,
            });
        }
        out.typed(&json!({"type": "message_start", "message": message}));
        out.typed(&json!({"type": "ping"}));
    }

    fn say(&mut self, out: &mut Writer, text: &str) {
        let texts = deltas(text)
            .into_iter()
            .map(|text| json!({"type": "text_delta", "text": text}))
            .collect();
        self.block(out, &json!({"type": "text", "text": ""}), texts);
    }

    fn think(&mut self, out: &mut Writer, text: &str, signature: Option<&str>) {
        let mut parts: Vec<Value> = deltas(text)
            .into_iter()
            .map(|text| json!({"type": "thinking_delta", "thinking": text}))
            .collect();
        // The service may send a signature in several pieces.
        parts.extend(
            deltas(signature.unwrap_or_default())
                .into_iter()
                .map(|signature| json!({"type": "signature_delta", "signature": signature})),
        );
        let block = json!({"type": "thinking", "thinking": "", "signature": ""});
        self.block(out, &block, parts);
    }

    fn call(&mut self, out: &mut Writer, id: &str, name: &str, arguments: &str) {
        self.calls += 1;
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        let parts = deltas(arguments)
            .into_iter()
            .map(|json| json!({"type": "input_json_delta", "partial_json": json}))
            .collect();
        self.block(out, &block, parts);
    }

    fn end(&mut self, out: &mut Writer, stop: Stop) {
        let reason = match stop {
            Stop::End if self.calls > 0 => "tool_use",
            Stop::End => "end_turn",
            Stop::MaxTokens => "max_tokens",
            Stop::Refusal => "refusal",
        };
        let mut delta = json!({"type": "message_delta", "delta": {"stop_reason": reason}});
        if self.usage.is_some() {
            delta["usage"] = json!({"output_tokens": counted(self.usage).output});
        }
        out.typed(&delta);
        out.typed(&json!({"type": "message_stop"}));
    }
}
