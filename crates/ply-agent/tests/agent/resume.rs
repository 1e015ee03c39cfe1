//! `session/resume`, of both versions.

use ply_agent::{About, Mcp, v2};
use serde_json::{Value, json};

use crate::actor::{Actor, boolean_option, command, hear, mode_option, run};
use crate::fold::v2_fold;
use crate::support::*;

const INVALID_PARAMS: i64 = -32602;

fn of(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/work", "mcpServers": []})
}

/// Resumes and returns everything up to the answer.
async fn resumed(client: &mut Client, session: &str, replay: bool) -> Vec<Value> {
    let mut params = of(session);
    if replay {
        params["replayFrom"] = json!({"type": "start"});
    }
    let id = client.ask("session/resume", params).await;
    let seen = client.answered(id).await;
    assert!(seen.last().unwrap()["result"].is_object(), "{seen:#?}");
    seen
}

// Also: V1-RESUME-04, E5.
#[tokio::test(start_paused = true)]
async fn v1_resume_03_a_version_1_client_resumes_without_the_past() {
    let server = Actor::new().serve();
    let mut client = v1_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "everything").await;
    client
        .ok("session/close", json!({"sessionId": session}))
        .await;
    let seen = resumed(&mut client, &session, false).await;
    assert_eq!(seen.len(), 1, "something came before the answer: {seen:#?}");
    // What is current comes after it.
    let recalled = run(&mut client, &session, "recall").await;
    assert!(said(&recalled).contains("First words."));
    let kinds = kinds(&recalled);
    assert!(kinds.contains(&"usage_update"), "{kinds:?}");
    assert!(!kinds.contains(&"user_message_chunk"), "{kinds:?}");
    assert!(!kinds.contains(&"tool_call"), "{kinds:?}");
}

// Also: V2-RESUME-01, V2-RESUME-02, V2-RESUME-15.
#[tokio::test(start_paused = true)]
async fn v2_resume_08_without_a_replay_the_state_comes_before_the_answer_and_nothing_else() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut first = v2_with(&server, json!({})).await;
    let session = first.session().await;
    run(&mut first, &session, "everything").await;
    let mut second = v2_with(&server, json!({})).await;
    for replay_from in [json!({}), json!({"replayFrom": null})] {
        second = v2_with(&server, json!({})).await;
        let mut params = of(&session);
        params
            .as_object_mut()
            .unwrap()
            .extend(replay_from.as_object().unwrap().clone());
        let id = second.ask("session/resume", params).await;
        let seen = second.answered(id).await;
        assert_eq!(kinds(&seen), ["state_update"]);
        assert_eq!(update(&seen[0])["state"], "idle");
        assert_eq!(seen[1]["result"]["configOptions"][0]["configId"], "mode");
        assert_eq!(seen[1]["result"]["availableCommands"][0]["name"], "plan");
    }
    // Everything that is not history is brought up to date (V2-RESUME-15).
    run(&mut second, &session, "wait-not").await;
    let (late, early) = (
        v2_fold(&second.log, &session),
        v2_fold(&first.log, &session),
    );
    assert_eq!(late.usage(), early.usage());
    assert_eq!(late.info(), early.info());

    // While a turn runs, the state says so.
    first.prompt(&session, "say working\nwait").await;
    first
        .until(|message| said(std::slice::from_ref(message)) == "working")
        .await;
    let mut third = v2_with(&server, json!({})).await;
    let seen = resumed(&mut third, &session, false).await;
    assert_eq!(update(&seen[0])["state"], "running");
    actor.gate.add_permits(1);
    assert_eq!(
        update(third.idle().await.last().unwrap())["stopReason"],
        "end_turn"
    );
}

// Also: V2-RESUME-04, V2-RESUME-06, V2-RESUME-07, V2-RESUME-13, E2, E5, E6.
#[tokio::test(start_paused = true)]
async fn v2_resume_03_a_replay_folds_to_what_was_seen_live() {
    let server = Actor::new().serve();
    let mut first = v2_with(&server, json!({})).await;
    let session = first.session().await;
    for script in ["say one", "everything", "think two\nsay three"] {
        run(&mut first, &session, script).await;
        let live = v2_fold(&first.log, &session).normalized();
        let mut second = v2_with(&server, json!({})).await;
        let replay = resumed(&mut second, &session, true).await;
        assert_eq!(kinds(&replay).first(), Some(&"user_message"));
        assert!(!kinds(&replay).contains(&"notice"));
        assert_eq!(kinds(&replay).last(), Some(&"state_update"));
        assert_eq!(v2_fold(&replay, &session).normalized(), live);
        // Twice on one connection changes nothing either.
        let again = resumed(&mut second, &session, true).await;
        assert_eq!(v2_fold(&again, &session).normalized(), live);
        second.leave().await;
    }
    // And after the session was closed.
    let live = v2_fold(&first.log, &session).normalized();
    first
        .ok("session/close", json!({"sessionId": session}))
        .await;
    let replay = resumed(&mut first, &session, true).await;
    assert_eq!(v2_fold(&replay, &session).normalized(), live);
    assert_eq!(hear(&mut first, &session, "say on").await, "on");
}

// Also: E2.
#[tokio::test(start_paused = true)]
async fn v2_resume_16_joining_in_the_middle_of_a_turn_misses_and_repeats_nothing() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut first = v2_with(&server, json!({})).await;
    let session = first.session().await;
    run(&mut first, &session, "everything").await;
    first
        .prompt(
            &session,
            "say a\nwait\nsay b\nthink c\nwait\neverything\nwait\nsay d",
        )
        .await;
    let mut joined = Vec::new();
    for _ in 0..3 {
        // The turn stands at a wait once nothing else can run.
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        let mut client = v2_with(&server, json!({})).await;
        resumed(&mut client, &session, true).await;
        joined.push(client);
        actor.gate.add_permits(1);
    }
    first.idle().await;
    let whole = v2_fold(&first.log, &session).normalized();
    assert!(whole.last_agent_text().ends_with('d'));
    for mut client in joined {
        client.idle().await;
        assert_eq!(v2_fold(&client.log, &session).normalized(), whole);
    }
}

// Also: V2-ERR-02.
#[tokio::test(start_paused = true)]
async fn v2_resume_05_an_unknown_place_to_replay_from_is_refused() {
    let mut client = v2(Actor::new()).await;
    let session = client.session().await;
    run(&mut client, &session, "say one").await;
    for place in [
        json!({"type": "_x"}),
        json!({}),
        json!({"type": 3}),
        json!("start"),
        json!(7),
    ] {
        let mut params = of(&session);
        params["replayFrom"] = place.clone();
        let id = client.ask("session/resume", params).await;
        let seen = client.answered(id).await;
        assert_eq!(seen.len(), 1, "{place}: {seen:#?}");
        assert_eq!(seen[0]["error"]["code"], INVALID_PARAMS, "{place}");
    }
    assert_eq!(hear(&mut client, &session, "say two").await, "two");
}

#[tokio::test(start_paused = true)]
async fn v2_resume_10_the_servers_are_those_of_the_request() {
    let actor = Actor::about_itself(About::new("a", "1").mcp(Mcp {
        stdio: true,
        http: true,
    }));
    let server = actor.serve();
    let mut client = v2_with(&server, json!({})).await;
    let stdio = json!({"type": "stdio", "name": "s", "command": "/s", "args": [], "env": []});
    let made = client
        .ok(
            "session/new",
            json!({"cwd": "/work", "mcpServers": [stdio]}),
        )
        .await;
    let session = made["sessionId"].as_str().unwrap();
    client
        .ok("session/close", json!({"sessionId": session}))
        .await;
    resumed(&mut client, session, false).await;
    let setups = actor.setups.lock().unwrap().clone();
    let servers: Vec<usize> = setups.iter().map(|setup| setup.mcp_servers.len()).collect();
    assert_eq!(servers, [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn v2_resume_11_another_directory_is_refused() {
    let mut client = v2(Actor::new()).await;
    let session = client.session().await;
    let elsewhere = json!({"sessionId": session, "cwd": "/elsewhere"});
    assert_eq!(
        client.fails("session/resume", elsewhere.clone()).await,
        INVALID_PARAMS
    );
    client
        .ok("session/close", json!({"sessionId": session}))
        .await;
    assert_eq!(
        client.fails("session/resume", elsewhere).await,
        INVALID_PARAMS
    );
    resumed(&mut client, &session, false).await;
    assert_eq!(hear(&mut client, &session, "cwd").await, "/work");
}

#[tokio::test(start_paused = true)]
async fn v2_resume_12_a_terminal_replays_as_one_snapshot() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    let handle = actor.last_session();
    for _ in 0..1000 {
        // "line\n"
        let chunk = v2::TerminalOutputChunk::new("t1", "bGluZQo=");
        handle
            .update(v2::SessionUpdate::TerminalOutputChunk(chunk))
            .await
            .unwrap();
    }
    run(&mut client, &session, "say done").await;
    let live = v2_fold(&client.log, &session).normalized();
    let mut second = v2_with(&server, json!({})).await;
    let replay = resumed(&mut second, &session, true).await;
    let of_terminals = kinds(&replay)
        .into_iter()
        .filter(|kind| kind.starts_with("terminal"));
    assert_eq!(of_terminals.count(), 1, "{:?}", kinds(&replay));
    assert_eq!(v2_fold(&replay, &session).normalized(), live);
}

#[tokio::test(start_paused = true)]
async fn v2_resume_15_options_commands_and_info_are_those_of_now() {
    let mut actor = Actor::new();
    actor.options = vec![mode_option("ask"), boolean_option(false)];
    actor.commands = vec![command("plan")];
    let server = actor.serve();
    let mut first = v2_with(&server, json!({})).await;
    let session = first.session().await;
    run(&mut first, &session, "mode code").await;
    actor.last_session().set_title("Plums").await.unwrap();
    run(&mut first, &session, "say done").await;
    let mut second = v2_with(&server, json!({})).await;
    let seen = resumed(&mut second, &session, false).await;
    let answer = &seen.last().unwrap()["result"];
    assert_eq!(answer["configOptions"][0]["currentValue"], "code");
    let title = second.next().await.unwrap();
    assert_eq!(update(&title)["title"], "Plums");
}
