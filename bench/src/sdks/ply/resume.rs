//! A session that the agent has open, resumed again and again.

use std::time::Instant;

use ply_client::Agent;

use super::super::task::Task;
use super::super::work::Plan;
use crate::Result;
use crate::measure::Outcome;

/// One request after the other. A turn goes before them, so that there is something to resume.
pub(super) async fn run(agent: Agent, plan: Plan) -> Result<Outcome> {
    let session = agent.new_session("/").await?;
    let id = session.id().clone();
    let mut turn = session.prompt(Task::Stream(1).prompt()).await?;
    while let Some(event) = turn.next().await {
        event?;
    }
    drop((turn, session));
    let mut waits = Vec::with_capacity(usize::try_from(plan.count)?);
    for number in 0..plan.warm_up + plan.count {
        let start = Instant::now();
        let resumed = agent.resume_session(id.clone(), "/").await?;
        if number >= plan.warm_up {
            waits.push(start.elapsed());
        }
        drop(resumed);
    }
    Ok(Outcome::latency(waits))
}
