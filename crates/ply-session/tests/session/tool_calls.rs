//! Tool calls: they never go back, and end with their turn.
use crate::support::{Session, call, started, states, updates};
use ply_wire::{MaybeUndefined, v2};
use v2::ToolCallStatus as Status;

// Also: V2-TOOL-06.
#[test]
fn d18_a_status_never_goes_back() {
    #[track_caller]
    fn check(reports: &[Status], expected: Status) {
        let (mut session, turn) = Session::running();
        for status in reports {
            session.call(Some(turn), "c", status.clone());
        }
        assert_eq!(session.status("c"), expected);
    }
    check(&[Status::InProgress, Status::Pending], Status::InProgress);
    check(&[Status::Completed, Status::InProgress], Status::Completed);
    check(&[Status::Failed, Status::Completed], Status::Failed);
    check(&[Status::Cancelled, Status::Pending], Status::Cancelled);
    check(
        &[Status::InProgress, Status::Paused, Status::InProgress],
        Status::InProgress,
    );
    let odd = Status::Other("_odd".into());
    check(&[odd.clone(), Status::Pending], odd);
    check(&[Status::Pending, Status::Failed], Status::Failed);
}

#[test]
fn d18_clearing_a_status_does_not_take_it_back() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "c", Status::Completed);
    let cleared = v2::ToolCallUpdate::new("c")
        .status(MaybeUndefined::Null)
        .title("Renamed");
    let out = session.update(Some(turn), v2::SessionUpdate::ToolCallUpdate(cleared));
    assert_eq!(session.status("c"), Status::Completed);
    let Some(v2::SessionUpdate::ToolCallUpdate(update)) = updates(&out).pop() else {
        panic!("the rest of the update counts");
    };
    assert!(update.status.is_undefined());
    assert_eq!(update.title, MaybeUndefined::Value("Renamed".into()));
}

#[test]
fn d18_ids_of_one_turn_are_not_those_of_another() {
    let (mut session, turn) = Session::running();
    let first = session.engine.id_prefix(turn);
    session.end(turn);
    let turn = started(&session.prompt(2, "two")).unwrap();
    assert_ne!(session.engine.id_prefix(turn), first);
}

// Also: V1-TOOL-17.
#[test]
fn d17_calls_left_open_are_failed_before_the_turn_is_idle() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "pending", Status::Pending);
    session.call(Some(turn), "running", Status::InProgress);
    session.call(Some(turn), "done", Status::Completed);
    let chunk = v2::Content::new(v2::ContentBlock::from("words"));
    let chunk = v2::ToolCallContent::Content(Box::new(chunk));
    let chunk = v2::ToolCallContentChunk::new("unannounced", chunk);
    session.update(Some(turn), v2::SessionUpdate::ToolCallContentChunk(chunk));
    let out = session.end(turn);
    let expected = ["pending", "running", "unannounced"];
    let expected = expected.map(|id| call(id, Status::Failed));
    assert_eq!(updates(&out)[..3], expected);
    assert_eq!(states(&out), ["idle"]);
    assert_eq!(updates(&out).len(), 4);
}

#[test]
fn d17_work_of_the_background_goes_on_over_the_end_of_a_turn() {
    let (mut session, turn) = Session::running();
    session.call(None, "background", Status::InProgress);
    session.cancel();
    session.end(turn);
    assert_eq!(session.status("background"), Status::InProgress);
    session.call(None, "background", Status::Completed);
    assert_eq!(session.status("background"), Status::Completed);
}

// Also: V1-PROMPT-10, V1-CANCEL-07.
#[test]
fn d1_late_updates_of_an_ended_turn_vanish() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "c", Status::InProgress);
    session.say(Some(turn), "in time");
    session.end(turn);
    let late = |session: &mut Session| {
        assert_eq!(session.say(Some(turn), "late"), []);
        assert_eq!(session.call(Some(turn), "c", Status::Completed), []);
        assert_eq!(session.call(Some(turn), "new", Status::Pending), []);
        let ask = session.ask(Some(turn), None);
        assert!(session.engine.question(ask).is_none());
    };
    late(&mut session);
    let next = started(&session.prompt(2, "two")).unwrap();
    late(&mut session);
    session.end(next);
    late(&mut session);
    assert_eq!(session.status("c"), Status::Failed);
}

#[test]
fn words_after_something_new_are_another_message() {
    let (mut session, turn) = Session::running();
    session.say(Some(turn), "a");
    session.say(Some(turn), "b");
    session.call(Some(turn), "c", Status::InProgress);
    session.say(Some(turn), "c");
    session.call(Some(turn), "c", Status::Completed);
    session.say(Some(turn), "d");
    session.say(None, "beside");
    session.say(Some(turn), "e");
    let transcript = session.engine.history().transcript();
    let texts: Vec<String> = transcript
        .messages()
        .map(|message| message.text())
        .collect();
    assert_eq!(texts, ["one", "ab", "cd", "beside", "e"]);
}
