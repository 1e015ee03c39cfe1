//! Changes of options come to the agent one at a time and in order.

use std::sync::{Arc, Mutex};

use ply_agent::{Agent, Result, Session, SessionSetup, Stop, Turn, v2};
use serde_json::{Value, json};

use super::of;
use crate::actor::{boolean_option, mode_option};
use crate::support::*;

/// How often a race is tried.
const TRIES: usize = 50;
/// How often a slow hook lets others go first.
const YIELDS: usize = 20;

/// Takes long over the mode `code` and none over others, so that a later change could come first;
/// panics over the option `web`.
#[derive(Clone, Default)]
struct Hooked {
    begun: Arc<Mutex<Vec<String>>>,
    done: Arc<Mutex<Vec<String>>>,
}

impl Agent for Hooked {
    async fn prompt(&self, _: &mut Turn) -> Result<Stop> {
        Ok(Stop::EndTurn)
    }

    async fn open(&self, session: &Session, _: &SessionSetup) -> Result<()> {
        let options = vec![mode_option("ask"), boolean_option(false)];
        session.set_options(options).await
    }

    async fn set_option(
        &self,
        _: &Session,
        option: &v2::SessionConfigId,
        value: &v2::SessionConfigOptionValue,
    ) -> Result<()> {
        assert!(&*option.0 != "web", "as told");
        let value = json!(value)["value"].as_str().unwrap().to_owned();
        self.begun.lock().unwrap().push(value.clone());
        if value == "code" {
            for _ in 0..YIELDS {
                tokio::task::yield_now().await;
            }
        }
        self.done.lock().unwrap().push(value);
        Ok(())
    }
}

/// Returns the mode that a client which resumes is told.
async fn mode(server: &ply_agent::Server, session: &str) -> Value {
    let mut other = v1_with(server, json!({})).await;
    let resumed = other.ok("session/resume", of(session)).await;
    resumed["modes"]["currentModeId"].clone()
}

/// Makes a request that sets the mode of a session.
type Change = fn(&str, &str) -> (&'static str, Value);

fn set_mode(session: &str, mode: &str) -> (&'static str, Value) {
    let params = json!({"sessionId": session, "modeId": mode});
    ("session/set_mode", params)
}

fn set_option(session: &str, mode: &str) -> (&'static str, Value) {
    // Version 1 has no types of values and ignores this one.
    let params = json!({"sessionId": session, "configId": "mode", "type": "id", "value": mode});
    ("session/set_config_option", params)
}

/// Sends all without waiting and returns the answers.
async fn pipeline(client: &mut Client, requests: Vec<(&'static str, Value)>) -> Vec<Value> {
    let mut ids = Vec::new();
    for (method, params) in requests {
        ids.push(client.ask(method, params).await);
    }
    let mut answers = Vec::new();
    while answers.len() < ids.len() {
        let message = client.next().await.unwrap();
        let is_answer = message.get("method").is_none();
        answers.extend(is_answer.then_some(message));
    }
    answers.sort_by_key(|answer| answer["id"].as_i64());
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pipelined_changes_of_the_mode_leave_the_last_one() {
    for round in 0..TRIES {
        let agent = Hooked::default();
        let server = ply_agent::serve(agent.clone());
        let (mut client, changes): (_, [Change; 2]) = match round % 4 {
            0 => (v1_with(&server, json!({})).await, [set_mode, set_mode]),
            1 => (v1_with(&server, json!({})).await, [set_mode, set_option]),
            2 => (v1_with(&server, json!({})).await, [set_option, set_mode]),
            _ => (v2_with(&server, json!({})).await, [set_option, set_option]),
        };
        let session = client.session().await;
        let requests = vec![changes[0](&session, "code"), changes[1](&session, "ask")];
        let answers = pipeline(&mut client, requests).await;
        for answer in &answers {
            assert!(answer["result"].is_object(), "round {round}: {answer}");
        }
        let options = &answers[1]["result"]["configOptions"];
        if options.is_array() {
            assert_eq!(options[0]["currentValue"], "ask", "round {round}");
        }
        assert_eq!(mode(&server, &session).await, "ask", "round {round}");
        let (begun, done) = (agent.begun.lock().unwrap(), agent.done.lock().unwrap());
        assert_eq!(*begun, ["code", "ask"], "round {round}");
        assert_eq!(*done, ["code", "ask"], "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_that_panics_does_not_hold_up_the_next_change() {
    for _ in 0..TRIES {
        let agent = Hooked::default();
        let server = ply_agent::serve(agent.clone());
        let mut client = v2_with(&server, json!({})).await;
        let session = client.session().await;
        let web = json!({"sessionId": session, "configId": "web", "type": "boolean",
            "value": true});
        let requests = vec![
            ("session/set_config_option", web),
            set_option(&session, "code"),
        ];
        let answers = pipeline(&mut client, requests).await;
        assert!(answers[0]["error"].is_object(), "{answers:#?}");
        let options = &answers[1]["result"]["configOptions"];
        assert_eq!(options[0]["currentValue"], "code");
        assert_eq!(options[1]["currentValue"], false);
        assert_eq!(*agent.done.lock().unwrap(), ["code"]);
    }
}
