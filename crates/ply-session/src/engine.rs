//! The conversation of one session: prompts, turns, questions, tool calls, and what follows from what.
//!
//! The [`Engine`] is the part of the [`Core`](crate::Core) that knows neither views nor journals. It takes one [`Input`] at a
//! time and says in order what is to be done about it.

mod action;
mod asks;
mod input;
mod open;
mod queue;
mod turn;
mod update;

use ply_wire::v2;

use self::asks::Asks;
use self::queue::Queue;
use self::turn::ActiveTurn;
use self::update::{OpenCalls, OpenTerminals, Speaking};
use crate::{
    Answers, Event, History, Level, Outcome, PromptId, QueuedPrompts, Settings, Stop, TurnId,
    ViewId,
};

pub use self::action::{Action, Refusal, Start};
pub use self::input::{Input, Prompt};
pub use self::open::Opening;
use self::queue::Held;

/// The state of a conversation and its transitions.
#[derive(Debug)]
pub struct Engine {
    settings: Settings,
    history: History,
    views: Vec<(ViewId, Answers)>,
    queue: Queue,
    turn: Option<ActiveTurn>,
    asks: Asks,
    calls: OpenCalls,
    terminals: OpenTerminals,
    speaking: Option<Speaking>,
    /// A compaction that was reported as begun and not as ended.
    compacting: Option<v2::CompactionId>,
    phase: Phase,
    /// Sets the ids of this owner of the session apart from those of earlier ones.
    epoch: u64,
    ids: u64,
    /// How many things were appended or told.
    emitted: u64,
    /// The conversation before the first thing that clients may not see yet.
    snapshot: Option<Snapshot>,
}

/// The conversation as it was at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// How many things had been appended or told.
    pub(crate) at: u64,
    pub(crate) history: History,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// The session ends as soon as its turn does.
    Closing,
    Closed,
}

impl Engine {
    /// Returns the engine of a session that has just been created.
    ///
    /// The `epoch` grows with each owner of the session and is part of the ids made here, so that no two owners make the same.
    #[must_use]
    pub fn new(settings: Settings, epoch: u64) -> Self {
        Self::with_history(settings, epoch, History::default())
    }

    fn with_history(settings: Settings, epoch: u64, history: History) -> Self {
        Self {
            settings,
            epoch,
            history,
            views: Vec::new(),
            queue: Queue::default(),
            turn: None,
            asks: Asks::default(),
            calls: OpenCalls::default(),
            terminals: OpenTerminals::default(),
            speaking: None,
            compacting: None,
            phase: Phase::Open,
            ids: 0,
            emitted: 0,
            snapshot: None,
        }
    }

    /// Takes one input and appends what the driver must do, in order.
    pub fn step(&mut self, input: Input, out: &mut Vec<Action>) {
        match input {
            Input::Say {
                turn,
                thought,
                content,
            } => self.say(turn, thought, content, out),
            Input::Update {
                turn,
                update,
                edits,
            } => self.update(turn, update, edits, out),
            Input::Attach { view, answers } => self.attach(view, answers, out),
            Input::Detach { view } => self.detach(view, out),
            Input::Prompt(prompt) => self.prompt(prompt, out),
            Input::Steer(prompt) => self.steer(prompt, out),
            Input::Begin { prompt } => self.admit(Held::own(prompt), out),
            Input::Withdraw { prompt } => {
                if let Some(held) = self.queue.remove(prompt) {
                    refuse(held, Refusal::Cancelled, out);
                }
            }
            Input::Cancel => {
                self.drop_held(out);
                self.cancel_turn(out);
            }
            Input::CancelTurn => self.cancel_turn(out),
            Input::Close => self.close(out),
            Input::Ask(ask) => self.ask(ask, out),
            Input::Unask { ask } => self.unask(ask, out),
            Input::Answer { ask, view, reply } => self.answer(ask, view, reply, out),
            Input::TurnEnded { turn, outcome } => self.turn_ended(turn, outcome, out),
            Input::TurnOverdue { turn } => self.turn_overdue(turn, out),
        }
    }

    /// Returns everything that was said.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the conversation as clients may see it while something of it is not safe yet.
    pub(crate) fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref()
    }

    /// Brings it forward by one thing that clients may see by now.
    pub(crate) fn advance_snapshot(&mut self, event: Option<&Event>) {
        let Some(snapshot) = &mut self.snapshot else {
            return;
        };
        snapshot.at += 1;
        if let Some(event) = event {
            snapshot.history.apply(event);
        }
    }

    /// Forgets it, since clients may see everything.
    pub(crate) fn drop_snapshot(&mut self) {
        self.snapshot = None;
    }

    /// Returns how the session is treated.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Counts the ids from here on for a new owner.
    pub(crate) fn set_epoch(&mut self, epoch: u64) {
        self.epoch = epoch;
    }

    /// Returns the turn that runs.
    #[must_use]
    pub fn running(&self) -> Option<TurnId> {
        self.turn.as_ref().map(|turn| turn.id)
    }

    /// Returns the prompt whose turn runs.
    #[must_use]
    pub fn running_prompt(&self) -> Option<PromptId> {
        self.turn.as_ref().map(|turn| turn.prompt)
    }

    /// Returns whether the turn that runs was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.cancelled)
    }

    /// Returns how many prompts wait for their turn.
    #[must_use]
    pub fn held(&self) -> usize {
        self.queue.len()
    }

    /// Returns whether a prompt waits for its turn.
    pub(crate) fn is_held(&self, prompt: PromptId) -> bool {
        self.queue.has(prompt)
    }

    /// Returns whether the session is neither over nor about to be.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Returns whether the session is over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// Goes back to the first `place` things that were appended or told, as the rest could not be kept. `since` are the events
    /// from the snapshot on. What goes on is given up: queued prompts, the turn, questions.
    ///
    /// What was cut off by that is ended by [`Engine::repair`], once something can be kept again.
    pub(crate) fn roll_back<'a>(
        &mut self,
        place: u64,
        since: impl IntoIterator<Item = &'a Event>,
        out: &mut Vec<Action>,
    ) {
        self.drop_held(out);
        for (ask, view) in self.asks.take_offers() {
            out.push(Action::Retract { ask, view });
        }
        self.turn = None;
        if let Some(snapshot) = self.snapshot.take() {
            self.history = snapshot.history;
            for event in since {
                self.history.apply(event);
            }
        }
        self.emitted = place;
        self.calls = OpenCalls::default();
        self.terminals = OpenTerminals::default();
        (self.speaking, self.compacting) = (None, None);
        if self.phase == Phase::Closing {
            // The turn that it waited for is gone.
            self.phase = Phase::Closed;
            self.views.clear();
            out.push(Action::Closed);
        }
    }

    /// Adds an event that turned out to be kept.
    pub(crate) fn restore(&mut self, event: &Event) {
        self.take_snapshot(event);
        self.emitted += 1;
        self.history.apply(event);
    }

    fn detach(&mut self, view: ViewId, out: &mut Vec<Action>) {
        self.views.retain(|(attached, _)| *attached != view);
        self.detach_asks(view, out);
        if self.settings.queued_prompts == QueuedPrompts::LeaveWithSender {
            for held in self.queue.remove_of(view) {
                refuse(held, Refusal::Cancelled, out);
            }
        }
    }

    fn prompt(&mut self, prompt: Prompt, out: &mut Vec<Action>) {
        let refusal = self.settings.accepts.refusal_of(&prompt.content);
        let held = Held::from(prompt);
        match refusal {
            Some(refusal) if self.phase == Phase::Open => refuse(held, refusal, out),
            _ => self.admit(held, out),
        }
    }

    /// Adds a prompt to the turn that runs; without one it is a prompt like any other.
    fn steer(&mut self, prompt: Prompt, out: &mut Vec<Action>) {
        let turn = self.turn.as_ref().filter(|turn| !turn.cancelled);
        let (Some(turn), None) = (turn, self.settings.accepts.refusal_of(&prompt.content)) else {
            return self.prompt(prompt, out);
        };
        let (turn, message) = (turn.id, v2::MessageId::new(self.fresh_id("msg")));
        let update = v2::UserMessage::new(message.clone()).content(prompt.content.clone());
        self.append(Event::Update(v2::SessionUpdate::UserMessage(update)), out);
        if let Some(turn) = &mut self.turn {
            turn.steered.push(prompt.id);
        }
        out.push(Action::Accept {
            prompt: prompt.id,
            view: prompt.view,
            message: message.clone(),
        });
        out.push(Action::Steer {
            turn,
            message,
            content: prompt.content,
        });
    }

    fn admit(&mut self, held: Held, out: &mut Vec<Action>) {
        if self.phase != Phase::Open {
            return refuse(held, Refusal::Closed, out);
        }
        if let Err(held) = self.queue.push(held) {
            return refuse(held, Refusal::QueueFull, out);
        }
        self.start_next(out);
    }

    /// Inserts the prompt that waits longest, if nothing runs.
    fn start_next(&mut self, out: &mut Vec<Action>) {
        if self.turn.is_some() || self.phase != Phase::Open {
            return;
        }
        let Some(held) = self.queue.pop() else {
            return;
        };
        let (view, mut message) = (held.view, None);
        if let Some(view) = view {
            let id = v2::MessageId::new(self.fresh_id("msg"));
            let update = v2::UserMessage::new(id.clone()).content(held.content.clone());
            self.append(Event::Update(v2::SessionUpdate::UserMessage(update)), out);
            out.push(Action::Accept {
                prompt: held.prompt,
                view,
                message: id.clone(),
            });
            message = Some(id);
        }
        self.ids += 1;
        let turn = TurnId(self.ids);
        self.turn = Some(ActiveTurn::new(turn, held.prompt));
        self.set_state(v2::StateUpdate::Running(v2::RunningStateUpdate::new()), out);
        out.push(Action::StartTurn(Start {
            turn,
            prompt: held.prompt,
            view,
            message,
            content: held.content,
        }));
    }

    fn drop_held(&mut self, out: &mut Vec<Action>) {
        for held in self.queue.drain() {
            refuse(held, Refusal::Cancelled, out);
        }
    }

    fn cancel_turn(&mut self, out: &mut Vec<Action>) {
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.cancelled) else {
            return;
        };
        turn.cancelled = true;
        let turn = turn.id;
        // First, so that code which hears that its question is cancelled can see why.
        out.push(Action::CancelTurn { turn });
        self.cancel_asks(Some(turn), out);
    }

    fn close(&mut self, out: &mut Vec<Action>) {
        if self.phase != Phase::Open {
            return;
        }
        self.phase = Phase::Closing;
        self.drop_held(out);
        if self.turn.is_some() {
            self.cancel_turn(out);
        } else {
            self.finish_close(out);
        }
    }

    fn finish_close(&mut self, out: &mut Vec<Action>) {
        self.cancel_asks(None, out);
        self.end_calls(None, v2::ToolCallStatus::Cancelled, out);
        let terminals = self.history.transcript().open_terminals();
        let terminals: Vec<_> = terminals.cloned().collect();
        for id in terminals {
            self.end_terminal(id, out);
        }
        self.phase = Phase::Closed;
        self.views.clear();
        out.push(Action::Closed);
    }

    fn turn_ended(&mut self, turn: TurnId, outcome: Outcome, out: &mut Vec<Action>) {
        if self.running() != Some(turn) {
            return;
        }
        let stop = match outcome {
            // Whatever aborting led to, the user's cancel is what happened (V1-STOP-07).
            _ if self.is_cancelled() => v2::StopReason::Cancelled,
            Outcome::Stopped(stop) => stop.into(),
            Outcome::Failed(error) => {
                v2::StopReason::Error(v2::ErrorStopReason::new().error(error))
            }
        };
        self.end_turn(stop, out);
    }

    fn turn_overdue(&mut self, turn: TurnId, out: &mut Vec<Action>) {
        if self.running() == Some(turn) && self.is_cancelled() {
            out.push(Action::AbandonTurn { turn });
            self.end_turn(Stop::Cancelled.into(), out);
        }
    }

    fn end_turn(&mut self, stop: v2::StopReason, out: &mut Vec<Action>) {
        let Some(turn) = self.turn.take() else {
            return;
        };
        let status = match stop {
            v2::StopReason::Cancelled => v2::ToolCallStatus::Cancelled,
            _ => v2::ToolCallStatus::Failed,
        };
        self.cancel_asks(Some(turn.id), out);
        self.end_calls(Some(turn.id), status, out);
        // After a turn that came to its own end a command may go on in the background.
        if matches!(stop, v2::StopReason::Cancelled | v2::StopReason::Error(_)) {
            self.end_terminals(Some(turn.id), out);
        } else {
            self.terminals.outlive(turn.id);
        }
        let status = match stop {
            v2::StopReason::Cancelled => v2::CompactionStatus::Cancelled,
            _ => v2::CompactionStatus::Failed,
        };
        if let Some(id) = self.compacting.take() {
            self.end_compaction(id, status, out);
        }
        self.speaking = None;
        let idle = v2::IdleStateUpdate::new().stop_reason(stop.clone());
        self.set_state(v2::StateUpdate::Idle(idle), out);
        for prompt in turn.steered {
            let stop = stop.clone();
            out.push(Action::Settle { prompt, stop });
        }
        out.push(Action::Settle {
            prompt: turn.prompt,
            stop,
        });
        match self.phase {
            Phase::Closing => self.finish_close(out),
            Phase::Open | Phase::Closed => self.start_next(out),
        }
    }

    fn set_state(&mut self, state: v2::StateUpdate, out: &mut Vec<Action>) {
        self.append(Event::Update(v2::SessionUpdate::StateUpdate(state)), out);
    }

    /// Keeps the conversation before the first thing that clients may not see yet.
    fn take_snapshot(&mut self, event: &Event) {
        if self.snapshot.is_none() && event.level(&self.settings) > Level::Accepted {
            self.snapshot = Some(Snapshot {
                at: self.emitted,
                history: self.history.clone(),
            });
        }
    }

    /// Adds an event that is not part of the conversation.
    pub(crate) fn note(&mut self, event: Event, out: &mut Vec<Action>) {
        self.append(event, out);
    }

    /// Adds an event to the session: folded here, written and shown by the driver.
    fn append(&mut self, event: Event, out: &mut Vec<Action>) {
        self.take_snapshot(&event);
        self.emitted += 1;
        let change = self.history.apply(&event);
        if matches!(change, ply_wire::transcript::Change::Added(_)) {
            // What is said next comes after this, so it is another message.
            self.speaking = None;
        }
        out.push(Action::Append(event));
    }

    fn fresh_id(&mut self, what: &str) -> String {
        self.ids += 1;
        format!("{what}-e{}-{}", self.epoch, self.ids)
    }

    /// Returns what the ids of things of `turn` begin with, so that no other thing of the session
    /// has them.
    #[must_use]
    pub fn id_prefix(&self, turn: TurnId) -> String {
        format!("e{}-{}", self.epoch, turn.0)
    }
}

fn refuse(held: Held, refusal: Refusal, out: &mut Vec<Action>) {
    let (prompt, view): (PromptId, _) = (held.prompt, held.view);
    out.push(Action::Refuse {
        prompt,
        view,
        refusal,
    });
}
