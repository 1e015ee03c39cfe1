//! No terminal is shown as running when nothing runs it any more.

use std::sync::Arc;

use ply_agent::transcript::{Entry, Transcript};
use ply_agent::{Agent, Error, Server, Stop, v2};
use serde_json::json;
use tokio::sync::Notify;

use crate::fold::v2_fold;
use crate::journals::Gated;
use crate::script::Version::{V1, V2};
use crate::script::*;

/// Runs a command in a terminal of its own until it is told to stop, and does not end it.
fn runs_a_terminal(stop: &Arc<Notify>) -> impl Agent {
    let stop = Arc::clone(stop);
    script(move |turn| {
        let stop = Arc::clone(&stop);
        Box::pin(async move {
            let call = turn.tool_call("Build").await?;
            call.start().await?;
            let make = v2::TerminalUpdate::new("term-1").command("make");
            call.update(v2::SessionUpdate::TerminalUpdate(make)).await?;
            let shown = v2::ToolCallContent::Terminal(v2::Terminal::new("term-1"));
            call.set_content(vec![shown]).await?;
            turn.say("runs").await?;
            match &*turn.prompt().text() {
                "stubborn" => stop.notified().await,
                "fail" => return Err(Error::msg("broken")),
                "panic" => panic!("broken"),
                _ => turn.unless_cancelled(stop.notified()).await?,
            }
            Ok(Stop::EndTurn)
        })
    })
}

/// Makes sure that the terminal is there and has ended.
#[track_caller]
fn assert_ended(transcript: &Transcript, how: &str) {
    let mut terminals = transcript.entries().filter_map(|entry| match entry {
        Entry::Terminal(terminal) => Some(terminal),
        _ => None,
    });
    let terminal = terminals.next().expect("a terminal");
    assert!(terminal.exit_status.is_some(), "{how}: {terminal:?}");
    assert_eq!(transcript.open_terminals().count(), 0, "{how}");
    assert!(transcript.tool_calls().all(|call| call.is_finished()));
}

/// Makes sure that whoever loads the session sees that the terminal has ended, also where it is shown as text.
async fn loads_ended(server: &Server, session: &str, how: &str) {
    let new = join(V2, server, session).await;
    assert_ended(&v2_fold(&new.log, session), how);
    let old = join(V1, server, session).await;
    let call = old.call("Build");
    assert_eq!(status(&call), "failed", "{how}");
    assert!(format!("{call:?}").contains("make"), "{how}: {call:#?}");
}

#[tokio::test(start_paused = true)]
async fn c8_a_turn_that_does_not_come_to_its_own_end_ends_its_terminals() {
    for how in ["wait", "stubborn", "fail", "panic"] {
        let server = ply_agent::serve(runs_a_terminal(&Arc::default()));
        let mut talk = talk_with(V2, &server, json!({})).await;
        let prompt = talk.prompt(how).await;
        talk.hears("runs").await;
        if how == "wait" || how == "stubborn" {
            talk.cancel().await;
        }
        let ended = talk.end(prompt).await;
        assert_ne!(ended.stop, "end_turn");
        // Before the state says that the work is over.
        assert_ended(&v2_fold(&ended.seen, &talk.session), how);
        loads_ended(&server, &talk.session, how).await;
    }
}

/// The process dies in the middle of a turn: all its tasks are gone, and nothing was closed.
#[test]
fn c8_a_turn_that_was_cut_off_has_no_terminal_when_its_session_is_opened_again() {
    let runtime = || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        { runtime }.enable_all().start_paused(true).build().unwrap()
    };
    let journal = Gated::open();
    let serve = || {
        let agent = runs_a_terminal(&Arc::default());
        ply_agent::serve(agent).journal(journal.clone())
    };
    let dies = runtime();
    let session = dies.block_on(async {
        let mut talk = talk_with(V2, &serve(), json!({})).await;
        talk.prompt("stubborn").await;
        talk.hears("runs").await;
        talk.settle().await;
        talk.session.clone()
    });
    drop(dies);
    runtime().block_on(async {
        let server = serve();
        loads_ended(&server, &session, "cut off").await;
        // It is in the journal now: a third process has nothing left to repair.
        server.shutdown().await;
        let records = journal.calls();
        loads_ended(&serve(), &session, "opened again").await;
        assert_eq!(journal.calls(), records + 1, "it was only opened");
    });
}
