//! What is told outside turns: commands, info, usage and notices.

use ply_agent::v2;
use serde_json::{Value, json};

use crate::actor::{Actor, command};
use crate::fold::v2_fold;
use crate::support::*;

const INVALID_PARAMS: i64 = -32602;

// Also: V2-CMD-01, V2-CMD-02, V1-CMD-03.
#[tokio::test(start_paused = true)]
async fn v1_cmd_01_commands_are_told_and_told_again_when_they_change() {
    let mut actor = Actor::new();
    actor.commands = vec![command("plan")];
    let server = actor.serve();
    let mut old = v1_with(&server, json!({})).await;
    let session = old.session().await;
    let first = old.next().await.unwrap();
    let plan =
        json!({"name": "plan", "description": "Makes a plan", "input": {"hint": "what to plan"}});
    assert_eq!(update(&first)["availableCommands"], json!([plan]));
    let mut new = v2_with(&server, json!({})).await;
    let answer = new
        .ok(
            "session/resume",
            json!({"sessionId": session, "cwd": "/work"}),
        )
        .await;
    let plan = json!({"type": "command", "name": "plan", "description": "Makes a plan",
        "input": {"type": "text", "hint": "what to plan"}});
    assert_eq!(answer["availableCommands"], json!([plan]));
    actor
        .last_session()
        .set_commands(vec![command("fix"), command("test")])
        .await
        .unwrap();
    for client in [&mut old, &mut new] {
        let seen =
            client.until(|message| update(message)["sessionUpdate"] == "available_commands_update");
        let seen = seen.await;
        let commands = update(seen.last().unwrap())["availableCommands"]
            .as_array()
            .unwrap()
            .clone();
        let names: Vec<_> = commands
            .iter()
            .map(|command| command["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["fix", "test"]);
    }
}

// Also: V1-NOTICE-01, V2-NOTICE-01, V1-INFO-01, V1-INFO-03, V1-USAGE-01, V1-USAGE-02.
#[tokio::test(start_paused = true)]
async fn v2_notice_01_info_usage_and_notices_come_at_any_time() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut new = v2_with(&server, json!({})).await;
    let session = new.session().await;
    let mut old = v1_with(&server, json!({"session": {"notices": {}}})).await;
    let mut plain = v1_with(&server, json!({})).await;
    for client in [&mut old, &mut plain] {
        client
            .ok(
                "session/resume",
                json!({"sessionId": session, "cwd": "/work"}),
            )
            .await;
    }
    let handle = actor.last_session();
    handle.set_title("Plums").await.unwrap();
    handle
        .set_usage(v2::UsageUpdate::new(7, 100))
        .await
        .unwrap();
    handle
        .notice(v2::NoticeSeverity::Info, "Mind the gap")
        .await
        .unwrap();
    handle.say("end").await.unwrap();
    for (client, shows) in [(&mut new, true), (&mut old, true), (&mut plain, false)] {
        let seen = client
            .until(|message| said(std::slice::from_ref(message)) == "end")
            .await;
        let seen = updates(&seen);
        let of = |kind: &str| seen.iter().find(|update| update["sessionUpdate"] == kind);
        let info = of("session_info_update").unwrap();
        assert_eq!(info["title"], "Plums");
        assert!(info.get("cwd").is_none() && info.get("sessionId").is_none());
        assert_eq!(of("usage_update").unwrap()["used"], 7);
        assert_eq!(of("usage_update").unwrap()["size"], 100);
        assert_eq!(of("notice").is_some(), shows, "{seen:#?}");
        if let Some(notice) = of("notice") {
            assert_eq!(notice["title"], "Mind the gap");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn v1_usage_03_a_cost_has_an_amount_and_a_currency() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut clients = [
        v1_with(&server, json!({})).await,
        v2_with(&server, json!({})).await,
    ];
    let session = clients[0].session().await;
    let of = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    clients[1].ok("session/resume", of).await;
    // What is spent adds up: each report has the whole of it.
    for (amount, currency) in [(0.25, "USD"), (1.5, "USD"), (3.0, "credits")] {
        let cost = v2::Cost::new(amount, currency);
        let usage = v2::UsageUpdate::new(7, 100).cost(cost);
        actor.last_session().set_usage(usage).await.unwrap();
        for client in &mut clients {
            let seen = client.until(|message| update(message)["sessionUpdate"] == "usage_update");
            let seen = seen.await;
            let cost = &update(seen.last().unwrap())["cost"];
            assert_eq!(*cost, json!({"amount": amount, "currency": currency}));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn v1_notice_02_a_notice_has_a_severity_and_a_title_and_changes_nothing() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut with = v1_with(&server, json!({"session": {"notices": {}}})).await;
    let session = with.session().await;
    let of = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    let mut new = v2_with(&server, json!({})).await;
    new.ok("session/resume", of.clone()).await;
    let handle = actor.last_session();
    for (severity, name) in [
        (v2::NoticeSeverity::Info, "info"),
        (v2::NoticeSeverity::Warning, "warning"),
        (v2::NoticeSeverity::Error, "error"),
    ] {
        // One without a title says nothing and is not sent.
        handle.notice(severity.clone(), " ").await.unwrap();
        handle.notice(severity, "Mind the gap").await.unwrap();
        for client in [&mut with, &mut new] {
            let notice = client.next().await.unwrap();
            let notice = update(&notice);
            assert_eq!(notice["sessionUpdate"], "notice");
            assert_eq!(notice["severity"], name);
            assert_eq!(notice["title"], "Mind the gap");
        }
    }
    handle.say("end").await.unwrap();
    new.until(|message| said(std::slice::from_ref(message)) == "end")
        .await;
    // Without them the session is the same, also for whoever comes later.
    let is_notice = |message: &Value| update(message)["sessionUpdate"] == "notice";
    let mut without = new.log.clone();
    without.retain(|message| !is_notice(message));
    assert_eq!(v2_fold(&new.log, &session), v2_fold(&without, &session));
    let mut late = v2_with(&server, json!({})).await;
    let mut replay = of;
    replay["replayFrom"] = json!({"type": "start"});
    late.ok("session/resume", replay).await;
    assert!(!late.log.iter().any(is_notice));
}

#[tokio::test(start_paused = true)]
async fn v1_compact_01_a_compaction_is_told_only_to_clients_that_show_it() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut new = v2_with(&server, json!({})).await;
    let session = new.session().await;
    let of = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    let mut shows = v1_with(&server, json!({"session": {"compaction": {}}})).await;
    let mut plain = v1_with(&server, json!({"session": {"compaction": null}})).await;
    for client in [&mut shows, &mut plain] {
        client.ok("session/resume", of.clone()).await;
    }
    let handle = actor.last_session();
    let status =
        |status| v2::SessionUpdate::CompactionUpdate(v2::CompactionUpdate::new("k", status));
    let chunk = v2::CompactionSummaryChunk::new("k", "short".into());
    handle
        .update(status(v2::CompactionStatus::InProgress))
        .await
        .unwrap();
    handle
        .update(v2::SessionUpdate::CompactionSummaryChunk(chunk))
        .await
        .unwrap();
    handle
        .update(status(v2::CompactionStatus::Completed))
        .await
        .unwrap();
    handle.say("end").await.unwrap();
    for (client, told) in [(&mut new, 3), (&mut shows, 3), (&mut plain, 0)] {
        let seen = client
            .until(|message| said(std::slice::from_ref(message)) == "end")
            .await;
        let kinds = kinds(&seen);
        let compactions = kinds.iter().filter(|kind| kind.starts_with("compaction"));
        assert_eq!(compactions.count(), told, "{kinds:?}");
    }
}

// Also: V1-SESS-13.
#[tokio::test(start_paused = true)]
async fn v2_ecancel_03_what_does_not_offer_it_cannot_be_cancelled_alone() {
    let mut client = v2(Actor::new()).await;
    let session = client.session().await;
    client.prompt(&session, "ask").await;
    let question = client.method("session/request_permission").await;
    let call = question["params"]["subject"]["toolCall"]["toolCallId"].clone();
    for id in [call, json!("nope")] {
        let params = json!({"sessionId": session, "toolCallId": id, "terminalId": id});
        assert_eq!(
            client.fails("tool_call/cancel", params.clone()).await,
            INVALID_PARAMS
        );
        assert_eq!(
            client.fails("terminal/cancel", params).await,
            INVALID_PARAMS
        );
    }
    // The turn is as it was.
    client
        .answer(
            &question,
            json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}}),
        )
        .await;
    assert_eq!(said(&client.idle().await), "chose Some(\"allow_once\")");
}
