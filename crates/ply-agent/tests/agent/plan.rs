//! Plans and slash commands.

use ply_agent::v2::{PlanEntry, PlanEntryPriority as Priority, PlanEntryStatus as Status};
use ply_agent::{Agent, Result, Session, SessionSetup, Stop, Turn, v2};
use serde_json::{Value, json};

use crate::script::*;
use crate::shapes::check;
use crate::support::*;

fn entry(content: &str, priority: Priority, status: Status) -> PlanEntry {
    PlanEntry::new(content, priority, status)
}

fn plans() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            turn.plan(vec![
                entry("read", Priority::High, Status::InProgress),
                entry("write", Priority::Medium, Status::Pending),
            ])
            .await?;
            turn.plan(vec![
                entry("read", Priority::High, Status::Completed),
                entry("test", Priority::Low, Status::InProgress),
                entry("write", Priority::Medium, Status::Pending),
            ])
            .await?;
            turn.plan(vec![entry("test", Priority::Low, Status::Completed)])
                .await?;
            Ok(Stop::EndTurn)
        })
    })
}

// Also: V1-PLAN-02, V1-PLAN-03, V1-PLAN-04, V1-PLAN-06, V1-PLAN-07, V2-PLAN-01, V2-PLAN-02, V2-PLAN-03.
#[tokio::test(start_paused = true)]
async fn v1_plan_01_each_plan_is_sent_whole_with_what_every_entry_needs() {
    for version in BOTH {
        let mut talk = talk(version, plans()).await;
        let ended = talk.turn("go").await;
        // What only newer clients know is not sent to version 1.
        let foreign = match version {
            Version::V1 => "plan_update",
            Version::V2 => "plan",
        };
        assert!(!kinds(&ended.seen).contains(&foreign));
        let plans = updates(&ended.seen).into_iter().filter_map(|update| {
            match (version, update["sessionUpdate"].as_str()?) {
                (Version::V1, "plan") => Some(update),
                (Version::V2, "plan_update") => Some(&update["plan"]),
                _ => None,
            }
        });
        let plans: Vec<&Value> = plans.collect();
        let entry = |content: &str, priority: &str, status: &str| json!({"content": content, "priority": priority, "status": status});
        let expected = [
            json!([
                entry("read", "high", "in_progress"),
                entry("write", "medium", "pending")
            ]),
            json!([
                entry("read", "high", "completed"),
                entry("test", "low", "in_progress"),
                entry("write", "medium", "pending"),
            ]),
            json!([entry("test", "low", "completed")]),
        ];
        let entries: Vec<_> = plans.iter().map(|plan| plan["entries"].clone()).collect();
        assert_eq!(entries, expected);
        if version == Version::V2 {
            assert!(plans.iter().all(|plan| plan["type"] == "items"));
            let ids: Vec<_> = plans.iter().map(|plan| plan["planId"].as_str()).collect();
            assert!(ids[0].is_some() && ids.iter().all(|id| *id == ids[0]));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn v2_plan_04_every_status_of_an_entry_has_its_name() {
    let statuses = [
        (Status::Pending, "pending", Some("pending")),
        (Status::InProgress, "in_progress", Some("in_progress")),
        (Status::Completed, "completed", Some("completed")),
        // Version 1 could show it only as open.
        (Status::Cancelled, "cancelled", None),
        (
            Status::Other("_parked".into()),
            "_parked",
            Some("in_progress"),
        ),
    ];
    for version in BOTH {
        for (status, new, old) in statuses.clone() {
            let agent = script(move |turn| {
                let plan = vec![entry("read", Priority::High, status.clone())];
                Box::pin(async move {
                    turn.plan(plan).await?;
                    Ok(Stop::EndTurn)
                })
            });
            let mut talk = talk(version, agent).await;
            let ended = talk.turn("go").await;
            let updates = updates(&ended.seen);
            let mut plans = updates.iter().filter_map(|update| match version {
                Version::V1 => update["entries"].get(0),
                Version::V2 => update["plan"]["entries"].get(0),
            });
            let sent = plans.next().map(|entry| entry["status"].as_str().unwrap());
            match version {
                Version::V1 => assert_eq!(sent, old),
                Version::V2 => assert_eq!(sent, Some(new)),
            }
        }
    }
}

/// Answers commands by itself, and uses what stands beside them.
fn answers_commands() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            let beside = turn.prompt().content().len() - 1;
            let said = match turn.prompt().command() {
                Some(("plan", input)) => format!("plans {input:?} with {beside} more"),
                Some((other, _)) => format!("has no {other}"),
                None => "asks the model".to_owned(),
            };
            turn.say(said).await?;
            Ok(Stop::EndTurn)
        })
    })
}

// Also: V2-PROMPT-21.
#[tokio::test(start_paused = true)]
async fn v1_cmd_05_a_command_is_known_by_its_prefix_and_takes_other_content() {
    let link = json!({"type": "resource_link", "name": "a", "uri": "file:///a"});
    let text = |text: &str| json!({"type": "text", "text": text});
    let prompts = [
        (
            json!([text("/plan the trip")]),
            "plans \"the trip\" with 0 more",
        ),
        (json!([text("/plan"), link]), "plans \"\" with 1 more"),
        (
            json!([link, text(" /plan\nall of it ")]),
            "plans \"all of it\" with 1 more",
        ),
        (json!([text("/nope x")]), "has no nope"),
        (json!([text("what is /plan?")]), "asks the model"),
        (json!([text("/ plan")]), "asks the model"),
        (json!([link]), "asks the model"),
    ];
    for version in BOTH {
        let mut talk = talk(version, answers_commands()).await;
        for (prompt, expected) in prompts.clone() {
            let id = talk.prompt_with(prompt).await;
            let ended = talk.end(id).await;
            assert_eq!(said(&ended.seen), expected);
            assert_eq!(ended.stop, "end_turn");
            let states = updates(&ended.seen).into_iter();
            let states: Vec<_> = states
                .filter_map(|update| update["state"].as_str())
                .collect();
            let lifecycle: &[&str] = match version {
                Version::V1 => &[],
                Version::V2 => &["running", "idle"],
            };
            assert_eq!(states, lifecycle);
        }
    }
}

/// An agent with commands from the start, which a turn may change.
struct Commands;

fn command(name: &str, hint: Option<&str>) -> v2::AvailableCommand {
    let input = hint.map(|hint| v2::AvailableCommandInput::Text(v2::TextCommandInput::new(hint)));
    let command = v2::Command::new(name, format!("Does {name}.")).input(input);
    v2::AvailableCommand::Command(command)
}

impl Agent for Commands {
    async fn open(&self, session: &Session, _: &SessionSetup) -> Result<()> {
        let commands = vec![
            command("web", Some("what to look for")),
            command("test", None),
        ];
        session.set_commands(commands).await
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        turn.session()
            .set_commands(vec![command("plan", None)])
            .await?;
        Ok(Stop::EndTurn)
    }
}

// Also: V1-CMD-03.
#[tokio::test(start_paused = true)]
async fn v1_cmd_01_commands_come_with_the_session_and_again_when_they_change() {
    for version in BOTH {
        let server = ply_agent::serve(Commands);
        let mut client = match version {
            Version::V1 => v1_with(&server, json!({})).await,
            Version::V2 => v2_with(&server, json!({})).await,
        };
        let params = json!({"cwd": "/work", "mcpServers": []});
        let id = client.ask("session/new", params).await;
        let answer = client.answered(id).await.pop().unwrap();
        let commands = match version {
            Version::V1 => {
                let message = client.method("session/update").await;
                check(version, &message);
                update(&message)["availableCommands"].clone()
            }
            Version::V2 => answer["result"]["availableCommands"].clone(),
        };
        let commands = commands.as_array().unwrap();
        assert_eq!(commands.len(), 2);
        assert_eq!(commands[0]["name"], "web");
        assert_eq!(commands[0]["description"], "Does web.");
        assert_eq!(commands[0]["input"]["hint"], "what to look for");
        assert_eq!(commands[1]["name"], "test");
        assert!(commands[1].get("input").is_none_or(Value::is_null));
        let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
        client.prompt(&session, "go").await;
        let is_list =
            |message: &Value| update(message)["sessionUpdate"] == "available_commands_update";
        let message = client.until(is_list).await.pop().unwrap();
        check(version, &message);
        let commands = update(&message)["availableCommands"].as_array().unwrap();
        assert_eq!(commands.len(), 1);
        assert_eq!(commands[0]["name"], "plan");
    }
}
