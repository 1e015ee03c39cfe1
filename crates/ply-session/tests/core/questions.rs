//! Questions, as clients see them.

use ply_session::{Ask, AskId, Input, Question, Reply, ViewId};
use ply_wire::v2;

use crate::journal::Mode;
use crate::world::{V1, V2, World};

/// Asks whether a call may be made that the question itself announces.
pub(crate) fn ask(world: &mut World, ask: u64, call: v2::ToolCallUpdate) {
    let yes = v2::PermissionOptionKind::AllowOnce;
    let options = vec![v2::PermissionOption::new("yes", "Yes", yes)];
    let subject = v2::RequestPermissionSubject::from(call);
    let request = v2::RequestPermissionRequest::new("s", "Really?", options).subject(subject);
    world.step(Input::Ask(Ask {
        id: AskId(ask),
        turn: world.turn,
        question: Question::Permission(Box::new(request)),
    }));
}

pub(crate) fn answer(world: &mut World, ask: u64, view: u64) {
    let reply = Reply::Selected(v2::PermissionOptionId::new("yes"));
    let (ask, view) = (AskId(ask), ViewId(view));
    world.step(Input::Answer { ask, view, reply });
}

fn write() -> v2::ToolCallUpdate {
    v2::ToolCallUpdate::new("c").title("Write")
}

#[test]
fn the_first_answer_counts_and_the_question_is_taken_back_elsewhere() {
    let mut world = World::running();
    ask(&mut world, 1, write());
    assert_eq!(world.seen(1).last().unwrap(), "ask 1");
    assert_eq!(world.seen(2), ["ask 1", "requires_action"]);
    answer(&mut world, 1, 1);
    assert_eq!(world.done(), ["retract 1 from 2", "resolve 1 yes"]);
    answer(&mut world, 1, 2);
    assert_eq!(world.done(), [""; 0]);
    world.end();
    world.assert_same(&[1, 2]);
}

#[test]
fn a_question_shows_its_call_to_a_client_that_attached_before_it_was_safe() {
    let mut world = World::running();
    world.journal.appends = Mode::Stuck;
    world.call("other", v2::ToolCallStatus::InProgress);
    ask(&mut world, 1, write());
    world.attach(3, V2);
    world.attach(4, V1);
    world.unstick();
    world.assert_same(&[1, 2, 3, 4]);
    let call = v2::ToolCallId::new("c");
    for view in [2, 3, 4] {
        let call = world.clients[&view].transcript.tool_call(&call);
        assert_eq!(call.expect("it is shown").title.as_deref(), Some("Write"));
    }
}

#[test]
fn a_client_that_attaches_does_not_change_what_a_slow_one_is_asked() {
    let mut world = World::running();
    world.clients.get_mut(&2).unwrap().reads = false;
    ask(&mut world, 1, write());
    world.attach(3, V2);
    world.pull(2, usize::MAX);
    world.assert_same(&[2, 3]);
    let call = world.clients[&2]
        .transcript
        .tool_call(&v2::ToolCallId::new("c"));
    assert_eq!(call.expect("it is shown").title.as_deref(), Some("Write"));
}

#[test]
fn a_question_offered_to_a_later_client_does_not_take_its_call_back() {
    let mut world = World::running();
    ask(&mut world, 1, write().status(v2::ToolCallStatus::Pending));
    world.call("c", v2::ToolCallStatus::InProgress);
    world.attach(3, V2);
    assert!(world.seen(3).contains(&"ask 1".to_owned()));
    world.assert_same(&[2, 3]);
}

#[test]
fn a_question_that_is_over_before_a_client_reads_is_not_asked() {
    let mut world = World::running();
    world.clients.get_mut(&2).unwrap().reads = false;
    ask(&mut world, 1, write());
    answer(&mut world, 1, 1);
    assert_eq!(
        world.done(),
        ["resolve 1 yes"],
        "there is nothing to take back"
    );
    world.end();
    world.pull(2, usize::MAX);
    assert!(!world.seen(2).contains(&"ask 1".to_owned()));
    world.assert_same(&[1, 2]);
}

#[test]
fn a_client_far_behind_is_asked_in_its_place() {
    let mut world = World::running();
    world.clients.get_mut(&2).unwrap().reads = false;
    ask(&mut world, 1, write());
    let text = "x".repeat(100_000);
    for _ in 0..20 {
        world.say(&text);
    }
    world.pull(2, usize::MAX);
    let seen = world.seen(2);
    let at = |what: &str| seen.iter().position(|seen| seen == what).expect(what);
    assert!(at("call c") < at("ask 1"));
    assert!(at("ask 1") < seen.len() - 1);
    answer(&mut world, 1, 2);
    assert_eq!(world.done(), ["retract 1 from 1", "resolve 1 yes"]);
    world.end();
    world.pull(2, usize::MAX);
    world.assert_same(&[1, 2]);
}

#[test]
fn a_permission_waits_for_the_next_client() {
    let mut world = World::running();
    ask(&mut world, 1, write());
    world.detach(1);
    world.detach(2);
    world.forget();
    world.attach(3, V1);
    assert!(world.seen(3).contains(&"ask 1".to_owned()));
    answer(&mut world, 1, 3);
    assert_eq!(world.done(), ["resolve 1 yes"]);
}

#[test]
fn a_question_that_is_over_after_its_record_was_passed_still_shows_its_call() {
    let mut world = World::running();
    world.attach(3, V2);
    world.clients.get_mut(&3).unwrap().reads = false;
    world.journal.appends = Mode::Stuck;
    // Not safe yet, so a client that attaches now begins before it.
    world.call("b", v2::ToolCallStatus::InProgress);
    ask(&mut world, 1, write());
    ask(&mut world, 2, v2::ToolCallUpdate::new("d").title("Delete"));
    world.attach(3, V2);
    world.unstick();
    // Both records come before both questions.
    while !world.clients[&3].seen.contains(&"ask 1".to_owned()) {
        assert_eq!(world.pull(3, 1), 1);
    }
    answer(&mut world, 2, 1);
    world.pull(3, usize::MAX);
    assert!(!world.seen(3).contains(&"ask 2".to_owned()));
    world.assert_same(&[1, 2, 3]);
}

#[test]
fn a_client_that_loads_anew_is_asked_anew() {
    let mut world = World::running();
    ask(&mut world, 1, write());
    world.forget();
    world.attach(2, V2);
    assert_eq!(world.done(), ["retract 1 from 2"]);
    assert!(world.seen(2).contains(&"ask 1".to_owned()));
    answer(&mut world, 1, 2);
    assert_eq!(world.done(), ["retract 1 from 1", "resolve 1 yes"]);
}

#[test]
fn a_question_whose_agent_is_gone_is_shown_as_lost() {
    let mut world = World::running();
    ask(&mut world, 1, write());
    let mut world = world.reopen();
    for (view, version) in [(1, V1), (2, V2)] {
        world.attach(view, version);
        let call = v2::ToolCallId::new("c");
        let call = world.clients[&view].transcript.tool_call(&call);
        let call = call.expect("it is shown");
        assert_eq!(call.status, v2::ToolCallStatus::Failed);
        let content = format!("{:?}", call.content);
        assert!(content.contains("The question is lost"), "{content}");
    }
    let records = world.journal.text().concat();
    assert!(
        records.contains("while it waited for an answer"),
        "{records}"
    );
    // And once: the next process finds everything ended.
    let before = world.journal.records.len();
    let world = world.reopen();
    assert_eq!(world.journal.records.len(), before);
}
