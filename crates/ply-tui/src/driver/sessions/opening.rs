//! Opening sessions, new and old.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ply_client::{Agent, Error, Session, SessionFilter, SessionSetup, v2};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{Note, reading};
use crate::app::event::{How, Opened};
use crate::app::{AgentId, Event, TabId, Target, find_option, find_value};
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
            match open(&agent, &plan, target).await {
                Ok((session, how)) => {
                    keeper.used();
                    let id = session.id().0.to_string();
                    let draft = drafts.read(&id);
                    let is_changed = Arc::new(AtomicBool::new(false));
                    let opened = Opened {
                        session: id,
                        how,
                        draft,
                    };
                    let reading = reading::Reading::new(tab, &session, &is_changed, &notes);
                    let note = Note::Opened(tab, Box::new(session.clone()), is_changed, opened);
                    // Options first, so that the first prompt is sent under them.
                    reading.tell_all(&session).await;
                    apply(&session, set, &notes).await;
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

async fn open(agent: &Agent, plan: &Plan, target: Target) -> Result<(Session, How), Error> {
    match target {
        Target::New => Ok((agent.new_session(plan.setup(None)).await?, How::New)),
        Target::Stored { id, cwd: Some(cwd) } => reopen(agent, id, plan.setup(Some(cwd))).await,
        Target::Stored { id, cwd: None } => {
            // The agent knows where it worked, if it keeps a list.
            let listed = agent.list_sessions(SessionFilter::all()).await;
            let mut listed = listed.unwrap_or_default().into_iter();
            let found = listed.find(|session| *session.session_id.0 == *id);
            let cwd = found.map(|session| session.cwd.0);
            reopen(agent, id, plan.setup(cwd)).await
        }
        Target::Latest => {
            let here = SessionFilter::all().cwd(&plan.cwd);
            let listed = agent.list_sessions(here).await.unwrap_or_default();
            let latest = listed
                .into_iter()
                .max_by(|one, other| one.updated_at.cmp(&other.updated_at));
            match latest {
                Some(session) => {
                    let id = session.session_id.0.to_string();
                    reopen(agent, id, plan.setup(None)).await
                }
                None => Ok((agent.new_session(plan.setup(None)).await?, How::New)),
            }
        }
    }
}

async fn reopen(agent: &Agent, id: String, setup: SessionSetup) -> Result<(Session, How), Error> {
    match agent.load_session(id.clone(), setup.clone()).await {
        Err(Error::NotOffered {
            what: "loading sessions",
            ..
        }) => Ok((agent.resume_session(id, setup).await?, How::Resumed)),
        loaded => Ok((loaded?, How::Loaded)),
    }
}

async fn apply(session: &Session, set: Vec<(String, String)>, notes: &mpsc::Sender<Note>) {
    for (name, words) in set {
        let options = session.config_options();
        let option = find_option(&options, &name);
        let value = option.and_then(|option| Some((option, find_value(option, &words)?)));
        let result = match value {
            Some((option, value)) => {
                let id = option.config_id.clone();
                let set = session.set_config_option(id, value).await;
                set.map_err(|error| error.to_string())
            }
            None => Err(format!(
                "{name} cannot be set to {words}; Ctrl-O shows what there is"
            )),
        };
        if let Err(words) = result {
            let event = Event::OptionFailed(words);
            drop(notes.send(Note::App(event)).await);
        }
    }
}
