//! The sessions of all agents, and who may see them.

use std::collections::BTreeMap;
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
use crate::down::{self, Kept};
use crate::ending::{Ending, Stop};
use crate::hello::Hello;
use crate::hold;
use crate::idle::{Idle, LOOK_EVERY, is_idle};
use crate::notify::{self, Known, Notifier};
use crate::router::{Chosen, Router};
use crate::{Factory, Wanted};

/// Stored sessions that are read at once to learn which agents they name.
const CLAIMS_AT_ONCE: usize = 1000;

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

    /// Goes on with sessions whose agents outlived another hub and were not opened by a client meanwhile.
    pub(crate) async fn take_over(&self, directory: &Path) {
        let mut found = hold::of_store(directory, &self.store);
        for head in self.claims(&mut found).await {
            let is_open = self.server.session(&v2::SessionId::new(head.id.clone()));
            if is_open.is_some() {
                continue;
            }
            let Some(chosen) = self.chosen_before(&head).await else {
                continue;
            };
            self.server.open(&head, caller_of(chosen));
        }
    }

    /// Returns the agent of a stored session, as another hub chose it.
    async fn chosen_before(&self, head: &Head) -> Option<Chosen<F::Agent>> {
        let key = head.host.as_deref()?.lines().next()?;
        let kept = record_of(head).and_then(|record| Kept::read(&record.kept?));
        if let Some(kept) = kept {
            let wanted = Wanted {
                name: key.to_owned(),
                key: key.to_owned(),
                command: kept.command.clone(),
                env: BTreeMap::new(),
                cwd: kept.cwd.clone(),
            };
            if let Some(agent) = self.factory.kept(&wanted, &kept) {
                return Some(Chosen { wanted, agent });
            }
        }
        let chosen = choose(&*self.factory, self.factory.known(key)?).await;
        let told = |reason: &String| {
            tracing::warn!(session = head.id, reason, "a session waits for a client");
        };
        chosen.inspect_err(told).ok()
    }

    /// Ends agents of an earlier hub that no session can go on with, such as one that was started for a session in which nothing was
    /// said.
    pub(crate) async fn end_unclaimed(
        &self,
        directory: &Path,
        mut found: Vec<hold::About>,
        epoch: u64,
    ) {
        self.claims(&mut found).await;
        for about in &found {
            tracing::info!(
                agent = about.agent,
                "an agent that no session needs is ended"
            );
        }
        hold::bury(directory, found, epoch).await;
    }

    /// Returns the stored sessions that these agents are of, and leaves those that are of none. If that cannot be found out, none is
    /// left.
    async fn claims(&self, found: &mut Vec<hold::About>) -> Vec<Head> {
        let mut filter = Filter::new(CLAIMS_AT_ONCE);
        let mut claims = Vec::new();
        while !found.is_empty() {
            let page = match self.server.stored(filter.clone()).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(%error, "nobody knows which agents are needed");
                    found.clear();
                    return claims;
                }
            };
            for head in page.sessions {
                let holder = record_of(&head).and_then(|record| record.holder);
                let before = found.len();
                found.retain(|about| Some(&about.id) != holder.as_ref());
                if found.len() < before {
                    claims.push(head);
                }
            }
            let Some(next) = page.next else {
                break;
            };
            filter.cursor = Some(next);
        }
        claims
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
                if !self.may_close(&session).await {
                    continue;
                }
                tracing::info!(session = %session.0, "closed a session that nobody needs");
                self.server.close(&session).await;
            }
            let clients = clients.load(Ordering::Relaxed);
            if idle.is_over(now, clients, open.len()) && leaves {
                return;
            }
        }
    }

    /// Returns whether an idle session can be closed and opened again with nothing lost.
    async fn may_close(&self, id: &v2::SessionId) -> bool {
        let Some(session) = self.server.session(id) else {
            return false;
        };
        if !down::may_end(&session).await {
            return false;
        }
        // To find that out takes time.
        let open = self.server.sessions().await;
        open.iter().any(|open| open.id == *id && is_idle(open))
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
            Some(wanted) => self.caller(on_one_line(wanted)).await?,
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
        Ok(caller_of(choose(&*self.factory, wanted).await?))
    }
}

/// Keeps the key of an agent on one line, as it is kept with its sessions: a command may hold a script.
fn on_one_line(mut wanted: Wanted) -> Wanted {
    wanted.key = wanted.key.replace('\n', "\\n").replace('\r', "\\r");
    wanted
}

fn caller_of<A: Agent>(chosen: Chosen<A>) -> Caller {
    let about: Arc<About> = Arc::new(chosen.agent.about());
    let host = chosen.wanted.key.clone();
    Caller::new().about(about).host(host).with(Arc::new(chosen))
}

/// Returns what the journal says of who runs a session.
fn record_of(head: &Head) -> Option<Record> {
    let (_, runner) = head.host.as_deref()?.split_once('\n')?;
    serde_json::from_str(runner).ok()
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
