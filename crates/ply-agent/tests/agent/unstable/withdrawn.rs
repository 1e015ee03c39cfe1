//! `$/cancel_request` of a title or a fork: answered at once, also while the journal does not answer.

use std::time::Duration;

use ply_agent::Server;
use serde_json::{Value, json};

use super::{actor, listed, of};
use crate::actor::run;
use crate::journals::Gated;
use crate::support::*;

/// What does not depend on the journal takes less, under paused time.
const SOON: Duration = Duration::from_millis(250);
/// Longer than anything waits for a journal, but for the journal.
const LONG: Duration = Duration::from_secs(600);

/// Where the session is whose journal does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// A prompt waits to be written.
    Open,
    /// A client waits for it to be opened.
    Opening,
    /// Nobody wants it but whoever changes or copies it.
    Stored,
}

/// Returns a session with a title, whose journal does not answer any more.
async fn stuck(at: At) -> (Server, Gated, Client, String) {
    let journal = Gated::open();
    let server = actor().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say kept").await;
    let named = json!({"sessionId": session, "title": "Before"});
    client.ok("session/set_title", named).await;
    let of_it = json!({"sessionId": session});
    match at {
        At::Open => {
            journal.set_open(false);
            client.prompt(&session, "say stuck").await;
            journal.waiting().await;
        }
        At::Opening => {
            client.ok("session/close", of_it).await;
            journal.set_opens(false);
            client.ask("session/resume", of(&session)).await;
            journal.waiting().await;
        }
        At::Stored => {
            client.ok("session/close", of_it).await;
            journal.set_opens(false);
        }
    }
    (server, journal, client, session)
}

/// Takes a request back, and makes sure that it is answered at once.
async fn take_back(client: &mut Client, request: i64) {
    // Until it is where it waits.
    tokio::time::sleep(SOON).await;
    let is_it = |message: &Value| message["id"] == request;
    assert!(!client.log.iter().any(is_it), "{:#?}", client.log);
    let cancel = json!({"requestId": request});
    client.notify("$/cancel_request", cancel).await;
    let answered = tokio::time::timeout(SOON, client.answered(request)).await;
    let answer = answered.expect("it waits for the journal").pop().unwrap();
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
}

async fn answers_again(journal: &Gated) {
    journal.set_open(true);
    journal.set_opens(true);
    tokio::time::sleep(LONG).await;
}

#[tokio::test(start_paused = true)]
async fn a_fork_can_be_taken_back_while_the_journal_does_not_answer() {
    for at in [At::Open, At::Opening, At::Stored] {
        let (_server, journal, mut client, session) = stuck(at).await;
        let fork = client.ask("session/fork", of(&session)).await;
        take_back(&mut client, fork).await;
        answers_again(&journal).await;
        let sessions = listed(&mut client, json!({})).await;
        assert_eq!(sessions.len(), 1, "{at:?} {sessions:#?}");
        // The source goes on.
        if at == At::Stored {
            client.ok("session/resume", of(&session)).await;
        }
        run(&mut client, &session, "say on").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_title_can_be_taken_back_while_the_journal_does_not_answer() {
    for at in [At::Open, At::Opening, At::Stored] {
        let (_server, journal, mut client, session) = stuck(at).await;
        let named = json!({"sessionId": session, "title": "After"});
        let title = client.ask("session/set_title", named).await;
        take_back(&mut client, title).await;
        answers_again(&journal).await;
        let sessions = listed(&mut client, json!({})).await;
        // One that is with the journal already may be set all the same.
        if at != At::Open {
            assert_eq!(sessions[0]["title"], "Before", "{at:?} {sessions:#?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_title_that_is_taken_back_holds_up_nobody_who_waits_behind_it() {
    let (_server, journal, mut client, session) = stuck(At::Stored).await;
    let named = |title: &str| json!({"sessionId": session, "title": title});
    let first = client.ask("session/set_title", named("First")).await;
    let second = client.ask("session/set_title", named("Second")).await;
    let third = client.ask("session/set_title", named("Third")).await;
    take_back(&mut client, second).await;
    take_back(&mut client, first).await;
    journal.set_opens(true);
    let answer = client.answered(third).await.pop().unwrap();
    assert_eq!(answer["result"]["title"], "Third", "{answer}");
    assert_eq!(listed(&mut client, json!({})).await[0]["title"], "Third");
}
