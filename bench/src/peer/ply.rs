//! This project: `ply_rpc` as its documentation shows it, on one thread per process.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    InitializeRequest, InitializeResponse, PromptRequest, PromptResponse, SessionNotification,
    SetSessionModeRequest, SetSessionModeResponse,
};
use ply_rpc::transport::child::{Command, Grace};
use ply_rpc::transport::stdio;
use ply_rpc::{Handler, Notification, Options, Peer, Request, Responder, RpcError};

use crate::Result;
use crate::drive::{self, drive};
use crate::measure::{Outcome, Plan, Tally};
use crate::payload;
use crate::process::Launch;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    let (program, arguments) = launch.words().split_first().ok_or("no command")?;
    let command = Command::new(program).args(arguments);
    let (mut agent, stdout, stdin) = command.spawn().await?;
    let tally = Arc::new(Tally::new(plan.count));
    let handler = Client(Arc::clone(&tally));
    let (peer, link) = ply_rpc::connect(stdout, stdin, handler, Options::client());
    let link = tokio::spawn(link);
    peer.call::<InitializeResponse>("initialize", &payload::initialize())
        .await?;
    // In a task, as a program would: the runtime looks for events before it turns back to its main future.
    let (driver, plan) = (peer.clone(), *plan);
    let driving = async move { drive(&driver, &plan, &tally).await };
    let outcome = tokio::spawn(driving).await??;
    peer.close();
    link.await?;
    let status = agent.end(Grace::default()).await?;
    if !status.success() {
        return Err(format!("the agent failed: {status}").into());
    }
    Ok(outcome.noted("pipes as the child transport asks for them, current-thread runtime"))
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn agent() -> Result<()> {
    let (stdin, stdout) = stdio::take()?;
    let (_, link) = ply_rpc::connect(stdin, stdout, Agent, Options::agent());
    // The client closes its end when it is done; that is not an error.
    tokio::spawn(link).await?;
    Ok(())
}

impl drive::Client for Peer {
    async fn set_mode(&self, request: SetSessionModeRequest) -> Result<SetSessionModeResponse> {
        Ok(self.call("session/set_mode", &request).await?)
    }

    async fn prompt(&self, request: PromptRequest) -> Result<PromptResponse> {
        Ok(self.call("session/prompt", &request).await?)
    }
}

/// Decodes and counts updates.
struct Client(Arc<Tally>);

impl Handler for Client {
    fn request(&mut self, _: &Peer, _: Request<'_>, responder: Responder) {
        responder.respond::<()>(Err(RpcError::method_not_found()));
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        if notification.method == "session/update"
            && let Ok(update) = notification.params::<SessionNotification>()
        {
            self.0.record(&update);
        }
    }
}

/// Answers every request and streams the updates a prompt asks for.
struct Agent;

impl Handler for Agent {
    fn request(&mut self, peer: &Peer, request: Request<'_>, responder: Responder) {
        match request.method {
            "session/set_mode" => responder.respond(
                request
                    .params()
                    .map(|_: SetSessionModeRequest| payload::mode_set()),
            ),
            "session/prompt" => match request.params::<PromptRequest>() {
                Ok(prompt) => responder.run(turn(peer.clone(), payload::updates_asked(&prompt))),
                Err(error) => responder.respond::<()>(Err(error)),
            },
            "initialize" => responder.respond(
                request
                    .params()
                    .map(|ask: InitializeRequest| payload::initialized(ask.protocol_version)),
            ),
            _ => responder.respond::<()>(Err(RpcError::method_not_found())),
        }
    }

    fn notification(&mut self, _: &Peer, _: Notification<'_>) {}
}

async fn turn(peer: Peer, count: u64) -> std::result::Result<PromptResponse, RpcError> {
    for _ in 0..count {
        peer.notify("session/update", &payload::update())
            .await
            .map_err(|_| RpcError::internal("an update cannot be sent"))?;
    }
    Ok(payload::end_turn())
}
