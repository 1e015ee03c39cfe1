//! A whole agent, written as a stranger would: a list of to-dos for each session, which a client can also ask for by itself.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Mutex;

use ply::agent::v2::{Meta, ToolKind};
use ply::agent::{
    About, Agent, Error, Extension, Result, Session, SessionSetup, Stop, Turn, Value, serde_json,
};
use ply::client::{Client, Event, Prompt, Supported};
use serde::{Deserialize, Serialize};
use serde_json::json;

struct Todo;

/// What is kept for a session.
struct List {
    items: Mutex<Vec<String>>,
    /// The sign before each item, which the client may choose.
    bullet: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Items {
    items: Vec<String>,
}

fn meta(value: Value) -> Meta {
    serde_json::from_value(value).unwrap()
}

impl Agent for Todo {
    fn about(&self) -> About {
        let own = json!({"example.com": {"methods": ["_example.com/items"]}});
        About::new("todo", "1.0.0").meta(meta(own))
    }

    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        let bullet = setup.meta.as_ref().and_then(|meta| meta.get("bullet"));
        let bullet = bullet.and_then(Value::as_str).unwrap_or("-").to_owned();
        session.set_meta(meta(json!({"bullet": bullet}))).await?;
        session.set_state(List {
            items: Mutex::default(),
            bullet,
        });
        Ok(())
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let list: &List = turn.session().state();
        let (prompt, item) = (turn.prompt(), turn.prompt().text());
        let is_urgent = prompt
            .meta()
            .is_some_and(|meta| meta.contains_key("urgent"));
        let call = turn.tool_call(format!("Add {item}"));
        let call = call.kind(ToolKind::Other).await?;
        if !call.ask().await?.is_allowed() {
            call.fail("not added").await?;
            return Ok(Stop::EndTurn);
        }
        call.start().await?;
        let shown = {
            let mut items = list.items.lock().unwrap();
            let place = if is_urgent { 0 } else { items.len() };
            items.insert(place, item);
            items
                .iter()
                .fold(String::new(), |shown, item| shown + &list.bullet + item)
        };
        call.finish().await?;
        turn.say(shown).await?;
        Ok(Stop::EndTurn)
    }

    async fn extension(&self, request: &Extension) -> Result<Value> {
        match request.method() {
            "_example.com/items" => {
                let session = request.session()?;
                let items = session.state::<List>().items.lock().unwrap().clone();
                Ok(serde_json::to_value(Items { items })?)
            }
            _ => Err(Error::method_not_found()),
        }
    }
}

#[tokio::test]
async fn an_agent_keeps_a_list_for_each_session_and_serves_a_method_of_its_own() {
    for versions in [Supported::V1, Supported::V2] {
        let client = Client::new().versions(versions);
        let server = ply::agent::serve(Todo);
        let agent = ply::testing::pair_with(&server, client).await.unwrap();
        let own = agent.capabilities().meta.unwrap();
        assert_eq!(own["example.com"]["methods"][0], "_example.com/items");

        let setup = ply::client::SessionSetup::new("/work").meta(meta(json!({"bullet": "* "})));
        let (stars, dashes) = (
            agent.new_session(setup).await,
            agent.new_session("/work").await,
        );
        let (stars, dashes) = (stars.unwrap(), dashes.unwrap());
        for prompt in [
            Prompt::new("milk"),
            Prompt::new("fire").meta(meta(json!({"urgent": true}))),
        ] {
            let mut turn = stars.prompt(prompt).await.unwrap();
            while let Some(event) = turn.next().await {
                if let Event::Permission(ask) = event.unwrap() {
                    ask.allow_once().await.unwrap();
                }
            }
        }
        assert_eq!(stars.transcript().last_agent_text(), "* fire* milk");
        assert_eq!(stars.meta()["bullet"], "* ");
        assert_eq!(dashes.meta()["bullet"], "-");

        for (session, expected) in [(&stars, vec!["fire", "milk"]), (&dashes, vec![])] {
            let params = json!({"sessionId": session.id()});
            let told: Items = agent.call("_example.com/items", &params).await.unwrap();
            assert_eq!(told.items, expected);
        }
        let unknown = agent.call::<Value>("_example.com/nothing", json!({})).await;
        let unknown = unknown.unwrap_err().to_string();
        assert!(unknown.contains("Method not found"), "{unknown}");
    }
}
