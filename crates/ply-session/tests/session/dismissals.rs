//! Who may end a question for everybody, and who only for itself.
use crate::support::{Session, offers, permission, resolved, retracts, yes};
use ply_session::engine::{Action, Input, Prompt};
use ply_session::{Answer, Ask, AskId, PromptId, Question, Reply, TurnId, ViewId};
use ply_wire::v2;

fn selected(option: &str) -> Reply {
    Reply::Selected(v2::PermissionOptionId::new(option.to_owned()))
}

#[test]
fn an_idle_client_that_dismisses_a_question_ends_neither_it_nor_the_turn() {
    for reply in [Reply::Dismissed, Reply::CancelTurn] {
        let (mut session, turn) = Session::running();
        session.attach(2);
        let ask = session.ask(Some(turn), None);
        assert_eq!(session.answer(ask, 2, reply), [], "only its copy is gone");
        assert!(!session.engine.is_cancelled());
        assert_eq!(session.answer(ask, 2, yes()), [], "it has answered");
        let out = session.answer(ask, 1, yes());
        let yes = v2::PermissionOptionId::new("yes");
        assert_eq!(resolved(&out), [(ask, Answer::Selected(yes))]);
        assert_eq!(retracts(&out), [], "nobody else has it");
    }
}

#[test]
fn whoever_prompted_dismisses_a_question_for_everybody() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    let ask = session.ask(Some(turn), None);
    let out = session.answer(ask, 1, Reply::Dismissed);
    assert_eq!(resolved(&out), [(ask, Answer::Cancelled)]);
    assert_eq!(retracts(&out), [(ask, 2)]);
    let ask = session.ask(Some(turn), None);
    let out = session.answer(ask, 1, Reply::CancelTurn);
    assert!(out.contains(&Action::CancelTurn { turn }));
    assert_eq!(retracts(&out), [(ask, 2)]);
}

#[test]
fn once_whoever_prompted_is_gone_anybody_dismisses_a_question() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    session.attach(3);
    session.detach(1);
    let ask = session.ask(Some(turn), None);
    let out = session.answer(ask, 2, Reply::Dismissed);
    assert_eq!(resolved(&out), [(ask, Answer::Cancelled)]);
    assert_eq!(retracts(&out), [(ask, 3)]);
}

#[test]
fn a_question_that_everybody_dismissed_is_cancelled() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    let ask = session.ask(Some(turn), None);
    assert_eq!(session.answer(ask, 2, Reply::Dismissed), []);
    let out = session.answer(ask, 1, Reply::Failed);
    assert_eq!(resolved(&out), [(ask, Answer::Cancelled)]);
    let ask = session.ask(Some(turn), None);
    assert_eq!(session.answer(ask, 2, Reply::Dismissed), []);
    let out = session.detach(1);
    assert_eq!(resolved(&out), [(ask, Answer::Cancelled)]);
}

#[test]
fn a_client_that_steers_a_turn_prompts_it_too() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    session.attach(3);
    let mut out = Vec::new();
    // Not by way of the books, which know no steering.
    let prompt = Prompt {
        id: PromptId(2),
        view: ViewId(2),
        content: vec!["and this".into()],
        operation: None,
    };
    session.engine.step(Input::Steer(prompt), &mut out);
    let ask = AskId(1);
    let turn = Some(turn);
    let question = permission(None);
    let asked = Input::Ask(Ask {
        id: ask,
        turn,
        question,
    });
    session.engine.step(asked, &mut out);
    out.clear();
    let reply = |view, reply| Input::Answer {
        ask,
        view: ViewId(view),
        by: None,
        reply,
    };
    session.engine.step(reply(3, Reply::Dismissed), &mut out);
    assert_eq!(out, []);
    session.engine.step(reply(2, Reply::Dismissed), &mut out);
    assert_eq!(resolved(&out), [(ask, Answer::Cancelled)]);
}

#[test]
fn an_option_never_offered_leaves_the_question_to_the_others() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    let ask = session.ask(Some(turn), None);
    assert_eq!(session.answer(ask, 2, selected("maybe")), []);
    let out = session.answer(ask, 1, selected("no"));
    assert_eq!(resolved(&out).len(), 1);
}

#[test]
fn v1_cancel_03_a_cancel_ends_every_copy_of_every_question() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    let (one, two) = (session.ask(Some(turn), None), session.ask(Some(turn), None));
    assert_eq!(session.answer(one, 2, Reply::Dismissed), []);
    let out = session.cancel();
    let cancelled = |ask| (ask, Answer::Cancelled);
    assert_eq!(resolved(&out), [cancelled(one), cancelled(two)]);
    assert_eq!(retracts(&out), [(one, 1), (two, 1), (two, 2)]);
}

fn ask_to_visit(session: &mut Session, id: u64, turn: Option<TurnId>) -> Vec<Action> {
    let scope = v2::ElicitationSessionScope::new("s");
    let mode = v2::ElicitationUrlMode::new(scope, "e", "https://example.com");
    let request = v2::CreateElicitationRequest::new(mode, "Log in");
    session.step(Input::Ask(Ask {
        id: AskId(id),
        turn,
        question: Question::Elicitation(Box::new(request)),
    }))
}

// Also: V1-ELIC-24.
#[test]
fn v1_elic_23_an_address_to_visit_goes_only_to_whoever_prompted() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    let out = ask_to_visit(&mut session, 9, Some(turn));
    assert_eq!(offers(&out), [(AskId(9), 1)]);
    assert_eq!(offers(&session.attach(3)), [], "nor to a later client");
    let accept = v2::ElicitationAction::Accept(v2::ElicitationAcceptAction::new());
    let accept = Reply::Elicited(accept);
    assert_eq!(session.answer(AskId(9), 2, accept), [], "it was not asked");
    let out = session.detach(1);
    assert_eq!(resolved(&out), [(AskId(9), Answer::Unanswered)]);
    let out = ask_to_visit(&mut session, 10, Some(turn));
    assert_eq!(resolved(&out), [(AskId(10), Answer::Unanswered)]);
}

#[test]
fn v1_elic_23_an_address_of_background_work_goes_to_the_only_client_or_nobody() {
    let mut session = Session::attached();
    let out = ask_to_visit(&mut session, 9, None);
    assert_eq!(offers(&out), [(AskId(9), 1)]);
    assert_eq!(offers(&session.attach(2)), []);
    let out = ask_to_visit(&mut session, 10, None);
    assert_eq!(resolved(&out), [(AskId(10), Answer::Unanswered)]);
}
