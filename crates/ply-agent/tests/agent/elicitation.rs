//! Asking the user for input: forms and URLs, where the client has them.

use std::collections::HashSet;

use ply_agent::v2::{ElicitationContentValue, ElicitationSchema};
use ply_agent::{Agent, Elicited, Stop};
use serde_json::{Value, json};

use crate::script::*;
use crate::support::*;

/// Asks with a form and with a URL where it can, and says what came of it.
fn asks() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            let schema = ElicitationSchema::new().string("name", true);
            let form = match turn.elicit_form("Who are you?", schema).await {
                Ok(Elicited::Accepted(answers)) => match answers.get("name") {
                    Some(ElicitationContentValue::String(name)) => format!("I am {name}"),
                    _ => "nameless".to_owned(),
                },
                Ok(Elicited::Declined) => "declined".to_owned(),
                Ok(Elicited::Dismissed) => "dismissed".to_owned(),
                Ok(_) => "other".to_owned(),
                Err(error) if error.is_not_offered() => "fallback".to_owned(),
                Err(error) => return Err(error),
            };
            turn.say(format!("{}: {form}; ", turn.has_forms())).await?;
            let url = match turn.elicit_url("Log in", "https://example.org/login").await {
                Ok((Elicited::Accepted(_), id)) => {
                    turn.say("opened; ").await?;
                    turn.finish_url(id).await?;
                    "finished"
                }
                Ok((Elicited::Declined, _)) => "declined",
                Ok(_) => "dismissed",
                Err(error) if error.is_not_offered() => "fallback",
                Err(error) => return Err(error),
            };
            turn.say(format!("{}: {url}", turn.has_urls())).await?;
            Ok(Stop::EndTurn)
        })
    })
}

async fn elicit_talk(version: Version, elicitation: Value) -> Talk {
    let server = ply_agent::serve(asks());
    talk_with(version, &server, json!({"elicitation": elicitation})).await
}

/// Answers the questions of one turn and returns them and what was said.
async fn run(talk: &mut Talk, form: &Value, url: &Value) -> (Vec<Value>, Ended) {
    let prompt = talk.prompt("go").await;
    let mut asked = Vec::new();
    let end = |message: &Value| match talk_version(message) {
        Some(state) => state == "idle",
        None => message["id"] == prompt && message["result"]["stopReason"].is_string(),
    };
    loop {
        let message = talk.next().await;
        if end(&message) {
            return (asked, talk.end(prompt).await);
        }
        if message["method"] == "elicitation/create" {
            let answer = match message["params"]["mode"].as_str() {
                Some("form") => form,
                _ => url,
            };
            match answer.get("code").and_then(Value::as_i64) {
                Some(code) => talk.client.answer_error(&message, code).await,
                None => talk.answer(&message, answer.clone()).await,
            }
            asked.push(message);
        }
    }
}

/// Returns the state that a message reports, which only version 2 does.
fn talk_version(message: &Value) -> Option<&str> {
    update(message)["state"].as_str()
}

// Also: V1-ELIC-02, V1-ELIC-03, V1-ELIC-04.
#[tokio::test(start_paused = true)]
async fn v1_elic_01_only_the_modes_that_the_client_has_are_asked_in() {
    let cases = [
        (Value::Null, vec![], "false: fallback; false: fallback"),
        (json!({}), vec![], "false: fallback; false: fallback"),
        (
            json!({"form": null, "url": null}),
            vec![],
            "false: fallback; false: fallback",
        ),
        (
            json!({"form": {}}),
            vec!["form"],
            "true: I am Ann; false: fallback",
        ),
        (
            json!({"url": {}}),
            vec!["url"],
            "false: fallback; opened; true: finished",
        ),
        (
            json!({"form": {}, "url": {}}),
            vec!["form", "url"],
            "true: I am Ann; opened; true: finished",
        ),
    ];
    for version in BOTH {
        for (capabilities, modes, words) in &cases {
            let mut talk = elicit_talk(version, capabilities.clone()).await;
            let form = json!({"action": "accept", "content": {"name": "Ann"}});
            let (asked, ended) = run(&mut talk, &form, &json!({"action": "accept"})).await;
            let asked_in: Vec<_> = asked.iter().map(|ask| &ask["params"]["mode"]).collect();
            assert_eq!(asked_in, *modes, "{version:?} {capabilities}");
            for ask in &asked {
                assert_eq!(ask["params"]["sessionId"], json!(talk.session));
                assert!(ask["params"].get("requestId").is_none());
                assert!(ask["params"]["message"].is_string());
            }
            assert_eq!(said(&ended.seen), *words);
            assert_eq!(ended.stop, "end_turn");
        }
    }
}

/// A form that a tool needs is shown with its call, and the turn waits for the user meanwhile.
#[tokio::test(start_paused = true)]
async fn v2_state_04_a_form_of_the_only_tool_that_runs_requires_action() {
    let agent = || {
        script(|turn| {
            Box::pin(async move {
                let call = turn.tool_call("Ask").await?;
                call.start().await?;
                let schema = ElicitationSchema::new().string("name", true);
                call.elicit_form("Who are you?", schema).await?;
                call.finish().await?;
                Ok(Stop::EndTurn)
            })
        })
    };
    for version in BOTH {
        let server = ply_agent::serve(agent());
        let capabilities = json!({"elicitation": {"form": {}}});
        let mut talk = talk_with(version, &server, capabilities).await;
        let prompt = talk.prompt("go").await;
        let mut states = Vec::new();
        let ask = loop {
            let message = talk.next().await;
            if message["method"] == "elicitation/create" {
                break message;
            }
            states.extend(talk_version(&message).map(str::to_owned));
        };
        assert!(ask["params"]["toolCallId"].is_string(), "{ask}");
        if version == Version::V2 && states.last().is_none_or(|last| last != "requires_action") {
            assert_eq!(update(&talk.next().await)["state"], "requires_action");
        }
        let form = json!({"action": "accept", "content": {"name": "Ann"}});
        talk.answer(&ask, form).await;
        assert_eq!(talk.end(prompt).await.stop, "end_turn");
    }
}

// Also: V1-ELIC-28.
#[tokio::test(start_paused = true)]
async fn v1_elic_17_only_an_accept_is_taken_for_one() {
    let answers = [
        (
            json!({"action": "accept", "content": {"name": "Ann"}}),
            "I am Ann",
            true,
        ),
        (json!({"action": "accept"}), "nameless", true),
        (json!({"action": "decline"}), "declined", false),
        (json!({"action": "cancel"}), "dismissed", false),
        (json!({"action": "_later"}), "dismissed", false),
        (json!({}), "fallback", false),
        (json!({"code": -32602}), "fallback", false),
    ];
    for version in BOTH {
        for (answer, what, opened) in &answers {
            let mut talk = elicit_talk(version, json!({"form": {}, "url": {}})).await;
            let (_, ended) = run(&mut talk, answer, answer).await;
            let said = said(&ended.seen);
            assert!(
                said.starts_with(&format!("true: {what};")),
                "{version:?} {answer}: {said}"
            );
            assert_eq!(said.contains("opened"), *opened);
            assert_eq!(ended.stop, "end_turn");
        }
    }
}

// Also: V1-ELIC-20.
#[tokio::test(start_paused = true)]
async fn v1_elic_18_a_visit_is_over_when_the_agent_says_so() {
    for version in BOTH {
        let server = ply_agent::serve(asks());
        let capabilities = json!({"elicitation": {"url": {}}});
        let mut talk = talk_with(version, &server, capabilities.clone()).await;
        let mut other = talk_with(version, &server, capabilities).await;
        let prompt = talk.prompt("go").await;
        let ask = talk.method("elicitation/create").await;
        assert_eq!(ask["params"]["url"], "https://example.org/login");
        talk.answer(&ask, json!({"action": "accept"})).await;
        talk.hears("opened; ").await;
        let complete = talk.method("elicitation/complete").await;
        assert_eq!(
            complete["params"]["elicitationId"],
            ask["params"]["elicitationId"]
        );
        assert_eq!(talk.end(prompt).await.stop, "end_turn");
        // Nobody else hears of it.
        other.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn v1_elic_19_each_url_has_an_id_of_its_own() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let url = "https://example.org/";
                let (one, two) = tokio::join!(turn.elicit_url("A", url), turn.elicit_url("B", url));
                assert_ne!(one?.1, two?.1);
                Ok(Stop::EndTurn)
            })
        });
        let server = ply_agent::serve(agent);
        let mut talk = talk_with(version, &server, json!({"elicitation": {"url": {}}})).await;
        // Two sessions of one connection do not share ids either.
        let second = talk.client.session().await;
        let first = talk.session.clone();
        let mut ids = HashSet::new();
        for session in [first, second] {
            talk.client.prompt(&session, "go").await;
            for _ in 0..2 {
                let ask = talk.method("elicitation/create").await;
                let id = ask["params"]["elicitationId"].as_str().unwrap();
                assert!(ids.insert(id.to_owned()), "{id} was used before");
                assert_eq!(ask["params"]["sessionId"], json!(session));
            }
        }
        assert_eq!(ids.len(), 4);
    }
}

/// While the whole turn waits for a form, the user has to do something; see the states.
#[tokio::test(start_paused = true)]
async fn v2_state_04_a_form_that_the_turn_waits_for_requires_action() {
    let mut talk = elicit_talk(Version::V2, json!({"form": {}})).await;
    let prompt = talk.prompt("go").await;
    let state = talk.until(|message| update(message)["state"] == "requires_action");
    state.await;
    let log = talk.log.iter();
    let asked = log
        .rev()
        .find(|message| message["method"] == "elicitation/create");
    let ask = match asked {
        Some(ask) => ask.clone(),
        None => talk.method("elicitation/create").await,
    };
    talk.answer(&ask, json!({"action": "decline"})).await;
    talk.until(|message| update(message)["state"] == "running")
        .await;
    assert_eq!(talk.end(prompt).await.stop, "end_turn");
}

/// What an agent asks that it must not ask is refused in its own hands, and no client sees it.
#[tokio::test(start_paused = true)]
async fn v1_elic_12_secrets_and_nested_values_are_not_asked_for_in_forms() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let secret = ElicitationSchema::new().string("password", true);
                assert!(turn.elicit_form("Who are you?", secret).await.is_err());
                // V1-ELIC-13.
                for field in [
                    json!({"type": "string", "title": "Your password"}),
                    json!({"type": "object"}),
                    json!({"type": "array", "items": {"type": "object"}}),
                ] {
                    let form = json!({"type": "object", "properties": {"a": field}});
                    let form: ElicitationSchema = serde_json::from_value(form)?;
                    assert!(turn.elicit_form("Where?", form).await.is_err());
                }
                // V1-ELIC-25.
                for url in ["http://example.org/", "https://a:b@example.org/"] {
                    assert!(turn.elicit_url("Log in", url).await.is_err());
                }
                turn.say("not asked").await?;
                Ok(Stop::EndTurn)
            })
        });
        let server = ply_agent::serve(agent);
        let capabilities = json!({"elicitation": {"form": {}, "url": {}}});
        let mut talk = talk_with(version, &server, capabilities).await;
        let ended = talk.turn("go").await;
        assert_eq!(said(&ended.seen), "not asked");
        let is_question = |message: &&Value| message["method"] == "elicitation/create";
        assert_eq!(talk.log.iter().find(is_question), None);
    }
}

/// What the user enters at a URL reaches the agent by its own ways. What it gets there stays there.
#[tokio::test(start_paused = true)]
async fn v1_elic_26_a_token_gained_by_a_visit_is_never_sent() {
    const TOKEN: &str = "marker-9f8e7d";
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let (elicited, id) = turn.elicit_url("Log in", "https://example.org/").await?;
                assert!(matches!(elicited, Elicited::Accepted(_)));
                // The agent's own server has it now.
                let token = TOKEN.to_owned();
                turn.finish_url(id).await?;
                turn.say(format!("logged in with {} letters", token.len()))
                    .await?;
                Ok(Stop::EndTurn)
            })
        });
        let server = ply_agent::serve(agent);
        let mut talk = talk_with(version, &server, json!({"elicitation": {"url": {}}})).await;
        let prompt = talk.prompt("go").await;
        let ask = talk.method("elicitation/create").await;
        talk.answer(&ask, json!({"action": "accept"})).await;
        let complete = talk.method("elicitation/complete").await;
        let members: Vec<_> = complete["params"].as_object().unwrap().keys().collect();
        assert_eq!(members, ["elicitationId"], "it has no place for one");
        talk.end(prompt).await;
        talk.client.ok("session/list", json!({})).await;
        let frames = format!("{:?}{:?}", talk.log, talk.client.log);
        assert!(!frames.contains(TOKEN));
    }
}
