//! Requests about the session as a whole, of clients that need not see it: titles, forks, the archive.

use ply_session::{Close, How, Input, Keep, RequestId};
use ply_wire::v2;

use crate::journal::Mode;
use crate::world::{V1, V2, World};

fn set_title(world: &mut World, title: &str) -> u64 {
    let request = world.request();
    let title = title.to_owned();
    world.step(Input::SetTitle { request, title });
    request.0
}

fn fork(world: &mut World) -> u64 {
    let request = world.request();
    world.step(Input::Fork { request });
    request.0
}

fn archive(world: &mut World) -> u64 {
    let request = world.request();
    world.step(Input::Close(Close {
        request: Some(request),
        view: None,
        journal: Keep::Archived,
    }));
    request.0
}

fn titled(title: &str) -> v2::SessionUpdate {
    v2::SessionUpdate::SessionInfoUpdate(v2::SessionInfoUpdate::new().title(title.to_owned()))
}

fn title(world: &World) -> Option<&str> {
    let info = world.core.history().transcript().info();
    info.title.as_deref()
}

#[test]
fn a_title_is_answered_when_it_is_safe_and_views_of_both_versions_see_it() {
    let mut world = World::running();
    world.journal.appends = Mode::Stuck;
    let request = set_title(&mut world, " Plums ");
    assert_eq!(world.done(), [""; 0], "it may be lost");
    world.unstick();
    assert_eq!(world.done(), [format!("answer {request}")]);
    assert_eq!(title(&world), Some("Plums"));
    let told = world.journal.descriptions.last().unwrap();
    assert_eq!(told.title, Some(Some("Plums".to_owned())));
    world.assert_same(&[1, 2]);
}

#[test]
fn the_agents_titles_do_not_replace_the_users_in_this_life_or_the_next() {
    let mut world = World::running();
    world.update(titled("Own"));
    assert_eq!(title(&world), Some("Own"));
    set_title(&mut world, "Plums");
    world.update(titled("Own"));
    assert_eq!(title(&world), Some("Plums"));
    world.end();
    let mut world = world.reopen();
    world.attach(1, V2);
    world.update(titled("Own"));
    assert_eq!(title(&world), Some("Plums"));
    set_title(&mut world, "Pears");
    assert_eq!(title(&world), Some("Pears"));
}

#[test]
fn a_title_whose_journal_fails_is_refused_and_forgotten() {
    let mut world = World::running();
    world.end();
    world.journal.appends = Mode::Stuck;
    let request = set_title(&mut world, "Plums");
    world.forget();
    world.fail_append();
    assert_eq!(world.done(), [format!("refuse {request} the disk is full")]);
    assert_eq!(title(&world), None);
}

#[test]
fn a_title_creates_a_session_in_which_nothing_was_said() {
    let mut world = World::new();
    world.attach_as(1, V2, How::New);
    world.forget();
    let request = set_title(&mut world, "Plums");
    assert_eq!(
        world.done(),
        ["create".to_owned(), format!("answer {request}")]
    );
}

#[test]
fn a_title_and_a_fork_that_come_too_late_are_for_the_next_life() {
    let mut world = World::running();
    world.end();
    world.journal.releases = false;
    world.close(2);
    world.forget();
    let title = set_title(&mut world, "Plums");
    let fork = fork(&mut world);
    world.step(Input::Released);
    assert_eq!(world.done(), ["over"]);
    let waiting = world.core.take_waiting();
    let waiting: Vec<_> = waiting.iter().filter_map(Input::request).collect();
    assert_eq!(waiting, [RequestId(title), RequestId(fork)]);
}

#[test]
fn a_fork_waits_until_the_journal_has_what_was_said_before_it() {
    let mut world = World::running();
    world.end();
    world.forget();
    let request = fork(&mut world);
    let records = world.journal.records.len();
    assert_eq!(world.done(), [format!("fork {request} {records}")]);

    world.journal.appends = Mode::Stuck;
    world.turn = None;
    world.say("behind");
    let request = fork(&mut world);
    assert_eq!(world.done(), [""; 0]);
    world.unstick();
    assert_eq!(world.done(), [format!("fork {request} {}", records + 1)]);
}

#[test]
fn a_fork_of_a_session_that_is_not_in_the_journal_creates_it() {
    let mut world = World::new();
    world.attach_as(1, V1, How::New);
    world.forget();
    let request = fork(&mut world);
    assert_eq!(
        world.done(),
        ["create".to_owned(), format!("fork {request} 0")]
    );
    let mut world = World::new();
    world.attach_as(1, V1, How::New);
    world.journal.creates = Mode::Fails;
    world.forget();
    let request = fork(&mut world);
    assert_eq!(
        world.done(),
        [
            "create".to_owned(),
            format!("refuse {request} the disk is full")
        ]
    );
}

#[test]
fn titles_and_forks_can_be_taken_back_while_the_journal_does_not_answer() {
    let mut world = World::running();
    world.journal.appends = Mode::Stuck;
    world.say("behind");
    let requests = [set_title(&mut world, "Plums"), fork(&mut world)];
    for request in requests {
        assert_eq!(world.done(), [""; 0]);
        world.withdraw(request);
        let refused = format!("refuse {request} The request was canc");
        assert_eq!(world.done(), [refused]);
        world.withdraw(request);
    }
    world.unstick();
    assert_eq!(world.done(), [""; 0], "nobody waits for it");
    // What is with the journal stays.
    assert_eq!(title(&world), Some("Plums"));
    world.assert_same(&[1, 2]);

    let mut world = World::running();
    world.journal.appends = Mode::Fails;
    world.journal.opens = Mode::Stuck;
    world.call("c", v2::ToolCallStatus::InProgress);
    let requests = [set_title(&mut world, "Plums"), fork(&mut world)];
    world.forget();
    for request in requests {
        world.withdraw(request);
        let refused = format!("refuse {request} The request was canc");
        assert_eq!(world.done(), [refused]);
    }
    assert_eq!(world.core.take_waiting().len(), 0);
}

#[test]
fn archiving_ends_a_turn_and_is_done_when_the_session_is_given_back() {
    let mut world = World::running();
    world.journal.releases = false;
    let request = archive(&mut world);
    assert_eq!(world.done(), ["cancel"]);
    world.end();
    assert_eq!(world.done(), ["archive"]);
    // Another one has nothing to add, and a delete comes in the next life.
    let again = archive(&mut world);
    world.step(Input::Released);
    assert_eq!(
        world.done(),
        [
            format!("answer {request}"),
            format!("answer {again}"),
            "over".to_owned()
        ]
    );
}

#[test]
fn archiving_that_fails_is_told_and_one_behind_a_close_waits_for_the_next_life() {
    let mut world = World::running();
    world.end();
    world.journal.releases = false;
    world.forget();
    let request = archive(&mut world);
    let error = crate::world::failure();
    world.step(Input::NotReleased { error });
    assert_eq!(
        world.done(),
        [
            "archive".to_owned(),
            format!("refuse {request} the disk is full"),
            "over".to_owned()
        ]
    );

    let mut world = World::running();
    world.end();
    world.journal.releases = false;
    world.close(2);
    world.forget();
    archive(&mut world);
    world.step(Input::Released);
    assert_eq!(world.done(), ["over"]);
    assert_eq!(world.core.take_waiting().len(), 1);
}
