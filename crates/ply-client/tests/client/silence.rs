//! Silence is no answer: how long questions stay open, and who else may answer them.

use crate::support::{
    SESSION, heard, permission, prompt, v1_session, v1_session_of, v2_session, words_of,
};
use ply_client::{Client, Elicitations, Event, Events, LeaveToOthers, Permission};
use serde_json::{Value, json};

async fn permission_of(events: &mut Events) -> Permission {
    loop {
        if let Event::Permission(ask) = heard(events).await.unwrap() {
            return ask;
        }
    }
}

fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

#[track_caller]
fn assert_not_mine(answer: &Value) {
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert_eq!(
        answer["error"]["message"],
        "Nobody answers this in this client"
    );
}

#[tokio::test]
async fn a_question_that_nobody_reads_is_not_answered() {
    let (session, mut script) = v1_session().await;
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    let unread = script.ask_permission("c1").await;
    script.silent().await;
    drop(turn);
    let unheard = script.ask_permission("c2").await;
    script.silent().await;
    // Only the end of its turn ends it.
    script.stop(&request, "end_turn").await;
    for id in [unread, unheard] {
        assert_eq!(script.answered(&id).await["result"], cancelled());
    }
    script.silent().await;
}

#[tokio::test]
async fn a_client_that_looks_on_answers_nothing_outside_of_its_turns() {
    let (_session, mut script) = v1_session().await;
    let id = script.ask_permission("c1").await;
    script.silent().await;
    script
        .notify("$/cancel_request", json!({ "requestId": id }))
        .await;
    assert_eq!(script.answered(&id).await["result"], cancelled());
}

#[tokio::test]
async fn a_late_subscriber_sees_the_questions_that_are_open() {
    let (session, mut script) = v1_session().await;
    let (turn, _) = prompt(&session, &mut script, "hi").await;
    let open = script.ask_permission("c1").await;
    let gone = script.ask_permission("c2").await;
    script
        .notify("$/cancel_request", json!({ "requestId": gone }))
        .await;
    assert_eq!(script.answered(&gone).await["result"], cancelled());
    let mut events = session.events();
    let first = events.next().await.unwrap();
    assert_eq!(first.turn, Some(turn.id()));
    let Event::Permission(ask) = first.event else {
        panic!("{first:?}");
    };
    drop(turn);
    ask.allow_once().await.unwrap();
    let answer = script.answered(&open).await;
    assert_eq!(answer["result"]["outcome"]["optionId"], "allow_once");
}

#[tokio::test]
async fn a_question_that_the_program_lets_go_of_is_left_to_others() {
    let (session, mut script) = v1_session().await;
    let (mut turn, request) = prompt(&session, &mut script, "hi").await;
    let id = script.ask_permission("c1").await;
    let ask = permission(&mut turn).await;
    drop(ask.clone());
    script.silent().await;
    drop(ask);
    assert_not_mine(&script.answered(&id).await);
    let id = script.ask_permission("c2").await;
    permission(&mut turn).await.leave_to_others().await;
    assert_not_mine(&script.answered(&id).await);
    // Whoever only waits for the end answers nothing either.
    let id = script.ask_permission("c3").await;
    let finished = tokio::spawn(turn.finish());
    assert_not_mine(&script.answered(&id).await);
    script.stop(&request, "end_turn").await;
    finished.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_question_waits_for_every_reader_that_is_still_to_see_it() {
    let (session, mut script) = v1_session().await;
    let mut events = session.events();
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    let id = script.ask_permission("c1").await;
    drop(permission(&mut turn).await);
    script.silent().await;
    let ask = permission_of(&mut events).await;
    ask.reject_once().await.unwrap();
    let answer = script.answered(&id).await;
    assert_eq!(answer["result"]["outcome"]["optionId"], "reject_once");
    // A reader that leaves without having looked is waited for no longer.
    let id = script.ask_permission("c2").await;
    drop(permission(&mut turn).await);
    script.silent().await;
    drop(events);
    assert_not_mine(&script.answered(&id).await);
}

#[tokio::test]
async fn a_session_that_nobody_holds_leaves_its_questions_to_others() {
    let (session, mut script) = v1_session().await;
    let agent = session.agent().clone();
    let (turn, _) = prompt(&session, &mut script, "hi").await;
    let before = script.ask_permission("c1").await;
    script.silent().await;
    drop(session);
    script.silent().await;
    drop(turn);
    assert_not_mine(&script.answered(&before).await);
    let after = script.ask_permission("c2").await;
    assert_not_mine(&script.answered(&after).await);
    drop(agent);
}

#[tokio::test]
async fn a_client_that_only_looks_on_leaves_everything_to_others() {
    let client = Client::new().permissions(LeaveToOthers);
    let (session, mut script) = v1_session_of(client).await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let id = script.ask_permission("c1").await;
    assert_not_mine(&script.answered(&id).await);
    // Not after the user cancelled: then everything is (V1-CANCEL-03).
    session.cancel().await.unwrap();
    script.expect("session/cancel").await;
    let id = script.ask_permission("c2").await;
    assert_eq!(script.answered(&id).await["result"], cancelled());
}

// Also: V1-CANCEL-03.
#[tokio::test]
async fn a_cancel_answers_questions_of_turns_of_others() {
    let (session, mut script) = v1_session().await;
    let id = script.ask_permission("c1").await;
    script.silent().await;
    session.cancel().await.unwrap();
    script.expect("session/cancel").await;
    assert_eq!(script.answered(&id).await["result"], cancelled());
}

#[tokio::test]
async fn an_elicitation_that_nobody_reads_is_not_answered() {
    let client = Client::new().elicitation(Elicitations::new().forms());
    let (session, mut script) = v1_session_of(client).await;
    let (turn, request) = prompt(&session, &mut script, "hi").await;
    let params = json!({
        "mode": "form", "sessionId": SESSION, "message": "Who are you?",
        "requestedSchema": { "type": "object", "properties": {} },
    });
    let id = script.ask("elicitation/create", params).await;
    script.silent().await;
    drop(turn);
    script.silent().await;
    script.stop(&request, "end_turn").await;
    let answer = script.answered(&id).await;
    assert_eq!(answer["result"], json!({ "action": "cancel" }));
}

#[tokio::test]
async fn events_of_a_turn_that_was_dropped_do_not_reach_the_next() {
    let (session, mut script) = v2_session().await;
    let mut events = session.events();
    let (first, asked) = prompt(&session, &mut script, "one").await;
    script.answer(&asked, json!({ "messageId": "u1" })).await;
    let (mut second, asked) = prompt(&session, &mut script, "two").await;
    let (one, two) = (first.id(), second.id());
    drop(first);
    script.answer(&asked, json!({ "messageId": "u2" })).await;
    script
        .update(crate::support::user_message("u1", "one"))
        .await;
    script.state("running", None).await;
    script.update(words_of("m1", "of the first")).await;
    script.state("idle", Some("end_turn")).await;
    script
        .update(crate::support::user_message("u2", "two"))
        .await;
    script.state("running", None).await;
    script.update(words_of("m2", "of the second")).await;
    script.state("idle", Some("end_turn")).await;
    assert_eq!(
        crate::support::told(&mut second).await,
        ["says of the second", "end: Some(EndTurn)"]
    );
    let mut said = Vec::new();
    while said.len() < 2 {
        let told = events.next().await.unwrap();
        if let Event::Message(text) = told.event {
            said.push((told.turn, text.text()));
        }
    }
    assert_eq!(said[0], (Some(one), "of the first".to_owned()));
    assert_eq!(said[1], (Some(two), "of the second".to_owned()));
    script.update(words_of("m3", "of nobody")).await;
    loop {
        let told = events.next().await.unwrap();
        if let Event::Message(_) = told.event {
            break assert_eq!(told.turn, None);
        }
    }
}
