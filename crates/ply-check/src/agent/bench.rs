//! Where an agent is probed: starts it as often as needed, and keeps what was found.

mod process;

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ply_client::Direction;
use ply_rpc::transport::child::{Child, Command};
use ply_wire::negotiate::Version;
use serde_json::{Value, json};

pub(crate) use self::process::Agent;
use self::process::Remains;
use super::hearing::Hearing;
use super::subject::Subject;
use super::trial::Trial;
use crate::findings::{Findings, Found};
use crate::peer::{Peer, Service, Stopped};
use crate::recording::Recording;
use crate::verdict::Evidence;

/// How long an agent that closed the connection may take to be gone.
const GONE_TIME_MAX: Duration = Duration::from_millis(200);
/// Characters of standard error that are shown.
const STDERR_CHARS_MAX: usize = 300;

/// Where an agent is probed.
#[derive(Debug)]
pub struct Bench {
    /// The agent.
    pub subject: Subject,
    /// The version that is spoken.
    pub version: Version,
    pub(crate) findings: Findings,
    pub(super) probe: &'static str,
    /// An agent that was greeted and can be used once more.
    spare: Option<Agent>,
    /// What agents still answer.
    pub(super) hearing: Hearing,
    /// How it is found out whether they can prompt.
    trial: Arc<Trial>,
    /// The last agent that ended or fell silent, so that it can be told why.
    remains: Remains,
}

impl Bench {
    pub(super) fn new(subject: Subject, version: Version, findings: Findings) -> Self {
        let trial = Arc::new(Trial {
            subject: subject.clone(),
            version,
        });
        Self {
            trial,
            subject,
            version,
            findings,
            probe: "",
            spare: None,
            hearing: Hearing::default(),
            remains: Remains::default(),
        }
    }

    /// Finds out what the agent offers, and leaves out the rules about the rest. An agent that cannot be greeted is asked everything.
    pub(super) async fn close_gates(&mut self) {
        let agent = match self.greeted().await {
            Ok(agent) => agent,
            Err(stopped) => {
                tracing::debug!(%stopped, "the agent's offers are not known");
                return;
            }
        };
        let is_offered = |gate: &str| match gate {
            // What a session has shows only once there is one.
            "configOptions" | "modes" => true,
            "authMethods" => {
                let methods = agent.hello.get(gate).and_then(Value::as_array);
                methods.is_some_and(|methods| !methods.is_empty())
            }
            gate => agent.offers(&format!("/{}", gate.replace('.', "/"))),
        };
        self.findings.close_gates(is_offered);
        self.give_back(agent);
    }

    /// Returns whether a probe is about nothing but what is not offered.
    pub(super) fn is_closed(&self, rules: &[&str]) -> bool {
        let is_known = |rule: &&&str| self.findings.verdict(rule).is_some();
        let mut known = rules.iter().filter(is_known).peekable();
        known.peek().is_some() && known.all(|rule| self.findings.is_closed(rule))
    }

    /// Returns why the agent cannot prompt, if that was found out.
    pub(super) fn refusal(&self) -> Option<String> {
        self.hearing.refusal()
    }

    pub(super) fn begin(&mut self, probe: &'static str) {
        self.probe = probe;
        // What is left of the probe before is of no use for this one.
        drop(self.take_remains());
    }

    fn take_remains(&self) -> Option<Child> {
        let mut remains = self.remains.lock().unwrap_or_else(PoisonError::into_inner);
        remains.take()
    }

    /// Says why a probe could not go on, with how the agent ended and its last words.
    pub(super) async fn explained(&mut self, stopped: &Stopped) -> String {
        let mut words = stopped.to_string();
        let is_about_agent = matches!(stopped, Stopped::Ended | Stopped::Silent { .. });
        let Some(mut child) = self.take_remains().filter(|_| is_about_agent) else {
            return words;
        };
        if let Ok(Ok(exit)) = tokio::time::timeout(GONE_TIME_MAX, child.wait()).await {
            words.push_str(&format!("; the agent ended ({exit})"));
        }
        let tail = child.stderr_tail();
        let tail = tail.trim_ascii_end();
        // The end says why, so what does not fit is left out before it.
        let tail = tail.get(tail.len().saturating_sub(STDERR_CHARS_MAX)..);
        let tail = ply_rpc::clean::for_display(tail.unwrap_or_default(), STDERR_CHARS_MAX);
        if !tail.is_empty() {
            words.push_str(&format!("; its standard error ends: {tail}"));
        }
        words
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
            child: Some(child),
            hearing: self.hearing.clone(),
            trial: Arc::clone(&self.trial),
            remains: Arc::clone(&self.remains),
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
            let why = format!("the agent does not support version {number}");
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
        if !agent.recording().is_foul() && !agent.recording().is_long() {
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

    /// Returns the place of the last recording, which shows why a probe could not go on.
    pub(super) fn last_recording(&self) -> usize {
        self.findings.recordings.len().saturating_sub(1)
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
