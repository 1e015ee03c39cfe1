//! The agents: each is started once, when a session first needs it.

use std::sync::Arc;

use ply_client::{
    Agent, Client, Command, Elicitations, Error, Files, Recent, RecentSession, Session, Terminals,
    Version,
};
use tokio::sync::{Notify, OnceCell, mpsc};
use tokio::time::Instant;

use super::sessions::Note;
use crate::app::event::Facts;
use crate::app::{AgentId, Event};
use crate::options::Options;
use crate::wire_log::WireLog;

/// An agent that may have been started.
pub(super) struct Keeper {
    id: AgentId,
    client: Client,
    command: Command,
    agent: OnceCell<Agent>,
    /// Told whenever the agent may have been started again.
    used: Notify,
    notes: mpsc::Sender<Note>,
    /// Where its sessions are remembered, and as whose.
    recent: Option<Recent>,
    key: String,
}

impl Keeper {
    /// Returns the agent, started if need be. Whoever comes second waits for the same start.
    pub(super) async fn get(self: &Arc<Self>) -> Result<Agent, Error> {
        let start = || async {
            let agent = self.client.clone().spawn(self.command.clone()).await?;
            tokio::spawn(watch(Arc::downgrade(self), agent.clone()));
            self.tell(Event::AgentStarted(self.id, facts(&agent))).await;
            Ok::<_, Error>(agent)
        };
        let agent = self.agent.get_or_try_init(start).await?;
        Ok(agent.clone())
    }

    /// Returns the agent if it was started.
    pub(super) fn started(&self) -> Option<&Agent> {
        self.agent.get()
    }

    /// Notes that the agent did something, so that it may be a new process.
    pub(super) fn used(&self) {
        self.used.notify_one();
    }

    /// Returns the sessions that were run with this agent, the latest first.
    pub(super) async fn remembered(&self) -> Vec<RecentSession> {
        let mut sessions = match &self.recent {
            Some(recent) => recent.list().await,
            None => Vec::new(),
        };
        sessions.retain(|session| session.agent == self.key);
        sessions
    }

    /// Remembers a session as one that can be continued, since the agent may keep no list of its own.
    pub(super) fn remember(&self, session: &Session) {
        let Some(recent) = self.recent.clone() else {
            return;
        };
        if !session.agent().can_continue() {
            return;
        }
        let (key, session) = (self.key.clone(), session.clone());
        tokio::spawn(async move {
            // What cannot be remembered can still be opened by its id.
            drop(recent.note(&key, &session).await);
        });
    }

    async fn tell(&self, event: Event) {
        // Without a loop nobody is interested.
        drop(self.notes.send(Note::App(event)).await);
    }
}

/// Tells of each end of an agent, over all its lives.
async fn watch(keeper: std::sync::Weak<Keeper>, agent: Agent) {
    let mut dead = None;
    loop {
        let process = agent.process_id();
        let end = agent.closed().await;
        let Some(keeper) = keeper.upgrade() else {
            return;
        };
        if dead != Some(process) {
            dead = Some(process);
            let words = format!("it ended{end}");
            keeper.tell(Event::AgentDied(keeper.id, words)).await;
        }
        keeper.used.notified().await;
    }
}

fn facts(agent: &Agent) -> Facts {
    let info = agent.info();
    let session = agent.capabilities().session;
    let prompt = session.and_then(|session| session.prompt);
    Facts {
        title: format!("{} {}", info.name, info.version),
        takes_images: prompt.is_some_and(|prompt| prompt.image.is_some()),
        version: match agent.version() {
            Version::V1 => 1,
            Version::V2 => 2,
        },
    }
}

/// All agents that can be chosen.
pub(super) struct Agents(Vec<Arc<Keeper>>);

impl Agents {
    pub(super) fn new(
        options: &Options,
        log: &WireLog,
        began: Instant,
        notes: &mpsc::Sender<Note>,
    ) -> Self {
        let keepers = options.agents.iter().enumerate().map(|(place, choice)| {
            let log = log.clone();
            let mut client = Client::new()
                .info("ply", env!("CARGO_PKG_VERSION"))
                .elicitation(Elicitations::new().forms())
                .on_line(move |direction, line| {
                    let at = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                    log.push(at, AgentId(place), direction, line);
                });
            if options.files {
                client = client.files(Files::new());
            }
            if options.terminals {
                client = client.terminals(Terminals::new());
            }
            Arc::new(Keeper {
                id: AgentId(place),
                client,
                command: choice.command.clone(),
                agent: OnceCell::new(),
                used: Notify::new(),
                notes: notes.clone(),
                recent: options.recent.clone(),
                key: choice.key.clone(),
            })
        });
        Self(keepers.collect())
    }

    pub(super) fn get(&self, id: AgentId) -> Option<&Arc<Keeper>> {
        self.0.get(id.0)
    }

    pub(super) fn started(&self) -> impl Iterator<Item = &Agent> {
        self.0.iter().filter_map(|keeper| keeper.started())
    }
}
