//! The sessions of all agents, and who may see them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ply_agent::event::{AskId, Runner as Record};
use ply_agent::settings::{
    CancelScope, CloseEffect, LastClient, Level, Pace, Questions, QueuedPrompts, Settings,
};
use ply_agent::{About, Agent, Caller, Server, v2};
use ply_journal::{Filter, Head, IntoJournal};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::ask::{Ask, Live, Status, Told};
use crate::ending::{Ending, Stop};
use crate::hello::Hello;
use crate::hold;
use crate::idle::{Idle, LOOK_EVERY};
use crate::notify::{self, Known, Notifier};
use crate::router::{Chosen, Router};
use crate::{Factory, Wanted};

/// Stored sessions that are read at once to learn which agents they name.
const CLAIMS_AT_ONCE: usize = 1000;

/// Sessions that are taken over from another hub at once.
const TAKEN_OVER_MAX: usize = 1000;

/// A hub: one server for the sessions of every agent.
#[derive(Debug)]
pub struct Hub<F: Factory> {
    server: Server,
    factory: Arc<F>,
    store: PathBuf,
    /// Whether it is to end, and how.
    pub(crate) ending: watch::Sender<Option<Ending>>,
    /// What tells the user of questions that nobody sees.
    notifier: Option<Notifier>,
}

impl<F: Factory> Hub<F> {
    /// Returns a hub that keeps sessions in `journal`, which its clients know as `store`.
    pub fn new(factory: F, journal: impl IntoJournal, store: impl Into<PathBuf>) -> Self {
        let factory = Arc::new(factory);
        let router = Router::new(Arc::clone(&factory));
        Self {
            server: ply_agent::serve(router)
                .journal(journal)
                .settings(settings()),
            factory,
            store: store.into(),
            ending: watch::Sender::new(None),
            notifier: None,
        }
    }

    /// Has a command run when a question waits and no client is attached that could answer it. Nothing comes of a command without
    /// words.
    #[must_use]
    pub fn notify(mut self, command: Vec<String>) -> Self {
        self.notifier = Notifier::new(command);
        self
    }

    /// Returns what its sessions are served with.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns where it keeps sessions.
    #[must_use]
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Closes every session: turns are cancelled and their ends written.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, some sessions may stay open.
    pub async fn shutdown(&self) {
        self.server.shutdown().await;
    }

    /// Answers a program that asks something.
    ///
    /// # Errors
    ///
    /// What is asked cannot be done; the reason is for its user.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, it may be done or not.
    pub async fn tell(&self, ask: Ask) -> Result<Told, String> {
        match ask {
            Ask::Status => {
                let sessions = self.live().await;
                Ok(Told::Status(Status {
                    pid: std::process::id(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    store: self.store.clone(),
                    busy: sessions.iter().filter(|live| live.is_busy()).count(),
                    questions: sessions.iter().map(|live| live.questions.len()).sum(),
                    sessions: sessions.len(),
                    stopping: self.stopping(&sessions),
                }))
            }
            Ask::Sessions => Ok(Told::Sessions(self.live().await)),
            Ask::Watch => Err("whoever watches is served, and told nothing".to_owned()),
            Ask::Answer {
                session,
                question,
                option,
                by,
            } => {
                let session = v2::SessionId::new(session);
                let option = v2::PermissionOptionId::new(option);
                let answered = self
                    .server
                    .answer(&session, AskId(question), option, &by)
                    .await;
                answered
                    .map(|()| Told::Done)
                    .map_err(|error| error.to_string())
            }
            Ask::Send { session, text } => {
                let session = v2::SessionId::new(session);
                let sent = self.server.post(&session, vec![text.into()]).await;
                sent.map(|()| Told::Done).map_err(|error| error.to_string())
            }
            Ask::Close { session } => {
                let is_seen = |live: &Live| live.id == session && live.clients > 0;
                if self.live().await.iter().any(is_seen) {
                    return Err("other clients see the session".to_owned());
                }
                self.server.close(&v2::SessionId::new(session)).await;
                Ok(Told::Done)
            }
            Ask::Queue { session, change } => {
                let session = v2::SessionId::new(session);
                let changed = self.server.change_queue(&session, change.into()).await;
                changed
                    .map(|()| Told::Done)
                    .map_err(|error| error.to_string())
            }
            Ask::Stop { drain } => {
                self.stop(if drain { Stop::WhenIdle } else { Stop::Now });
                Ok(Told::Done)
            }
            Ask::HandOver => {
                self.stop(Stop::HandOver);
                Ok(Told::Done)
            }
        }
    }

    /// Goes on with sessions whose agents outlived another hub, if their agents are known here. Others wait for a client that
    /// wants them.
    pub(crate) async fn take_over(&self, holders: &Path) {
        let found = hold::find(holders).unwrap_or_default();
        if found.is_empty() {
            return;
        }
        let unfinished = self.server.unfinished(TAKEN_OVER_MAX).await;
        let unfinished = unfinished.unwrap_or_else(|error| {
            tracing::warn!(%error, "nobody knows which sessions still run");
            Vec::new()
        });
        for head in unfinished {
            let holder = holder_of(&head);
            let runs = holder.is_some_and(|holder| found.iter().any(|about| about.id == holder));
            let key = head.host.as_deref().and_then(|host| host.lines().next());
            let known = key.filter(|_| runs).and_then(|key| self.factory.known(key));
            let Some(wanted) = known else {
                continue;
            };
            match self.caller(wanted).await {
                Ok(caller) => self.server.open(&head, caller),
                Err(reason) => {
                    tracing::warn!(session = head.id, reason, "a session waits for a client")
                }
            }
        }
    }

    /// Ends agents of an earlier hub that no session can go on with, such as one that was started for a session in which nothing was
    /// said. An agent that a session names waits for whoever opens that session, for as long as its holder does.
    pub(crate) async fn end_unclaimed(
        &self,
        directory: &Path,
        mut found: Vec<hold::About>,
        epoch: u64,
    ) {
        let mut filter = Filter::new(CLAIMS_AT_ONCE);
        while !found.is_empty() {
            let page = match self.server.stored(filter.clone()).await {
                Ok(page) => page,
                Err(error) => {
                    return tracing::warn!(%error, "nobody knows which agents are needed");
                }
            };
            let claimed: HashSet<String> = page.sessions.iter().filter_map(holder_of).collect();
            found.retain(|about| !claimed.contains(&about.id));
            let Some(next) = page.next else {
                break;
            };
            filter.cursor = Some(next);
        }
        for about in &found {
            tracing::info!(
                agent = about.agent,
                "an agent that no session needs is ended"
            );
        }
        hold::bury(directory, found, epoch).await;
    }

    pub(crate) async fn live(&self) -> Vec<Live> {
        let sessions = self.server.sessions().await;
        let mut live: Vec<Live> = sessions.into_iter().map(Live::from).collect();
        live.sort_by(|a, b| a.id.cmp(&b.id));
        live
    }

    /// Runs the configured command for questions that nobody sees, for ever.
    pub(crate) async fn tell_of_questions(&self) {
        let Some(notifier) = &self.notifier else {
            return std::future::pending().await;
        };
        let mut known = Known::default();
        loop {
            self.server.question_waits().await;
            // A client may be about to come back, or to answer.
            tokio::time::sleep(notify::PATIENCE).await;
            let unseen = known.unseen(&self.live().await);
            notifier.tell(unseen).await;
        }
    }

    /// Closes sessions that nobody needs, for ever; or until the hub has had nothing to do for long, if it is to leave then.
    pub(crate) async fn tend(&self, clients: &AtomicUsize, leaves: bool) {
        let (mut idle, began) = (Idle::default(), Instant::now());
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let (now, open) = (began.elapsed(), self.server.sessions().await);
            for session in idle.look(now, &open) {
                tracing::info!(session = %session.0, "closed a session that nobody needs");
                self.server.close(&session).await;
            }
            let clients = clients.load(Ordering::Relaxed);
            if idle.is_over(now, clients, open.len()) && leaves {
                return;
            }
        }
    }

    /// Returns how a client is served, or why it is not.
    ///
    /// # Errors
    ///
    /// The agent that it wants cannot be had; the reason is for its user.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop.
    pub async fn admit(&self, hello: Hello) -> Result<Caller, String> {
        let mut caller = match hello.agent {
            Some(wanted) => self.caller(wanted).await?,
            None => Caller::new(),
        };
        caller.principal = hello.principal.map(Into::into);
        if hello.ask == Some(Ask::Watch) {
            (caller.rights.prompt, caller.rights.approve) = (false, false);
        }
        Ok(caller)
    }

    /// Returns a client of this agent.
    async fn caller(&self, wanted: Wanted) -> Result<Caller, String> {
        let chosen = choose(&*self.factory, wanted).await?;
        let about: Arc<About> = Arc::new(chosen.agent.about());
        let host = chosen.wanted.key.clone();
        Ok(Caller::new().about(about).host(host).with(Arc::new(chosen)))
    }
}

/// Returns the name of what keeps the agent of a session alive, if something does.
fn holder_of(head: &Head) -> Option<String> {
    let (_, runner) = head.host.as_deref()?.split_once('\n')?;
    serde_json::from_str::<Record>(runner).ok()?.holder
}

/// Returns an agent that somebody wants.
pub(crate) async fn choose<F: Factory>(
    factory: &F,
    wanted: Wanted,
) -> Result<Chosen<F::Agent>, String> {
    let agent = factory.agent(&wanted).await?;
    Ok(Chosen { wanted, agent })
}

/// Returns how the sessions of a hub are treated: nothing ends because a client leaves.
fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.last_client = LastClient::Stays;
    settings.queued_prompts = QueuedPrompts::Stay;
    settings.close = CloseEffect::Detaches;
    settings.questions = Questions::Wait;
    settings.cancel = CancelScope::Own;
    settings.pace = Pace::Journal;
    settings.shows = Level::Written;
    settings
}
