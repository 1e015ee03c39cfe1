//! Readers that are too slow: they hold up nobody, and lose nothing that counts.

use crate::support::{SESSION, Script, heard, prompt, v1_session, v1_with, within, words};
use ply_client::limits::{JOINED_TEXT_BYTES_MAX, QUEUED_BYTES_MAX, QUEUED_EVENTS_MAX};
use ply_client::{Client, Event, Message, Session, Turn, v2};
use serde_json::json;

/// Updates that cannot be joined.
fn call(number: usize, status: &str) -> serde_json::Value {
    json!({
        "sessionUpdate": "tool_call_update",
        "toolCallId": format!("c{}", number % 7),
        "status": status,
    })
}

/// Sends more than a queue holds.
async fn flood(script: &mut Script) {
    for number in 0..=QUEUED_EVENTS_MAX {
        script.update(call(number, "in_progress")).await;
    }
}

async fn next(turn: &mut Turn) -> Option<Event> {
    turn.next().await.transpose().unwrap()
}

/// Adds what a message says to what was said, as a program does that shows text while it comes.
fn add(said: &mut String, message: &Message) {
    match message.replaces() {
        true => *said = message.text(),
        false => said.push_str(&message.text()),
    }
}

/// Reads to the end of a turn: what was said, and how often the reader lagged.
async fn read(turn: &mut Turn) -> (String, usize) {
    let (mut said, mut lagged) = (String::new(), 0);
    while let Some(event) = next(turn).await {
        match event {
            Event::Message(message) => add(&mut said, &message),
            Event::Lagged { events } => {
                assert!(events > 0);
                lagged += 1;
            }
            _ => {}
        }
    }
    (said, lagged)
}

async fn open(agent: &ply_client::Agent, script: &mut Script, id: &str) -> Session {
    let answering = async {
        let request = script.expect("session/new").await;
        script.answer(&request, json!({ "sessionId": id })).await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), answering);
    session.unwrap()
}

#[tokio::test]
async fn a_session_that_is_not_read_does_not_stop_the_others() {
    const OTHERS: usize = 98;
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let unread = open(&agent, &mut script, SESSION).await;
    let slow = open(&agent, &mut script, "slow").await;
    let (_unread_turn, _) = prompt(&unread, &mut script, "talk").await;
    let _unread_events = unread.events();
    let (mut slow_turn, _) = prompt(&slow, &mut script, "talk").await;
    let mut others = Vec::new();
    for number in 0..OTHERS {
        let session = open(&agent, &mut script, &format!("other-{number}")).await;
        let (turn, request) = prompt(&session, &mut script, "hi").await;
        others.push((session, turn, request));
    }
    // Far more than the pipe and two full queues hold together.
    let filler = "x".repeat(64 * 1024);
    let rounds = 2 * QUEUED_BYTES_MAX / filler.len();
    for number in 0..rounds {
        let mut update = call(number, "in_progress");
        update["rawOutput"] = json!(filler);
        script.update(update.clone()).await;
        script.update_of("slow", update).await;
        if number % 64 == 0 {
            // It reads one event now and then.
            next(&mut slow_turn).await.unwrap();
            for (session, turn, _) in &mut others {
                let id = session.id().0.to_string();
                script.update_of(&id, words("still here")).await;
                loop {
                    if let Some(Event::Message(text)) = next(turn).await {
                        break assert_eq!(text.text(), "still here");
                    }
                }
            }
        }
    }
    for (_, turn, request) in others {
        script.stop(&request, "end_turn").await;
        within(turn.finish()).await.unwrap();
    }
}

#[tokio::test]
async fn a_reader_that_was_too_slow_goes_on_from_the_transcript() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.say("One ").await;
    loop {
        if let Some(Event::Message(_)) = next(&mut turn).await {
            break;
        }
    }
    script.say("two ").await;
    flood(&mut script).await;
    script.update(call(3, "completed")).await;
    let usage = json!({ "sessionUpdate": "usage_update", "used": 5, "size": 10 });
    script.update(usage).await;
    let id = script.ask_permission("c4").await;
    script.silent().await;
    // What waited is dropped, and what changed is told as it is now.
    let Some(Event::Lagged { events }) = next(&mut turn).await else {
        panic!("the queue holds too much");
    };
    assert!(events > QUEUED_EVENTS_MAX as u64);
    let Some(Event::Message(message)) = next(&mut turn).await else {
        panic!("the message changed");
    };
    assert!(!message.replaces(), "the reader has the beginning");
    assert_eq!(message.text(), "two ");
    let mut statuses = Vec::new();
    let ask = loop {
        match next(&mut turn).await.unwrap() {
            Event::ToolCall(call) => {
                let v2::SessionUpdate::ToolCallUpdate(update) = call.update() else {
                    panic!("{call:?}");
                };
                statuses.push(update.status.value().cloned().unwrap());
            }
            Event::Permission(ask) => break ask,
            Event::Usage(usage) => assert_eq!(usage.used, 5),
            Event::State(state) => assert!(matches!(state, v2::StateUpdate::Running(_))),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(statuses.len(), 7, "each call once");
    let done = v2::ToolCallStatus::Completed;
    assert_eq!(statuses.iter().filter(|status| **status == done).count(), 1);
    ask.allow_once().await.unwrap();
    script.answered(&id).await;
    // From here on everything comes as it happens again.
    script.say("three").await;
    script.stop(&request, "end_turn").await;
    let mut said = String::new();
    while let Some(event) = next(&mut turn).await {
        match event {
            Event::Message(message) => add(&mut said, &message),
            Event::Lagged { .. } => panic!("again"),
            _ => {}
        }
    }
    assert_eq!(said, "three");
    assert_eq!(turn.stop_reason(), Some(&v2::StopReason::EndTurn));
}

#[tokio::test]
async fn a_turn_that_ends_while_its_reader_lags_tells_nothing_of_the_next() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "one").await;
    script.say("first").await;
    flood(&mut script).await;
    script.say(" and last").await;
    script.stop(&request, "end_turn").await;
    let (second, request) = prompt(&session, &mut script, "two").await;
    script.say("of the second").await;
    script.stop(&request, "end_turn").await;
    within(second.finish()).await.unwrap();
    let (mut said, mut ends, mut lagged) = (Vec::new(), 0, 0);
    while let Some(event) = next(&mut turn).await {
        match event {
            Event::Message(message) => said.push(message.text()),
            Event::State(v2::StateUpdate::Idle(_)) => ends += 1,
            Event::Lagged { .. } => lagged += 1,
            _ => {}
        }
    }
    assert_eq!(said, ["first", " and last"]);
    assert_eq!((ends, lagged), (1, 1));
    assert_eq!(turn.stop_reason(), Some(&v2::StopReason::EndTurn));
}

#[tokio::test]
async fn bytes_are_bounded_as_well_as_events() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    let piece = "x".repeat(JOINED_TEXT_BYTES_MAX);
    let count = QUEUED_BYTES_MAX / piece.len() + 10;
    assert!(count < QUEUED_EVENTS_MAX);
    for _ in 0..count {
        script.say(&piece).await;
    }
    script.stop(&request, "end_turn").await;
    script.silent().await;
    let (said, lagged) = read(&mut turn).await;
    assert_eq!(lagged, 1);
    assert_eq!(said.len(), count * piece.len());
}

#[tokio::test]
async fn one_message_is_told_as_it_came_however_long_it_is() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    let long = "x".repeat(QUEUED_BYTES_MAX + 1);
    script.say(&long).await;
    script.stop(&request, "end_turn").await;
    script.silent().await;
    let (said, lagged) = read(&mut turn).await;
    assert_eq!((said.len(), lagged), (long.len(), 0));
}

#[tokio::test]
async fn a_stream_that_lags_hears_the_end_of_the_turn_and_what_is_asked() {
    let (session, mut script) = v1_session().await;
    let mut events = session.events();
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    let name = turn.id();
    flood(&mut script).await;
    script.stop(&request, "end_turn").await;
    within(turn.finish()).await.unwrap();
    let id = script.ask_permission("late").await;
    script.silent().await;
    let first = events.next().await.unwrap();
    assert!(matches!(first.event, Event::Lagged { .. }), "{first:?}");
    assert_eq!(first.turn, None, "part of it was said after the turn");
    let mut idle = 0;
    let ask = loop {
        match heard(&mut events).await.unwrap() {
            Event::State(v2::StateUpdate::Idle(_)) => idle += 1,
            Event::Permission(ask) => break ask,
            _ => {}
        }
    };
    assert_eq!(idle, 1);
    ask.allow_once().await.unwrap();
    script.answered(&id).await;
    // Within one turn, the events that stand for what was dropped name it.
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    while events.next().await.unwrap().turn != Some(turn.id()) {}
    assert_ne!(turn.id(), name);
    flood(&mut script).await;
    script.stop(&request, "end_turn").await;
    let id = turn.id();
    within(turn.finish()).await.unwrap();
    while !matches!(heard(&mut events).await, Some(Event::Lagged { .. })) {}
    assert_eq!(events.next().await.unwrap().turn, Some(id));
}

#[tokio::test]
async fn whoever_adds_up_the_text_has_all_of_it_and_nothing_twice() {
    let (session, mut script) = crate::support::v2_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    script.update(crate::support::user_message("u", "hi")).await;
    script.answer(&request, json!({ "messageId": "u" })).await;
    script.state("running", None).await;
    let mut said = std::collections::HashMap::<String, String>::new();
    let mut lagged = 0;
    let mut take = |event| match event {
        Event::Message(message) => {
            assert!(!message.replaces() || !said.contains_key(&*message.id().unwrap().0));
            let said = said.entry(message.id().unwrap().0.to_string()).or_default();
            said.push_str(&message.text());
        }
        Event::Lagged { .. } => lagged += 1,
        _ => {}
    };
    for round in 0..6 {
        for number in 0..10 {
            // Two messages that go on through all rounds, and one of each round.
            let own = format!("m{round}");
            for id in ["even", "odd", &own] {
                let text = format!("{round}.{number} ");
                script.update(crate::support::words_of(id, &text)).await;
            }
            if number == 4 {
                flood(&mut script).await;
            }
        }
        script.silent().await;
        // Some of it, so that the reader stops in the middle of a message.
        for _ in 0..(5 * round) {
            tokio::select! {
                biased;
                event = next(&mut turn) => take(event.unwrap()),
                () = std::future::ready(()) => {}
            }
        }
    }
    script.state("idle", Some("end_turn")).await;
    while let Some(event) = next(&mut turn).await {
        take(event);
    }
    assert!(lagged > 0);
    let transcript = session.transcript();
    for (id, said) in said {
        let id = v2::MessageId::new(id);
        let kind = ply_client::transcript::MessageKind::Agent;
        assert_eq!(said, transcript.message(kind, &id).unwrap().text(), "{id}");
    }
}
