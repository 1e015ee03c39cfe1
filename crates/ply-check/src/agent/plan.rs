//! Plans.

use super::bench::Bench;
use super::turn::{self, Choice, permit};
use crate::peer::Stopped;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[Probe {
    name: "a turn with a plan",
    rules: &[
        id::V1_PLAN_01,
        id::V1_PLAN_02,
        id::V1_PLAN_03,
        id::V1_PLAN_04,
        id::V1_PLAN_07,
        id::V2_PLAN_01,
        id::V2_PLAN_02,
        id::V2_PLAN_03,
        id::V2_PLAN_04,
    ],
    run: |bench| Box::pin(with_a_plan(bench)),
}];

async fn with_a_plan(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let plan = bench.subject.prompts.plan.clone();
    turn::run(bench, &mut agent, &session, &plan).await?;
    bench.give_back(agent);
    Ok(())
}
