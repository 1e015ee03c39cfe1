//! Opening sessions, new and old.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ply_client::{Agent, Error, RecentSession, Session, SessionSetup, v2};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{Note, reading};
use crate::app::event::{How, Opened};
use crate::app::{AgentId, Event, TabId, Target, find_setting};
use crate::driver::agents::Keeper;
use crate::driver::failure;
use crate::driver::store::Drafts;
use crate::options::Options;

/// The tab whose session is given the options of the command line.
const FIRST: TabId = TabId(1);

/// What sessions are opened with.
pub(super) struct Opening {
    plan: Plan,
    agents: HashMap<TabId, AgentId>,
    /// Options for the first session.
    set: Vec<(String, String)>,
}

#[derive(Clone)]
struct Plan {
    cwd: PathBuf,
    roots: Vec<PathBuf>,
    mcp_servers: Vec<v2::McpServer>,
}

impl Plan {
    fn setup(&self, cwd: Option<PathBuf>) -> SessionSetup {
        let mut setup = SessionSetup::new(cwd.unwrap_or_else(|| self.cwd.clone()));
        for root in &self.roots {
            setup = setup.root(root);
        }
        for server in &self.mcp_servers {
            setup = setup.mcp_server(server.clone());
        }
        setup
    }
}

impl Opening {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            plan: Plan {
                cwd: options.cwd.clone(),
                roots: options.roots.clone(),
                mcp_servers: options.mcp_servers.clone(),
            },
            agents: HashMap::new(),
            set: options.set.clone(),
        }
    }

    pub(super) fn agent_of(&self, tab: TabId) -> Option<AgentId> {
        self.agents.get(&tab).copied()
    }

    pub(super) fn forget(&mut self, tab: TabId) {
        self.agents.remove(&tab);
    }

    pub(super) fn start(
        &mut self,
        tab: TabId,
        agent: AgentId,
        target: Target,
        keeper: Arc<Keeper>,
        drafts: Drafts,
        notes: mpsc::Sender<Note>,
    ) -> JoinHandle<()> {
        self.agents.insert(tab, agent);
        let set = match tab == FIRST {
            true => self.set.clone(),
            false => Vec::new(),
        };
        let plan = self.plan.clone();
        tokio::spawn(async move {
            let agent = match keeper.get().await {
                Ok(agent) => agent,
                Err(error) => return failed(tab, &error, &notes).await,
            };
            match open(&agent, &keeper, &plan, target).await {
                Ok(Found {
                    session,
                    how,
                    title,
                    told,
                }) => {
                    keeper.used();
                    let id = session.id().0.to_string();
                    let draft = drafts.read(&id);
                    let is_changed = Arc::new(AtomicBool::new(false));
                    let reading = reading::Reading::new(tab, &session, &is_changed, &notes);
                    if let Some(title) = title {
                        let event = Event::Title(tab, title);
                        drop(notes.send(Note::App(event)).await);
                    }
                    // Options first, so that the first prompt is sent under them.
                    reading.tell_all(&session).await;
                    let opened = Opened {
                        session: id,
                        how,
                        draft,
                        told,
                        refused: apply(&session, set).await,
                    };
                    let note = Note::Opened(tab, Box::new(session.clone()), is_changed, opened);
                    drop(notes.send(note).await);
                    reading.read().await;
                }
                Err(error) => failed(tab, &error, &notes).await,
            }
        })
    }
}

async fn failed(tab: TabId, error: &Error, notes: &mpsc::Sender<Note>) {
    let event = Event::OpenFailed(tab, failure::of(error));
    drop(notes.send(Note::App(event)).await);
}

/// A session that was opened.
struct Found {
    session: Session,
    how: How,
    /// What the agent's list calls it.
    title: Option<String>,
    /// What is to be said of it.
    told: Option<String>,
}

impl Found {
    fn new(session: Session, how: How) -> Self {
        Self {
            session,
            how,
            title: None,
            told: None,
        }
    }
}

async fn open(agent: &Agent, keeper: &Keeper, plan: &Plan, target: Target) -> Result<Found, Error> {
    match target {
        Target::New => {
            let session = agent.new_session(plan.setup(None)).await?;
            Ok(Found::new(session, How::New))
        }
        Target::Stored {
            id, cwd: Some(cwd), ..
        } => reopen(agent, id, plan.setup(Some(cwd))).await,
        Target::Stored { id, cwd: None, .. } => {
            // The agent knows where it worked and the whole of its id, if it keeps a list; else we do, if it was run from here.
            let mut listed = agent.find_sessions(&id).await.unwrap_or_default();
            if listed.is_empty() {
                let own = keeper.remembered().await.into_iter();
                let own = own.filter(|session| session.id.starts_with(&id));
                listed = own.map(info_of).collect();
                listed.sort_by_key(|session| *session.session_id.0 != *id);
                let is_exact = |session: &v2::SessionInfo| *session.session_id.0 == *id;
                if listed.first().is_some_and(is_exact) {
                    listed.truncate(1);
                }
            }
            match <[_; 1]>::try_from(listed) {
                Ok([only]) => {
                    let setup = plan.setup(Some(only.cwd.0.clone()));
                    reopen_listed(agent, only, setup).await
                }
                Err(_) => reopen(agent, id, plan.setup(None)).await,
            }
        }
        Target::Latest => {
            let why = match agent.latest_session(&plan.cwd).await {
                Ok(Some(session)) => return reopen_listed(agent, session, plan.setup(None)).await,
                Ok(None) => "the agent has none".to_owned(),
                Err(Error::NotOffered { .. }) if agent.can_continue() => {
                    let own = keeper.remembered().await.into_iter();
                    match own.map(info_of).find(|session| session.cwd.0 == plan.cwd) {
                        Some(own) => return reopen_listed(agent, own, plan.setup(None)).await,
                        None => "none was run from here, and the agent has no list".to_owned(),
                    }
                }
                Err(Error::NotOffered { what, .. }) => format!("the agent does not offer {what}"),
                Err(error) => error.to_string(),
            };
            let told = format!("no earlier session of this directory ({why}); this is a new one");
            let session = agent.new_session(plan.setup(None)).await?;
            let found = Found::new(session, How::New);
            Ok(Found {
                told: Some(told),
                ..found
            })
        }
    }
}

fn info_of(session: RecentSession) -> v2::SessionInfo {
    v2::SessionInfo::new(session.id, session.cwd).title(session.title)
}

async fn reopen_listed(
    agent: &Agent,
    listed: v2::SessionInfo,
    setup: SessionSetup,
) -> Result<Found, Error> {
    let found = reopen(agent, listed.session_id.0.to_string(), setup).await?;
    Ok(Found {
        title: listed.title,
        ..found
    })
}

async fn reopen(agent: &Agent, id: String, setup: SessionSetup) -> Result<Found, Error> {
    match agent.load_session(id.clone(), setup.clone()).await {
        Err(Error::NotOffered {
            what: "loading sessions",
            ..
        }) => {
            let session = agent.resume_session(id, setup).await?;
            Ok(Found::new(session, How::Resumed))
        }
        Err(Error::Refused(refused)) => match agent.resume_session(id, setup).await {
            Ok(session) => Ok(Found::new(session, How::Resumed)),
            Err(_) => Err(Error::Refused(refused)),
        },
        loaded => Ok(Found::new(loaded?, How::Loaded)),
    }
}

/// Sets options; returns why some are not set.
async fn apply(session: &Session, set: Vec<(String, String)>) -> Vec<String> {
    let mut refused = Vec::new();
    for (name, words) in set {
        let result = match find_setting(&session.config_options(), &name, &words) {
            Ok((id, value)) => {
                let set = session.set_config_option(id, value).await;
                set.map_err(|error| error.to_string())
            }
            Err(why) => Err(why),
        };
        if let Err(why) = result {
            refused.push(format!("{name} cannot be set to {words}: {why}"));
        }
    }
    refused
}
