//! The client's side of each work, written once for every asynchronous peer, so that all are timed by the same code.

use std::time::Instant;

use agent_client_protocol_schema::v1::{
    PromptRequest, PromptResponse, SetSessionModeRequest, SetSessionModeResponse, StopReason,
};
use futures::stream::{FuturesUnordered, StreamExt as _};

use crate::Result;
use crate::measure::{IN_FLIGHT, Outcome, Plan, Tally, Work};
use crate::payload;

/// A connected client: two typed requests. Updates arrive beside it, at the [`Tally`] its handler was given.
pub(crate) trait Client {
    fn set_mode(
        &self,
        request: SetSessionModeRequest,
    ) -> impl Future<Output = Result<SetSessionModeResponse>> + Send;
    fn prompt(&self, request: PromptRequest)
    -> impl Future<Output = Result<PromptResponse>> + Send;
}

/// Does the planned work on a connected and initialized client.
pub(crate) async fn drive(
    client: &(impl Client + Sync),
    plan: &Plan,
    tally: &Tally,
) -> Result<Outcome> {
    match plan.work {
        Work::Updates => updates(client, plan, tally).await,
        Work::Roundtrip => roundtrip(client, plan).await,
        Work::Inflight => inflight(client, plan).await,
        Work::Large => large(client, plan).await,
        Work::SlowReader => Err("the slow reader has a client of its own".into()),
    }
}

async fn updates(client: &(impl Client + Sync), plan: &Plan, tally: &Tally) -> Result<Outcome> {
    let start = Instant::now();
    expect_end_turn(&client.prompt(payload::ask_for_updates(plan.count)).await?)?;
    Ok(Outcome::rate(plan.count, tally.finish(start)?))
}

async fn roundtrip(client: &(impl Client + Sync), plan: &Plan) -> Result<Outcome> {
    for _ in 0..plan.warm_up {
        client.set_mode(payload::set_mode()).await?;
    }
    let mut waits = Vec::with_capacity(usize::try_from(plan.count)?);
    for _ in 0..plan.count {
        let start = Instant::now();
        client.set_mode(payload::set_mode()).await?;
        waits.push(start.elapsed());
    }
    Ok(Outcome::latency(waits))
}

/// Each of the workers sends its next request when its last one is answered, so the number in flight never falls.
async fn inflight(client: &(impl Client + Sync), plan: &Plan) -> Result<Outcome> {
    let each = plan.count / IN_FLIGHT;
    let worker = || async {
        for _ in 0..each {
            client.set_mode(payload::set_mode()).await?;
        }
        Result::Ok(())
    };
    let start = Instant::now();
    let mut workers: FuturesUnordered<_> = (0..IN_FLIGHT).map(|_| worker()).collect();
    while let Some(done) = workers.next().await {
        done?;
    }
    Ok(Outcome::rate(each * IN_FLIGHT, start.elapsed()))
}

async fn large(client: &(impl Client + Sync), plan: &Plan) -> Result<Outcome> {
    let prompt = payload::large_prompt();
    let mut waits = Vec::new();
    for _ in 0..plan.count {
        let request = prompt.clone();
        let start = Instant::now();
        expect_end_turn(&client.prompt(request).await?)?;
        waits.push(start.elapsed());
    }
    Ok(Outcome::best(&waits, payload::LARGE_TEXT_BYTES))
}

pub(crate) fn expect_end_turn(answer: &PromptResponse) -> Result<()> {
    match answer.stop_reason {
        StopReason::EndTurn => Ok(()),
        other => Err(format!("the turn ended with {other:?}").into()),
    }
}
