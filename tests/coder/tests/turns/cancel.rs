//! Cancelling, at every moment of a turn.

use std::time::Duration;

use coder_tests::{Api, Gate, Reply, Setup, Tell as _, User, World, read_story};
use ply_agent::v2::{StopReason, ToolCallStatus};
use ply_client::{Event, Session, Turn};
use ply_coder::permission::Mode;
use serde_json::json;

/// The hard limit of a cancel.
const HARD: Duration = Duration::from_secs(2);

/// Cancels, and checks that the turn ends as cancelled in time.
async fn cancel(session: &Session, turn: Turn) -> coder_tests::Story {
    session.cancel().await.unwrap();
    let story = tokio::time::timeout(HARD, read_story(session, turn)).await;
    let story = story.expect("the turn ends in time");
    assert_eq!(story.stop, Some(StopReason::Cancelled), "{story:#?}");
    for call in &story.calls {
        assert!(call.is_finished(), "{call:#?}");
    }
    story
}

/// The next prompt works, and the service takes the conversation.
async fn is_unharmed(world: &World, session: &Session) {
    world.model.push(Reply::say("Still here."));
    let story = session.tell("And now?").await;
    assert!(story.text.ends_with("Still here."), "{story:#?}");
    assert_eq!(story.stop, Some(StopReason::EndTurn));
}

fn running(api: Api, mode: Mode, user: User) -> Setup {
    Setup {
        api,
        mode,
        user,
        ..Setup::default()
    }
}

#[tokio::test]
async fn while_the_service_is_silent() {
    for api in Api::ALL {
        let gate = Gate::new();
        let world = World::with(running(api, Mode::Full, User::Allows), [Reply::hang(&gate)]).await;
        let session = world.session().await;
        let turn = session.prompt("Hi").await.unwrap();
        gate.reached().await;
        cancel(&session, turn).await;
        world.model.disconnected(0).await;
        is_unharmed(&world, &session).await;
    }
}

#[tokio::test]
async fn in_the_middle_of_an_answer() {
    for api in Api::ALL {
        let gate = Gate::new();
        let reply = Reply::say("Well, ").and_wait(&gate).and_say("never said");
        let world = World::with(running(api, Mode::Full, User::Allows), [reply]).await;
        let session = world.session().await;
        let turn = session.prompt("Hi").await.unwrap();
        gate.reached().await;
        let story = cancel(&session, turn).await;
        assert!(!story.text.contains("never"), "{api:?}");
        world.model.disconnected(0).await;
        is_unharmed(&world, &session).await;
    }
}

#[tokio::test]
async fn while_a_command_runs_that_will_not_end() {
    let command =
        "trap '' TERM; (sleep 1000 & echo $! > grandchild); echo $$ > child; echo up; sleep 1000";
    let reply = Reply::call("shell", json!({ "command": command }));
    let world = World::with(running(Api::Anthropic, Mode::Full, User::Allows), [reply]).await;
    let session = world.session().await;
    let mut turn = session.prompt("Run it").await.unwrap();
    loop {
        let event = turn.next().await.unwrap().unwrap();
        if let Event::Terminal(terminal) = event
            && terminal
                .snapshot()
                .is_some_and(|shown| shown.text().contains("up"))
        {
            break;
        }
    }
    cancel(&session, turn).await;
    for file in ["child", "grandchild"] {
        let pid: u32 = world.read(file).trim().parse().unwrap();
        assert!(!is_alive(pid), "{file} is alive");
    }
    is_unharmed(&world, &session).await;
    let told = world.model.request(1).await.tool_results();
    assert_eq!(told.len(), 1, "every call has a result: {told:?}");
}

#[tokio::test]
async fn while_the_user_is_asked() {
    let reply = Reply::call("shell", json!({ "command": "make all" }));
    let world = World::with(running(Api::Chat, Mode::Ask, User::Waits), [reply]).await;
    let session = world.session().await;
    let mut turn = session.prompt("Run it").await.unwrap();
    let question = loop {
        if let Event::Permission(question) = turn.next().await.unwrap().unwrap() {
            break question;
        }
    };
    cancel(&session, turn).await;
    drop(question);
    let call = session.with_transcript(|transcript| transcript.tool_calls().next().cloned());
    assert_eq!(call.unwrap().status, ToolCallStatus::Cancelled);
    is_unharmed(&world, &session).await;
}

#[tokio::test]
async fn while_it_waits_to_try_again() {
    let replies = [Reply::status(429).retry_after(50)];
    let world = World::with(running(Api::Gemini, Mode::Ask, User::Allows), replies).await;
    let session = world.session().await;
    let mut turn = session.prompt("Hi").await.unwrap();
    loop {
        let event = turn.next().await.unwrap().unwrap();
        if matches!(event, Event::Notice(_)) {
            break;
        }
    }
    cancel(&session, turn).await;
    is_unharmed(&world, &session).await;
}

#[tokio::test]
async fn what_the_turn_left_in_the_background_ends_and_the_rest_goes_on() {
    let background = |name: &str| {
        let command = format!("echo $$ > {name}; exec sleep 1000");
        json!({ "command": command, "background": true })
    };
    let gate = Gate::new();
    let script = [
        Reply::call("shell", background("old")),
        Reply::say("It runs."),
        Reply::call("shell", background("new")),
        Reply::hang(&gate),
    ];
    let world = World::with(running(Api::Anthropic, Mode::Full, User::Allows), script).await;
    let session = world.session().await;
    session.tell("Run one").await;
    world.appears("old").await;
    let turn = session.prompt("Run another").await.unwrap();
    gate.reached().await;
    world.appears("new").await;
    let pid = |name: &str| -> u32 { world.read(name).trim().parse().unwrap() };
    while world.read("old").is_empty() || world.read("new").is_empty() {
        tokio::task::yield_now().await;
    }
    cancel(&session, turn).await;
    assert!(is_alive(pid("old")) && !is_alive(pid("new")));
}

#[tokio::test]
async fn when_nothing_runs_it_does_nothing() {
    let world = World::new([]).await;
    let session = world.session().await;
    session.cancel().await.unwrap();
    is_unharmed(&world, &session).await;
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie is dead; it waits for its parent to notice.
    !stat.is_empty() && !stat.contains(") Z ")
}
