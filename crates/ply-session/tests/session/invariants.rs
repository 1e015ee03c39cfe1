//! The promises of a session, each by one story; `properties.rs` tries them on any.
use crate::support::{
    Session, appended, error, refused, resolved, settled, started, states, updates, yes,
};
use ply_session::engine::Action;
use ply_session::{Answer, Event, Outcome, Refusal, Stop};
use ply_wire::lift::Lifter;
use ply_wire::project::{Projector, Shows};
use ply_wire::transcript::{Transcript, what_v1_can_carry};
use ply_wire::v2;
use v2::ToolCallStatus as Status;

#[test]
fn invariant_1_every_admitted_prompt_settles_exactly_once() {
    // A panic of the agent's code reaches the engine as a failure.
    let ends = [
        Outcome::Stopped(Stop::EndTurn),
        Outcome::Stopped(Stop::Refusal),
        error(),
    ];
    for outcome in ends {
        for is_cancelled in [false, true] {
            for is_closed in [false, true] {
                let (mut session, turn) = Session::running();
                let mut out = session.prompt(2, "held");
                if is_cancelled {
                    out.extend(session.cancel());
                }
                if is_closed {
                    out.extend(session.close());
                }
                out.extend(session.end_with(turn, outcome.clone()));
                out.extend(session.end_with(turn, outcome.clone()));
                out.extend(session.overdue(turn));
                if let Some(next) = started(&out) {
                    out.extend(session.end(next));
                }
                let mut over: Vec<u64> = settled(&out).iter().map(|(id, _)| *id).collect();
                over.extend(refused(&out).iter().map(|(id, _)| *id));
                over.sort_unstable();
                assert_eq!(over, [1, 2], "{outcome:?} {is_cancelled} {is_closed}");
                session.assert_at_rest();
            }
        }
    }
}

#[test]
fn invariant_2_after_a_cancel_the_turn_ends_cancelled_and_the_next_prompt_is_untouched() {
    let (mut session, turn) = Session::running();
    session.cancel();
    assert_eq!(session.prompt(2, "next"), []);
    let out = session.overdue(turn);
    assert_eq!(settled(&out), [(1, v2::StopReason::Cancelled)]);
    assert_eq!(refused(&out), Vec::<(u64, Refusal)>::new());
    let next = started(&out).unwrap();
    let out = session.end(next);
    assert_eq!(settled(&out), [(2, v2::StopReason::EndTurn)]);
}

#[test]
fn invariant_3_no_update_of_a_turn_is_written_after_it_was_settled() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "c", Status::InProgress);
    session.say(Some(turn), "in time");
    let out = session.end(turn);
    assert!(matches!(out.last(), Some(Action::Settle { .. })), "{out:?}");
    let written = session.journal.len();
    session.say(Some(turn), "late");
    session.call(Some(turn), "c", Status::Completed);
    assert_eq!(session.journal.len(), written);
}

#[test]
fn invariant_4_calls_and_questions_end_before_the_idle() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "c", Status::InProgress);
    let ask = session.ask(Some(turn), None);
    let out = session.end(turn);
    let idle = out.iter().position(|action| match action {
        Action::Append(event) => matches!(
            event.update(),
            Some(v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(_)))
        ),
        _ => false,
    });
    let before = &out[..idle.unwrap()];
    assert_eq!(resolved(before), [(ask, Answer::Cancelled)]);
    assert_eq!(
        updates(before),
        [crate::support::call("c", Status::Failed)],
        "the call"
    );
    assert_eq!(states(&out), ["idle"]);
}

#[test]
fn invariant_5_a_replay_folds_to_what_an_attached_client_saw() {
    let session = story();
    let live = Transcript::fold(session.journal.iter().filter_map(Event::update));
    let replay = Transcript::fold(&live.to_updates());
    assert_eq!(replay.normalized(), live.normalized());
    let (reopened, _) = Session::open(&session.journal);
    let kept = reopened.engine.history().transcript();
    assert_eq!(*kept, *session.engine.history().transcript());
}

#[test]
fn invariant_6_the_v1_view_folds_to_the_same_transcript() {
    let session = story();
    let mut projector = Projector::new(Shows::ALL, "v/");
    let (mut lifter, mut lifted) = (Lifter::new("lifted-", ""), Vec::new());
    for update in session.journal.iter().filter_map(Event::update) {
        let mut view = Vec::new();
        projector.apply_with(update, session.engine.history(), &mut view);
        for down in view {
            lifter.update(down.into_update(update).unwrap(), &mut lifted);
        }
    }
    let seen = Transcript::fold(&lifted);
    let kept = session.engine.history().transcript();
    assert_eq!(what_v1_can_carry(&seen), what_v1_can_carry(kept));
}

#[test]
fn invariant_7_what_is_acknowledged_was_written_before() {
    let (mut session, turn) = Session::running();
    let ask = session.ask(Some(turn), None);
    let steps = [
        session.answer(ask, 1, yes()),
        session.end(turn),
        session.prompt(2, "two"),
    ];
    for out in steps {
        let acknowledged = out.iter().position(|action| {
            matches!(
                action,
                Action::Accept { .. } | Action::Resolve { .. } | Action::Settle { .. }
            )
        });
        let before = appended(&out[..acknowledged.unwrap()]);
        assert!(
            before.last().is_some_and(Event::is_durable),
            "nothing durable before the acknowledgement in {out:?}"
        );
    }
}

#[test]
fn invariant_10_a_fault_in_one_session_does_not_reach_another() {
    let (mut broken, turn) = Session::running();
    let (mut whole, other) = Session::running();
    broken.end_with(turn, error());
    whole.say(Some(other), "still here");
    assert_eq!(settled(&whole.end(other)), [(1, v2::StopReason::EndTurn)]);
}

/// A session with a bit of everything.
fn story() -> Session {
    let (mut session, turn) = Session::running();
    session.say(Some(turn), "Hello, ");
    session.call(Some(turn), "c", Status::InProgress);
    session.say(Some(turn), "world");
    session.call(Some(turn), "c", Status::Completed);
    session.prompt(2, "two");
    let turn = started(&session.end(turn)).unwrap();
    session.call(Some(turn), "d", Status::Pending);
    session.cancel();
    session.end(turn);
    session
}
