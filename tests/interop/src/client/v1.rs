//! The connection on version 1, with the services that only this version has.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, KillTerminalRequest, KillTerminalResponse, ReadTextFileRequest,
    ReleaseTerminalRequest, ReleaseTerminalResponse, RequestPermissionRequest, SessionNotification,
    TerminalOutputRequest, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
    WriteTextFileRequest,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
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
    let [updates, read, write, create, output, wait, kill, release] =
        std::array::from_fn(|_| Arc::clone(&shared));
    Client
        .v1()
        .name("sdk-client")
        .on_receive_notification(
            async move |update: SessionNotification, _agent| updates.updated(&update),
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest,
                        responder: Responder<_>,
                        agent: ConnectionTo<Agent>| {
                let responder = responder.erase_to_json();
                agent.spawn(shared.permit(Version::V1, &request, responder)?)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReadTextFileRequest, responder: Responder<_>, _agent| {
                read.asked("fs/read_text_file", &request)?;
                responder.respond_with_result(read.read_file(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, responder: Responder<_>, _agent| {
                write.asked("fs/write_text_file", &request)?;
                responder.respond_with_result(write.write_file(request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CreateTerminalRequest, responder: Responder<_>, _agent| {
                create.asked("terminal/create", &request)?;
                responder.respond_with_result(create.terminals.create(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: TerminalOutputRequest, responder: Responder<_>, _agent| {
                output.asked("terminal/output", &request)?;
                responder.respond_with_result(output.terminals.output(&request.terminal_id))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WaitForTerminalExitRequest,
                        responder: Responder<_>,
                        agent: ConnectionTo<Agent>| {
                wait.asked("terminal/wait_for_exit", &request)?;
                let exit = match wait.terminals.exit(&request.terminal_id) {
                    Ok(exit) => exit,
                    Err(error) => return responder.respond_with_error(error),
                };
                agent.spawn(async move {
                    responder.respond(WaitForTerminalExitResponse::new(exit.await))
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: KillTerminalRequest, responder: Responder<_>, _agent| {
                kill.asked("terminal/kill", &request)?;
                let killed = kill.terminals.kill(&request.terminal_id);
                responder.respond_with_result(killed.map(|()| KillTerminalResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReleaseTerminalRequest, responder: Responder<_>, _agent| {
                release.asked("terminal/release", &request)?;
                let released = release.terminals.release(&request.terminal_id);
                responder.respond_with_result(released.map(|()| ReleaseTerminalResponse::new()))
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
