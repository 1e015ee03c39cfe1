//! Agents that die, and come back.

use std::sync::atomic::Ordering;

use ply_client::v2;
use serde_json::json;

use crate::stage::{BOTH, Cast, connect, killed, prompt};

#[tokio::test(start_paused = true)]
async fn a_dead_agent_is_told_in_words_and_goes_on_with_its_session() {
    for version in [1, 2] {
        for client in BOTH {
            let cast = Cast::new(move |number, mut stage| async move {
                if number == 1 {
                    stage.begin(version).await;
                    stage.expect("session/prompt").await;
                    stage.say("half a").await;
                    return stage.die(killed()).await;
                }
                stage.greet(version).await;
                let resume = stage.expect("session/resume").await;
                assert_eq!(resume["params"]["sessionId"], "d1");
                stage.answer(&resume, json!({})).await;
                stage.serve(version, "back").await;
                stage.rest().await;
            });
            let server = ply_agent::serve(cast.hub().await);
            let agent = connect(&server, client).await;
            let session = agent.new_session("/").await.unwrap();
            let error = prompt(&session, "one").await.unwrap_err();
            assert!(error.contains("SIGKILL"), "{error}");
            assert!(error.contains("out of plums"), "{error}");
            assert_eq!(session.transcript().last_agent_text(), "half a");
            assert_eq!(prompt(&session, "two").await.unwrap(), "back");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_a_dead_agent_never_got_goes_to_the_next_process() {
    for version in [1, 2] {
        for client in BOTH {
            let cast = Cast::new(move |number, mut stage| async move {
                if number == 1 {
                    stage.begin(version).await;
                    stage.serve(version, "here").await;
                    return stage.die_unread(killed()).await;
                }
                stage.greet(version).await;
                let resume = stage.expect("session/resume").await;
                stage.answer(&resume, json!({})).await;
                stage.serve(version, "back").await;
                stage.rest().await;
            });
            let started = cast.started();
            let server = ply_agent::serve(cast.hub().await);
            let agent = connect(&server, client).await;
            let session = agent.new_session("/").await.unwrap();
            assert_eq!(prompt(&session, "one").await.unwrap(), "here");
            assert_eq!(prompt(&session, "two").await.unwrap(), "back");
            let said: Vec<_> = session
                .transcript()
                .messages()
                .map(|it| it.text())
                .collect();
            assert_eq!(said, ["one", "here", "two", "back"]);
            assert_eq!(started.load(Ordering::Relaxed), 2);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_no_process_gets_is_given_up_in_words() {
    let cast = Cast::new(|number, mut stage| async move {
        if number == 1 {
            stage.begin(1).await;
        } else {
            stage.greet(1).await;
            let resume = stage.expect("session/resume").await;
            stage.answer(&resume, json!({})).await;
        }
        stage.die_unread(killed()).await;
    });
    let started = cast.started();
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    let error = prompt(&session, "one").await.unwrap_err();
    assert!(error.contains("SIGKILL"), "{error}");
    assert_eq!(started.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_stay_is_started_three_times_and_left_alone() {
    let cast = Cast::new(|number, mut stage| async move {
        if number == 1 {
            stage.begin(1).await;
            stage.expect("session/prompt").await;
        }
        stage.die(killed()).await;
    });
    let started = cast.started();
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[0]).await;
    let session = agent.new_session("/").await.unwrap();
    prompt(&session, "one").await.unwrap_err();
    for _ in 0..3 {
        let error = prompt(&session, "again").await.unwrap_err();
        assert!(error.contains("could not be started again"), "{error}");
    }
    let error = prompt(&session, "again").await.unwrap_err();
    assert!(error.contains("3 times in 5 minutes"), "{error}");
    assert_eq!(started.load(Ordering::Relaxed), 4);
}

#[tokio::test(start_paused = true)]
async fn options_are_set_back_before_anything_is_prompted() {
    let option = |value: &str| {
        let choices = json!([{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]);
        json!([{"id": "model", "name": "Model", "type": "select", "currentValue": value, "options": choices}])
    };
    let cast = Cast::new(move |number, mut stage| async move {
        stage.greet(1).await;
        if number == 1 {
            let new = stage.expect("session/new").await;
            let answer = json!({"sessionId": "d1", "configOptions": option("ask")});
            stage.answer(&new, answer).await;
            let set = stage.expect("session/set_config_option").await;
            stage
                .answer(&set, json!({"configOptions": option("code")}))
                .await;
            stage.expect("session/prompt").await;
            return stage.die(killed()).await;
        }
        let resume = stage.expect("session/resume").await;
        stage
            .answer(&resume, json!({"configOptions": option("ask")}))
            .await;
        let set = stage.expect("session/set_config_option").await;
        assert_eq!(set["params"]["value"], "code");
        stage
            .answer(&set, json!({"configOptions": option("code")}))
            .await;
        stage.serve(1, "in code").await;
        stage.rest().await;
    });
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    let code = v2::SessionConfigOptionValue::id("code");
    session.set_config_option("model", code).await.unwrap();
    prompt(&session, "one").await.unwrap_err();
    assert_eq!(prompt(&session, "two").await.unwrap(), "in code");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_waits_for_an_agent_that_is_slow_to_cancel() {
    let cast = Cast::new(|_, mut stage| async move {
        stage.begin(1).await;
        let first = stage.expect("session/prompt").await;
        stage.say("working").await;
        stage.expect("session/cancel").await;
        // Longer than the hub's clients wait for a cancelled turn.
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
        stage.say("too late").await;
        stage
            .answer(&first, json!({"stopReason": "cancelled"}))
            .await;
        stage.serve(1, "next").await;
        stage.rest().await;
    });
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    let mut turn = session.prompt("one").await.unwrap();
    while let Some(event) = turn.next().await {
        if matches!(event.unwrap(), ply_client::Event::Message(_)) {
            turn.cancel().await.unwrap();
        }
    }
    assert_eq!(turn.stop_reason(), Some(&v2::StopReason::Cancelled));
    assert_eq!(prompt(&session, "two").await.unwrap(), "next");
    let said: Vec<_> = session
        .transcript()
        .messages()
        .map(|it| it.text())
        .collect();
    assert_eq!(said, ["one", "working", "two", "next"]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_dies_between_turns_is_told_at_once() {
    for version in [1, 2] {
        let cast = Cast::new(move |_, mut stage| async move {
            stage.begin(version).await;
            stage.serve(version, "here").await;
            stage.die(killed()).await;
        });
        let server = ply_agent::serve(cast.hub().await);
        let agent = connect(&server, BOTH[1]).await;
        let session = agent.new_session("/").await.unwrap();
        let mut events = session.events();
        assert_eq!(prompt(&session, "one").await.unwrap(), "here");
        let notice = loop {
            let event = events.next().await.unwrap();
            if let ply_client::Event::Notice(notice) = event.event {
                break notice;
            }
        };
        assert!(notice.title.contains("SIGKILL"), "{notice:?}");
        let notice = serde_json::to_value(&notice).unwrap();
        let description = notice["description"].as_str().unwrap();
        assert!(description.contains("\nout of plums\n"), "{description}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_ended_with_its_session_is_no_news() {
    let cast = Cast::new(|_, mut stage| async move {
        stage.begin(1).await;
        stage.serve(1, "here").await;
        stage.rest().await;
    });
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    let mut events = session.events();
    assert_eq!(prompt(&session, "one").await.unwrap(), "here");
    server.shutdown().await;
    agent.close().await;
    while let Some(event) = events.next().await {
        let is_notice = matches!(event.event, ply_client::Event::Notice(_));
        assert!(!is_notice, "{event:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_was_kept_and_is_gone_costs_no_session() {
    let cast = Cast::new(|number, mut stage| async move {
        if number == 1 {
            // Nobody has noticed yet.
            stage.greet(2).await;
            stage.expect("session/new").await;
            return stage.die(killed()).await;
        }
        stage.begin(2).await;
        stage.serve(2, "one").await;
        stage.rest().await;
    });
    let started = cast.started();
    let server = ply_agent::serve(cast.hub().await);
    let agent = connect(&server, BOTH[1]).await;
    let session = agent.new_session("/").await.unwrap();
    prompt(&session, "one").await.unwrap();
    assert_eq!(started.load(Ordering::Relaxed), 2);
}
