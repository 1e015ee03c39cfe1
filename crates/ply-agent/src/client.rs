//! The client at the other end of a connection, and what it offers.

use std::sync::Arc;

use ply_rpc::Peer;
use ply_session::{Answers, Viewer};
use ply_wire::convert::auth::TerminalAuth;
use ply_wire::link::Typed as _;
use ply_wire::negotiate::{InitializeParams, Version};
use ply_wire::project::Shows;
use ply_wire::{convert, v1, v2};
use serde_json::Value;

use crate::{Caller, Error, Result};

/// A client, once it has introduced itself.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) peer: Peer,
    pub(crate) version: Version,
    pub(crate) info: Option<v2::Implementation>,
    pub(crate) capabilities: v2::ClientCapabilities,
    /// What only version 1 has.
    pub(crate) services: Services,
    pub(crate) shows: Shows,
    pub(crate) caller: Arc<Caller>,
    /// Whether it wants to know how far it is, to come back there.
    pub(crate) cursors: bool,
}

/// Services of a version 1 client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Services {
    pub(crate) read_text_file: bool,
    pub(crate) write_text_file: bool,
    pub(crate) terminal: bool,
}

impl Client {
    pub(crate) fn new(peer: Peer, params: InitializeParams, caller: Arc<Caller>) -> Self {
        match params {
            InitializeParams::V1(request) => {
                let offered = &request.client_capabilities;
                let up = convert::initialize::request_up(&request, TerminalAuth::Keep);
                Self {
                    peer,
                    version: Version::V1,
                    info: request.client_info.is_some().then_some(up.info),
                    capabilities: up.capabilities,
                    services: Services::from(offered),
                    shows: Shows::from(offered),
                    caller,
                    cursors: wants_cursors(offered.meta.as_ref()),
                }
            }
            InitializeParams::V2(request) => Self {
                peer,
                version: Version::V2,
                info: Some(request.info),
                cursors: wants_cursors(request.capabilities.meta.as_ref()),
                capabilities: request.capabilities,
                services: Services::default(),
                shows: Shows::ALL,
                caller,
            },
        }
    }

    /// Returns what a session has to know of it.
    pub(crate) fn viewer(&self) -> Viewer {
        let mut viewer = Viewer::new(self.version, self.shows, self.answers());
        viewer.principal.clone_from(&self.caller.principal);
        viewer.rights = self.caller.rights;
        viewer.cursors = self.cursors;
        viewer
    }

    /// Tells it that the visit to a URL is over.
    pub(crate) async fn finish_url(
        &self,
        complete: &v2::CompleteElicitationNotification,
    ) -> Result<()> {
        let told = match self.version {
            Version::V2 => self.peer.tell(complete).await,
            Version::V1 => {
                let complete = convert::elicitation::complete_down(complete);
                self.peer.tell(&complete).await
            }
        };
        told.map_err(Error::client)
    }

    /// Returns which questions it can put to its user.
    pub(crate) fn answers(&self) -> Answers {
        let elicitation = self.capabilities.elicitation.as_ref();
        Answers {
            form: elicitation.is_some_and(|elicitation| elicitation.form.is_some()),
            url: elicitation.is_some_and(|elicitation| elicitation.url.is_some()),
        }
    }
}

/// Returns whether the metadata of a client's capabilities says `{"ply": {"cursors": …}}`.
fn wants_cursors(meta: Option<&v2::Meta>) -> bool {
    let cursors = meta.and_then(|meta| meta.get("ply")?.get("cursors"));
    cursors.is_some_and(|cursors| !matches!(cursors, Value::Null | Value::Bool(false)))
}

impl From<&v1::ClientCapabilities> for Services {
    fn from(client: &v1::ClientCapabilities) -> Self {
        Self {
            read_text_file: client.fs.read_text_file,
            write_text_file: client.fs.write_text_file,
            terminal: client.terminal,
        }
    }
}
