//! What a client makes of what it is sent, and everything in short words.

use ply_session::{Effect, Form, Message, Response};
use ply_wire::lift::Lifter;
use ply_wire::negotiate::Version;
use ply_wire::transcript::{Transcript, what_v1_can_carry};
use ply_wire::{v1, v2};

pub(crate) struct Client {
    version: Version,
    lifter: Lifter,
    pub(crate) transcript: Transcript,
    /// What it was sent, in words, since that was last looked at.
    pub(crate) seen: Vec<String>,
    /// Whether it reads whatever there is at once.
    pub(crate) reads: bool,
}

impl Client {
    pub(crate) fn new(version: Version, number: u64) -> Self {
        Self {
            version,
            lifter: Lifter::new(format!("lifted-{number}-"), ""),
            transcript: Transcript::new(),
            seen: Vec::new(),
            reads: true,
        }
    }

    pub(crate) fn take(&mut self, message: Message) {
        match message {
            Message::Update(json) if self.version == Version::V2 => {
                let update = serde_json::from_str(json.as_str()).unwrap();
                self.seen.push(update_words(&update));
                self.transcript.apply(&update);
            }
            Message::Update(json) => self.lift(serde_json::from_str(json.as_str()).unwrap()),
            Message::UpdateV1(update) => self.lift(*update),
            Message::Respond { request, response } => {
                self.seen.push(answer_words(request.0, &response));
                if let Ok(Response::Options(answer)) = response {
                    let update = v2::ConfigOptionUpdate::new(answer.config_options);
                    let update = v2::SessionUpdate::ConfigOptionUpdate(update);
                    self.transcript.apply(&update);
                }
            }
            Message::Ask { ask, form } => {
                if let Form::Permission(request) = &form {
                    self.transcript.permission_requested(request);
                }
                self.seen.push(format!("ask {}", ask.0));
            }
            Message::Passed { barrier } => self.seen.push(format!("passed {barrier}")),
            _ => {}
        }
    }

    fn lift(&mut self, update: v1::SessionUpdate) {
        assert_eq!(self.version, Version::V1);
        let mut updates = Vec::new();
        self.lifter.update(update, &mut updates);
        for update in updates {
            self.seen.push(update_words(&update));
            self.transcript.apply(&update);
        }
    }

    #[track_caller]
    pub(crate) fn assert_has(&self, kept: &Transcript) {
        match self.version {
            Version::V2 => assert_eq!(self.transcript.normalized(), kept.normalized()),
            Version::V1 => assert_eq!(agent_text(&self.transcript), agent_text(kept)),
        }
    }

    /// Checks everything that version 1 can show.
    #[track_caller]
    pub(crate) fn assert_carries(&self, kept: &Transcript) {
        assert_eq!(what_v1_can_carry(&self.transcript), what_v1_can_carry(kept));
    }

    pub(crate) fn text(&self) -> String {
        agent_text(&self.transcript)
    }
}

fn agent_text(transcript: &Transcript) -> String {
    let messages = transcript.messages();
    let said = messages.filter(|message| message.kind == ply_wire::transcript::MessageKind::Agent);
    said.map(|message| message.text()).collect()
}

fn cut(text: &str) -> String {
    text.chars().take(20).collect()
}

fn update_words(update: &v2::SessionUpdate) -> String {
    match update {
        v2::SessionUpdate::UserMessage(message) => {
            let content = message.content.value().map(|content| content.as_slice());
            format!("user {}", content.map(block_words).unwrap_or_default())
        }
        v2::SessionUpdate::UserMessageChunk(chunk) => {
            format!("user {}", block_words(std::slice::from_ref(&chunk.content)))
        }
        v2::SessionUpdate::AgentMessageChunk(chunk) => {
            format!("say {}", block_words(std::slice::from_ref(&chunk.content)))
        }
        v2::SessionUpdate::AgentMessage(message) => {
            let content = message.content.value().map(|content| content.as_slice());
            format!("say {}", content.map(block_words).unwrap_or_default())
        }
        v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)) => match &idle.stop_reason {
            Some(v2::StopReason::Error(stop)) => {
                let error = stop.error.as_deref().map(|error| error.message.clone());
                format!("idle error {}", cut(&error.unwrap_or_default()))
            }
            Some(stop) => format!("idle {}", name(stop, "stopReason")),
            None => "idle".to_owned(),
        },
        v2::SessionUpdate::StateUpdate(state) => name(state, "state"),
        v2::SessionUpdate::ToolCallUpdate(call) => match call.status.value() {
            Some(status) => format!("call {} {}", call.tool_call_id, name(status, "")),
            None => format!("call {}", call.tool_call_id),
        },
        v2::SessionUpdate::Notice(notice) => format!("notice {}", cut(&notice.title)),
        other => name(other, "sessionUpdate"),
    }
}

fn block_words(blocks: &[v2::ContentBlock]) -> String {
    match blocks {
        [v2::ContentBlock::Text(text)] => cut(&text.text),
        _ => "something".to_owned(),
    }
}

fn name(value: &impl serde::Serialize, field: &str) -> String {
    let value = serde_json::to_value(value).unwrap();
    let name = value.get(field).unwrap_or(&value);
    name.as_str()
        .map_or_else(|| name.to_string(), str::to_owned)
}

fn answer_words(request: u64, response: &Result<Response, v2::Error>) -> String {
    match response {
        Ok(response) => {
            let json = serde_json::to_value(response).unwrap();
            match json.get("stopReason").or_else(|| json.get("messageId")) {
                Some(words) => format!("answer {request} {}", words.as_str().unwrap_or_default()),
                None => format!("answer {request}"),
            }
        }
        Err(error) => format!("refuse {request} {}", cut(&error.message)),
    }
}

/// Returns an effect in words.
pub(crate) fn effect(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Create => "create".to_owned(),
        Effect::Open { from } => format!("open {from}"),
        Effect::Respond { request, response } => answer_words(request.0, response),
        Effect::Retract { ask, view } => format!("retract {} from {}", ask.0, view.0),
        Effect::Start(start) => format!("start {}", start.prompt.0),
        Effect::Steer { message, .. } => format!("steer {message}"),
        Effect::Cancel { .. } => "cancel".to_owned(),
        Effect::Abandon { .. } => "abandon".to_owned(),
        Effect::Resolve { ask, answer } => {
            format!("resolve {} {}", ask.0, name(answer, "selected"))
        }
        Effect::Settled { request, stop } => match stop {
            Some(stop) => format!("settled {} {}", request.0, name(stop, "stopReason")),
            None => format!("settled {} never", request.0),
        },
        Effect::SetOption {
            request, option, ..
        } => format!("set {} {option}", request.0),
        Effect::Passed { barrier, is_safe } => {
            format!(
                "passed {barrier} {}",
                if *is_safe { "safe" } else { "lost" }
            )
        }
        Effect::Unattended => "unattended".to_owned(),
        Effect::Release { archive: true, .. } => "archive".to_owned(),
        Effect::Release { delete: false, .. } => "release".to_owned(),
        Effect::Release { delete: true, .. } => "delete".to_owned(),
        Effect::Fork { request, records } => format!("fork {} {records}", request.0),
        Effect::Over => "over".to_owned(),
        _ => return None,
    })
}
