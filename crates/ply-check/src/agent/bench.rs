//! Where an agent is probed: starts it as often as needed, and keeps what was found.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use ply_client::Direction;
use ply_rpc::transport::child::{Child, Command, Grace};
use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::subject::Subject;
use crate::findings::{Findings, Found};
use crate::peer::{Peer, Service, Stopped};
use crate::recording::Recording;
use crate::verdict::{Evidence, Outcome};

/// How long an agent that is done with may take to end, at each step.
const END_TIME_MAX: Duration = Duration::from_millis(500);

/// Where an agent is probed.
#[derive(Debug)]
pub struct Bench {
    /// The agent.
    pub subject: Subject,
    /// The version that is spoken.
    pub version: Version,
    pub(crate) findings: Findings,
    probe: &'static str,
    /// An agent that was greeted and can be used once more.
    spare: Option<Agent>,
}

impl Bench {
    pub(super) fn new(subject: Subject, version: Version, findings: Findings) -> Self {
        Self {
            subject,
            version,
            findings,
            probe: "",
            spare: None,
        }
    }

    pub(super) fn begin(&mut self, probe: &'static str) {
        self.probe = probe;
    }

    /// Starts the agent, and says nothing to it.
    pub(crate) async fn start(&mut self) -> Result<Agent, Stopped> {
        let [program, arguments @ ..] = self.subject.command.as_slice() else {
            return Err(Stopped::Spawn("no command was given".to_owned()));
        };
        let mut command = Command::new(program).args(arguments).cwd(&self.subject.cwd);
        for (name, value) in &self.subject.env {
            command = command.env(name, value);
        }
        let (child, stdout, stdin) = command
            .spawn()
            .await
            .map_err(|error| Stopped::Spawn(error.to_string()))?;
        let recording = Recording::new(self.probe);
        let mut peer = Peer::new(stdout, stdin, Direction::ToAgent, recording.clone());
        peer.patience = self.subject.patience;
        peer.place = self.findings.recordings.len();
        self.findings.recordings.push(recording);
        Ok(Agent {
            peer,
            child,
            hello: Value::Null,
            version: self.version,
            cwd: self.subject.cwd.clone(),
        })
    }

    /// Returns an agent that was greeted by a client without any capabilities; it may have served another probe before.
    pub(crate) async fn greeted(&mut self) -> Result<Agent, Stopped> {
        match self.spare.take() {
            Some(agent) => Ok(agent),
            None => self.greeted_with(json!({})).await,
        }
    }

    /// Starts an agent and greets it with these capabilities of the client, in the words of the version.
    pub(crate) async fn greeted_with(&mut self, capabilities: Value) -> Result<Agent, Stopped> {
        let mut agent = self.greeted_by_stranger(capabilities).await?;
        self.log_in(&mut agent).await?;
        Ok(agent)
    }

    /// Logs in, if the subject names a way to and the agent offers any.
    pub(crate) async fn log_in(&mut self, agent: &mut Agent) -> Result<(), Stopped> {
        let methods = agent.hello.get("authMethods").and_then(Value::as_array);
        let has_methods = methods.is_some_and(|methods| !methods.is_empty());
        let Some(way) = self.subject.login.as_ref().filter(|_| has_methods) else {
            return Ok(());
        };
        let method = match self.version {
            Version::V1 => "authenticate",
            Version::V2 => "auth/login",
        };
        agent.need(method, json!({"methodId": way})).await?;
        Ok(())
    }

    /// As [`Bench::greeted_with`], but without logging in where the subject names a way to.
    pub(crate) async fn greeted_by_stranger(
        &mut self,
        capabilities: Value,
    ) -> Result<Agent, Stopped> {
        let mut agent = self.start().await?;
        let params = initialize(self.version, capabilities);
        let (_, hello) = agent.need("initialize", params).await?;
        let chosen = hello.get("protocolVersion").and_then(Value::as_u64);
        if chosen != Some(number(self.version)) {
            let number = number(self.version);
            let why = format!("the agent does not speak version {number}");
            return Err(Stopped::Other(why));
        }
        agent.hello = hello;
        Ok(agent)
    }

    /// Returns a greeted agent with a new session.
    pub(crate) async fn session(&mut self) -> Result<(Agent, String), Stopped> {
        let mut agent = self.greeted().await?;
        let session = agent.new_session().await?;
        Ok((agent, session))
    }

    /// Gives back an agent that is as good as before: greeted without capabilities, idle, and told nothing unlawful.
    pub(crate) fn give_back(&mut self, mut agent: Agent) {
        if !agent.recording().is_foul() {
            // What one probe answers is not what the next one expects to.
            agent.service = Service::default();
            self.spare = Some(agent);
        }
    }

    /// Notes that a rule was kept or broken, with the frames that show it and what was seen if it was broken.
    pub(crate) fn judge(
        &mut self,
        rule: &str,
        is_kept: bool,
        agent: &Agent,
        frames: &[usize],
        saw: impl Into<String>,
    ) {
        let (found, saw) = match is_kept {
            true => (Found::Kept, String::new()),
            false => (Found::Broken, saw.into()),
        };
        let evidence = Evidence {
            recording: agent.place,
            frames: frames.to_vec(),
        };
        self.findings
            .add(rule, found, saw, evidence, Some(self.probe));
    }

    /// Notes that what a rule is about is not offered.
    pub(crate) fn not_offered(&mut self, rule: &str, what: &str) {
        let saw = format!("the agent does not offer {what}");
        let evidence = Evidence::default();
        self.findings
            .add(rule, Found::NotOffered, saw, evidence, Some(self.probe));
    }

    /// Notes that it could not be found out about rules that nothing is known of yet.
    pub(super) fn unclear(&mut self, rules: &[&str], why: &str) {
        for rule in rules {
            let verdict = self.findings.verdict(rule);
            if verdict.is_none_or(|verdict| verdict.outcome != Outcome::NotExercised) {
                continue;
            }
            let evidence = Evidence {
                recording: self.findings.recordings.len().saturating_sub(1),
                frames: Vec::new(),
            };
            self.findings
                .add(rule, Found::Unclear, why, evidence, Some(self.probe));
        }
    }

    pub(super) async fn finish(mut self) -> Findings {
        if let Some(agent) = self.spare.take() {
            agent.end().await;
        }
        self.findings
    }
}

/// Returns the parameters of `initialize` in the words of a version.
pub(crate) fn initialize(version: Version, capabilities: Value) -> Value {
    let info = json!({"name": "ply-check", "version": env!("CARGO_PKG_VERSION")});
    match version {
        Version::V1 => {
            json!({"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": info})
        }
        Version::V2 => {
            json!({"protocolVersion": 2, "capabilities": capabilities, "info": info})
        }
    }
}

/// Returns the number of a version.
pub(crate) fn number(version: Version) -> u64 {
    match version {
        Version::V1 => 1,
        Version::V2 => 2,
    }
}

/// An agent that runs, and our end of the connection to it.
#[derive(Debug)]
pub(crate) struct Agent {
    peer: Peer,
    child: Child,
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
        let ended = tokio::time::timeout(within, self.child.wait()).await;
        ended.ok()?.ok()
    }

    /// Ends it: by closing its input, then by asking, then by force.
    pub(crate) async fn end(mut self) {
        self.peer.close_output().await;
        let mut grace = Grace::default();
        (grace.after_close, grace.after_term) = (END_TIME_MAX, END_TIME_MAX);
        if let Err(error) = self.child.end(grace).await {
            tracing::debug!(%error, "an agent did not end well");
        }
    }
}
