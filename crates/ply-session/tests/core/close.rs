//! The end of a session: in order, and in time whatever the journal does.

use ply_session::{CANCEL_TIME_MAX, CLOSE_TIME_MAX, Input, Keep, RequestId, Settings};
use ply_wire::v2;

use crate::journal::Mode;
use crate::world::{V1, V2, World};

#[test]
fn the_idle_comes_first_then_the_prompts_answer_then_that_of_the_close() {
    let mut world = World::running();
    let own = world.prompt(2, "queued");
    let (first, second) = (world.close(1), world.close(2));
    assert_eq!(world.done(), ["cancel"]);
    assert_eq!(
        world.seen(2),
        [format!("refuse {own} The prompt was cance")]
    );
    world.say("I stop");
    world.end();
    assert_eq!(world.done(), ["release", "over"]);
    let expected = [
        "say I stop",
        "answer 3 cancelled",
        &format!("answer {first}"),
    ];
    assert_eq!(world.seen(1), expected);
    let expected = ["say I stop", "idle cancelled", &format!("answer {second}")];
    assert_eq!(world.seen(2), expected);
    world.assert_same(&[1, 2]);
}

#[test]
fn a_slow_client_is_shown_everything_before_the_answer_to_its_close() {
    let mut world = World::running();
    for view in [1, 2] {
        world.clients.get_mut(&view).unwrap().reads = false;
    }
    let text = "x".repeat(100_000);
    for _ in 0..20 {
        world.say(&text);
    }
    let close = world.close(2);
    world.end();
    assert_eq!(world.done(), ["cancel", "release", "over"]);
    world.pull(1, usize::MAX);
    world.pull(2, usize::MAX);
    world.assert_same(&[1, 2]);
    assert_eq!(world.seen(1).last().unwrap(), "answer 3 cancelled");
    assert_eq!(world.seen(2).last().unwrap(), &format!("answer {close}"));
}

#[test]
fn code_that_hangs_does_not_keep_a_session_open() {
    let mut world = World::running();
    world.close(2);
    world.pass(CANCEL_TIME_MAX);
    assert_eq!(world.done(), ["cancel", "abandon", "release", "over"]);
}

#[test]
fn a_journal_that_never_answers_is_given_up() {
    let mut world = World::running();
    world.journal.appends = Mode::Stuck;
    let close = world.close(2);
    world.end();
    world.pass(CLOSE_TIME_MAX / 2);
    assert_eq!(world.done(), ["cancel"]);
    world.pass(CLOSE_TIME_MAX);
    assert_eq!(world.done(), ["release", "over"]);
    // Nobody is told that something is safe which is not.
    assert_eq!(world.seen(1), ["refuse 3 the journal does not"]);
    let expected = [
        "idle error the journal does not".to_owned(),
        format!("answer {close}"),
    ];
    assert_eq!(world.seen(2), expected);
}

#[test]
fn a_journal_that_never_opens_is_given_up() {
    let mut world = World::running();
    world.journal.appends = Mode::Fails;
    world.journal.opens = Mode::Stuck;
    world.call("c", v2::ToolCallStatus::InProgress);
    world.forget();
    let prompt = world.prompt(2, "two");
    let close = world.close(2);
    world.pass(CLOSE_TIME_MAX);
    let done = world.done();
    assert_eq!(
        done[1..],
        [
            format!("refuse {prompt} the journal does not"),
            "release".into(),
            "over".into()
        ]
    );
    assert_eq!(world.seen(2).last().unwrap(), &format!("answer {close}"));
}

#[test]
fn a_session_that_was_cut_off_and_cannot_be_repaired_still_closes() {
    let mut world = World::running();
    world.say("half");
    let journal = world.journal.records.clone();
    world = world.reopen();
    assert!(
        world.journal.records.len() > journal.len(),
        "it was repaired"
    );

    let mut world = World::running();
    world.call("c", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Stuck;
    world = world.reopen();
    let attach = world.attach(1, V2);
    let close = world.close_with(None, Keep::IfUsed);
    assert_eq!(close, 0);
    world.pass(CLOSE_TIME_MAX);
    let done = world.done();
    assert_eq!(done[0], format!("refuse {attach} the journal does not"));
    assert_eq!(done[1..], ["release", "over"]);
}

#[test]
fn a_client_that_comes_too_late_is_for_the_next_life() {
    let mut world = World::running();
    world.close(1);
    let late = world.attach(3, V2);
    assert_eq!(world.seen(3), [""; 0]);
    world.end();
    assert_eq!(world.done(), ["cancel", "release", "over"]);
    let later = world.attach(4, V1);
    let waiting = world.core.take_waiting();
    let requests: Vec<_> = waiting.iter().map(Input::request).collect();
    assert_eq!(requests, [Some(RequestId(late)), Some(RequestId(later))]);
    assert_eq!(world.seen(3), [""; 0]);
}

#[test]
fn prompts_after_the_close_are_refused() {
    let mut world = World::running();
    world.close(1);
    let prompt = world.prompt(2, "too late");
    assert_eq!(
        world.seen(2),
        [format!("refuse {prompt} The session is close")]
    );
    world.end();
    let prompt = world.prompt(2, "much too late");
    assert!(
        world
            .seen(2)
            .contains(&format!("refuse {prompt} The session is close"))
    );
}

#[test]
fn an_option_change_under_way_is_answered_when_the_session_is_over() {
    let mut world = World::new();
    world.update(crate::requests::options("small"));
    world.attach(2, V2);
    let set = crate::requests::set_option(&mut world, 2, "large");
    world.forget();
    let close = world.close(2);
    let seen = world.seen(2);
    assert_eq!(seen[0], format!("refuse {set} There is no such ses"));
    assert_eq!(seen.last().unwrap(), &format!("answer {close}"));
}

#[test]
fn a_closed_session_opens_again_with_everything() {
    let mut world = World::running();
    world.say("words");
    world.close(1);
    world.end();
    let mut world = world.reopen();
    world.attach(1, V1);
    world.attach(2, V2);
    world.assert_same(&[1, 2]);
    world.prompt(1, "again");
    world.say("yes");
    world.end();
    world.assert_same(&[1, 2]);
    assert!(
        world
            .journal
            .text()
            .iter()
            .any(|record| record.contains("msg-e2-"))
    );
}

#[test]
fn a_session_that_was_cut_off_is_seen_when_its_end_is_safe() {
    let mut world = World::running();
    world.call("c", v2::ToolCallStatus::InProgress);
    world.journal.appends = Mode::Stuck;
    let mut world = world.reopen();
    let attach = world.attach(1, V2);
    assert_eq!(
        world.seen(1),
        [""; 0],
        "what it would be shown may not survive"
    );
    world.unstick();
    assert_eq!(world.seen(1).last().unwrap(), &format!("answer {attach}"));
    world.assert_same(&[1]);
    let mut calls = world.clients[&1].transcript.tool_calls();
    assert!(calls.all(|call| call.is_finished()));
}

#[test]
fn a_client_that_closes_what_it_waits_to_see_does_not_see_it() {
    let mut world = World::unprepared(Settings::default());
    let attach = world.attach(1, V2);
    let close = world.close(1);
    let done = world.done();
    assert_eq!(done[0], format!("refuse {attach} The request was canc"));
    assert_eq!(
        done[done.len() - 2..],
        [format!("answer {close}"), "over".to_owned()]
    );
    assert!(world.core.take_waiting().is_empty());

    // The same while another client closes it.
    let mut world = World::running();
    world.close(2);
    world.forget();
    let attach = world.attach(3, V2);
    let close = world.close(3);
    world.end();
    let done = world.done();
    assert_eq!(done[0], format!("refuse {attach} The request was canc"));
    assert!(done.contains(&format!("answer {close}")));
    assert!(world.core.take_waiting().is_empty());
}

#[test]
fn c13_a_prompt_behind_a_client_that_came_too_late_is_for_the_next_life_too() {
    let mut world = World::running();
    world.close(1);
    let late = world.attach(3, V2);
    let prompt = world.prompt(3, "to the next");
    assert_eq!(world.done(), ["cancel"]);
    world.end();
    assert_eq!(world.done(), ["release", "over"]);
    let waiting = world.core.take_waiting();
    let requests: Vec<_> = waiting.iter().map(Input::request).collect();
    assert_eq!(requests, [Some(RequestId(late)), Some(RequestId(prompt))]);
}

#[test]
fn c11_a_delete_that_comes_while_the_journal_is_closed_is_for_the_next_life() {
    let mut world = World::running();
    world.end();
    world.journal.releases = false;
    world.close(1);
    world.forget();
    let delete = world.close_with(Some(2), Keep::Nothing);
    world.step(Input::Released);
    assert_eq!(world.done(), ["over"]);
    assert!(!world.seen(2).contains(&format!("answer {delete}")));
    let waiting = world.core.take_waiting();
    let requests: Vec<_> = waiting.iter().map(Input::request).collect();
    assert_eq!(requests, [Some(RequestId(delete))]);
}

#[test]
fn c11_a_delete_that_failed_is_not_answered_as_done() {
    let mut world = World::running();
    world.end();
    world.journal.releases = false;
    world.forget();
    let delete = world.close_with(Some(2), Keep::Nothing);
    assert_eq!(world.done(), ["delete"]);
    let error = crate::world::failure();
    world.step(Input::NotReleased { error });
    assert_eq!(world.seen(2), [format!("refuse {delete} the disk is full")]);
}

/// Closes an idle session for two requests in a row, the first without a view. Returns what both are told once the journal has
/// `failed` or not, and which of them are left for the next life.
fn closed_twice(first: Keep, second: Keep, failed: bool) -> ([String; 2], Vec<u64>) {
    let mut world = World::running();
    // Both are there before the journal is given back.
    let first = world.close_by_host(first);
    let second = world.close_by_host(second);
    world.journal.releases = false;
    world.end();
    let error = crate::world::failure();
    world.step(match failed {
        true => Input::NotReleased { error },
        false => Input::Released,
    });
    let done = world.done();
    let told = [first, second].map(|request| {
        let words = done.iter().filter_map(|done| {
            let (word, rest) = done.split_once(' ')?;
            let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            (number == request.to_string()).then(|| format!("{word} {rest}").trim().to_owned())
        });
        words.collect::<Vec<_>>().join(", ")
    });
    let waiting = world.core.take_waiting();
    let waiting = waiting.iter().filter_map(Input::request);
    (told, waiting.map(|request| request.0 - first + 1).collect())
}

#[track_caller]
fn check_twice(kinds: [Keep; 2], failed: bool, told: [&str; 2], waiting: &[u64]) {
    let (heard, left) = closed_twice(kinds[0], kinds[1], failed);
    assert_eq!(heard, told, "{kinds:?} {failed}");
    assert_eq!(left, waiting, "{kinds:?} {failed}");
}

#[test]
fn each_request_that_ends_a_session_is_told_what_became_of_its_own() {
    use Keep::{All, Archived, Nothing};
    let disk = "refuse the disk is full";
    // Behind a delete there is nothing to archive, unless it fails: the next life tells.
    check_twice([Nothing, Archived], false, ["answer", ""], &[2]);
    check_twice([Nothing, Archived], true, [disk, ""], &[2]);
    // One that came first was archived, as far as anybody can tell.
    check_twice([Archived, Nothing], false, ["answer", "answer"], &[]);
    check_twice([Archived, Nothing], true, [disk, disk], &[]);
    // The session is closed, whatever comes of its journal.
    check_twice([Nothing, All], false, ["answer", "answer"], &[]);
    check_twice([Nothing, All], true, [disk, "answer"], &[]);
    check_twice([Archived, All], true, [disk, "answer"], &[]);
    check_twice([All, Archived], true, ["answer", disk], &[]);
    check_twice([All, Archived], false, ["answer", "answer"], &[]);
}

#[test]
fn an_archive_of_a_session_that_was_never_ready_is_not_answered_as_done() {
    let mut world = World::unprepared(Settings::default());
    world.journal.releases = false;
    world.journal.creates = Mode::Stuck;
    let archive = world.close_by_host(Keep::Archived);
    let error = crate::world::failure();
    world.step(Input::Prepared {
        outcome: Err(error),
    });
    world.pass(CLOSE_TIME_MAX);
    assert_eq!(world.done(), ["create", "delete"]);
    world.step(Input::Released);
    let refused = format!("refuse {archive} There is no such ses");
    assert_eq!(world.done(), [refused, "over".to_owned()]);
}
