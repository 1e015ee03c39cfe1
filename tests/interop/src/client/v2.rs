//! The connection on version 2.

use std::sync::Arc;

use agent_client_protocol::v2::schema::{RequestPermissionRequest, UpdateSessionNotification};
use agent_client_protocol::v2::{ConnectionTo, Responder};
use agent_client_protocol::{
    AcpAgent, Agent, Client, ConnectionTo as RawConnectionTo, Result, on_receive_notification,
    on_receive_request,
};
use tokio::sync::oneshot;

use super::{Shared, Version};

/// Runs the connection until the client stops it.
pub(super) async fn run(
    agent: AcpAgent,
    shared: Arc<Shared>,
    ready: oneshot::Sender<RawConnectionTo<Agent>>,
    stopped: oneshot::Receiver<()>,
) -> Result<()> {
    let updates = Arc::clone(&shared);
    Client
        .v2()
        .name("sdk-client")
        .on_receive_notification(
            async move |update: UpdateSessionNotification, _agent| updates.updated(&update),
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest,
                        responder: Responder<_>,
                        agent: ConnectionTo<Agent>| {
                let responder = responder.erase_to_json();
                agent.spawn(shared.permit(Version::V2, &request, responder)?)
            },
            on_receive_request!(),
        )
        .connect_with(agent, async move |agent: ConnectionTo<Agent>| {
            // A client that is gone already ends the connection with the next line.
            drop(ready.send(agent.into_raw()));
            drop(stopped.await);
            Ok(())
        })
        .await
}
