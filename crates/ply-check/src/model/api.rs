//! The words of each API.

use serde_json::{Value, json};

use super::NAME;
use super::mind::{Asked, Reply};

impl Reply {
    /// Returns the words of an answer that is no call, in the pieces in which they are said.
    pub(super) fn pieces(&self) -> &[String] {
        match self {
            Self::Say(text) => std::slice::from_ref(text),
            Self::Linger(words) => words,
            Self::Call(..) => &[],
        }
    }
}

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
                    Reply::Call(name, arguments) => {
                        json!({"role": "assistant", "content": null, "tool_calls": [chat_call(name, arguments)]})
                    }
                    words => json!({"role": "assistant", "content": words.pieces().concat()}),
                };
                json!({"id": fresh("chat"), "object": "chat.completion", "created": 0, "model": NAME,
                    "choices": [{"index": 0, "message": message, "finish_reason": chat_end(reply)}], "usage": usage()})
            }
            Self::Responses => response(&item(reply)),
            Self::Anthropic | Self::AnthropicCount => {
                json!({"id": fresh("msg"), "type": "message", "role": "assistant", "model": NAME, "content": [anthropic_block(reply)],
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
                let deltas = match reply {
                    Reply::Call(name, arguments) => {
                        let mut call = chat_call(name, arguments);
                        if let Some(call) = call.as_object_mut() {
                            call.insert("index".to_owned(), json!(0));
                        }
                        vec![json!({"role": "assistant", "content": null, "tool_calls": [call]})]
                    }
                    words => {
                        let pieces = words.pieces().iter();
                        let delta = |text| json!({"role": "assistant", "content": text});
                        pieces.map(delta).collect()
                    }
                };
                let id = fresh("chat");
                let chunk = |choices: Value, usage: Value| {
                    data(
                        &json!({"id": id, "object": "chat.completion.chunk", "created": 0, "model": NAME, "choices": choices, "usage": usage}),
                    )
                };
                let choice = |delta: Value, end: Option<&str>| json!([{"index": 0, "delta": delta, "finish_reason": end}]);
                let deltas = deltas.into_iter();
                let mut events: Vec<_> = deltas
                    .map(|delta| chunk(choice(delta, None), Value::Null))
                    .collect();
                events.push(chunk(choice(json!({}), Some(chat_end(reply))), Value::Null));
                events.push(chunk(json!([]), usage()));
                events.push("data: [DONE]\n\n".to_owned());
                events
            }
            Self::Responses => responses_events(reply).iter().map(named).collect(),
            Self::Anthropic | Self::AnthropicCount => {
                anthropic_events(reply).iter().map(named).collect()
            }
            Self::Gemini => match reply {
                Reply::Linger(words) => {
                    let words = words.iter().cloned();
                    words.map(|word| data(&gemini(&Reply::Say(word)))).collect()
                }
                reply => vec![data(&gemini(reply))],
            },
        }
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
}

fn chat_end(reply: &Reply) -> &'static str {
    match reply {
        Reply::Call(..) => "tool_calls",
        _ => "stop",
    }
}

fn chat_call(name: &str, arguments: &Value) -> Value {
    json!({"id": fresh("call"), "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
}

/// Returns an id that nothing had before: agents keep calls and messages by these ids, and hand them on to clients.
fn fresh(kind: &str) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{kind}_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn item(reply: &Reply) -> Value {
    match reply {
        Reply::Call(name, arguments) => {
            json!({"type": "function_call", "id": fresh("fc"), "call_id": fresh("call"), "name": name, "status": "completed",
                "arguments": arguments.to_string()})
        }
        words => {
            json!({"type": "message", "id": fresh("msg"), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": words.pieces().concat(), "annotations": []}]})
        }
    }
}

fn response(item: &Value) -> Value {
    json!({"id": fresh("resp"), "object": "response", "created_at": 0, "model": NAME, "status": "completed", "output": [item],
        "usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}})
}

fn responses_events(reply: &Reply) -> Vec<Value> {
    let item = item(reply);
    let whole = response(&item);
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": whole.get("id"), "object": "response", "created_at": 0, "model": NAME, "status": "in_progress", "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
    ];
    for text in reply.pieces() {
        events.push(json!({"type": "response.output_text.delta", "item_id": item.get("id"), "output_index": 0, "content_index": 0, "delta": text}));
    }
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
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
        Reply::Call(..) => "tool_use",
        _ => "end_turn",
    }
}

fn anthropic_block(reply: &Reply) -> Value {
    match reply {
        Reply::Call(name, arguments) => {
            json!({"type": "tool_use", "id": fresh("call"), "name": name, "input": arguments})
        }
        words => json!({"type": "text", "text": words.pieces().concat()}),
    }
}

fn anthropic_events(reply: &Reply) -> Vec<Value> {
    let (block, deltas) = match reply {
        Reply::Call(name, arguments) => (
            json!({"type": "tool_use", "id": fresh("call"), "name": name, "input": {}}),
            vec![json!({"type": "input_json_delta", "partial_json": arguments.to_string()})],
        ),
        words => {
            let pieces = words.pieces().iter();
            let delta = |text| json!({"type": "text_delta", "text": text});
            (
                json!({"type": "text", "text": ""}),
                pieces.map(delta).collect(),
            )
        }
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": fresh("msg"), "type": "message", "role": "assistant", "model": NAME, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ];
    let deltas = deltas.into_iter();
    events.extend(
        deltas.map(|delta| json!({"type": "content_block_delta", "index": 0, "delta": delta})),
    );
    events.extend([
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": anthropic_end(reply), "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ]);
    events
}

fn gemini(reply: &Reply) -> Value {
    let part = match reply {
        Reply::Call(name, arguments) => json!({"functionCall": {"name": name, "args": arguments}}),
        words => json!({"text": words.pieces().concat()}),
    };
    json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": NAME})
}
