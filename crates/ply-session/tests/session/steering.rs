//! Prompts for the turn that runs, and what a session's host can have done otherwise.
use crate::support::{accepted, offers, refused, resolved, settled, started, updates};
use ply_session::engine::{Action, Engine, Input, Prompt};
use ply_session::{
    Answers, Ask, AskId, Outcome, PROMPTS_QUEUED_BYTES_MAX, PromptId, Questions, QueuedPrompts,
    Refusal, Settings, Stop, TurnId, ViewId,
};
use ply_wire::v2;

/// An engine without the ledger, whose rules are those of the default settings.
struct Session(Engine);

impl Session {
    fn running(settings: Settings) -> (Self, TurnId) {
        let mut session = Self(Engine::new(settings, 1));
        session.attach(1);
        let out = session.step(Input::Prompt(prompt(1, "one")));
        (session, started(&out).unwrap())
    }

    fn step(&mut self, input: Input) -> Vec<Action> {
        let mut out = Vec::new();
        self.0.step(input, &mut out);
        out
    }

    fn attach(&mut self, view: u64) -> Vec<Action> {
        let (view, answers) = (ViewId(view), crate::support::ALL_ANSWERS);
        self.step(Input::Attach { view, answers })
    }

    fn end(&mut self, turn: TurnId) -> Vec<Action> {
        let outcome = Outcome::Stopped(Stop::EndTurn);
        self.step(Input::TurnEnded { turn, outcome })
    }
}

fn prompt(id: u64, text: &str) -> Prompt {
    Prompt {
        id: PromptId(id),
        view: ViewId(1),
        content: vec![text.to_owned().into()],
        operation: None,
    }
}

#[test]
fn a_steering_prompt_joins_the_turn_and_ends_with_it() {
    let (mut session, turn) = Session::running(Settings::default());
    let out = session.step(Input::Steer(prompt(2, "rather so")));
    let (id, message) = accepted(&out).unwrap();
    assert_eq!(id, 2);
    assert!(
        matches!(&updates(&out)[..], [v2::SessionUpdate::UserMessage(m)] if m.message_id == message)
    );
    let content = vec!["rather so".into()];
    let steer = Action::Steer {
        prompt: PromptId(2),
        turn,
        message,
        content,
    };
    assert_eq!(out.last(), Some(&steer));
    let out = session.end(turn);
    let ended = v2::StopReason::EndTurn;
    assert_eq!(settled(&out), [(2, ended.clone()), (1, ended)]);
    assert_eq!(session.0.queued(), 0);
}

#[test]
fn a_steering_prompt_without_a_turn_is_a_prompt() {
    let (mut session, turn) = Session::running(Settings::default());
    session.end(turn);
    let out = session.step(Input::Steer(prompt(2, "two")));
    let turn = started(&out).unwrap();
    session.step(Input::CancelTurn);
    let out = session.step(Input::Steer(prompt(3, "three")));
    assert_eq!(out, [], "it waits, as the turn is cancelled");
    assert!(started(&session.end(turn)).is_some());
}

#[test]
fn a_steering_prompt_that_is_not_taken_is_refused() {
    let (mut session, turn) = Session::running(Settings::default());
    let mut empty = prompt(2, "");
    empty.content.clear();
    let out = session.step(Input::Steer(empty));
    assert_eq!(refused(&out), [(2, Refusal::Empty)]);
    assert_eq!(out.len(), 1);
    assert_eq!(settled(&session.end(turn)).len(), 1);
}

#[test]
fn c9_queued_prompts_are_bounded_by_bytes() {
    let (mut session, turn) = Session::running(Settings::default());
    let large = "x".repeat(PROMPTS_QUEUED_BYTES_MAX);
    let out = session.step(Input::Prompt(prompt(2, &large)));
    assert_eq!(out, [], "one alone may be as large as a message");
    let out = session.step(Input::Prompt(prompt(3, "y")));
    assert_eq!(refused(&out), [(3, Refusal::QueueFull)]);
    session.end(turn);
    let out = session.step(Input::Prompt(prompt(4, "y")));
    assert_eq!(out, [], "there is room again");
}

#[test]
fn queued_prompts_stay_without_their_sender_where_the_host_wants_so() {
    let mut settings = Settings::default();
    settings.queued_prompts = QueuedPrompts::Stay;
    let (mut session, turn) = Session::running(settings);
    session.step(Input::Prompt(prompt(2, "two")));
    let out = session.step(Input::Detach { view: ViewId(1) });
    assert_eq!(out, []);
    assert!(started(&session.end(turn)).is_some());
}

#[test]
fn all_questions_wait_for_the_next_client_where_the_host_wants_so() {
    let mut settings = Settings::default();
    settings.questions = Questions::Wait;
    let (mut session, turn) = Session::running(settings);
    let (id, turn, question) = (AskId(1), Some(turn), crate::support::form());
    session.step(Input::Ask(Ask { id, turn, question }));
    let out = session.step(Input::Detach { view: ViewId(1) });
    assert_eq!(resolved(&out), []);
    let (view, answers) = (ViewId(2), Answers::default());
    let out = session.step(Input::Attach { view, answers });
    assert_eq!(offers(&out), [], "it cannot ask this");
    assert_eq!(offers(&session.attach(3)), [(id, 3)]);
}
