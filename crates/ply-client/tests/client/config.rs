//! Options and modes, the same for both versions.

use crate::support::{SESSION, Script, heard, v1_with, v2_with};
use ply_client::{Agent, Client, Error, Event, Session};
use serde_json::{Value, json};

fn modes() -> Value {
    let mode = |id: &str| json!({ "id": id, "name": id });
    json!({ "currentModeId": "ask", "availableModes": [mode("ask"), mode("code")] })
}

fn option(id: &str, field: &str, category: &str, current: &str, values: [&str; 2]) -> Value {
    let value = |id: &&str| json!({ "value": id, "valueId": id, "name": id });
    let values: Vec<_> = values.iter().map(value).collect();
    json!({
        field: id, "name": id, "category": category, "type": "select",
        "currentValue": current, "options": values,
    })
}

async fn opened(agent: &Agent, script: &mut Script, mut answer: Value) -> Session {
    answer["sessionId"] = json!(SESSION);
    let answering = async {
        let request = script.expect("session/new").await;
        script.answer(&request, answer).await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), answering);
    session.unwrap()
}

fn current(session: &Session) -> Value {
    let options = serde_json::to_value(session.config_options()).unwrap();
    options[0]["currentValue"].clone()
}

// Also: V1-MODE-08.
#[tokio::test]
async fn v1_mode_02_the_modes_of_a_version_1_agent_are_an_option() {
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let session = opened(&agent, &mut script, json!({ "modes": modes() })).await;
    assert_eq!(current(&session), "ask");
    assert!(matches!(
        session.set_mode("fly").await,
        Err(Error::Invalid { .. })
    ));
    script.silent().await;
    let answering = async {
        let request = script.expect("session/set_mode").await;
        assert_eq!(
            request["params"],
            json!({ "sessionId": SESSION, "modeId": "code" })
        );
        script.answer(&request, json!({})).await;
    };
    let (set, ()) = tokio::join!(session.set_mode("code"), answering);
    set.unwrap();
    assert_eq!(current(&session), "code");

    // The same through the option.
    let id = session.config_options()[0].config_id.clone();
    let answering = async {
        let request = script.expect("session/set_mode").await;
        assert_eq!(request["params"]["modeId"], "ask");
        script.answer(&request, json!(null)).await;
    };
    let (set, ()) = tokio::join!(session.set_config_option(id, "ask"), answering);
    set.unwrap();
    assert_eq!(current(&session), "ask");

    let mut events = session.events();
    script
        .update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "code" }))
        .await;
    assert!(matches!(
        heard(&mut events).await,
        Some(Event::ConfigOptions(_))
    ));
    assert_eq!(current(&session), "code");
}

#[tokio::test]
async fn v1_mode_06_options_hide_modes() {
    let (agent, mut script) = v1_with(Client::new(), json!({})).await;
    let model = option("model", "id", "model", "small", ["small", "large"]);
    let answer = json!({ "modes": modes(), "configOptions": [model] });
    let session = opened(&agent, &mut script, answer).await;
    assert_eq!(session.config_options().len(), 1);
    assert!(matches!(
        session.set_mode("code").await,
        Err(Error::NotOffered { .. })
    ));
    assert!(matches!(
        session.set_config_option("speed", "x").await,
        Err(Error::Invalid { .. })
    ));
    script.silent().await;
    let answering = async {
        let request = script.expect("session/set_config_option").await;
        let params = json!({ "sessionId": SESSION, "configId": "model", "value": "large" });
        assert_eq!(request["params"], params);
        let model = option("model", "id", "model", "large", ["small", "large"]);
        script
            .answer(&request, json!({ "configOptions": [model] }))
            .await;
    };
    let (set, ()) = tokio::join!(session.set_config_option("model", "large"), answering);
    set.unwrap();
    assert_eq!(current(&session), "large");
}

// Also: V2-CONF-02, V2-CONF-07.
#[tokio::test]
async fn the_mode_of_a_version_2_agent_is_set_through_its_option() {
    let (agent, mut script) = v2_with(Client::new(), json!({})).await;
    let mode = |current| option("m", "configId", "mode", current, ["ask", "code"]);
    let session = opened(
        &agent,
        &mut script,
        json!({ "configOptions": [mode("ask")] }),
    )
    .await;
    assert!(matches!(
        session.set_mode("fly").await,
        Err(Error::Invalid { .. })
    ));
    let answering = async {
        let request = script.expect("session/set_config_option").await;
        let params =
            json!({ "sessionId": SESSION, "configId": "m", "type": "id", "value": "code" });
        assert_eq!(request["params"], params);
        // The answer and a later update, written in one breath: the later one counts.
        script
            .answer(&request, json!({ "configOptions": [mode("code")] }))
            .await;
        let update = json!({
            "sessionUpdate": "config_option_update",
            "configOptions": [mode("ask")],
        });
        script.update(update).await;
    };
    let (set, ()) = tokio::join!(session.set_mode("code"), answering);
    set.unwrap();
    script.silent().await;
    assert_eq!(current(&session), "ask");
}
