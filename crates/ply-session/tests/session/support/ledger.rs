//! What must hold of every step of an engine, whoever drives it.
//!
//! A [`Ledger`] stands between a driver and its engine, and keeps its own books about prompts,
//! turns, questions and tool calls. It knows the rules, not how the engine follows them.

mod asks;
mod calls;
mod prompts;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use ply_session::engine::{Action, Engine, Input};
use ply_session::{
    ASKS_OPEN_MAX, AskId, Entity, Event, PROMPTS_QUEUED_MAX, PromptId, TurnId, ViewId,
};
use ply_wire::transcript::{State, Transcript};
use ply_wire::v2;

use self::{asks::AskEntry, prompts::Stage};

/// What was broken, in words.
pub type Broken = String;

/// The books about one life of an engine.
#[derive(Debug, Default)]
pub struct Ledger {
    prompts: BTreeMap<PromptId, Stage>,
    /// Prompts that wait for their turn, first come first.
    queued: VecDeque<PromptId>,
    turn: Option<Turn>,
    last_turn: u64,
    asks: BTreeMap<AskId, AskEntry>,
    asks_seen: BTreeSet<AskId>,
    views: BTreeSet<ViewId>,
    /// Open calls and the turn they were announced in.
    calls: HashMap<v2::ToolCallId, Option<TurnId>>,
    transcript: Transcript,
    /// Whether a list of background work was told.
    lists: bool,
    closing: bool,
    closed: bool,
    /// The event just appended, while nothing came after it.
    just_appended: Option<Event>,
    /// Why the turn ended, between its idle and its settling.
    ended: Option<v2::StopReason>,
    /// Whether the answer that is being taken may end its question though it decides nothing.
    may_end: bool,
}

#[derive(Debug)]
struct Turn {
    id: TurnId,
    prompt: PromptId,
    /// Whose prompt it works on.
    prompter: Option<ViewId>,
    cancelled: bool,
}

impl Ledger {
    /// Returns the books of an engine that was just made or opened, `out` being what it wanted done
    /// then.
    ///
    /// # Errors
    ///
    /// When an opened session is not at rest.
    pub fn new(engine: &Engine, out: &[Action]) -> Result<Self, Broken> {
        let ledger = Self {
            transcript: engine.history().transcript().clone(),
            lists: engine.history().transcript().background().is_some(),
            ..Self::default()
        };
        if !out.iter().all(|action| matches!(action, Action::Append(_))) {
            return Err("opening a session does more than to append".into());
        }
        if engine.history().is_active() || engine.running().is_some() || engine.open_asks() > 0 {
            return Err("a session that was opened is at work".into());
        }
        let mut calls = engine.history().transcript().tool_calls();
        match calls.find(|call| !call.is_finished()) {
            Some(call) => Err(format!("call {} is open in a session at rest", call.id)),
            None => Ok(ledger),
        }
    }

    /// Feeds the engine one input and checks everything it wants done.
    ///
    /// # Errors
    ///
    /// When the engine breaks a rule; the actions are in `out` all the same.
    pub fn step(
        &mut self,
        engine: &mut Engine,
        input: Input,
        out: &mut Vec<Action>,
    ) -> Result<(), Broken> {
        let was_running = self.turn.as_ref().map(|turn| turn.id);
        let is_heard = self.is_heard(&input);
        self.before(&input)?;
        engine.step(input.clone(), out);
        self.just_appended = None;
        for action in &*out {
            self.action(&input, action)
                .map_err(|broken| format!("{broken}, at {action:?}"))?;
        }
        if !is_heard && !out.is_empty() {
            return Err(format!("an answer to no question had an effect: {out:?}"));
        }
        self.replied(&input);
        self.after(&input, was_running, out)?;
        self.agrees_with(engine)
    }

    /// Checks that nothing is under way, once nothing more comes.
    ///
    /// # Errors
    ///
    /// When something is.
    pub fn at_rest(&self) -> Result<(), Broken> {
        if let Some(turn) = &self.turn {
            return Err(format!("{:?} never ended", turn.id));
        }
        let mut prompts = self.prompts.iter();
        if let Some((prompt, stage)) = prompts.find(|(_, stage)| **stage != Stage::Over) {
            return Err(format!("{prompt:?} never settled, it is {stage:?}"));
        }
        match self.asks.values().find(|ask| ask.turn().is_some()) {
            Some(ask) => Err(format!("a question of {:?} was never resolved", ask.turn())),
            None => Ok(()),
        }
    }

    /// Returns the fold of everything that was appended.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    fn before(&mut self, input: &Input) -> Result<(), Broken> {
        match input {
            Input::Attach { view, .. } => {
                self.views.insert(*view);
            }
            Input::Detach { view } => {
                self.views.remove(view);
                self.asks.values_mut().for_each(|ask| ask.forget(*view));
            }
            Input::Prompt(prompt) => {
                self.arrived(prompt.id)?;
            }
            Input::Begin { prompt } => self.arrived(*prompt)?,
            Input::Close => self.closing = true,
            Input::Answer {
                ask, view, reply, ..
            } => self.may_end = self.may_end(*ask, *view, reply),
            Input::Outlive {
                turn,
                entity: Entity::ToolCall(id),
            } => {
                if let Some(of) = self.calls.get_mut(id).filter(|of| **of == Some(*turn)) {
                    *of = None;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What is listed has been announced and has not ended, and nothing is listed twice (V2-BG-03, V2-BG-04). A list that was
    /// told once is told with every state (V2-BG-02).
    fn check_background(&self, state: &v2::StateUpdate) -> Result<(), Broken> {
        // The transcript has this state already, so what was told before is kept here.
        let Some(work) = state.background() else {
            return match self.lists {
                true => Err("a state says nothing of background work any more".into()),
                false => Ok(()),
            };
        };
        let mut shown = BTreeSet::new();
        for item in work {
            let (name, is_open) = match item {
                v2::BackgroundWork::ToolCall(item) => {
                    let call = self.transcript.tool_call(&item.tool_call_id);
                    (
                        format!("call {}", item.tool_call_id),
                        call.is_some_and(|call| !call.is_finished()),
                    )
                }
                v2::BackgroundWork::Terminal(item) => {
                    let terminal = self.transcript.terminal(&item.terminal_id);
                    (
                        format!("terminal {}", item.terminal_id),
                        terminal.is_some_and(|terminal| terminal.exit_status.is_none()),
                    )
                }
                other => return Err(format!("{other:?} is in the background")),
            };
            if !is_open || !shown.insert(name.clone()) {
                return Err(format!("{name} is listed as background work"));
            }
        }
        Ok(())
    }

    fn action(&mut self, input: &Input, action: &Action) -> Result<(), Broken> {
        // Whoever asks for something then must be told no.
        let is_no = matches!(action, Action::Refuse { .. } | Action::Resolve { .. });
        if self.closed && !is_no {
            return Err("something is done after the session closed".into());
        }
        if self.ended.is_some() && !matches!(action, Action::Settle { .. }) {
            return Err("something comes between the idle of a turn and its end".into());
        }
        match action {
            Action::Append(event) => {
                self.appended(input, event)?;
                self.just_appended = Some(event.clone());
                return Ok(());
            }
            Action::Tell(update) if !matches!(update, v2::SessionUpdate::Notice(_)) => {
                return Err("an update that is part of the history is not written".into());
            }
            Action::Accept {
                prompt, message, ..
            } => self.accepted(*prompt, message)?,
            Action::Refuse {
                prompt,
                view,
                refusal,
            } => self.refused(input, *prompt, *view, *refusal)?,
            Action::StartTurn(start) => self.started(start)?,
            Action::CancelTurn { turn } => self.cancelled(input, *turn)?,
            Action::AbandonTurn { turn } => {
                let is_overdue = matches!(input, Input::TurnOverdue { turn: late } if late == turn);
                if !is_overdue {
                    return Err("a turn is abandoned that is not overdue".into());
                }
            }
            Action::Settle { prompt, stop } => self.settled(*prompt, stop)?,
            Action::Offer { ask, view } => self.offered(*ask, *view)?,
            Action::Retract { ask, view } => self.retracted(*ask, *view)?,
            Action::Resolve { ask, answer } => self.resolved(input, *ask, answer)?,
            Action::Closed => {
                if !self.queued.is_empty() || self.turn.is_some() || !self.asks.is_empty() {
                    return Err("the session closed with something under way".into());
                }
                if let Some(call) = self.calls.keys().next() {
                    return Err(format!("the session closed with call {call} open"));
                }
                self.closed = true;
            }
            _ => {}
        }
        self.just_appended = None;
        Ok(())
    }

    fn appended(&mut self, input: &Input, event: &Event) -> Result<(), Broken> {
        self.check_calls(input, event)?;
        let is_acknowledged = match event {
            Event::Answered { .. } => true,
            event => matches!(
                event.update(),
                Some(
                    v2::SessionUpdate::UserMessage(_)
                        | v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(_))
                )
            ),
        };
        if is_acknowledged && !event.is_durable() {
            return Err("what clients rely on may be lost".into());
        }
        match event {
            Event::Update(v2::SessionUpdate::StateUpdate(state)) => {
                self.check_background(state)?;
                self.lists |= state.background().is_some();
                self.state_changed(state)?;
            }
            Event::Asked {
                ask,
                turn,
                question,
            } => self.asked(*ask, *turn, question)?,
            Event::Answered { ask, answer, .. } => self.answered(*ask, answer)?,
            _ => {}
        }
        Ok(())
    }

    fn state_changed(&mut self, state: &v2::StateUpdate) -> Result<(), Broken> {
        let v2::StateUpdate::Idle(idle) = state else {
            return Ok(());
        };
        let Some(turn) = &self.turn else {
            // Said again, with another list of background work, it ends nothing.
            return match (&idle.stop_reason, &idle.background) {
                (None, Some(_)) => Ok(()),
                _ => Err("a session goes idle that had no turn".into()),
            };
        };
        if let Some((call, _)) = self.calls.iter().find(|(_, of)| **of == Some(turn.id)) {
            return Err(format!("the turn ends with call {call} open"));
        }
        if self.asks.values().any(|ask| ask.turn() == Some(turn.id)) {
            return Err("the turn ends with a question open".into());
        }
        let Some(stop) = &idle.stop_reason else {
            return Err("the turn ends without a stop reason".into());
        };
        self.ended = Some(stop.clone());
        Ok(())
    }

    fn after(
        &mut self,
        input: &Input,
        was_running: Option<TurnId>,
        out: &[Action],
    ) -> Result<(), Broken> {
        let is_running = self.turn.as_ref().map(|turn| turn.id);
        if self.ended.is_some() {
            return Err("a turn went idle and did not end".into());
        }
        if let Some(turn) = self.turn.as_ref().filter(|turn| turn.cancelled)
            && self.asks.values().any(|ask| ask.turn() == Some(turn.id))
        {
            return Err("a cancelled turn still waits for an answer".into());
        }
        if is_running.is_none() && !self.queued.is_empty() {
            return Err("a prompt waits though nothing runs".into());
        }
        let late = |turn: &Option<TurnId>| turn.is_some_and(|turn| was_running != Some(turn));
        let is_late = match input {
            Input::Update { turn, .. } | Input::Say { turn, .. } => late(turn),
            Input::TurnEnded { turn, .. } | Input::TurnOverdue { turn } => late(&Some(*turn)),
            _ => false,
        };
        if is_late && !out.is_empty() {
            return Err(format!("something of an ended turn had an effect: {out:?}"));
        }
        match input {
            Input::TurnEnded { turn, .. } if is_running == Some(*turn) => {
                Err("the agent's code ended and its turn did not".into())
            }
            Input::TurnOverdue { turn }
                if is_running == Some(*turn) && self.turn.as_ref().is_some_and(|t| t.cancelled) =>
            {
                Err("an overdue turn goes on".into())
            }
            Input::Cancel if was_running.is_none() && !out.is_empty() => {
                Err(format!("a cancel while idle had an effect: {out:?}"))
            }
            Input::Cancel | Input::Close if !self.queued.is_empty() => {
                Err("a queued prompt survived the cancel".into())
            }
            Input::Cancel | Input::CancelTurn | Input::Close
                if self.turn.as_ref().is_some_and(|t| !t.cancelled) =>
            {
                Err("the turn was not cancelled".into())
            }
            Input::Close if is_running.is_none() && !self.closed => {
                Err("an idle session did not close".into())
            }
            Input::Ask(ask) if !self.asks_seen.contains(&ask.id) => {
                Err("a question was neither asked nor resolved".into())
            }
            _ if self.closing && is_running.is_none() && !self.closed => {
                Err("the session should be closed".into())
            }
            _ => self.check_state(),
        }
    }

    /// `requires_action` means that the whole turn waits for the user, and nothing else does.
    fn check_state(&self) -> Result<(), Broken> {
        let state = self.transcript.state();
        let expected = match &self.turn {
            None => State::Idle,
            // What a cancelled turn reports until its idle is left open.
            Some(turn) if turn.cancelled => return Ok(()),
            Some(turn) if self.waits(turn.id) => State::RequiresAction,
            Some(_) => State::Running,
        };
        if *state != expected {
            return Err(format!("the state is {state:?} and should be {expected:?}"));
        }
        Ok(())
    }

    fn agrees_with(&self, engine: &Engine) -> Result<(), Broken> {
        let turn = self.turn.as_ref();
        let (queued, asks) = (engine.queued(), engine.open_asks());
        if queued > PROMPTS_QUEUED_MAX || asks > ASKS_OPEN_MAX {
            return Err(format!("{queued} prompts and {asks} questions wait"));
        }
        let agrees = queued == self.queued.len()
            && asks == self.asks.len()
            && engine.running() == turn.map(|turn| turn.id)
            && engine.is_cancelled() == turn.is_some_and(|turn| turn.cancelled)
            && engine.is_closed() == self.closed;
        match agrees {
            true => Ok(()),
            false => Err("the engine says otherwise than its actions".into()),
        }
    }
}
