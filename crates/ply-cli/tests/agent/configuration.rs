//! What the user configures, and how the user hears of what is wrong with it.

use coder_tests::{ModelServer, Reply, Tell as _};
use serde_json::{Value, json};

use crate::place::{Launch, Place};

/// Returns the error that a session is refused with. The agent itself must have started.
async fn refusal(place: &Place, launch: Launch) -> Value {
    let mut agent = launch.raw();
    let hello = agent.hello_v1().await;
    assert_eq!(hello["agentInfo"]["name"], "ply");
    let setup = json!({ "cwd": place.project(), "mcpServers": [] });
    agent.call("session/new", setup).await.unwrap_err()
}

#[track_caller]
fn says(refusal: &Value, words: &[&str]) {
    let said = refusal["message"].as_str().unwrap();
    for part in words {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
}

#[tokio::test]
async fn a_broken_configuration_refuses_sessions_with_its_line() {
    let place = Place::new();
    place.configure("mode = \"ask\"\nmodel = = 1\n");
    let refused = refusal(&place, place.agent()).await;
    says(&refused, &["config.toml", "line 2"]);
}

#[tokio::test]
async fn a_misspelt_key_refuses_sessions_with_what_was_meant() {
    let place = Place::new();
    place.configure("\n\nmodle = \"offline\"\n");
    let refused = refusal(&place, place.agent()).await;
    says(
        &refused,
        &["config.toml", "line 3", "did you mean", "`model`"],
    );
}

#[tokio::test]
async fn an_unknown_model_is_refused_with_what_there_is() {
    let place = Place::new();
    let launch = |model| place.agent().with(["--model", model]);
    let refused = refusal(&place, launch("anthropik/claude")).await;
    says(&refused, &["anthropik", "did you mean `anthropic`"]);
    // It was an argument, not a variable.
    says(&refused, &["--model"]);
    let refused = refusal(&place, launch("nonsense")).await;
    says(&refused, &["provider/name"]);
    let by_variable = place.agent().set("PLY_MODEL", "nonsense");
    says(&refusal(&place, by_variable).await, &["PLY_MODEL"]);
}

#[tokio::test]
async fn an_unknown_mode_is_refused_with_the_modes() {
    let place = Place::new();
    let refused = refusal(&place, place.agent().with(["--mode", "yolo"])).await;
    says(&refused, &["yolo", "plan, ask, auto-edit or full"]);
}

#[tokio::test]
async fn a_configuration_that_was_named_must_be_there() {
    let place = Place::new();
    let named = place.agent().with(["--config", "/no/such.toml"]);
    says(&refusal(&place, named).await, &["/no/such.toml"]);
    let by_variable = place.agent().set("PLY_CONFIG", "/no/such.toml");
    says(&refusal(&place, by_variable).await, &["/no/such.toml"]);
}

#[tokio::test]
async fn the_configuration_can_be_elsewhere() {
    let place = Place::new();
    place.configure("mode = \"plan\"\n");
    let elsewhere = place.path("mine.toml");
    std::fs::write(&elsewhere, "mode = \"full\"\n").unwrap();
    let mode = async |launch: Launch| {
        let mut agent = launch.raw();
        agent.hello_v1().await;
        let setup = json!({ "cwd": place.project(), "mcpServers": [] });
        let opened = agent.call("session/new", setup).await.unwrap();
        opened["modes"]["currentModeId"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(mode(place.agent()).await, "plan");
    assert_eq!(
        mode(place.agent().set("PLY_CONFIG", &elsewhere)).await,
        "full"
    );
    let named = place
        .agent()
        .with(["--config", elsewhere.to_str().unwrap()]);
    assert_eq!(mode(named.clone()).await, "full");
    assert_eq!(mode(named.with(["--mode", "auto-edit"])).await, "auto-edit");
    let xdg = place.path("xdg");
    std::fs::create_dir_all(xdg.join("ply")).unwrap();
    std::fs::write(xdg.join("ply/config.toml"), "mode = \"auto-edit\"\n").unwrap();
    assert_eq!(
        mode(place.agent().set("XDG_CONFIG_HOME", &xdg)).await,
        "auto-edit"
    );
}

#[tokio::test]
async fn a_key_that_is_not_taken_asks_for_one_and_names_its_variable() {
    let place = Place::new();
    let model = ModelServer::start([Reply::status(401)]).await;
    place.configure_model(&model, "");
    let mut agent = place.agent().raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    let refused = agent.prompt(&id, "Hello").await.unwrap_err();
    assert_eq!(refused["code"], -32000, "{refused}");
    says(&refused, &["does not accept the key", "SCRIPTED_KEY"]);
    assert!(!refused.to_string().contains("test-key"), "{refused}");
    // The session is none the worse.
    model.push(Reply::say("There you are."));
    let stop = agent.prompt(&id, "And now?").await.unwrap();
    assert_eq!(stop["stopReason"], "end_turn");
}

#[tokio::test]
async fn a_key_that_is_missing_is_asked_for_by_its_variable() {
    let place = Place::new();
    let model = ModelServer::start([Reply::status(401)]).await;
    place.configure_model(&model, "");
    let mut agent = place.agent().set("SCRIPTED_KEY", "").raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    let refused = agent.prompt(&id, "Hello").await.unwrap_err();
    assert_eq!(refused["code"], -32000, "{refused}");
    says(&refused, &["SCRIPTED_KEY"]);
}

#[tokio::test]
async fn commands_do_not_see_the_keys() {
    let place = Place::new();
    let launch = place.agent().with(["--model", "offline"]);
    let launch = launch.set("ANTHROPIC_API_KEY", "sk-secret");
    let agent = launch.client(ply_client::Client::new()).await;
    let session = agent.new_session(place.project()).await.unwrap();
    let story = session.tell("run env").await;
    let told = story.told().join("\n");
    assert!(
        told.contains("PATH=") && !told.contains("sk-secret"),
        "{story:#?}"
    );
}

#[tokio::test]
async fn instructions_reach_the_model() {
    let place = Place::new();
    let model = ModelServer::start([Reply::say("Yes.")]).await;
    place.configure_model(&model, "instructions = \"Speak like a pirate.\"");
    place.session().await.tell("Hello").await;
    let system = model.request(0).await.system();
    assert!(system.contains("Speak like a pirate."), "{system}");
}

#[tokio::test]
async fn prices_lie_beside_the_configuration() {
    let place = Place::new();
    let model = ModelServer::start([Reply::say("Yes.")]).await;
    place.configure_model(&model, "");
    let prices = "[\"scripted/claude-sonnet-4-5\"]\ninput = 1000\noutput = 500\n";
    let path = place.path("home/.config/ply/prices.toml");
    std::fs::write(&path, prices).unwrap();
    let story = place.session().await.tell("Hello").await;
    let cost = story.usage.unwrap().cost;
    let cost = cost.value().map(|cost| (cost.amount, &*cost.currency));
    // 100 tokens of input and 20 of output.
    assert_eq!(cost, Some((0.11, "USD")));
    std::fs::write(&path, "\nprice = 1\n").unwrap();
    let refused = refusal(&place, place.agent()).await;
    says(&refused, &["home/.config/ply/prices.toml", "line 2"]);
}
