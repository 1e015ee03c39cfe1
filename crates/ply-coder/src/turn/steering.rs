//! What the user says while a turn runs.

use super::TurnLoop;
use crate::context::conversation;
use crate::model::{Content, Message};

/// Whether the turn goes on if nothing was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listen {
    /// It does.
    On,
    /// It ends, and what the user says from then on is a prompt of its own.
    Last,
}

impl TurnLoop<'_> {
    /// Adds what the user said to what the model is told next, and returns whether that was anything. It is part of the history.
    pub(super) async fn listen(&self, talk: &mut Vec<Message>, listen: Listen) -> bool {
        if !self.is_kept() {
            // The user speaks to the agent.
            return false;
        }
        let steered = match listen {
            Listen::On => self.turn.steered(),
            Listen::Last => self.turn.last_steered().await,
        };
        let facts = self.state.choice().model.facts().clone();
        let said: Vec<Content> = steered
            .iter()
            .flat_map(|steered| conversation::prompt(&steered.content, None, &facts))
            .collect();
        if said.is_empty() {
            return false;
        }
        match talk.last_mut() {
            Some(Message::User(last)) => last.extend(said),
            _ => talk.push(Message::User(said)),
        }
        true
    }
}
