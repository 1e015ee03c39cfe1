//! Prompts that are queued in the journal too: they survive their sender and the process.

use ply_session::{Input, Outcome, QueueChange, QueuedPrompts, Settings, Stop};
use ply_wire::v2;

use crate::world::{V1, V2, World, failure};

fn kept() -> Settings {
    let mut settings = Settings::default();
    settings.queued_prompts = QueuedPrompts::Stay;
    settings.last_client = ply_session::LastClient::Stays;
    settings
}

/// A turn of the first client, and two prompts that wait.
fn waiting() -> World {
    let mut world = World::running_with(kept());
    world.prompt(1, "two");
    world.prompt(2, "three");
    world.forget();
    world
}

fn queue(world: &World) -> Vec<String> {
    let text = |block: &v2::ContentBlock| match block {
        v2::ContentBlock::Text(text) => text.text.clone(),
        _ => String::new(),
    };
    let queued = world.core.history().queued().iter();
    queued
        .map(|queued| queued.content.iter().map(text).collect())
        .collect()
}

fn key(world: &World, place: usize) -> String {
    world.core.history().queued()[place].key.clone()
}

fn change(world: &mut World, change: QueueChange) -> Vec<String> {
    let request = world.request();
    world.forget();
    world.step(Input::Queue { request, change });
    world.done()
}

#[test]
fn a_queued_prompt_is_in_the_journal_until_its_turn_begins() {
    let mut world = waiting();
    assert_eq!(queue(&world), ["two", "three"]);
    world.end();
    assert_eq!(queue(&world), ["three"]);
    assert_eq!(world.reopen().core.history().queued().len(), 1);
}

#[test]
fn a_prompt_that_begins_at_once_is_never_queued() {
    let mut world = World::with(kept());
    world.attach(1, V1);
    world.prompt(1, "one");
    let records = world.journal.text();
    assert!(
        !records.iter().any(|record| record.contains("queue")),
        "{records:?}"
    );
}

#[test]
fn queued_prompts_outlive_their_senders() {
    let mut world = waiting();
    world.detach(1);
    world.detach(2);
    world.end();
    assert!(world.core.engine().running().is_some());
    world.end();
    world.end();
    assert_eq!(queue(&world), [""; 0]);
    let records = world.journal.text();
    let said = records
        .iter()
        .filter(|record| record.contains("user_message"));
    assert_eq!(said.count(), 3);
}

#[test]
fn what_waits_is_paused_after_a_turn_that_was_cut_off() {
    for cut in ["failed", "crashed"] {
        let mut world = waiting();
        match cut {
            "failed" => world.end_with(Outcome::Failed(failure())),
            _ => world = world.reopen(),
        }
        assert!(world.core.history().is_paused(), "{cut}");
        assert_eq!(world.core.engine().running(), None, "{cut}");
        assert_eq!(queue(&world), ["two", "three"], "{cut}");
        // Whoever waits is told so: at once, or when it comes back.
        let told = |seen: Vec<String>| seen.iter().any(|line| line.starts_with("notice 2 queued"));
        if cut == "failed" {
            assert!(told(world.seen(2)));
        }
        // Whoever prompts now is there, and does not wait for what is paused.
        world.attach(3, V2);
        assert!(told(world.seen(3)), "{cut}");
        world.forget();
        let now = world.prompt(3, "now");
        assert_eq!(world.done(), [format!("start {now}")]);
        world.end();
        assert_eq!(queue(&world), ["two", "three"], "{cut}");
        change(&mut world, QueueChange::Resumed);
        assert_eq!(queue(&world), ["three"], "{cut}");
        world.end();
        world.end();
        assert!(!world.core.history().is_paused());
    }
}

#[test]
fn a_cancel_drops_the_queued_prompts_of_its_own_client_and_pauses_the_others() {
    let mut settings = kept();
    settings.cancel = ply_session::CancelScope::Own;
    let mut world = World::running_with(settings);
    world.prompt(1, "two");
    world.prompt(2, "three");
    world.cancel(1);
    world.end_with(Outcome::Stopped(Stop::Cancelled));
    assert_eq!(queue(&world), ["three"]);
    assert!(world.core.history().is_paused());
}

#[test]
fn queued_prompts_are_edited_moved_and_dropped() {
    let mut world = waiting();
    let (two, three) = (key(&world, 0), key(&world, 1));
    change(
        &mut world,
        QueueChange::Moved {
            key: three.clone(),
            to: 0,
        },
    );
    assert_eq!(queue(&world), ["three", "two"]);
    change(
        &mut world,
        QueueChange::Edited {
            key: three,
            content: vec!["other words".into()],
        },
    );
    change(&mut world, QueueChange::Left { key: two.clone() });
    assert_eq!(queue(&world), ["other words"]);
    let refused = change(&mut world, QueueChange::Left { key: two });
    assert!(refused[0].starts_with("refuse"), "{refused:?}");
    world.forget();
    world.end();
    let seen = world.seen(2).join("\n");
    assert!(seen.contains("other words"), "{seen}");
}

#[test]
fn a_sender_of_a_dropped_prompt_is_told() {
    let mut world = World::running_with(kept());
    let two = world.prompt(1, "two");
    world.forget();
    let key = key(&world, 0);
    change(&mut world, QueueChange::Left { key });
    let seen = world.seen(1).join("\n");
    assert!(seen.contains(&format!("answer {two}")), "{seen}");
}

#[test]
fn a_session_that_is_closed_keeps_what_waits() {
    let mut world = waiting();
    world.close_by_host(ply_session::Keep::All);
    world.end_with(Outcome::Stopped(Stop::Cancelled));
    let world = world.reopen();
    assert_eq!(queue(&world), ["two", "three"]);
    assert!(world.core.history().is_paused());
}

#[test]
fn prompts_whose_senders_heard_of_a_failed_journal_are_not_carried_out() {
    let mut world = waiting();
    world.journal.appends = crate::journal::Mode::Fails;
    world.say("something");
    world.journal.appends = crate::journal::Mode::Answers;
    world.attach(3, V1);
    assert_eq!(queue(&world), [""; 0]);
    assert_eq!(world.core.engine().running(), None);
}

#[test]
fn a_prompt_from_a_shell_is_answered_when_it_is_taken() {
    let mut world = World::running_with(kept());
    let request = world.request();
    let content = vec!["from a shell".into()];
    world.step(Input::Post { request, content });
    assert_eq!(world.done(), [format!("answer {}", request.0)]);
    assert_eq!(queue(&world), ["from a shell"]);
    world.end();
    assert_eq!(world.done(), [format!("start {}", request.0)]);
    world.end();
    let seen = world.seen(1).join("\n");
    assert!(seen.contains("from a shell"), "everybody sees it: {seen}");
    let (request, content) = (world.request(), Vec::new());
    world.forget();
    world.step(Input::Post { request, content });
    assert!(world.done()[0].starts_with("refuse"));
}

/// A turn of the first client, and a prompt of the second that waits and has a key.
fn waiting_with_key() -> World {
    let mut world = World::running_with(kept());
    world.prompt_as(2, "two", Some("k"));
    world
}

#[test]
fn a_queued_prompt_sent_again_to_the_next_process_is_not_queued_twice() {
    for (version, view) in [(V1, 5), (V2, 6)] {
        for is_adopted in [false, true] {
            let world = waiting_with_key();
            let mut world = if is_adopted {
                world.adopt()
            } else {
                world.reopen()
            };
            world.attach(view, version);
            world.forget();
            let again = world.prompt_as(view, "two", Some("k"));
            assert_eq!(
                (queue(&world), world.done()),
                (vec!["two".to_owned()], vec![])
            );
            assert_eq!(
                world.seen(view),
                [""; 0],
                "it is answered when its turn comes"
            );
            if is_adopted {
                world.end();
            } else {
                change(&mut world, QueueChange::Resumed);
            }
            world.end();
            let answers = world.seen(view);
            let answer = format!("answer {again}");
            let answers = answers.iter().filter(|seen| seen.starts_with(&answer));
            assert_eq!(answers.count(), 1);
            assert!(queue(&world).is_empty());
            // And the process after that knows it too.
            let mut world = world.reopen();
            world.attach(view, version);
            world.forget();
            let again = world.prompt_as(view, "two", Some("k"));
            assert!(world.seen(view)[0].starts_with(&format!("answer {again}")));
            assert_eq!(world.done(), [""; 0]);
        }
    }
}

#[test]
fn a_queued_prompt_that_was_dropped_may_be_sent_again() {
    let mut world = waiting_with_key().reopen();
    world.attach(6, V2);
    let again = world.prompt_as(6, "two", Some("k"));
    world.forget();
    let key = key(&world, 0);
    change(&mut world, QueueChange::Left { key });
    let refused = format!("refuse {again} The prompt was cance");
    assert_eq!(world.seen(6), [refused]);
    let mut world = world.reopen();
    world.attach(6, V2);
    world.forget();
    let anew = world.prompt_as(6, "two", Some("k"));
    assert_eq!(world.done(), [format!("start {anew}")]);
}

#[test]
fn a_cancel_drops_the_queued_prompt_that_its_sender_sent_again() {
    let mut settings = kept();
    settings.cancel = ply_session::CancelScope::Own;
    let mut world = World::running_with(settings);
    world.prompt_as(2, "two", Some("k"));
    let mut world = world.adopt();
    world.attach(6, V2);
    world.prompt_as(6, "two", Some("k"));
    world.cancel(6);
    assert!(queue(&world).is_empty());
}
