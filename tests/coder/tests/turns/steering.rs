//! What the user says while a turn runs.

use coder_tests::{Gate, Reply, Setup, Tell as _, World, read_story};
use ply_agent::v2::StopReason;
use ply_client::{Session, Supported};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Sends words for the turn that runs, and returns what became of them.
async fn steer(world: &World, session: &Session, words: &str, meta: Value) -> Value {
    let prompt = [json!({ "type": "text", "text": words })];
    let params = json!({ "sessionId": session.id(), "prompt": prompt, "_meta": meta });
    world.agent.call("_session/steering", params).await.unwrap()
}

fn host_owned() -> Value {
    json!({ "steering": { "idleBehavior": "promptRequired" } })
}

fn stored(versions: Supported, store: &TempDir) -> Setup {
    Setup {
        versions,
        store: Some(store.path().join("sessions.db")),
        ..Setup::default()
    }
}

#[tokio::test]
async fn words_for_a_turn_reach_the_model_with_the_next_request() {
    for versions in [Supported::V1, Supported::V2] {
        let store = TempDir::new().unwrap();
        let gate = Gate::new();
        let script = [
            Reply::say("I look. ")
                .and_wait(&gate)
                .and_call("read_file", json!({ "path": "a.txt" })),
            Reply::say("In German then."),
            Reply::say("Yes."),
        ];
        let world = World::with(stored(versions, &store), script).await;
        let cwd = world.path();
        world.write("a.txt", "hello\n");
        let session = world.session().await;
        let turn = session.prompt("What is in a.txt?").await.unwrap();
        world.model.request(0).await;
        let told = steer(&world, &session, "/help in German, please", json!({})).await;
        assert_eq!(told, json!({ "outcome": "injected" }));
        gate.open();
        let story = read_story(&session, turn).await;
        assert_eq!(story.stop, Some(StopReason::EndTurn), "{story:#?}");
        assert_eq!(story.text, "I look. In German then.");
        let first = world.model.request(0).await.body.to_string();
        assert!(!first.contains("in German, please"), "{first}");
        let second = world.model.request(1).await;
        assert!(
            second.last_user_text().contains("in German, please"),
            "{:#?}",
            second.body
        );
        assert_eq!(second.tool_results().len(), 1);
        session.tell("Sure?").await;
        let same = json!(world.model.request(2).await.messages());
        let id = session.id().0.to_string();
        session.close().await.unwrap();

        // Another life is told the same.
        let world = World::with(stored(versions, &store), [Reply::say("On.")]).await;
        let session = world.agent.load_session(id, cwd).await.unwrap();
        session.tell("Go on").await;
        let again = world.model.request(0).await.messages().to_vec();
        let before = same.as_array().unwrap();
        let texts = |messages: &[Value]| {
            let all = json!(messages).to_string();
            all.matches("in German, please").count()
        };
        assert_eq!(texts(before), 1, "{before:#?}");
        assert_eq!(texts(&again), 1, "{again:#?}");
    }
}

#[tokio::test]
async fn words_that_come_with_the_last_answer_make_the_turn_go_on() {
    let gate = Gate::new();
    let script = [
        Reply::say("Done. ").and_wait(&gate),
        Reply::say("Done that too."),
    ];
    let world = World::new(script).await;
    let session = world.session().await;
    let turn = session.prompt("Go").await.unwrap();
    world.model.request(0).await;
    steer(&world, &session, "And the tests.", json!({})).await;
    gate.open();
    let story = read_story(&session, turn).await;
    assert_eq!(story.text, "Done. Done that too.", "{story:#?}");
    let last = world.model.request(1).await;
    assert_eq!(last.last_user_text(), "And the tests.");
}

#[tokio::test]
async fn without_a_turn_the_words_are_a_prompt_or_are_given_back() {
    let world = World::new([Reply::say("Hello.")]).await;
    let session = world.session().await;
    let told = steer(&world, &session, "Hi", host_owned()).await;
    assert_eq!(
        told,
        json!({ "outcome": "promptRequired", "reason": "noRunningTurn" })
    );
    assert_eq!(world.model.requests().len(), 0);
    let told = steer(&world, &session, "Hi", json!({})).await;
    assert_eq!(told, json!({ "outcome": "startedNewTurn" }));
    let request = world.model.request(0).await;
    assert_eq!(request.last_user_text(), "Hi");
}

#[tokio::test]
async fn words_at_the_very_end_of_a_turn_are_answered_all_the_same() {
    let store = TempDir::new().unwrap();
    let world = World::with(stored(Supported::V2, &store), []).await;
    let session = world.session().await;
    for round in 0..30 {
        world.model.push(Reply::say("Done."));
        world.model.push(Reply::say("Done."));
        let before = world.model.requests().len();
        let turn = session.prompt("Go on").await.unwrap();
        world.model.request(before).await;
        // The model has answered, or is about to.
        let words = format!("words {round}.");
        let told = steer(&world, &session, &words, host_owned()).await;
        read_story(&session, turn).await;
        if told["outcome"] == "injected" {
            let requests = world.model.requests();
            let heard = requests.last().unwrap().last_user_text();
            assert!(heard.contains(&words), "round {round}: {heard}");
        }
    }
}
