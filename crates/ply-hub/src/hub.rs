//! The sessions of all agents, and who may see them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ply_agent::event::AskId;
use ply_agent::settings::{
    CancelScope, CloseEffect, LastClient, Level, Pace, Questions, QueuedPrompts, Settings,
};
use ply_agent::{About, Agent, Caller, Server, v2};
use ply_journal::IntoJournal;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::ask::{Ask, Live, Status, Told};
use crate::hello::Hello;
use crate::idle::{Idle, LOOK_EVERY};
use crate::router::{Chosen, Router};
use crate::{Factory, Wanted};

/// How long to wait before looking again whether turns have ended.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(200);

/// A hub: one server for the sessions of every agent.
#[derive(Debug)]
pub struct Hub<F: Factory> {
    server: Server,
    factory: Arc<F>,
    store: PathBuf,
    /// Whether it is to end, and may wait for turns first.
    stop: watch::Sender<Option<Stop>>,
}

/// How a hub ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Now,
    WhenIdle,
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
            stop: watch::Sender::new(None),
        }
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
                }))
            }
            Ask::Sessions => Ok(Told::Sessions(self.live().await)),
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
            Ask::Queue { session, change } => {
                let session = v2::SessionId::new(session);
                let changed = self.server.change_queue(&session, change.into()).await;
                changed
                    .map(|()| Told::Done)
                    .map_err(|error| error.to_string())
            }
            Ask::Stop { drain } => {
                let how = if drain { Stop::WhenIdle } else { Stop::Now };
                self.stop.send_replace(Some(how));
                Ok(Told::Done)
            }
        }
    }

    async fn live(&self) -> Vec<Live> {
        let sessions = self.server.sessions().await;
        let mut live: Vec<Live> = sessions.into_iter().map(Live::from).collect();
        live.sort_by(|a, b| a.id.cmp(&b.id));
        live
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

    /// Waits until somebody tells the hub to end.
    pub(crate) async fn stopped(&self) {
        let mut stop = self.stop.subscribe();
        // It never ends before the hub does.
        drop(stop.wait_for(Option::is_some).await);
    }

    /// Waits until nothing goes on, if the hub is to end gently; until it is told to end at once.
    pub(crate) async fn drained(&self) {
        let mut stop = self.stop.subscribe();
        while *stop.borrow_and_update() == Some(Stop::WhenIdle) {
            let is_busy = self.live().await.iter().any(Live::is_busy);
            if !is_busy {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_AGAIN_AFTER) => {}
                _ = stop.changed() => {}
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
        let mut caller = Caller::new();
        caller.principal = hello.principal.map(Into::into);
        let Some(wanted) = hello.agent else {
            return Ok(caller);
        };
        let chosen = choose(&*self.factory, wanted).await?;
        let about: Arc<About> = Arc::new(chosen.agent.about());
        let host = chosen.wanted.key.clone();
        Ok(caller.about(about).host(host).with(Arc::new(chosen)))
    }
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
