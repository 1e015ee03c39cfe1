//! What clients hear is safe first; and a journal that fails takes nothing along but its session.

use serde_json::{Value, json};

use crate::actor::{Actor, hear, run};
use crate::journals::Gated;
use crate::support::*;

fn of(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/work", "mcpServers": []})
}

fn chooses(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

/// Makes sure that the client has been sent nothing.
async fn is_silent(client: &mut Client) {
    let wait = std::time::Duration::from_secs(30);
    let heard = tokio::time::timeout(wait, client.next()).await;
    assert!(
        heard.is_err(),
        "something was said before it was safe: {heard:?}"
    );
}

// Also: V2-PROMPT-03.
#[tokio::test(start_paused = true)]
async fn e10_a_prompt_is_answered_when_it_is_safe() {
    let (actor, journal) = (Actor::new(), Gated::open());
    let server = actor.serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    journal.set_open(false);
    let prompt = client.prompt(&session, "say hello").await;
    assert!(journal.waiting().await.contains("say hello"));
    is_silent(&mut client).await;
    journal.set_open(true);
    let seen = client.answered(prompt).await;
    assert!(seen.last().unwrap()["result"]["messageId"].is_string());
    assert_eq!(said(&client.idle().await), "hello");
}

#[tokio::test(start_paused = true)]
async fn e10_the_end_of_a_turn_is_told_when_it_is_safe() {
    for version in [1, 2] {
        let (actor, journal) = (Actor::new(), Gated::open());
        let server = actor.serve().journal(journal.clone());
        let mut client = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        let prompt = client.prompt(&session, "say going\nwait").await;
        client
            .until(|message| said(std::slice::from_ref(message)) == "going")
            .await;
        journal.set_open(false);
        actor.gate.add_permits(1);
        assert!(journal.waiting().await.contains("idle"));
        is_silent(&mut client).await;
        journal.set_open(true);
        match version {
            1 => assert_eq!(
                client.answered(prompt).await.last().unwrap()["result"]["stopReason"],
                "end_turn"
            ),
            _ => assert_eq!(
                update(client.idle().await.last().unwrap())["stopReason"],
                "end_turn"
            ),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn e10_an_answer_of_the_user_reaches_the_agent_when_it_is_safe() {
    for version in [1, 2] {
        let (actor, journal) = (Actor::new(), Gated::open());
        let server = actor.serve().journal(journal.clone());
        let mut client = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        client.prompt(&session, "ask").await;
        let question = client.method("session/request_permission").await;
        if version == 2 {
            client
                .until(|message| update(message)["state"] == "requires_action")
                .await;
        }
        journal.set_open(false);
        client.answer(&question, chooses("allow_once")).await;
        assert!(journal.waiting().await.contains("allow_once"));
        is_silent(&mut client).await;
        journal.set_open(true);
        let seen = client
            .until(|message| !said(std::slice::from_ref(message)).is_empty())
            .await;
        assert_eq!(said(&seen), "chose Some(\"allow_once\")");
    }
}

// Also: E10.
#[tokio::test(start_paused = true)]
async fn e10_a_slow_journal_of_one_session_holds_up_no_other() {
    let (actor, slow) = (Actor::new(), Gated::open());
    let server = actor.serve().journal(slow.clone());
    let mut client = v2_with(&server, json!({})).await;
    let (one, two) = (client.session().await, client.session().await);
    slow.set_open(false);
    client.prompt(&one, "say one").await;
    slow.waiting().await;
    // Nothing of the connection waits for it either.
    client.ok("session/list", json!({})).await;
    assert_eq!(
        client
            .fails("session/prompt", json!({"sessionId": two}))
            .await,
        -32602
    );
    slow.set_open(true);
    client.idle().await;
    assert_eq!(hear(&mut client, &two, "say two").await, "two");
}

// Also: F5.
#[tokio::test(start_paused = true)]
async fn f5_a_prompt_that_cannot_be_kept_is_an_error_and_the_session_can_be_opened_again() {
    for version in [1, 2] {
        let journal = Gated::open();
        let server = Actor::new().serve().journal(journal.clone());
        let mut client = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        run(&mut client, &session, "say kept").await;
        journal.set_fails(true);
        let prompt = client.prompt(&session, "say lost").await;
        let answer = client.answered(prompt).await.pop().unwrap();
        let message = answer["error"].to_string();
        assert!(message.contains("disk is full"), "{answer}");
        assert_eq!(client.fails("session/resume", of(&session)).await, -32603);
        let new = client.session().await;
        let prompt = client.prompt(&new, "say lost").await;
        let answer = client.answered(prompt).await.pop().unwrap();
        let message = answer["error"].to_string();
        assert!(message.contains("disk is full"), "{answer}");
        journal.set_fails(false);
        // Neither the session with something in it nor the one without is lost.
        let recalled = hear(&mut client, &new, "recall").await;
        assert_eq!(recalled, "recall", "version {version}");
        client.ok("session/resume", of(&session)).await;
        let recalled = hear(&mut client, &session, "recall").await;
        assert_eq!(recalled, "say kept|kept|recall", "version {version}");
    }
}

// Also: F5, E10.
#[tokio::test(start_paused = true)]
async fn f5_a_turn_that_cannot_be_kept_ends_with_an_error_and_is_closed_when_it_is_opened_again() {
    for version in [1, 2] {
        let (actor, journal) = (Actor::new(), Gated::open());
        let server = actor.serve().journal(journal.clone());
        let mut client = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        let prompt = client.prompt(&session, "say going\nwait\nsay late").await;
        client
            .until(|message| said(std::slice::from_ref(message)) == "going")
            .await;
        journal.set_fails(true);
        actor.gate.add_permits(1);
        let end = match version {
            1 => client.answered(prompt).await,
            _ => client.idle().await,
        };
        let end = end.last().unwrap().to_string();
        assert!(end.contains("disk is full"), "{end}");
        journal.set_fails(false);
        client.ok("session/resume", of(&session)).await;
        // What the agent had said when the journal failed was kept in memory, and goes first.
        assert_eq!(
            hear(&mut client, &session, "recall").await,
            "say going\nwait\nsay late|goinglate|recall"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn f5_other_sessions_go_on_when_one_journal_fails() {
    let (actor, journal) = (Actor::new(), Gated::open());
    let server = actor.serve().journal(journal.clone());
    let mut client = v1_with(&server, json!({})).await;
    let (broken, other) = (client.session().await, client.session().await);
    let running = client.prompt(&other, "say going\nwait\nsay done").await;
    client
        .until(|message| said(std::slice::from_ref(message)) == "going")
        .await;
    journal.set_fails(true);
    let lost = client.prompt(&broken, "say lost").await;
    client.answered(lost).await;
    journal.set_fails(false);
    actor.gate.add_permits(1);
    let seen = client.answered(running).await;
    assert_eq!(said(&seen), "done");
    assert_eq!(seen.last().unwrap()["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn f5_a_question_that_cannot_be_kept_is_not_acted_upon() {
    let (actor, journal) = (Actor::new(), Gated::open());
    let server = actor.serve().journal(journal.clone());
    let mut client = v1_with(&server, json!({})).await;
    let session = client.session().await;
    let prompt = client.prompt(&session, "ask").await;
    let question = client.method("session/request_permission").await;
    journal.set_fails(true);
    client.answer(&question, chooses("allow_once")).await;
    let seen = client.answered(prompt).await;
    assert!(seen.last().unwrap().get("error").is_some(), "{seen:#?}");
    assert_eq!(said(&seen), "");
}

#[tokio::test(start_paused = true)]
async fn f5_the_next_prompt_works_when_there_is_space_again() {
    for version in [1, 2] {
        let journal = Gated::open();
        let server = Actor::new().serve().journal(journal.clone());
        let mut client = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        run(&mut client, &session, "say kept").await;
        journal.set_fails(true);
        for _ in 0..3 {
            let prompt = client.prompt(&session, "say lost").await;
            let answer = client.answered(prompt).await.pop().unwrap();
            let message = answer["error"].to_string();
            assert!(message.contains("disk is full"), "{answer}");
        }
        journal.set_fails(false);
        let recalled = hear(&mut client, &session, "recall").await;
        assert_eq!(recalled, "say kept|kept|recall", "version {version}");
        // It is the same session to everybody.
        assert_eq!(hear(&mut client, &session, "say on").await, "on");
    }
}

#[tokio::test(start_paused = true)]
async fn f5_prompts_that_come_together_after_a_failure_are_all_taken_in_order() {
    let journal = Gated::open();
    let server = Actor::new().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    journal.set_fails(true);
    let lost = client.prompt(&session, "say lost").await;
    client.answered(lost).await;
    journal.set_fails(false);
    for text in ["say one", "say two", "say three"] {
        client.prompt(&session, text).await;
    }
    let mut heard = String::new();
    for _ in 0..3 {
        heard += &said(&client.idle().await);
    }
    assert_eq!(heard, "onetwothree");
}

// Also: F8.
#[tokio::test(start_paused = true)]
async fn f8_what_is_readable_of_a_damaged_session_is_shown_and_the_damage_is_told() {
    let journal = Gated::open();
    let first = Actor::new().serve().journal(journal.clone());
    let mut client = v2_with(&first, json!({})).await;
    let session = client.session().await;
    for text in ["say one", "say two", "say three"] {
        run(&mut client, &session, text).await;
    }
    client.vanish().await;
    first.shutdown().await;
    // The words of the second turn, each turn being four records: prompt, running, words, idle.
    journal.damage([6]);
    let second = Actor::new().serve().journal(journal);
    let mut client = v2_with(&second, json!({})).await;
    let mut params = of(&session);
    params["replayFrom"] = json!({"type": "start"});
    client.ok("session/resume", params).await;
    let replayed = crate::fold::v2_fold(&client.log, &session);
    let texts: Vec<_> = replayed.messages().map(|message| message.text()).collect();
    assert_eq!(
        texts,
        ["say one", "one", "say two", "say three", "three"],
        "{:#?}",
        client.log
    );
    let notice = client
        .until(|message| message["params"]["update"]["sessionUpdate"] == "notice")
        .await;
    let notice = notice.last().unwrap().to_string();
    assert!(notice.contains("1 record of this session"), "{notice}");
    assert_eq!(hear(&mut client, &session, "say on").await, "on");
}

/// The journal outlives the server, as a file outlives a process.
#[tokio::test(start_paused = true)]
async fn e2_another_server_on_the_same_journal_shows_the_same_session() {
    let journal = Gated::open();
    let first = Actor::new().serve().journal(journal.clone());
    let mut client = v2_with(&first, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "everything").await;
    client.prompt(&session, "ask").await;
    client.method("session/request_permission").await;
    let live = crate::fold::v2_fold(&client.log, &session);
    client.vanish().await;
    first.shutdown().await;

    let second = Actor::new().serve().journal(journal);
    let mut client = v2_with(&second, json!({})).await;
    let mut params = of(&session);
    params["replayFrom"] = json!({"type": "start"});
    client.ok("session/resume", params).await;
    let replayed = crate::fold::v2_fold(&client.log, &session);
    assert_eq!(replayed.messages().count(), live.messages().count());
    // The turn was closed with its server: nothing is open any more.
    assert!(replayed.tool_calls().all(|call| call.is_finished()));
    assert!(!replayed.state().is_active());
    assert_eq!(hear(&mut client, &session, "say on").await, "on");
}
