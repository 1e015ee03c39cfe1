//! Barriers and the pace: when the agent's code waits, and for whom.

use std::time::Duration;

use ply_session::{How, Input, PACE_BYTES_MAX, Pace, Settings, UNWRITTEN_BYTES_MAX, ViewId};
use ply_wire::v2;

use crate::journal::Mode;
use crate::world::{V2, World};

fn barrier(world: &mut World, barrier: u64, view: Option<u64>) {
    let view = view.map(ViewId);
    world.step(Input::Barrier { barrier, view });
}

#[test]
fn a_barrier_is_passed_when_everything_before_it_is_safe() {
    let mut world = World::running();
    barrier(&mut world, 1, None);
    assert_eq!(world.done(), ["passed 1 safe"]);
    world.journal.appends = Mode::Stuck;
    world.call("c", v2::ToolCallStatus::InProgress);
    barrier(&mut world, 2, None);
    assert_eq!(world.done(), [""; 0]);
    world.unstick();
    assert_eq!(world.done(), ["passed 2 safe"]);
}

#[test]
fn a_barrier_for_a_client_is_passed_when_it_was_sent_everything_before() {
    let mut world = World::running();
    world.clients.get_mut(&2).unwrap().reads = false;
    world.say("before");
    barrier(&mut world, 1, Some(2));
    world.say("after");
    assert_eq!(world.done(), [""; 0]);
    world.pull(2, usize::MAX);
    assert_eq!(world.seen(2), ["say before", "passed 1", "say after"]);
    // Nothing is before this one that it was not sent.
    barrier(&mut world, 2, Some(2));
    assert_eq!(world.done(), ["passed 2 safe"]);
}

#[test]
fn a_barrier_for_a_client_far_behind_comes_in_its_place() {
    let mut world = World::running();
    world.clients.get_mut(&2).unwrap().reads = false;
    world.say("before");
    barrier(&mut world, 1, Some(2));
    let text = "x".repeat(100_000);
    for _ in 0..20 {
        world.say(&text);
    }
    world.pull(2, usize::MAX);
    let seen = world.seen(2);
    let at = seen.iter().position(|seen| seen == "passed 1");
    assert!(at.is_some_and(|at| at > 0), "{at:?}");
    world.end();
    world.pull(2, usize::MAX);
    world.assert_same(&[1, 2]);
}

#[test]
fn a_barrier_for_a_client_that_leaves_is_passed() {
    let mut world = World::running();
    world.clients.get_mut(&2).unwrap().reads = false;
    world.say("before");
    barrier(&mut world, 1, Some(2));
    world.detach(2);
    assert_eq!(world.done(), ["passed 1 safe"]);
    barrier(&mut world, 2, Some(2));
    assert_eq!(world.done(), ["passed 2 safe"]);
}

#[test]
fn a_barrier_is_lost_with_the_journal() {
    let mut world = World::running();
    world.clients.get_mut(&2).unwrap().reads = false;
    world.journal.appends = Mode::Stuck;
    world.call("c", v2::ToolCallStatus::InProgress);
    barrier(&mut world, 1, None);
    barrier(&mut world, 2, Some(2));
    world.fail_append();
    let mut done = world.done();
    done.sort();
    assert_eq!(done, ["abandon", "passed 1 lost", "passed 2 lost"]);
    barrier(&mut world, 3, None);
    assert_eq!(world.done(), ["passed 3 lost"]);
}

#[test]
fn the_agent_waits_only_while_every_client_is_behind() {
    let mut world = World::running();
    let text = "x".repeat(PACE_BYTES_MAX);
    world.say(&text);
    assert!(!world.core.is_paused());
    world.clients.get_mut(&1).unwrap().reads = false;
    world.say(&text);
    assert!(!world.core.is_paused(), "one of them reads");
    world.clients.get_mut(&2).unwrap().reads = false;
    world.say(&text);
    assert!(world.core.is_paused());
    world.pull(2, usize::MAX);
    assert!(!world.core.is_paused());
    world.detach(2);
    assert!(world.core.is_paused(), "the other one is behind");
    world.detach(1);
    assert!(!world.core.is_paused(), "nobody is there to wait for");
}

#[test]
fn the_agent_waits_while_every_client_is_behind_the_window() {
    let mut world = World::running();
    for view in [1, 2] {
        world.clients.get_mut(&view).unwrap().reads = false;
    }
    let text = "x".repeat(PACE_BYTES_MAX);
    for _ in 0..50 {
        world.say(&text);
    }
    assert!(world.core.is_paused());
    world.pull(1, usize::MAX);
    assert!(!world.core.is_paused());
}

#[test]
fn the_agent_waits_for_the_journal_whoever_reads() {
    for pace in [Pace::Views, Pace::Journal] {
        let mut settings = Settings::default();
        settings.pace = pace;
        let mut world = World::running_with(settings);
        world.journal.appends = Mode::Stuck;
        let text = "x".repeat(UNWRITTEN_BYTES_MAX / 4);
        world.say(&text);
        assert!(!world.core.is_paused());
        world.say(&text);
        world.say(&text);
        assert!(world.core.is_paused(), "{pace:?}");
        world.unstick();
        assert!(!world.core.is_paused(), "{pace:?}");
    }
}

#[test]
fn clients_do_not_set_the_pace_where_the_journal_does() {
    let mut settings = Settings::default();
    settings.pace = Pace::Journal;
    let mut world = World::with(settings);
    world.attach(1, V2);
    world.prompt(1, "one");
    world.clients.get_mut(&1).unwrap().reads = false;
    let text = "x".repeat(PACE_BYTES_MAX);
    for _ in 0..50 {
        world.say(&text);
        assert!(!world.core.is_paused());
    }
    world.end();
    world.pull(1, usize::MAX);
    world.assert_same(&[1]);
}

#[test]
fn a_barrier_waits_for_the_answer_to_the_attach_before_it() {
    let mut world = World::running();
    world.clients.get_mut(&2).unwrap().reads = false;
    let attach = world.attach_as(2, V2, How::Resume);
    barrier(&mut world, 1, Some(2));
    assert_eq!(world.done(), [""; 0]);
    world.pull(2, usize::MAX);
    let seen = world.seen(2);
    assert_eq!(
        seen[seen.len() - 2..],
        [format!("answer {attach}"), "passed 1".to_owned()]
    );
}

#[test]
fn a_barrier_for_the_only_client_that_is_behind_comes_after_everything() {
    let mut world = World::running();
    world.clients.get_mut(&2).unwrap().reads = false;
    let text = "x".repeat(100_000);
    for _ in 0..20 {
        world.say(&text);
    }
    world.end();
    // The others have read all of it, so that nothing of it is kept any more.
    world.pass(Duration::ZERO);
    barrier(&mut world, 1, Some(2));
    world.pull(2, usize::MAX);
    let seen = world.seen(2);
    assert_eq!(seen[seen.len() - 2..], ["idle end_turn", "passed 1"]);
}

#[test]
fn the_agent_waits_while_the_journal_has_failed() {
    let mut world = World::running();
    world.journal.appends = Mode::Fails;
    world.call("c", v2::ToolCallStatus::InProgress);
    assert!(world.core.is_paused());
    world.journal.appends = Mode::Answers;
    world.prompt(2, "two");
    assert!(!world.core.is_paused());
}

#[test]
fn the_agent_does_not_wait_for_what_was_given_up_with_the_journal() {
    let mut world = World::running();
    world.journal.appends = Mode::Stuck;
    world.call("c", v2::ToolCallStatus::InProgress);
    // Not shown to anybody, since the call before it is not safe.
    world.say(&"x".repeat(UNWRITTEN_BYTES_MAX));
    assert!(world.core.is_paused());
    world.fail_append();
    world.journal.appends = Mode::Answers;
    world.prompt(2, "two");
    assert!(!world.core.is_paused());
}

#[test]
fn the_agent_does_not_wait_for_clients_that_could_not_have_read_more() {
    let mut world = World::running();
    world.journal.appends = Mode::Stuck;
    world.call("c", v2::ToolCallStatus::InProgress);
    world.say(&"x".repeat(2 * PACE_BYTES_MAX));
    assert_eq!(world.seen(2), [""; 0], "it is not safe yet");
    assert!(!world.core.is_paused());
}
