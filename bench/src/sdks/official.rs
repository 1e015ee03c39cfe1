//! The official SDK: the way its documentation shows it, and the fastest arrangement found.
//!
//! As documented: `#[tokio::main]`, `AcpAgent` and `Stdio`, and an `ActiveSession` that is read with `read_update`. The
//! fastest: `ByteStreams` on non-blocking pipes, one thread, and one handler that gets the updates of all sessions, which
//! saves the SDK's search for the session.

mod active;
mod agent;
mod handled;

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    InitializeRequest, ListSessionsRequest, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome, SessionId,
    SetSessionConfigOptionRequest, SetSessionModeRequest, StopReason,
};
use agent_client_protocol::{AcpAgent, Agent, Client, ConnectTo, Stdio};

use super::client::{End, Stopper};
use super::drive::drive;
use super::start;
use super::tally::Tally;
use super::work::{Plan, Work};
use crate::Result;
use crate::measure::Outcome;
use crate::peer::sdk_fastest::{on_tokio, tokio_streams};
use crate::process::{Launch, agent_pipes};

/// The name of the session's one option.
const OPTION: &str = "mode";

#[tokio::main]
pub(super) async fn documented(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    if plan.work == Work::Start {
        return start::run(plan, || async {
            let begun = Instant::now();
            greet(AcpAgent::from_args(launch.words())?, begun).await
        })
        .await;
    }
    let (plan, tally) = (*plan, Arc::<Tally>::default());
    let connection = Client
        .v1()
        .name("ply-bench")
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _agent| {
                responder.respond(allow(&request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(
            AcpAgent::from_args(launch.words())?,
            async |agent: ConnectionTo<Agent>| {
                initialize(&agent).await?;
                let client = active::Client::new(agent, Arc::clone(&tally));
                drive(client, plan, tally).await.map_err(to_sdk)
            },
        );
    let outcome = connection.await?;
    Ok(outcome.noted("AcpAgent, Stdio, ActiveSession, multi-thread runtime"))
}

#[tokio::main]
pub(super) async fn documented_agent() -> Result<()> {
    agent::serve(Stdio::new()).await
}

pub(super) fn fastest(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    if plan.work == Work::Start {
        return on_tokio(start::run(plan, || async {
            let begun = Instant::now();
            let (process, stdin, stdout) = launch.spawn()?;
            let took = greet(tokio_streams(stdin.into(), stdout.into())?, begun).await?;
            process.finish()?;
            Ok(took)
        }));
    }
    let (process, stdin, stdout) = launch.spawn()?;
    let outcome = on_tokio(async {
        let (plan, tally) = (*plan, Arc::<Tally>::default());
        let seen = Arc::clone(&tally);
        let connection = Client
            .v1()
            .name("ply-bench")
            .on_receive_notification(
                async move |update, _agent| {
                    handled::record(&seen, &update);
                    Ok(())
                },
                agent_client_protocol::on_receive_notification!(),
            )
            .on_receive_request(
                async move |request: RequestPermissionRequest, responder, _agent| {
                    responder.respond(allow(&request))
                },
                agent_client_protocol::on_receive_request!(),
            )
            .connect_with(
                tokio_streams(stdin.into(), stdout.into())?,
                async |agent: ConnectionTo<Agent>| {
                    initialize(&agent).await?;
                    let client = handled::Client::new(agent);
                    drive(client, plan, tally).await.map_err(to_sdk)
                },
            );
        Ok(connection.await?)
    })?;
    process.finish()?;
    Ok(outcome.noted("ByteStreams on tokio pipes, one handler, current-thread runtime"))
}

pub(super) fn fastest_agent() -> Result<()> {
    let (input, output) = agent_pipes()?;
    on_tokio(async { agent::serve(tokio_streams(output.into(), input.into())?).await })
}

/// Connects and initializes; says how long it is since `begun` when the answer is here.
async fn greet(transport: impl ConnectTo<Client> + 'static, begun: Instant) -> Result<Duration> {
    let connection = Client.v1().name("ply-bench").connect_with(
        transport,
        async |agent: ConnectionTo<Agent>| {
            initialize(&agent).await?;
            Ok(begun.elapsed())
        },
    );
    Ok(connection.await?)
}

async fn initialize(agent: &ConnectionTo<Agent>) -> agent_client_protocol::Result<()> {
    let request = InitializeRequest::new(ProtocolVersion::V1);
    agent.send_request(request).block_task().await?;
    Ok(())
}

async fn list(agent: &ConnectionTo<Agent>) -> Result<()> {
    let request = agent.send_request(ListSessionsRequest::new());
    match request.block_task().await?.sessions.is_empty() {
        true => Err("the list of sessions is empty".into()),
        false => Ok(()),
    }
}

async fn set_option(agent: &ConnectionTo<Agent>, session: &SessionId, value: &str) -> Result<()> {
    let request = SetSessionConfigOptionRequest::new(session.clone(), OPTION, value);
    agent.send_request(request).block_task().await?;
    Ok(())
}

async fn set_mode(agent: &ConnectionTo<Agent>, session: &SessionId, mode: &str) -> Result<()> {
    let request = SetSessionModeRequest::new(session.clone(), mode.to_owned());
    agent.send_request(request).block_task().await?;
    Ok(())
}

/// Allows once, found by kind and not by position, as the SDK's example does it.
fn allow(request: &RequestPermissionRequest) -> RequestPermissionResponse {
    let mut options = request.options.iter();
    let once = options.find(|option| option.kind == PermissionOptionKind::AllowOnce);
    RequestPermissionResponse::new(match once {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
            option.option_id.clone(),
        )),
        None => RequestPermissionOutcome::Cancelled,
    })
}

fn end_of(stop: StopReason) -> End {
    match stop {
        StopReason::EndTurn => End::Regular,
        StopReason::Cancelled => End::Cancelled,
        _ => End::Other,
    }
}

fn to_sdk(error: Box<dyn std::error::Error + Send + Sync>) -> agent_client_protocol::Error {
    agent_client_protocol::Error::internal_error().data(error.to_string())
}

/// Cancels by notification.
pub(super) struct Cancel {
    agent: ConnectionTo<Agent>,
    session: SessionId,
}

impl Stopper for Cancel {
    async fn cancel(&self) -> Result<()> {
        use agent_client_protocol::v1::schema::CancelNotification;
        let cancel = CancelNotification::new(self.session.clone());
        Ok(self.agent.send_notification(cancel)?)
    }
}
