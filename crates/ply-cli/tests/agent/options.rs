//! Mode, model and effort, as version 1 and version 2 show them.

use coder_tests::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::place::Place;
use crate::raw::Raw;

async fn open(agent: &mut Raw, place: &Place) -> Value {
    let setup = json!({ "cwd": place.project(), "mcpServers": [] });
    agent.call("session/new", setup).await.unwrap()
}

/// Returns an option of an answer.
fn option<'a>(answer: &'a Value, id: &str) -> Option<&'a Value> {
    let options = answer["configOptions"].as_array().unwrap();
    // Version 2 has another name for it.
    let is_it = |it: &&Value| it["id"] == id || it["configId"] == id;
    options.iter().find(is_it)
}

/// Returns the value of an option.
fn value(answer: &Value, id: &str) -> String {
    let option = option(answer, id).unwrap();
    option["currentValue"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn modes_are_modes_and_an_option_and_either_changes_both() {
    let place = Place::new();
    let mut agent = place.agent().raw();
    agent.hello_v1().await;
    let opened = open(&mut agent, &place).await;
    let id = &opened["sessionId"];
    assert_eq!(opened["modes"]["currentModeId"], "ask");
    assert_eq!(value(&opened, "mode"), "ask");
    let modes = opened["modes"]["availableModes"].as_array().unwrap();
    let ids: Vec<_> = modes
        .iter()
        .map(|mode| mode["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["plan", "ask", "auto-edit", "full"]);

    agent.updates.clear();
    let mode = json!({ "sessionId": id, "modeId": "plan" });
    agent.call("session/set_mode", mode).await.unwrap();
    let option = json!({ "sessionId": id, "configId": "mode", "value": "full" });
    let set = agent
        .call("session/set_config_option", option)
        .await
        .unwrap();
    assert_eq!(value(&set, "mode"), "full");
    let id = id.as_str().unwrap();
    agent.prompt(id, "run true").await.unwrap();
    let changes = agent.of_kind("config_option_update");
    let options: Vec<_> = changes.iter().map(|it| value(it, "mode")).collect();
    assert!(options.contains(&"plan".to_owned()), "{:?}", agent.updates);
    let changes = agent.of_kind("current_mode_update");
    let modes: Vec<_> = changes
        .iter()
        .map(|it| it["currentModeId"].as_str().unwrap())
        .collect();
    assert!(modes.contains(&"full"), "{:?}", agent.updates);

    let close = json!({ "sessionId": id });
    agent.call("session/close", close).await.unwrap();
    let load = json!({ "sessionId": id, "cwd": place.project(), "mcpServers": [] });
    let loaded = agent.call("session/load", load).await.unwrap();
    assert_eq!(loaded["modes"]["currentModeId"], "full");
    assert_eq!(value(&loaded, "mode"), "full");
    let none = json!({ "sessionId": id, "modeId": "yolo" });
    let none = agent.call("session/set_mode", none).await.unwrap_err();
    assert_eq!(none["code"], -32602, "{none}");
}

#[tokio::test]
async fn models_can_be_chosen_and_effort_only_where_there_is_one() {
    let place = Place::new();
    let model = ModelServer::start([Reply::say("First."), Reply::say("Second.")]).await;
    let more = "\n[[models]]\nid = \"scripted/plain\"\nefforts = false\n\
                [[models]]\nid = \"scripted/deep\"\nname = \"Deep\"\nefforts = true\n";
    place.configure_model(&model, more);
    for is_v2 in [false, true] {
        let mut agent = place.agent().with(["--model", "scripted/plain"]).raw();
        match is_v2 {
            false => agent.hello_v1().await,
            true => agent.hello_v2().await,
        };
        let opened = open(&mut agent, &place).await;
        let id = &opened["sessionId"];
        assert_eq!(value(&opened, "model"), "scripted/plain");
        let models = option(&opened, "model").unwrap()["options"].to_string();
        assert!(
            models.contains("scripted/deep") && models.contains("Deep"),
            "{models}"
        );
        assert!(option(&opened, "effort").is_none(), "{opened}");

        let set = async |agent: &mut Raw, option: &str, value: &str| {
            let mut params = json!({ "sessionId": id, "configId": option, "value": value });
            if is_v2 {
                params["type"] = "id".into();
            }
            agent.call("session/set_config_option", params).await
        };
        let deep = set(&mut agent, "model", "scripted/deep").await.unwrap();
        assert_eq!(value(&deep, "model"), "scripted/deep");
        assert_eq!(value(&deep, "effort"), "default");
        let high = set(&mut agent, "effort", "high").await.unwrap();
        assert_eq!(value(&high, "effort"), "high");
        let plain = set(&mut agent, "model", "scripted/plain").await.unwrap();
        assert!(option(&plain, "effort").is_none(), "{plain}");
        let none = set(&mut agent, "model", "scripted/none").await.unwrap_err();
        assert_eq!(none["code"], -32602, "{none}");
    }
}

#[tokio::test]
async fn the_model_that_was_chosen_is_the_one_that_is_asked() {
    let place = Place::new();
    let model = ModelServer::start([Reply::say("First."), Reply::say("Second.")]).await;
    place.configure_model(&model, "\n[[models]]\nid = \"scripted/other\"\n");
    let mut agent = place.agent().raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    agent.prompt(&id, "One").await.unwrap();
    let params = json!({ "sessionId": id, "configId": "model", "value": "scripted/other" });
    agent
        .call("session/set_config_option", params)
        .await
        .unwrap();
    agent.prompt(&id, "Two").await.unwrap();
    assert_eq!(model.request(0).await.body["model"], "claude-sonnet-4-5");
    assert_eq!(model.request(1).await.body["model"], "other");
}

#[tokio::test]
async fn the_offline_model_can_be_chosen_although_there_are_others() {
    let place = Place::new();
    let with_key = || place.agent().set("ANTHROPIC_API_KEY", "sk-none");
    let first = async |launch: crate::place::Launch| {
        let mut agent = launch.raw();
        agent.hello_v1().await;
        value(&open(&mut agent, &place).await, "model")
    };
    assert!(first(with_key()).await.starts_with("anthropic/"));
    assert_eq!(
        first(with_key().with(["--model", "offline"])).await,
        "offline"
    );
    assert_eq!(
        first(with_key().set("PLY_MODEL", "offline")).await,
        "offline"
    );
    place.configure("model = \"offline\"\n");
    assert_eq!(first(with_key()).await, "offline");
}
