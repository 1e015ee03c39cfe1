//! One command in the sandbox: how its helper is called, and what it is told.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ply_rpc::transport::child::Command;

use super::enter::ATTRIBUTES;
use super::gate::{self, Gate};
use super::{Confinement, HELPER_WORD, Network, Sandbox, Secrets, Writable};
use crate::shell::environment;

/// How a command is confined.
#[derive(Debug)]
pub(in crate::shell) struct Sandboxed {
    helper: PathBuf,
    arguments: Vec<OsString>,
    writable: Vec<PathBuf>,
    cache: Option<PathBuf>,
    /// Where programs put temporary files, if that is a place of the session's own.
    temporary: Option<PathBuf>,
    /// Whether git passes over the content of files that look like secrets.
    passes_secrets: bool,
    network: Network,
    /// The way out of its network.
    gate: Option<Arc<Gate>>,
}

impl Sandboxed {
    /// Returns how a command is confined, with the way out of its network if it needs one.
    pub(in crate::shell) fn new(
        sandbox: &Sandbox,
        confinement: Confinement,
        secrets: Secrets,
        writable: &Writable,
        gate: Option<Arc<Gate>>,
    ) -> Option<Self> {
        let mut order = writable.order(sandbox, confinement, secrets);
        let network = sandbox.network_for(confinement);
        order.no_network = network != Network::Shared;
        if gate.is_some() {
            order.gate = writable.private().map(|private| private.gate());
        }
        let mut arguments = vec![HELPER_WORD.into()];
        arguments.extend(order.arguments());
        Some(Self {
            helper: sandbox.helper.clone()?,
            arguments,
            writable: writable.of(confinement),
            cache: writable.cache(confinement).map(Path::to_path_buf),
            temporary: writable
                .private()
                .and_then(|private| private.places().first())
                .map(|(place, _)| place.clone()),
            passes_secrets: secrets != Secrets::Shown && writable.private().is_some(),
            network,
            gate,
        })
    }

    /// Returns the helper; what it is to run follows.
    pub(in crate::shell) fn command(&self) -> Command {
        Command::new(&self.helper).args(&self.arguments)
    }

    /// Points programs to temporary files, to the cache and to the proxy.
    pub(in crate::shell) fn with_environment(&self, mut command: Command) -> Command {
        if let Some(temporary) = &self.temporary {
            // What the user's leads to may be gone with the place that it lies in.
            command = command.env("TMPDIR", temporary);
        }
        if self.passes_secrets {
            command = environment::with_git_setting(command, "core.attributesFile", ATTRIBUTES);
        }
        if let Some(cache) = &self.cache {
            let downloads = self.network != Network::Off;
            command = environment::point_to_cache(command, cache, downloads);
        }
        match (self.network, &self.gate) {
            (Network::Shared, _) => command,
            (_, Some(_)) => environment::point_to_proxy(command, gate::PORT),
            // Proxies of the user are out of reach, and programs would wait for them.
            (_, None) => environment::without_proxies(command),
        }
    }

    /// Returns the directories that may be written to.
    pub(in crate::shell) fn writable(&self) -> &[PathBuf] {
        &self.writable
    }

    pub(in crate::shell) fn network(&self) -> Network {
        self.network
    }

    /// Returns the hosts that commands were refused since this was last called.
    pub(in crate::shell) fn take_refused(&self) -> Vec<String> {
        let gate = self.gate.as_ref();
        gate.map(|gate| gate.take_refused()).unwrap_or_default()
    }
}
