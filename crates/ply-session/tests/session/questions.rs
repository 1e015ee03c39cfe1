//! Questions to the user: offered to all who can ask them, answered once, never lost.
use crate::support::{
    Session, form, offers, permission, resolved, retracts, settled, started, states, yes,
};
use ply_session::engine::{Action, Input};
use ply_session::{ASKS_OPEN_MAX, Answer, Answers, Ask, AskId, Question, Reply, ViewId};
use ply_wire::v2;

fn selected(option: &str) -> Reply {
    Reply::Selected(v2::PermissionOptionId::new(option.to_owned()))
}

// Also: V2-PERM-12.
#[test]
fn d14_the_first_answer_wins_and_the_others_are_told() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    session.attach(3);
    let ask = session.ask(Some(turn), None);
    let out = session.answer(ask, 2, selected("no"));
    let no = v2::PermissionOptionId::new("no");
    assert_eq!(resolved(&out), [(ask, Answer::Selected(no))]);
    assert_eq!(retracts(&out), [(ask, 1), (ask, 3)]);
    assert_eq!(session.answer(ask, 1, yes()), [], "too late");
    assert_eq!(session.answer(ask, 2, yes()), [], "twice");
}

// Also: V1-PERM-06, V1-PERM-09, V2-PERM-07.
#[test]
fn d15_an_option_that_was_never_offered_approves_nothing() {
    let (mut session, turn) = Session::running();
    let ask = session.ask(Some(turn), None);
    let out = session.answer(ask, 1, selected("maybe"));
    assert_eq!(resolved(&out), [(ask, Answer::Unanswered)]);
}

// Also: V2-PERM-08, V2-ELIC-04.
#[test]
fn what_a_reply_comes_to() {
    #[track_caller]
    fn check(question: Question, reply: Reply, expected: Answer) {
        let (mut session, turn) = Session::running();
        let ask = AskId(7);
        session.step(Input::Ask(Ask {
            id: ask,
            turn: Some(turn),
            question,
        }));
        assert_eq!(resolved(&session.answer(ask, 1, reply)), [(ask, expected)]);
    }
    let asked = || permission(None);
    check(asked(), Reply::Dismissed, Answer::Cancelled);
    check(asked(), Reply::CancelTurn, Answer::Cancelled);
    check(asked(), Reply::Failed, Answer::Unanswered);
    let decline = v2::ElicitationAction::Decline;
    check(
        asked(),
        Reply::Elicited(decline.clone()),
        Answer::Unanswered,
    );
    check(
        form(),
        Reply::Elicited(decline.clone()),
        Answer::Elicited(decline),
    );
    let accept = v2::ElicitationAction::Accept(v2::ElicitationAcceptAction::new());
    check(
        form(),
        Reply::Elicited(accept.clone()),
        Answer::Elicited(accept),
    );
    let cancel = v2::ElicitationAction::Cancel;
    check(form(), Reply::Elicited(cancel), Answer::Cancelled);
    let odd = v2::OtherElicitationAction::new("_odd", Default::default());
    let odd = v2::ElicitationAction::Other(odd);
    check(form(), Reply::Elicited(odd), Answer::Cancelled);
    check(form(), yes(), Answer::Unanswered);
    check(form(), Reply::Dismissed, Answer::Cancelled);
}

#[test]
fn v1_cancel_12_a_cancelled_outcome_of_version_1_cancels_the_turn() {
    let (mut session, turn) = Session::running();
    let (ask, other) = (session.ask(Some(turn), None), session.ask(Some(turn), None));
    let out = session.answer(ask, 1, Reply::CancelTurn);
    assert_eq!(
        resolved(&out),
        [(ask, Answer::Cancelled), (other, Answer::Cancelled)]
    );
    assert!(out.contains(&Action::CancelTurn { turn }));
    let out = session.end(turn);
    assert_eq!(settled(&out), [(1, v2::StopReason::Cancelled)]);
}

#[test]
fn dismissing_a_question_of_background_work_cancels_no_turn() {
    let (mut session, _) = Session::running();
    let ask = session.ask(None, None);
    let out = session.answer(ask, 1, Reply::CancelTurn);
    assert_eq!(resolved(&out), [(ask, Answer::Cancelled)]);
    assert!(!session.engine.is_cancelled());
}

#[test]
fn a_client_that_cannot_answer_leaves_the_question_to_the_others() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    let ask = session.ask(Some(turn), None);
    assert_eq!(session.answer(ask, 1, Reply::Failed), []);
    assert_eq!(session.answer(ask, 1, yes()), [], "it has answered");
    let out = session.answer(ask, 2, Reply::Failed);
    assert_eq!(resolved(&out), [(ask, Answer::Unanswered)]);
}

// Also: D12.
#[test]
fn d13_a_permission_left_open_is_offered_to_the_next_client() {
    let (mut session, turn) = Session::running();
    let ask = session.ask(Some(turn), None);
    assert_eq!(session.detach(1), []);
    assert_eq!(session.answer(ask, 1, yes()), [], "it has left");
    assert!(session.engine.question(ask).is_some());
    assert_eq!(offers(&session.attach(2)), [(ask, 2)]);
    let yes_option = v2::PermissionOptionId::new("yes");
    let out = session.answer(ask, 2, yes());
    assert_eq!(resolved(&out), [(ask, Answer::Selected(yes_option))]);
}

#[test]
fn a_question_that_one_client_failed_and_the_other_left_is_unanswered() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    let ask = session.ask(Some(turn), None);
    assert_eq!(session.answer(ask, 1, Reply::Failed), []);
    let out = session.detach(2);
    assert_eq!(resolved(&out), [(ask, Answer::Unanswered)]);
    assert_eq!(states(&out), ["running"], "it waits for nobody any more");
    assert_eq!(offers(&session.attach(3)), [], "it is over");
}

#[test]
fn an_elicitation_whose_only_capable_client_left_is_unanswered() {
    let (mut session, turn) = Session::running();
    session.step(Input::Attach {
        view: ViewId(2),
        answers: Answers::default(),
    });
    let ask = AskId(9);
    let out = session.step(Input::Ask(Ask {
        id: ask,
        turn: Some(turn),
        question: form(),
    }));
    assert_eq!(offers(&out), [(ask, 1)]);
    assert_eq!(session.detach(2), [], "it was not asked");
    let out = session.detach(1);
    assert_eq!(resolved(&out), [(ask, Answer::Unanswered)]);
    assert_eq!(states(&out), ["running"]);
}

#[test]
fn a_permission_whose_clients_all_left_waits_for_the_next_one() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    let ask = session.ask(Some(turn), None);
    assert_eq!(session.detach(1), []);
    assert_eq!(session.detach(2), []);
    assert_eq!(offers(&session.attach(3)), [(ask, 3)]);
    let yes_option = v2::PermissionOptionId::new("yes");
    let out = session.answer(ask, 3, yes());
    assert_eq!(resolved(&out), [(ask, Answer::Selected(yes_option))]);
}

#[test]
fn d16_fifty_questions_at_once_are_answered_in_any_order() {
    // 7 and 50 have no common factor, so every question comes once.
    let (mut session, turn) = Session::running();
    let asks: Vec<AskId> = (0..50).map(|_| session.ask(Some(turn), None)).collect();
    assert_eq!(session.engine.open_asks(), 50);
    for step in 0..50 {
        let ask = asks[step * 7 % 50];
        let reply = if step % 2 == 0 { yes() } else { selected("no") };
        let out = session.answer(ask, 1, reply);
        assert_eq!(resolved(&out).len(), 1);
        assert_eq!(resolved(&out)[0].0, ask);
        let last = step == 49;
        assert_eq!(!states(&out).is_empty(), last, "running only at the end");
    }
    assert_eq!(session.engine.open_asks(), 0);
}

// Also: V2-ELIC-01.
#[test]
fn an_elicitation_goes_only_to_those_who_can_ask_it() {
    let (mut session, turn) = Session::running();
    session.step(Input::Attach {
        view: ViewId(2),
        answers: Answers::default(),
    });
    let ask = AskId(9);
    let question = form();
    let out = session.step(Input::Ask(Ask {
        id: ask,
        turn: Some(turn),
        question: question.clone(),
    }));
    assert_eq!(offers(&out), [(ask, 1)]);
    assert_eq!(session.answer(ask, 2, Reply::Dismissed), []);
    session.step(Input::Unask { ask });
    session.detach(1);
    let out = session.step(Input::Ask(Ask {
        id: AskId(10),
        turn: Some(turn),
        question,
    }));
    assert_eq!(
        resolved(&out),
        [(AskId(10), Answer::Unanswered)],
        "nobody can ask it"
    );
}

#[test]
fn a_question_the_agent_no_longer_needs_is_taken_back() {
    let (mut session, turn) = Session::running();
    let ask = session.ask(Some(turn), None);
    let out = session.step(Input::Unask { ask });
    assert_eq!(retracts(&out), [(ask, 1)]);
    assert_eq!(resolved(&out), [(ask, Answer::Cancelled)]);
    assert_eq!(session.step(Input::Unask { ask }), []);
    assert_eq!(session.answer(ask, 1, yes()), []);
}

#[test]
fn v2_perm_01_a_permission_without_options_is_asked_of_nobody() {
    let (mut session, turn) = Session::running();
    let request = v2::RequestPermissionRequest::new("s", "Really?", Vec::new());
    let out = session.step(Input::Ask(Ask {
        id: AskId(1),
        turn: Some(turn),
        question: Question::Permission(Box::new(request)),
    }));
    assert_eq!(resolved(&out), [(AskId(1), Answer::Unanswered)]);
    assert_eq!(out.len(), 1);
}

#[test]
fn v2_perm_03_the_call_a_question_is_about_is_part_of_the_session() {
    let (mut session, turn) = Session::running();
    let about = v2::ToolCallUpdate::new("c").title("Write");
    session.ask(Some(turn), Some(about));
    assert_eq!(session.status("c"), v2::ToolCallStatus::Pending);
    session.end(turn);
    assert_eq!(session.status("c"), v2::ToolCallStatus::Failed);
}

#[test]
fn invariant_8_open_questions_are_bounded_and_the_rest_is_unanswered() {
    let (mut session, turn) = Session::running();
    for _ in 0..ASKS_OPEN_MAX {
        session.ask(Some(turn), None);
    }
    let out = session.step(Input::Ask(Ask {
        id: AskId(1000),
        turn: Some(turn),
        question: permission(None),
    }));
    assert_eq!(resolved(&out), [(AskId(1000), Answer::Unanswered)]);
    let out = session.end(turn);
    assert_eq!(resolved(&out).len(), ASKS_OPEN_MAX);
    assert!(started(&session.prompt(2, "next")).is_some());
}
