//! Compactions: none stays open when its turn is over.
use crate::support::Session;
use ply_session::{Outcome, Stop};
use ply_wire::transcript::Entry;
use ply_wire::v2;
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

fn summary(id: &str, text: &str) -> v2::SessionUpdate {
    let chunk = v2::CompactionSummaryChunk::new(id, text.into());
    v2::SessionUpdate::CompactionSummaryChunk(chunk)
}

/// Returns what was told of a compaction, in order.
fn told(session: &Session, id: &str) -> Vec<String> {
    let updates = session
        .journal
        .iter()
        .filter_map(ply_session::Event::update);
    let told = updates.filter_map(|update| match update {
        v2::SessionUpdate::CompactionUpdate(update) if &*update.compaction_id.0 == id => {
            Some(format!("{:?}", update.status))
        }
        v2::SessionUpdate::CompactionSummaryChunk(chunk) if &*chunk.compaction_id.0 == id => {
            Some("summary".to_owned())
        }
        _ => None,
    });
    told.collect()
}

#[test]
fn v1_compact_02_one_final_status_follows_and_a_summary_grows_only_before_it() {
    for end in [Status::Completed, Status::Failed, Status::Cancelled] {
        let (mut session, turn) = Session::running();
        let turn = Some(turn);
        session.update(turn, summary("k", "too early"));
        session.update(turn, compacting("k", Status::InProgress));
        session.update(turn, summary("k", "a"));
        session.update(turn, compacting("k", Status::InProgress));
        session.update(turn, summary("other", "of nothing"));
        session.update(turn, summary("k", "b"));
        session.update(turn, compacting("k", end.clone()));
        session.update(turn, compacting("k", Status::Failed));
        session.update(turn, compacting("k", Status::InProgress));
        session.update(turn, summary("k", "too late"));
        let expected = [
            "InProgress",
            "summary",
            "InProgress",
            "summary",
            &format!("{end:?}"),
        ];
        assert_eq!(told(&session, "k"), expected);
        assert_eq!(told(&session, "other"), [""; 0]);
        assert_eq!(statuses(&session), [end]);
    }
}

#[test]
fn v1_compact_02_one_that_is_begun_ends_the_one_before_it() {
    let (mut session, turn) = Session::running();
    session.update(Some(turn), compacting("a", Status::InProgress));
    session.update(Some(turn), compacting("b", Status::InProgress));
    session.end_with(turn, Outcome::Stopped(Stop::EndTurn));
    assert_eq!(told(&session, "a"), ["InProgress", "Failed"]);
    assert_eq!(told(&session, "b"), ["InProgress", "Failed"]);
}
