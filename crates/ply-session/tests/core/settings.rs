//! What clients may do, and what a host can have done otherwise.

use std::sync::Arc;

use ply_session::{
    Ask, AskId, CLOSE_TIME_MAX, CancelScope, CloseEffect, How, Input, Question, Questions,
    QueueChange, QueuedPrompts, Reply, Settings, ViewId, Viewer,
};
use ply_wire::negotiate::Version;
use ply_wire::project::Shows;
use ply_wire::v2;

use crate::journal::Mode;
use crate::questions::{answer, ask};
use crate::world::{V1, V2, World, setup};

fn viewer(version: Version) -> Viewer {
    Viewer::new(version, Shows::ALL, Default::default())
}

fn attach(world: &mut World, view: u64, viewer: Viewer) {
    world.attach_viewer(view, viewer, How::Replay, setup());
}

#[test]
fn a_client_without_the_right_to_prompt_sees_everything_and_changes_nothing() {
    for version in [V1, V2] {
        let mut world = World::running();
        let mut watcher = viewer(version);
        watcher.rights.prompt = false;
        attach(&mut world, 3, watcher);
        world.update(crate::requests::options("small"));
        world.forget();
        let prompt = world.prompt(3, "mine");
        let close = world.close(3);
        let set = crate::requests::set_option(&mut world, 3, "large");
        let refused =
            [prompt, close, set].map(|request| format!("refuse {request} This client may watc"));
        assert_eq!(world.seen(3), refused);
        world.cancel(3);
        assert_eq!(world.done(), [""; 0]);
        world.say("on it");
        world.end();
        world.assert_same(&[3]);
    }
}

#[test]
fn a_client_has_no_more_rights_before_it_is_attached() {
    let mut world = World::running();
    let mut watcher = viewer(V2);
    watcher.rights.prompt = false;
    world.attach_viewer(
        3,
        watcher.clone(),
        How::Replay,
        ply_session::Setup::new("/elsewhere"),
    );
    world.forget();
    world.cancel(3);
    let close = world.close(3);
    assert_eq!(world.done(), [format!("answer {close}")], "it was refused");

    let mut world = World::unprepared(Settings::default());
    let begun = ply_session::RequestId(100);
    world.step(Input::Begin { request: begun });
    attach(&mut world, 3, watcher);
    world.forget();
    world.cancel(3);
    let close = world.close(3);
    assert_eq!(
        world.done(),
        [format!("refuse {close} This client may watc")],
        "it waits"
    );
}

#[test]
fn a_client_that_may_only_approve_does_not_cancel_the_turn_with_its_answer() {
    let mut world = World::running();
    let mut approver = viewer(V1);
    approver.rights.prompt = false;
    attach(&mut world, 3, approver);
    let ask = crate::stuck::permission(&world);
    let (id, view, reply) = (ask.id, ViewId(3), Reply::CancelTurn);
    world.step(Input::Ask(ask));
    world.detach(1);
    world.forget();
    world.step(Input::Answer {
        ask: id,
        view,
        reply,
    });
    let done = world.done();
    assert_eq!(done.last().unwrap(), "resolve 1 cancelled");
    assert!(!done.contains(&"cancel".to_owned()), "{done:?}");
}

/// Closes the session as a client for whom that does not end it, while its journal is opened again. The session goes on.
fn close_waits(mut world: World, view: u64) {
    world.journal.appends = Mode::Fails;
    world.journal.opens = Mode::Stuck;
    world.call("c", v2::ToolCallStatus::InProgress);
    world.close(view);
    (world.journal.appends, world.journal.opens) = (Mode::Answers, Mode::Answers);
    world.reopen_journal();
    world.forget();
    let prompt = world.prompt(2, "two");
    assert_eq!(world.done(), [format!("start {prompt}")]);
    world.pass(CLOSE_TIME_MAX * 2);
    assert_eq!(world.done(), [""; 0]);
    world.end();
    world.assert_same(&[2]);
}

#[test]
fn a_close_that_waits_and_does_not_end_the_session_leaves_no_deadline() {
    let mut world = World::running();
    let mut watcher = viewer(V2);
    watcher.rights.prompt = false;
    attach(&mut world, 3, watcher);
    close_waits(world, 3);

    let mut settings = Settings::default();
    settings.close = CloseEffect::Detaches;
    close_waits(World::running_with(settings), 1);
}

#[test]
fn a_client_without_the_right_to_approve_is_not_asked() {
    let mut world = World::running();
    let mut watcher = viewer(V2);
    watcher.rights.approve = false;
    attach(&mut world, 3, watcher);
    let ask = crate::stuck::permission(&world);
    let id = ask.id;
    world.forget();
    world.step(Input::Ask(ask));
    assert_eq!(world.seen(3), ["requires_action"]);
    let reply = Reply::Selected(v2::PermissionOptionId::new("yes"));
    let (ask, view) = (id, ViewId(3));
    world.step(Input::Answer { ask, view, reply });
    assert_eq!(world.done(), [""; 0]);
}

#[test]
fn a_close_detaches_one_client_where_the_host_wants_so() {
    let mut settings = Settings::default();
    settings.close = CloseEffect::Detaches;
    let mut world = World::running_with(settings);
    let queued = world.prompt(1, "two");
    world.forget();
    let close = world.close(1);
    // Everything that it waits for is answered, and the close last.
    let mut done = world.done();
    assert_eq!(done.pop().unwrap(), format!("answer {close}"));
    done.sort();
    assert_eq!(
        done,
        [
            format!("answer {queued} cancelled"),
            // What its turn comes to is not known.
            "refuse 3 The request was canc".to_owned(),
        ]
    );
    world.say("on it");
    world.end();
    world.assert_same(&[2]);
    assert_eq!(world.done(), [""; 0]);
    world.close(2);
    let done = world.done();
    assert_eq!(done[1..], ["release", "over"], "{done:?}");
}

#[test]
fn a_cancel_drops_only_ones_own_queued_prompts_where_the_host_wants_so() {
    let mut settings = Settings::default();
    settings.cancel = CancelScope::Own;
    let mut world = World::with(settings);
    for (view, name) in [(1, "ada"), (2, "ada"), (3, "bob")] {
        let mut viewer = viewer(V2);
        viewer.principal = Some(Arc::from(name));
        attach(&mut world, view, viewer);
    }
    world.prompt(3, "one");
    let mine = world.prompt(1, "two");
    let also_mine = world.prompt(2, "three");
    let theirs = world.prompt(3, "four");
    world.forget();
    world.cancel(1);
    assert_eq!(world.done(), ["cancel"]);
    assert_eq!(
        world.seen(1),
        [format!("refuse {mine} The prompt was cance")]
    );
    assert_eq!(
        world.seen(2),
        [format!("refuse {also_mine} The prompt was cance")]
    );
    assert_eq!(world.seen(3), [""; 0]);
    world.end();
    assert_eq!(world.done(), [format!("start {theirs}")]);
}

#[test]
fn a_cancel_of_ones_own_leaves_prompts_of_others_that_wait() {
    let mut settings = Settings::default();
    settings.cancel = CancelScope::Own;
    let mut world = World::with(settings);
    world.update(crate::requests::options("small"));
    attach(&mut world, 1, viewer(V2));
    attach(&mut world, 2, viewer(V2));
    crate::requests::set_option(&mut world, 1, "large");
    let (mine, theirs) = (world.prompt(1, "mine"), world.prompt(2, "theirs"));
    world.forget();
    world.cancel(1);
    assert_eq!(
        world.seen(1),
        [format!("refuse {mine} The request was canc")]
    );
    world.pass(ply_session::OPTION_TIME_MAX);
    assert_eq!(
        world.done(),
        ["create".to_owned(), format!("start {theirs}")]
    );
}

#[test]
fn a_cancel_of_ones_own_drops_what_one_queued_before_one_left() {
    let mut settings = Settings::default();
    settings.cancel = CancelScope::Own;
    settings.queued_prompts = QueuedPrompts::Stay;
    let mut world = World::with(settings);
    for (view, name) in [(1, "ada"), (2, "ada"), (3, "bob")] {
        let mut viewer = viewer(V2);
        viewer.principal = Some(Arc::from(name));
        attach(&mut world, view, viewer);
    }
    world.prompt(3, "one");
    world.prompt(1, "two");
    let theirs = world.prompt(3, "three");
    world.detach(1);
    world.detach(3);
    world.forget();
    world.cancel(2);
    assert_eq!(world.done(), ["cancel"]);
    world.end();
    assert_eq!(
        world.done(),
        [""; 0],
        "what is left waits until somebody says so"
    );
    let (request, change) = (world.request(), QueueChange::Resumed);
    world.step(Input::Queue { request, change });
    assert_eq!(
        world.done(),
        [format!("start {theirs}"), format!("answer {}", request.0)]
    );
}

#[test]
fn a_cancel_of_ones_own_drops_what_waits_behind_ones_attach() {
    let mut settings = Settings::default();
    settings.cancel = CancelScope::Own;
    let mut world = World::unprepared(settings);
    attach(&mut world, 1, viewer(V2));
    let prompt = world.prompt(1, "one");
    world.cancel(1);
    world.step(Input::Prepared { outcome: Ok(()) });
    let cancelled = format!("refuse {prompt} The request was canc");
    assert_eq!(world.done(), [cancelled]);
}

#[test]
fn every_question_waits_for_somebody_who_can_answer_where_the_host_wants_so() {
    let mut settings = Settings::default();
    settings.questions = Questions::Wait;
    let mut world = World::running_with(settings);
    let scope = || v2::ElicitationScope::Session(v2::ElicitationSessionScope::new("s"));
    let form = v2::ElicitationFormMode::new(scope(), v2::ElicitationSchema::new());
    let url = v2::ElicitationUrlMode::new(scope(), "u", "http://localhost/");
    let ask = |ask, turn| {
        let mode = match ask {
            3 => v2::ElicitationMode::from(url.clone()),
            _ => form.clone().into(),
        };
        let question = v2::CreateElicitationRequest::new(mode, "Which?");
        Input::Ask(Ask {
            id: AskId(ask),
            turn,
            question: Question::Elicitation(Box::new(question)),
        })
    };
    world.step(ask(1, world.turn));
    world.step(ask(3, world.turn));
    world.detach(1);
    world.detach(2);
    world.forget();
    world.step(ask(2, world.turn));
    attach(&mut world, 3, viewer(V2));
    assert_eq!(world.done(), [""; 0], "it cannot show this");
    world.attach(4, V2);
    let seen = world.seen(4);
    for ask in ["ask 1", "ask 2"] {
        assert!(seen.contains(&ask.to_owned()), "{seen:?}");
    }
    let visit = "ask 3".to_owned();
    assert!(!seen.contains(&visit), "it did not prompt");
    world.attach(1, V2);
    assert!(world.seen(1).contains(&visit), "it did");
}

#[test]
fn queued_prompts_stay_where_the_host_wants_so_and_run_for_nobody() {
    let mut settings = Settings::default();
    settings.queued_prompts = QueuedPrompts::Stay;
    let mut world = World::running_with(settings);
    let queued = world.prompt(1, "two");
    world.detach(1);
    world.forget();
    world.end();
    assert_eq!(world.done(), [format!("start {queued}")]);
    world.end();
    world.assert_same(&[2]);
}

#[test]
fn an_answer_is_kept_with_whose_it_was() {
    let mut world = World::running();
    let mut ada = viewer(V2);
    ada.principal = Some("ada".into());
    attach(&mut world, 3, ada);
    ask(&mut world, 1, v2::ToolCallUpdate::new("c").title("Write"));
    answer(&mut world, 1, 3);
    let records = world.journal.text();
    assert!(
        records
            .iter()
            .any(|record| record.contains("\"by\":\"ada\""))
    );
}

#[test]
fn taking_back_a_prompt_that_steers_cancels_the_turn_it_steers_on_version_1() {
    let mut settings = Settings::default();
    settings.steering = true;
    let mut world = World::running_with(settings);
    let steers = world.steer(1, "rather this");
    world.forget();
    world.withdraw(steers);
    assert_eq!(world.done(), ["cancel"]);
}
