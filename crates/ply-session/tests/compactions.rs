//! Compactions: none stays open when its turn is over.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod support;

use ply_session::{Outcome, Stop};
use ply_wire::transcript::Entry;
use ply_wire::v2;
use support::Session;
use v2::CompactionStatus as Status;

fn compacting(id: &str, status: Status) -> v2::SessionUpdate {
    v2::SessionUpdate::CompactionUpdate(v2::CompactionUpdate::new(id, status))
}

fn statuses(session: &Session) -> Vec<Status> {
    let transcript = session.engine.history().transcript();
    let found = transcript.entries().filter_map(|entry| match entry {
        Entry::Compaction(compaction) => Some(compaction.status.clone()),
        _ => None,
    });
    found.collect()
}

#[test]
fn one_that_is_left_open_ends_with_its_turn() {
    #[track_caller]
    fn check(stop: Stop, expected: Status) {
        let (mut session, turn) = Session::running();
        session.update(Some(turn), compacting("k", Status::InProgress));
        session.end_with(turn, Outcome::Stopped(stop));
        assert_eq!(statuses(&session), [expected]);
    }
    check(Stop::Cancelled, Status::Cancelled);
    check(Stop::EndTurn, Status::Failed);
}

#[test]
fn one_that_has_ended_is_left_alone() {
    let (mut session, turn) = Session::running();
    session.update(Some(turn), compacting("k", Status::InProgress));
    session.update(Some(turn), compacting("k", Status::Completed));
    session.end_with(turn, Outcome::Stopped(Stop::Cancelled));
    assert_eq!(statuses(&session), [Status::Completed]);
}

#[test]
fn one_that_a_crash_left_open_has_failed_when_the_session_is_opened() {
    let (mut session, turn) = Session::running();
    session.update(Some(turn), compacting("k", Status::InProgress));
    let (session, _) = Session::open(&session.journal);
    assert_eq!(statuses(&session), [Status::Failed]);
}
