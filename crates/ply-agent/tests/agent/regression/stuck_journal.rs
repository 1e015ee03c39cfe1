//! A journal that does not answer holds up what has to be safe first, and nothing else.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ply_agent::{Agent, Result, Server, Stop, Turn};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::of;
use crate::actor::{Actor, hear, run};
use crate::journals::Gated;
use crate::script::Version::V2;
use crate::script::*;
use crate::support::*;

/// What does not depend on the journal takes less, under paused time.
const SOON: Duration = Duration::from_millis(250);
/// Longer than anything waits for a journal, but for the journal.
const LONG: Duration = Duration::from_secs(600);
/// How long closing a session may wait for its journal: for what was said last, and for the end.
const CLOSE_TIME: Duration = Duration::from_secs(11);

/// Says `going`, begins to edit once it is told to or allowed to, and waits for the cancel; echoes other prompts.
#[derive(Clone, Default)]
struct Worker {
    started: Arc<AtomicUsize>,
    edits: Arc<Notify>,
    /// How often something was done that needs a safe beginning, or a safe approval.
    edited: Arc<AtomicUsize>,
    /// When the code heard of its cancel.
    heard: Arc<Mutex<Option<Instant>>>,
}

impl Worker {
    async fn edit(&self, turn: &Turn) -> Result<()> {
        turn.say("going").await?;
        let call = match &*turn.prompt().text() {
            "ask" => {
                let call = turn.tool_call("Edit").await?;
                assert!(call.ask_with("May I?").await?.is_allowed());
                self.edited.fetch_add(1, Ordering::Relaxed);
                call
            }
            _ => {
                self.edits.notified().await;
                turn.tool_call("Edit").await?
            }
        };
        call.start().await?;
        self.edited.fetch_add(1, Ordering::Relaxed);
        call.finish().await
    }
}

impl Agent for Worker {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let text = turn.prompt().text();
        if text != "work" && text != "ask" {
            turn.say(format!("heard {text}")).await?;
            return Ok(Stop::EndTurn);
        }
        self.started.fetch_add(1, Ordering::Relaxed);
        let edited = self.edit(turn).await;
        turn.cancelled().await;
        *self.heard.lock().unwrap() = Some(Instant::now());
        edited.map(|()| Stop::EndTurn)
    }
}

/// Where the journal stops answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Where the session of the first prompt is created.
    Create,
    /// At the append that holds the first prompt.
    Prompt,
    /// In the middle of the turn, before its tool call is safe.
    ToolCall,
}

const EVERYWHERE: [At; 3] = [At::Create, At::Prompt, At::ToolCall];

/// A session whose journal does not answer, and the client whose prompt waits for it.
struct Stuck {
    worker: Worker,
    journal: Gated,
    server: Server,
    owner: Talk,
    prompt: i64,
}

async fn stuck(version: Version, at: At) -> Stuck {
    let (worker, journal) = (Worker::default(), Gated::open());
    let server = ply_agent::serve(worker.clone()).journal(journal.clone());
    let mut owner = talk_with(version, &server, json!({})).await;
    match at {
        At::Create => journal.set_opens(false),
        At::Prompt => journal.set_open(false),
        At::ToolCall => {}
    }
    let prompt = owner.prompt("work").await;
    if at == At::ToolCall {
        owner.hears("going").await;
        // Until what the turn has so far is safe.
        tokio::time::sleep(SOON).await;
        journal.set_open(false);
        worker.edits.notify_one();
    }
    let waits_for = match at {
        At::Create => "create",
        At::Prompt => "work",
        At::ToolCall => "Edit",
    };
    assert!(journal.waiting().await.contains(waits_for));
    Stuck {
        worker,
        journal,
        server,
        owner,
        prompt,
    }
}

impl Stuck {
    fn answers_again(&self) {
        self.journal.set_opens(true);
        self.journal.set_open(true);
    }
}

impl Worker {
    /// Makes sure that the code hears of a cancel that is sent now.
    async fn hears_soon(&self) {
        let now = Instant::now();
        tokio::time::sleep(SOON).await;
        let heard = *self.heard.lock().unwrap();
        assert!(heard.expect("the code heard of the cancel") - now < SOON);
    }
}

/// Waits for what must not depend on the journal.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(SOON, what).await;
    done.expect("it waits for the journal")
}

/// Waits for long, and makes sure that nothing was acknowledged.
async fn acknowledges_nothing(talk: &mut Talk) {
    tokio::time::sleep(LONG).await;
    while let Ok(message) = tokio::time::timeout(SOON, talk.client.next()).await {
        let message = message.expect("the agent stays");
        let state = &update(&message)["state"];
        assert!(message.get("method").is_some(), "an answer: {message}");
        assert!(state != "idle" && state != "running", "{message}");
        talk.log.push(message);
    }
}

/// Makes sure that the session goes on as if nothing had been.
async fn goes_on(talk: &mut Talk) {
    let ended = talk.turn("next").await;
    assert_eq!(ended.stop, "end_turn");
    assert_eq!(said(&ended.seen), "heard next");
    talk.is_quiet().await;
}

async fn cancelled_in_mid_turn(version: Version, by_another: bool) {
    let mut stuck = stuck(version, At::ToolCall).await;
    let mut other = soon(join(version, &stuck.server, &stuck.owner.session)).await;
    match by_another {
        true => other.cancel().await,
        false => stuck.owner.cancel().await,
    }
    stuck.worker.hears_soon().await;

    // The end is told once it is safe, and the tool whose beginning was not safe never ran.
    acknowledges_nothing(&mut stuck.owner).await;
    acknowledges_nothing(&mut other).await;
    stuck.answers_again();
    assert_eq!(stuck.owner.end(stuck.prompt).await.stop, "cancelled");
    assert_eq!(stuck.worker.edited.load(Ordering::Relaxed), 0);
    goes_on(&mut stuck.owner).await;
    other.hears("heard next").await;
}

#[tokio::test(start_paused = true)]
async fn c3_a_cancel_reaches_the_code_while_the_journal_does_not_answer() {
    for version in BOTH {
        cancelled_in_mid_turn(version, false).await;
        cancelled_in_mid_turn(version, true).await;
    }
}

#[tokio::test(start_paused = true)]
async fn c3_a_cancel_of_a_prompt_that_is_not_safe_yet_never_starts_the_code() {
    for version in BOTH {
        for at in [At::Create, At::Prompt] {
            let mut stuck = stuck(version, at).await;
            stuck.owner.cancel().await;
            tokio::time::sleep(LONG).await;
            stuck.owner.is_quiet().await;
            stuck.answers_again();
            let stop = stuck.owner.end(stuck.prompt).await.stop;
            assert_eq!(stop, "cancelled", "{version:?} {at:?}");
            assert_eq!(stuck.worker.started.load(Ordering::Relaxed), 0);
            goes_on(&mut stuck.owner).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c3_sessions_are_listed_and_loaded_while_the_journal_does_not_answer() {
    for version in BOTH {
        for at in EVERYWHERE {
            let mut stuck = stuck(version, at).await;
            let session = stuck.owner.session.clone();
            let mut joined = Vec::new();
            for version in BOTH {
                let mut other = soon(join(version, &stuck.server, &session)).await;
                let listed = soon(other.client.ok("session/list", json!({}))).await;
                let ids = listed["sessions"].as_array().unwrap().iter();
                let ids: Vec<&Value> = ids.map(|listed| &listed["sessionId"]).collect();
                assert_eq!(ids, [&json!(session)], "{at:?}");
                // It is shown what is safe, so not a prompt that may be lost.
                let shown: Vec<_> = other.knows().messages().map(|m| m.text()).collect();
                let safe: &[&str] = match at {
                    At::ToolCall => &["work", "going"],
                    _ => &[],
                };
                assert_eq!(shown, safe, "{at:?}");
                acknowledges_nothing(&mut other).await;
                joined.push(other);
            }
            stuck.answers_again();
            stuck.worker.edits.notify_one();
            stuck
                .owner
                .until(|message| update(message)["status"] == "completed")
                .await;
            stuck.owner.cancel().await;
            assert_eq!(stuck.owner.end(stuck.prompt).await.stop, "cancelled");
            goes_on(&mut stuck.owner).await;
            // In the end everybody has seen the same, as if the journal had been quick.
            let whole = join(V2, &stuck.server, &session).await.knows();
            for mut other in joined {
                other.hears("heard next").await;
                assert_eq!(other.knows(), whole, "{version:?} {at:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c3_an_approval_that_is_not_safe_allows_nothing_and_does_not_hold_up_a_cancel() {
    for version in BOTH {
        let (worker, journal) = (Worker::default(), Gated::open());
        let server = ply_agent::serve(worker.clone()).journal(journal.clone());
        let mut talk = talk_with(version, &server, json!({})).await;
        let prompt = talk.prompt("ask").await;
        let question = talk.method("session/request_permission").await;
        tokio::time::sleep(SOON).await;
        journal.set_open(false);
        talk.choose(&question, "allow_once").await;
        assert!(journal.waiting().await.contains("allow_once"));
        acknowledges_nothing(&mut talk).await;
        talk.cancel().await;
        worker.hears_soon().await;
        acknowledges_nothing(&mut talk).await;
        journal.set_open(true);
        assert_eq!(talk.end(prompt).await.stop, "cancelled", "{version:?}");
        assert_eq!(worker.edited.load(Ordering::Relaxed), 0, "{version:?}");
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn c3_closing_and_deleting_wait_for_the_journal_only_so_long() {
    for version in BOTH {
        for at in EVERYWHERE {
            for method in ["session/close", "session/delete"] {
                let mut stuck = stuck(version, at).await;
                let session = stuck.owner.session.clone();
                let asked_at = Instant::now();
                let id = stuck.owner.client.ask(method, of(&session)).await;
                let answer = stuck.owner.answered(id).await;
                let what = format!("{version:?} {at:?} {method}: {answer}");
                assert!(asked_at.elapsed() < CLOSE_TIME, "{what}");
                // What may still be created cannot be said to be deleted.
                let is_sure = at != At::Create || method == "session/close";
                assert_eq!(answer.get("result").is_some(), is_sure, "{what}");
                assert_eq!(stuck.owner.answers(stuck.prompt), 1, "{what}");
                stuck.owner.is_quiet().await;

                stuck.answers_again();
                tokio::time::sleep(SOON).await;
                let mut other = v1_with(&stuck.server, json!({})).await;
                let listed = other.ok("session/list", json!({})).await;
                let is_there = listed["sessions"] != json!([]);
                assert_eq!(is_there, method == "session/close", "{what}");
                if is_there {
                    goes_on(&mut join(version, &stuck.server, &session).await).await;
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_load_can_be_taken_back_while_the_journal_opens_the_session() {
    let (actor, journal) = (Actor::new(), Gated::open());
    let server = actor.serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say kept").await;
    let close = json!({"sessionId": session});
    client.ok("session/close", close).await;
    journal.set_opens(false);
    let load = client.ask("session/resume", of(&session)).await;
    assert_eq!(journal.waiting().await, "open");
    let began = Instant::now();
    client
        .notify("$/cancel_request", json!({"requestId": load}))
        .await;
    let answer = client.answered(load).await.pop().unwrap();
    assert_eq!(answer["error"]["code"], -32800);
    assert!(began.elapsed() < SOON);
    // It was opened for nobody, and is closed again.
    journal.set_opens(true);
    tokio::time::sleep(LONG).await;
    assert_eq!(actor.closed.lock().unwrap().len(), 2);
    client.ok("session/resume", of(&session)).await;
    assert_eq!(hear(&mut client, &session, "say on").await, "on");
}

/// A session that is in the journal, which does not open it, and a client that has asked for it.
async fn opening(method: &str) -> (Server, Gated, Client, String, i64) {
    let journal = Gated::open();
    let server = Actor::new().serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say kept").await;
    let close = json!({"sessionId": session});
    client.ok("session/close", close).await;
    journal.set_opens(false);
    let asked = client.ask(method, of(&session)).await;
    assert_eq!(journal.waiting().await, "open");
    (server, journal, client, session, asked)
}

#[tokio::test(start_paused = true)]
async fn closing_and_deleting_wait_only_so_long_for_a_journal_that_opens_the_session() {
    for method in ["session/close", "session/delete"] {
        let (server, journal, mut client, session, load) = opening("session/resume").await;
        let asked_at = Instant::now();
        let id = client.ask(method, of(&session)).await;
        let is = |id: i64| move |message: &&Value| message["id"] == id;
        let seen = client
            .until(|message| message["id"] == id || message["id"] == load)
            .await;
        let mut seen = seen;
        seen.extend(client.until(|message| message.get("id").is_some()).await);
        assert!(asked_at.elapsed() < CLOSE_TIME, "{method}");
        let answer = seen.iter().find(is(id)).unwrap();
        // What may still be opened cannot be said to be deleted.
        assert_eq!(answer.get("result").is_some(), method == "session/close");
        let loaded = seen.iter().find(is(load)).unwrap();
        assert!(loaded["error"].is_object(), "{loaded}");

        journal.set_opens(true);
        tokio::time::sleep(SOON).await;
        let listed = client.ok("session/list", json!({})).await;
        let is_there = listed["sessions"] != json!([]);
        assert_eq!(is_there, method == "session/close", "{listed}");
        if is_there {
            let mut other = v2_with(&server, json!({})).await;
            other.ok("session/resume", of(&session)).await;
            assert_eq!(hear(&mut other, &session, "say on").await, "on");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_load_may_wait_as_long_as_the_journal_does() {
    let (_server, journal, mut client, session, load) = opening("session/resume").await;
    tokio::time::sleep(LONG).await;
    journal.set_opens(true);
    let answer = client.answered(load).await.pop().unwrap();
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(hear(&mut client, &session, "say on").await, "on");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_the_close_of_a_session_whose_journal_does_not_answer() {
    let (actor, journal) = (Actor::new(), Gated::open());
    let server = actor.serve().journal(journal.clone());
    let mut client = v2_with(&server, json!({})).await;
    let session = client.session().await;
    run(&mut client, &session, "say kept").await;
    journal.set_open(false);
    client.prompt(&session, "say lost").await;
    journal.waiting().await;
    server.shutdown().await;
    assert_eq!(*actor.closed.lock().unwrap(), [session]);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_though_the_journal_does_not() {
    let journal = Gated::open();
    journal.set_closes(false);
    let server = Actor::new().serve().journal(journal);
    let ended = tokio::time::timeout(CLOSE_TIME, server.shutdown()).await;
    ended.expect("it waits for the journal");
}
