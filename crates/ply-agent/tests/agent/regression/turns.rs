//! What happens at the edges of turns.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use ply_agent::{Agent, Stop};
use serde_json::{Value, json};

use super::of;
use crate::actor::Actor;
use crate::journals::Gated;
use crate::script::*;
use crate::support::*;

/// Longer than anything on its way takes, under paused time.
const A_WHILE: Duration = Duration::from_secs(1);

/// The journal does not answer while the cancel comes and the code, which does not hear it, ends.
#[tokio::test(start_paused = true)]
async fn a_cancel_while_the_journal_does_not_answer_is_for_the_queued_prompts_too() {
    for version in BOTH {
        let (actor, journal) = (Actor::new(), Gated::open());
        let server = actor.serve().journal(journal.clone());
        let mut talk = talk_with(version, &server, json!({})).await;
        let first = talk.prompt("say begun\nwait\nsay  busy\ndeaf").await;
        talk.hears("begun").await;
        let queued = talk.prompt("say never").await;
        tokio::time::sleep(A_WHILE).await;
        journal.set_open(false);
        actor.gate.add_permits(1);
        assert!(journal.waiting().await.contains("busy"));
        let meant = [queued, talk.prompt("say never").await];
        talk.cancel().await;
        let later = talk.prompt("say later").await;
        tokio::time::sleep(A_WHILE).await;
        actor.gate.add_permits(1);
        tokio::time::sleep(A_WHILE).await;
        journal.set_open(true);

        assert_eq!(talk.end(first).await.stop, "cancelled", "{version:?}");
        for prompt in meant {
            let answer = talk.answered(prompt).await;
            let cancelled =
                answer["result"]["stopReason"] == "cancelled" || answer["error"]["code"] == -32800;
            assert!(cancelled, "{version:?}: {answer}");
        }
        // What came after the cancel is not meant by it.
        assert_eq!(talk.end(later).await.stop, "end_turn");
        assert_eq!(said(&talk.log), "begun busylater", "{version:?}");
        talk.is_quiet().await;
    }
}

const SHOWN_PATH: &str = "/work/caf\u{fffd}.txt";

fn touches_odd_paths() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            let odd = Path::new(OsStr::from_bytes(b"caf\xe9.txt"));
            let call = turn.tool_call("Edit").location(odd, 1).await?;
            call.add_diff(odd, Some("a\n"), Some("b\n")).await?;
            call.finish().await?;
            Ok(Stop::EndTurn)
        })
    })
}

/// Finds every path under a value.
fn paths<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("path"));
            fields.values().for_each(|value| paths(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| paths(value, found)),
        _ => {}
    }
}

#[track_caller]
fn shows_odd_paths(messages: &[Value]) {
    for field in ["locations", "content"] {
        let mut found = Vec::new();
        for update in updates(messages) {
            paths(&update[field], &mut found);
        }
        assert!(!found.is_empty(), "no path in {field}: {messages:#?}");
        assert!(found.iter().all(|path| **path == SHOWN_PATH), "{found:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_path_that_is_not_utf_8_is_shown_as_far_as_it_can_be() {
    for version in BOTH {
        let server = ply_agent::serve(touches_odd_paths());
        let mut talk = talk_with(version, &server, json!({})).await;
        let ended = talk.turn("go").await;
        assert_eq!(ended.stop, "end_turn");
        shows_odd_paths(&ended.seen);
        let session = talk.session.clone();
        talk.client.ok("session/close", of(&session)).await;
        // From the journal, on either version.
        let mut old = v1_with(&server, json!({})).await;
        old.ok("session/load", of(&session)).await;
        shows_odd_paths(&old.log);
        let mut new = v2_with(&server, json!({})).await;
        let mut replay = of(&session);
        replay["replayFrom"] = json!({"type": "start"});
        new.ok("session/resume", replay).await;
        shows_odd_paths(&new.log);
    }
}

// Also: V1-TERM-11.
#[tokio::test(start_paused = true)]
async fn a_terminal_that_is_made_after_the_cancel_is_released() {
    let agent = script(|turn| {
        Box::pin(async move {
            let terminal = turn.terminal("cargo").await?;
            terminal.release().await?;
            Ok(Stop::EndTurn)
        })
    });
    let server = ply_agent::serve(agent);
    let mut talk = talk_with(Version::V1, &server, json!({"terminal": true})).await;
    let prompt = talk.prompt("go").await;
    let create = talk.method("terminal/create").await;
    talk.cancel().await;
    assert_eq!(talk.end(prompt).await.stop, "cancelled");
    talk.answer(&create, json!({"terminalId": "term-late"}))
        .await;
    let release = talk.method("terminal/release").await;
    assert_eq!(release["params"]["terminalId"], "term-late");
    assert_eq!(release["params"]["sessionId"], talk.session);
    talk.answer(&release, json!({})).await;
    talk.is_quiet().await;
}
