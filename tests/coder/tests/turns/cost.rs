//! What a session costs.

use coder_tests::{Api, Reply, Setup, Story, Tell as _, Usage, World};
use ply_coder::model::prices::Price;
use serde_json::json;
use tempfile::TempDir;

/// A world whose model costs 2 dollars for a million tokens of input, 10 for output, 1 for cached input and 4 for cache writes.
fn priced(store: Option<&TempDir>) -> Setup {
    Setup {
        store: store.map(|store| store.path().join("sessions.db")),
        configure: Box::new(|config| {
            let price = Price::new(2.0, 10.0, Some(1.0), Some(4.0));
            config.prices.add("scripted/model", price);
        }),
        ..Setup::default()
    }
}

fn usage(input: u64, cached: u64, written: u64, output: u64) -> Usage {
    Usage {
        input,
        output,
        cached,
        written,
    }
}

/// Returns what the session cost, what the turn did, and how many tokens of the last request were cached.
fn cost(story: &Story) -> (Option<f64>, Option<f64>, Option<u64>) {
    let usage = story.usage.as_ref().unwrap();
    let ours = usage.meta.as_ref().and_then(|meta| meta.get("ply"));
    let ours = ours.cloned().unwrap_or_default();
    (
        usage.cost.value().map(|cost| cost.amount),
        ours["turnCost"]["amount"].as_f64(),
        ours["cachedTokens"].as_u64(),
    )
}

#[tokio::test]
async fn every_request_of_a_turn_adds_to_the_cost_of_turn_and_session() {
    let task = json!({ "description": "Look", "prompt": "What is here?" });
    let script = [
        Reply::call("task", task).usage(usage(100_000, 0, 50_000, 1_000)),
        // That of the sub-agent.
        Reply::say("Nothing.").usage(usage(10_000, 0, 0, 1_000)),
        Reply::say("Done.").usage(usage(101_000, 50_000, 0, 100)),
        Reply::say("Again.").usage(usage(1_000, 0, 0, 0)),
        Reply::say("And again.").usage(usage(1_000, 0, 0, 0)),
    ];
    let store = TempDir::new().unwrap();
    let world = World::with(priced(Some(&store)), script).await;
    let cwd = world.path();
    let session = world.session().await;
    // 0.1 + 0.2 + 0.01, 0.02 + 0.01, 0.102 + 0.05 + 0.001
    let story = session.tell("Go").await;
    assert_eq!(cost(&story), (Some(0.493), Some(0.493), Some(50_000)));
    assert_eq!(story.usage.as_ref().unwrap().used, 101_100);
    let story = session.tell("Again").await;
    assert_eq!(cost(&story), (Some(0.495), Some(0.002), None));
    let id = session.id().0.to_string();
    session.close().await.unwrap();

    let script = [Reply::say("On.").usage(usage(1_000, 0, 0, 0))];
    let world = World::with(priced(Some(&store)), script).await;
    let session = world.agent.load_session(id, cwd).await.unwrap();
    let story = session.tell("Go on").await;
    assert_eq!(cost(&story), (Some(0.497), Some(0.002), None));
}

#[tokio::test]
async fn cached_tokens_are_counted_with_every_api() {
    for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Gemini] {
        let script = [Reply::say("Done.").usage(usage(10_000, 4_000, 0, 0))];
        let setup = Setup {
            api,
            ..priced(None)
        };
        let story = World::with(setup, script).await.turn("Go").await;
        assert_eq!(
            cost(&story),
            (Some(0.016), Some(0.016), Some(4_000)),
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn a_model_without_a_price_has_no_cost() {
    let script = [Reply::say("Done.").usage(usage(10_000, 4_000, 0, 0))];
    let story = World::new(script).await.turn("Go").await;
    assert_eq!(cost(&story), (None, None, Some(4_000)));
}

#[tokio::test]
async fn a_summary_costs_something_too() {
    let script = [
        Reply::say("Done.").usage(usage(10_000, 0, 0, 0)),
        Reply::say("## Goal\nNone").usage(usage(10_000, 0, 0, 100)),
    ];
    let world = World::with(priced(None), script).await;
    let session = world.session().await;
    session.tell("Go").await;
    let story = session.tell("/compact").await;
    assert_eq!(cost(&story), (Some(0.041), Some(0.021), None));
}
