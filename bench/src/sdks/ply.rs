//! This project: `ply_agent` and `ply_client`, as documented under `#[tokio::main]`, and on one thread.

mod agent;
mod client;
mod fair;
mod modes;
mod resume;

pub(crate) use agent::Worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use ply_client::{AllowAll, Client, Supported};

use super::drive::drive;
use super::start;
use super::tally::Tally;
use super::work::{Plan, Work};
use crate::Result;
use crate::measure::Outcome;
use crate::process::Launch;

#[tokio::main]
pub(super) async fn documented(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    let outcome = run(plan, launch, async |work| work.await).await?;
    Ok(outcome.noted("as in the examples, multi-thread runtime"))
}

#[tokio::main]
pub(super) async fn documented_agent(store: Option<PathBuf>) -> Result<()> {
    Ok(server(store).stdio().await?)
}

#[tokio::main(flavor = "current_thread")]
pub(super) async fn fastest(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    // In a task: the runtime looks for events before it turns back to its main future.
    let outcome = run(plan, launch, async |work| tokio::spawn(work).await?).await?;
    Ok(outcome.noted("current-thread runtime"))
}

#[tokio::main(flavor = "current_thread")]
pub(super) async fn fastest_agent(store: Option<PathBuf>) -> Result<()> {
    Ok(tokio::spawn(server(store).stdio()).await??)
}

/// The agent with its sessions in a file, or in memory.
fn server(store: Option<PathBuf>) -> ply_agent::Server {
    let server = ply_agent::serve(agent::Worker);
    match store {
        Some(store) => server.journal(store),
        None => server,
    }
}

type Driving = std::pin::Pin<Box<dyn Future<Output = Result<Outcome>> + Send>>;

async fn run(
    plan: &Plan,
    launch: &Launch,
    place: impl AsyncFnOnce(Driving) -> Result<Outcome>,
) -> Result<Outcome> {
    let settings = Client::new()
        .info("ply-bench", "0.1.0")
        .versions(Supported::V1)
        .permissions(AllowAll);
    let command = launch.words().to_vec();
    if plan.work == Work::Start {
        return start::run(plan, || async {
            let (settings, command) = (settings.clone(), command.clone());
            let begun = Instant::now();
            let agent = settings.spawn(command).await?;
            let took = begun.elapsed();
            agent.close().await;
            Ok(took)
        })
        .await;
    }
    let tally = Arc::<Tally>::default();
    let agent = settings.spawn(command).await?;
    let driving: Driving = match plan.work {
        Work::Fair => Box::pin(fair::run(agent.clone(), plan.count)),
        Work::Resume => Box::pin(resume::run(agent.clone(), *plan)),
        Work::SetModeRaw => Box::pin(modes::one_by_one(agent.clone(), *plan)),
        Work::SetModeRaw64 => Box::pin(modes::inflight(agent.clone(), *plan)),
        _ => {
            let client = client::Client::new(agent.clone(), Arc::clone(&tally));
            Box::pin(drive(client, *plan, tally))
        }
    };
    let outcome = place(driving).await?;
    let reports = agent.reports();
    agent.close().await;
    if let Some(report) = reports.first() {
        return Err(format!("the client noticed a broken rule: {report:?}").into());
    }
    Ok(outcome)
}
