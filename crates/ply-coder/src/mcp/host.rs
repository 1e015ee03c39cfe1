//! What a server may ask of the agent, and what it tells it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorData, Implementation, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, RootsCapabilities,
};
#[expect(deprecated, reason = "many servers still ask for roots")]
use rmcp::model::{ListRootsResult, Root};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::{Mutex, watch};

use super::words;

/// How long the words of a progress notification may be, in characters.
const PROGRESS_CHARS_MAX: usize = 200;

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Progress {
    done: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Progress {
    /// Says it in a few words.
    pub(super) fn words(&self) -> String {
        let mut words = self.done.to_string();
        if let Some(total) = self.total {
            words = format!("{words}/{total}");
        }
        if let Some(message) = &self.message {
            words = format!("{words} {message}");
        }
        words::line(&words, PROGRESS_CHARS_MAX)
    }
}

/// What a server told during one connection.
#[derive(Debug)]
pub(super) struct Told {
    /// Grows whenever its list of tools changes.
    pub(super) tools_version: AtomicU64,
    /// The version of the list it was asked for last.
    pub(super) tools_known: AtomicU64,
    /// The calls that want to know how far they are.
    ///
    /// The token of a call is known only once it is sent; the lock is held meanwhile, so that what the server says at once waits.
    pub(super) calls: Mutex<HashMap<ProgressToken, watch::Sender<Option<Progress>>>>,
}

impl Default for Told {
    fn default() -> Self {
        Self {
            tools_version: AtomicU64::new(1),
            tools_known: AtomicU64::new(0),
            calls: Mutex::default(),
        }
    }
}

/// The agent, as a server sees it.
///
/// Sampling and elicitation are not offered; a server that asks all the same is refused and declined, by default.
#[derive(Debug)]
pub(super) struct Host {
    root: Option<String>,
    told: Arc<Told>,
}

impl Host {
    /// Returns a host for a session in `cwd`.
    pub(super) fn new(cwd: &Path, told: Arc<Told>) -> Self {
        let root = reqwest::Url::from_directory_path(cwd).ok();
        Self {
            root: root.map(String::from),
            told,
        }
    }
}

#[expect(deprecated, reason = "many servers still ask for roots")]
impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = self.root.is_some().then(RootsCapabilities::default);
        let own = Implementation::new("ply", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, own)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(
            self.root.iter().map(Root::new).collect(),
        ))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let mut calls = self.told.calls.lock().await;
        let Some(call) = calls.get(&params.progress_token) else {
            return;
        };
        let progress = Progress {
            done: params.progress,
            total: params.total,
            message: params.message,
        };
        // Notifications are handled side by side and may overtake each other; progress only grows.
        call.send_if_modified(|shown| {
            let further = shown
                .as_ref()
                .is_none_or(|shown| shown.done <= progress.done);
            if further {
                *shown = Some(progress);
            }
            further
        });
        if call.is_closed() {
            calls.remove(&params.progress_token);
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.told.tools_version.fetch_add(1, Ordering::AcqRel);
    }
}
