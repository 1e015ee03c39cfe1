//! Several readers, several owners, and agents that go away at bad moments.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::support::{
    SESSION, heard, open, permission, prompt, v1_session, v1_session_of, v1_with, v2_session,
    v2_with, within, words, words_of,
};
use ply_client::limits::{QUEUED_EVENTS_MAX, VISITS_MAX};
use ply_client::transcript::Transcript;
use ply_client::{Client, ElicitationDecision, Elicitations, Error, Event, Events, Permission, v2};
use serde_json::{Value, json};

async fn permission_of(events: &mut Events) -> Permission {
    loop {
        if let Event::Permission(ask) = heard(events).await.unwrap() {
            return ask;
        }
    }
}

#[tokio::test]
async fn of_all_who_answer_a_question_the_first_is_heard() {
    let (session, mut script) = v1_session().await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    let (mut one, mut two) = (session.events(), session.events());
    let id = script.ask_permission("c1").await;
    let asks = [
        permission_of(&mut one).await,
        permission_of(&mut two).await,
        permission(&mut turn).await,
    ];
    // Without an answer, it is left to the others here.
    let [first, second, third] = asks;
    drop(first);
    script.silent().await;
    second.reject_once().await.unwrap();
    let allow = v2::PermissionOptionId::new("allow_once");
    for late in [third, second] {
        assert!(!late.is_open());
        assert!(matches!(late.select(&allow).await, Err(Error::Answered)));
        // Whoever does not ask to hear of it is not bothered.
        late.allow_once().await.unwrap();
    }
    let answer = script.answered(&id).await;
    assert_eq!(answer["result"]["outcome"]["optionId"], "reject_once");
    script.silent().await;
}

#[tokio::test]
async fn a_session_that_was_dropped_in_its_turn_can_be_opened_again() {
    for is_v2 in [false, true] {
        let (agent, mut script) = match is_v2 {
            false => v1_with(Client::new(), json!({ "loadSession": true })).await,
            true => v2_with(Client::new(), json!({})).await,
        };
        let session = open(&agent, &mut script).await;
        let (turn, running) = prompt(&session, &mut script, "hi").await;
        drop((turn, session));
        let answering = async {
            let load = script.next().await;
            script.answer(&load, json!({})).await;
        };
        let loading = within(agent.load_session(SESSION, "/work"));
        let (session, ()) = tokio::join!(loading, answering);
        let session = session.unwrap();
        // What the turn still does is told to whoever has the session now.
        let mut events = session.events();
        match is_v2 {
            false => script.say("still here").await,
            true => script.update(words_of("m1", "still here")).await,
        }
        loop {
            if let Event::Message(text) = heard(&mut events).await.unwrap() {
                break assert_eq!(text.text(), "still here");
            }
        }
        let answer = match is_v2 {
            false => json!({ "stopReason": "end_turn" }),
            true => json!({ "messageId": "u1" }),
        };
        script.answer(&running, answer).await;
        script.silent().await;
        let _asked = prompt(&session, &mut script, "again").await;
    }
}

#[tokio::test]
async fn the_ends_of_visits_are_kept_for_a_slow_reader_up_to_a_number() {
    let decline = |_: &_| ElicitationDecision::Answer(v2::ElicitationAction::Decline);
    let service = Elicitations::new().urls().decide(decline);
    let (session, mut script) = v1_session_of(Client::new().elicitation(service)).await;
    let mut events = session.events();
    let visits = 3 * QUEUED_EVENTS_MAX;
    for number in 0..visits {
        let params = json!({
            "mode": "url", "sessionId": SESSION, "message": "Log in",
            "elicitationId": format!("e{number}"), "url": "https://example.org/",
        });
        let id = script.ask("elicitation/create", params).await;
        script.answered(&id).await;
        let over = json!({ "elicitationId": format!("e{number}") });
        script.notify("elicitation/complete", over).await;
    }
    // The reader has to go on from the transcript, which knows nothing of visits.
    for number in 0..=QUEUED_EVENTS_MAX {
        let call = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": format!("c{}", number % 7),
            "status": "in_progress",
        });
        script.update(call).await;
    }
    script.silent().await;
    script.die();
    let (mut ends, mut lagged) = (Vec::new(), 0);
    while let Some(event) = heard(&mut events).await {
        match event {
            Event::VisitFinished(id) => ends.push(id.0.to_string()),
            Event::Lagged { .. } => lagged += 1,
            _ => {}
        }
    }
    assert_eq!(lagged, 1);
    let newest = visits - VISITS_MAX..visits;
    let newest: Vec<_> = newest.map(|number| format!("e{number}")).collect();
    assert_eq!(ends, newest);
}

#[tokio::test]
async fn an_agent_that_dies_in_a_load_leaves_nothing_behind() {
    let (agent, mut script) = v1_with(Client::new(), json!({ "loadSession": true })).await;
    let other = open(&agent, &mut script).await;
    let mut events = other.events();
    let dying = async {
        script.expect("session/load").await;
        script.update_of("old", words("half of ")).await;
        script.silent().await;
        script.die();
    };
    let (lost, ()) = tokio::join!(within(agent.load_session("old", "/work")), dying);
    assert!(matches!(lost, Err(Error::Gone(_))), "{lost:?}");
    assert!(heard(&mut events).await.is_none());
    let again = within(agent.load_session("old", "/work")).await;
    assert!(matches!(again, Err(Error::Gone(_))), "{again:?}");
}

/// A small generator, so that a failing round can be run again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Something that an agent of version 2 may tell.
fn anything(dice: &mut Dice, number: usize) -> Value {
    let message = format!("m{}", dice.roll(5));
    let text = format!("{number} ");
    let content = json!({ "type": "text", "text": text });
    let image = json!({ "type": "image", "mimeType": "image/png", "data": "AAAA" });
    let call = format!("c{}", dice.roll(5));
    let status = ["in_progress", "completed"][number % 2];
    match dice.roll(9) {
        0..=3 => words_of(&message, &text),
        4 => json!({
            "sessionUpdate": "agent_thought_chunk", "messageId": format!("t{message}"),
            "content": content,
        }),
        5 => json!({
            "sessionUpdate": "agent_message", "messageId": message, "content": [content],
        }),
        6 => json!({
            "sessionUpdate": "agent_message_chunk", "messageId": message, "content": image,
        }),
        7 => json!({
            "sessionUpdate": "tool_call_update", "toolCallId": call,
            "status": status,
            "content": [{ "type": "content", "content": content }],
        }),
        _ => json!({
            "sessionUpdate": "tool_call_content_chunk", "toolCallId": call,
            "content": { "type": "content", "content": content },
        }),
    }
}

/// A reader that adds up what it is told.
struct Follower {
    events: Events,
    seen: Transcript,
    lagged: usize,
}

impl Follower {
    /// Takes so many events, or as many as there are.
    fn read(&mut self, events: u64) {
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..events {
            let Poll::Ready(Some(told)) = pin!(self.events.next()).poll(&mut cx) else {
                return;
            };
            self.lagged += usize::from(matches!(told.event, Event::Lagged { .. }));
            if let Some(update) = told.event.into_update() {
                self.seen.apply(&update);
            }
        }
    }
}

async fn follow(seed: u64) -> usize {
    let mut dice = Dice(seed);
    let (session, mut script) = v2_session().await;
    let follower = || Follower {
        events: session.events(),
        seen: Transcript::new(),
        lagged: 0,
    };
    let mut followers = [follower(), follower()];
    for number in 0..4 * QUEUED_EVENTS_MAX {
        script.update(anything(&mut dice, number)).await;
        // One reads little and often, the other much and rarely.
        if dice.roll(100) == 0 {
            script.silent().await;
            followers[0].read(dice.roll(60));
        }
        if dice.roll(1500) == 0 {
            script.silent().await;
            followers[1].read(dice.roll(2000));
        }
    }
    script.silent().await;
    let now = session.transcript();
    let mut lagged = 0;
    for follower in &mut followers {
        follower.read(u64::MAX);
        lagged += follower.lagged;
        let text = |transcript: &Transcript| -> Vec<_> {
            let messages = transcript.messages();
            messages
                .map(|message| (message.id.clone(), message.text(), message.content.len()))
                .collect()
        };
        assert_eq!(text(&follower.seen), text(&now), "seed {seed}");
        let calls = |transcript: &Transcript| transcript.tool_calls().cloned().collect::<Vec<_>>();
        assert_eq!(calls(&follower.seen), calls(&now), "seed {seed}");
    }
    lagged
}

#[tokio::test]
async fn whoever_adds_up_what_is_told_has_the_transcript_however_slow() {
    let mut lagged = 0;
    for seed in 1..=4 {
        lagged += follow(seed).await;
    }
    assert!(lagged > 4, "{lagged}");
}

/// An agent that answers everything in its order, and tells the history of what is loaded.
async fn answer_all(mut script: crate::support::Script) {
    loop {
        let request = script.next().await;
        let method = request["method"].as_str().unwrap_or_default().to_owned();
        if request.get("id").is_none() || method.is_empty() {
            continue;
        }
        if method == "session/load" {
            let id = request["params"]["sessionId"].as_str().unwrap().to_owned();
            for word in ["one ", "two ", "three"] {
                script.update_of(&id, words(word)).await;
                tokio::task::yield_now().await;
            }
        }
        let answer = match &*method {
            "session/new" => json!({ "sessionId": SESSION }),
            "session/prompt" => json!({ "stopReason": "end_turn" }),
            _ => json!({}),
        };
        script.answer(&request, answer).await;
    }
}

/// Polls a future so many times, each after everything else had its turn, and drops it.
async fn drop_after<T>(polls: usize, work: impl Future<Output = T>) {
    let mut work = pin!(work);
    for _ in 0..polls {
        let mut cx = Context::from_waker(Waker::noop());
        if work.as_mut().poll(&mut cx).is_ready() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn whatever_is_dropped_whenever_leaves_the_next_as_if_nothing_had_been() {
    let capabilities = json!({
        "loadSession": true, "sessionCapabilities": { "close": {}, "delete": {}, "list": {} },
    });
    let (agent, script) = v1_with(Client::new(), capabilities).await;
    let agent_task = tokio::spawn(answer_all(script));
    for polls in 0..12 {
        drop_after(polls, agent.load_session("old", "/work")).await;
        drop_after(polls, agent.load_session("old", "/work")).await;
        let session = within(agent.load_session("old", "/work")).await.unwrap();
        let text = session.transcript().last_agent_text().clone();
        assert_eq!(text, "one two three", "after {polls} polls");
        drop_after(polls, session.prompt("hi")).await;
        let turn = within(session.prompt("hi")).await.unwrap();
        within(turn.finish()).await.unwrap();
        drop_after(polls, session.close()).await;
        within(session.close()).await.unwrap();
        drop_after(polls, agent.new_session("/work")).await;
        let session = within(agent.new_session("/work")).await.unwrap();
        drop_after(polls, agent.delete_session(SESSION)).await;
        within(agent.delete_session(SESSION)).await.unwrap();
        let closed = within(session.prompt("hi")).await.map(drop);
        assert!(matches!(closed, Err(Error::SessionClosed)), "{closed:?}");
    }
    agent_task.abort();
}

#[tokio::test]
async fn a_log_that_panics_ends_nothing() {
    let (sender, receiver) = std::sync::mpsc::sync_channel(64);
    let client = Client::new().on_line(move |_, line| {
        sender.try_send(line.len()).unwrap();
        panic!("the log panics as asked");
    });
    let (agent, script) = v1_with(client, json!({})).await;
    let agent_task = tokio::spawn(answer_all(script));
    let session = within(agent.new_session("/work")).await.unwrap();
    let turn = within(session.prompt("hi")).await.unwrap();
    within(turn.finish()).await.unwrap();
    assert_eq!(receiver.try_iter().count(), 6, "three requests and answers");
    agent_task.abort();
}

/// An agent that asks for permission in each turn, and ends the turn with the answer.
async fn ask_in_each_turn(mut script: crate::support::Script) {
    let mut running: Vec<(Value, Value)> = Vec::new();
    loop {
        let message = script.next().await;
        match message["method"].as_str() {
            Some("session/prompt") => {
                script.say("let me see").await;
                let ask = script.ask_permission("c1").await;
                running.push((ask, message));
            }
            Some("_over") => return,
            Some(_) => {}
            None => {
                let at = running.iter().position(|(ask, _)| *ask == message["id"]);
                let (_, request) = running.swap_remove(at.unwrap());
                let outcome = &message["result"]["outcome"]["outcome"];
                let reason = match outcome.as_str() {
                    Some("cancelled") => "cancelled",
                    _ => "end_turn",
                };
                script.stop(&request, reason).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_crowd_on_one_session_comes_to_an_end() {
    const ROUNDS: usize = 150;
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let session = open(&agent, &mut script).await;
    tokio::spawn(ask_in_each_turn(script));
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let session = session.clone();
        crowd.spawn(async move {
            for _ in 0..ROUNDS {
                let mut turn = session.prompt("hi").await.unwrap();
                while let Some(event) = turn.next().await {
                    if let Event::Permission(ask) = event.unwrap() {
                        ask.allow_once().await.unwrap();
                    }
                }
                assert!(turn.stop_reason().is_some());
            }
        });
    }
    let dropping = session.clone();
    crowd.spawn(async move {
        for round in 0..ROUNDS {
            let mut turn = dropping.prompt("hi").await.unwrap();
            for _ in 0..round % 4 {
                drop(turn.next().await);
            }
            drop(turn);
            dropping.cancel().await.unwrap();
        }
    });
    let looking = session.clone();
    crowd.spawn(async move {
        for round in 0..ROUNDS {
            let mut events = looking.events();
            let mut turn = looking.prompt("hi").await.unwrap();
            for _ in 0..round % 7 {
                if let Some(Event::Permission(ask)) = heard(&mut events).await {
                    drop(ask.clone());
                    ask.reject_once().await.unwrap();
                }
            }
            drop(events);
            looking.with_transcript(|transcript| transcript.messages().count());
            turn.cancel().await.unwrap();
            while turn.next().await.is_some() {}
        }
    });
    within(crowd.join_all()).await;
    // Nothing is left over.
    let mut turn = within(session.prompt("hi")).await.unwrap();
    permission(&mut turn).await.allow_once().await.unwrap();
    assert!(!within(turn.finish()).await.unwrap().is_cancelled());
}
