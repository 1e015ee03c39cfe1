//! Close: everything ends, in order, and then nothing more comes.
use crate::support::{Session, refused, resolved, settled, started, states, yes};
use ply_session::engine::Action;
use ply_session::{Answer, Refusal};
use ply_wire::v2;

// Also: V1-CLOSE-02, V2-CLOSE-02, V2-CLOSE-03, V2-CLOSE-07.
#[test]
fn e11_close_during_a_turn_cancels_settles_and_then_closes() {
    let (mut session, turn) = Session::running();
    session.prompt(2, "held");
    session.call(Some(turn), "c", v2::ToolCallStatus::InProgress);
    let ask = session.ask(Some(turn), None);
    let out = session.close();
    assert_eq!(refused(&out), [(2, Refusal::Cancelled)]);
    assert_eq!(resolved(&out), [(ask, Answer::Cancelled)]);
    assert!(!session.engine.is_closed(), "the turn has not ended");
    let out = session.end(turn);
    assert_eq!(settled(&out), [(1, v2::StopReason::Cancelled)]);
    assert_eq!(out.last(), Some(&Action::Closed));
    assert_eq!(session.status("c"), v2::ToolCallStatus::Cancelled);
    session.assert_at_rest();
}

#[test]
fn e11_code_that_hangs_does_not_keep_a_session_from_closing() {
    let (mut session, turn) = Session::running();
    session.close();
    let out = session.overdue(turn);
    assert_eq!(out.last(), Some(&Action::Closed));
}

// Also: V2-CLOSE-01.
#[test]
fn close_while_idle_ends_background_work_too() {
    let mut session = Session::attached();
    session.call(None, "background", v2::ToolCallStatus::InProgress);
    let ask = session.ask(None, None);
    let out = session.close();
    assert_eq!(resolved(&out), [(ask, Answer::Cancelled)]);
    assert_eq!(session.status("background"), v2::ToolCallStatus::Cancelled);
    assert_eq!(out.last(), Some(&Action::Closed));
    assert_eq!(
        states(&out),
        ["idle"],
        "as before, and nothing is in the background"
    );
}

// Also: V2-CLOSE-05.
#[test]
fn close_twice_closes_once() {
    let mut session = Session::attached();
    assert_eq!(session.close(), [Action::Closed]);
    assert_eq!(session.close(), []);
    let (mut session, turn) = Session::running();
    session.close();
    assert_eq!(session.close(), []);
    session.cancel();
    let closed = session.end(turn);
    let closed = closed.iter().filter(|action| **action == Action::Closed);
    assert_eq!(closed.count(), 1);
}

// Also: V2-CLOSE-04.
#[test]
fn after_the_close_prompts_are_refused_and_nothing_else_has_an_effect() {
    let (mut session, turn) = Session::running();
    session.close();
    let out = session.prompt(2, "while it closes");
    assert_eq!(refused(&out), [(2, Refusal::Closed)]);
    session.end(turn);
    let out = session.prompt(3, "after it closed");
    // The ledger allows nothing after the close, so this is asked of the engine alone.
    assert_eq!(refused(&out), [(3, Refusal::Closed)]);
    assert_eq!(session.say(None, "late"), []);
    assert_eq!(session.attach(7), []);
    assert_eq!(session.detach(1), []);
}

#[test]
fn a_question_after_the_close_is_cancelled_and_asked_of_nobody() {
    let mut session = Session::attached();
    session.close();
    let ask = session.ask(None, None);
    assert!(session.engine.question(ask).is_none());
    assert_eq!(session.answer(ask, 1, yes()), []);
}

#[test]
fn a_closed_session_opens_again_and_goes_on() {
    let (mut session, turn) = Session::running();
    session.close();
    session.end(turn);
    let (mut session, repair) = Session::open(&session.journal);
    assert_eq!(repair, [], "it was closed in order");
    session.attach(1);
    let turn = started(&session.prompt(1, "two")).unwrap();
    assert_eq!(settled(&session.end(turn)), [(1, v2::StopReason::EndTurn)]);
    assert_eq!(session.prompts(), ["one", "two"]);
}
