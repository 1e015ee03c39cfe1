//! The state of one session and its transitions.

use ply_wire::v2;

use crate::asks::Asks;
use crate::queue::{Held, Queue};
use crate::turn::ActiveTurn;
use crate::update::{OpenCalls, Speaking};
use crate::{
    Action, Answers, Event, History, Input, Outcome, Prompt, PromptId, Refusal, Settings, Start,
    Stop, TurnId, ViewId,
};

/// The engine of one session.
#[derive(Debug)]
pub struct Engine {
    settings: Settings,
    pub(crate) history: History,
    pub(crate) views: Vec<(ViewId, Answers)>,
    queue: Queue,
    pub(crate) turn: Option<ActiveTurn>,
    pub(crate) asks: Asks,
    pub(crate) calls: OpenCalls,
    pub(crate) speaking: Option<Speaking>,
    /// A compaction that was reported as begun and not as ended.
    pub(crate) compacting: Option<v2::CompactionId>,
    phase: Phase,
    /// Sets the ids of this life of the session apart from those of earlier ones.
    life: u64,
    ids: u64,
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
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self::with_history(settings, History::default())
    }

    pub(crate) fn with_history(settings: Settings, history: History) -> Self {
        Self {
            settings,
            life: history.next_life(),
            history,
            views: Vec::new(),
            queue: Queue::default(),
            turn: None,
            asks: Asks::default(),
            calls: OpenCalls::default(),
            speaking: None,
            compacting: None,
            phase: Phase::Open,
            ids: 0,
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
        for held in self.queue.remove_of(view) {
            refuse(held, Refusal::Cancelled, out);
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

    pub(crate) fn cancel_turn(&mut self, out: &mut Vec<Action>) {
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
        out.push(Action::Settle {
            prompt: turn.prompt,
            stop,
        });
        match self.phase {
            Phase::Closing => self.finish_close(out),
            Phase::Open | Phase::Closed => self.start_next(out),
        }
    }

    pub(crate) fn set_state(&mut self, state: v2::StateUpdate, out: &mut Vec<Action>) {
        self.append(Event::Update(v2::SessionUpdate::StateUpdate(state)), out);
    }

    /// Adds an event to the session: folded here, written and shown by the driver.
    pub(crate) fn append(&mut self, event: Event, out: &mut Vec<Action>) {
        let change = self.history.apply(&event);
        if matches!(change, ply_wire::transcript::Change::Added(_)) {
            // What is said next comes after this, so it is another message.
            self.speaking = None;
        }
        out.push(Action::Append(event));
    }

    pub(crate) fn fresh_id(&mut self, what: &str) -> String {
        self.ids += 1;
        format!("{what}-{}-{}", self.life, self.ids)
    }

    /// Returns what the ids of things of `turn` begin with, so that no other thing of the session
    /// has them.
    #[must_use]
    pub fn id_prefix(&self, turn: TurnId) -> String {
        format!("{}-{}", self.life, turn.0)
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
