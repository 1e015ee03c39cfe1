//! What the agent reports: which turn it belongs to, and that tool calls only move forward.

use ply_wire::transcript::{Entry, MessageKind, ToolCall, Transcript};
use ply_wire::{MaybeUndefined, v2};

use super::Action;
use super::Engine;
use super::asks::Asks;
use crate::{Edit, Event, TurnId};

/// The message that the next words belong to.
#[derive(Debug)]
pub(crate) struct Speaking {
    turn: Option<TurnId>,
    kind: MessageKind,
    message: v2::MessageId,
}

/// Tool calls that have not reached a final status, in the order they were announced. There are
/// few at any time, so they are searched one by one.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls(Vec<OpenCall>);

#[derive(Debug)]
struct OpenCall {
    id: v2::ToolCallId,
    turn: Option<TurnId>,
    stage: Stage,
}

/// How far a call has come. Calls never go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Pending,
    Running,
    Finished,
}

impl Stage {
    fn of(status: &v2::ToolCallStatus) -> Self {
        match status {
            v2::ToolCallStatus::Pending => Self::Pending,
            v2::ToolCallStatus::Completed
            | v2::ToolCallStatus::Failed
            | v2::ToolCallStatus::Cancelled => Self::Finished,
            _ => Self::Running,
        }
    }

    fn of_call(call: Option<&ToolCall>) -> Self {
        call.map_or(Self::Pending, |call| Self::of(&call.status))
    }
}

impl OpenCalls {
    /// Returns those of a transcript, as calls of a turn.
    pub(super) fn of(transcript: &Transcript, turn: Option<TurnId>) -> Self {
        let listed = transcript.background().unwrap_or_default();
        let is_listed = |id: &v2::ToolCallId| {
            let is_it = |work: &v2::BackgroundWork| matches!(work, v2::BackgroundWork::ToolCall(call) if call.tool_call_id == *id);
            listed.iter().any(is_it)
        };
        let open = transcript.tool_calls().filter(|call| !call.is_finished());
        let open = open.map(|call| OpenCall {
            id: call.id.clone(),
            turn: turn.filter(|_| !is_listed(&call.id)),
            stage: Stage::of(&call.status),
        });
        Self(open.collect())
    }

    /// Returns whether a call of the turn runs that the user is not asked about.
    pub(crate) fn is_running(&self, turn: TurnId, asks: &Asks) -> bool {
        let of_turn = self.0.iter().filter(|call| call.turn == Some(turn));
        let mut running = of_turn.filter(|call| call.stage == Stage::Running);
        running.any(|call| !asks.is_about(&call.id))
    }

    fn follow(&mut self, id: &v2::ToolCallId, turn: Option<TurnId>, stage: Stage) {
        if stage == Stage::Finished {
            self.0.retain(|open| open.id != *id);
        } else if let Some(open) = self.0.iter_mut().find(|open| open.id == *id) {
            open.stage = stage;
        } else {
            let id = id.clone();
            self.0.push(OpenCall { id, turn, stage });
        }
    }

    /// Lets a call of a turn go on without it.
    pub(super) fn outlive(&mut self, turn: TurnId, id: &v2::ToolCallId) {
        let mut calls = self.0.iter_mut();
        if let Some(call) = calls.find(|call| call.id == *id && call.turn == Some(turn)) {
            call.turn = None;
        }
    }

    /// Returns those that belong to no turn, in the order they were announced.
    pub(super) fn in_background(&self) -> impl Iterator<Item = &v2::ToolCallId> {
        let calls = self.0.iter().filter(|call| call.turn.is_none());
        calls.map(|call| &call.id)
    }

    /// Takes out the calls of `turn`, or of no turn.
    fn take(&mut self, turn: Option<TurnId>) -> Vec<OpenCall> {
        let (taken, kept) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|call| call.turn == turn);
        self.0 = kept;
        taken
    }
}

/// Terminals whose end was not reported, with the turn they belong to.
#[derive(Debug, Default)]
pub(crate) struct OpenTerminals(Vec<(v2::TerminalId, Option<TurnId>)>);

impl OpenTerminals {
    /// Returns those of a transcript, as terminals of a turn.
    pub(super) fn of(transcript: &Transcript, turn: Option<TurnId>) -> Self {
        let listed = transcript.background().unwrap_or_default();
        let is_listed = |id: &v2::TerminalId| {
            let is_it = |work: &v2::BackgroundWork| matches!(work, v2::BackgroundWork::Terminal(terminal) if terminal.terminal_id == *id);
            listed.iter().any(is_it)
        };
        let open = transcript.open_terminals();
        let open = open.map(|id| (id.clone(), turn.filter(|_| !is_listed(id))));
        Self(open.collect())
    }

    fn follow(&mut self, id: &v2::TerminalId, turn: Option<TurnId>, has_ended: bool) {
        if has_ended {
            self.0.retain(|(open, _)| open != id);
        } else if !self.0.iter().any(|(open, _)| open == id) {
            self.0.push((id.clone(), turn));
        }
    }

    /// Lets a terminal of a turn go on without it.
    pub(super) fn outlive(&mut self, turn: TurnId, id: &v2::TerminalId) {
        let mut open = self.0.iter_mut();
        if let Some((_, of)) = open.find(|(open, of)| open == id && *of == Some(turn)) {
            *of = None;
        }
    }

    /// Returns those that belong to no turn, in the order they were announced.
    pub(super) fn in_background(&self) -> impl Iterator<Item = &v2::TerminalId> {
        let open = self.0.iter().filter(|(_, of)| of.is_none());
        open.map(|(id, _)| id)
    }

    /// Lets what a turn left open go on without it.
    pub(crate) fn all_outlive(&mut self, turn: TurnId) {
        let of_turn = self.0.iter_mut().filter(|(_, of)| *of == Some(turn));
        of_turn.for_each(|(_, of)| *of = None);
    }
}

impl Engine {
    pub(crate) fn say(
        &mut self,
        turn: Option<TurnId>,
        thought: bool,
        content: v2::ContentBlock,
        out: &mut Vec<Action>,
    ) {
        if self.is_late(turn) {
            return;
        }
        let kind = match thought {
            true => MessageKind::Thought,
            false => MessageKind::Agent,
        };
        let current = self.speaking.take();
        let speaking = current
            .filter(|speaking| speaking.turn == turn && speaking.kind == kind)
            .unwrap_or_else(|| Speaking {
                turn,
                kind,
                message: v2::MessageId::new(self.fresh_id("msg")),
            });
        let chunk = v2::ContentChunk::new(content, speaking.message.clone());
        let update = match kind {
            MessageKind::Thought => v2::SessionUpdate::AgentThoughtChunk(chunk),
            MessageKind::Agent | MessageKind::User => v2::SessionUpdate::AgentMessageChunk(chunk),
        };
        self.append(Event::Update(update), out);
        self.speaking = Some(speaking);
    }

    pub(crate) fn update(
        &mut self,
        turn: Option<TurnId>,
        mut update: v2::SessionUpdate,
        edits: Vec<Edit>,
        out: &mut Vec<Action>,
    ) {
        if self.is_late(turn) {
            return;
        }
        let mut changes_state = false;
        match &mut update {
            // These are the engine's to report: it alone knows where a prompt stands and what runs.
            v2::SessionUpdate::UserMessage(_)
            | v2::SessionUpdate::UserMessageChunk(_)
            | v2::SessionUpdate::StateUpdate(_) => return,
            // One that says nothing is no notice (V1-NOTICE-02).
            v2::SessionUpdate::Notice(notice) if notice.title.trim().is_empty() => return,
            v2::SessionUpdate::Notice(_) => return self.tell(update, out),
            // The name that the user gave the session stays.
            v2::SessionUpdate::SessionInfoUpdate(info) if self.history.is_titled() => {
                info.title = MaybeUndefined::Undefined;
                if *info == v2::SessionInfoUpdate::new() {
                    return;
                }
            }
            v2::SessionUpdate::TerminalUpdate(terminal) => {
                let has_ended = matches!(terminal.exit_status, MaybeUndefined::Value(_));
                if has_ended {
                    let known = self.history.transcript().terminal(&terminal.terminal_id);
                    withdraw(
                        known.is_some_and(|known| known.capabilities.is_some()),
                        &mut terminal.capabilities,
                    );
                }
                self.terminals
                    .follow(&terminal.terminal_id, turn, has_ended);
            }
            v2::SessionUpdate::TerminalOutputChunk(chunk) => {
                let known = self.history.transcript().terminal(&chunk.terminal_id);
                if known.is_none() {
                    self.terminals.follow(&chunk.terminal_id, turn, false);
                }
            }
            v2::SessionUpdate::ToolCallUpdate(call) => {
                self.follow_call(turn, call);
                changes_state = true;
            }
            v2::SessionUpdate::CompactionUpdate(compaction) => {
                if self.has_compacted(&compaction.compaction_id) {
                    return;
                }
                self.follow_compaction(compaction, out);
            }
            // A summary grows between the beginning and the end, and nowhere else (V1-COMPACT-02).
            v2::SessionUpdate::CompactionSummaryChunk(chunk)
                if self.compacting.as_ref() != Some(&chunk.compaction_id) =>
            {
                return;
            }
            v2::SessionUpdate::ToolCallContentChunk(chunk) => {
                let id = &chunk.tool_call_id;
                let known = self.history.transcript().tool_call(id);
                let stage = Stage::of_call(known);
                self.calls.follow(id, turn, stage);
            }
            _ => {}
        }
        let event = match edits.is_empty() {
            true => Event::Update(update),
            false => Event::Edited { update, edits },
        };
        self.append(event, out);
        if changes_state {
            self.refresh_state(out);
        }
    }

    /// Keeps a call from going back: a final status is final, and what runs is not pending again.
    pub(crate) fn follow_call(&mut self, turn: Option<TurnId>, update: &mut v2::ToolCallUpdate) {
        let known = self.history.transcript().tool_call(&update.tool_call_id);
        let now = Stage::of_call(known);
        let next = match &update.status {
            MaybeUndefined::Undefined => now,
            MaybeUndefined::Null => Stage::Pending,
            MaybeUndefined::Value(status) => Stage::of(status),
        };
        if next < now || now == Stage::Finished {
            update.status = MaybeUndefined::Undefined;
        }
        if next == Stage::Finished {
            withdraw(
                known.is_some_and(|known| known.capabilities.is_some()),
                &mut update.capabilities,
            );
        }
        self.calls.follow(&update.tool_call_id, turn, next.max(now));
    }

    /// Brings the open calls of `turn`, or of no turn, to a final status.
    pub(crate) fn end_calls(
        &mut self,
        turn: Option<TurnId>,
        status: v2::ToolCallStatus,
        out: &mut Vec<Action>,
    ) {
        for call in self.calls.take(turn) {
            let known = self.history.transcript().tool_call(&call.id);
            let had = known.is_some_and(|known| known.capabilities.is_some());
            let mut update = v2::ToolCallUpdate::new(call.id).status(status.clone());
            withdraw(had, &mut update.capabilities);
            self.append(
                Event::Update(v2::SessionUpdate::ToolCallUpdate(update)),
                out,
            );
        }
    }

    /// Reports the end of the terminals that `turn`, or nothing, left open. How their commands ended is not known.
    pub(crate) fn end_terminals(&mut self, turn: Option<TurnId>, out: &mut Vec<Action>) {
        let (ended, open) = std::mem::take(&mut self.terminals.0)
            .into_iter()
            .partition(|(_, of)| *of == turn);
        self.terminals.0 = open;
        let ended: Vec<(v2::TerminalId, _)> = ended;
        for (id, _) in ended {
            self.end_terminal(id, out);
        }
    }

    pub(super) fn end_terminal(&mut self, id: v2::TerminalId, out: &mut Vec<Action>) {
        let ended = ended_terminal(self.history.transcript(), id);
        self.append(Event::Update(ended), out);
    }

    pub(super) fn tell(&mut self, update: v2::SessionUpdate, out: &mut Vec<Action>) {
        self.emitted += 1;
        out.push(Action::Tell(update));
    }

    /// Returns whether a compaction has reached its final status, of which there is one (V1-COMPACT-02).
    fn has_compacted(&self, id: &v2::CompactionId) -> bool {
        if self.compacting.as_ref() == Some(id) {
            return false;
        }
        let mut entries = self.history.transcript().entries().rev();
        entries.any(|entry| match entry {
            Entry::Compaction(known) => known.id == *id && has_ended(&known.status),
            _ => false,
        })
    }

    /// Notes a compaction that begins or ends. There is one at a time: another that was left open has failed.
    fn follow_compaction(&mut self, update: &v2::CompactionUpdate, out: &mut Vec<Action>) {
        let id = update.compaction_id.clone();
        let before = match has_ended(&update.status) {
            false => self.compacting.replace(id.clone()),
            true => self.compacting.take_if(|open| *open == id),
        };
        if let Some(before) = before.filter(|before| *before != id) {
            self.end_compaction(before, v2::CompactionStatus::Failed, out);
        }
    }

    /// Brings a compaction to a final status.
    pub(crate) fn end_compaction(
        &mut self,
        id: v2::CompactionId,
        status: v2::CompactionStatus,
        out: &mut Vec<Action>,
    ) {
        let update = v2::CompactionUpdate::new(id, status);
        let update = v2::SessionUpdate::CompactionUpdate(update);
        self.append(Event::Update(update), out);
    }

    /// Returns whether a report comes after its turn, or after the session, ended.
    pub(super) fn is_late(&self, turn: Option<TurnId>) -> bool {
        self.is_closed() || turn.is_some_and(|turn| self.running() != Some(turn))
    }
}

/// Returns whether a status ends a compaction. A custom one does not.
fn has_ended(status: &v2::CompactionStatus) -> bool {
    use v2::CompactionStatus::{Cancelled, Completed, Failed};
    matches!(status, Completed | Failed | Cancelled)
}

/// Returns the update that reports the end of a terminal of which nothing else is known.
pub(super) fn ended_terminal(transcript: &Transcript, id: v2::TerminalId) -> v2::SessionUpdate {
    let known = transcript.terminal(&id);
    let had = known.is_some_and(|known| known.capabilities.is_some());
    let mut update = v2::TerminalUpdate::new(id).exit_status(v2::TerminalExitStatus::new());
    withdraw(had, &mut update.capabilities);
    v2::SessionUpdate::TerminalUpdate(update)
}

/// Takes back what a call or terminal offered, since it has ended (V2-ECANCEL-05).
pub(super) fn withdraw<T>(had: bool, capabilities: &mut MaybeUndefined<T>) {
    *capabilities = match had {
        true => MaybeUndefined::Null,
        false => MaybeUndefined::Undefined,
    };
}
