//! One short exchange with an agent, for what needs a session with a history.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::Agent;
use super::subject::Subject;
use crate::agent::hearing::Wish;
use crate::peer::Stopped;
use crate::recording::Frame;

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    /// Whether the user said it.
    pub(super) is_users: bool,
    /// Its id, if it has one.
    pub(super) id: Option<String>,
    /// Its text.
    pub(super) text: String,
}

/// A prompt and what came of it.
pub(super) struct Talk {
    /// What was said to the agent.
    pub(super) prompt: String,
    /// Its messages, with those of the user that it sent.
    pub(super) messages: Vec<Message>,
    /// The frame of the prompt.
    pub(super) asked: usize,
    /// Whether it told what the context holds.
    pub(super) has_usage: bool,
}

/// Says the short prompt and waits for the end of the turn.
pub(super) async fn talk(
    subject: &Subject,
    version: Version,
    agent: &mut Agent,
    session: &str,
) -> Result<Talk, Stopped> {
    agent.may_prompt().await?;
    let prompt = subject.prompts.short.clone();
    let patience = std::mem::replace(&mut agent.patience, subject.turn_patience);
    let blocks = json!([{"type": "text", "text": prompt}]);
    let params = json!({"sessionId": session, "prompt": blocks});
    let ended = exchange(subject, version, agent, session, params).await;
    agent.patience = patience;
    agent.hearing.learn(Wish::Turn, &ended);
    let asked = ended?;
    let heard = agent.heard_since(asked);
    Ok(Talk {
        messages: messages(&heard, session),
        has_usage: has_kind(&heard, session, "usage_update"),
        prompt,
        asked,
    })
}

async fn exchange(
    subject: &Subject,
    version: Version,
    agent: &mut Agent,
    session: &str,
    params: Value,
) -> Result<usize, Stopped> {
    let (answer, _) = agent.need("session/prompt", params).await?;
    if version == Version::V1 {
        return Ok(answer.request);
    }
    // An idle state that was told before the prompt arrived says nothing about its turn.
    let began = agent.seen_since(answer.request, |frame| is_state(frame, session, "running"));
    let began = began.map_or(answer.frame, |frame| frame.number.min(answer.frame));
    let is_idle = |frame: &Frame| is_state(frame, session, "idle");
    if agent.seen_since(began, is_idle).is_none() {
        let waited = subject.turn_patience;
        let idle = agent.until(waited, is_idle).await?;
        idle.ok_or_else(|| Stopped::Other("the turn did not end in time".to_owned()))?;
    }
    Ok(answer.request)
}

/// Returns whether an update tells this state of a session.
pub(super) fn is_state(frame: &Frame, session: &str, state: &str) -> bool {
    let told = frame.update().and_then(|update| update.get("state"));
    frame.session() == Some(session)
        && frame.update_kind() == Some("state_update")
        && told.and_then(Value::as_str) == Some(state)
}

/// Returns whether there is an update of a kind.
pub(super) fn has_kind(frames: &[Frame], session: &str, kind: &str) -> bool {
    let mut frames = frames.iter();
    frames.any(|frame| frame.session() == Some(session) && frame.update_kind() == Some(kind))
}

/// Returns the messages that updates of a session tell, thoughts left out.
pub(super) fn messages(frames: &[Frame], session: &str) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for frame in frames
        .iter()
        .filter(|frame| frame.session() == Some(session))
    {
        let (is_users, is_whole) = match frame.update_kind() {
            Some("user_message_chunk") => (true, false),
            Some("user_message") => (true, true),
            Some("agent_message_chunk") => (false, false),
            Some("agent_message") => (false, true),
            _ => continue,
        };
        let update = frame.update();
        let id = update.and_then(|update| update.get("messageId"));
        let id = id.and_then(Value::as_str).map(str::to_owned);
        let text = text(update.and_then(|update| update.get("content")));
        let known = messages.iter_mut().rev().find(|message| {
            message.is_users == is_users && message.id == id && (id.is_some() || !is_whole)
        });
        // Chunks without an id belong to the message that is being told.
        match known {
            Some(message) if is_whole => message.text = text,
            Some(message) if id.is_some() => message.text.push_str(&text),
            _ => match messages.last_mut() {
                Some(last) if last.is_users == is_users && last.id == id && !is_whole => {
                    last.text.push_str(&text);
                }
                _ => messages.push(Message { is_users, id, text }),
            },
        }
    }
    messages
}

/// Returns all that one side said.
pub(super) fn said(messages: &[Message], is_users: bool) -> String {
    let theirs = messages
        .iter()
        .filter(|message| message.is_users == is_users);
    theirs.map(|message| message.text.as_str()).collect()
}

/// Returns the text of a content block, or of several.
fn text(content: Option<&Value>) -> String {
    let of = |block: &Value| {
        let text = block.get("text").and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    match content {
        Some(Value::Array(blocks)) => blocks.iter().map(of).collect(),
        Some(block) => of(block),
        None => String::new(),
    }
}
