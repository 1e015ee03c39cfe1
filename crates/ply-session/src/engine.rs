//! The conversation of one session: prompts, turns, questions, tool calls, and what follows from what.
//!
//! The [`Engine`] is the part of the [`Core`](crate::Core) that knows neither views nor journals. It takes one [`Input`] at a
//! time and says in order what is to be done about it.

mod action;
mod asks;
mod background;
mod held;
mod input;
mod open;
mod question;
mod queue;
mod snapshot;
mod turn;
mod update;

use ply_wire::v2;

use self::asks::Asks;
use self::queue::Queue;
use self::snapshot::Snapshot;
use self::turn::ActiveTurn;
use self::update::{OpenCalls, OpenTerminals, Speaking};
use crate::{Answers, Event, History, PromptId, QueuedPrompts, Settings, TurnId, ViewId};

pub use self::action::{Action, Refusal, Start};
pub use self::input::{Input, Prompt};
pub use self::open::Opening;
use self::queue::Queued;

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
            } => {
                let before = self.emitted;
                self.update(turn, update, edits, out);
                self.refresh_background_since(before, out);
            }
            Input::Outlive { turn, entity } => self.outlive(turn, &entity, out),
            Input::Attach { view, answers } => self.attach(view, answers, out),
            Input::Detach { view } => self.detach(view, out),
            Input::Prompt(prompt) => self.prompt(prompt, out),
            Input::Steer(prompt) => self.steer(prompt, out),
            Input::Begin { prompt } => self.admit(Queued::own(prompt), out),
            Input::Withdraw { prompt } => {
                if let Some(queued) = self.queue.remove(prompt) {
                    self.leave_queue(&queued, out);
                    refuse(queued, Refusal::Cancelled, out);
                }
            }
            Input::Cancel => {
                self.drop_queued(out);
                self.cancel_turn(out);
            }
            Input::CancelTurn => self.cancel_turn(out),
            Input::Close => self.close(out),
            Input::Ask(ask) => {
                let before = self.emitted;
                self.ask(ask, out);
                // It may be about a call that nobody knew.
                self.refresh_background_since(before, out);
            }
            Input::Unask { ask } => self.unask(ask, out),
            Input::Answer {
                ask,
                view,
                by,
                reply,
            } => self.answer(ask, view, by.as_deref(), reply, out),
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

    /// Returns whether the turn that runs works on a prompt: its own, or one that steers it.
    pub(crate) fn works_on(&self, prompt: PromptId) -> bool {
        let turn = self.turn.as_ref();
        turn.is_some_and(|turn| turn.prompt == prompt || turn.steered.contains(&prompt))
    }

    /// Returns whether the turn that runs was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.cancelled)
    }

    /// Returns how many prompts wait for their turn.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Returns whether a prompt waits for its turn.
    pub(crate) fn is_queued(&self, prompt: PromptId) -> bool {
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

    fn detach(&mut self, view: ViewId, out: &mut Vec<Action>) {
        self.views.retain(|(attached, _)| *attached != view);
        self.detach_asks(view, out);
        if self.settings.queued_prompts == QueuedPrompts::LeaveWithSender {
            for queued in self.queue.remove_of(view) {
                refuse(queued, Refusal::Cancelled, out);
            }
        }
    }

    fn prompt(&mut self, prompt: Prompt, out: &mut Vec<Action>) {
        let refusal = self.settings.accepts.refusal_of(&prompt.content);
        let queued = Queued::from(prompt);
        match refusal {
            Some(refusal) if self.phase == Phase::Open => refuse(queued, refusal, out),
            _ => self.admit(queued, out),
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
            turn.prompters.push(prompt.view);
        }
        out.push(Action::Accept {
            prompt: prompt.id,
            view: prompt.view,
            message: message.clone(),
        });
        out.push(Action::Steer {
            prompt: prompt.id,
            turn,
            message,
            content: prompt.content,
        });
    }

    fn admit(&mut self, queued: Queued, out: &mut Vec<Action>) {
        if self.phase != Phase::Open {
            return refuse(queued, Refusal::Closed, out);
        }
        if self.turn.is_none() && self.history.is_paused() {
            // Whoever sends it is there; those that wait go on waiting.
            return self.begin(queued, out);
        }
        if let Err(queued) = self.queue.push(queued) {
            return refuse(queued, Refusal::QueueFull, out);
        }
        if self.turn.is_some() {
            return self.keep_last(out);
        }
        self.start_next(out);
    }

    fn drop_queued(&mut self, out: &mut Vec<Action>) {
        for queued in self.queue.drain() {
            self.leave_queue(&queued, out);
            refuse(queued, Refusal::Cancelled, out);
        }
    }

    /// Gives up what waits here. What the journal has of it is for the next owner of the session.
    fn give_up_queue(&mut self, out: &mut Vec<Action>) {
        for queued in self.queue.drain() {
            refuse(queued, Refusal::Cancelled, out);
        }
    }

    fn close(&mut self, out: &mut Vec<Action>) {
        if self.phase != Phase::Open {
            return;
        }
        self.phase = Phase::Closing;
        self.give_up_queue(out);
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
        self.terminals = OpenTerminals::default();
        self.refresh_background(out);
        self.phase = Phase::Closed;
        self.views.clear();
        out.push(Action::Closed);
    }

    fn set_state(&mut self, state: v2::StateUpdate, out: &mut Vec<Action>) {
        let state = self.with_background(state);
        self.append(Event::Update(v2::SessionUpdate::StateUpdate(state)), out);
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
        format!("{what}-{}-{}", self.owner(), self.ids)
    }

    /// Returns what sets the ids made here apart from those of other owners of the session, and of those of the sessions that it
    /// was forked from: their epochs may be the same.
    fn owner(&self) -> String {
        match self.history.forks() {
            0 => format!("e{}", self.epoch),
            forks => format!("f{forks}e{}", self.epoch),
        }
    }

    /// Returns what the ids of things of `turn` begin with, so that no other thing of the session
    /// has them.
    #[must_use]
    pub fn id_prefix(&self, turn: TurnId) -> String {
        format!("{}-{}", self.owner(), turn.0)
    }
}

fn refuse(queued: Queued, refusal: Refusal, out: &mut Vec<Action>) {
    let (prompt, view): (PromptId, _) = (queued.prompt, queued.view);
    out.push(Action::Refuse {
        prompt,
        view,
        refusal,
    });
}
