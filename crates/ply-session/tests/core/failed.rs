//! A journal that fails: what goes on is ended, nothing that was said is lost, and the next request goes on.

use std::time::Duration;

use ply_session::{Input, RETRY_EVERY, RETRY_TIME_MAX, RequestId};
use ply_wire::transcript::Transcript;
use ply_wire::v2;

use crate::journal::Mode;
use crate::world::{V1, V2, World};

/// Returns a session whose journal failed in the middle of a turn with an open call.
fn failed() -> World {
    let mut world = World::running();
    world.call("c", v2::ToolCallStatus::InProgress);
    world.say("words");
    world.forget();
    world.journal.appends = Mode::Fails;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Answers;
    world.turn = None;
    world
}

/// Checks that the journal holds what the session is, and each record once.
#[track_caller]
fn assert_kept(world: &World) {
    let mut opening = ply_session::Opening::default();
    for record in &world.journal.records {
        opening.record(record);
    }
    assert_eq!(opening.damaged(), 0);
    let kept: Transcript = opening.into_history().transcript().normalized();
    assert_eq!(kept, world.core.history().transcript().normalized());
}

#[test]
fn c10_a_failure_ends_the_turn_and_everybody_hears_of_it() {
    let mut world = failed();
    assert_eq!(world.done(), ["abandon"]);
    assert_eq!(
        world.seen(1),
        ["call c failed", "refuse 3 the disk is full"]
    );
    assert_eq!(
        world.seen(2),
        ["call c failed", "idle error the disk is full"]
    );
    assert_eq!(world.core.engine().running(), None);
    world.pass(Duration::from_secs(60));
    assert_eq!(world.done(), [""; 0], "nobody needs it now");
}

#[test]
fn c10_the_next_request_opens_the_journal_and_nothing_is_missing() {
    for view in [1, 2] {
        let mut world = failed();
        world.forget();
        let request = world.prompt(view, "two");
        let done = world.done();
        assert!(done[0].starts_with("open "), "{done:?}");
        assert_eq!(done[1..], [format!("start {request}")]);
        // They were told the end when the journal failed, and are not told again. What was never safe, call d, is as if
        // it had not been.
        assert_eq!(world.seen(2)[0], "user two");
        world.say("again");
        world.end();
        world.assert_same(&[1, 2]);
        assert_kept(&world);
        let mut calls = world.clients[&1].transcript.tool_calls();
        assert!(
            calls.all(|call| call.is_finished()),
            "none is left open in a client"
        );
    }
}

#[test]
fn c10_prompt_cancel_and_close_behind_each_other_are_all_heard() {
    for view in [1, 2] {
        let mut world = failed();
        world.journal.opens = Mode::Stuck;
        world.forget();
        let prompt = world.prompt(view, "two");
        world.cancel(view);
        let close = world.close(view);
        let seen = world.seen(view);
        let expected = match view {
            1 => format!("answer {prompt} cancelled"),
            _ => format!("refuse {prompt} The request was canc"),
        };
        assert_eq!(seen, [expected]);
        world.journal.opens = Mode::Answers;
        world.reopen_journal();
        let done = world.done();
        assert_eq!(done[1..], ["release", "over"], "{done:?}");
        assert_eq!(world.seen(view).last().unwrap(), &format!("answer {close}"));
        world.assert_same(&[1, 2]);
        assert_kept(&world);
    }
}

#[test]
fn c10_prompts_of_two_clients_keep_their_order() {
    let mut world = failed();
    world.journal.opens = Mode::Stuck;
    world.forget();
    let first = world.prompt(2, "two");
    let second = world.prompt(1, "three");
    let attach = world.attach(3, V2);
    world.journal.opens = Mode::Answers;
    world.reopen_journal();
    assert_eq!(world.done()[1..], [format!("start {first}")]);
    world.end();
    assert_eq!(world.done(), [format!("start {second}")]);
    world.end();
    assert!(world.seen(3).contains(&format!("answer {attach}")));
    world.assert_same(&[1, 2, 3]);
    assert_kept(&world);
}

#[test]
fn c10_records_that_are_there_after_all_are_not_written_twice() {
    let mut world = World::running();
    world.journal.appends = Mode::FailsAfterWriting;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Answers;
    let request = world.prompt(2, "two");
    assert_eq!(world.done().last().unwrap(), &format!("start {request}"));
    world.end();
    world.assert_same(&[1, 2]);
    assert_kept(&world);
    let mut records = world.journal.text();
    let count = records.len();
    records
        .retain(|record| record.contains("\"toolCallId\":\"d\"") && record.contains("in_progress"));
    assert_eq!(records.len(), 1, "of {count}");
}

#[test]
fn c10_a_turn_that_began_in_the_journal_after_all_is_shown_to_end() {
    let mut world = World::running();
    let queued = world.prompt(2, "two");
    world.forget();
    world.journal.appends = Mode::FailsAfterWriting;
    world.end();
    world.journal.appends = Mode::Answers;
    let refused = format!("refuse {queued} the disk is full");
    let seen = world.seen(2);
    assert!(seen.contains(&refused), "{seen:?}");
    assert_eq!(seen.last().unwrap(), "idle error the disk is full");
    world.attach(3, V2);
    // It was told that the work ended before it was told that it began.
    let seen = world.seen(2);
    assert_eq!(
        seen[seen.len() - 2..],
        ["running", "idle error the disk is full"]
    );
    world.assert_same(&[1, 2, 3]);
    assert_kept(&world);
}

#[test]
fn c10_records_that_the_journal_had_only_taken_are_written_again() {
    let mut world = World::running();
    world.say("taken ");
    let records = world.journal.records.len();
    world.journal.appends = Mode::Fails;
    world.call("d", v2::ToolCallStatus::InProgress);
    assert!(
        world.journal.records.len() < records,
        "the journal lost some"
    );
    world.journal.appends = Mode::Answers;
    world.prompt(2, "two");
    world.end();
    world.assert_same(&[1, 2]);
    assert_kept(&world);
}

#[test]
fn c10_a_prompt_that_was_not_safe_is_answered_with_the_failure() {
    for version in [V1, V2] {
        let mut world = World::new();
        world.attach(1, version);
        world.journal.appends = Mode::Stuck;
        let prompt = world.prompt(1, "one");
        world.forget();
        world.fail_append();
        assert_eq!(world.seen(1), [format!("refuse {prompt} the disk is full")]);
        assert_eq!(world.done(), [""; 0], "its code was never started");
        world.journal.appends = Mode::Answers;
        world.prompt(1, "two");
        world.end();
        world.assert_same(&[1]);
        assert_kept(&world);
    }
}

#[test]
fn c10_a_session_that_another_owner_wrote_has_moved() {
    let mut world = failed();
    world
        .journal
        .records
        .push(b"{\"lines\":{\"upto\":1}}".to_vec());
    world.forget();
    let prompt = world.prompt(1, "two");
    let moved = format!("refuse {prompt} The session was take");
    let done = world.done();
    assert_eq!(done[1..], [moved, "release".to_owned(), "over".to_owned()]);
}

#[test]
fn c10_a_session_that_another_owner_had_has_moved_though_it_is_no_longer() {
    let mut world = failed();
    world.journal.epoch += 1;
    let lost = world.journal.records.len() - 1;
    world.journal.records[lost] = b"{\"lines\":{\"upto\":1}}".to_vec();
    world.forget();
    let prompt = world.prompt(1, "two");
    let moved = format!("refuse {prompt} The session was take");
    let done = world.done();
    assert_eq!(done[1..], [moved, "release".to_owned(), "over".to_owned()]);
}

#[test]
fn c10_whoever_waits_hears_that_the_session_has_moved() {
    let mut world = World::running();
    world.journal.appends = Mode::Stuck;
    let own = world.prompt(2, "queued");
    world.call("d", v2::ToolCallStatus::InProgress);
    let error = v2::Error::new(-32603, "moved");
    world.step(Input::Lost { error });
    assert_eq!(world.done(), ["abandon", "release", "over"]);
    assert_eq!(world.seen(1), ["refuse 3 moved"]);
    assert_eq!(
        world.seen(2),
        ["idle error moved".to_owned(), format!("refuse {own} moved")]
    );
    let late = world.attach(5, V2);
    let waiting = world.core.take_waiting();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].request(), Some(RequestId(late)));
}

#[test]
fn a_failure_that_passes_is_not_noticed() {
    let mut world = World::running();
    world.journal.appends = Mode::FailsInPassing;
    let descriptions = world.journal.descriptions.len();
    world.end();
    assert_eq!(world.seen(1), [""; 0]);
    world.pass(RETRY_EVERY * 3);
    world.journal.appends = Mode::Answers;
    world.pass(RETRY_EVERY);
    assert_eq!(world.seen(1), ["answer 3 end_turn"]);
    assert_eq!(world.seen(2), ["idle end_turn"]);
    assert_kept(&world);
    assert!(
        world.journal.descriptions.len() > descriptions,
        "it was told with the records"
    );
    assert_eq!(
        world.journal.descriptions.last().unwrap().unfinished,
        Some(false)
    );
}

#[test]
fn a_failure_that_does_not_pass_ends_the_turn_in_the_end() {
    let mut world = World::running();
    world.journal.appends = Mode::FailsInPassing;
    world.call("c", v2::ToolCallStatus::InProgress);
    world.pass(RETRY_TIME_MAX / 2);
    assert_eq!(world.done(), [""; 0]);
    world.pass(RETRY_TIME_MAX);
    assert_eq!(world.done(), ["abandon"]);
}

#[test]
fn the_agents_own_turn_ends_with_the_journal_and_the_next_one_opens_it() {
    let mut world = World::new();
    world.attach(1, V2);
    let request = RequestId(100);
    world.step(Input::Begin { request });
    world.forget();
    world.journal.appends = Mode::Fails;
    world.call("c", v2::ToolCallStatus::InProgress);
    let done = world.done();
    assert_eq!(done[0], "abandon");
    assert!(done[1].starts_with("settled 100 error"), "{done:?}");
    world.journal.appends = Mode::Answers;
    let request = RequestId(101);
    world.step(Input::Begin { request });
    assert_eq!(world.done().last().unwrap(), "start 101");
}

#[test]
fn the_last_words_are_written_when_the_last_client_leaves() {
    let mut world = failed();
    world.forget();
    world.detach(1);
    world.detach(2);
    let done = world.done();
    assert!(done[0].starts_with("open "), "{done:?}");
    assert_eq!(done[1..], ["release", "over"]);
    assert_kept(&world);
}

#[test]
fn a_journal_that_cannot_be_opened_refuses_and_is_tried_again() {
    let mut world = failed();
    world.journal.opens = Mode::Fails;
    world.forget();
    for _ in 0..3 {
        let prompt = world.prompt(1, "two");
        assert_eq!(
            world.done().last().unwrap(),
            &format!("refuse {prompt} the disk is full")
        );
    }
    world.journal.opens = Mode::Answers;
    let prompt = world.prompt(1, "three");
    assert_eq!(world.done().last().unwrap(), &format!("start {prompt}"));
    world.end();
    world.assert_same(&[1, 2]);
    assert_kept(&world);
}

#[test]
fn c10_a_client_that_loads_the_session_anew_is_not_shown_the_rest_of_before() {
    let mut world = World::running();
    world.journal.appends = Mode::FailsAfterWriting;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Stuck;
    world.forget();
    let request = world.attach(2, V2);
    assert_eq!(world.seen(2), [""; 0], "the journal is not safe yet");
    world.unstick();
    let seen = world.seen(2);
    assert_eq!(
        seen.iter().filter(|seen| seen.contains("call d")).count(),
        1
    );
    assert!(
        seen.last().unwrap().contains(&request.to_string()),
        "{seen:?}"
    );
    world.assert_same(&[1, 2]);
}

#[test]
fn what_the_agent_says_outside_turns_keeps_its_order() {
    let mut world = failed();
    world.say("first ");
    world.journal.appends = Mode::Stuck;
    world.prompt(2, "two");
    world.turn = None;
    // The journal is open again, and what was cut off is not ended there yet.
    world.say("second ");
    assert!(world.core.is_paused(), "this much may wait");
    world.unstick();
    assert!(!world.core.is_paused());
    assert!(world.clients[&2].text().ends_with("first second "));
}

#[test]
fn c10_a_journal_that_fails_again_at_once_shows_nothing_too_early() {
    let mut world = World::running();
    world.journal.appends = Mode::FailsAfterWriting;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Fails;
    world.forget();
    world.prompt(2, "two");
    assert!(!world.seen(2).iter().any(|seen| seen.contains("call d")));
    world.journal.appends = Mode::Answers;
    world.prompt(2, "three");
    world.end();
    world.assert_same(&[1, 2]);
    assert_kept(&world);
}

#[test]
fn c10_that_a_call_ended_is_written_however_often_the_journal_fails() {
    let mut world = World::running();
    world.journal.appends = Mode::FailsAfterWriting;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Fails;
    // Each opens the journal again, which then fails before it has the end of the call.
    world.prompt(2, "two");
    world.prompt(2, "three");
    world.journal.appends = Mode::Answers;
    world.prompt(2, "four");
    world.end();
    world.assert_same(&[1, 2]);
    assert_kept(&world);
}

#[test]
fn c10_what_is_there_after_all_is_shown_when_no_power_loss_takes_it_away() {
    let mut world = World::running();
    world.journal.appends = Mode::FailsAfterWriting;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Stuck;
    world.forget();
    // The journal was found to have the call, which says nothing of the disk.
    world.attach(3, V2);
    assert_eq!(world.seen(1), [""; 0]);
    assert_eq!(world.seen(2), [""; 0]);
    world.unstick();
    assert!(world.seen(2).contains(&"call d in_progress".to_owned()));
    world.assert_same(&[1, 2, 3]);
    assert_kept(&world);
}

#[test]
fn c10_records_that_were_only_taken_and_are_there_after_all_are_nobody_elses() {
    let mut world = World::running();
    world.say("taken ");
    world.journal.appends = Mode::FailsAfterWriting;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Answers;
    let request = world.prompt(2, "two");
    assert_eq!(world.done().last().unwrap(), &format!("start {request}"));
    world.end();
    world.assert_same(&[1, 2]);
    assert_kept(&world);
}

#[test]
fn c10_an_option_change_under_way_fails_with_the_journal() {
    let mut world = World::running();
    world.update(crate::requests::options("small"));
    let set = crate::requests::set_option(&mut world, 2, "large");
    world.forget();
    world.journal.appends = Mode::Fails;
    world.call("c", v2::ToolCallStatus::InProgress);
    let seen = world.seen(2);
    assert!(
        seen.contains(&format!("refuse {set} the disk is full")),
        "{seen:?}"
    );
    // Nothing waits for it any more.
    world.journal.appends = Mode::Answers;
    let prompt = world.prompt(2, "two");
    assert_eq!(world.done().last().unwrap(), &format!("start {prompt}"));
}

#[test]
fn c10_what_a_client_has_not_read_when_it_loads_anew_is_not_sent_before() {
    let mut world = World::running();
    world.clients.get_mut(&2).unwrap().reads = false;
    world.say("words");
    world.journal.appends = Mode::Fails;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Answers;
    world.journal.opens = Mode::Stuck;
    world.attach(2, V2);
    world.pull(2, usize::MAX);
    assert_eq!(world.seen(2), [""; 0]);
    world.journal.opens = Mode::Answers;
    world.reopen_journal();
    world.pull(2, usize::MAX);
    world.assert_same(&[1, 2]);
}

#[test]
fn c10_words_that_were_only_taken_are_written_again_though_a_notice_came_after_them() {
    let mut world = World::running();
    world.say("taken ");
    let notice = v2::Notice::new(v2::NoticeSeverity::Info, "by the way");
    world.update(v2::SessionUpdate::Notice(notice));
    world.journal.appends = Mode::Fails;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Answers;
    world.prompt(2, "two");
    world.end();
    world.assert_same(&[1, 2]);
    assert_kept(&world);
}

#[test]
fn words_that_belong_to_no_turn_are_written_when_the_last_client_leaves() {
    let mut world = World::running();
    world.end();
    world.journal.appends = Mode::Fails;
    world.say("by the way");
    assert!(world.core.has_failed());
    world.journal.appends = Mode::Answers;
    world.forget();
    world.detach(1);
    world.detach(2);
    let done = world.done();
    assert!(done[0].starts_with("open "), "{done:?}");
    assert_eq!(done[1..], ["release", "over"]);
    assert_kept(&world);
}

#[test]
fn c10_words_that_belong_to_no_turn_come_after_what_is_there_after_all() {
    let mut world = World::running();
    world.journal.appends = Mode::FailsAfterWriting;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Answers;
    world.turn = None;
    world.say("by the way");
    world.prompt(2, "two");
    world.end();
    world.assert_same(&[1, 2]);
    assert_kept(&world);
    assert!(world.clients[&2].text().contains("by the way"));
}

#[test]
fn c10_words_that_belong_to_no_turn_wait_for_a_journal_that_cannot_be_opened() {
    let mut world = failed();
    world.say("by the way");
    world.journal.opens = Mode::Fails;
    world.prompt(1, "two");
    world.journal.opens = Mode::Answers;
    world.prompt(1, "three");
    world.end();
    world.assert_same(&[1, 2]);
    assert_kept(&world);
    assert!(world.clients[&2].text().contains("by the way"));
}

#[test]
fn a_session_whose_end_was_kept_after_all_is_closed_as_finished() {
    let mut world = World::running();
    world.journal.appends = Mode::FailsAfterWriting;
    world.end();
    world.journal.appends = Mode::Answers;
    // It may have the records and not what listings say.
    world.journal.descriptions.clear();
    world.forget();
    world.detach(1);
    world.detach(2);
    assert_eq!(world.done().last().unwrap(), "over");
    let said = world.journal.descriptions.last().expect("it is said");
    assert_eq!(said.unfinished, Some(false));
    assert_kept(&world);
}

#[test]
fn a_turn_that_was_cut_off_is_ended_in_the_journal_when_the_last_client_leaves() {
    let mut world = World::running();
    world.journal.appends = Mode::Fails;
    world.call("d", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Answers;
    world.forget();
    // The journal has everything but the end.
    world.detach(1);
    world.detach(2);
    let done = world.done();
    assert!(done[0].starts_with("open "), "{done:?}");
    assert_eq!(done[1..], ["release", "over"]);
    assert!(world.journal.text().last().unwrap().contains("\"idle\""));
    assert_kept(&world);
}

#[test]
fn c10_code_that_asks_while_the_journal_has_failed_hears_that_the_session_is_over() {
    let mut world = failed();
    world.step(Input::Ask(crate::stuck::permission(&world)));
    assert_eq!(world.done(), ["abandon"]);
    world.journal.opens = Mode::Fails;
    world.close(1);
    let done = world.done();
    assert!(done.contains(&"resolve 1 cancelled".to_owned()), "{done:?}");
    assert_eq!(done.last().unwrap(), "over");
}

#[test]
fn c10_a_client_that_comes_while_the_last_one_leaves_keeps_the_session() {
    let mut world = failed();
    world.journal.opens = Mode::Stuck;
    world.forget();
    let attach = world.attach(3, V2);
    world.detach(1);
    world.detach(2);
    world.journal.opens = Mode::Answers;
    world.reopen_journal();
    assert!(world.seen(3).contains(&format!("answer {attach}")));
    assert!(!world.done().contains(&"over".to_owned()));
    world.assert_same(&[3]);
}

#[test]
fn c10_words_that_wait_for_the_journal_do_not_keep_a_session_that_everybody_left() {
    let mut world = failed();
    world.say("by the way");
    world.forget();
    world.detach(1);
    world.detach(2);
    world.pass(Duration::from_secs(600));
    let done = world.done();
    assert_eq!(done.last().map(String::as_str), Some("over"), "{done:?}");
    assert!(
        world
            .journal
            .text()
            .iter()
            .any(|record| record.contains("by the way"))
    );
    assert_kept(&world);
}

#[test]
fn c10_a_session_that_was_almost_left_has_its_journal_opened_for_its_next_end_too() {
    let mut world = failed();
    world.say("by the way");
    world.journal.opens = Mode::Stuck;
    world.detach(1);
    world.detach(2);
    world.attach(3, V2);
    world.journal.opens = Mode::Answers;
    world.reopen_journal();
    world.journal.appends = Mode::Fails;
    world.prompt(3, "two");
    world.journal.appends = Mode::Answers;
    world.turn = None;
    world.say("once more");
    world.detach(3);
    assert_eq!(world.done().last().unwrap(), "over");
    let records = world.journal.text();
    assert!(records.iter().any(|record| record.contains("once more")));
    assert_kept(&world);
}
