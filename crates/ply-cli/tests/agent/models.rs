//! Which model answers: what the environment selects, and what `ply models` lists.

use coder_tests::{Api, ModelServer, Reply, Tell as _};
use serde_json::Value;

use crate::place::{Launch, PLY, Place, soon};

/// Runs `ply models` with the environment of a launch, and returns what it prints.
async fn models(place: &Place, variables: &[(&str, &str)], arguments: &[&str]) -> (String, String) {
    let mut command = tokio::process::Command::new(PLY);
    command
        .arg("models")
        .args(arguments)
        .env_clear()
        .env("HOME", place.path("home"))
        .envs(variables.iter().copied());
    let done = soon(command.output()).await.unwrap();
    assert!(done.status.success(), "{done:?}");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(done.stdout), text(done.stderr))
}

/// Says something in a new session, and returns the answer.
async fn answer(place: &Place, launch: Launch) -> String {
    let agent = launch.client(ply_client::Client::new()).await;
    let session = soon(agent.new_session(place.project())).await.unwrap();
    session.tell("Who are you?").await.text
}

#[tokio::test]
async fn a_key_with_a_base_url_uses_the_gateway() {
    let place = Place::new();
    let script = [Reply::say("From the gateway."), Reply::say("And again.")];
    let server = ModelServer::start(script).await;
    let launch = place
        .agent()
        .set("OPENAI_BASE_URL", server.url(Api::Chat))
        .set("OPENAI_API_KEY", "gateway-key");
    assert_eq!(answer(&place, launch).await, "From the gateway.");
    let seen = server.request(0).await;
    assert_eq!(seen.header("authorization"), Some("Bearer gateway-key"));
    let launch = place
        .agent()
        .set("ANTHROPIC_BASE_URL", server.url(Api::Anthropic))
        .set("ANTHROPIC_AUTH_TOKEN", "gateway-token")
        .set("ANTHROPIC_MODEL", "house-model");
    assert_eq!(answer(&place, launch).await, "And again.");
    let seen = server.request(1).await;
    assert_eq!(seen.header("authorization"), Some("Bearer gateway-token"));
    assert_eq!(seen.body["model"], "house-model");
}

#[tokio::test]
async fn a_rejected_key_is_told_in_the_words_of_the_provider() {
    let place = Place::new();
    let server = ModelServer::start([Reply::status(401)]).await;
    let launch = place
        .agent()
        .set("OPENAI_BASE_URL", server.url(Api::Chat))
        .set("OPENAI_API_KEY", "wrong-key");
    let mut agent = launch.raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    let refused = agent.prompt(&id, "Hello").await.unwrap_err();
    let told = refused["message"].as_str().unwrap();
    assert!(told.contains("does not accept the key: \""), "{told}");
    assert!(told.contains("set `OPENAI_API_KEY`"), "{told}");
    assert!(!told.contains("wrong-key"), "{told}");
}

#[tokio::test]
async fn what_there_is_is_listed_with_the_default_marked() {
    let place = Place::new();
    let (listed, problems) = models(&place, &[], &[]).await;
    assert!(listed.starts_with("* offline"), "{listed}");
    assert!(listed.contains("ANTHROPIC_API_KEY"), "{listed}");
    assert_eq!(problems, "");
    let key = ("ANTHROPIC_API_KEY", "k");
    let (listed, _) = models(&place, &[key], &[]).await;
    assert!(
        listed.starts_with("* anthropic/claude-sonnet-5 "),
        "{listed}"
    );
    assert!(listed.contains("\n  offline"), "{listed}");
    let (listed, _) = models(&place, &[key, ("PLY_MODEL", "offline")], &[]).await;
    assert!(listed.contains("\n* offline"), "{listed}");
}

#[tokio::test]
async fn servers_of_the_user_are_asked_and_what_fails_is_said() {
    let place = Place::new();
    let server = ModelServer::start([]).await;
    server.set_models(&["qwen3", "llama3"]);
    let (url, ollama) = (server.url(Api::Chat), server.url(Api::Ollama));
    let variables = [("OPENAI_BASE_URL", url.as_str()), ("OLLAMA_HOST", &ollama)];
    let (listed, _) = models(&place, &variables, &["--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let rows = listed["models"].as_array().unwrap();
    let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    let expected = [
        "openai/qwen3",
        "openai/llama3",
        "ollama/qwen3",
        "ollama/llama3",
        "offline",
    ];
    assert_eq!(ids, expected);
    assert_eq!(rows[0]["isDefault"], true);
    assert!(rows.iter().all(|row| row["isFound"] == false), "{listed:#}");
    place.configure("[providers.far]\napi = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n");
    let (listed, problems) = models(&place, &[], &[]).await;
    assert!(listed.starts_with("* offline"), "{listed}");
    assert!(
        problems.starts_with("warning: far cannot be reached at `127.0.0.1:1`"),
        "{problems}"
    );
}
