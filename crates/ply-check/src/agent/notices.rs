//! Usage, notices and compaction.

use ply_wire::negotiate::Version;
use serde_json::json;

use super::bench::Bench;
use super::turn::{self, Choice, permit};
use crate::peer::Stopped;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[Probe {
    name: "turns of a client that takes notices",
    rules: &[
        id::V1_NOTICE_01,
        id::V1_NOTICE_02,
        id::V1_USAGE_02,
        id::V1_USAGE_03,
        id::V1_COMPACT_01,
        id::V1_COMPACT_02,
    ],
    run: |bench| Box::pin(with_notices(bench)),
}];

/// Sends the prompts that are said to bring usage, notices and a compaction, to an agent that was offered both and to one that was not.
async fn with_notices(bench: &mut Bench) -> Result<(), Stopped> {
    if bench.version == Version::V2 {
        return Ok(());
    }
    let prompts = bench.subject.prompts.clone();
    let said = [prompts.notice, prompts.usage, prompts.compact];
    let said: Vec<_> = said.into_iter().flatten().collect();
    if said.is_empty() {
        return Ok(());
    }
    let offered = json!({"session": {"notices": {}, "compaction": {}}});
    for capabilities in [json!({}), offered] {
        let mut agent = bench.greeted_with(capabilities).await?;
        let session = agent.new_session().await?;
        permit(&mut agent, Choice::Allow);
        let short = bench.subject.prompts.short.clone();
        turn::run(bench, &mut agent, &session, &short).await?;
        for prompt in &said {
            turn::run(bench, &mut agent, &session, prompt).await?;
        }
    }
    Ok(())
}
