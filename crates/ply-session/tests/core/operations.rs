//! Prompts with a key: sent again, they are carried out once and answered alike.

use ply_session::{Input, OPERATION_KEY_BYTES_MAX, OPERATIONS_MAX, Prompt, Settings, ViewId};
use ply_wire::v2;

use crate::journal::Mode;
use crate::world::{V1, V2, World};

fn with_clients() -> World {
    let mut world = World::new();
    world.attach(1, V1);
    world.attach(2, V2);
    world.forget();
    world
}

/// Sends a prompt under the key `k`.
fn send(world: &mut World, view: u64) -> u64 {
    world.prompt_as(view, "once", Some("k"))
}

#[test]
fn a_prompt_sent_again_while_it_runs_gets_the_same_answer() {
    for sender in [1, 2] {
        let mut world = with_clients();
        let first = send(&mut world, sender);
        world.forget();
        let (v1, v2) = (send(&mut world, 1), send(&mut world, 2));
        assert_eq!(world.done(), [""; 0], "it runs already");
        assert_eq!(world.seen(2), [format!("answer {v2} msg-e1-1")]);
        world.end();
        assert_eq!(world.done(), [""; 0]);
        let seen = world.seen(1);
        assert!(seen.contains(&format!("answer {v1} end_turn")), "{seen:?}");
        assert_eq!(
            seen.contains(&format!("answer {first} end_turn")),
            sender == 1
        );
        let records = world.journal.text();
        let count = |what: &str| {
            records
                .iter()
                .filter(|record| record.contains(what))
                .count()
        };
        assert_eq!((count("user_message"), count("operation")), (1, 1));
    }
}

#[test]
fn a_prompt_sent_again_after_its_end_gets_the_same_answer() {
    let mut world = with_clients();
    send(&mut world, 1);
    world.end_with(ply_session::Outcome::Stopped(ply_session::Stop::MaxTokens));
    world.forget();
    let (v1, v2) = (send(&mut world, 1), send(&mut world, 2));
    assert_eq!(world.seen(1), [format!("answer {v1} max_tokens")]);
    assert_eq!(world.seen(2), [format!("answer {v2} msg-e1-1")]);
    let other = world.prompt_as(1, "another", Some("l"));
    assert_eq!(world.done(), [format!("start {other}")]);
}

#[test]
fn a_prompt_sent_again_to_the_next_process_gets_the_same_answer() {
    let mut world = with_clients();
    send(&mut world, 1);
    world.end();
    let mut world = world.reopen();
    world.attach(1, V1);
    world.attach(2, V2);
    world.forget();
    let (v1, v2) = (send(&mut world, 1), send(&mut world, 2));
    assert_eq!(world.seen(1), [format!("answer {v1} end_turn")]);
    assert_eq!(world.seen(2), [format!("answer {v2} msg-e1-1")]);
    assert_eq!(world.done(), [""; 0]);
}

#[test]
fn a_prompt_that_a_crash_cut_off_is_not_carried_out_again() {
    let mut world = with_clients();
    send(&mut world, 2);
    world.call("c", v2::ToolCallStatus::InProgress);
    let mut world = world.reopen();
    world.attach(1, V1);
    world.attach(2, V2);
    world.forget();
    let (v1, v2) = (send(&mut world, 1), send(&mut world, 2));
    assert_eq!(world.seen(1), [format!("refuse {v1} The turn was interru")]);
    assert_eq!(world.seen(2), [format!("answer {v2} msg-e1-1")]);
    assert_eq!(world.done(), [""; 0]);
}

#[test]
fn a_prompt_that_a_failed_journal_ended_is_not_carried_out_again() {
    for view in [1, 2] {
        let mut world = with_clients();
        send(&mut world, view);
        world.journal.appends = Mode::Fails;
        world.call("c", v2::ToolCallStatus::InProgress);
        world.journal.appends = Mode::Answers;
        world.forget();
        let again = send(&mut world, view);
        let done = world.done();
        assert!(done.iter().all(|done| done.starts_with("open")), "{done:?}");
        let expected = match view {
            1 => format!("refuse {again} the disk is full"),
            _ => format!("answer {again} msg-e1-1"),
        };
        assert_eq!(world.seen(view).last().unwrap(), &expected);
    }
}

#[test]
fn a_prompt_that_was_refused_may_be_sent_again() {
    let mut world = with_clients();
    world.prompt(2, "busy");
    let first = send(&mut world, 1);
    let repeat = send(&mut world, 2);
    world.forget();
    world.withdraw(first);
    assert_eq!(world.seen(1), [format!("answer {first} cancelled")]);
    assert_eq!(
        world.seen(2),
        [format!("refuse {repeat} The prompt was cance")]
    );
    world.end();
    let again = send(&mut world, 1);
    assert_eq!(world.done(), [format!("start {again}")]);
}

#[test]
fn a_prompt_whose_sender_is_gone_answers_the_one_that_came_back() {
    let mut world = with_clients();
    send(&mut world, 1);
    world.detach(1);
    world.attach(3, V1);
    world.forget();
    let again = send(&mut world, 3);
    world.end();
    assert_eq!(world.seen(3), [format!("answer {again} end_turn")]);
}

#[test]
fn a_repeat_is_answered_when_its_sender_takes_it_back_or_leaves() {
    for leaves in [false, true] {
        let mut world = with_clients();
        send(&mut world, 2);
        let repeat = send(&mut world, 1);
        world.forget();
        if leaves {
            world.detach(1);
            assert_eq!(
                world.done(),
                [format!("refuse {repeat} The request was canc")]
            );
        } else {
            world.withdraw(repeat);
            assert_eq!(
                world.seen(1),
                [format!("refuse {repeat} The request was canc")]
            );
        }
        world.end();
        assert_eq!(world.done(), [""; 0], "and once");
    }
}

#[test]
fn a_repeat_is_answered_when_the_journal_fails() {
    let mut world = with_clients();
    send(&mut world, 2);
    let repeat = send(&mut world, 1);
    world.forget();
    world.journal.appends = Mode::Fails;
    world.call("c", v2::ToolCallStatus::InProgress);
    let seen = world.seen(1);
    assert!(
        seen.contains(&format!("refuse {repeat} the disk is full")),
        "{seen:?}"
    );
}

#[test]
fn a_repeat_is_answered_however_many_keys_come_meanwhile() {
    let mut settings = Settings::default();
    settings.steering = true;
    let mut world = World::with(settings);
    world.attach(1, V1);
    world.attach(2, V2);
    send(&mut world, 1);
    let repeat = send(&mut world, 1);
    for number in 0..OPERATIONS_MAX {
        let request = world.request();
        world.step(Input::Prompt(Prompt {
            request,
            view: ViewId(2),
            content: vec!["more".to_owned().into()],
            operation: Some(format!("k{number}")),
            steers: true,
        }));
    }
    world.forget();
    world.end();
    let answer = format!("answer {repeat} end_turn");
    assert!(world.seen(1).contains(&answer));
}

#[test]
fn a_key_that_is_too_long_is_refused() {
    let mut world = with_clients();
    let key = "k".repeat(OPERATION_KEY_BYTES_MAX + 1);
    for view in [1, 2] {
        let prompt = world.prompt_as(view, "once", Some(&key));
        assert_eq!(
            world.seen(view),
            [format!("refuse {prompt} The key of a prompt ")]
        );
    }
    let prompt = world.prompt_as(2, "once", Some(&key[1..]));
    assert_eq!(world.done().last().unwrap(), &format!("start {prompt}"));
}

#[test]
fn a_prompt_that_is_in_the_journal_after_all_is_not_carried_out_again() {
    for view in [1, 2] {
        let mut world = with_clients();
        world.prompt(2, "first");
        world.end();
        world.journal.appends = Mode::FailsAfterWriting;
        let first = send(&mut world, view);
        let refused = format!("refuse {first} the disk is full");
        assert!(world.seen(view).contains(&refused));
        world.journal.appends = Mode::Answers;
        world.forget();
        // Its sender was told that it failed, and tries again.
        let again = send(&mut world, view);
        let done = world.done();
        assert!(done.iter().all(|done| done.starts_with("open")), "{done:?}");
        let seen = world.seen(view);
        let answer = seen.iter().find(|seen| seen.contains(&again.to_string()));
        let answer = answer.expect("it is answered");
        match view {
            1 => assert_eq!(*answer, format!("refuse {again} the disk is full")),
            _ => assert!(answer.starts_with("answer "), "{answer}"),
        }
        world.assert_same(&[1, 2]);
    }
}

/// Seed 36471.
#[test]
fn a_prompt_that_is_sent_again_after_the_session_was_lost_is_answered() {
    let mut world = World::new();
    world.attach(1, V1);
    world.prompt_as(1, "one", Some("key"));
    world.journal.releases = false;
    let error = v2::Error::new(-32603, "moved");
    world.step(Input::Lost { error });
    world.forget();
    let again = world.prompt_as(1, "one", Some("key"));
    assert_eq!(world.seen(1), [""; 0]);
    world.step(Input::Released);
    let seen = world.seen(1);
    let refused = format!("refuse {again}");
    assert!(
        seen.iter().any(|line| line.starts_with(&refused)),
        "{seen:?}"
    );
}

#[test]
fn the_key_of_another_prompt_is_refused() {
    for view in [1, 2] {
        let mut world = with_clients();
        let refused = |world: &mut World| {
            world.forget();
            let other = world.prompt_as(view, "another", Some("k"));
            assert_eq!(
                world.seen(view),
                [format!("refuse {other} The key of this prom")]
            );
            assert_eq!(world.done(), [""; 0]);
        };
        world.prompt(2, "busy");
        send(&mut world, view);
        refused(&mut world);
        // Its turn begins, and ends.
        world.end();
        refused(&mut world);
        world.end();
        refused(&mut world);
        let mut world = world.reopen();
        world.attach(1, V1);
        world.attach(2, V2);
        refused(&mut world);
    }
}
