//! `session/fork`: another session with the same past.

use std::collections::HashSet;

use ply_journal::{Filter, Journal as _};
use serde_json::{Value, json};

use super::{INVALID_PARAMS, NOT_FOUND, Stage, actor, error, hears, listed, of, replayed, stages};
use crate::actor::{Trouble, command, hear, mode_option, run};
use crate::script::Version;
use crate::support::*;

/// Forks a session and returns the id of the copy.
async fn fork(client: &mut Client, session: &str) -> String {
    let answer = client.ok("session/fork", of(session)).await;
    answer["sessionId"].as_str().unwrap().to_owned()
}

/// Returns the ids of messages among what a version 2 client saw of a session.
fn messages(log: &[Value], session: &str) -> HashSet<String> {
    let of_session = |message: &&Value| message["params"]["sessionId"] == session;
    let ids = log.iter().filter(of_session).map(update);
    ids.filter_map(|update| update["messageId"].as_str())
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn a_fork_has_the_past_of_its_source_and_a_future_of_its_own() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say plums").await;
        let copy = fork(&mut client, &session).await;
        assert_ne!(copy, session);
        // It is active at once.
        assert_eq!(
            hear(&mut client, &copy, "recall").await,
            "say plums|plums|recall"
        );
        assert_eq!(
            hear(&mut client, &session, "recall").await,
            "say plums|plums|recall"
        );
        run(&mut client, &copy, "say pears").await;
        let setup = stage.actor.setups.lock().unwrap().last().unwrap().clone();
        assert!(setup.reopened);
        assert_eq!(&*setup.forked_from.unwrap().0, session);
        server.shutdown().await;

        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let seen = stage.load(&mut client, &session).await;
        assert!(!replayed(&seen).contains("pears"), "{seen:#?}");
        let seen = stage.load(&mut client, &copy).await;
        assert!(replayed(&seen).starts_with("plums"), "{seen:#?}");
        assert!(replayed(&seen).ends_with("pears"), "{seen:#?}");
        client.ok("session/delete", of(&session)).await;
        assert_eq!(hear(&mut client, &copy, "say still").await, "still");
    }
}

#[tokio::test]
async fn a_fork_of_a_fork_after_a_restart_uses_no_id_of_its_past_again() {
    for stage in stages() {
        if stage.version == Version::V1 {
            continue;
        }
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say one").await;
        client.leave().await;
        server.shutdown().await;

        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let first = fork(&mut client, &session).await;
        run(&mut client, &first, "say two").await;
        let second = fork(&mut client, &first).await;
        run(&mut client, &second, "say three").await;
        let mut looks = stage.connect(&server).await;
        let seen = stage.load(&mut looks, &second).await;
        assert_eq!(replayed(&seen), "onetwothree");
        // Three prompts and three answers, each with a name of its own.
        assert_eq!(messages(&seen, &second).len(), 6, "{seen:#?}");
        assert_eq!(listed(&mut looks, json!({})).await.len(), 3);
    }
}

#[tokio::test]
async fn a_fork_during_a_turn_ends_with_the_turn_before_it() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say one").await;
        let prompt = client.prompt(&session, "say working\nwait\nsay two").await;
        hears(&mut client, "working").await;
        let copy = fork(&mut client, &session).await;
        assert_eq!(
            hear(&mut client, &copy, "recall").await,
            "say one|one|recall"
        );
        stage.actor.gate.add_permits(1);
        if stage.version == Version::V1 {
            let answer = client.answered(prompt).await.pop().unwrap();
            assert_eq!(answer["result"]["stopReason"], "end_turn");
        } else {
            hears(&mut client, "two").await;
        }
    }
}

/// What the client sent before the fork counts, what it sends right behind it does not.
#[tokio::test]
async fn a_fork_is_what_the_session_was_when_it_was_asked_for() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say one").await;
        let asked = client.ask("session/fork", of(&session)).await;
        let prompt = client.prompt(&session, "say two").await;
        let (mut copy, mut is_answered) = (None, false);
        while copy.is_none() || !is_answered {
            let message = client.next().await.unwrap();
            is_answered |= message["id"] == prompt;
            if message["id"] == asked {
                copy = message["result"]["sessionId"].as_str().map(str::to_owned);
            }
        }
        assert_eq!(
            hear(&mut client, &copy.unwrap(), "recall").await,
            "say one|one|recall"
        );
    }
}

#[tokio::test]
async fn a_fork_is_answered_like_a_new_session_and_nothing_of_it_comes_before() {
    for mut stage in stages() {
        stage.actor.options = vec![mode_option("ask")];
        stage.actor.commands = vec![command("plan")];
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "everything").await;
        let mut params = of(&session);
        params["cwd"] = json!("/elsewhere");
        let id = client.ask("session/fork", params).await;
        let seen = client.answered(id).await;
        let answer = &seen.last().unwrap()["result"];
        let copy = answer["sessionId"].as_str().unwrap().to_owned();
        let early = seen.iter().any(|it| it["params"]["sessionId"] == copy);
        assert!(!early, "{seen:#?}");
        assert!(answer["configOptions"].is_array(), "{answer}");
        match stage.version {
            Version::V1 => assert_eq!(answer["modes"]["currentModeId"], "ask"),
            Version::V2 => assert_eq!(answer["availableCommands"][0]["name"], "plan"),
        }
        assert_eq!(hear(&mut client, &copy, "cwd").await, "/elsewhere");
        let there = listed(&mut client, json!({"cwd": "/elsewhere"})).await;
        assert_eq!(there[0]["title"], "A title");
    }
}

#[tokio::test]
async fn a_session_that_is_saved_or_has_no_past_is_forked_too() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let empty = client.session().await;
        let copy = fork(&mut client, &empty).await;
        assert_eq!(hear(&mut client, &copy, "recall").await, "recall");
        assert_eq!(hear(&mut client, &empty, "say here").await, "here");
        client
            .ok("session/close", json!({"sessionId": empty}))
            .await;
        let copy = fork(&mut client, &empty).await;
        assert_eq!(
            hear(&mut client, &copy, "recall").await,
            "say here|here|recall"
        );
    }
}

#[tokio::test]
async fn a_fork_that_cannot_be_made_leaves_nothing_behind() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let unknown = error(&mut client, "session/fork", of("sess-nope")).await;
        assert_eq!(unknown["code"], NOT_FOUND);
        assert_eq!(unknown["data"]["sessionId"], "sess-nope");
        let session = client.session().await;
        run(&mut client, &session, "say one").await;
        let mut relative = of(&session);
        relative["cwd"] = json!("work");
        assert_eq!(client.fails("session/fork", relative).await, INVALID_PARAMS);
        *stage.actor.trouble.lock().unwrap() = Some(Trouble::OpenFails);
        assert_eq!(client.fails("session/fork", of(&session)).await, -32603);
        *stage.actor.trouble.lock().unwrap() = None;
        assert_eq!(only(&stage, &mut client).await, session);
        assert_eq!(hear(&mut client, &session, "say two").await, "two");
    }
}

/// Returns the only session there is.
async fn only(stage: &Stage, client: &mut Client) -> String {
    // The one that was refused is deleted behind the refusal.
    while stage.actor.closed.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    loop {
        let sessions = listed(client, json!({})).await;
        if let [session] = &sessions[..] {
            return session["sessionId"].as_str().unwrap().to_owned();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_that_cannot_be_written_is_an_error_and_the_source_goes_on() {
    let journal = crate::journals::Gated::open();
    let server = actor().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say one").await;
    journal.set_fails(true);
    assert_eq!(client.fails("session/fork", of(&session)).await, -32603);
    journal.set_fails(false);
    assert_eq!(listed(&mut client, json!({})).await.len(), 1);
    assert_eq!(hear(&mut client, &session, "say two").await, "two");
}

/// Cut off behind that, it uses no id of its past again.
#[tokio::test(start_paused = true)]
async fn the_first_thing_that_is_written_of_a_fork_is_that_it_is_one() {
    let journal = crate::journals::Gated::open();
    let server = actor().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say one").await;
    journal.set_open(false);
    let asked = client.ask("session/fork", of(&session)).await;
    let written = journal.waiting().await;
    assert!(written.starts_with(r#"{"forked":"#), "{written}");
    journal.set_open(true);
    let seen = client.answered(asked).await;
    assert!(seen.last().unwrap()["result"].is_object(), "{seen:#?}");
}

#[tokio::test(start_paused = true)]
async fn an_open_session_whose_records_are_damaged_is_forked() {
    let journal = crate::journals::Gated::open();
    let server = actor().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say one").await;
    journal.set_reads_fail(true);
    let refused = error(&mut client, "session/fork", of(&session)).await;
    let reason = refused["message"].as_str().unwrap();
    assert!(reason.contains("the disk is full"), "{refused}");
    journal.set_reads_fail(false);
    journal.damage(0..100);
    let copy = fork(&mut client, &session).await;
    assert_eq!(hear(&mut client, &copy, "say two").await, "two");
}

#[tokio::test(start_paused = true)]
async fn a_fork_that_nobody_waits_for_is_not_copied_to_its_end() {
    let journal = crate::journals::Gated::open();
    let server = actor().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    let long = format!("say {}", "x".repeat(200_000));
    for _ in 0..4 {
        run(&mut client, &session, &long).await;
    }
    journal.set_open(false);
    let asked = client.ask("session/fork", of(&session)).await;
    journal.waiting().await;
    client
        .notify("$/cancel_request", json!({"requestId": asked}))
        .await;
    let answer = client.answered(asked).await.pop().unwrap();
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    let calls = journal.calls();
    journal.set_open(true);
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    assert!(
        journal.calls() <= calls + 1,
        "it is deleted, and that is all"
    );
    assert_eq!(listed(&mut client, json!({})).await.len(), 1);
}

/// Returns the ids of all sessions that a journal has, whoever may see them.
async fn kept(journal: &crate::journals::Gated) -> Vec<String> {
    let page = journal.list(Filter::new(100)).await.unwrap();
    page.sessions.into_iter().map(|head| head.id).collect()
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().start_paused(true).build().unwrap()
}

#[test]
fn a_fork_that_was_cut_off_with_its_process_is_no_session() {
    for is_listed_first in [false, true] {
        let journal = crate::journals::Gated::open();
        let process = runtime();
        let (source, copy) = process.block_on(async {
            let server = actor().serve().journal(journal.clone());
            let mut client = v2_with(&server, json!({})).await;
            let session = client.session().await;
            run(&mut client, &session, "say one").await;
            client
                .ok("session/close", json!({"sessionId": session}))
                .await;
            journal.set_open(false);
            client.ask("session/fork", of(&session)).await;
            journal.waiting().await;
            // While it is made it is nobody's either.
            let sessions = listed(&mut client, json!({})).await;
            assert_eq!(sessions.len(), 1, "{sessions:#?}");
            let mut kept = kept(&journal).await;
            assert_eq!(kept.len(), 2);
            kept.retain(|id| *id != session);
            (session, kept.remove(0))
        });
        drop(process);

        journal.set_open(true);
        runtime().block_on(async {
            let server = actor().serve().journal(journal.clone());
            let mut client = v2_with(&server, json!({})).await;
            if is_listed_first {
                let sessions = listed(&mut client, json!({})).await;
                assert_eq!(sessions[0]["sessionId"], source);
                assert_eq!(sessions.len(), 1, "{sessions:#?}");
            } else {
                let methods = [
                    "session/fork",
                    "session/status",
                    "session/archive",
                    "session/set_title",
                    "session/resume",
                ];
                for method in methods {
                    let mut params = of(&copy);
                    params["title"] = json!("Plums");
                    assert_eq!(client.fails(method, params).await, NOT_FOUND, "{method}");
                }
            }
            // What is left of it is cleared away.
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            assert_eq!(kept(&journal).await, [source.as_str()]);
            client.ok("session/resume", of(&source)).await;
            assert_eq!(hear(&mut client, &source, "say two").await, "two");
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_a_copy_and_leaves_nothing_of_it() {
    let journal = crate::journals::Gated::open();
    let server = actor().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say one").await;
    let of_it = json!({"sessionId": session});
    client.ok("session/close", of_it).await;
    journal.set_open(false);
    let fork = client.ask("session/fork", of(&session)).await;
    journal.waiting().await;
    let bound = std::time::Duration::from_secs(1);
    let ended = tokio::time::timeout(bound, server.shutdown()).await;
    ended.expect("it waits for the journal");
    assert_eq!(kept(&journal).await, [session.as_str()]);
    let answer = client.answered(fork).await.pop().unwrap();
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    // Nor does one begin any more.
    assert_eq!(client.fails("session/fork", of(&session)).await, -32603);
}
