//! An agent that runs, and our end of the connection to it.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ply_rpc::transport::child::{Child, Grace};
use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use crate::agent::hearing::{Hearing, Wish};
use crate::agent::trial::Trial;
use crate::peer::{Answer, Peer, Stopped};
use crate::topic::Running;

/// How long an agent that is done with may take to end, at each step.
const END_TIME_MAX: Duration = Duration::from_millis(500);

/// The last agent that ended or fell silent.
pub(super) type Remains = Arc<Mutex<Option<Child>>>;

/// An agent that runs, and our end of the connection to it.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(super) peer: Peer,
    /// There until it is dropped.
    pub(super) child: Option<Child>,
    pub(in crate::agent) hearing: Hearing,
    pub(super) trial: Arc<Trial>,
    pub(super) remains: Remains,
    /// What it said to `initialize`.
    pub(crate) hello: Value,
    /// The version that is spoken.
    pub(crate) version: Version,
    /// The directory of its sessions.
    pub(crate) cwd: PathBuf,
}

impl Deref for Agent {
    type Target = Peer;

    fn deref(&self) -> &Peer {
        &self.peer
    }
}

impl DerefMut for Agent {
    fn deref_mut(&mut self) -> &mut Peer {
        &mut self.peer
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Others end at once: a probe that starts the agent again may rely on that.
        if self.peer.is_lost() {
            let mut remains = self.remains.lock().unwrap_or_else(PoisonError::into_inner);
            *remains = self.child.take();
        }
    }
}

impl Agent {
    /// Returns a member of the agent's capabilities by its JSON pointer, such as `/loadSession`; null if it is not there.
    pub(crate) fn capability(&self, pointer: &str) -> &Value {
        let root = match self.version {
            Version::V1 => "agentCapabilities",
            Version::V2 => "capabilities",
        };
        let capabilities = self.hello.get(root);
        let found = capabilities.and_then(|capabilities| capabilities.pointer(pointer));
        found.unwrap_or(&Value::Null)
    }

    /// Returns whether a capability is there and is neither null nor false.
    pub(crate) fn offers(&self, pointer: &str) -> bool {
        !matches!(self.capability(pointer), Value::Null | Value::Bool(false))
    }

    /// Returns the parameters of a request that opens a session here.
    pub(crate) fn setup(&self) -> Value {
        json!({"cwd": self.cwd, "mcpServers": []})
    }

    /// As [`Peer::need`], but a session is not asked for once that was in vain too often.
    pub(crate) async fn need(
        &mut self,
        method: &str,
        params: Value,
    ) -> Result<(Answer, Value), Stopped> {
        if method != "session/new" {
            return self.peer.need(method, params).await;
        }
        self.hearing.try_for(Wish::Session)?;
        let came = self.peer.need(method, params).await;
        self.hearing.learn(Wish::Session, &came);
        came
    }

    /// Refuses to prompt an agent that has no working model, or does not end its turns.
    pub(in crate::agent) fn may_prompt(&self) -> Running<'static> {
        let (hearing, trial) = (self.hearing.clone(), Arc::clone(&self.trial));
        Box::pin(async move {
            hearing.try_for(Wish::Turn)?;
            hearing.can_prompt(&trial).await
        })
    }

    /// Makes a session.
    pub(crate) async fn new_session(&mut self) -> Result<String, Stopped> {
        let setup = self.setup();
        let (_, result) = self.need("session/new", setup).await?;
        let id = result.get("sessionId").and_then(Value::as_str);
        id.map(str::to_owned)
            .ok_or_else(|| Stopped::Other("`session/new` returned no session id".to_owned()))
    }

    /// Waits for the process to end by itself.
    pub(crate) async fn exit(&mut self, within: Duration) -> Option<ExitStatus> {
        let child = self.child.as_mut()?;
        let ended = tokio::time::timeout(within, child.wait()).await;
        ended.ok()?.ok()
    }

    /// Ends it: by closing its input, then by asking, then by force.
    pub(crate) async fn end(mut self) {
        self.peer.close_output().await;
        let mut grace = Grace::default();
        (grace.after_close, grace.after_term) = (END_TIME_MAX, END_TIME_MAX);
        if let Some(child) = &mut self.child
            && let Err(error) = child.end(grace).await
        {
            tracing::debug!(%error, "an agent did not end well");
        }
    }
}
