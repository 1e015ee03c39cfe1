//! The agent as a process: its streams, and its end.

use std::time::Duration;

use serde_json::json;

use super::bench::{Bench, initialize};
use super::judging::PING;
use super::talk::talk;
use crate::peer::Stopped;
use crate::rule::id;
use crate::topic::Probe;

/// How long an idle agent may take to end after its input has.
const EXIT_TIME_MAX: Duration = Duration::from_secs(5);
/// How much longer than any other answer the first one may take.
const START_FACTOR: u32 = 4;
/// The pause between the parts of a message, long enough that they are read one by one.
const BETWEEN_PARTS: Duration = Duration::from_millis(20);
/// Bytes of a line that is long, but that a file in a prompt may well need.
const LONG_LINE_BYTES: usize = 16 * 1024 * 1024;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "messages cut and joined",
        rules: &[id::V1_STDIO_02, id::V1_STDIO_06, id::V2_RPC_01],
        run: |bench| Box::pin(parts(bench)),
    },
    Probe {
        name: "a notification of 16 MiB",
        rules: &[id::V1_RPC_09],
        run: |bench| Box::pin(long_line(bench)),
    },
    Probe {
        name: "the end of the input",
        rules: &[id::V1_STDIO_07],
        run: |bench| Box::pin(end_of_input(bench)),
    },
    Probe {
        name: "everything a short session writes",
        rules: &[
            id::V1_STDIO_03,
            id::V1_RPC_01,
            id::V1_INIT_15,
            id::V2_RPC_01,
            id::V2_INIT_12,
        ],
        run: |bench| Box::pin(whole_output(bench)),
    },
];

async fn parts(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.start().await?;
    let params = initialize(bench.version, json!({}));
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let ping = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": PING}).to_string();
    let rules = [id::V1_STDIO_02, id::V2_RPC_01];
    // A message in three parts, the last with its line feed alone.
    let line = hello.to_string();
    let (head, tail) = line.split_at(line.len() / 2);
    for part in [head, tail, "\n"] {
        agent.send_bytes(part.as_bytes()).await?;
        tokio::time::sleep(BETWEEN_PARTS).await;
    }
    let sent = 0;
    let is_answer = |id: serde_json::Value| {
        move |frame: &crate::Frame| frame.is_answer() && frame.id() == Some(&id)
    };
    let patience = agent.patience;
    // Starting may take longer than answering does.
    let answer = agent
        .until(patience * START_FACTOR, is_answer(json!(1)))
        .await;
    let is_kept = matches!(answer, Ok(Some(_)));
    let saw = "a message split into three parts got no response";
    bench.judge_all(&rules, is_kept, &agent, &[sent], saw);
    if !is_kept {
        return Ok(());
    }
    bench.judge(id::V1_STDIO_06, true, &agent, &[sent], "");
    for (bytes, ids, what) in [
        (
            format!("{}\n{}\n", ping("a"), ping("b")),
            ["a", "b"].as_slice(),
            "of two messages in one write, one was not answered",
        ),
        (
            format!("{}\r\n", ping("c")),
            &["c"],
            "a message before a carriage return and a line feed was not answered",
        ),
        (
            format!("  {}\t\n", ping("d")),
            &["d"],
            "a message with white space around it was not answered",
        ),
    ] {
        let sent = agent.send_bytes(bytes.as_bytes()).await?;
        let mut is_kept = true;
        for id in ids {
            let fits = is_answer(json!(id));
            let is_here = agent.seen_since(sent, &fits).is_some()
                || matches!(agent.until(patience, &fits).await, Ok(Some(_)));
            is_kept &= is_here;
        }
        bench.judge_all(&rules, is_kept, &agent, &[sent], what);
    }
    Ok(())
}

async fn long_line(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let text = "x".repeat(LONG_LINE_BYTES);
    let sent = agent.recording().len();
    let told = agent.notify("_x/long", json!({"text": text})).await;
    let is_alive = told.is_ok() && agent.is_alive().await;
    let saw = "no request got a response after an unknown notification of 16 MiB";
    bench.judge(id::V1_RPC_09, is_alive, &agent, &[sent], saw);
    Ok(())
}

async fn end_of_input(bench: &mut Bench) -> Result<(), Stopped> {
    for has_session in [false, true] {
        let mut agent = bench.greeted_with(json!({})).await?;
        // An agent that wants a login has no session, and still has to end.
        let has_session = has_session && agent.new_session().await.is_ok();
        let last = agent.recording().len().saturating_sub(1);
        agent.close_output().await;
        let is_kept = agent.exit(EXIT_TIME_MAX).await.is_some();
        let which = match has_session {
            true => "with a session",
            false => "without a session",
        };
        let seconds = EXIT_TIME_MAX.as_secs();
        let saw = format!("{seconds} s after its input ended, the agent {which} was still running");
        bench.judge(id::V1_STDIO_07, is_kept, &agent, &[last], saw);
    }
    Ok(())
}

async fn whole_output(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted_with(json!({})).await?;
    let spoken = match agent.new_session().await {
        Ok(session) => talk(&bench.subject, bench.version, &mut agent, &session).await,
        Err(stopped) => Err(stopped),
    };
    agent.close_output().await;
    // Whether it ends is another rule's business; here only what it still writes counts.
    drop(agent.listen(Duration::from_millis(500)).await);
    let talk = spoken?;
    let heard = agent.heard_since(talk.asked);
    let updates = heard
        .iter()
        .find(|frame| frame.method() == Some("session/update"));
    let frames: Vec<_> = std::iter::once(talk.asked)
        .chain(updates.map(|frame| frame.number))
        .collect();
    let saw = "a whole turn had no `session/update`";
    bench.judge(id::V1_INIT_15, updates.is_some(), &agent, &frames, saw);
    bench.judge(id::V2_INIT_12, true, &agent, &frames, "");
    Ok(())
}
