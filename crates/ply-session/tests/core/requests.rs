//! Requests: each is answered once, in the order of what it depends on.

use std::time::Duration;

use ply_session::{
    CANCEL_TIME_MAX, How, Input, OPTION_TIME_MAX, OptionChange, Outcome, PROMPTS_QUEUED_BYTES_MAX,
    RequestId, Settings, Setup, Stop, ViewId, Viewer, WAITING_MAX,
};
use ply_wire::project::Shows;
use ply_wire::v2;

use crate::journal::Mode;
use crate::world::{V1, V2, World, setup};

pub(crate) fn options(value: &str) -> v2::SessionUpdate {
    let choice = |id: &str| v2::SessionConfigSelectOption::new(id.to_owned(), id);
    let select = v2::SessionConfigOption::select(
        "model",
        "Model",
        value.to_owned(),
        vec![choice("small"), choice("large")],
    );
    v2::SessionUpdate::ConfigOptionUpdate(v2::ConfigOptionUpdate::new(vec![select]))
}

pub(crate) fn set_option(world: &mut World, view: u64, value: &str) -> u64 {
    let request = world.request();
    let change = v2::SetSessionConfigOptionRequest::new("s", "model", value);
    world.step(Input::SetOption {
        request,
        view: ViewId(view),
        change: Box::new(OptionChange::V2(change)),
    });
    request.0
}

fn option_set(world: &mut World, request: u64) {
    let (request, outcome) = (RequestId(request), Ok(()));
    world.step(Input::OptionSet { request, outcome });
}

fn with_options() -> World {
    let mut world = World::new();
    world.update(options("small"));
    world.attach(1, V1);
    world.attach(2, V2);
    world.forget();
    world
}

#[test]
fn c5_the_v1_answer_is_given_once_after_the_idle_is_safe_for_every_stop_reason() {
    let failed = Outcome::Failed(v2::Error::new(-32603, "it broke"));
    for (outcome, expected) in [
        (Outcome::Stopped(Stop::EndTurn), "answer 3 end_turn"),
        (Outcome::Stopped(Stop::MaxTokens), "answer 3 max_tokens"),
        (
            Outcome::Stopped(Stop::MaxTurnRequests),
            "answer 3 max_turn_requests",
        ),
        (Outcome::Stopped(Stop::Refusal), "answer 3 refusal"),
        (Outcome::Stopped(Stop::Cancelled), "answer 3 cancelled"),
        (failed, "refuse 3 it broke"),
    ] {
        let mut world = World::running();
        world.say("done");
        world.journal.appends = Mode::Stuck;
        world.end_with(outcome);
        assert_eq!(world.seen(1), ["say done"]);
        world.unstick();
        assert_eq!(world.seen(1), [expected]);
        world.pass(Duration::from_secs(10));
        world.prompt(2, "another's");
        world.end();
        let seen = world.seen(1);
        assert!(!seen.iter().any(|seen| seen.contains(" 3 ")), "{seen:?}");
    }
}

#[test]
fn c4_taking_back_a_running_prompt_cancels_its_turn_in_version_1_only() {
    let mut world = World::running();
    world.withdraw(3);
    assert_eq!(world.done(), ["cancel"]);
    world.end();
    assert_eq!(world.seen(1), ["answer 3 cancelled"]);

    let mut world = World::new();
    world.attach(1, V2);
    let prompt = world.prompt(1, "one");
    world.forget();
    world.withdraw(prompt);
    assert_eq!(world.done(), [""; 0]);
    world.end();
    assert_eq!(world.seen(1), ["idle end_turn"]);
}

#[test]
fn taking_back_a_queued_prompt_refuses_it() {
    let mut world = World::running();
    let (one, two) = (world.prompt(1, "two"), world.prompt(2, "three"));
    world.withdraw(one);
    world.withdraw(two);
    assert_eq!(world.seen(1), [format!("answer {one} cancelled")]);
    assert_eq!(
        world.seen(2),
        [format!("refuse {two} The prompt was cance")]
    );
    assert_eq!(world.done(), [""; 0], "the turn goes on");
    world.end();
    assert_eq!(world.done(), [""; 0]);
}

#[test]
fn a_cancelled_turn_whose_code_hangs_is_abandoned() {
    let mut world = World::running();
    world.cancel(1);
    world.pass(CANCEL_TIME_MAX);
    assert_eq!(world.done(), ["cancel", "abandon"]);
    assert_eq!(world.seen(1), ["answer 3 cancelled"]);
    assert_eq!(world.seen(2), ["idle cancelled"]);
}

#[test]
fn a_client_that_only_reads_on_cancels_once_nobody_else_is_there() {
    let mut world = World::running();
    world.step(Input::HungUp { view: ViewId(1) });
    assert_eq!(world.done(), [""; 0]);
    world.step(Input::HungUp { view: ViewId(2) });
    assert_eq!(world.done(), ["cancel"]);
    world.end();
    assert_eq!(world.seen(1), ["answer 3 cancelled"]);
}

#[test]
fn c13_a_prompt_behind_an_option_change_waits_for_it() {
    let mut world = with_options();
    let set = set_option(&mut world, 2, "large");
    let prompt = world.prompt(2, "with the large one");
    let other = world.prompt(1, "another's");
    assert_eq!(world.done(), [format!("set {set} model")]);
    option_set(&mut world, set);
    assert_eq!(
        world.done(),
        ["create".to_owned(), format!("start {prompt}")]
    );
    let seen = world.seen(2);
    assert_eq!(
        seen[..2],
        [
            format!("answer {set}"),
            "user with the large one".to_owned()
        ]
    );
    world.end();
    assert_eq!(world.done(), [format!("start {other}")]);
    world.end();
    world.assert_same(&[1, 2]);
}

#[test]
fn v1_conf_09_who_sets_an_option_hears_of_it_by_the_answer_and_others_by_update() {
    let mut world = with_options();
    let set = set_option(&mut world, 2, "large");
    option_set(&mut world, set);
    assert_eq!(world.seen(2), [format!("answer {set}")]);
    assert_eq!(world.seen(1), ["config_option_update"]);
    // The next change is somebody else's.
    let set = set_option(&mut world, 1, "small");
    option_set(&mut world, set);
    assert_eq!(world.seen(2), ["config_option_update"]);
    world.assert_same(&[1]);
}

#[test]
fn c13_an_option_change_that_takes_too_long_holds_nothing_up_for_ever() {
    let mut world = with_options();
    let set = set_option(&mut world, 2, "large");
    let prompt = world.prompt(2, "one");
    world.pass(OPTION_TIME_MAX);
    assert_eq!(world.done().last().unwrap(), &format!("start {prompt}"));
    assert_eq!(
        world.seen(2)[0],
        format!("refuse {set} the agent took too l")
    );
    option_set(&mut world, set);
    assert!(
        !world.seen(2).contains(&format!("answer {set}")),
        "it was answered"
    );
}

#[test]
fn option_changes_are_made_one_after_the_other() {
    let mut world = with_options();
    let first = set_option(&mut world, 1, "large");
    let second = set_option(&mut world, 2, "small");
    assert_eq!(world.done(), [format!("set {first} model")]);
    option_set(&mut world, first);
    assert_eq!(world.done(), [format!("set {second} model")]);
    let request = RequestId(second);
    let outcome = Err(v2::Error::new(-32602, "not now"));
    world.step(Input::OptionSet { request, outcome });
    assert_eq!(
        world.seen(2).last().unwrap(),
        &format!("refuse {second} not now")
    );
    let third = set_option(&mut world, 2, "huge");
    assert_eq!(
        world.seen(2),
        [format!("refuse {third} the option has no su")]
    );
    assert_eq!(world.done(), [""; 0]);
}

#[test]
fn a_cancel_drops_prompts_that_wait_for_an_option() {
    let mut world = with_options();
    let set = set_option(&mut world, 2, "large");
    let prompt = world.prompt(1, "one");
    world.cancel(1);
    assert_eq!(world.seen(1), [format!("answer {prompt} cancelled")]);
    world.forget();
    option_set(&mut world, set);
    assert_eq!(world.done(), [""; 0]);
}

#[test]
fn c13_a_prompt_right_behind_a_load_is_served_after_it() {
    let mut world = World::unprepared(Settings::default());
    let attach = world.attach(1, V2);
    let prompt = world.prompt(1, "one");
    assert_eq!(world.seen(1), [""; 0]);
    world.step(Input::Prepared { outcome: Ok(()) });
    assert_eq!(
        world.done(),
        ["create".to_owned(), format!("start {prompt}")]
    );
    let expected = [
        "idle".to_owned(),
        format!("answer {attach}"),
        "user one".to_owned(),
    ];
    assert_eq!(world.seen(1)[..3], expected);
}

#[test]
fn a_prompt_of_a_client_that_is_not_attached_is_refused() {
    let mut world = World::running();
    let prompt = world.prompt(9, "hello?");
    assert_eq!(
        world.done(),
        [format!("refuse {prompt} There is no such ses")]
    );
}

#[test]
fn c14_a_second_client_with_other_mcp_servers_is_told() {
    let mut world = World::running();
    let mut other = setup();
    let server = v2::McpServerHttp::new("tools", "https://example.com/mcp");
    other.mcp_servers = vec![v2::McpServer::Http(server)];
    let viewer = || Viewer::new(V2, Shows::ALL, Default::default());
    let attach = world.attach_viewer(3, viewer(), How::Replay, other);
    let seen = world.seen(3);
    let answer = seen
        .iter()
        .position(|seen| *seen == format!("answer {attach}"));
    assert_eq!(seen[answer.unwrap() + 1], "notice This session was alr");
    world.attach(4, V2);
    assert!(!world.seen(4).iter().any(|seen| seen.starts_with("notice")));
    let elsewhere = Setup::new("/elsewhere");
    let attach = world.attach_viewer(5, viewer(), How::Resume, elsewhere);
    assert_eq!(
        world.done(),
        [format!("refuse {attach} The session has anot")]
    );
}

#[test]
fn a_client_that_loads_again_starts_anew() {
    let mut world = World::running();
    let again = world.attach(1, V1);
    assert_eq!(
        world.done(),
        [format!("refuse {again} a prompt of this cli")]
    );
    world.say("hello");
    let again = world.attach(2, V2);
    let expected = [
        "user one",
        "say hello",
        "running",
        &format!("answer {again}"),
    ];
    assert_eq!(world.seen(2), expected);
    world.end();
    world.assert_same(&[2]);
}

#[test]
fn a_client_that_resumes_is_told_the_state_and_not_the_past() {
    let mut world = World::running();
    world.say("before");
    let resume = world.attach_as(3, V2, How::Resume);
    assert_eq!(
        world.seen(3),
        ["running".to_owned(), format!("answer {resume}")]
    );
    world.say("after");
    assert_eq!(world.seen(3), ["say after"]);
}

#[test]
fn steering_prompts_join_the_turn_where_the_host_wants_so() {
    for steering in [true, false] {
        let mut settings = Settings::default();
        settings.steering = steering;
        let mut world = World::running_with(settings);
        let request = world.steer(2, "rather so");
        let done = world.done();
        if steering {
            assert_eq!(done.len(), 1);
            assert!(done[0].starts_with("steer msg-e1-"), "{done:?}");
            assert_eq!(world.seen(2)[0], "user rather so");
            world.end();
            assert_eq!(world.done(), [""; 0]);
        } else {
            assert_eq!(done, [""; 0]);
            world.end();
            assert_eq!(world.done(), [format!("start {request}")]);
        }
    }
}

#[test]
fn prompts_that_wait_are_bounded_by_their_bytes() {
    let mut world = World::unprepared(Settings::default());
    world.attach(1, V2);
    let large = "x".repeat(PROMPTS_QUEUED_BYTES_MAX / 2 + 1);
    let (waits, refused) = (world.prompt(1, &large), world.prompt(1, &large));
    assert_eq!(
        world.done(),
        [format!("refuse {refused} too many requests wa")]
    );
    world.step(Input::Prepared { outcome: Ok(()) });
    assert_eq!(world.done().last().unwrap(), &format!("start {waits}"));
}

#[test]
fn requests_that_wait_are_bounded() {
    let mut world = World::unprepared(Settings::default());
    world.attach(1, V2);
    for _ in 1..WAITING_MAX {
        world.prompt(1, "one");
    }
    assert_eq!(world.done(), [""; 0]);
    let prompt = world.prompt(1, "one too many");
    assert_eq!(
        world.done(),
        [format!("refuse {prompt} too many requests wa")]
    );
}
