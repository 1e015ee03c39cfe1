//! Typed calls over a real link: the params say which method it is.

use ply_rpc::transport::memory;
use ply_rpc::{CallError, Handler, Notification, Options, Peer, Request, Responder};
use ply_wire::handshake::{Handshake, Verdict};
use ply_wire::link::{Typed as _, rpc_error_v1};
use ply_wire::method::v1::AgentInbound;
use ply_wire::negotiate::Version;
use ply_wire::v1;

/// An agent of a few lines: decodes by table, keeps the handshake, knows one session.
#[derive(Default)]
struct Agent {
    handshake: Handshake,
    cancelled: Vec<v1::SessionId>,
}

impl Handler for Agent {
    fn request(&mut self, _: &Peer, request: Request<'_>, responder: Responder) {
        if let Verdict::Refuse(reason) = self.handshake.request(request.method) {
            return responder.respond::<()>(Err(ply_rpc::RpcError::invalid_request(reason)));
        }
        match AgentInbound::decode(request.method, request.raw_params) {
            Ok(AgentInbound::Initialize(_)) => {
                self.handshake.initialized(Version::V1).unwrap();
                responder.respond(Ok(v1::InitializeResponse::new(v1_version())));
            }
            Ok(AgentInbound::NewSession(_)) => {
                responder.respond(Ok(v1::NewSessionResponse::new("s")))
            }
            Ok(AgentInbound::Prompt(prompt)) => {
                let unknown = v1::Error::session_not_found(prompt.session_id);
                responder.respond::<v1::PromptResponse>(Err(rpc_error_v1(&unknown)));
            }
            Ok(AgentInbound::ListSessions(_)) => {
                responder.respond(Ok(v1::ListSessionsResponse::new(vec![])));
            }
            Ok(_) => responder.respond::<()>(Err(ply_rpc::RpcError::method_not_found())),
            Err(error) => responder.respond::<()>(Err(error.into())),
        }
    }

    fn notification(&mut self, peer: &Peer, notification: Notification<'_>) {
        if self.handshake.notification() != Verdict::Serve {
            return;
        }
        if let Ok(AgentInbound::Cancel(cancel)) =
            AgentInbound::decode(notification.method, notification.raw_params)
        {
            self.cancelled.push(cancel.session_id.clone());
            let chunk = v1::ContentChunk::new("cancelled".into());
            let update = v1::SessionNotification::new(
                cancel.session_id,
                v1::SessionUpdate::AgentMessageChunk(chunk),
            );
            peer.tell_now(&update).unwrap();
        }
    }
}

fn v1_version() -> ply_wire::ProtocolVersion {
    ply_wire::ProtocolVersion::V1
}

/// Keeps the texts of updates.
struct Client(tokio::sync::mpsc::Sender<v1::SessionNotification>);

impl Handler for Client {
    fn request(&mut self, _: &Peer, _: Request<'_>, responder: Responder) {
        responder.respond::<()>(Err(ply_rpc::RpcError::method_not_found()));
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        self.0.try_send(notification.params().unwrap()).unwrap();
    }
}

#[tokio::test]
async fn params_choose_the_method_and_the_result() {
    let (here, there) = memory::pair(4096);
    let (updates, mut seen) = tokio::sync::mpsc::channel(10);
    let (_, agent) = ply_rpc::connect(there.0, there.1, Agent::default(), Options::agent());
    let (peer, client) = ply_rpc::connect(here.0, here.1, Client(updates), Options::client());
    tokio::spawn(agent);
    tokio::spawn(client);

    // B10: too early is an invalid request, and a cancellation too early is dropped.
    peer.tell(&v1::CancelNotification::new("early"))
        .await
        .unwrap();
    let early = peer
        .ask(&v1::NewSessionRequest::new("/"))
        .await
        .unwrap_err();
    assert!(matches!(early, CallError::Peer(error) if error.code == -32600));

    let answer = peer
        .ask(&v1::InitializeRequest::new(v1_version()))
        .await
        .unwrap();
    assert_eq!(answer.protocol_version, v1_version());
    let session = peer.ask(&v1::NewSessionRequest::new("/")).await.unwrap();
    assert_eq!(session.session_id, "s".into());
    assert!(
        peer.ask(&v1::ListSessionsRequest::new())
            .await
            .unwrap()
            .sessions
            .is_empty()
    );

    let unknown = peer
        .ask(&v1::PromptRequest::new("x", vec!["hello".into()]))
        .await
        .unwrap_err();
    let CallError::Peer(error) = unknown else {
        panic!("{unknown}")
    };
    assert_eq!(
        (error.code, error.data.unwrap().get()),
        (-32002, r#"{"sessionId":"x"}"#)
    );

    peer.tell(&v1::CancelNotification::new("s")).await.unwrap();
    let update = seen.recv().await.unwrap();
    assert_eq!(update.session_id, "s".into());
}
