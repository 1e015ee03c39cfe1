//! A journal that fails and works again: no client has a gap, and no request is lost.

use std::sync::Arc;
use std::time::Duration;

use ply_agent::{Agent, Result, Server, Stop, Turn, v2};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::of;
use crate::actor::Actor;
use crate::fold::v2_fold;
use crate::journals::{DISK_YIELDS, Gated};
use crate::script::Version::{V1, V2};
use crate::script::*;
use crate::support::*;

/// How often a race is tried.
const TRIES: usize = 100;
/// Longer than anything on its way takes, under paused time.
const A_WHILE: Duration = Duration::from_secs(1);

/// Works with a tool call and a terminal that are not ended when the journal fails; echoes other prompts.
#[derive(Clone, Default)]
struct Worker(Arc<Notify>);

impl Worker {
    async fn work(&self, turn: &Turn) -> Result<()> {
        let call = turn.tool_call("Build").await?;
        call.start().await?;
        let make = v2::TerminalUpdate::new("term-1").command("make");
        turn.update(v2::SessionUpdate::TerminalUpdate(make)).await?;
        let shown = v2::ToolCallContent::Terminal(v2::Terminal::new("term-1"));
        call.set_content(vec![shown]).await?;
        turn.say("going").await?;
        self.0.notified().await;
        turn.tool_call("Lost").await?.start().await
    }
}

impl Agent for Worker {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        match &*turn.prompt().text() {
            "work" => self.work(turn).await?,
            "wait" => turn.cancelled().await,
            other => turn.say(format!("heard {other}")).await?,
        }
        Ok(Stop::EndTurn)
    }
}

/// A session whose journal failed in the middle of a turn and works again, with its clients: the one whose turn it was, and
/// one of each version that watches.
struct Failed {
    journal: Gated,
    server: Server,
    owner: Talk,
    watchers: [Talk; 2],
}

async fn failed(version: Version) -> Failed {
    let (worker, journal) = (Worker::default(), Gated::open());
    let server = ply_agent::serve(worker.clone()).journal(journal.clone());
    let mut owner = talk_with(version, &server, json!({})).await;
    let session = &owner.session;
    let mut watchers = [
        join(V1, &server, session).await,
        join(V2, &server, session).await,
    ];
    let prompt = owner.prompt("work").await;
    owner.hears("going").await;
    for watcher in &mut watchers {
        watcher.hears("going").await;
    }
    journal.set_fails(true);
    worker.0.notify_one();
    let ended = owner.end(prompt).await;
    assert_eq!(ended.stop, "error");
    assert!(ended.error.to_string().contains("disk is full"));
    journal.set_fails(false);
    Failed {
        journal,
        server,
        owner,
        watchers,
    }
}

impl Failed {
    /// Makes sure that everybody who watches knows what somebody is shown who loads the session now.
    async fn assert_same(&mut self) {
        let whole = join(V2, &self.server, &self.owner.session).await.knows();
        for watcher in &self.watchers {
            assert_eq!(watcher.knows(), whole, "{:?}", watcher.version);
        }
    }
}

fn line(id: i64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

#[tokio::test(start_paused = true)]
async fn c10_every_client_sees_how_the_turn_ends_whose_journal_fails() {
    for version in BOTH {
        let mut failed = failed(version).await;
        for watcher in &mut failed.watchers {
            watcher.settle().await;
            let knows = watcher.knows();
            assert_eq!(knows.tool_calls().count(), 2);
            assert!(knows.tool_calls().all(|call| call.is_finished()));
        }
        let seen = v2_fold(&failed.watchers[1].log, &failed.owner.session);
        assert_eq!(seen.open_terminals().count(), 0);
        assert!(!seen.state().is_active());
    }
}

#[tokio::test(start_paused = true)]
async fn c10_nobody_has_a_gap_after_the_journal_failed() {
    for version in BOTH {
        for by_another in [false, true] {
            let mut failed = failed(version).await;
            let ended = match by_another {
                true => failed.watchers[1].turn("next").await,
                false => failed.owner.turn("next").await,
            };
            assert_eq!(said(&ended.seen), "heard next");
            for watcher in &mut failed.watchers {
                while !said(&watcher.log).ends_with("heard next") {
                    watcher.next().await;
                }
            }
            assert_eq!(said(&failed.watchers[0].log), "goingheard next");
            failed.assert_same().await;
            // Nor has the journal: another server shows the same.
            let whole = failed.watchers[1].knows();
            let Failed {
                journal,
                server,
                owner,
                ..
            } = failed;
            server.shutdown().await;
            let other = ply_agent::serve(Worker::default()).journal(journal);
            assert_eq!(join(V2, &other, &owner.session).await.knows(), whole);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c10_requests_keep_their_order_while_the_journal_is_opened_again() {
    for version in BOTH {
        let mut failed = failed(version).await;
        let session = failed.owner.session.clone();
        failed.journal.set_opens(false);
        failed.owner.prompt("one").await;
        assert_eq!(failed.journal.waiting().await, "open");
        failed.watchers[1].prompt("two").await;
        tokio::time::sleep(A_WHILE).await;
        failed.owner.prompt("three").await;
        let mut late = v2_with(&failed.server, json!({})).await;
        let attach = late.ask("session/resume", of(&session)).await;
        tokio::time::sleep(A_WHILE).await;
        failed.journal.set_opens(true);
        failed.watchers[0].hears("heard three").await;
        let said = said(&failed.watchers[0].log);
        assert_eq!(said, "goingheard oneheard twoheard three", "{version:?}");
        assert!(late.answered(attach).await.pop().unwrap()["result"].is_object());
    }
}

/// How lines that follow each other closely are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// Each by itself, so that the first may be on its way when the next comes.
    Apart,
    /// All at once.
    Together,
}

/// Sends a prompt that waits to be cancelled, a cancel and perhaps a close, with the ids 101 and 102.
async fn prompt_and_cancel(talk: &mut Talk, lines: Lines, closes: bool) {
    let session = &talk.session;
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "wait"}]});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel",
        "params": {"sessionId": session}});
    let mut all = vec![line(101, "session/prompt", &prompt), cancel.to_string()];
    if closes {
        all.push(line(102, "session/close", &json!({"sessionId": session})));
    }
    if lines == Lines::Together {
        all = vec![all.join("\n")];
    }
    talk.log.clear();
    for line in all {
        talk.client.write(&line).await;
    }
}

/// Returns whether the prompt was cancelled: before it was part of the conversation, or later.
fn is_cancelled(talk: &Talk) -> bool {
    talk.log.iter().any(|message| {
        let stop = &message["result"]["stopReason"];
        let is_refused = message["error"]["code"] == -32800;
        stop == "cancelled" || is_refused || update(message)["stopReason"] == "cancelled"
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c10_a_cancel_right_behind_a_prompt_is_heard() {
    for round in 0..TRIES {
        let lines = [Lines::Apart, Lines::Together][round / 2 % 2];
        let mut failed = failed(BOTH[round % 2]).await;
        prompt_and_cancel(&mut failed.owner, lines, false).await;
        while !is_cancelled(&failed.owner) {
            failed.owner.next().await;
        }
        let ended = failed.owner.turn("next").await;
        assert_eq!(said(&ended.seen), "heard next");
        assert_eq!(failed.owner.answers(101), 1, "{:#?}", failed.owner.log);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c10_a_close_right_behind_a_prompt_is_heard_and_nothing_follows_its_answer() {
    for round in 0..TRIES {
        let lines = [Lines::Apart, Lines::Together][round / 2 % 2];
        let Failed {
            mut owner, server, ..
        } = failed(BOTH[round % 2]).await;
        prompt_and_cancel(&mut owner, lines, true).await;
        let closed = owner.answered(102).await;
        assert!(closed["result"].is_object(), "{closed}");
        assert!(is_cancelled(&owner), "{:#?}", owner.log);
        assert_eq!(owner.answers(101), 1, "{:#?}", owner.log);
        // Whatever would follow the answer comes before this one.
        let listed = owner.client.ask("session/list", json!({})).await;
        assert_eq!(owner.next().await["id"], listed);

        let again = join(V2, &server, &owner.session).await;
        let knows = v2_fold(&again.log, &owner.session);
        assert!(!knows.state().is_active());
        assert!(knows.tool_calls().all(|call| call.is_finished()));
        let said: Vec<_> = knows.messages().map(|message| message.text()).collect();
        assert_eq!(said[..2], ["work", "going"]);
    }
}

#[tokio::test(start_paused = true)]
async fn c11_a_session_whose_first_write_failed_can_be_deleted() {
    for version in BOTH {
        for (creates, works_again) in [(true, true), (true, false), (false, true), (false, false)] {
            let journal = Gated::open();
            let server = Actor::new().serve().journal(journal.clone());
            let mut talk = talk_with(version, &server, json!({})).await;
            journal.set_fails(!creates);
            journal.set_open(false);
            let prompt = talk.prompt("say lost").await;
            if creates {
                journal.waiting().await;
                journal.set_fails(true);
            }
            journal.set_open(true);
            let answer = talk.answered(prompt).await;
            assert!(answer.to_string().contains("disk is full"), "{answer}");
            journal.set_fails(!works_again);

            let session = of(&talk.session);
            let deleted = talk.client.ok("session/delete", session.clone()).await;
            assert_eq!(deleted, json!({}));
            journal.set_fails(false);
            // Not here, and not for another program on the same journal.
            for server in [server, Actor::new().serve().journal(journal)] {
                let mut other = v1_with(&server, json!({})).await;
                let listed = other.ok("session/list", json!({})).await;
                assert_eq!(listed["sessions"], json!([]), "{version:?}");
                assert_eq!(other.fails("session/load", session.clone()).await, -32002);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c11_a_session_that_could_not_be_created_is_still_listed_and_usable() {
    for version in BOTH {
        let journal = Gated::open();
        let server = Actor::new().serve().journal(journal.clone());
        let mut talk = talk_with(version, &server, json!({})).await;
        journal.set_fails(true);
        let prompt = talk.prompt("say lost").await;
        let answer = talk.answered(prompt).await;
        assert!(answer["error"].is_object(), "{answer}");
        assert_eq!(listed(&mut talk).await, [talk.session.as_str()]);
        journal.set_fails(false);
        // Once, also if it is created while sessions are listed.
        journal.set_opens(false);
        let prompt = talk.prompt("say on").await;
        journal.waiting().await;
        let list = talk.client.ask("session/list", json!({})).await;
        for _ in 0..DISK_YIELDS / 2 {
            tokio::task::yield_now().await;
        }
        journal.set_opens(true);
        let answer = talk.answered(list).await;
        assert_eq!(answer["result"]["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(talk.end(prompt).await.stop, "end_turn");
        assert_eq!(listed(&mut talk).await, [talk.session.as_str()]);
    }
}

async fn listed(talk: &mut Talk) -> Vec<String> {
    let list = talk.client.ask("session/list", json!({})).await;
    let answer = talk.answered(list).await;
    let sessions = answer["result"]["sessions"].as_array().unwrap().iter();
    let ids = sessions.map(|session| session["sessionId"].as_str().unwrap().to_owned());
    ids.collect()
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_the_agents_own_opens_the_journal_again() {
    let (actor, journal) = (Actor::new(), Gated::open());
    let server = actor.serve().journal(journal.clone());
    let mut talk = talk_with(V2, &server, json!({})).await;
    assert_eq!(talk.turn("say kept").await.stop, "end_turn");
    journal.set_fails(true);
    let lost = talk.prompt("say lost").await;
    talk.client.answered(lost).await;
    journal.set_fails(false);
    let session = actor.last_session();
    // So much is said outside any turn that more has to wait for the journal.
    let background = session.clone();
    tokio::spawn(async move {
        for _ in 0..100 {
            background.say("x".repeat(1000)).await.unwrap();
        }
    });
    tokio::time::sleep(A_WHILE).await;
    let own = session.start_turn(|turn| async move {
        turn.say("by itself").await?;
        Ok(Stop::EndTurn)
    });
    let stop = tokio::time::timeout(A_WHILE, own).await;
    assert_eq!(stop.unwrap().unwrap(), v2::StopReason::EndTurn);
}

/// What a session has in its journal cannot be read when that is opened again, and then it can.
#[tokio::test(start_paused = true)]
async fn a_journal_that_is_open_and_cannot_be_read_has_not_moved() {
    let (actor, journal) = (Actor::new(), Gated::open());
    let server = actor.serve().journal(journal.clone());
    let mut talk = talk_with(V2, &server, json!({})).await;
    talk.prompt("say going\nwait\nsay late").await;
    talk.hears("going").await;
    journal.set_fails(true);
    actor.gate.add_permits(1);
    talk.until(|message| update(message)["state"] == "idle")
        .await;
    journal.set_fails(false);
    journal.set_reads_fail(true);
    for _ in 0..3 {
        let prompt = talk.prompt("say lost").await;
        let answer = talk.answered(prompt).await;
        assert!(answer["error"].is_object(), "{answer}");
    }
    journal.set_reads_fail(false);
    let ended = talk.turn("recall").await;
    assert_eq!(
        said(&ended.seen),
        "say going\nwait\nsay late|goinglate|recall"
    );
}

/// The history is in memory, also when reports wait for a journal that only the next request opens again.
#[tokio::test(start_paused = true)]
async fn the_history_can_be_read_while_the_journal_has_failed() {
    let (actor, journal) = (Actor::new(), Gated::open());
    let server = actor.serve().journal(journal.clone());
    let mut owner = talk_with(V2, &server, json!({})).await;
    owner.turn("say kept").await;
    journal.set_fails(true);
    let prompt = owner.prompt("say lost").await;
    assert!(owner.answered(prompt).await["error"].is_object());
    let session = actor.last_session();
    for _ in 0..2 {
        let history = tokio::time::timeout(A_WHILE, session.history()).await;
        let history = history.expect("it waits for the journal").unwrap();
        let texts: Vec<_> = history.transcript().messages().map(|m| m.text()).collect();
        assert!(texts.contains(&"kept".to_owned()), "{texts:?}");
        // From now on there is no room for more reports.
        let flood = session.say("x".repeat(64 * 1024));
        drop(tokio::time::timeout(A_WHILE, flood).await);
    }
}
