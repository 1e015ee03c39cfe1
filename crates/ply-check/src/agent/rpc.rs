//! Framing and JSON-RPC.

mod ids;
mod lines;
mod params;

use serde_json::json;

use super::bench::Bench;
use super::judging::QUIET;
use crate::peer::Stopped;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "notifications that mean nothing",
        rules: &[id::V1_RPC_04, id::V1_RPC_09, id::V2_RPC_01],
        run: |bench| Box::pin(meaningless_notifications(bench)),
    },
    Probe {
        name: "ids of every kind",
        rules: &[id::V1_RPC_05, id::V1_RPC_02, id::V2_RPC_01],
        run: |bench| Box::pin(ids::lawful(bench)),
    },
    Probe {
        name: "an id that is null",
        rules: &[id::V1_RPC_06],
        run: |bench| Box::pin(ids::null(bench)),
    },
    Probe {
        name: "ids that are not allowed",
        rules: &[id::V2_RPC_02],
        run: |bench| Box::pin(ids::unlawful(bench)),
    },
    Probe {
        name: "lines that are no messages",
        rules: &[id::V1_RPC_10],
        run: |bench| Box::pin(lines::no_messages(bench)),
    },
    Probe {
        name: "bytes that are no UTF-8, and a byte order mark",
        rules: &[id::V1_RPC_10],
        run: |bench| Box::pin(lines::bad_bytes(bench)),
    },
    Probe {
        name: "messages without their version",
        rules: &[id::V1_RPC_10],
        run: |bench| Box::pin(lines::no_version(bench)),
    },
    Probe {
        name: "arrays",
        rules: &[id::V1_RPC_18, id::V2_BATCH_01],
        run: |bench| Box::pin(lines::arrays(bench)),
    },
    Probe {
        name: "members from the future",
        rules: &[id::V1_RPC_16, id::V1_RPC_17, id::V1_EXT_06, id::V2_EXT_04],
        run: |bench| Box::pin(params::unknown_members(bench)),
    },
];

async fn meaningless_notifications(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let first = agent.notify("session/nope", json!({"x": 1})).await?;
    let mut frames = vec![first];
    for (method, params) in [
        ("_x/y", json!({})),
        ("foo/bar", json!([1])),
        ("session/cancel", json!({"x": 1})),
        (
            "session/cancel",
            json!({"sessionId": "ply-check-no-such-session"}),
        ),
        ("$/ply_check", json!({})),
    ] {
        frames.push(agent.notify(method, params).await?);
    }
    let heard = agent.listen(QUIET).await;
    let answer = agent
        .heard_since(first)
        .into_iter()
        .find(|frame| frame.is_answer());
    let shown: Vec<_> = frames
        .iter()
        .copied()
        .chain(answer.as_ref().map(|frame| frame.number))
        .collect();
    let rules = [id::V1_RPC_04, id::V2_RPC_01];
    let saw = "a notification got a response";
    bench.judge_all(&rules, answer.is_none(), &agent, &shown, saw);
    let is_alive = heard.is_ok() && agent.is_alive().await;
    let saw = "no request got a response after unknown notifications";
    bench.judge(id::V1_RPC_09, is_alive, &agent, &frames, saw);
    if is_alive {
        bench.give_back(agent);
    }
    Ok(())
}
