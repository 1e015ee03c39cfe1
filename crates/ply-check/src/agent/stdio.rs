//! The agent as a process: its streams, and its end.

use std::time::Duration;

use ply_client::Direction;
use serde_json::json;

use super::bench::{Bench, initialize};
use super::judging::PING;
use super::talk::talk;
use super::wire;
use crate::peer::Stopped;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

/// How long an idle agent may take to end after its input has.
const EXIT_TIME_MAX: Duration = Duration::from_secs(5);
/// How much longer than any other answer the first one may take.
const START_FACTOR: u32 = 4;
/// The pause between the parts of a message, long enough that they are read one by one.
const BETWEEN_PARTS: Duration = Duration::from_millis(20);
/// Bytes of a line that is long, but that a file in a prompt may well need.
const LONG_LINE_BYTES: usize = 16 * 1024 * 1024;

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-STDIO-02", "Messages end with a line feed, however the bytes arrive.")
            .matters("What works on one machine stalls on another, where pipes cut messages elsewhere.")
            .fix("Gather bytes up to the next line feed before parsing, and parse all lines of a read. White space before the line feed is allowed."),
        Rule::agent("V1-STDIO-03", "The standard output carries messages of the protocol and nothing else.")
            .matters("A greeting or a log line on it breaks the connection in many clients.")
            .fix("Write logs to the standard error, and keep libraries and child processes off the standard output."),
        Rule::agent("V1-STDIO-06", "The agent can be spoken to over its standard streams.")
            .should()
            .matters("Most clients speak to agents in no other way.")
            .fix("Serve the protocol on the standard streams, at least when asked to by an argument."),
        Rule::agent("V1-STDIO-07", "The agent ends when its input ends.")
            .should()
            .matters("Agents whose editor is gone stay behind and eat memory.")
            .fix("Take the end of the input as the end of the work: cancel turns, and leave."),
    ],
    probes: &[
        Probe {
            name: "messages cut and joined",
            rules: &["V1-STDIO-02", "V1-STDIO-06", "V2-RPC-01"],
            run: |bench| Box::pin(parts(bench)),
        },
        Probe {
            name: "a notification of 16 MiB",
            rules: &["V1-RPC-09"],
            run: |bench| Box::pin(long_line(bench)),
        },
        Probe {
            name: "the end of the input",
            rules: &["V1-STDIO-07"],
            run: |bench| Box::pin(end_of_input(bench)),
        },
        Probe {
            name: "everything a short session writes",
            rules: &["V1-STDIO-03", "V1-RPC-01", "V1-INIT-15", "V2-RPC-01", "V2-INIT-12"],
            run: |bench| Box::pin(whole_output(bench)),
        },
    ],
};

async fn parts(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.start().await?;
    let params = initialize(bench.version, json!({}));
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let ping = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": PING}).to_string();
    let rules = ["V1-STDIO-02", "V2-RPC-01"];
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
    let saw = "a message that came in three parts was not answered";
    bench.judge_all(&rules, is_kept, &agent, &[sent], saw);
    if !is_kept {
        return Ok(());
    }
    bench.judge("V1-STDIO-06", true, &agent, &[sent], "");
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
    let saw = "no request was answered after a notification of 16 MiB that is not known";
    bench.judge("V1-RPC-09", is_alive, &agent, &[sent], saw);
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
        let saw = format!("{seconds} s after its input ended, the agent {which} was still there");
        bench.judge("V1-STDIO-07", is_kept, &agent, &[last], saw);
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
    let strange: Vec<_> = agent.recording().with_frames(|frames| {
        let theirs = frames
            .iter()
            .filter(|frame| frame.direction == Direction::ToClient);
        theirs
            .filter_map(|frame| Some((frame.number, wire::fault(frame)?)))
            .collect()
    });
    let frames: Vec<_> = strange.iter().map(|(number, _)| *number).collect();
    let what = strange.first().map_or("", |(_, what)| what);
    let is_kept = strange.is_empty();
    bench.judge_all(
        &["V1-STDIO-03", "V2-RPC-01"],
        is_kept,
        &agent,
        &frames,
        what,
    );
    let talk = spoken?;
    let heard = agent.heard_since(talk.asked);
    let updates = heard
        .iter()
        .find(|frame| frame.method() == Some("session/update"));
    let frames: Vec<_> = std::iter::once(talk.asked)
        .chain(updates.map(|frame| frame.number))
        .collect();
    let saw = "a whole turn went by without a `session/update`";
    bench.judge("V1-INIT-15", updates.is_some(), &agent, &frames, saw);
    bench.judge("V2-INIT-12", true, &agent, &frames, "");
    Ok(())
}
