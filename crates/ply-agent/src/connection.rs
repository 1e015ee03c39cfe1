//! One client's connection: its handshake, and where its requests go.
//!
//! Requests of version 1 are lifted to the meaning of version 2 where they come in, so there is one
//! way through the agent for both.

mod listing;
mod ply;
mod requests;
mod setup;
mod steering;
#[cfg(any(
    feature = "unstable_session_fork",
    feature = "unstable_session_status",
    feature = "unstable_session_set_title",
    feature = "unstable_session_archive"
))]
mod unstable;
mod views;

use std::sync::Arc;
use std::time::Duration;

use ply_rpc::{Closed, Handler, Notification, Peer, Postbox, Request, Responder, RpcError};
use ply_session::Input;
use ply_wire::direct::PlainPrompt;
use ply_wire::handshake::{Handshake, Verdict};
use ply_wire::method::Kind;
use ply_wire::negotiate::{InitializeOffer, Supported, Version, choose};
use ply_wire::{convert, method, v2};

use self::views::Attached;
pub(crate) use self::views::{Leaving, Views};
use crate::client::Client;
use crate::host::Host;
use crate::{About, Caller};

/// How long turns may go on when their client will send nothing more: long enough to end by
/// themselves, short enough to be answered as cancelled before the link closes (C13).
const HANG_UP_TIME: Duration = Duration::from_secs(3);

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    host: Arc<Host>,
    handshake: Handshake,
    client: Option<Arc<Client>>,
    views: Views,
    hang_up: HangUp,
    caller: Arc<Caller>,
    /// Where notifications of the agent's own wait; made for the first one.
    postbox: Option<Postbox>,
}

/// What becomes of turns whose client will send nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HangUp {
    /// They go on: another client may come.
    GoesOn,
    /// They end: the program does.
    Ends,
}

impl Connection {
    pub(crate) fn new(host: Arc<Host>, hang_up: HangUp, caller: Caller) -> Self {
        Self {
            host,
            hang_up,
            caller: Arc::new(caller),
            handshake: Handshake::default(),
            client: None,
            views: Views::default(),
            postbox: None,
        }
    }

    /// Returns who the client is told that it speaks to.
    fn about(&self) -> &About {
        self.caller.about.as_deref().unwrap_or(self.host.about())
    }

    pub(crate) fn views(&self) -> Views {
        self.views.clone()
    }

    fn initialize(&mut self, peer: &Peer, request: Request<'_>, responder: Responder) {
        match self.introduce(peer, request) {
            Ok(client) => {
                let about = self.about();
                let mut answer =
                    v2::InitializeResponse::new(Version::V2.wire(), about.implementation())
                        .capabilities(about.capabilities())
                        .auth_methods(offered_methods(about, &client.capabilities))
                        .meta(steering::advertised(about));
                match client.version {
                    Version::V2 => {
                        ply::advertise(&client, &mut answer.capabilities.meta);
                        responder.respond(Ok(answer));
                    }
                    Version::V1 => {
                        let keep = convert::auth::TerminalAuth::Keep;
                        let mut answer = convert::initialize::response_down(&answer, keep);
                        ply::advertise(&client, &mut answer.agent_capabilities.meta);
                        responder.respond(Ok(answer));
                    }
                }
                self.client = Some(Arc::new(client));
            }
            Err(error) => responder.respond::<()>(Err(error)),
        }
    }

    fn introduce(&mut self, peer: &Peer, request: Request<'_>) -> Result<Client, RpcError> {
        let offer = InitializeOffer::read(request.raw_params)?;
        let version = choose(offer.requested(), Supported::Both)
            .map_err(|error| RpcError::invalid_request(error.to_string()))?;
        let params = offer.decode(version)?;
        self.handshake.initialized(version).map_err(|_| {
            RpcError::invalid_request("the version cannot change once sessions are used")
        })?;
        if version == Version::V2 {
            // V2-RPC-02.
            peer.refuse_odd_ids_with_null();
        }
        Ok(Client::new(peer.clone(), params, Arc::clone(&self.caller)))
    }
}

impl Connection {
    fn extension_notification(&mut self, notification: Notification<'_>) {
        let Some(client) = &self.client else {
            return;
        };
        let postbox = self.postbox.get_or_insert_with(|| {
            let (agent, views) = (self.host.agent(), self.views.clone());
            let client = crate::Client(Arc::clone(client));
            Postbox::new(move |posted| {
                let notification = crate::Extension {
                    method: posted.method,
                    params: posted.raw_params,
                    client: client.clone(),
                    views: views.clone(),
                };
                Arc::clone(&agent).extension_notification(notification)
            })
        });
        if !postbox.post(notification) {
            let method = notification.method;
            tracing::warn!(method, "dropped a notification: too many of them wait");
        }
    }
}

/// Returns the ways to log in that this client can use: terminals only if it has them
/// (V1-AUTH-08).
fn offered_methods(about: &crate::About, client: &v2::ClientCapabilities) -> Vec<v2::AuthMethod> {
    let auth = client.auth.as_ref();
    let has_terminal = auth.is_some_and(|auth| auth.terminal.is_some());
    let methods = about.auth_methods.iter().filter(|method| match method {
        v2::AuthMethod::Terminal(terminal) => has_terminal && has_unique_names(&terminal.env),
        v2::AuthMethod::Agent(_) => true,
        // A type of the agent's own is told by its underscore; others are for later versions (V2-AUTH-04).
        v2::AuthMethod::Other(other) => other.type_.starts_with('_'),
        _ => false,
    });
    methods.cloned().collect()
}

/// Returns whether no variable is set twice (V2-AUTH-08).
fn has_unique_names(env: &[v2::EnvVariable]) -> bool {
    let mut names = std::collections::HashSet::new();
    env.iter().all(|variable| names.insert(&variable.name))
}

impl Handler for Connection {
    fn request(&mut self, peer: &Peer, request: Request<'_>, responder: Responder) {
        // Version 2 has no null ids (V2-RPC-02); version 1 answers them.
        if responder.id().is_null() && self.handshake.version() == Some(Version::V2) {
            return responder.respond::<()>(Err(RpcError::invalid_request("an id is not null")));
        }
        match self.handshake.request(request.method) {
            Verdict::Serve if request.method == "initialize" => {
                return self.initialize(peer, request, responder);
            }
            Verdict::Serve => {}
            Verdict::Refuse(reason) => {
                return responder.respond::<()>(Err(RpcError::invalid_request(reason)));
            }
            Verdict::Ignore => return,
        }
        let Some(client) = self.client.clone() else {
            return;
        };
        let (method, params) = (request.method, request.raw_params);
        if !self.about().offers(method) {
            return responder.respond::<()>(Err(RpcError::method_not_found()));
        }
        if method == "session/prompt"
            && let Some(prompt) = params.and_then(|params| PlainPrompt::read(params.get()))
        {
            let session = prompt.session();
            return self.prompt(&client, &session, prompt.into_content(), None, responder);
        }
        match client.version {
            Version::V1 => match method::v1::AgentInbound::decode_as(Kind::Request, method, params)
            {
                Ok(inbound) => self.request_v1(&client, inbound, responder),
                Err(error) => responder.respond::<()>(Err(error.into())),
            },
            Version::V2 => match method::v2::AgentInbound::decode_as(Kind::Request, method, params)
            {
                Ok(inbound) => self.request_v2(&client, inbound, responder),
                Err(error) => responder.respond::<()>(Err(error.into())),
            },
        }
    }

    fn notification(&mut self, _: &Peer, notification: Notification<'_>) {
        if self.handshake.notification() != Verdict::Serve {
            return;
        }
        if method::is_extension(notification.method) {
            return self.extension_notification(notification);
        }
        // Both versions say it alike, and it is the only one an agent has to hear.
        if notification.method == "session/cancel" {
            match notification.params::<v2::CancelSessionNotification>() {
                Ok(cancel) => {
                    if let Some(Attached { session, view, .. }) = self.views.get(&cancel.session_id)
                    {
                        session.input_if_open(Input::Cancel { view: Some(view) });
                    }
                }
                Err(error) => tracing::debug!(%error, "a cancel cannot be read"),
            }
        }
    }

    fn ended(&mut self, _: &Peer, reason: &Closed) {
        tracing::debug!(%reason, "no more requests will come");
        if self.hang_up == HangUp::Ends {
            let views = self.views.clone();
            tokio::spawn(async move {
                tokio::time::sleep(HANG_UP_TIME).await;
                views.hang_up();
            });
        }
    }
}
