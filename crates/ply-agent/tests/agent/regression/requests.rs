//! Requests that follow each other closely, and what each of them comes to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ply_agent::{About, Agent, Error, Mcp, Result, Session, SessionSetup, Stop, Turn, v2};
use serde_json::{Value, json};

use super::of;
use crate::actor::{Actor, boolean_option, hear, mode_option};
use crate::journals::Gated;
use crate::script::Version::{V1, V2};
use crate::script::*;
use crate::support::*;

fn request(id: i64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn prompt(id: i64, session: &str, text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    let params = json!({"sessionId": session, "prompt": content});
    request(id, "session/prompt", &params)
}

/// A version 1 prompt is answered when its work is over, so taking it back means the work; a version 2 prompt that runs was
/// answered already.
#[tokio::test(start_paused = true)]
async fn c4_taking_back_a_prompt_that_runs_cancels_it_on_version_1_and_does_nothing_on_version_2() {
    for version in BOTH {
        let actor = Actor::new();
        let mut talk = talk(version, actor.clone()).await;
        let prompt = talk.prompt("say going\nwait\nsay done").await;
        talk.hears("going").await;
        let params = json!({"requestId": prompt});
        talk.client.notify("$/cancel_request", params).await;
        talk.settle().await;
        actor.gate.add_permits(1);
        let expected = match version {
            V1 => ("cancelled", "going"),
            V2 => ("end_turn", "goingdone"),
        };
        let stop = talk.end(prompt).await.stop;
        assert_eq!((&*stop, &*said(&talk.log)), expected);
        assert_eq!(talk.answers(prompt), 1);
        talk.is_quiet().await;
    }
}

/// Ends each turn as its prompt says, with a tool call that its session has to end.
fn ends_as_told() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            let call = turn.tool_call("Edit").await?;
            let text = turn.prompt().text();
            if text == "cancelled" {
                call.ask_with("May I?").await?;
            }
            // Dropped, it would report its own end before the turn's.
            std::mem::forget(call);
            match &*text {
                "end_turn" => Ok(Stop::EndTurn),
                "max_tokens" => Ok(Stop::MaxTokens),
                "max_turn_requests" => Ok(Stop::MaxTurnRequests),
                "refusal" => Ok(Stop::Refusal),
                _ => Err(Error::msg("broken")),
            }
        })
    })
}

/// What version 1 is answered is what version 2 is told, and comes after everything else of the turn.
#[tokio::test(start_paused = true)]
async fn c5_the_answer_of_version_1_and_the_state_of_version_2_are_one_decision() {
    let server = ply_agent::serve(ends_as_told());
    let mut old = talk_with(V1, &server, json!({})).await;
    let mut new = join(V2, &server, &old.session).await;
    for how in [
        "end_turn",
        "max_tokens",
        "max_turn_requests",
        "refusal",
        "error",
        "cancelled",
    ] {
        let prompt = old.prompt(how).await;
        if how == "cancelled" {
            old.method("session/request_permission").await;
            old.cancel().await;
        }
        assert_eq!(old.end(prompt).await.stop, how);
        assert_eq!(old.answers(prompt), 1, "{how}");
        old.is_quiet().await;
        new.log.clear();
        new.settle().await;
        let states: Vec<&str> = updates(&new.log)
            .into_iter()
            .filter_map(|update| update["state"].as_str())
            .collect();
        let expected: &[&str] = match how {
            "cancelled" => &["running", "requires_action", "idle"],
            _ => &["running", "idle"],
        };
        assert_eq!(states, expected, "{how}");
        let idle = update(new.log.last().unwrap());
        let stop = idle["stopReason"].as_str().unwrap_or("error");
        assert_eq!(stop, how, "{idle}");
    }
}

// The options of a session that was never written live with its server.
#[tokio::test(start_paused = true)]
async fn c12_an_empty_session_and_its_options_outlive_their_client() {
    for (leaves, comes) in [(V1, V2), (V2, V1)] {
        let mut actor = Actor::new();
        actor.options = vec![mode_option("ask")];
        let server = actor.serve();
        let Talk {
            mut client,
            session,
            ..
        } = talk_with(leaves, &server, json!({})).await;
        let mode = json!({"sessionId": session, "configId": "mode", "type": "id",
            "value": "code"});
        client.ok("session/set_config_option", mode).await;
        match leaves {
            V1 => drop(client.vanish().await),
            V2 => drop(client.leave().await),
        }
        tokio::time::sleep(Duration::from_secs(3600)).await;

        let mut next = join(comes, &server, &session).await;
        let answer = next
            .log
            .iter()
            .find(|message| message.get("result").is_some());
        let options = &answer.unwrap()["result"]["configOptions"];
        assert_eq!(options[0]["currentValue"], "code", "{options}");
        let listed = next.client.ok("session/list", json!({})).await;
        assert_eq!(listed["sessions"][0]["sessionId"], session);
        assert_eq!(hear(&mut next.client, &session, "say here").await, "here");
        // It is the same one: it was neither closed nor opened again.
        assert_eq!(actor.setups.lock().unwrap().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn c13_a_prompt_right_behind_the_load_of_its_session_is_served() {
    for version in BOTH {
        for is_open in [false, true] {
            let journal = Gated::open();
            let server = Actor::new().serve().journal(journal.clone());
            let mut first = talk_with(V2, &server, json!({})).await;
            assert_eq!(first.turn("say before").await.stop, "end_turn");
            let session = first.session.clone();
            if !is_open {
                first.client.ok("session/close", of(&session)).await;
            }
            let (mut client, method) = match version {
                V1 => (v1_with(&server, json!({})).await, "session/load"),
                V2 => (v2_with(&server, json!({})).await, "session/resume"),
            };
            // A session that is not open takes its time to be read.
            journal.set_opens(false);
            let lines = [
                request(101, method, &of(&session)),
                prompt(102, &session, "recall"),
            ];
            client.write(&lines.join("\n")).await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            journal.set_opens(true);
            let loaded = client.answered(101).await;
            assert!(loaded.last().unwrap()["result"].is_object(), "{loaded:#?}");
            let answer = client.answered(102).await.pop().unwrap();
            assert!(answer["result"].is_object(), "{version:?}: {answer}");
            let recalled = "say before|before|recall";
            while !said(&client.log).contains(recalled) {
                client.next().await.unwrap();
            }
        }
    }
}

/// Takes long over a change of its mode, and says in which one it works.
#[derive(Clone, Default)]
struct Moody(Arc<Mutex<String>>);

impl Agent for Moody {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let mode = self.0.lock().unwrap().clone();
        turn.say(format!("in {mode} ")).await?;
        Ok(Stop::EndTurn)
    }

    async fn open(&self, session: &Session, _: &SessionSetup) -> Result<()> {
        session
            .set_options(vec![mode_option("ask"), boolean_option(false)])
            .await
    }

    async fn set_option(
        &self,
        _: &Session,
        _: &v2::SessionConfigId,
        value: &v2::SessionConfigOptionValue,
    ) -> Result<()> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        *self.0.lock().unwrap() = json!(value)["value"].as_str().unwrap().to_owned();
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn c13_an_option_change_and_a_prompt_that_come_together_take_effect_in_order() {
    for version in BOTH {
        let agent = Moody::default();
        let Talk {
            mut client,
            session,
            ..
        } = talk(version, agent).await;
        let mode = |id, mode: &str| {
            let params = json!({"sessionId": session, "configId": "mode", "type": "id",
                "value": mode});
            request(id, "session/set_config_option", &params)
        };
        let lines = [
            mode(101, "code"),
            prompt(102, &session, "one"),
            mode(103, "ask"),
            prompt(104, &session, "two"),
        ];
        client.write(&lines.join("\n")).await;
        while said(&client.log).matches("in ").count() < 2 {
            client.next().await.unwrap();
        }
        assert_eq!(said(&client.log), "in code in ask ", "{version:?}");
        let answers = client
            .log
            .iter()
            .filter_map(|message| message["id"].as_i64());
        let order: Vec<i64> = answers.filter(|id| *id > 100).collect();
        assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{order:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn c14_a_second_client_is_told_that_its_other_mcp_servers_are_not_used() {
    let mcp = Mcp {
        stdio: true,
        http: true,
    };
    let actor = Actor::about_itself(About::new("a", "1").mcp(mcp));
    let server = actor.serve();
    let stdio =
        |name| json!({"type": "stdio", "name": name, "command": "/s", "args": [], "env": []});
    let mut first = v2_with(&server, json!({})).await;
    let made = json!({"cwd": "/work", "mcpServers": [stdio("one")]});
    let made = first.ok("session/new", made).await;
    let session = made["sessionId"].as_str().unwrap();
    for version in BOTH {
        for (servers, is_told) in [
            (json!([stdio("two")]), true),
            (json!([stdio("one"), stdio("two")]), true),
            (json!([stdio("one")]), false),
            (json!([]), false),
        ] {
            let mut other = join(version, &server, session).await;
            other.log.clear();
            let method = "session/resume";
            let params = json!({"sessionId": session, "cwd": "/work", "mcpServers": servers});
            other.client.ask(method, params).await;
            other.settle().await;
            let notices = updates(&other.log).into_iter();
            let notices: Vec<String> = notices
                .filter(|update| update["sessionUpdate"] == "notice")
                .map(Value::to_string)
                .collect();
            assert_eq!(notices.len(), usize::from(is_told), "{version:?} {servers}");
            assert!(notices.iter().all(|notice| notice.contains("MCP servers")));
        }
    }
    // The agent was told of the first client's, and of no others.
    assert_eq!(actor.setups.lock().unwrap().len(), 1);
}
