//! A journal that does not answer holds up what depends on it, and nothing else.

use std::time::Duration;

use ply_session::{
    Answer, Ask, AskId, CLOSE_TIME_MAX, Input, Level, Question, RECORD_TEXT_BYTES_MAX, Reply,
    Settings, ViewId,
};
use ply_wire::v2;

use crate::journal::Mode;
use crate::world::{V1, V2, World};

fn stuck() -> World {
    let mut world = World::running();
    world.journal.appends = Mode::Stuck;
    world
}

pub(crate) fn permission(world: &World) -> Ask {
    let yes = v2::PermissionOptionKind::AllowOnce;
    let options = vec![v2::PermissionOption::new("yes", "Yes", yes)];
    let request = v2::RequestPermissionRequest::new("s", "Really?", options);
    Ask {
        id: AskId(1),
        turn: world.turn,
        question: Question::Permission(Box::new(request)),
    }
}

fn answer(world: &mut World, view: u64) {
    let reply = Reply::Selected(v2::PermissionOptionId::new("yes"));
    let (ask, view) = (AskId(1), ViewId(view));
    world.step(Input::Answer { ask, view, reply });
}

#[test]
fn c3_a_cancel_reaches_the_code_at_once() {
    let mut world = stuck();
    // Not even what the call's beginning waits for is in its way.
    world.call("c", v2::ToolCallStatus::InProgress);
    world.cancel(2);
    assert_eq!(world.done(), ["cancel"]);
}

#[test]
fn c3_the_end_is_told_when_it_is_safe_and_not_before() {
    let mut world = stuck();
    world.cancel(2);
    world.end();
    assert_eq!(world.seen(1), [""; 0]);
    assert_eq!(world.seen(2), [""; 0]);
    world.pass(Duration::from_secs(3600));
    assert_eq!(world.seen(1), [""; 0]);
    world.unstick();
    assert_eq!(world.seen(1), ["answer 3 cancelled"]);
    assert_eq!(world.seen(2), ["idle cancelled"]);
}

#[test]
fn c3_a_client_that_attaches_sees_what_is_safe() {
    let mut world = World::running();
    world.say("safe");
    world.journal.appends = Mode::Stuck;
    world.call("c", v2::ToolCallStatus::InProgress);
    world.say("not yet");
    let request = world.attach(3, V2);
    let expected = [
        "user one",
        "say safe",
        "running",
        &format!("answer {request}"),
    ];
    assert_eq!(world.seen(3), expected);
    world.unstick();
    assert_eq!(world.seen(3), ["call c in_progress", "say not yet"]);
    world.end();
    world.assert_same(&[1, 2, 3]);
}

#[test]
fn c3_a_prompt_is_answered_when_it_is_safe() {
    for version in [V1, V2] {
        let mut world = World::new();
        world.attach(1, version);
        world.journal.appends = Mode::Stuck;
        world.forget();
        world.prompt(1, "one");
        assert_eq!(world.seen(1), [""; 0]);
        assert_eq!(world.done(), ["create"]);
        world.unstick();
        assert_eq!(world.done(), ["start 2"]);
        world.end();
        let seen = world.seen(1);
        let expected: &[&str] = match version {
            V1 => &["answer 2 end_turn"],
            V2 => &["user one", "answer 2 msg-e1-1", "running", "idle end_turn"],
        };
        assert_eq!(seen, expected);
    }
}

#[test]
fn c3_an_approval_counts_when_it_is_safe_and_a_refusal_at_once() {
    let mut world = World::running();
    world.step(Input::Ask(permission(&world)));
    world.journal.appends = Mode::Stuck;
    world.forget();
    answer(&mut world, 2);
    assert_eq!(world.done(), ["retract 1 from 1"]);
    world.unstick();
    assert_eq!(world.done(), ["resolve 1 yes"]);

    let mut world = World::running();
    world.step(Input::Ask(permission(&world)));
    world.journal.appends = Mode::Stuck;
    world.forget();
    world.cancel(2);
    let done = world.done();
    assert_eq!(done[0], "cancel");
    assert_eq!(done.last().unwrap(), "resolve 1 cancelled");
}

#[test]
fn c3_a_turn_that_was_not_started_is_cancelled_without_its_code() {
    let mut world = World::new();
    world.attach(1, V1);
    world.journal.appends = Mode::Stuck;
    world.prompt(1, "one");
    world.forget();
    world.cancel(1);
    assert_eq!(world.done(), [""; 0]);
    world.unstick();
    assert_eq!(world.done(), [""; 0]);
    assert_eq!(world.seen(1), ["answer 2 cancelled"]);
    assert_eq!(world.core.engine().running(), None);
}

#[test]
fn words_are_shown_at_once_by_default_and_when_written_where_the_host_wants_so() {
    let mut world = stuck();
    world.say("at once");
    assert_eq!(world.seen(2), ["say at once"]);

    let mut settings = Settings::default();
    settings.shows = Level::Written;
    let mut world = World::running_with(settings);
    world.journal.appends = Mode::Stuck;
    world.say("later");
    assert_eq!(world.seen(1), [""; 0]);
    assert_eq!(world.seen(2), [""; 0]);
    world.unstick();
    assert_eq!(world.seen(1), ["say later"]);
    assert_eq!(world.seen(2), ["say later"]);
    assert!(
        world
            .journal
            .levels
            .iter()
            .all(|level| *level >= Level::Written)
    );
}

#[test]
fn an_answer_that_nobody_gave_is_no_approval() {
    let mut world = World::running();
    world.step(Input::Ask(permission(&world)));
    world.forget();
    let (ask, view, reply) = (AskId(1), ViewId(1), Reply::Failed);
    world.step(Input::Answer { ask, view, reply });
    assert_eq!(world.done(), [""; 0], "the other client can still answer");
    let (ask, view, reply) = (AskId(1), ViewId(2), Reply::Failed);
    world.step(Input::Answer { ask, view, reply });
    let unanswered = serde_json::to_value(Answer::Unanswered).unwrap();
    assert_eq!(
        world.done(),
        [format!("resolve 1 {}", unanswered.as_str().unwrap())]
    );
}

#[test]
fn words_that_wait_together_are_not_joined_to_a_record_of_any_size() {
    let mut world = stuck();
    let text = "x".repeat(RECORD_TEXT_BYTES_MAX / 2 + 1);
    for _ in 0..5 {
        world.say(&text);
    }
    world.unstick();
    let longest = world.journal.records.iter().map(Vec::len).max();
    assert!(longest < Some(RECORD_TEXT_BYTES_MAX), "{longest:?}");
}

/// Seed 9117.
#[test]
fn what_waits_for_a_journal_is_answered_when_a_report_comes_before_the_clock() {
    let mut world = World::new();
    world.attach(1, V2);
    world.prompt(1, "one");
    world.end();
    world.journal.appends = Mode::Stuck;
    world.forget();
    let request = world.request();
    let title = "A name".to_owned();
    world.step(Input::SetTitle { request, title });
    let close = world.close(1);
    // The deadline has passed, but the first to come is not the clock.
    world.now += CLOSE_TIME_MAX + Duration::from_secs(1);
    world.say("late");
    let done = world.done();
    let refused = format!("refuse {}", request.0);
    assert!(
        done.iter().any(|effect| effect.starts_with(&refused)),
        "{done:?}"
    );
    let seen = world.seen(1);
    assert_eq!(seen.last(), Some(&format!("answer {close}")), "{seen:?}");
}

#[test]
fn a_client_that_attaches_behind_marks_of_lines_sees_everything_once() {
    let mut world = World::running();
    for line in 1..4 {
        world.say("one ");
        world.step(Input::Lines { upto: line });
    }
    world.journal.appends = Mode::Stuck;
    world.say("two ");
    // From here on what clients may see is less than what was said.
    world.call("c", v2::ToolCallStatus::InProgress);
    world.attach(3, V2);
    world.attach(4, V1);
    world.journal.appends = Mode::Answers;
    world.unstick();
    world.end();
    world.assert_same(&[1, 2, 3, 4]);
}
