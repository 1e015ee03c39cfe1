//! Config options and modes.

use ply_agent::v2;
use serde_json::{Value, json};

use crate::actor::{Actor, Trouble, boolean_option, hear, mode_option, run};
use crate::support::*;

const INVALID_PARAMS: i64 = -32602;

fn actor() -> Actor {
    let mut actor = Actor::new();
    actor.options = vec![mode_option("ask"), boolean_option(false)];
    actor
}

fn booleans() -> Value {
    json!({"session": {"configOptions": {"boolean": {}}}})
}

async fn set_up(client: &mut Client) -> (String, Value) {
    let answer = client
        .ok("session/new", json!({"cwd": "/work", "mcpServers": []}))
        .await;
    (answer["sessionId"].as_str().unwrap().to_owned(), answer)
}

fn set_v1(session: &str, option: &str, value: Value) -> Value {
    let mut params = json!({"sessionId": session, "configId": option, "value": value});
    if params["value"].is_boolean() {
        params["type"] = json!("boolean");
    }
    params
}

fn set_v2(session: &str, option: &str, value: Value) -> Value {
    let kind = if value.is_boolean() { "boolean" } else { "id" };
    json!({"sessionId": session, "configId": option, "type": kind, "value": value})
}

// Also: V1-MODE-01, V1-CONF-01, V1-CONF-05, V2-CONF-01, V2-CONF-05, V1-SESS-10.
#[tokio::test(start_paused = true)]
async fn v1_conf_01_setup_answers_hold_options_and_modes_with_values() {
    let server = actor().serve();
    let mut old = v1_with(&server, booleans()).await;
    let (session, answer) = set_up(&mut old).await;
    assert_eq!(answer["modes"]["currentModeId"], "ask");
    let modes = answer["modes"]["availableModes"].as_array().unwrap();
    let modes: Vec<_> = modes
        .iter()
        .map(|mode| mode["id"].as_str().unwrap())
        .collect();
    assert_eq!(modes, ["ask", "code"]);
    assert_eq!(answer["configOptions"][0]["id"], "mode");
    assert_eq!(answer["configOptions"][0]["currentValue"], "ask");
    assert_eq!(answer["configOptions"][1]["currentValue"], false);
    // Nothing has to be set.
    assert_eq!(hear(&mut old, &session, "say fine").await, "fine");

    let mut new = v2_with(&server, json!({})).await;
    let (_, answer) = set_up(&mut new).await;
    let options = answer["configOptions"].as_array().unwrap();
    assert_eq!(options[0]["configId"], "mode");
    assert_eq!(options[0]["type"], "select");
    let values = options[0]["options"].as_array().unwrap();
    assert!(
        values
            .iter()
            .any(|value| value["value"] == options[0]["currentValue"])
    );
    assert_eq!(options[1]["type"], "boolean");
    assert!(answer.get("modes").is_none());
}

#[tokio::test(start_paused = true)]
async fn v1_conf_04_a_client_without_booleans_gets_none() {
    let server = actor().serve();
    let mut old = v1_with(&server, json!({})).await;
    let (session, answer) = set_up(&mut old).await;
    let options = answer["configOptions"].as_array().unwrap();
    assert!(
        options.iter().all(|option| option["type"] == "select"),
        "{answer}"
    );
    // Whatever stands for it can be set like any other.
    if let Some(web) = options.iter().find(|option| option["id"] == "web") {
        let values = web["options"].as_array().unwrap();
        let other = values
            .iter()
            .find(|value| value["value"] != web["currentValue"])
            .unwrap();
        let set = set_v1(&session, "web", other["value"].clone());
        let answer = old.ok("session/set_config_option", set).await;
        assert_eq!(answer["configOptions"][1]["currentValue"], other["value"]);
    }
}

/// Options work the same without categories, which are for screens.
#[tokio::test(start_paused = true)]
async fn v1_conf_08_options_without_a_category_can_be_set() {
    let choices = ["ask", "code"].map(|id| v2::SessionConfigSelectOption::new(id, id));
    let plain = v2::SessionConfigOption::select("plain", "Plain", "ask", choices.to_vec());
    let own = v2::SessionConfigOption::select("own", "Own", "ask", choices.to_vec())
        .category(v2::SessionConfigOptionCategory::Other("_mine".into()));
    let mut actor = Actor::new();
    actor.options = vec![plain, own, boolean_option(false)];
    let server = actor.serve();
    let mut old = v1_with(&server, booleans()).await;
    let mut new = v2_with(&server, json!({})).await;
    for (is_v2, client) in [(false, &mut old), (true, &mut new)] {
        let (session, answer) = set_up(client).await;
        assert!(answer.get("modes").is_none_or(Value::is_null), "{answer}");
        assert_eq!(answer["configOptions"][1]["category"], "_mine");
        for (id, value) in [
            ("plain", json!("code")),
            ("own", json!("code")),
            ("web", json!(true)),
        ] {
            let params = match is_v2 {
                true => set_v2(&session, id, value.clone()),
                false => set_v1(&session, id, value.clone()),
            };
            let answer = client.ok("session/set_config_option", params).await;
            let options = answer["configOptions"].as_array().unwrap().clone();
            let is_it = |option: &&Value| option["id"] == id || option["configId"] == id;
            let set = options.iter().find(is_it).unwrap();
            assert_eq!(set["currentValue"], value);
        }
    }
}

// Also: V1-CONF-12, V2-CONF-03, V1-MODE-05, V1-MODE-07, V1-MODE-04.
#[tokio::test(start_paused = true)]
async fn v1_conf_09_the_answer_and_the_update_hold_every_option() {
    let actor = actor();
    let server = actor.serve();
    let mut old = v1_with(&server, booleans()).await;
    let (session, _) = set_up(&mut old).await;
    let mut new = v2_with(&server, json!({})).await;
    new.ok(
        "session/resume",
        json!({"sessionId": session, "cwd": "/work"}),
    )
    .await;

    let id = old
        .ask(
            "session/set_config_option",
            set_v1(&session, "mode", json!("code")),
        )
        .await;
    let seen = old.answered(id).await;
    let answer = seen.last().unwrap()["result"]["configOptions"]
        .as_array()
        .unwrap();
    assert_eq!(
        (answer.len(), &answer[0]["currentValue"]),
        (2, &json!("code"))
    );
    // Whoever follows the modes hears of it too.
    let mode = updates(&seen)
        .into_iter()
        .find(|update| update["sessionUpdate"] == "current_mode_update");
    assert_eq!(mode.unwrap()["currentModeId"], "code");
    // And so do the other clients.
    let told = new
        .until(|message| update(message)["sessionUpdate"] == "config_option_update")
        .await;
    let told = update(told.last().unwrap())["configOptions"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!((told.len(), &told[0]["currentValue"]), (2, &json!("code")));

    let answer = new
        .ok(
            "session/set_config_option",
            set_v2(&session, "web", json!(true)),
        )
        .await;
    let options = answer["configOptions"].as_array().unwrap();
    assert_eq!(
        (options.len(), &options[1]["currentValue"]),
        (2, &json!(true))
    );
    assert_eq!(options[0]["currentValue"], "code");
    assert_eq!(*actor.set.lock().unwrap(), ["mode=\"code\"", "web=true"]);
}

// Also: V1-MODE-02, V2-CONF-04, V2-ERR-02.
#[tokio::test(start_paused = true)]
async fn v1_conf_10_a_value_that_is_not_offered_is_refused_and_changes_nothing() {
    let actor = actor();
    let server = actor.serve();
    let mut old = v1_with(&server, booleans()).await;
    let (session, _) = set_up(&mut old).await;
    let bad = [
        ("mode", json!("nope")),
        ("mode", json!(true)),
        ("web", json!("yes")),
        ("nope", json!("ask")),
    ];
    for (option, value) in &bad {
        let set = set_v1(&session, option, value.clone());
        assert_eq!(
            old.fails("session/set_config_option", set).await,
            INVALID_PARAMS,
            "{option} {value}"
        );
    }
    let set = json!({"sessionId": session, "modeId": "nope"});
    assert_eq!(old.fails("session/set_mode", set).await, INVALID_PARAMS);

    let mut new = v2_with(&server, json!({})).await;
    new.ok(
        "session/resume",
        json!({"sessionId": session, "cwd": "/work"}),
    )
    .await;
    for (option, value) in bad {
        let set = set_v2(&session, option, value.clone());
        assert_eq!(
            new.fails("session/set_config_option", set).await,
            INVALID_PARAMS,
            "{option} {value}"
        );
    }
    let odd = json!({"sessionId": session, "configId": "mode", "type": "_x", "value": "code"});
    assert_eq!(
        new.fails("session/set_config_option", odd).await,
        INVALID_PARAMS
    );
    assert!(actor.set.lock().unwrap().is_empty());
    let answer = new
        .ok(
            "session/resume",
            json!({"sessionId": session, "cwd": "/work"}),
        )
        .await;
    assert_eq!(answer["configOptions"][0]["currentValue"], "ask");
    assert_eq!(answer["configOptions"][1]["currentValue"], false);
}

// Also: V1-MODE-07, V1-CONF-13, V2-CONF-03.
#[tokio::test(start_paused = true)]
async fn v1_mode_03_modes_and_options_change_in_the_middle_of_a_turn() {
    let actor = actor();
    let server = actor.serve();
    let mut old = v1_with(&server, booleans()).await;
    let (session, _) = set_up(&mut old).await;
    let prompt = old.prompt(&session, "say working\nwait\nsay done").await;
    old.until(|message| said(std::slice::from_ref(message)) == "working")
        .await;
    let set = json!({"sessionId": session, "modeId": "code"});
    let id = old.ask("session/set_mode", set).await;
    let seen = old.answered(id).await;
    assert_eq!(seen.last().unwrap()["result"], json!({}));
    let option = updates(&seen)
        .into_iter()
        .find(|update| update["sessionUpdate"] == "config_option_update");
    assert_eq!(option.unwrap()["configOptions"][0]["currentValue"], "code");
    old.ok(
        "session/set_config_option",
        set_v1(&session, "web", json!(true)),
    )
    .await;
    actor.gate.add_permits(1);
    let seen = old.answered(prompt).await;
    assert_eq!(said(&seen), "done");
    assert_eq!(seen.last().unwrap()["result"]["stopReason"], "end_turn");
}

// Also: V1-MODE-04, V1-CONF-12.
#[tokio::test(start_paused = true)]
async fn v1_mode_05_a_change_by_the_agent_is_announced() {
    let server = actor().serve();
    let mut old = v1_with(&server, booleans()).await;
    let (session, _) = set_up(&mut old).await;
    let seen = run(&mut old, &session, "mode code").await;
    let seen = updates(&seen);
    let of = |kind: &str| seen.iter().find(|update| update["sessionUpdate"] == kind);
    assert_eq!(of("current_mode_update").unwrap()["currentModeId"], "code");
    assert!(of("current_mode_update").unwrap().get("modeId").is_none());
    let options = of("config_option_update").unwrap()["configOptions"]
        .as_array()
        .unwrap();
    assert_eq!(
        (options.len(), &options[1]["currentValue"]),
        (2, &json!(true))
    );
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_an_option_is_set_fails_that_request_alone() {
    let actor = actor();
    let server = actor.serve();
    let mut new = v2_with(&server, json!({})).await;
    let (session, _) = set_up(&mut new).await;
    *actor.trouble.lock().unwrap() = Some(Trouble::OptionPanics);
    let set = set_v2(&session, "mode", json!("code"));
    assert_eq!(
        new.fails("session/set_config_option", set.clone()).await,
        -32603
    );
    *actor.trouble.lock().unwrap() = None;
    let answer = new.ok("session/set_config_option", set).await;
    assert_eq!(answer["configOptions"][0]["currentValue"], "code");
}
