//! The official SDK's client and agent over any of its transports; the two SDK peers differ in transport and runtime.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    InitializeRequest, PromptRequest, PromptResponse, SessionNotification, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agent_client_protocol::{Agent, Client, ConnectTo};

use crate::Result;
use crate::drive::{self, drive};
use crate::measure::{Outcome, Plan, Tally};
use crate::payload;

/// The SDK's queue to the writer is unbounded and its writer runs in the same task, so an agent that never yields
/// builds up its whole answer in memory first. Yielding now and then is what a streaming agent does by nature, and
/// faster.
pub(crate) const UPDATES_PER_YIELD: u64 = 16;

impl drive::Client for ConnectionTo<Agent> {
    async fn set_mode(&self, request: SetSessionModeRequest) -> Result<SetSessionModeResponse> {
        Ok(self.send_request(request).block_task().await?)
    }

    async fn prompt(&self, request: PromptRequest) -> Result<PromptResponse> {
        Ok(self.send_request(request).block_task().await?)
    }
}

/// Connects as a client, initializes and does the work.
pub(super) async fn client(
    transport: impl ConnectTo<Client> + 'static,
    plan: &Plan,
) -> Result<Outcome> {
    let tally = Arc::new(Tally::new(plan.count));
    let seen = Arc::clone(&tally);
    Client
        .v1()
        .name("ply-bench")
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                seen.record(&notification);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(transport, async |connection: ConnectionTo<Agent>| {
            connection
                .send_request(payload::initialize())
                .block_task()
                .await?;
            drive(&connection, plan, &tally).await.map_err(|error| {
                agent_client_protocol::Error::internal_error().data(error.to_string())
            })
        })
        .await
        .map_err(Into::into)
}

/// Serves as the agent until the client closes the connection.
pub(super) async fn agent(transport: impl ConnectTo<Agent> + 'static) -> Result<()> {
    Agent
        .v1()
        .name("ply-bench")
        .on_receive_request(
            async move |initialize: InitializeRequest, responder, _connection| {
                responder.respond(payload::initialized(initialize.protocol_version))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_request: SetSessionModeRequest, responder, _connection| {
                responder.respond(payload::mode_set())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder, connection: ConnectionTo<Client>| {
                let count = payload::updates_asked(&prompt);
                let updates = connection.clone();
                connection.spawn(async move {
                    for sent in 1..=count {
                        updates.send_notification(payload::update())?;
                        if sent % UPDATES_PER_YIELD == 0 {
                            yield_once().await;
                        }
                    }
                    responder.respond(payload::end_turn())
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_to(transport)
        .await
        .map_err(Into::into)
}

/// Lets the SDK's other tasks run, on whichever runtime this is.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
