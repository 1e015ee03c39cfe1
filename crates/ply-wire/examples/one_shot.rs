//! Sends one prompt to any ACP agent and prints what it says: `one_shot PROMPT COMMAND [ARGS…]`.

#![expect(clippy::print_stdout, reason = "the answer goes to stdout")]

use ply_rpc::transport::child::{Command, Grace};
use ply_rpc::{CallOptions, Handler, Notification, Options, Peer, Request, Responder, RpcError};
use ply_wire::link::Typed as _;
use ply_wire::{ProtocolVersion, v1};

/// Prints the agent's words, and allows nothing.
struct Client;

impl Handler for Client {
    fn request(&mut self, _: &Peer, request: Request<'_>, responder: Responder) {
        match request.method {
            "session/request_permission" => responder.respond(Ok(
                v1::RequestPermissionResponse::new(v1::RequestPermissionOutcome::Cancelled),
            )),
            _ => responder.respond::<()>(Err(RpcError::method_not_found())),
        }
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        let Ok(update) = notification.params::<v1::SessionNotification>() else {
            return;
        };
        if let v1::SessionUpdate::AgentMessageChunk(chunk) = update.update
            && let v1::ContentBlock::Text(text) = chunk.content
        {
            print!("{}", text.text);
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(prompt), Some(program)) = (args.next(), args.next()) else {
        return Err("usage: one_shot PROMPT COMMAND [ARGS…]".into());
    };
    let (mut child, stdout, stdin) = Command::new(program).args(args).spawn().await?;
    let (peer, link) = ply_rpc::connect(stdout, stdin, Client, Options::client());
    tokio::spawn(link);

    peer.ask(&v1::InitializeRequest::new(ProtocolVersion::V1))
        .await?;
    let cwd = std::env::current_dir()?;
    let session = peer.ask(&v1::NewSessionRequest::new(cwd)).await?;
    let prompt = v1::PromptRequest::new(session.session_id, vec![prompt.into()]);
    let answer = peer
        .ask_with(&prompt, CallOptions::default().patient())
        .await?;
    println!("\n[{:?}]", answer.stop_reason);

    peer.close();
    child.end(Grace::default()).await?;
    Ok(())
}
