//! Gemini's `streamGenerateContent`.

use serde_json::{Value, json};

use super::{Words, Writer, arguments_json, deltas};
use crate::{Stop, Usage};

pub(super) struct Gemini {
    usage: Option<Usage>,
    /// The signature of a thought, which the service puts on the part that follows it.
    signature: Option<String>,
}

impl Gemini {
    pub(super) fn new(usage: Option<Usage>) -> Self {
        Self {
            usage,
            signature: None,
        }
    }

    fn part(&mut self, out: &mut Writer, mut part: Value, finish: Option<&str>) {
        if let Some(signature) = self.signature.take() {
            part["thoughtSignature"] = signature.into();
        }
        self.candidate(out, &json!([part]), finish);
    }

    fn candidate(&self, out: &mut Writer, parts: &Value, finish: Option<&str>) {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if let Some(finish) = finish {
            candidate["finishReason"] = finish.into();
        }
        let mut chunk = json!({"candidates": [candidate], "modelVersion": "scripted"});
        if let Some(usage) = self.usage {
            // The service counts thoughts apart from the answer.
            let thoughts = usage.output / 2;
            chunk["usageMetadata"] = json!({
                "promptTokenCount": usage.input,
                "cachedContentTokenCount": usage.cached,
                "candidatesTokenCount": usage.output - thoughts,
                "thoughtsTokenCount": thoughts,
                "totalTokenCount": usage.input + usage.output,
            });
        }
        out.data(&chunk);
    }
}

impl Words for Gemini {
    fn begin(&mut self, _: &mut Writer) {}

    fn say(&mut self, out: &mut Writer, text: &str) {
        for text in deltas(text) {
            self.part(out, json!({"text": text}), None);
        }
    }

    fn think(&mut self, out: &mut Writer, text: &str, signature: Option<&str>) {
        for text in deltas(text) {
            self.candidate(out, &json!([{"text": text, "thought": true}]), None);
        }
        self.signature = signature.map(str::to_owned);
    }

    fn call(&mut self, out: &mut Writer, id: &str, name: &str, arguments: &str) {
        let mut call = json!({"name": name, "args": arguments_json(arguments)});
        // The service gives its calls no ids, unless the test wants one.
        if !id.is_empty() && !id.starts_with("call_") {
            call["id"] = id.into();
        }
        self.part(out, json!({"functionCall": call}), None);
    }

    fn end(&mut self, out: &mut Writer, stop: Stop) {
        let finish = match stop {
            Stop::End => "STOP",
            Stop::MaxTokens => "MAX_TOKENS",
            Stop::Refusal => "SAFETY",
        };
        self.part(out, json!({"text": ""}), Some(finish));
    }
}
