//! Permission: what is asked, and that nothing but the user's own choice allows anything.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ply_agent::v2::PermissionOptionKind as Kind;
use ply_agent::{Agent, Decision, Permission, Stop, v2};
use serde_json::{Value, json};

use crate::script::*;
use crate::support::*;

/// Asks about a tool call, runs it if it may, and says what came of it.
fn asks() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            let call = turn.tool_call("Remove the tree").await?;
            let decision = call.ask_with("Remove it?").await?;
            turn.say(match &decision {
                Decision::Selected(option) => format!("{}", option.option_id.0),
                Decision::Dismissed => "dismissed".to_owned(),
                _ => "unanswered".to_owned(),
            })
            .await?;
            if decision.is_allowed() {
                call.start().await?;
                call.finish().await?;
            } else {
                call.fail("not allowed").await?;
            }
            turn.say(" and on").await?;
            Ok(Stop::EndTurn)
        })
    })
}

// Also: V1-PERM-03, V1-PERM-04, V2-PERM-01.
#[tokio::test(start_paused = true)]
async fn v1_perm_02_a_tool_waits_for_an_answer_to_a_complete_question() {
    for version in BOTH {
        let mut talk = talk(version, asks()).await;
        let prompt = talk.prompt("go").await;
        let ask = talk.method("session/request_permission").await;
        let params = &ask["params"];
        assert_eq!(params["sessionId"], json!(talk.session));
        let announced = talk.call("Remove the tree")[0]["toolCallId"].clone();
        match version {
            Version::V1 => assert_eq!(params["toolCall"]["toolCallId"], announced),
            Version::V2 => {
                assert_eq!(params["title"], "Remove it?");
                let subject = &params["subject"];
                assert_eq!(subject["type"], "tool_call");
                assert_eq!(subject["toolCall"]["toolCallId"], announced);
            }
        }
        let options = params["options"].as_array().unwrap();
        let ids: HashSet<_> = options
            .iter()
            .map(|option| option["optionId"].as_str())
            .collect();
        assert_eq!(ids.len(), options.len(), "ids are unique");
        let kinds: Vec<_> = options
            .iter()
            .map(|option| option["kind"].as_str().unwrap())
            .collect();
        assert_eq!(
            kinds,
            ["allow_once", "allow_always", "reject_once", "reject_always"]
        );
        assert!(options.iter().all(|option| option["name"].is_string()));
        talk.is_quiet_but("state_update").await;
        assert_eq!(status(&talk.call("Remove the tree")), "pending");
        talk.choose(&ask, "allow_always").await;
        let ended = talk.end(prompt).await;
        assert_eq!(said(&ended.seen), "allow_always and on");
        assert_eq!(status(&talk.call("Remove the tree")), "completed");
    }
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

// Also: V1-PERM-12, V2-PERM-07, V2-PERM-08, D15.
#[tokio::test(start_paused = true)]
async fn v1_perm_09_only_an_option_that_allows_runs_the_tool() {
    let answers = [
        (selected("allow_once"), "allow_once", true),
        (selected("reject_once"), "reject_once", false),
        (selected("reject_always"), "reject_always", false),
        (selected("allow_everything"), "unanswered", false),
        (selected(""), "unanswered", false),
        (
            json!({"outcome": {"outcome": "_maybe"}}),
            "unanswered",
            false,
        ),
        (json!({"outcome": "selected"}), "unanswered", false),
        (json!({}), "unanswered", false),
        (Value::Null, "unanswered", false),
    ];
    for version in BOTH {
        for (answer, what, runs) in &answers {
            let mut talk = talk(version, asks()).await;
            let prompt = talk.prompt("go").await;
            let ask = talk.method("session/request_permission").await;
            talk.answer(&ask, answer.clone()).await;
            let ended = talk.end(prompt).await;
            assert_eq!(
                said(&ended.seen),
                format!("{what} and on"),
                "{version:?} {answer}"
            );
            let status = status_of_tree(&talk);
            assert_eq!(status == "completed", *runs, "{version:?} {answer}");
            assert_ne!(status, "pending");
            assert_eq!(ended.stop, "end_turn");
        }
    }
}

fn status_of_tree(talk: &Talk) -> String {
    status(&talk.call("Remove the tree")).to_owned()
}

#[tokio::test(start_paused = true)]
async fn v1_perm_09_an_error_is_no_permission() {
    for version in BOTH {
        for code in [-32601, -32603, -32000] {
            let mut talk = talk(version, asks()).await;
            let prompt = talk.prompt("go").await;
            let ask = talk.method("session/request_permission").await;
            talk.client.answer_error(&ask, code).await;
            let ended = talk.end(prompt).await;
            assert_eq!(said(&ended.seen), "unanswered and on");
            assert_eq!(status_of_tree(&talk), "failed");
        }
    }
}

/// A client that was told that no answer is wanted may say so in two ways, and neither is a yes.
#[tokio::test(start_paused = true)]
async fn v1_creq_09_a_request_that_comes_back_cancelled_is_not_approved() {
    for version in BOTH {
        for is_error in [false, true] {
            let ran = Arc::new(AtomicBool::new(false));
            let runs = Arc::clone(&ran);
            let agent = script(move |turn| {
                let runs = Arc::clone(&runs);
                Box::pin(async move {
                    let call = turn.tool_call("Remove the tree").await?;
                    if call.ask().await?.is_allowed() {
                        runs.store(true, Ordering::Relaxed);
                    }
                    call.fail("not allowed").await?;
                    Ok(Stop::EndTurn)
                })
            });
            let mut talk = talk(version, agent).await;
            let prompt = talk.prompt("go").await;
            let ask = talk.method("session/request_permission").await;
            match is_error {
                true => talk.client.answer_error(&ask, -32800).await,
                false => {
                    talk.answer(&ask, json!({"outcome": {"outcome": "cancelled"}}))
                        .await
                }
            }
            talk.end(prompt).await;
            assert!(!ran.load(Ordering::Relaxed), "{version:?} {is_error}");
        }
    }
}

/// On version 2 the outcome means "not approved", and the turn goes on.
#[tokio::test(start_paused = true)]
async fn v2_perm_08_a_dismissed_question_approves_nothing_and_the_turn_goes_on() {
    let mut talk = talk(Version::V2, asks()).await;
    let prompt = talk.prompt("go").await;
    let ask = talk.method("session/request_permission").await;
    let dismissed = json!({"outcome": {"outcome": "cancelled"}});
    talk.answer(&ask, dismissed).await;
    let ended = talk.end(prompt).await;
    assert_eq!(said(&ended.seen), "dismissed and on");
    assert_eq!(ended.stop, "end_turn");
    assert_eq!(status_of_tree(&talk), "failed");
}

#[tokio::test(start_paused = true)]
async fn v1_perm_10_the_id_of_the_option_decides_not_its_kind() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let call = turn.tool_call("Deploy").await?;
                let question = Permission::new("Deploy where?")
                    .description("Both are up to date.")
                    .option("reject_once", "To staging", Kind::AllowOnce)
                    .option("allow_always", "Nowhere", Kind::RejectOnce);
                let decision = call.ask_with(question).await?;
                let option = decision.option_id().map(|id| id.0.to_string());
                turn.say(option.unwrap_or_default()).await?;
                turn.say(format!(" {}", decision.is_allowed())).await?;
                call.finish().await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        for (option, said_then) in [
            ("reject_once", "reject_once true"),
            ("allow_always", "allow_always false"),
        ] {
            let prompt = talk.prompt("go").await;
            let ask = talk.method("session/request_permission").await;
            assert!(ask.to_string().contains("Both are up to date."));
            talk.choose(&ask, option).await;
            assert_eq!(said(&talk.end(prompt).await.seen), said_then);
        }
    }
}

// Also: V2-PERM-04.
#[tokio::test(start_paused = true)]
async fn v2_perm_11_a_question_may_be_about_a_command_or_about_nothing() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let command = Permission::new("Run it?").command("make all");
                let first = turn.ask(command).await?;
                let second = turn.ask(Permission::new("Go on?")).await?;
                turn.say(format!("{} {}", first.is_allowed(), second.is_allowed()))
                    .await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let prompt = talk.prompt("go").await;
        let ask = talk.method("session/request_permission").await;
        match version {
            Version::V1 => {
                // Version 1 asks about tool calls only, so there is one that stands for it.
                let call = talk.call("Run it?");
                assert_eq!(
                    call[0]["toolCallId"],
                    ask["params"]["toolCall"]["toolCallId"]
                );
                assert!(ask.to_string().contains("make all"));
            }
            Version::V2 => {
                let subject = json!({"type": "command", "command": "make all", "cwd": "/work"});
                assert_eq!(ask["params"]["subject"], subject);
            }
        }
        talk.choose(&ask, "allow_once").await;
        let ask = talk.method("session/request_permission").await;
        if version == Version::V2 {
            assert!(ask["params"].get("subject").is_none());
        }
        talk.choose(&ask, "reject_once").await;
        let ended = talk.end(prompt).await;
        assert_eq!(said(&ended.seen), "true false");
        if version == Version::V1 {
            assert_eq!(status(&talk.call("Run it?")), "completed");
            assert_eq!(status(&talk.call("Go on?")), "failed");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_of_another_agent_is_passed_on_as_it_is() {
    let relay = script(|turn| {
        Box::pin(async move {
            let call = turn.tool_call("Remove the tree").await?;
            let subject =
                v2::ToolCallPermissionSubject::new(v2::ToolCallUpdate::new(call.id().clone()));
            let option = v2::PermissionOption::new("hm", "Well", Kind::RejectOnce);
            let asked = v2::RequestPermissionRequest::new("inner", "Remove it?", vec![option])
                .description("It is old.".to_owned())
                .subject(v2::RequestPermissionSubject::ToolCall(Box::new(subject)));
            let decision = turn.ask(&asked).await?;
            turn.say(format!("{:?}", decision.option_id())).await?;
            call.cancel().await?;
            Ok(Stop::EndTurn)
        })
    });
    let mut talk = talk(Version::V2, relay).await;
    talk.prompt("go").await;
    let ask = talk.method("session/request_permission").await;
    let call = talk.call("Remove the tree")[0]["toolCallId"].clone();
    assert_eq!(
        ask["params"],
        json!({
            "sessionId": talk.session,
            "title": "Remove it?",
            "description": "It is old.",
            "options": [{ "optionId": "hm", "name": "Well", "kind": "reject_once" }],
            "subject": { "type": "tool_call", "toolCall": { "toolCallId": call } },
        })
    );
}
