//! A conversation as any other, for what every message shows.

use serde_json::json;

use super::bench::Bench;
use super::judging::{PING, QUIET};
use super::turn::{self, Choice, is_of_turn, permit};
use crate::peer::Stopped;
use crate::recording::Recording;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[Probe {
    name: "a plain conversation",
    rules: &[
        id::V1_RPC_01,
        id::V1_RPC_03,
        id::V1_RPC_13,
        id::V1_RPC_14,
        id::V1_STDIO_03,
        id::V1_INIT_10,
        id::V1_INIT_11,
        id::V1_INFO_03,
        id::V1_MODE_04,
        id::V1_CMD_01,
        id::V1_CMD_03,
        id::V1_EXT_02,
        id::V1_ERR_02,
        id::V2_RPC_01,
        id::V2_RPC_03,
        id::V2_RPC_04,
        id::V2_RPC_05,
        id::V2_BATCH_02,
        id::V2_INIT_14,
        id::V2_CMD_01,
        id::V2_CMD_02,
        id::V2_EXT_01,
        id::V2_EXT_04,
    ],
    run: |bench| Box::pin(plain(bench)),
}];

/// Talks to the agent, unless other probes have done so.
async fn plain(bench: &mut Bench) -> Result<(), Stopped> {
    if bench.findings.recordings.iter().any(has_turns) {
        return Ok(());
    }
    let (mut agent, session) = bench.session().await?;
    agent.listen(QUIET).await?;
    agent.ask(PING, json!({})).await?;
    permit(&mut agent, Choice::Allow);
    let prompts = bench.subject.prompts.clone();
    for prompt in [prompts.short, prompts.look, prompts.change] {
        turn::run(bench, &mut agent, &session, &prompt).await?;
    }
    bench.give_back(agent);
    Ok(())
}

fn has_turns(recording: &Recording) -> bool {
    !recording.is_foul() && recording.with_frames(|frames| frames.iter().any(is_of_turn))
}
