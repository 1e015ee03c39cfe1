//! The fold of a session's events: what was said, and what of it still counts.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use ply_wire::project::{EditText, EditTexts};
use ply_wire::transcript::{Change, Entry, State, Transcript};
use ply_wire::v2;

use crate::edits::Edits;
use crate::{AskId, Event, Question, QueueChange, Runner};

/// Everything a session's events add up to.
#[derive(Debug, Clone, Default)]
pub struct History {
    transcript: Transcript,
    /// Entries of turns that the agent refused.
    refused: Vec<Range<usize>>,
    /// Where turns ended that the user cancelled.
    interrupted: Vec<usize>,
    /// What the user said to turns that ran.
    steered: Vec<usize>,
    /// Where the turn that runs began.
    turn_began: Option<usize>,
    edits: Edits,
    /// Questions that were not answered.
    asked: BTreeSet<AskId>,
    /// Prompts that wait for their turn and are to survive this process.
    queued: Vec<QueuedPrompt>,
    /// Whether they wait until somebody says so.
    is_paused: bool,
    /// Whether a client named the session.
    is_titled: bool,
    /// Who runs the turns, if another program does.
    runner: Option<Runner>,
    /// How often the session, or one that it was forked from, was forked from another.
    forks: u64,
}

/// A prompt that waits for its turn and is to survive this process.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QueuedPrompt {
    /// Its name in the queue.
    pub key: String,
    /// What it says.
    pub content: Vec<v2::ContentBlock>,
    /// Who sent it, where that is known.
    pub by: Option<String>,
}

impl QueuedPrompt {
    /// Returns the prompt with this name, of which nothing else is known.
    #[must_use]
    pub fn new(key: impl Into<String>, content: Vec<v2::ContentBlock>) -> Self {
        Self {
            key: key.into(),
            content,
            by: None,
        }
    }
}

impl History {
    /// Returns the fold of the events.
    #[must_use]
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut history = Self::default();
        for event in events {
            history.apply(event);
        }
        history
    }

    /// Adds one event and returns what it changed in the transcript.
    pub fn apply(&mut self, event: &Event) -> Change {
        match event {
            Event::Update(update) => self.apply_update(update),
            Event::Edited { update, edits } => {
                use v2::SessionUpdate::{ToolCallContentChunk, ToolCallUpdate};
                if let ToolCallUpdate(v2::ToolCallUpdate { tool_call_id, .. })
                | ToolCallContentChunk(v2::ToolCallContentChunk { tool_call_id, .. }) = update
                {
                    self.edits.keep(tool_call_id, edits);
                }
                self.apply_update(update)
            }
            Event::Asked { ask, question, .. } => {
                self.asked.insert(*ask);
                match question {
                    Question::Permission(request) => self.transcript.permission_requested(request),
                    Question::Elicitation(_) => Change::Nothing,
                }
            }
            Event::Answered { ask, .. } => {
                self.asked.remove(ask);
                Change::Nothing
            }
            Event::Queued {
                key, content, by, ..
            } => {
                self.queued.push(QueuedPrompt {
                    key: key.clone(),
                    content: content.clone(),
                    by: by.clone(),
                });
                Change::Nothing
            }
            Event::Queue(change) => {
                self.apply_queue(change);
                Change::Nothing
            }
            Event::Titled { update, .. } => {
                self.is_titled = true;
                self.apply_update(update)
            }
            Event::Runner(runner) => {
                self.runner = Some(runner.clone());
                Change::Nothing
            }
            Event::Forked { .. } => {
                self.forks += 1;
                Change::Nothing
            }
            _ => Change::Nothing,
        }
    }

    fn apply_queue(&mut self, change: &QueueChange) {
        let at = |key: &String| self.queued.iter().position(|queued| queued.key == *key);
        match change {
            QueueChange::Edited { key, content } => {
                if let Some(queued) = at(key).and_then(|at| self.queued.get_mut(at)) {
                    queued.content.clone_from(content);
                }
            }
            QueueChange::Moved { key, to } => {
                if let Some(at) = at(key) {
                    let queued = self.queued.remove(at);
                    self.queued.insert((*to).min(self.queued.len()), queued);
                }
            }
            QueueChange::Left { key } => {
                if let Some(at) = at(key) {
                    self.queued.remove(at);
                }
                // Nothing is left to be paused.
                self.is_paused &= !self.queued.is_empty();
            }
            QueueChange::Paused => self.is_paused = true,
            QueueChange::Resumed => self.is_paused = false,
        }
    }

    /// Returns the prompts that wait for their turn and survive this process, in their order.
    #[must_use]
    pub fn queued(&self) -> &[QueuedPrompt] {
        &self.queued
    }

    /// Returns whether they wait until somebody says that they may begin.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    fn apply_update(&mut self, update: &v2::SessionUpdate) -> Change {
        let before = self.transcript.entries().len();
        let change = self.transcript.apply(update);
        match update {
            // A prompt is inserted where its turn begins.
            v2::SessionUpdate::UserMessage(_) if matches!(change, Change::Added(_)) => {
                let began = *self.turn_began.get_or_insert(before);
                // A later one is for the turn that runs.
                self.steered.extend((began < before).then_some(before));
            }
            v2::SessionUpdate::StateUpdate(v2::StateUpdate::Running(_)) => {
                self.turn_began.get_or_insert(before);
            }
            v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)) => {
                let began = self.turn_began.take();
                match (began, &idle.stop_reason) {
                    (Some(began), Some(v2::StopReason::Refusal)) => {
                        self.refused.push(began..before);
                    }
                    (Some(_), Some(v2::StopReason::Cancelled)) => self.interrupted.push(before),
                    _ => {}
                }
            }
            _ => {}
        }
        change
    }

    /// Returns the transcript, as clients see it: with refused turns.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Returns the entries a model may be told about: without the turns that were refused
    /// (V1-STOP-05).
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        let entries = self.transcript.entries().enumerate();
        entries
            .filter(|(place, _)| !self.is_refused(*place))
            .map(|(_, entry)| entry)
    }

    /// Returns whether the entry at a place of the transcript belongs to a refused turn.
    #[must_use]
    pub fn is_refused(&self, place: usize) -> bool {
        self.refused.iter().any(|range| range.contains(&place))
    }

    /// Returns the places of the transcript before which a turn ended because the user cancelled it, in
    /// their order.
    pub fn interrupted(&self) -> impl Iterator<Item = usize> {
        self.interrupted.iter().copied()
    }

    /// Returns whether the entry at a place of the transcript is what the user said to a turn that ran.
    #[must_use]
    pub fn is_steered(&self, place: usize) -> bool {
        self.steered.binary_search(&place).is_ok()
    }

    /// Returns whether foreground work goes on.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state().is_active()
    }

    /// Returns whether a turn has not ended; also one of which no more than its prompt is there.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_active() || self.turn_began.is_some()
    }

    /// Returns the place at which the turn began that has not ended.
    pub(crate) fn turn_began(&self) -> Option<usize> {
        self.turn_began
    }

    /// Returns the questions that were not answered.
    pub(crate) fn asked(&self) -> impl Iterator<Item = AskId> {
        self.asked.iter().copied()
    }

    /// Returns whether a client named the session.
    #[must_use]
    pub fn is_titled(&self) -> bool {
        self.is_titled
    }

    /// Returns the program that runs the turns of the session, if another one does.
    #[must_use]
    pub fn runner(&self) -> Option<&Runner> {
        self.runner.as_ref()
    }

    pub(crate) fn forks(&self) -> u64 {
        self.forks
    }

    pub(crate) fn state(&self) -> &State {
        self.transcript.state()
    }
}

impl EditTexts for History {
    fn texts(&self, call: &v2::ToolCallId, diff: &v2::Diff, path: &Path) -> Option<EditText> {
        self.edits.texts(call, diff, path)
    }
}
