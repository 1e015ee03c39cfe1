//! The sessions: a handle, tasks that read, and questions that wait, for each tab.

mod opening;
mod reading;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ply_client::{
    Agent, Elicitation, Permission, RecentSession, Session, SessionFilter, Transcript,
};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use self::opening::Opening;
use super::agents::{Agents, Keeper};
use super::store::Store;
use super::{failure, files, images};
use crate::app::event::{Listed, Question};
use crate::app::{Action, AgentId, AskId, Event, TabId};
use crate::draw::Transcripts;
use crate::options::Options;

/// How long agents may take to end when the client quits.
const END_TIME_MAX: Duration = Duration::from_secs(5);

/// What tasks tell the loop.
pub(super) enum Note {
    App(Event),
    /// A session is open; its tasks are running.
    Opened(
        TabId,
        Box<Session>,
        Arc<AtomicBool>,
        crate::app::event::Opened,
    ),
    Permission(TabId, Permission),
    Elicitation(TabId, Elicitation),
    EditorEnded(TabId, Result<String, String>),
}

/// A question that waits for its answer. Let go, it is answered as cancelled.
enum Held {
    Permission(Permission),
    Elicitation(Elicitation),
}

/// A session that is open in a tab.
struct Live {
    session: Session,
    agent: AgentId,
    /// Whether the loop was told of a change that it has not looked at yet.
    is_changed: Arc<AtomicBool>,
}

pub(super) struct Sessions {
    agents: Agents,
    live: HashMap<TabId, Live>,
    tasks: HashMap<TabId, Vec<JoinHandle<()>>>,
    /// Whether the last turn of a tab was cancelled, which its task may have to know before the agent knows of the turn.
    cancelled: HashMap<TabId, watch::Sender<bool>>,
    asks: HashMap<AskId, (TabId, Held)>,
    next_ask: u64,
    notes: mpsc::Sender<Note>,
    opening: Opening,
    cwd: std::path::PathBuf,
    home: Option<std::path::PathBuf>,
}

impl Sessions {
    pub(super) fn new(options: &Options, agents: Agents, notes: mpsc::Sender<Note>) -> Self {
        Self {
            agents,
            live: HashMap::new(),
            tasks: HashMap::new(),
            cancelled: HashMap::new(),
            asks: HashMap::new(),
            next_ask: 1,
            notes,
            opening: Opening::new(options),
            cwd: options.cwd.clone(),
            home: options.home.clone(),
        }
    }

    pub(super) fn notes(&self) -> mpsc::Sender<Note> {
        self.notes.clone()
    }

    /// Makes an event of what a task tells.
    pub(super) fn take(&mut self, note: Note) -> Option<Event> {
        match note {
            Note::App(Event::Changed(id)) => {
                let live = self.live.get(&id)?;
                live.is_changed.store(false, Ordering::SeqCst);
                Some(Event::Changed(id))
            }
            Note::App(Event::AskClosed(ask)) => {
                self.asks.remove(&ask)?;
                Some(Event::AskClosed(ask))
            }
            Note::App(event) => Some(event),
            Note::Opened(id, session, is_changed, opened) => {
                let agent = self.opening.agent_of(id)?;
                let live = Live {
                    session: *session,
                    agent,
                    is_changed,
                };
                self.live.insert(id, live);
                Some(Event::Opened(id, opened))
            }
            Note::Permission(id, permission) => {
                let question = Question::Permission(Box::new(permission.request().clone()));
                let closed = permission.clone();
                let ask = self.hold(id, Held::Permission(permission));
                self.tell_when(ask, async move { closed.closed().await });
                Some(Event::Ask(id, ask, question))
            }
            Note::Elicitation(id, elicitation) => {
                let question = Question::Form(Box::new(elicitation.request().clone()));
                let closed = elicitation.clone();
                let ask = self.hold(id, Held::Elicitation(elicitation));
                self.tell_when(ask, async move { closed.closed().await });
                Some(Event::Ask(id, ask, question))
            }
            Note::EditorEnded(..) => None,
        }
    }

    fn hold(&mut self, tab: TabId, held: Held) -> AskId {
        let ask = AskId(self.next_ask);
        self.next_ask += 1;
        self.asks.insert(ask, (tab, held));
        ask
    }

    fn tell_when(&self, ask: AskId, closed: impl Future<Output = ()> + Send + 'static) {
        let notes = self.notes.clone();
        tokio::spawn(async move {
            closed.await;
            drop(notes.send(Note::App(Event::AskClosed(ask))).await);
        });
    }

    /// Does what the app says.
    pub(super) fn act(&mut self, action: Action, store: &Store) {
        match action {
            Action::Open(tab, agent, target) => {
                // What still reads the session that was open here would go on telling of it.
                self.stop(tab);
                if let Some(keeper) = self.agents.get(agent).cloned() {
                    let drafts = store.drafts(agent);
                    let task = self
                        .opening
                        .start(tab, agent, target, keeper, drafts, self.notes());
                    self.keep(tab, task);
                }
            }
            Action::Prompt(tab, outgoing) => {
                if let Some((live, keeper)) = self.live_with_keeper(tab) {
                    let session = live.session.clone();
                    let prompt = images::prompt(outgoing, session.cwd().to_owned());
                    let (cancelled, is_cancelled) = watch::channel(false);
                    let begun = reading::Begun {
                        tab,
                        session,
                        is_cancelled,
                        notes: self.notes(),
                    };
                    let turn = reading::turn(begun, prompt, keeper);
                    self.cancelled.insert(tab, cancelled);
                    self.keep(tab, tokio::spawn(turn));
                }
            }
            Action::Cancel(tab) => {
                if let Some(cancelled) = self.cancelled.get(&tab) {
                    cancelled.send_replace(true);
                }
                if let Some(live) = self.live.get(&tab) {
                    let session = live.session.clone();
                    self.quietly(async move { session.cancel().await });
                }
            }
            Action::Select(ask, option) => {
                if let Some((_, Held::Permission(permission))) = self.asks.remove(&ask) {
                    self.quietly(async move { permission.select(&option).await });
                }
            }
            Action::AnswerForm(ask, answer) => {
                if let Some((_, Held::Elicitation(elicitation))) = self.asks.remove(&ask) {
                    self.quietly(async move { elicitation.answer(answer).await });
                }
            }
            Action::SetOption(tab, option, value) => {
                if let Some(live) = self.live.get(&tab) {
                    let (session, notes) = (live.session.clone(), self.notes());
                    tokio::spawn(async move {
                        if let Err(error) = session.set_config_option(option, value).await {
                            let event = Event::OptionFailed(error.to_string());
                            drop(notes.send(Note::App(event)).await);
                        }
                    });
                }
            }
            Action::ListSessions(agent) => self.list(agent),
            Action::Login(agent, method) => self.login(agent, method),
            Action::Kill(agent) => {
                let agent = self
                    .agents
                    .get(agent)
                    .and_then(|keeper| keeper.started().cloned());
                if let Some(agent) = agent {
                    tokio::spawn(async move { drop(agent.kill().await) });
                }
            }
            Action::Close(tab) => self.close(tab),
            Action::FindFiles(tab) => {
                files::find(tab, self.cwd_of(tab).to_owned(), self.notes());
            }
            Action::CheckImage(tab, text) => {
                images::check(tab, text, self.home.clone(), self.notes());
            }
            // The driver's own.
            Action::Edit(..)
            | Action::Errand(_)
            | Action::Export(..)
            | Action::Shell(..)
            | Action::StopShell { .. }
            | Action::Remember(_)
            | Action::SaveDraft { .. }
            | Action::Notify(_)
            | Action::Redraw
            | Action::Suspend
            | Action::Quit => {}
        }
    }

    /// Returns the directory of a tab's session, or the one that the client works in.
    pub(super) fn cwd_of(&self, tab: TabId) -> &std::path::Path {
        let live = self.live.get(&tab);
        live.map_or(self.cwd.as_path(), |live| live.session.cwd())
    }

    fn live_with_keeper(&self, tab: TabId) -> Option<(&Live, Arc<Keeper>)> {
        let live = self.live.get(&tab)?;
        Some((live, Arc::clone(self.agents.get(live.agent)?)))
    }

    fn keep(&mut self, tab: TabId, task: JoinHandle<()>) {
        let tasks = self.tasks.entry(tab).or_default();
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Does something whose failure means that it was done or is no longer needed: an answer that came too late.
    fn quietly<T: Send>(
        &self,
        work: impl Future<Output = Result<T, ply_client::Error>> + Send + 'static,
    ) {
        tokio::spawn(async move { drop(work.await) });
    }

    /// Tells which sessions were run with an agent, without asking it.
    pub(super) fn recall(&self, id: AgentId) {
        let Some(keeper) = self.agents.get(id).cloned() else {
            return;
        };
        let notes = self.notes();
        tokio::spawn(async move {
            let sessions = keeper.remembered().await.into_iter().map(run_here);
            drop(
                notes
                    .send(Note::App(Event::Recent(sessions.collect())))
                    .await,
            );
        });
    }

    fn list(&self, id: AgentId) {
        let Some(keeper) = self.agents.get(id).cloned() else {
            return;
        };
        let notes = self.notes();
        tokio::spawn(async move {
            let sessions = match keeper.get().await {
                Ok(agent) => listed(&agent, &keeper).await,
                Err(error) => Err(error),
            };
            let sessions = sessions.map_err(|error| error.to_string());
            drop(notes.send(Note::App(Event::Sessions(id, sessions))).await);
        });
    }

    fn login(&self, id: AgentId, method: ply_client::v2::AuthMethodId) {
        let Some(keeper) = self.agents.get(id).cloned() else {
            return;
        };
        let notes = self.notes();
        tokio::spawn(async move {
            let result = match keeper.get().await {
                Ok(agent) => agent.login(&method.0).await,
                Err(error) => Err(error),
            };
            keeper.used();
            let result = result.map_err(|error| failure::of(&error).words().to_owned());
            drop(notes.send(Note::App(Event::LoggedIn(id, result))).await);
        });
    }

    fn close(&mut self, tab: TabId) {
        self.stop(tab);
        self.opening.forget(tab);
        if let Some(live) = self.live.remove(&tab) {
            self.quietly(async move {
                // An agent that cannot close a session would go on with its work, unseen.
                live.session.cancel().await?;
                live.session.close().await
            });
        }
    }

    /// Ends what goes on for a tab.
    fn stop(&mut self, tab: TabId) {
        self.asks.retain(|_, (of, _)| *of != tab);
        self.cancelled.remove(&tab);
        for task in self.tasks.remove(&tab).into_iter().flatten() {
            task.abort();
        }
    }

    /// Ends the agents. Their connections go first: a question that is let go of while its agent listens would be answered, and
    /// in a hub it may wait for somebody else.
    pub(super) async fn end(self) {
        let agents = self.agents.started().cloned();
        let ends = agents.map(|agent| async move { drop(agent.close().await) });
        let ends = futures::future::join_all(ends);
        // One that does not end by then is ended by force when its last handle is gone.
        drop(tokio::time::timeout(END_TIME_MAX, ends).await);
        for task in self.tasks.into_values().flatten() {
            task.abort();
        }
    }
}

/// Returns the agent's sessions; those that were run from here if it keeps no list but can open them.
async fn listed(agent: &Agent, keeper: &Keeper) -> Result<Vec<Listed>, ply_client::Error> {
    match agent.list_sessions(SessionFilter::all()).await {
        Ok(sessions) => {
            let sessions = sessions.into_iter().map(|session| Listed {
                id: session.session_id.0.to_string(),
                title: session.title.unwrap_or_default(),
                cwd: session.cwd.0,
                updated_at: session.updated_at.unwrap_or_default(),
            });
            Ok(sessions.collect())
        }
        Err(ply_client::Error::NotOffered { .. }) if agent.can_continue() => {
            let sessions = keeper.remembered().await.into_iter();
            Ok(sessions.map(run_here).collect())
        }
        Err(error) => Err(error),
    }
}

fn run_here(session: RecentSession) -> Listed {
    Listed {
        id: session.id,
        title: session.title.unwrap_or_default(),
        cwd: session.cwd,
        updated_at: session.updated_at,
    }
}

impl Transcripts for Sessions {
    fn with(&self, tab: TabId, look: &mut dyn FnMut(&Transcript)) {
        if let Some(live) = self.live.get(&tab) {
            live.session.with_transcript(|transcript| look(transcript));
        }
    }
}
