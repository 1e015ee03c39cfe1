//! Cancel: it stops what goes on, once, and nothing that comes after.
use crate::support::{
    Session, call, error, refused, resolved, retracts, settled, started, states, updates, yes,
};
use ply_session::engine::{Action, Input};
use ply_session::{Answer, Outcome, Refusal, Stop};
use ply_wire::v2;

const CANCELLED: v2::StopReason = v2::StopReason::Cancelled;

// Also: V1-CANCEL-05, V1-CANCEL-06, V2-CANCEL-06, V2-CANCEL-07, D9.
#[test]
fn v1_stop_07_a_cancelled_turn_ends_cancelled_whatever_the_code_returns() {
    for outcome in [
        Outcome::Stopped(Stop::EndTurn),
        Outcome::Stopped(Stop::MaxTokens),
        Outcome::Stopped(Stop::MaxTurnRequests),
        Outcome::Stopped(Stop::Refusal),
        Outcome::Stopped(Stop::Cancelled),
        error(),
    ] {
        let (mut session, turn) = Session::running();
        assert_eq!(session.cancel(), [Action::CancelTurn { turn }]);
        let out = session.end_with(turn, outcome);
        assert_eq!(settled(&out), [(1, CANCELLED)]);
        assert_eq!(states(&out), ["idle"]);
    }
}

#[test]
fn d9_without_a_cancel_the_true_stop_reason_is_kept() {
    let (mut session, turn) = Session::running();
    let out = session.end_with(turn, error());
    assert!(matches!(settled(&out)[0].1, v2::StopReason::Error(_)));
}

#[test]
fn d4_cancel_before_the_first_word_ends_the_turn_with_nothing_said() {
    let (mut session, turn) = Session::running();
    session.cancel();
    let out = session.end(turn);
    assert_eq!(settled(&out), [(1, CANCELLED)]);
    assert_eq!(session.engine.history().transcript().entries().len(), 1);
}

#[test]
fn d5_when_cancel_and_the_end_race_there_is_one_outcome() {
    let (mut first, turn) = Session::running();
    let mut out = first.end(turn);
    out.extend(first.cancel());
    assert_eq!(settled(&out), [(1, v2::StopReason::EndTurn)]);
    let (mut second, turn) = Session::running();
    let mut out = second.cancel();
    out.extend(second.end(turn));
    out.extend(second.overdue(turn));
    assert_eq!(settled(&out), [(1, CANCELLED)]);
}

// Also: V1-CANCEL-11, V2-CANCEL-14.
#[test]
fn d6_cancel_while_idle_or_twice_or_after_the_close_does_nothing() {
    let mut session = Session::attached();
    assert_eq!(session.cancel(), []);
    let turn = started(&session.prompt(1, "not poisoned")).unwrap();
    assert_eq!(session.end(turn).len(), 2);
    let turn = started(&session.prompt(2, "two")).unwrap();
    assert_eq!(session.cancel().len(), 1);
    assert_eq!(session.cancel(), []);
    session.end(turn);
    assert_eq!(session.cancel(), []);
    session.close();
    assert_eq!(session.cancel(), []);
}

// Also: V2-CANCEL-10, D10.
#[test]
fn v1_cancel_10_only_prompts_sent_before_the_cancel_are_dropped() {
    let (mut session, turn) = Session::running();
    session.prompt(2, "before");
    assert_eq!(refused(&session.cancel()), [(2, Refusal::Cancelled)]);
    assert_eq!(
        session.prompt(3, "after"),
        [],
        "it waits for the turn to end"
    );
    let out = session.end(turn);
    assert_eq!(settled(&out), [(1, CANCELLED)]);
    let next = started(&out).unwrap();
    assert!(!session.engine.is_cancelled());
    session.say(Some(next), "as usual");
    assert_eq!(settled(&session.end(next)), [(3, v2::StopReason::EndTurn)]);
}

// Also: V1-CANCEL-10.
#[test]
fn d10_a_thousand_cancels_and_prompts_never_wedge_a_session_whose_code_hangs() {
    let (mut session, mut turn) = Session::running();
    for id in 2..=1_000 {
        session.cancel();
        assert_eq!(session.prompt(id, "again"), []);
        let out = session.overdue(turn);
        assert_eq!(settled(&out), [(id - 1, CANCELLED)]);
        turn = started(&out).unwrap();
    }
}

#[test]
fn the_turn_alone_can_be_cancelled_and_held_prompts_stay() {
    let (mut session, turn) = Session::running();
    session.prompt(2, "two");
    assert_eq!(
        session.step(Input::CancelTurn),
        [Action::CancelTurn { turn }]
    );
    let out = session.end(turn);
    assert_eq!(settled(&out), [(1, CANCELLED)]);
    assert!(started(&out).is_some());
}

#[test]
fn an_overdue_turn_is_abandoned_and_what_it_still_does_is_not_heard() {
    let (mut session, turn) = Session::running();
    assert_eq!(
        session.overdue(turn),
        [],
        "a turn nobody cancelled has time"
    );
    session.call(Some(turn), "c", v2::ToolCallStatus::InProgress);
    session.cancel();
    let out = session.overdue(turn);
    assert_eq!(out[0], Action::AbandonTurn { turn });
    assert_eq!(settled(&out), [(1, CANCELLED)]);
    assert_eq!(session.status("c"), v2::ToolCallStatus::Cancelled);
    assert_eq!(session.say(Some(turn), "late"), []);
    assert_eq!(
        session.call(Some(turn), "c", v2::ToolCallStatus::Completed),
        []
    );
    assert_eq!(session.end(turn), []);
    assert_eq!(session.overdue(turn), []);
}

// Also: V1-PERM-08, V2-CANCEL-04, V2-CANCEL-12, V2-STATE-13.
#[test]
fn d8_cancel_answers_open_permissions_and_a_late_click_is_ignored() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    let ask = session.ask(Some(turn), None);
    let out = session.cancel();
    assert_eq!(resolved(&out), [(ask, Answer::Cancelled)]);
    assert_eq!(retracts(&out), [(ask, 1), (ask, 2)]);
    assert_eq!(session.answer(ask, 1, yes()), []);
    session.end(turn);
    assert_eq!(session.answer(ask, 2, yes()), []);
    let turn = started(&session.prompt(2, "a click before the cancel counts")).unwrap();
    let ask = session.ask(Some(turn), None);
    let out = session.answer(ask, 1, yes());
    assert_eq!(
        resolved(&out),
        [(ask, Answer::Selected(v2::PermissionOptionId::new("yes")))]
    );
    assert_eq!(resolved(&session.cancel()), []);
}

// Also: V2-CANCEL-13.
#[test]
fn v2_cancel_13_open_forms_of_the_turn_end_and_those_of_background_work_stay() {
    let (mut session, turn) = Session::running();
    let background = session.ask(None, None);
    let form = ply_session::AskId(90);
    session.step(Input::Ask(ply_session::Ask {
        id: form,
        turn: Some(turn),
        question: crate::support::form(),
    }));
    assert_eq!(resolved(&session.cancel()), [(form, Answer::Cancelled)]);
    session.end(turn);
    assert!(session.engine.question(background).is_some());
    let ask = session.ask(Some(turn), None);
    assert!(session.engine.question(ask).is_none(), "its turn is over");
}

// Also: V1-TOOL-17, V2-CANCEL-08, V2-TOOL-10, D17.
#[test]
fn v1_cancel_07_updates_after_the_cancel_count_and_come_before_the_end() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "a", v2::ToolCallStatus::InProgress);
    session.call(Some(turn), "b", v2::ToolCallStatus::Pending);
    session.cancel();
    session.call(Some(turn), "a", v2::ToolCallStatus::Completed);
    session.say(Some(turn), "I stop");
    let out = session.end(turn);
    assert_eq!(
        updates(&out)[0],
        call("b", v2::ToolCallStatus::Cancelled),
        "before the idle"
    );
    assert_eq!(states(&out), ["idle"]);
    assert_eq!(session.status("a"), v2::ToolCallStatus::Completed);
}

#[test]
fn v1_cancel_13_cancel_touches_no_other_session() {
    let (mut one, _) = Session::running();
    let (mut two, turn) = Session::running();
    one.cancel();
    assert!(!two.engine.is_cancelled());
    assert_eq!(settled(&two.end(turn)), [(1, v2::StopReason::EndTurn)]);
}
