//! Tool calls: announced with all they need, moved forward, and always ended.

use std::collections::HashSet;

use ply_agent::v2::ToolKind;
use ply_agent::{Agent, Stop, v2};
use serde_json::{Value, json};

use crate::script::*;
use crate::support::*;

fn kinds_of_tools() -> Vec<(ToolKind, &'static str)> {
    vec![
        (ToolKind::Read, "read"),
        (ToolKind::Edit, "edit"),
        (ToolKind::Delete, "delete"),
        (ToolKind::Move, "move"),
        (ToolKind::Search, "search"),
        (ToolKind::Execute, "execute"),
        (ToolKind::Think, "think"),
        (ToolKind::Fetch, "fetch"),
        (ToolKind::SwitchMode, "switch_mode"),
        (ToolKind::Other, "other"),
    ]
}

// Also: V1-TOOL-03, V1-TOOL-15, V1-TOOL-19, V2-TOOL-01, V2-TOOL-03.
#[tokio::test(start_paused = true)]
async fn v1_tool_01_a_call_is_announced_with_title_name_kind_and_input() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let call = turn
                    .tool_call("Search the tree")
                    .name("grep")
                    .kind(ToolKind::Search)
                    .raw_input(json!({"pattern": "fn", "paths": ["src"]}))
                    .await?;
                call.set_raw_output(json!([1, "two", null])).await?;
                call.finish().await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        talk.turn("go").await;
        let call = talk.call("Search the tree");
        let first = &call[0];
        let announces = match version {
            Version::V1 => "tool_call",
            Version::V2 => "tool_call_update",
        };
        assert_eq!(first["sessionUpdate"], announces);
        assert!(first["toolCallId"].is_string());
        assert_eq!(first["name"], "grep");
        assert_eq!(first["kind"], "search");
        assert_eq!(
            first["rawInput"],
            json!({"pattern": "fn", "paths": ["src"]})
        );
        let output = call.iter().find(|update| !update["rawOutput"].is_null());
        assert_eq!(output.unwrap()["rawOutput"], json!([1, "two", null]));
        let rest = kinds(&talk.log);
        let announced = rest.iter().filter(|kind| **kind == "tool_call").count();
        assert_eq!(announced, usize::from(version == Version::V1));
    }
}

#[tokio::test(start_paused = true)]
async fn v1_tool_02_no_two_calls_of_a_session_have_one_id() {
    let agent = || {
        script(|turn| {
            Box::pin(async move {
                for number in 0..250 {
                    let call = turn.tool_call(format!("Step {number}")).await?;
                    call.finish().await?;
                }
                Ok(Stop::EndTurn)
            })
        })
    };
    for version in BOTH {
        let server = ply_agent::serve(agent());
        let mut talk = talk_with(version, &server, json!({})).await;
        talk.turn("go").await;
        talk.turn("go").await;
        // The session lives on after it was closed, and so do the ids it used.
        let session = talk.session.clone();
        let close = json!({"sessionId": session});
        let close = talk.client.ask("session/close", close).await;
        talk.answered(close).await;
        let params = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
        let resume = talk.client.ask("session/resume", params).await;
        talk.answered(resume).await;
        talk.turn("go").await;
        talk.turn("go").await;
        let announced = updates(&talk.log).into_iter();
        let announced = announced.filter(|update| update["title"].is_string());
        let ids: Vec<_> = announced.map(|update| &update["toolCallId"]).collect();
        let distinct: HashSet<_> = ids.iter().map(|id| id.as_str()).collect();
        assert_eq!((ids.len(), distinct.len()), (1000, 1000));
    }
}

#[tokio::test(start_paused = true)]
async fn v1_tool_04_every_kind_has_its_name() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                for (kind, name) in kinds_of_tools() {
                    turn.tool_call(name).kind(kind).await?.finish().await?;
                }
                let own = ToolKind::Unknown("_magic".to_owned());
                turn.tool_call("own").kind(own).await?.finish().await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        talk.turn("go").await;
        for (_, name) in kinds_of_tools() {
            let call = talk.call(name);
            // Left out, it is `other`.
            assert_eq!(call[0]["kind"].as_str().unwrap_or("other"), name);
        }
        let own = talk.call("own")[0]["kind"].clone();
        match version {
            Version::V1 => assert_eq!(own.as_str().unwrap_or("other"), "other"),
            Version::V2 => assert_eq!(own, "_magic"),
        }
    }
}

/// Runs one call through its whole life, and ends another in each way there is.
fn lives() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            let call = turn.tool_call("Build").kind(ToolKind::Execute).await?;
            call.start().await?;
            call.add("compiling").await?;
            call.add("linking").await?;
            call.set_title("Build all").await?;
            call.finish_with("done").await?;
            let call = turn.tool_call("Fails").await?;
            call.fail("no such file").await?;
            let call = turn.tool_call("Stopped").await?;
            call.cancel().await?;
            let call = turn.tool_call("Dropped").await?;
            call.start().await?;
            drop(call);
            Ok(Stop::EndTurn)
        })
    })
}

fn statuses(call: &[Value]) -> Vec<&str> {
    let reported = call.iter();
    reported
        .filter_map(|update| update["status"].as_str())
        .collect()
}

// Also: V1-TOOL-06, V1-TOOL-10, V1-TOOL-11, V1-TOOL-12, V1-TOOL-17, V2-TOOL-09.
#[tokio::test(start_paused = true)]
async fn v1_tool_05_a_call_goes_from_pending_over_in_progress_to_its_end() {
    for version in BOTH {
        let mut talk = talk(version, lives()).await;
        talk.turn("go").await;
        let build = talk.call("Build");
        // Left out, the status is `pending`.
        let first = build[0]["status"].as_str().unwrap_or("pending");
        assert_eq!(first, "pending");
        let rest = statuses(&build[1..]).into_iter();
        let rest: Vec<_> = rest.filter(|status| *status != "pending").collect();
        assert_eq!(rest, ["in_progress", "completed"]);
        // What does not change is not sent again.
        assert!(build[1..].iter().all(|update| update.get("kind").is_none()));
        let retitled = build.iter().find(|update| update["title"] == "Build all");
        assert!(retitled.unwrap().get("status").is_none());
        assert!(build.len() >= 5, "there are reports on the way");
        // At the end all that was shown is there.
        let shown = shown(version, &build);
        let text = |item: &Value| item["content"]["text"].as_str().unwrap().to_owned();
        let texts: Vec<_> = shown.iter().map(text).collect();
        assert_eq!(texts, ["compiling", "linking", "done"]);
        assert!(shown.iter().all(|item| item["type"] == "content"));
        let fails = talk.call("Fails");
        assert_eq!(status(&fails), "failed");
        assert!(format!("{fails:?}").contains("no such file"));
        let stopped = match version {
            Version::V1 => "failed",
            Version::V2 => "cancelled",
        };
        assert_eq!(status(&talk.call("Stopped")), stopped);
        assert_eq!(status(&talk.call("Dropped")), "failed");
    }
}

/// Returns the content that a client has of a call in the end.
pub(crate) fn shown(version: Version, call: &[Value]) -> Vec<Value> {
    let mut shown = Vec::new();
    for update in call {
        match (version, &update["content"]) {
            (_, Value::Array(items)) => shown.clone_from(items),
            (Version::V2, item @ Value::Object(_)) => shown.push(item.clone()),
            _ => {}
        }
    }
    shown
}

#[tokio::test(start_paused = true)]
async fn v1_tool_09_a_tool_runs_after_its_permission() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let call = turn.tool_call("Delete").await?;
                if call.ask_with("Delete it?").await?.is_allowed() {
                    call.start().await?;
                    call.finish().await?;
                }
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let prompt = talk.prompt("go").await;
        let ask = talk.method("session/request_permission").await;
        assert_eq!(status(&talk.call("Delete")), "pending");
        talk.is_quiet_but("state_update").await;
        talk.choose(&ask, "allow_once").await;
        talk.end(prompt).await;
        let call = talk.call("Delete");
        let after: Vec<_> = statuses(&call)
            .into_iter()
            .skip_while(|status| *status == "pending")
            .collect();
        assert_eq!(after, ["in_progress", "completed"]);
    }
}

// Also: V1-RPC-13, V1-RPC-14, V2-TOOL-12.
#[tokio::test(start_paused = true)]
async fn v1_tool_14_locations_are_absolute_and_count_lines_from_1() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let call = turn
                    .tool_call("Read")
                    .location("src/main.rs", 1)
                    .location("/etc/hosts", 0)
                    .location("Cargo.toml", None)
                    .await?;
                call.set_locations([("src/lib.rs", Some(7)), ("x", Some(0))])
                    .await?;
                call.finish().await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        talk.turn("go").await;
        let call = talk.call("Read");
        let locations: Vec<_> = call.iter().map(|update| &update["locations"]).collect();
        let locations: Vec<_> = locations
            .into_iter()
            .filter(|some| some.is_array())
            .collect();
        let first = json!([
            {"path": "/work/src/main.rs", "line": 1},
            {"path": "/etc/hosts"},
            {"path": "/work/Cargo.toml"},
        ]);
        let second = json!([{"path": "/work/src/lib.rs", "line": 7}, {"path": "/work/x"}]);
        assert_eq!(locations, [&first, &second]);
    }
}

// Also: V2-TOOL-10, V1-TOOL-17.
#[tokio::test(start_paused = true)]
async fn d17_calls_left_open_are_ended_before_the_turn() {
    for version in BOTH {
        for how in ["end", "error", "panic", "cancel"] {
            let agent = script(|turn| {
                Box::pin(async move {
                    let calls = [turn.tool_call("One").await?, turn.tool_call("Two").await?];
                    calls[1].start().await?;
                    // Reported by hand, so there is no guard that could end it.
                    let by_hand = v2::ToolCallUpdate::new("by-hand").title("Three");
                    turn.update(v2::SessionUpdate::ToolCallUpdate(by_hand))
                        .await?;
                    turn.say("open").await?;
                    // Guards that are never dropped end nothing.
                    std::mem::forget(calls);
                    match turn.prompt().text().as_str() {
                        "error" => Err(ply_agent::Error::msg("broken")),
                        "panic" => panic!("broken"),
                        "cancel" => {
                            turn.cancelled().await;
                            Ok(Stop::EndTurn)
                        }
                        _ => Ok(Stop::EndTurn),
                    }
                })
            });
            let mut talk = talk(version, agent).await;
            let prompt = talk.prompt(how).await;
            talk.hears("open").await;
            if how == "cancel" {
                talk.cancel().await;
            }
            talk.end(prompt).await;
            let expected = match (version, how) {
                (Version::V2, "cancel") => "cancelled",
                _ => "failed",
            };
            for title in ["One", "Two", "Three"] {
                assert_eq!(
                    status(&talk.call(title)),
                    expected,
                    "{version:?} {title} {how}"
                );
            }
            talk.is_quiet().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn d18_a_call_that_has_ended_does_not_begin_again() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let steps = [
                    v2::ToolCallStatus::InProgress,
                    v2::ToolCallStatus::Pending,
                    v2::ToolCallStatus::Completed,
                    v2::ToolCallStatus::Failed,
                    v2::ToolCallStatus::InProgress,
                ];
                for status in steps {
                    let update = v2::ToolCallUpdate::new("mine").title("Mine").status(status);
                    turn.update(v2::SessionUpdate::ToolCallUpdate(update))
                        .await?;
                }
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        talk.turn("go").await;
        assert_eq!(statuses(&talk.call("Mine")), ["in_progress", "completed"]);
    }
}
