//! What a client saw of a turn.

use ply_agent::transcript::ToolCall;
use ply_client::{Event, Session, Turn, v2};

/// What a client saw of a turn.
#[derive(Debug, Default)]
pub struct Story {
    /// What the agent said.
    pub text: String,
    /// What it thought.
    pub thoughts: String,
    /// The tool calls of the turn, as they were at its end.
    pub calls: Vec<ToolCall>,
    /// What was shown and not kept.
    pub notices: Vec<String>,
    /// The last plan.
    pub plan: Vec<(String, v2::PlanEntryStatus)>,
    /// The last usage.
    pub usage: Option<v2::UsageUpdate>,
    /// Why the turn stopped; none if it failed.
    pub stop: Option<v2::StopReason>,
    /// The error it failed with.
    pub error: Option<String>,
}

impl Story {
    /// Returns the call of a tool; there must be one.
    #[track_caller]
    pub fn call(&self, name: &str) -> &ToolCall {
        let found = self
            .calls
            .iter()
            .find(|call| call.name.as_deref() == Some(name));
        found.unwrap_or_else(|| panic!("no call of {name} in {self:#?}"))
    }

    /// Returns what the model was told of each call, in their order.
    pub fn told(&self) -> Vec<&str> {
        let told = self.calls.iter().map(|call| {
            let raw = call.raw_output.as_ref();
            raw.and_then(|raw| raw["text"].as_str()).unwrap_or("")
        });
        told.collect()
    }
}

/// Reads a turn to its end.
pub async fn read_story(session: &Session, mut turn: Turn) -> Story {
    let mut story = Story::default();
    let mut ids = Vec::new();
    while let Some(event) = turn.next().await {
        match event {
            Ok(Event::Message(message)) => story.text.push_str(&message.text()),
            Ok(Event::Thought(message)) => story.thoughts.push_str(&message.text()),
            Ok(Event::ToolCall(call)) => {
                if let Some(id) = call.id()
                    && !ids.contains(id)
                {
                    ids.push(id.clone());
                }
            }
            Ok(Event::Notice(notice)) => story.notices.push(notice.title),
            Ok(Event::Usage(usage)) => story.usage = Some(usage),
            Ok(Event::Plan(update)) => {
                if let v2::PlanUpdateContent::Items(items) = update.plan {
                    let entries = items.entries.into_iter();
                    story.plan = entries.map(|entry| (entry.content, entry.status)).collect();
                }
            }
            Ok(_) => {}
            Err(error) => story.error = Some(error.to_string()),
        }
    }
    story.stop = turn.stop_reason().cloned();
    let calls = ids.iter().filter_map(|id| session.tool_call(id));
    story.calls = calls.collect();
    story
}
