//! Puts a request into `genai`'s words.
//!
//! Where `genai` has no word for something, a custom part carries the service's own JSON: results with
//! images and the mark of failure, and thoughts that go back as they came, at Anthropic.

mod names;
pub(super) mod ollama;

use genai::chat::{
    Binary, CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatRole, ContentPart, CustomPart,
    MessageContent, MessageOptions, ReasoningEffort, Tool, ToolCall, ToolResponse,
};
use serde_json::{Value, json};

use self::names::Ids;
use super::decode::{ANTHROPIC, ANTHROPIC_REDACTED, GEMINI, OPENAI};
use super::{Api, Service};
use crate::model::{Call, CallResult, Content, Effort, Message, Part, Request};

/// How many of the last messages of the user's side end what Anthropic keeps in its cache. Together
/// with the system prompt that is three of the four marks that a request may have.
const CACHED_MESSAGES: usize = 2;

/// What is said where the model has to speak and has said nothing.
const ANY_WORD: &str = "Understood.";

/// Returns the conversation.
pub(super) fn chat(service: &Service, request: &Request) -> ChatRequest {
    let ids = Ids::new(service.api, &request.messages);
    let mut messages = Vec::new();
    for message in &request.messages {
        match message {
            Message::User(content) => asked(service, content, &mut messages),
            Message::Assistant(parts) => assistant(service, &ids, parts, &mut messages),
            Message::Results(results) => self::results(service, &ids, results, &mut messages),
        }
    }
    let mut chat = ChatRequest::default();
    if service.api == Api::Anthropic {
        let asked = messages
            .iter_mut()
            .rev()
            .filter(|message| !matches!(message.role, ChatRole::Assistant));
        for message in asked.take(CACHED_MESSAGES) {
            message.options = Some(cached());
        }
        if !request.system.is_empty() {
            // A system prompt of the request itself could not be marked.
            messages.insert(
                0,
                ChatMessage::system(request.system.as_str()).with_options(cached()),
            );
        }
    } else if !request.system.is_empty() {
        chat = chat.with_system(request.system.as_str());
    }
    let tools: Vec<Tool> = request
        .tools
        .iter()
        .map(|tool| {
            // Without a word on it, Responses makes schemas strict, and every argument a must.
            let strict = matches!(service.api, Api::OpenAiResponses).then_some(false);
            Tool {
                strict,
                ..Tool::new(tool.name.as_str())
                    .with_description(tool.description.as_str())
                    .with_schema(tool.schema.clone())
            }
        })
        .collect();
    chat.messages = messages;
    if !tools.is_empty() {
        chat = chat.with_tools(tools);
    }
    chat
}

/// Returns everything but the conversation.
pub(super) fn options(service: &Service, request: &Request) -> ChatOptions {
    let facts = &service.facts;
    // What is captured is not looked at: here it asks services to count tokens and to tell thoughts.
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_reasoning_content(facts.efforts)
        .with_capture_content(false)
        .with_capture_tool_calls(false);
    let most = request.output_tokens_max.unwrap_or(facts.output_tokens_max);
    let most = u32::try_from(most).unwrap_or(u32::MAX);
    // Only Anthropic must be told; others know their most better than a catalogue does.
    if service.api == Api::Anthropic || request.output_tokens_max.is_some() {
        options = options.with_max_tokens(most);
    }
    if let Some(effort) = request.effort.filter(|_| facts.efforts) {
        let effort = match effort {
            Effort::Low => ReasoningEffort::Low,
            Effort::Medium => ReasoningEffort::Medium,
            Effort::High => ReasoningEffort::High,
        };
        // What older models of Anthropic's may think is a part of what they may answer.
        let fits = match (service.api, &effort) {
            (Api::Anthropic, ReasoningEffort::Low) => most > 1_024,
            (Api::Anthropic, ReasoningEffort::Medium) => most > 8_000,
            (Api::Anthropic, _) => most > 24_000,
            _ => true,
        };
        if fits {
            options = options.with_reasoning_effort(effort);
        }
    }
    if let Some(key) = request.cache_key.as_ref().filter(|_| service.cache_keys) {
        options = options.with_prompt_cache_key(key.as_str());
    }
    match service.api {
        // `genai` knows the model by a name that it may have to be told differently, and changes it.
        Api::OpenAi | Api::OpenAiResponses | Api::Anthropic => {
            options.with_extra_body(json!({"model": service.model}))
        }
        // Its name is in the address.
        Api::Gemini | Api::Ollama => options,
    }
}

fn cached() -> MessageOptions {
    MessageOptions::default().with_cache_control(CacheControl::Ephemeral)
}

/// Adds what the user said.
fn asked(service: &Service, content: &[Content], messages: &mut Vec<ChatMessage>) {
    let after_results = messages
        .last()
        .is_some_and(|last| matches!(last.role, ChatRole::Tool));
    if service.speaks_after_results && after_results {
        messages.push(ChatMessage::assistant(ANY_WORD));
    }
    messages.push(user(service, content));
}

fn user(service: &Service, content: &[Content]) -> ChatMessage {
    let mut parts: Vec<ContentPart> = content
        .iter()
        .filter_map(|content| shown(service, content))
        .collect();
    if parts.is_empty() {
        // Services refuse a message with nothing in it.
        parts.push(ContentPart::Text("(nothing)".to_owned()));
    }
    ChatMessage::user(MessageContent::from_parts(parts))
}

/// Returns what the model can be shown; a word for what it cannot be.
fn shown(service: &Service, content: &Content) -> Option<ContentPart> {
    let (taken, kind, mime_type, data) = match content {
        Content::Text(text) => {
            return (!text.trim().is_empty()).then(|| ContentPart::Text(text.clone()));
        }
        Content::Image { mime_type, data } => (service.facts.images, "image", mime_type, data),
        Content::Audio { mime_type, data } => {
            // The others have no word for sound.
            let taken = service.facts.audio && matches!(service.api, Api::OpenAi | Api::Gemini);
            (taken, "audio", mime_type, data)
        }
    };
    Some(if taken {
        let binary = Binary::from_base64(mime_type.as_str(), data.as_str(), None);
        ContentPart::Binary(binary)
    } else {
        ContentPart::Text(format!("({kind} left out: this model takes no {kind})"))
    })
}

/// Adds what the model said.
fn assistant(service: &Service, ids: &Ids<'_>, parts: &[Part], messages: &mut Vec<ChatMessage>) {
    let mut group: Vec<ContentPart> = Vec::new();
    let mut said = false;
    for part in parts {
        match part {
            Part::Thought { text, signature } => {
                let Some(thought) = thought(service, text, signature.as_deref()) else {
                    continue;
                };
                // `genai` moves the thoughts of a message to its beginning. Where thoughts must stay in
                // their places, each begins a message; these services take them for one again.
                let apart = matches!(service.api, Api::Anthropic | Api::OpenAiResponses);
                if said && apart {
                    messages.push(ChatMessage::assistant(MessageContent::from_parts(
                        std::mem::take(&mut group),
                    )));
                    said = false;
                }
                group.push(thought);
            }
            Part::Text(text) if text.trim().is_empty() => {}
            Part::Text(text) => {
                said = true;
                match group.last_mut() {
                    // `genai` puts an empty line between texts.
                    Some(ContentPart::Text(last)) => last.push_str(text),
                    _ => group.push(ContentPart::Text(text.clone())),
                }
            }
            Part::Call(call) => {
                said = true;
                group.push(ContentPart::ToolCall(self::call(service, ids, call)));
            }
        }
    }
    // Services refuse a message that is nothing but thoughts.
    if said {
        messages.push(ChatMessage::assistant(MessageContent::from_parts(group)));
    }
}

/// Returns a thought that the service can take back: one that it signed itself.
fn thought(service: &Service, text: &str, signature: Option<&str>) -> Option<ContentPart> {
    let (tag, signature) = signature
        .and_then(|signature| signature.split_once(':'))
        .unwrap_or_default();
    let custom = |data| {
        Some(ContentPart::Custom(CustomPart {
            model_iden: None,
            data,
        }))
    };
    match (service.api, tag) {
        (Api::Anthropic, ANTHROPIC) => {
            custom(json!({"type": "thinking", "thinking": text, "signature": signature}))
        }
        (Api::Anthropic, ANTHROPIC_REDACTED) => {
            custom(json!({"type": "redacted_thinking", "data": signature}))
        }
        (Api::OpenAiResponses, OPENAI) | (Api::Gemini, GEMINI) => {
            Some(ContentPart::ThoughtSignature(signature.to_owned()))
        }
        (Api::OpenAi, _) if service.resend_thoughts && !text.is_empty() => {
            Some(ContentPart::ReasoningContent(text.to_owned()))
        }
        _ => None,
    }
}

fn call(service: &Service, ids: &Ids<'_>, call: &Call) -> ToolCall {
    let prefix = format!("{GEMINI}:");
    let signatures: Vec<String> = call
        .signatures
        .iter()
        .filter(|_| service.api == Api::Gemini)
        .filter_map(|signature| signature.strip_prefix(&prefix))
        .map(str::to_owned)
        .collect();
    ToolCall {
        call_id: ids.of(&call.id),
        fn_name: names::tool(&call.name),
        fn_arguments: arguments(call),
        thought_signatures: (!signatures.is_empty()).then_some(signatures),
    }
}

/// Returns the arguments of a call as an object: services take nothing else back.
fn arguments(call: &Call) -> Value {
    match &call.arguments {
        Value::Object(_) => call.arguments.clone(),
        Value::String(text) => json!({"not_json": text}),
        other => json!({"not_json": other.to_string()}),
    }
}

/// Adds what came of calls.
fn results(
    service: &Service,
    ids: &Ids<'_>,
    results: &[CallResult],
    messages: &mut Vec<ChatMessage>,
) {
    if service.api == Api::Anthropic {
        let blocks = results.iter().map(|result| anthropic(service, ids, result));
        messages.push(ChatMessage::tool(MessageContent::from_parts(
            blocks.collect::<Vec<_>>(),
        )));
        return;
    }
    let responses = results.iter().map(|result| {
        let response = ToolResponse::new(ids.of(&result.call), words(result));
        ContentPart::ToolResponse(response.with_fn_name(names::tool(&result.name)))
    });
    messages.push(ChatMessage::tool(MessageContent::from_parts(
        responses.collect::<Vec<_>>(),
    )));
    let images = images(results);
    if !images.is_empty() {
        asked(service, &images, messages);
    }
}

/// Returns the images of results, to be shown after them: these services take results as text only.
fn images(results: &[CallResult]) -> Vec<Content> {
    let mut images = Vec::new();
    for result in results.iter().filter(|result| !result.images.is_empty()) {
        let name = names::tool(&result.name);
        images.push(Content::Text(format!("Images from `{name}`:")));
        images.extend(result.images.iter().cloned());
    }
    images
}

/// Returns what the model is told, with the failure in words: these services have no mark for it.
fn words(result: &CallResult) -> String {
    match (result.failed, result.text.trim().is_empty()) {
        (false, true) => "(no output)".to_owned(),
        (false, false) => result.text.clone(),
        (true, true) => "The tool failed.".to_owned(),
        (true, false) => format!("The tool failed: {}", result.text),
    }
}

fn anthropic(service: &Service, ids: &Ids<'_>, result: &CallResult) -> ContentPart {
    let text = match result.text.trim().is_empty() {
        true => "(no output)",
        false => &result.text,
    };
    let mut content = vec![json!({"type": "text", "text": text})];
    for image in &result.images {
        content.push(match shown(service, image) {
            Some(ContentPart::Text(text)) => json!({"type": "text", "text": text}),
            Some(_) => block(image),
            None => continue,
        });
    }
    ContentPart::Custom(CustomPart {
        model_iden: None,
        data: json!({
            "type": "tool_result",
            "tool_use_id": ids.of(&result.call),
            "content": content,
            "is_error": result.failed,
        }),
    })
}

/// Returns an image in Anthropic's words.
fn block(content: &Content) -> Value {
    match content {
        Content::Image { mime_type, data } | Content::Audio { mime_type, data } => json!({
            "type": "image",
            "source": {"type": "base64", "media_type": mime_type, "data": data},
        }),
        Content::Text(text) => json!({"type": "text", "text": text}),
    }
}
