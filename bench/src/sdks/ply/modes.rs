//! The request `session/set_mode` itself. A Ply client sets a mode by `session/set_config_option` where an agent offers options, as
//! Ply agents do, so the request is made by hand; the client folds the update that comes with its answer as always.

use std::time::Instant;

use futures::stream::{FuturesUnordered, StreamExt as _};
use ply_client::Agent;
use ply_client::v1::{SetSessionModeRequest, SetSessionModeResponse};

use super::super::drive::MODES;
use super::super::work::Plan;
use crate::Result;
use crate::measure::{IN_FLIGHT, Outcome};

/// One request after the other.
pub(super) async fn one_by_one(agent: Agent, plan: Plan) -> Result<Outcome> {
    let session = agent.new_session("/").await?;
    let id = &session.id().0;
    let mut modes = MODES.into_iter().cycle();
    for mode in modes.by_ref().take(usize::try_from(plan.warm_up)?) {
        set(&agent, SetSessionModeRequest::new(id.clone(), mode)).await?;
    }
    let mut waits = Vec::with_capacity(usize::try_from(plan.count)?);
    for mode in modes.take(usize::try_from(plan.count)?) {
        let start = Instant::now();
        set(&agent, SetSessionModeRequest::new(id.clone(), mode)).await?;
        waits.push(start.elapsed());
    }
    Ok(Outcome::latency(waits))
}

/// [`IN_FLIGHT`] requests at any time.
pub(super) async fn inflight(agent: Agent, plan: Plan) -> Result<Outcome> {
    let session = agent.new_session("/").await?;
    let id = &session.id().0;
    let each = usize::try_from(plan.count.div_ceil(IN_FLIGHT))?;
    let agent = &agent;
    let worker = || async move {
        for mode in MODES.into_iter().cycle().take(each) {
            set(agent, SetSessionModeRequest::new(id.clone(), mode)).await?;
        }
        Result::Ok(())
    };
    let start = Instant::now();
    let mut workers: FuturesUnordered<_> = (0..IN_FLIGHT).map(|_| worker()).collect();
    while let Some(done) = workers.next().await {
        done?;
    }
    Ok(Outcome::rate(each as u64 * IN_FLIGHT, start.elapsed()))
}

async fn set(agent: &Agent, request: SetSessionModeRequest) -> Result<()> {
    let _: SetSessionModeResponse = agent.call("session/set_mode", request).await?;
    Ok(())
}
