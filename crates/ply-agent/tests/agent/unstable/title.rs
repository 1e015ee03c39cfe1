//! `session/set_title`: the user's name for a session, told to all, kept, and not replaced.

use serde_json::{Value, json};

use super::{INVALID_PARAMS, NOT_FOUND, actor, error, hears, listed, of, replayed, stages};
use crate::actor::run;
use crate::journals::Gated;
use crate::support::*;

fn named(session: &str, title: &str) -> Value {
    json!({"sessionId": session, "title": title})
}

/// Reads until the client is told of a title.
async fn told_title(client: &mut Client) -> Value {
    let is_it = |message: &Value| update(message)["title"].is_string();
    let seen = client.until(is_it).await;
    update(seen.last().unwrap())["title"].clone()
}

async fn set(client: &mut Client, session: &str, title: &str) -> Value {
    client.ok("session/set_title", named(session, title)).await
}

// Also: V1-INFO-01.
#[tokio::test]
async fn a_title_is_told_to_every_client_and_survives_the_agents_own_and_a_restart() {
    for stage in stages() {
        let server = stage.serve();
        let mut one = stage.connect(&server).await;
        let session = one.session().await;
        run(&mut one, &session, "everything").await;
        let mut other = stage.connect(&server).await;
        other.ok("session/resume", of(&session)).await;
        assert_eq!(told_title(&mut other).await, "A title");

        // Whoever sets it need not see the session.
        let mut third = stage.connect(&server).await;
        let answer = set(&mut third, &session, "  Plums\n and pears ").await;
        assert_eq!(answer, json!({"title": "Plums and pears"}));
        assert_eq!(told_title(&mut one).await, "Plums and pears");
        assert_eq!(told_title(&mut other).await, "Plums and pears");
        assert_eq!(
            listed(&mut third, json!({})).await[0]["title"],
            "Plums and pears"
        );

        // The agent's own title does not replace it.
        let seen = run(&mut one, &session, "everything").await;
        let titles = updates(&seen);
        let titles: Vec<_> = titles
            .iter()
            .filter(|it| it["title"] == "A title")
            .collect();
        assert!(titles.is_empty(), "{titles:?}");
        server.shutdown().await;

        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        assert_eq!(
            listed(&mut client, json!({})).await[0]["title"],
            "Plums and pears"
        );
        let seen = stage.load(&mut client, &session).await;
        let titles = updates(&seen);
        assert!(
            titles.iter().any(|it| it["title"] == "Plums and pears"),
            "{seen:#?}"
        );
        run(&mut client, &session, "everything").await;
        assert_eq!(
            listed(&mut client, json!({})).await[0]["title"],
            "Plums and pears"
        );
    }
}

#[tokio::test]
async fn a_session_that_is_not_open_is_named_without_opening_it() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        run(&mut client, &session, "say words").await;
        server.shutdown().await;

        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let openings = stage.openings();
        let before = listed(&mut client, json!({})).await;
        assert_eq!(
            set(&mut client, &session, "Plums").await,
            json!({"title": "Plums"})
        );
        let after = listed(&mut client, json!({})).await;
        assert_eq!(after[0]["title"], "Plums");
        assert_eq!(after[0]["updatedAt"], before[0]["updatedAt"]);
        assert_eq!(stage.openings(), openings);
        let seen = stage.load(&mut client, &session).await;
        assert!(updates(&seen).iter().any(|it| it["title"] == "Plums"));
        assert_eq!(replayed(&seen), "words");
    }
}

#[tokio::test]
async fn a_title_can_be_set_while_a_turn_runs_and_in_a_session_in_which_nothing_was_said() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let empty = client.session().await;
        set(&mut client, &empty, "Empty").await;
        let session = client.session().await;
        let prompt = client.prompt(&session, "say working\nwait").await;
        hears(&mut client, "working").await;
        set(&mut client, &session, "Busy").await;
        stage.actor.gate.add_permits(1);
        if !client.log.iter().any(|message| message["id"] == prompt) {
            client.answered(prompt).await;
        }
        client.leave().await;
        server.shutdown().await;
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let sessions = listed(&mut client, json!({})).await;
        let mut titles: Vec<_> = sessions
            .iter()
            .filter_map(|it| it["title"].as_str())
            .collect();
        titles.sort_unstable();
        assert_eq!(titles, ["Busy", "Empty"]);
    }
}

#[tokio::test]
async fn a_title_without_a_word_and_a_session_that_is_unknown_are_refused() {
    for stage in stages() {
        let server = stage.serve();
        let mut client = stage.connect(&server).await;
        let session = client.session().await;
        let nothing = [
            named(&session, ""),
            named(&session, " \n\t"),
            json!({"sessionId": session}),
            json!({"sessionId": session, "title": null}),
        ];
        for params in nothing {
            let code = client.fails("session/set_title", params.clone()).await;
            assert_eq!(code, INVALID_PARAMS, "{params}");
        }
        let unknown = error(&mut client, "session/set_title", named("sess-nope", "x")).await;
        assert_eq!(unknown["code"], NOT_FOUND);
        assert_eq!(unknown["data"]["sessionId"], "sess-nope");
        let long = set(&mut client, &session, &"é".repeat(1000)).await;
        assert_eq!(long["title"].as_str().unwrap().chars().count(), 256);
    }
}

#[tokio::test(start_paused = true)]
async fn a_title_that_cannot_be_stored_is_an_error_and_nobody_is_told_of_it() {
    let journal = Gated::open();
    let server = actor().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say words").await;
    journal.set_fails(true);
    let code = client
        .fails("session/set_title", named(&session, "Lost"))
        .await;
    assert_eq!(code, -32603);
    journal.set_fails(false);
    set(&mut client, &session, "Kept").await;
    assert_eq!(listed(&mut client, json!({})).await[0]["title"], "Kept");
    run(&mut client, &session, "say more").await;
    let titles = updates(&client.log);
    let titles: Vec<_> = titles
        .iter()
        .filter_map(|it| it["title"].as_str())
        .collect();
    assert_eq!(titles, ["Kept"]);
}
