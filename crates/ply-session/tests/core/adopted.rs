//! A session that another process takes over while its runner goes on: nothing in it is ended.

use ply_session::{Input, ViewId};
use ply_wire::v2;

use crate::questions::{answer, ask};
use crate::world::{V1, V2, World};

/// Returns a session that was taken over in a turn with an open call, a question about it and words in front.
fn adopted() -> World {
    let mut world = World::new();
    world.attach(1, V1);
    world.prompt_as(1, "once", Some("k"));
    world.say("words");
    ask(&mut world, 7, v2::ToolCallUpdate::new("c").title("Write"));
    world.adopt()
}

#[test]
fn nothing_is_written_and_the_turn_goes_on() {
    let mut world = adopted();
    let records = world.journal.records.len();
    assert!(world.turn.is_some(), "it runs");
    world.attach(2, V2);
    let seen = world.seen(2);
    assert!(seen.contains(&"requires_action".to_owned()), "{seen:?}");
    assert_eq!(seen.last().unwrap(), "ask 7");
    assert_eq!(world.journal.records.len(), records);
    answer(&mut world, 7, 2);
    assert_eq!(world.done(), ["resolve 7 yes"]);
    world.say(" and more");
    world.end();
    assert_eq!(world.seen(2).last().unwrap(), "idle end_turn");
    world.assert_same(&[2]);
    let next = world.prompt(2, "next");
    assert_eq!(world.done(), [format!("start {next}")]);
}

#[test]
fn a_prompt_sent_again_waits_for_the_turn_that_goes_on() {
    let mut world = adopted();
    world.attach(1, V1);
    world.attach(2, V2);
    world.forget();
    let (v1, v2) = (
        world.prompt_as(1, "once", Some("k")),
        world.prompt_as(2, "once", Some("k")),
    );
    assert_eq!(world.done(), [""; 0], "it runs already");
    assert_eq!(world.seen(2), [format!("answer {v2} msg-e1-1")]);
    world.end();
    let seen = world.seen(1);
    assert!(seen.contains(&format!("answer {v1} end_turn")), "{seen:?}");
}

#[test]
fn a_cancel_reaches_the_runner_and_ends_what_is_open() {
    let mut world = adopted();
    world.attach(2, V2);
    world.forget();
    world.step(Input::Cancel {
        view: Some(ViewId(2)),
    });
    let done = world.done();
    assert!(done.contains(&"cancel".to_owned()), "{done:?}");
    world.end();
    let seen = world.seen(2);
    assert!(seen.contains(&"call c cancelled".to_owned()), "{seen:?}");
    assert_eq!(seen.last().unwrap(), "idle cancelled");
}
