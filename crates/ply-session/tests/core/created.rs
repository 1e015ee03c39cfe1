//! Sessions that are not in the journal yet.

use ply_session::{
    Answers, How, Input, Keep, LastClient, Opened, RequestId, Settings, UNCREATED_BYTES_MAX,
    ViewId, Viewer,
};
use ply_wire::project::Shows;
use ply_wire::v2;

use crate::journal::Mode;
use crate::world::{V1, V2, World, setup};

fn title() -> v2::SessionUpdate {
    v2::SessionUpdate::SessionInfoUpdate(v2::SessionInfoUpdate::new().title("A title"))
}

/// Returns a session that a client has just made, and that has a title.
fn fresh() -> World {
    let mut world = World::new();
    world.attach_as(1, V2, How::New);
    world.update(title());
    world.forget();
    world
}

#[test]
fn nothing_is_created_before_something_must_be_kept() {
    let mut world = fresh();
    assert!(world.core.is_new());
    assert_eq!(world.done(), [""; 0]);
    world.prompt(1, "one");
    assert_eq!(world.done(), ["create", "start 2"]);
    assert!(!world.core.is_new());
    let records = world.journal.text();
    assert!(
        records[0].contains("session_info_update"),
        "what came before goes first"
    );
    assert!(records[1].contains("user_message"));
    assert_eq!(
        world.journal.descriptions[0].title,
        Some(Some("A title".to_owned()))
    );
    assert_eq!(world.journal.descriptions[0].unfinished, Some(true));
    world.end();
    assert_eq!(
        world.journal.descriptions.last().unwrap().unfinished,
        Some(false)
    );
}

/// Seed 151874.
#[test]
fn work_in_the_background_of_a_new_session_is_told_to_the_client_that_made_it() {
    let mut world = World::new();
    let cancel = v2::TerminalCapabilities::new().cancel(v2::TerminalCancelCapabilities::new());
    let terminal = v2::TerminalUpdate::new("t").capabilities(cancel);
    world.step(Input::Update {
        turn: None,
        update: v2::SessionUpdate::TerminalUpdate(terminal),
        edits: Vec::new(),
    });
    world.attach_as(1, V2, How::New);
    let told = world.clients[&1].transcript.background();
    assert_eq!(told, world.core.history().transcript().background());
    assert_eq!(told.map(<[_]>::len), Some(1));
}

#[test]
fn what_is_kept_in_memory_alone_is_bounded() {
    let mut world = fresh();
    let text = "x".repeat(UNCREATED_BYTES_MAX);
    world.say(&text);
    assert_eq!(world.done(), ["create"]);
}

#[test]
fn a_session_that_its_client_closes_can_be_opened_again() {
    let mut world = fresh();
    let close = world.close(1);
    assert_eq!(world.done(), ["create", "release", "over"]);
    assert_eq!(world.journal.records.len(), 1);
    assert_eq!(world.seen(1), [format!("answer {close}")]);
}

#[test]
fn an_empty_session_is_not_kept_when_the_host_ends_or_deletes_it() {
    let mut world = fresh();
    world.close_with(None, Keep::IfUsed);
    assert_eq!(world.done(), ["release", "over"]);
    let mut world = fresh();
    let delete = world.close_with(Some(1), Keep::Nothing);
    assert_eq!(world.done(), ["delete", "over"]);
    assert_eq!(world.seen(1), [format!("answer {delete}")]);
    let mut world = World::new();
    world.attach(1, V1);
    world.prompt(1, "one");
    world.end();
    world.forget();
    world.close_with(None, Keep::IfUsed);
    assert_eq!(world.done(), ["release", "over"]);
}

#[test]
fn c11_a_session_that_is_deleted_in_the_middle_of_a_failure_is_deleted() {
    let mut world = World::running();
    world.journal.appends = Mode::Fails;
    world.call("c", v2::ToolCallStatus::InProgress);
    world.forget();
    let delete = world.close_with(Some(2), Keep::Nothing);
    let done = world.done();
    assert!(done.contains(&"delete".to_owned()), "{done:?}");
    assert!(world.seen(2).contains(&format!("answer {delete}")));
}

#[test]
fn a_creation_that_failed_is_tried_again_with_the_next_request() {
    for version in [V1, V2] {
        let mut world = World::new();
        world.attach(1, version);
        world.journal.creates = Mode::Fails;
        world.forget();
        let prompt = world.prompt(1, "one");
        assert_eq!(world.done(), ["create"]);
        assert_eq!(
            world.seen(1)[0],
            format!("refuse {prompt} the disk is full")
        );
        let prompt = world.prompt(1, "two");
        assert_eq!(world.done(), ["create"]);
        assert_eq!(
            world.seen(1)[0],
            format!("refuse {prompt} the disk is full")
        );
        world.journal.creates = Mode::Answers;
        let prompt = world.prompt(1, "three");
        assert_eq!(
            world.done(),
            ["create".to_owned(), format!("start {prompt}")]
        );
        world.end();
        world.assert_same(&[1]);
        assert_eq!(
            world
                .journal
                .text()
                .iter()
                .filter(|record| record.contains("user_message"))
                .count(),
            1,
            "a prompt that was refused is not part of the conversation"
        );
    }
}

#[test]
fn c12_an_empty_session_outlives_its_client() {
    let mut world = fresh();
    world.detach(1);
    assert_eq!(world.done(), ["unattended"]);
    let request = world.attach(2, V1);
    assert!(world.seen(2).contains(&format!("answer {request}")));
    world.prompt(2, "one");
    assert_eq!(world.done(), ["create", "start 3"]);
    world.end();
    world.detach(2);
    assert_eq!(world.done(), ["release", "over"]);
}

#[test]
fn an_empty_session_makes_room_only_while_nobody_sees_it() {
    let mut world = fresh();
    world.detach(1);
    world.attach(2, V2);
    world.forget();
    world.step(Input::Leave);
    assert_eq!(world.done(), [""; 0]);
    world.detach(2);
    assert_eq!(world.done(), ["unattended"]);
    world.step(Input::Leave);
    assert_eq!(world.done(), ["create", "release", "over"]);
}

#[test]
fn an_empty_session_in_which_the_agent_begins_a_turn_ends_with_it() {
    let mut world = fresh();
    world.detach(1);
    let request = RequestId(100);
    world.step(Input::Begin { request });
    assert_eq!(world.done(), ["unattended", "create", "start 100"]);
    world.step(Input::Leave);
    assert_eq!(world.done(), [""; 0]);
    world.end();
    assert_eq!(
        world.done(),
        ["settled 100 end_turn", "release", "over"],
        "it is in the journal now"
    );
}

#[test]
fn a_session_without_clients_ends_when_its_turn_does() {
    let mut world = World::running();
    world.detach(1);
    world.detach(2);
    assert_eq!(
        world.done(),
        ["refuse 3 The request was canc"],
        "what its turn comes to is not known"
    );
    world.end();
    assert_eq!(world.done(), ["release", "over"]);

    let mut settings = Settings::default();
    settings.last_client = LastClient::Stays;
    let mut world = World::running_with(settings);
    world.detach(1);
    world.detach(2);
    world.forget();
    world.end();
    assert_eq!(world.done(), [""; 0]);
    world.attach(3, V2);
    world.assert_same(&[3]);
}

#[test]
fn a_session_whose_runner_cannot_serve_it_refuses_and_ends() {
    let mut world = World::unprepared(Settings::default());
    let attach = world.attach_as(1, V2, How::New);
    assert_eq!(world.done(), [""; 0]);
    let outcome = Err(v2::Error::new(-32000, "log in first"));
    world.step(Input::Prepared { outcome });
    let refused = format!("refuse {attach} log in first");
    assert_eq!(
        world.done(),
        [refused, "delete".to_owned(), "over".to_owned()]
    );
}

#[test]
fn a_session_that_nobody_wants_any_more_while_it_is_prepared_ends() {
    let mut world = World::unprepared(Settings::default());
    let attach = world.attach_as(1, V2, How::New);
    world.step(Input::Withdraw {
        request: RequestId(attach),
    });
    let done = world.done();
    assert_eq!(done[0], format!("refuse {attach} The request was canc"));
    assert_eq!(done[1..], ["delete", "over"]);
}

#[test]
fn a_session_that_nobody_was_told_of_is_deleted_also_if_it_is_in_the_journal() {
    for leaves in [false, true] {
        let mut world = World::unprepared(Settings::default());
        world.core.keep();
        let attach = world.attach_as(1, V2, How::New);
        assert_eq!(world.done(), ["create"]);
        if leaves {
            world.detach(1);
        } else {
            let outcome = Err(v2::Error::new(-32000, "log in first"));
            world.step(Input::Prepared { outcome });
        }
        let done = world.done();
        assert!(done[0].starts_with(&format!("refuse {attach}")));
        assert_eq!(done[1..], ["delete", "over"]);
    }
}

#[test]
fn a_session_of_the_journal_is_kept_though_its_runner_cannot_serve_it() {
    let mut world = World::running();
    world.end();
    let mut world = world.reopen_unprepared();
    let attach = world.attach(1, V2);
    let outcome = Err(v2::Error::new(-32000, "log in first"));
    world.step(Input::Prepared { outcome });
    let refused = format!("refuse {attach} log in first");
    assert_eq!(
        world.done(),
        [refused, "release".to_owned(), "over".to_owned()]
    );
}

#[test]
fn a_session_that_is_being_created_is_closed_when_it_was() {
    let mut world = fresh();
    world.journal.creates = Mode::Stuck;
    let prompt = world.prompt(1, "one");
    world.close(1);
    assert_eq!(world.done(), ["create"]);
    world.step(Input::Opened(Opened {
        epoch: 1,
        records: 0,
        tail: Vec::new(),
    }));
    assert_eq!(world.done(), ["release", "over"]);
    assert!(world.journal.text()[1].contains("user_message"));
    let seen = world.seen(1);
    let accepted = format!("answer {prompt} ");
    assert!(seen.iter().any(|seen| seen.starts_with(&accepted)));
}

#[test]
fn a_session_that_was_to_be_kept_and_is_deleted_is_not_created() {
    let mut world = fresh();
    world.core.keep();
    world.close_with(Some(1), Keep::Nothing);
    assert_eq!(world.done(), ["delete", "over"]);
}

/// Returns a client that wants to know how far it is.
fn returning() -> Viewer {
    let answers = Answers {
        form: true,
        url: true,
    };
    let mut viewer = Viewer::new(V2, Shows::ALL, answers);
    viewer.cursors = true;
    viewer
}

/// Opens the session in another process whose journal answers.
fn take_over(world: World) -> World {
    let mut world = world;
    world.journal.appends = Mode::Answers;
    world.journal.under_way = None;
    world.reopen()
}

#[test]
fn a_place_in_a_session_that_was_never_written_is_none_of_the_next_owners() {
    let mut world = World::new();
    world.attach_viewer(1, returning(), How::New, setup());
    world.update(title());
    let cursor = world.core.cursor(ViewId(1)).unwrap();
    world.journal.appends = Mode::Stuck;
    world.prompt(1, "one");
    assert_eq!(world.done(), ["create"]);
    assert!(world.journal.records.is_empty());
    for _ in 0..2 {
        world = take_over(world);
        // Now there is a record at that place, and it is not the one that the client has seen.
        world.update(title());
        world.say("of another owner");
        let request = world.come_back(1, returning(), &cursor);
        let refused = format!("refuse {request} The cursor");
        let done = world.done();
        assert!(
            done.iter().any(|line| line.starts_with(&refused)),
            "{done:?}"
        );
    }
}

#[test]
fn a_place_in_a_session_that_was_written_since_is_one_of_the_next_owners() {
    let mut world = World::new();
    world.attach_viewer(1, returning(), How::New, setup());
    world.update(title());
    let cursor = world.core.cursor(ViewId(1)).unwrap();
    world.prompt(1, "one");
    let mut world = take_over(world);
    let request = world.come_back(1, returning(), &cursor);
    let seen = world.seen(1);
    assert!(seen.contains(&format!("answer {request}")), "{seen:?}");
    assert!(seen.iter().any(|line| line.contains("one")), "{seen:?}");
}
