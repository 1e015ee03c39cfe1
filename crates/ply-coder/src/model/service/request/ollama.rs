//! A request in Ollama's words.

use serde_json::{Map, Value, json};

use super::super::Service;
use super::{arguments, names, shown, words};
use crate::model::{CallResult, Content, Effort, Message, Part, Request};
use genai::chat::{BinarySource, ContentPart};

/// Returns the body of a request.
pub(in super::super) fn body(service: &Service, request: &Request) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for message in &request.messages {
        match message {
            Message::User(content) => messages.push(user(service, content)),
            Message::Assistant(parts) => messages.extend(assistant(parts)),
            Message::Results(results) => self::results(service, results, &mut messages),
        }
    }
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
            }})
        })
        .collect();
    // The server cuts what is longer than its window from the front, so that it has to be the window
    // that the turn loop counts with.
    let mut options = Map::new();
    options.insert("num_ctx".to_owned(), service.facts.window_tokens.into());
    if let Some(most) = request.output_tokens_max {
        options.insert("num_predict".to_owned(), most.into());
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), service.model.as_str().into());
    body.insert("stream".to_owned(), true.into());
    body.insert("options".to_owned(), options.into());
    body.insert("tools".to_owned(), tools.into());
    body.insert("messages".to_owned(), messages.into());
    if let Some(effort) = request.effort.filter(|_| service.facts.efforts) {
        let effort = match effort {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
        };
        body.insert("think".to_owned(), effort.into());
    }
    body.into()
}

fn user(service: &Service, content: &[Content]) -> Value {
    let mut texts: Vec<String> = Vec::new();
    let mut images: Vec<String> = Vec::new();
    for part in content.iter().filter_map(|content| shown(service, content)) {
        match part {
            ContentPart::Text(text) => texts.push(text),
            ContentPart::Binary(binary) => {
                if let BinarySource::Base64(data) = binary.source {
                    images.push(data.to_string());
                }
            }
            _ => {}
        }
    }
    json!({"role": "user", "content": texts.join("\n\n"), "images": images})
}

fn assistant(parts: &[Part]) -> Option<Value> {
    let mut text = String::new();
    let mut thoughts = String::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text(more) => text.push_str(more),
            // Thoughts of other services are signed, and theirs.
            Part::Thought {
                text,
                signature: None,
            } => thoughts.push_str(text),
            Part::Thought { .. } => {}
            Part::Call(call) => calls.push(json!({
                "function": {"name": names::tool(&call.name), "arguments": arguments(call)},
            })),
        }
    }
    (!text.is_empty() || !calls.is_empty()).then(|| {
        json!({
            "role": "assistant",
            "content": text,
            "thinking": thoughts,
            "tool_calls": calls,
        })
    })
}

fn results(service: &Service, results: &[CallResult], messages: &mut Vec<Value>) {
    for result in results {
        messages.push(json!({
            "role": "tool",
            "tool_name": names::tool(&result.name),
            "content": words(result),
        }));
    }
    let images = super::images(results);
    if !images.is_empty() {
        messages.push(user(service, &images));
    }
}
