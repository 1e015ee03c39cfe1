//! A hub with an agent that does what prompts say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ply_agent::{Agent, Error, Result, Turn};
use ply_client::{Client, Supported, Transport};
use ply_hub::ask::{Ask, Live, Told};
use ply_hub::connect::{self, ConnectError};
use ply_hub::hello::{Hello, PROTOCOL};
use ply_hub::{Daemon, Ended, Factory, Hub, Place, Stop, Wanted};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How long anything may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent that does what its prompts say.
#[derive(Debug, Default)]
pub(crate) struct Actor {
    /// Lets turns go on that wait.
    pub(crate) go: Notify,
    name: String,
}

impl Agent for Actor {
    fn about(&self) -> ply_agent::About {
        ply_agent::About::new(self.name.clone(), "1")
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<ply_agent::Stop> {
        let text = turn.prompt().text();
        match text.as_str() {
            "wait" => {
                turn.say("waiting").await?;
                turn.unless_cancelled(self.go.notified()).await?;
                turn.say("done").await?;
            }
            "ask" => {
                let call = turn.tool_call("Delete everything").await?;
                let is_allowed = call.ask().await?.is_allowed();
                let words = if is_allowed { "allowed" } else { "not allowed" };
                call.finish().await?;
                turn.say(words).await?;
            }
            "fail" => return Err(Error::msg("no such luck")),
            _ => turn.say(format!("{} heard: {text}", self.name)).await?,
        }
        Ok(ply_agent::Stop::EndTurn)
    }
}

/// Makes actors, one for each name.
#[derive(Debug, Default)]
pub(crate) struct Actors(std::sync::Mutex<BTreeMap<String, Arc<Actor>>>);

impl Actors {
    pub(crate) fn get(&self, name: &str) -> Arc<Actor> {
        let mut actors = self.0.lock().unwrap();
        let make = || {
            Arc::new(Actor {
                name: name.to_owned(),
                ..Actor::default()
            })
        };
        Arc::clone(actors.entry(name.to_owned()).or_insert_with(make))
    }
}

/// The same actors for several hubs.
#[derive(Debug)]
pub(crate) struct Shared(Arc<Actors>);

impl Factory for Shared {
    type Agent = Share;

    async fn agent(&self, wanted: &Wanted) -> std::result::Result<Arc<Share>, String> {
        if wanted.name == "missing" {
            return Err("there is no such agent".to_owned());
        }
        Ok(Arc::new(Share(self.0.get(&wanted.name))))
    }

    fn known(&self, key: &str) -> Option<Wanted> {
        (key != "unknown").then(|| wanted(key))
    }
}

/// An actor that others have too.
#[derive(Debug)]
pub(crate) struct Share(Arc<Actor>);

impl Agent for Share {
    fn about(&self) -> ply_agent::About {
        self.0.about()
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<ply_agent::Stop> {
        self.0.prompt(turn).await
    }
}

pub(crate) fn wanted(name: &str) -> Wanted {
    Wanted {
        name: name.to_owned(),
        key: name.to_owned(),
        command: Vec::new(),
        env: BTreeMap::new(),
        cwd: "/".into(),
    }
}

/// A hub that runs, and where it is.
pub(crate) struct Scene {
    pub(crate) dir: TempDir,
    pub(crate) actors: Arc<Actors>,
    /// The command that is told of questions.
    notify: Vec<String>,
    running: Option<(Arc<Hub<Shared>>, JoinHandle<Ended>)>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::notifying(|_| Vec::new())
    }

    /// Returns a scene whose hub tells a command of questions, which may need the scene's directory.
    pub(crate) fn notifying(command: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut scene = Self {
            notify: command(dir.path()),
            dir,
            actors: Arc::default(),
            running: None,
        };
        scene.start();
        scene
    }

    pub(crate) fn place(&self) -> Place {
        Place::at(self.dir.path().join("run")).unwrap()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.dir.path().join("sessions.db")
    }

    /// Starts the hub.
    pub(crate) fn start(&mut self) {
        let daemon = Daemon::bind(self.place()).unwrap();
        let store = self.store();
        let hub = Hub::new(Shared(Arc::clone(&self.actors)), store.clone(), store);
        let hub = hub.notify(self.notify.clone());
        let hub = Arc::new(hub);
        let task = tokio::spawn(daemon.run(Arc::clone(&hub)));
        self.running = Some((hub, task));
    }

    /// Has the hub end.
    pub(crate) fn end(&self, stop: Stop) {
        self.running.as_ref().unwrap().0.stop(stop);
    }

    /// Ends the hub now.
    pub(crate) async fn stop(&mut self) {
        self.end(Stop::Now);
        assert_eq!(self.ended().await, Ended::All);
    }

    /// Waits until the hub has ended.
    pub(crate) async fn ended(&mut self) -> Ended {
        let (_hub, task) = self.running.take().unwrap();
        let ended = tokio::time::timeout(PATIENCE, task).await;
        ended.expect("the hub does not end").unwrap()
    }

    pub(crate) fn hello(&self, agent: Option<&str>) -> Hello {
        Hello {
            protocol: PROTOCOL,
            version: "1".to_owned(),
            store: self.store(),
            agent: agent.map(wanted),
            ask: None,
            principal: None,
        }
    }

    /// Connects a client of this version.
    pub(crate) async fn client(&self, agent: &str, versions: Supported) -> ply_client::Agent {
        self.client_of(self.hello(Some(agent)), versions)
            .await
            .unwrap()
    }

    pub(crate) async fn client_of(
        &self,
        hello: Hello,
        versions: Supported,
    ) -> std::result::Result<ply_client::Agent, ConnectError> {
        let connected = connect::connect(&self.place(), &hello).await?;
        let transport = Transport::new(connected.reader, connected.writer);
        let client = Client::new().versions(versions);
        Ok(client.connect(transport).await.unwrap())
    }

    pub(crate) async fn ask(&self, ask: Ask) -> std::result::Result<Told, ConnectError> {
        let mut hello = self.hello(None);
        hello.ask = Some(ask);
        connect::ask(&self.place(), &hello).await
    }

    /// Returns the open sessions as soon as they are as wanted.
    pub(crate) async fn live(&self, is_it: impl Fn(&[Live]) -> bool) -> Vec<Live> {
        let looked = async {
            loop {
                let Told::Sessions(live) = self.ask(Ask::Sessions).await.unwrap() else {
                    panic!("the hub answers something else");
                };
                if is_it(&live) {
                    return live;
                }
                tokio::task::yield_now().await;
            }
        };
        let looked = tokio::time::timeout(PATIENCE, looked).await;
        looked.expect("the sessions never are as wanted")
    }

    pub(crate) fn cwd(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if let Some((hub, _)) = &self.running {
            hub.stop(Stop::Now);
        }
    }
}

/// Returns everything that the agent said.
pub(crate) fn said(session: &ply_client::Session) -> Vec<String> {
    session.with_transcript(|transcript| {
        let entries = transcript.entries();
        let said = entries.filter_map(|entry| match entry {
            ply_client::transcript::Entry::Message(message)
                if message.kind == ply_client::transcript::MessageKind::Agent =>
            {
                Some(message.text())
            }
            _ => None,
        });
        said.collect()
    })
}
