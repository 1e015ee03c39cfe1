//! Which model a session has, and which there are to choose from.

use std::sync::Arc;

use coder_tests::{Api, ModelServer, Reply, Setup, Tell as _, World};
use ply_client::{Event, Session, v2};
use ply_coder::Config;
use ply_coder::config::ModelList;
use ply_coder::model::Facts;
use ply_coder::model::offline::Offline;
use ply_coder::model::service::{self, Service, ollama_model};
use tempfile::TempDir;

/// Returns the model of a session, and those to choose from.
fn models(session: &Session) -> (String, Vec<String>) {
    let options = session.config_options();
    let model = options
        .iter()
        .find(|option| &*option.config_id.0 == "model");
    let v2::SessionConfigKind::Select(select) = &model.unwrap().kind else {
        panic!("{options:?}");
    };
    let v2::SessionConfigSelectOptions::Ungrouped(offered) = &select.options else {
        panic!("{options:?}");
    };
    let offered = offered.iter().map(|option| option.value.0.to_string());
    (select.current_value.0.to_string(), offered.collect())
}

/// Waits until a session offers a model.
async fn offers(session: &Session, id: &str) {
    let mut events = session.events();
    while !models(session).1.iter().any(|offered| offered == id) {
        let event = events.next().await.map(|told| told.event);
        assert!(
            !matches!(event, None | Some(Event::Message(_))),
            "{event:?}"
        );
    }
}

/// Has an Ollama at an address asked for its models, as if the user had said where it is.
fn set_up_ollama(config: &mut Config, url: String) {
    config.lists = vec![ModelList::new(ollama_model(&url, "-"))];
    config.ollama_url = Some(url);
}

/// A world whose sessions are kept, with an Ollama at an address.
fn stored(place: &TempDir, ollama: Option<String>) -> Setup {
    Setup {
        api: Api::Chat,
        store: Some(place.path().join("sessions.db")),
        configure: Box::new(move |config| {
            if let Some(url) = ollama {
                set_up_ollama(config, url);
            }
        }),
        ..Setup::default()
    }
}

#[tokio::test]
async fn the_offline_model_is_the_last_choice() {
    let world = World::new([]).await;
    let session = world.session().await;
    let expected = ["scripted/model", "offline"].map(str::to_owned);
    assert_eq!(models(&session), (expected[0].clone(), expected.to_vec()));
}

#[tokio::test]
async fn the_offline_model_asks_no_service_when_it_comes_first() {
    let setup = Setup {
        configure: Box::new(|config| config.models.insert(0, Arc::new(Offline::new()))),
        ..Setup::default()
    };
    let world = World::with(setup, []).await;
    let session = world.session().await;
    let expected = ["offline", "scripted/model"].map(str::to_owned);
    assert_eq!(models(&session), (expected[0].clone(), expected.to_vec()));
    let story = session.tell("What is love?").await;
    assert!(!story.text.is_empty(), "{story:#?}");
    assert_eq!(world.model.requests().len(), 0);
}

#[tokio::test]
async fn every_session_hears_of_the_models_of_ollama() {
    let ollama = ModelServer::start([]).await;
    let url = ollama.url(Api::Ollama);
    let setup = Setup {
        configure: Box::new(move |config| set_up_ollama(config, url)),
        ..Setup::default()
    };
    let world = World::with(setup, []).await;
    let first = world.session().await;
    // Pulled while the agent runs.
    ollama.set_models(&["qwen3"]);
    let second = world.session().await;
    offers(&second, "ollama/qwen3").await;
    ollama.set_models(&["qwen3", "llama3"]);
    let third = world.session().await;
    offers(&third, "ollama/llama3").await;
    let expected = ["scripted/model", "ollama/qwen3", "ollama/llama3", "offline"];
    let expected = expected.map(str::to_owned).to_vec();
    assert_eq!(models(&third), ("scripted/model".to_owned(), expected));
    assert_eq!(models(&first).0, "scripted/model");
}

#[tokio::test]
async fn a_session_stays_with_its_local_model_when_ollama_is_slow_to_answer() {
    let place = TempDir::new().unwrap();
    let ollama = ModelServer::start([Reply::say("From here.")]).await;
    ollama.set_models(&["qwen3"]);
    let url = ollama.url(Api::Ollama);
    let first = World::with(stored(&place, Some(url.clone())), []).await;
    let cwd = first.path();
    let session = first.session().await;
    offers(&session, "ollama/qwen3").await;
    session
        .set_config_option("model", v2::SessionConfigOptionValue::from("ollama/qwen3"))
        .await
        .unwrap();
    let id = session.id().0.to_string();
    session.close().await.unwrap();

    // It lists nothing now, as if it had not come up yet.
    ollama.set_models(&[]);
    let second = World::with(stored(&place, Some(url)), [Reply::say("From afar.")]).await;
    let session = second.agent.load_session(id, cwd).await.unwrap();
    assert_eq!(models(&session).0, "ollama/qwen3");
    let story = session.tell("Who are you?").await;
    assert_eq!(story.text, "From here.", "{story:#?}");
    assert!(story.notices.is_empty(), "{story:#?}");
    assert_eq!(second.model.requests().len(), 0);
}

#[tokio::test]
async fn a_session_whose_model_is_gone_says_which_it_goes_on_with() {
    let place = TempDir::new().unwrap();
    let setup = Setup {
        facts: Box::new(|facts| facts.id = "gone/model".to_owned()),
        ..stored(&place, None)
    };
    let first = World::with(setup, []).await;
    let cwd = first.path();
    let session = first.session().await;
    session.tell("/mode full").await;
    let id = session.id().0.to_string();
    session.close().await.unwrap();

    let script = [Reply::say("Here."), Reply::say("Still here.")];
    let second = World::with(stored(&place, None), script).await;
    let session = second.agent.load_session(id, cwd).await.unwrap();
    assert_eq!(models(&session).0, "scripted/model");
    let story = session.tell("Who are you?").await;
    assert_eq!(
        story.notices,
        [
            "The model `gone/model` of this session is not there any more; it goes on with `scripted/model`."
        ]
    );
    // The rest of what was chosen holds, and once is enough.
    let story = session.tell("/mode").await;
    assert!(story.text.contains("full"), "{story:#?}");
    assert!(story.notices.is_empty(), "{story:#?}");
}

/// A world without a model of its own, with an Ollama at an address.
fn keyless(url: String, offline: bool) -> Setup {
    Setup {
        configure: Box::new(move |config| {
            config.models.clear();
            if offline {
                config.models.push(Arc::new(Offline::new()));
            }
            set_up_ollama(config, url);
        }),
        ..Setup::default()
    }
}

#[tokio::test]
async fn a_server_that_nobody_set_up_is_not_even_asked() {
    // Whoever listens there may be anybody on this machine.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    port.set_nonblocking(true).unwrap();
    let url = format!("http://{}", port.local_addr().unwrap());
    let setup = Setup {
        configure: Box::new(move |config| {
            config.models.clear();
            config.ollama_url = Some(url);
        }),
        ..Setup::default()
    };
    let world = World::with(setup, []).await;
    let session = world.session().await;
    let story = session.tell("What is love?").await;
    assert!(story.text.contains("offline model"), "{story:#?}");
    assert_eq!(models(&session).0, "offline");
    let connected = port.accept().map(|(_, who)| who);
    assert_eq!(
        connected.unwrap_err().kind(),
        std::io::ErrorKind::WouldBlock
    );
}

/// A world with a gateway of which two models are assumed.
fn gateway(gateway: &ModelServer) -> Setup {
    let mut service = Service::new(service::Api::OpenAi, "-", Facts::new("gateway/-"));
    service.base_url = Some(gateway.url(Api::Chat));
    service.key = Some(service::Secret::new("test-key"));
    let assumed = ["usual", "other"].map(|name| service.with_model(name));
    let mut list = ModelList::new(service);
    list.assumed = assumed.iter().map(|it| it.facts.id.clone()).collect();
    Setup {
        configure: Box::new(move |config| {
            config.models = assumed.map(service::open).to_vec();
            config.lists = vec![list];
        }),
        ..Setup::default()
    }
}

#[tokio::test]
async fn a_gateway_without_the_usual_model_is_asked_for_one_that_it_has() {
    let server = ModelServer::start([Reply::say("From the gateway.")]).await;
    server.set_models(&["text-embedding-3", "qwen3", "llama3"]);
    let world = World::with(gateway(&server), []).await;
    let session = world.session().await;
    assert_eq!(session.tell("Who are you?").await.text, "From the gateway.");
    let expected = ["gateway/qwen3", "gateway/llama3", "offline"].map(str::to_owned);
    assert_eq!(models(&session), (expected[0].clone(), expected.to_vec()));
    assert_eq!(server.request(0).await.body["model"], "qwen3");
}

#[tokio::test]
async fn a_gateway_with_the_usual_model_is_asked_for_that() {
    let server = ModelServer::start([Reply::say("From the gateway.")]).await;
    server.set_models(&["qwen3", "usual"]);
    let world = World::with(gateway(&server), []).await;
    let session = world.session().await;
    session.tell("Who are you?").await;
    let expected = ["gateway/usual", "gateway/qwen3", "offline"].map(str::to_owned);
    assert_eq!(models(&session), (expected[0].clone(), expected.to_vec()));
    assert_eq!(server.request(0).await.body["model"], "usual");
}

#[tokio::test]
async fn a_gateway_that_lists_nothing_is_asked_for_the_usual_model() {
    let server = ModelServer::start([Reply::say("From the gateway.")]).await;
    let world = World::with(gateway(&server), []).await;
    world.turn("Who are you?").await;
    assert_eq!(server.request(0).await.body["model"], "usual");
}

#[tokio::test]
async fn what_is_set_up_and_cannot_be_used_is_said_when_the_offline_model_answers() {
    let setup = Setup {
        configure: Box::new(|config| {
            config.models.clear();
            config.problems = vec!["The key is gone.".to_owned()];
            let mut nowhere = Service::new(service::Api::OpenAi, "-", Facts::new("local/-"));
            nowhere.base_url = Some("http://127.0.0.1:1/v1".to_owned());
            nowhere.own_address = true;
            config.lists = vec![ModelList::new(nowhere)];
        }),
        ..Setup::default()
    };
    let world = World::with(setup, []).await;
    let session = world.session().await;
    let story = session.tell("hello").await;
    assert_eq!(story.notices.len(), 2, "{story:#?}");
    assert_eq!(
        story.notices[0],
        "The key is gone. The offline model answers instead."
    );
    let second = &story.notices[1];
    assert!(
        second.starts_with("The models of `local` are not known: "),
        "{second}"
    );
    assert!(second.contains("--model local/NAME"), "{second}");
    // Once is enough.
    assert!(session.tell("hello").await.notices.is_empty());
}

#[tokio::test]
async fn a_session_without_a_prompt_goes_from_offline_to_ollama() {
    let ollama = ModelServer::start([Reply::say("From here."), Reply::say("Again.")]).await;
    ollama.set_models(&["qwen3", "llama3"]);
    let world = World::with(keyless(ollama.url(Api::Ollama), false), []).await;
    let session = world.session().await;
    offers(&session, "ollama/llama3").await;
    let expected = ["ollama/qwen3", "ollama/llama3", "offline"].map(str::to_owned);
    assert_eq!(models(&session), (expected[0].clone(), expected.to_vec()));
    assert_eq!(session.tell("Who are you?").await.text, "From here.");
    // The next one begins with it.
    let session = world.session().await;
    assert_eq!(models(&session).0, "ollama/qwen3");
}

#[tokio::test]
async fn a_prompt_that_comes_at_once_goes_to_ollama_too() {
    let ollama = ModelServer::start([Reply::say("From here.")]).await;
    ollama.set_models(&["qwen3"]);
    let world = World::with(keyless(ollama.url(Api::Ollama), false), []).await;
    assert_eq!(world.turn("Who are you?").await.text, "From here.");
}

#[tokio::test]
async fn who_chose_to_be_offline_stays_so() {
    let ollama = ModelServer::start([]).await;
    ollama.set_models(&["qwen3"]);
    let url = ollama.url(Api::Ollama);
    let world = World::with(keyless(url.clone(), true), []).await;
    let session = world.session().await;
    session.tell("Who are you?").await;
    assert_eq!(
        models(&session),
        ("offline".to_owned(), vec!["offline".to_owned()])
    );

    let world = World::with(keyless(url, false), []).await;
    let session = world.session().await;
    session
        .set_config_option("model", v2::SessionConfigOptionValue::from("offline"))
        .await
        .unwrap();
    offers(&session, "ollama/qwen3").await;
    assert_eq!(models(&session).0, "offline");
}
