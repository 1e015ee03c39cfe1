//! The words of each API.

use serde_json::{Value, json};

use super::NAME;
use super::mind::{Asked, Reply};

/// An API of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Chat,
    Responses,
    Anthropic,
    AnthropicCount,
    Gemini,
}

impl Api {
    pub(super) fn of_path(path: &str) -> Option<Self> {
        match path {
            path if path.ends_with("/chat/completions") => Some(Self::Chat),
            path if path.ends_with("/responses") => Some(Self::Responses),
            path if path.ends_with("/messages") => Some(Self::Anthropic),
            path if path.ends_with("/messages/count_tokens") => Some(Self::AnthropicCount),
            path if path.ends_with("enerateContent") => Some(Self::Gemini),
            _ => None,
        }
    }

    /// Reads what is asked.
    pub(super) fn asked(self, body: &Value) -> Asked {
        let messages = match self {
            Self::Responses => body.get("input"),
            Self::Gemini => body.get("contents"),
            _ => body.get("messages"),
        };
        let mut asked = Asked {
            tools: self.tools(body),
            ..Asked::default()
        };
        if let Some(words) = messages.and_then(Value::as_str) {
            words.clone_into(&mut asked.words);
        }
        for message in messages.and_then(Value::as_array).into_iter().flatten() {
            self.take_in(&mut asked, message);
        }
        asked
    }

    /// Takes in a message: words of the user begin anew, a result of a tool goes on.
    fn take_in(self, asked: &mut Asked, message: &Value) {
        let role = message.get("role").and_then(Value::as_str);
        let kind = message.get("type").and_then(Value::as_str);
        if role == Some("tool") || kind.is_some_and(|kind| kind.ends_with("_call_output")) {
            asked.has_result = true;
            return;
        }
        if role != Some("user") && role != Some("function") {
            return;
        }
        let content = message.get("content").or_else(|| message.get("parts"));
        let mut words = Vec::new();
        match content {
            Some(Value::String(text)) => words.push(text.clone()),
            Some(Value::Array(parts)) => {
                for part in parts {
                    let kind = part.get("type").and_then(Value::as_str);
                    let is_result =
                        kind == Some("tool_result") || part.get("functionResponse").is_some();
                    asked.has_result |= is_result;
                    let text = part.get("text").and_then(Value::as_str);
                    words.extend(text.map(str::to_owned));
                }
            }
            _ => {}
        }
        // Agents put notes of their own into messages of the user; those are no prompts.
        let is_note = |text: &String| text.trim_start().starts_with('<');
        words.retain(|text| !is_note(text));
        if !words.is_empty() {
            asked.words = words.join("\n");
            asked.has_result = false;
        }
    }

    fn tools(self, body: &Value) -> Vec<(String, Value)> {
        let tools = body.get("tools").and_then(Value::as_array);
        let tools = tools.into_iter().flatten();
        let of_one = |tool: &Value| {
            let inner = tool.get("function").unwrap_or(tool);
            let schema = ["parameters", "input_schema", "parametersJsonSchema"];
            let schema = schema.into_iter().find_map(|key| inner.get(key));
            let name = inner.get("name")?.as_str()?;
            Some((name.to_owned(), schema.cloned().unwrap_or_default()))
        };
        tools
            .flat_map(|tool| match tool.get("functionDeclarations") {
                Some(Value::Array(declared)) => declared.iter().filter_map(of_one).collect(),
                _ => of_one(tool).into_iter().collect::<Vec<_>>(),
            })
            .collect()
    }

    /// Writes an answer as a whole.
    pub(super) fn whole(self, reply: &Reply) -> Value {
        match self {
            Self::Chat => {
                let message = match reply {
                    Reply::Say(text) => json!({"role": "assistant", "content": text}),
                    Reply::Call(name, arguments) => {
                        json!({"role": "assistant", "content": null, "tool_calls": [chat_call(name, arguments)]})
                    }
                };
                json!({"id": "chat-1", "object": "chat.completion", "created": 0, "model": NAME,
                    "choices": [{"index": 0, "message": message, "finish_reason": chat_end(reply)}], "usage": usage()})
            }
            Self::Responses => response(reply, "completed"),
            Self::Anthropic | Self::AnthropicCount => {
                json!({"id": "msg_1", "type": "message", "role": "assistant", "model": NAME, "content": [anthropic_block(reply)],
                    "stop_reason": anthropic_end(reply), "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}})
            }
            Self::Gemini => gemini(reply),
        }
    }

    /// Writes an answer as a stream of events.
    pub(super) fn events(self, reply: &Reply) -> Vec<String> {
        let data = |value: &Value| format!("data: {value}\n\n");
        let named = |value: &Value| {
            let name = value.get("type").and_then(Value::as_str);
            format!("event: {}\ndata: {value}\n\n", name.unwrap_or_default())
        };
        match self {
            Self::Chat => {
                let delta = match reply {
                    Reply::Say(text) => json!({"role": "assistant", "content": text}),
                    Reply::Call(name, arguments) => {
                        let mut call = chat_call(name, arguments);
                        if let Some(call) = call.as_object_mut() {
                            call.insert("index".to_owned(), json!(0));
                        }
                        json!({"role": "assistant", "content": null, "tool_calls": [call]})
                    }
                };
                let chunk = |choices: Value, usage: Value| json!({"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": NAME, "choices": choices, "usage": usage});
                let first = json!([{"index": 0, "delta": delta, "finish_reason": null}]);
                let last = json!([{"index": 0, "delta": {}, "finish_reason": chat_end(reply)}]);
                let mut events = vec![
                    data(&chunk(first, Value::Null)),
                    data(&chunk(last, Value::Null)),
                    data(&chunk(json!([]), usage())),
                ];
                events.push("data: [DONE]\n\n".to_owned());
                events
            }
            Self::Responses => responses_events(reply).iter().map(named).collect(),
            Self::Anthropic | Self::AnthropicCount => {
                anthropic_events(reply).iter().map(named).collect()
            }
            Self::Gemini => vec![data(&gemini(reply))],
        }
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
}

fn chat_end(reply: &Reply) -> &'static str {
    match reply {
        Reply::Say(_) => "stop",
        Reply::Call(..) => "tool_calls",
    }
}

fn chat_call(name: &str, arguments: &Value) -> Value {
    json!({"id": call_id(), "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
}

/// Returns an id that no call had before: agents keep calls by their ids.
fn call_id() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(1);
    format!("call_{}", CALLS.fetch_add(1, Ordering::Relaxed))
}

fn item(reply: &Reply) -> Value {
    match reply {
        Reply::Say(text) => {
            json!({"type": "message", "id": "item_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]})
        }
        Reply::Call(name, arguments) => {
            json!({"type": "function_call", "id": "item_1", "call_id": call_id(), "name": name, "status": "completed",
                "arguments": arguments.to_string()})
        }
    }
}

fn response(reply: &Reply, status: &str) -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": 0, "model": NAME, "status": status, "output": [item(reply)],
        "usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}})
}

fn responses_events(reply: &Reply) -> Vec<Value> {
    let item = item(reply);
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "object": "response", "created_at": 0, "model": NAME, "status": "in_progress", "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
    ];
    if let Reply::Say(text) = reply {
        events.push(json!({"type": "response.output_text.delta", "item_id": "item_1", "output_index": 0, "content_index": 0, "delta": text}));
    }
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    let mut whole = response(reply, "completed");
    if let Some(output) = whole.get_mut("output") {
        *output = json!([item]);
    }
    events.push(json!({"type": "response.completed", "response": whole}));
    let numbered = events.into_iter().enumerate();
    numbered
        .map(|(number, mut event)| {
            if let Some(event) = event.as_object_mut() {
                event.insert("sequence_number".to_owned(), json!(number));
            }
            event
        })
        .collect()
}

fn anthropic_end(reply: &Reply) -> &'static str {
    match reply {
        Reply::Say(_) => "end_turn",
        Reply::Call(..) => "tool_use",
    }
}

fn anthropic_block(reply: &Reply) -> Value {
    match reply {
        Reply::Say(text) => json!({"type": "text", "text": text}),
        Reply::Call(name, arguments) => {
            json!({"type": "tool_use", "id": call_id(), "name": name, "input": arguments})
        }
    }
}

fn anthropic_events(reply: &Reply) -> Vec<Value> {
    let (block, delta) = match reply {
        Reply::Say(text) => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
        ),
        Reply::Call(name, arguments) => (
            json!({"type": "tool_use", "id": call_id(), "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
        ),
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": NAME, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": anthropic_end(reply), "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ]
}

fn gemini(reply: &Reply) -> Value {
    let part = match reply {
        Reply::Say(text) => json!({"text": text}),
        Reply::Call(name, arguments) => json!({"functionCall": {"name": name, "args": arguments}}),
    };
    json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": NAME})
}
