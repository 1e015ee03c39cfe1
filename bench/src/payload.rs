//! The messages, as the official v1 types. Every peer sends and decodes these and no others.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    ContentBlock, ContentChunk, InitializeRequest, InitializeResponse, PromptRequest,
    PromptResponse, SessionNotification, SessionUpdate, SetSessionModeRequest,
    SetSessionModeResponse, StopReason, TextContent,
};

/// The text of one streamed chunk: 40 bytes, about ten tokens.
pub(crate) const CHUNK_TEXT: &str = "and the tests pass again after this edit";
const _: () = assert!(CHUNK_TEXT.len() == 40);

/// The text of the big prompt.
pub(crate) const LARGE_TEXT_BYTES: usize = 16 * 1024 * 1024;

const SESSION: &str = "sess_01J9ZK3V7Q";

pub(crate) fn initialize() -> InitializeRequest {
    InitializeRequest::new(ProtocolVersion::V1)
}

pub(crate) fn initialized(version: ProtocolVersion) -> InitializeResponse {
    InitializeResponse::new(version)
}

pub(crate) fn update() -> SessionNotification {
    let text = ContentBlock::Text(TextContent::new(CHUNK_TEXT));
    SessionNotification::new(
        SESSION,
        SessionUpdate::AgentMessageChunk(ContentChunk::new(text)),
    )
}

pub(crate) fn set_mode() -> SetSessionModeRequest {
    SetSessionModeRequest::new(SESSION, "code")
}

pub(crate) fn mode_set() -> SetSessionModeResponse {
    SetSessionModeResponse::new()
}

/// A prompt that asks the agent for `count` updates before it answers.
pub(crate) fn ask_for_updates(count: u64) -> PromptRequest {
    prompt(count.to_string())
}

/// A prompt of [`LARGE_TEXT_BYTES`], in lines of 80 bytes: text has line ends, and those are escapes in JSON.
pub(crate) fn large_prompt() -> PromptRequest {
    prompt(large_text(LARGE_TEXT_BYTES))
}

/// Text of `bytes`, in the same lines.
pub(crate) fn large_text(bytes: usize) -> String {
    let line = format!("{:-<79}\n", "a line of source code ");
    let mut text = line.repeat(bytes / line.len() + 1);
    text.truncate(bytes);
    text
}

/// How many updates a prompt asks for; the large prompt asks for none.
pub(crate) fn updates_asked(prompt: &PromptRequest) -> u64 {
    match prompt.prompt.first() {
        Some(ContentBlock::Text(text)) => text.text.parse().unwrap_or(0),
        _ => 0,
    }
}

pub(crate) fn end_turn() -> PromptResponse {
    PromptResponse::new(StopReason::EndTurn)
}

fn prompt(text: String) -> PromptRequest {
    PromptRequest::new(SESSION, vec![ContentBlock::Text(TextContent::new(text))])
}
