//! States: when a session runs, waits for its user, and is idle.
use crate::support::{Session, error, settled, states, updates, yes};
use ply_session::engine::Input;
use ply_session::{Outcome, Reply, Stop};
use ply_wire::transcript::State;
use ply_wire::v2;

// Also: V2-STATE-01, V2-STATE-03.
#[test]
fn v2_state_02_every_running_is_followed_by_an_idle_with_a_reason() {
    let (mut session, turn) = Session::running();
    let out = session.end(turn);
    assert_eq!(states(&out), ["idle"]);
    let Some(v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle))) = updates(&out).pop()
    else {
        panic!("the last update is the idle");
    };
    assert_eq!(idle.stop_reason, Some(v2::StopReason::EndTurn));
}

// Also: V2-STOP-02.
#[test]
fn v2_stop_01_every_outcome_has_its_reason() {
    let failed = v2::Error::internal_error();
    let failed = v2::StopReason::Error(v2::ErrorStopReason::new().error(failed));
    for (outcome, expected) in [
        (Outcome::Stopped(Stop::EndTurn), v2::StopReason::EndTurn),
        (Outcome::Stopped(Stop::MaxTokens), v2::StopReason::MaxTokens),
        (
            Outcome::Stopped(Stop::MaxTurnRequests),
            v2::StopReason::MaxTurnRequests,
        ),
        (Outcome::Stopped(Stop::Refusal), v2::StopReason::Refusal),
        (Outcome::Stopped(Stop::Cancelled), v2::StopReason::Cancelled),
        (error(), failed),
    ] {
        let (mut session, turn) = Session::running();
        assert_eq!(settled(&session.end_with(turn, outcome)), [(1, expected)]);
    }
}

#[test]
fn v2_state_04_a_turn_that_only_waits_requires_action() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "c", v2::ToolCallStatus::InProgress);
    let ask = session.ask(Some(turn), Some(v2::ToolCallUpdate::new("c")));
    assert_eq!(*state(&session), State::RequiresAction);
    assert_eq!(states(&session.answer(ask, 1, yes())), ["running"]);
}

#[test]
fn v2_state_05_running_or_idle_follows_whatever_the_answer_was() {
    for (reply, expected) in [
        (yes(), vec!["running"]),
        (Reply::Dismissed, vec!["running"]),
        (Reply::Failed, vec!["running"]),
        (Reply::CancelTurn, vec![]),
    ] {
        let (mut session, turn) = Session::running();
        let ask = session.ask(Some(turn), None);
        let out = session.answer(ask, 1, reply);
        assert_eq!(states(&out), expected);
        assert_eq!(states(&session.end(turn)), ["idle"]);
    }
    let (mut session, turn) = Session::running();
    session.ask(Some(turn), None);
    assert_eq!(states(&session.end(turn)), ["idle"], "without an answer");
}

#[test]
fn v2_state_06_a_turn_that_can_go_on_does_not_require_action() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "busy", v2::ToolCallStatus::InProgress);
    let (one, two) = (session.ask(Some(turn), None), session.ask(Some(turn), None));
    assert_eq!(*state(&session), State::Running);
    let out = session.call(Some(turn), "busy", v2::ToolCallStatus::Completed);
    assert_eq!(
        states(&out),
        ["requires_action"],
        "now the whole turn waits"
    );
    let none: [&str; 0] = [];
    assert_eq!(
        states(&session.answer(one, 1, yes())),
        none,
        "one of two answers is not enough"
    );
    let out = session.call(Some(turn), "more", v2::ToolCallStatus::InProgress);
    assert_eq!(states(&out), ["running"]);
    assert_eq!(states(&session.answer(two, 1, yes())), none);
}

// Also: V2-ELIC-02.
#[test]
fn v2_state_06_questions_of_background_work_change_no_state() {
    let (mut session, turn) = Session::running();
    session.ask(None, None);
    assert_eq!(*state(&session), State::Running);
    session.end(turn);
    session.ask(None, None);
    assert_eq!(*state(&session), State::Idle);
}

#[test]
fn v2_state_12_one_turn_after_the_other_goes_through_idle_and_a_refusal_does_not() {
    let (mut session, turn) = Session::running();
    session.prompt(2, "two");
    assert_eq!(states(&session.withdraw(2)), Vec::<&str>::new());
    session.prompt(3, "three");
    assert_eq!(states(&session.end(turn)), ["idle", "running"]);
}

#[test]
fn the_agent_cannot_report_states_or_messages_of_the_user() {
    let (mut session, turn) = Session::running();
    let idle = v2::StateUpdate::Idle(v2::IdleStateUpdate::new());
    let chunk = v2::ContentChunk::new("forged".into(), "m");
    for update in [
        v2::SessionUpdate::StateUpdate(idle),
        v2::SessionUpdate::UserMessage(v2::UserMessage::new("m")),
        v2::SessionUpdate::UserMessageChunk(chunk),
    ] {
        assert_eq!(session.update(Some(turn), update), []);
    }
}

#[test]
fn v2_state_07_updates_while_idle_change_no_state() {
    let mut session = Session::attached();
    let out = session.say(None, "by the way");
    assert_eq!(states(&out), Vec::<&str>::new());
    assert_eq!(out.len(), 1);
    // The same state again, with a list of what goes on.
    let out = session.call(None, "c", v2::ToolCallStatus::InProgress);
    assert_eq!(states(&out), ["idle"]);
    assert_eq!(out.len(), 2);
}

#[test]
fn a_notice_is_told_and_not_kept() {
    let (mut session, turn) = Session::running();
    let notice = v2::Notice::new(v2::NoticeSeverity::Info, "for now");
    let update = v2::SessionUpdate::Notice(notice);
    let before = session.journal.len();
    let out = session.step(Input::Update {
        turn: Some(turn),
        update: update.clone(),
        edits: Vec::new(),
    });
    assert_eq!(out, [ply_session::engine::Action::Tell(update)]);
    assert_eq!(session.journal.len(), before);
}

fn state(session: &Session) -> &State {
    session.engine.history().transcript().state()
}
