//! The promises of a session for any order of inputs; `PROPTEST_CASES` sets how many are tried.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use ply_session::engine::{Action, Engine, Input, Prompt};
use ply_session::{
    Answers, Ask, AskId, Event, History, Outcome, PromptId, Question, Reply, Settings, Stop,
    TurnId, ViewId, coalesce,
};
use ply_wire::lift::Lifter;
use ply_wire::project::{Down, Projector, Shows};
use ply_wire::transcript::{State, Transcript, what_v1_can_carry};
use ply_wire::v2;
use proptest::prelude::*;
use support::ledger::Ledger;

#[path = "session/support/mod.rs"]
mod support;

/// One input, with small numbers that meet. Turns are counted back from the one that runs: 0 is
/// that one, 1 the one before it, 2 is none.
#[derive(Debug, Clone)]
enum Op {
    Attach(u8),
    Detach(u8),
    Prompt(u8),
    Begin,
    Withdraw(u8),
    Cancel,
    CancelTurn,
    Close,
    Say(u8, bool),
    Call(u8, u8, u8),
    Ask(u8, Option<(u8, u8)>),
    Unask(u8),
    Answer(u8, u8, u8),
    End(u8, u8),
    Overdue(u8),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..3u8).prop_map(Op::Attach),
        1 => (0..3u8).prop_map(Op::Detach),
        6 => (0..3u8).prop_map(Op::Prompt),
        1 => Just(Op::Begin),
        1 => (0..4u8).prop_map(Op::Withdraw),
        2 => Just(Op::Cancel),
        1 => Just(Op::CancelTurn),
        1 => Just(Op::Close),
        4 => (0..3u8, any::<bool>()).prop_map(|(turn, thought)| Op::Say(turn, thought)),
        6 => (0..3u8, 0..3u8, 0..6u8).prop_map(|(turn, call, status)| Op::Call(turn, call, status)),
        4 => (0..3u8, proptest::option::of((0..3u8, 0..6u8))).prop_map(|(turn, about)| Op::Ask(turn, about)),
        1 => (0..3u8).prop_map(Op::Unask),
        4 => (0..3u8, 0..3u8, 0..5u8).prop_map(|(ask, view, reply)| Op::Answer(ask, view, reply)),
        5 => (0..3u8, 0..6u8).prop_map(|(turn, outcome)| Op::End(turn, outcome)),
        1 => (0..2u8).prop_map(Op::Overdue),
    ]
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    proptest::collection::vec(op(), 0..60)
}

/// An engine, its ledger, and the numbers its driver has given out.
struct Run {
    engine: Engine,
    ledger: Ledger,
    journal: Vec<Event>,
    turns: Vec<TurnId>,
    views: [u64; 3],
    numbers: u64,
    asks: u64,
}

impl Run {
    fn new() -> Self {
        let engine = Engine::new(Settings::default(), 1);
        Self {
            ledger: Ledger::new(&engine, &[]).unwrap(),
            engine,
            journal: Vec::new(),
            turns: Vec::new(),
            views: [0; 3],
            numbers: 0,
            asks: 0,
        }
    }

    fn of(ops: &[Op]) -> Result<Self, TestCaseError> {
        let mut run = Self::new();
        for op in ops {
            run.op(op)?;
        }
        Ok(run)
    }

    fn step(&mut self, input: Input) -> Result<Vec<Action>, TestCaseError> {
        let mut out = Vec::new();
        let checked = self.ledger.step(&mut self.engine, input, &mut out);
        checked.map_err(TestCaseError::fail)?;
        for action in &out {
            match action {
                Action::Append(event) => self.journal.push(event.clone()),
                Action::StartTurn(start) => self.turns.push(start.turn),
                _ => {}
            }
        }
        Ok(out)
    }

    fn op(&mut self, op: &Op) -> Result<(), TestCaseError> {
        let input = self.input(op);
        self.step(input).map(drop)
    }

    fn turn(&self, back: u8) -> Option<TurnId> {
        let count = self.turns.len();
        let at = count.checked_sub(usize::from(back) + 1);
        at.filter(|_| back < 2).map(|at| self.turns[at])
    }

    fn input(&mut self, op: &Op) -> Input {
        self.numbers += 1;
        let turn_of = |run: &Self, back: &u8| run.turn(*back).unwrap_or(TurnId(u64::MAX));
        match op {
            Op::Attach(view) => {
                // Each attachment has a number of its own.
                self.views[usize::from(*view)] = self.numbers;
                Input::Attach {
                    view: ViewId(self.numbers),
                    answers: Answers::default(),
                }
            }
            Op::Detach(view) => Input::Detach {
                view: ViewId(self.views[usize::from(*view)]),
            },
            Op::Prompt(view) => Input::Prompt(Prompt {
                id: PromptId(self.numbers),
                view: ViewId(self.views[usize::from(*view)]),
                content: vec![format!("prompt {}", self.numbers).into()],
                operation: None,
            }),
            Op::Begin => Input::Begin {
                prompt: PromptId(self.numbers),
            },
            Op::Withdraw(back) => Input::Withdraw {
                prompt: PromptId(self.numbers.saturating_sub(u64::from(*back))),
            },
            Op::Cancel => Input::Cancel,
            Op::CancelTurn => Input::CancelTurn,
            Op::Close => Input::Close,
            Op::Say(back, thought) => Input::Say {
                turn: self.turn(*back),
                thought: *thought,
                content: format!("word {} ", self.numbers).into(),
            },
            Op::Call(back, call, to) => Input::Update {
                turn: self.turn(*back),
                update: v2::SessionUpdate::ToolCallUpdate(call_update(*call, *to)),
                edits: Vec::new(),
            },
            Op::Ask(back, about) => {
                self.asks += 1;
                let yes = v2::PermissionOptionKind::AllowOnce;
                let options = vec![v2::PermissionOption::new("yes", "Yes", yes)];
                let about = about.map(|(call, to)| call_update(call, to).into());
                let request =
                    v2::RequestPermissionRequest::new("s", "Really?", options).subject(about);
                Input::Ask(Ask {
                    id: AskId(self.asks),
                    turn: self.turn(*back),
                    question: Question::Permission(Box::new(request)),
                })
            }
            Op::Unask(back) => Input::Unask {
                ask: AskId(self.asks.saturating_sub(u64::from(*back))),
            },
            Op::Answer(back, view, reply) => Input::Answer {
                by: None,
                ask: AskId(self.asks.saturating_sub(u64::from(*back))),
                view: ViewId(self.views[usize::from(*view)]),
                reply: match reply {
                    0 => Reply::Selected(v2::PermissionOptionId::new("yes")),
                    1 => Reply::Selected(v2::PermissionOptionId::new("never offered")),
                    2 => Reply::Dismissed,
                    3 => Reply::CancelTurn,
                    _ => Reply::Failed,
                },
            },
            Op::End(back, outcome) => Input::TurnEnded {
                turn: turn_of(self, back),
                outcome: match outcome {
                    0 => Outcome::Stopped(Stop::MaxTokens),
                    1 => Outcome::Stopped(Stop::Refusal),
                    2 => Outcome::Stopped(Stop::Cancelled),
                    3 => Outcome::Failed(v2::Error::internal_error()),
                    _ => Outcome::Stopped(Stop::EndTurn),
                },
            },
            Op::Overdue(back) => Input::TurnOverdue {
                turn: turn_of(self, back),
            },
        }
    }
}

fn call_update(call: u8, to: u8) -> v2::ToolCallUpdate {
    let update = v2::ToolCallUpdate::new(format!("call {call}"));
    match to {
        0 => update.status(v2::ToolCallStatus::Pending),
        1 => update.status(v2::ToolCallStatus::InProgress),
        2 => update.status(v2::ToolCallStatus::Completed),
        3 => update.status(v2::ToolCallStatus::Cancelled),
        4 => update.status(ply_wire::MaybeUndefined::Null),
        _ => update.title(format!("title {call}")),
    }
}

/// Returns what a client that was always there has folded.
fn live(journal: &[Event]) -> Transcript {
    let mut transcript = Transcript::new();
    for update in shown(journal) {
        transcript.apply(&update);
    }
    transcript
}

/// Returns what clients are shown, with what questions say of their calls.
fn shown(journal: &[Event]) -> Vec<v2::SessionUpdate> {
    let shown = journal.iter().filter_map(|event| match event {
        Event::Asked {
            question: Question::Permission(request),
            ..
        } => match &request.subject {
            Some(v2::RequestPermissionSubject::ToolCall(subject)) => {
                Some(v2::SessionUpdate::ToolCallUpdate(subject.tool_call.clone()))
            }
            _ => None,
        },
        event => event.update().cloned(),
    });
    shown.collect()
}

proptest! {
    /// The ledger checks every step: promises 1 to 4, and that acknowledgements come last.
    #[test]
    fn invariants_1_to_4_hold_for_any_inputs_and_nothing_is_left_at_the_end(ops in ops()) {
        let mut run = Run::of(&ops)?;
        run.step(Input::Close)?;
        if let Some(turn) = run.engine.running() {
            run.step(Input::TurnOverdue { turn })?;
        }
        prop_assert!(run.engine.is_closed());
        run.ledger.at_rest().map_err(TestCaseError::fail)?;
        prop_assert!(run.ledger.transcript().tool_calls().all(|call| call.is_finished()));
    }

    #[test]
    fn invariant_2_a_cancelled_turn_ends_and_a_prompt_after_it_runs(ops in ops()) {
        let mut run = Run::of(&ops)?;
        if run.engine.is_closed() {
            return Ok(());
        }
        let was_running = run.engine.running();
        run.step(Input::Cancel)?;
        let prompt = Prompt { id: PromptId(u64::MAX), view: ViewId(u64::MAX), content: vec!["next".into()], operation: None };
        let mut out = run.step(Input::Prompt(prompt))?;
        if let Some(turn) = was_running {
            out.extend(run.step(Input::TurnOverdue { turn })?);
        }
        let is_closing = run.engine.is_closed();
        let started = out.iter().any(|action| matches!(action, Action::StartTurn(start) if start.prompt == PromptId(u64::MAX)));
        prop_assert_eq!(started, !is_closing);
    }

    #[test]
    fn invariant_5_a_replay_equals_what_was_seen_live(ops in ops()) {
        let run = Run::of(&ops)?;
        let transcript = run.engine.history().transcript();
        prop_assert_eq!(&live(&run.journal), transcript);
        prop_assert_eq!(Transcript::fold(&transcript.to_updates()).normalized(), transcript.normalized());
        let joined = History::fold(&coalesce(&run.journal));
        prop_assert_eq!(joined.transcript().normalized(), transcript.normalized());
    }

    #[test]
    fn invariant_6_the_v1_view_equals_the_v2_view(ops in ops()) {
        let run = Run::of(&ops)?;
        let mut projector = Projector::new(Shows::ALL, "v/");
        let (mut lifter, mut lifted) = (Lifter::new("lifted-", ""), Vec::new());
        for update in shown(&run.journal) {
            let mut view = Vec::new();
            projector.apply(&update, &mut view);
            for down in view {
                lifter.update(down.into_update(&update).unwrap(), &mut lifted);
            }
        }
        let mut view = Vec::new();
        projector.flush(&mut view);
        for down in view {
            if let Down::Update(update) = down {
                lifter.update(update, &mut lifted);
            }
        }
        let kept = run.engine.history().transcript();
        prop_assert_eq!(what_v1_can_carry(&Transcript::fold(&lifted)), what_v1_can_carry(kept));
    }

    #[test]
    fn invariant_7_a_journal_cut_anywhere_opens_at_rest_and_stays_so(ops in ops(), cut in any::<prop::sample::Index>()) {
        let run = Run::of(&ops)?;
        let mut journal = run.journal;
        journal.truncate(cut.index(journal.len() + 1));
        let mut out = Vec::new();
        let engine = Engine::open(Settings::default(), 2, journal.clone(), &mut out);
        Ledger::new(&engine, &out).map_err(TestCaseError::fail)?;
        prop_assert_eq!(engine.history().transcript().state(), &State::Idle);
        for action in out.drain(..) {
            if let Action::Append(event) = action {
                journal.push(event);
            }
        }
        let again = Engine::open(Settings::default(), 2, journal.clone(), &mut out);
        prop_assert_eq!(out.len(), 0);
        prop_assert_eq!(again.history().transcript(), &live(&journal));
    }
}
