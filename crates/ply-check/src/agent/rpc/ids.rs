//! Ids of requests, lawful and not.

use serde_json::{Value, json};

use super::super::bench::{Agent, Bench};
use super::super::judging::{PING, QUIET};
use super::super::junk::react;
use crate::peer::{Call, Stopped};
use crate::rule::id;

/// Characters of one, two, three and four bytes, and a mark that belongs to the letter before it.
const EVERY_LENGTH: &str = "a é 漢 🪶 e\u{301} \u{200d}";

/// The greatest whole number that every JSON reader keeps.
const SAFE_INTEGER_MAX: i64 = (1 << 53) - 1;

pub(super) async fn lawful(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let long = "ply-check-0123456789-abcdefghijklmnopqrs";
    let mut calls = Vec::new();
    let ids = [
        json!(0),
        json!(-1),
        json!("7"),
        json!(""),
        json!(long),
        json!(SAFE_INTEGER_MAX),
    ];
    for id in ids {
        calls.push(agent.begin_as(id, PING, json!({})).await?);
    }
    let spoken = agent.begin_as(json!(EVERY_LENGTH), PING, json!({})).await?;
    settle(&mut agent).await?;
    for call in &calls {
        let (is_kept, frames) = is_answered(&agent, call);
        let saw = format!(
            "the request with the id {} got no answer with that id",
            call.id
        );
        bench.judge_all(
            &[id::V1_RPC_05, id::V2_RPC_01],
            is_kept,
            &agent,
            &frames,
            saw,
        );
    }
    let (is_kept, frames) = is_answered(&agent, &spoken);
    let saw = "an id with characters of every UTF-8 length came back changed";
    bench.judge_all(
        &[id::V1_RPC_02, id::V2_RPC_01],
        is_kept,
        &agent,
        &frames,
        saw,
    );
    bench.give_back(agent);
    Ok(())
}

/// Waits until what was asked before has had its chance to be answered.
async fn settle(agent: &mut Agent) -> Result<(), Stopped> {
    agent.ask(PING, json!({})).await?;
    agent.listen(QUIET).await?;
    Ok(())
}

fn is_answered(agent: &Agent, call: &Call) -> (bool, Vec<usize>) {
    let heard = agent.heard_since(call.frame);
    let answer = heard
        .iter()
        .find(|frame| frame.is_answer() && frame.id() == Some(&call.id));
    let frames = std::iter::once(call.frame).chain(answer.map(|frame| frame.number));
    (answer.is_some(), frames.collect())
}

pub(super) async fn null(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let line = format!(r#"{{"jsonrpc":"2.0","id":null,"method":"{PING}","params":{{}}}}"#);
    let reaction = react(&mut agent, line.as_bytes()).await?;
    let nulls = reaction.answers.iter();
    let nulls = nulls.filter(|frame| frame.id() == Some(&Value::Null));
    let is_kept = reaction.is_alive && nulls.count() == 1;
    let saw = reaction.tell("a request with the id null");
    bench.judge(id::V1_RPC_06, is_kept, &agent, &reaction.frames(), saw);
    Ok(())
}

pub(super) async fn unlawful(bench: &mut Bench) -> Result<(), Stopped> {
    // After the greeting, so that it is certain which version's rule on null holds.
    let mut agent = bench.greeted_with(json!({})).await?;
    for id in [json!(null), json!(true), json!(1.5)] {
        let what = format!("`session/new` with the id {id}");
        let setup = agent.setup();
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "session/new", "params": setup});
        let reaction = react(&mut agent, line.to_string().as_bytes()).await?;
        let is_kept = reaction.is_refusal(&[-32600]);
        let (frames, saw) = (reaction.frames(), reaction.tell(&what));
        bench.judge(id::V2_RPC_02, is_kept, &agent, &frames, saw);
        if !reaction.is_alive {
            return Ok(());
        }
    }
    Ok(())
}
