//! The official SDK as its README and examples show it: `AcpAgent` starts the agent, which serves on `Stdio`, both
//! under `#[tokio::main]`.

use agent_client_protocol::{AcpAgent, Stdio};

use super::sdk;
use crate::Result;
use crate::measure::{Outcome, Plan};
use crate::process::Launch;

#[tokio::main]
pub(crate) async fn run(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    let agent = AcpAgent::from_args(launch.words())?;
    sdk::client(agent, plan).await
}

#[tokio::main]
pub(crate) async fn agent() -> Result<()> {
    sdk::agent(Stdio::new()).await
}
