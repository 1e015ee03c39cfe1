//! A world for whole turns: a scripted model service, the coding agent, a client, a directory.
//!
//! Everything is real but the model's wit: HTTP on the loopback interface, the protocol over pipes in
//! memory, files on disk, processes.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod story;
pub mod tasks;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ply_client::{Client, Session, Supported, Transport, transcript::ToolCall, v2};
use ply_coder::config::{Config, Places};
use ply_coder::model::service::{self, Secret, Service};
use ply_coder::model::{Facts, Model};
use ply_coder::{Coder, permission::Mode};
pub use ply_model_server::{Api, Gate, ModelServer, Reply, Stop, Usage};
use ply_rpc::transport::memory;
use tempfile::TempDir;

pub use self::story::{Story, read_story};

/// Bytes that a pipe between client and agent holds.
const PIPE_BYTES: usize = 1 << 16;

/// How long anything may take before a test fails.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// What the user of a world answers when asked for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// Allows it this time.
    Allows,
    /// Allows it by the first option that is for longer.
    AllowsAlways,
    /// Rejects it.
    Rejects,
    /// Never answers.
    Waits,
}

/// How a world is to be.
pub struct Setup {
    /// The API that the model speaks.
    pub api: Api,
    /// The versions of the protocol that the client speaks.
    pub versions: Supported,
    /// The mode in which sessions begin.
    pub mode: Mode,
    /// What the user answers.
    pub user: User,
    /// Where the sessions are kept; in memory if nowhere.
    pub store: Option<PathBuf>,
    /// Changes the configuration.
    pub configure: Box<dyn FnOnce(&mut Config)>,
    /// Changes the facts of the model.
    pub facts: Box<dyn FnOnce(&mut Facts)>,
    /// Changes the client.
    pub client: Box<dyn FnOnce(Client) -> Client>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            api: Api::Anthropic,
            versions: Supported::Both,
            mode: Mode::Ask,
            user: User::Allows,
            store: None,
            configure: Box::new(|_| {}),
            facts: Box::new(|_| {}),
            client: Box::new(|client| client),
        }
    }
}

/// A scripted model, the agent, and a client with a directory.
pub struct World {
    /// The model service.
    pub model: ModelServer,
    /// The agent, as the client has it.
    pub agent: ply_client::Agent,
    /// The titles of what the user was asked.
    pub asked: Arc<Mutex<Vec<String>>>,
    directory: TempDir,
    _logs: TempDir,
}

impl World {
    /// Returns a world with everything as usual.
    pub async fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(Setup::default(), script).await
    }

    /// Returns a world.
    pub async fn with(setup: Setup, script: impl IntoIterator<Item = Reply>) -> Self {
        let directory = TempDir::new().unwrap();
        let logs = TempDir::new().unwrap();
        let model = ModelServer::start(script).await;
        let places = Places {
            logs: logs.path().join("logs"),
            checkpoints: Some(logs.path().join("checkpoints")),
            user_rules: Some(logs.path().join("rules.toml")),
            helper: None,
        };
        let mut config = Config::new(vec![scripted(&model, setup.api, setup.facts)], places);
        // There is no program here that could be the helper of the sandbox.
        config.sandbox.required = Some(false);
        config.mode = setup.mode;
        (setup.configure)(&mut config);
        let mut server = ply_agent::serve(Coder::new(config));
        if let Some(store) = setup.store {
            server = server.journal(store);
        }
        let ((reader, writer), (agent_reader, agent_writer)) = memory::pair(PIPE_BYTES);
        tokio::spawn(async move {
            server.over(agent_reader, agent_writer).await;
            server.shutdown().await;
        });
        let asked = Arc::default();
        let client = Client::new()
            .versions(setup.versions)
            .permissions(policy(setup.user, Arc::clone(&asked)));
        let agent = (setup.client)(client)
            .connect(Transport::new(reader, writer))
            .await
            .unwrap();
        Self {
            model,
            agent,
            asked,
            directory,
            _logs: logs,
        }
    }

    /// Returns the directory.
    pub fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Reads a file.
    pub fn read(&self, name: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Waits until a file is there, which a command of the agent makes.
    pub async fn appears(&self, name: &str) {
        let path = self.path().join(name);
        let there = async {
            while !path.exists() {
                tokio::task::yield_now().await;
            }
        };
        let there = tokio::time::timeout(PATIENCE, there).await;
        there.unwrap_or_else(|_| panic!("{name} does not appear"));
    }

    /// Returns a new session in the directory.
    pub async fn session(&self) -> Session {
        self.agent.new_session(self.path()).await.unwrap()
    }

    /// Runs one turn in a new session.
    pub async fn turn(&self, prompt: &str) -> Story {
        self.session().await.tell(prompt).await
    }

    /// Returns what the user was asked.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A session that can be told something.
pub trait Tell {
    /// Runs one turn to its end.
    fn tell(&self, prompt: &str) -> impl Future<Output = Story>;
}

impl Tell for Session {
    async fn tell(&self, prompt: &str) -> Story {
        let turn = self.prompt(prompt).await.unwrap();
        read_story(self, turn).await
    }
}

fn scripted(server: &ModelServer, api: Api, change: Box<dyn FnOnce(&mut Facts)>) -> Arc<dyn Model> {
    let mut facts = Facts::new("scripted/model");
    (facts.window_tokens, facts.output_tokens_max) = (200_000, 8_000);
    change(&mut facts);
    let (api, name) = match api {
        Api::Chat => (service::Api::OpenAi, "gpt-4.1"),
        Api::Responses => (service::Api::OpenAiResponses, "gpt-5"),
        Api::Anthropic => (service::Api::Anthropic, "claude-sonnet-4-5"),
        Api::Gemini => (service::Api::Gemini, "gemini-2.5-pro"),
        Api::Ollama => (service::Api::Ollama, "llama3.2"),
    };
    let mut service = Service::new(api, name, facts);
    service.base_url = Some(server.url(match api {
        service::Api::OpenAi => Api::Chat,
        service::Api::OpenAiResponses => Api::Responses,
        service::Api::Anthropic => Api::Anthropic,
        service::Api::Gemini => Api::Gemini,
        _ => Api::Ollama,
    }));
    service.key = Some(Secret::new("test-key"));
    service::open(service)
}

fn policy(
    user: User,
    asked: Arc<Mutex<Vec<String>>>,
) -> impl Fn(&v2::RequestPermissionRequest, Option<&ToolCall>) -> ply_client::Decision
+ Send
+ Sync
+ 'static {
    use v2::PermissionOptionKind as Kind;
    move |request, _| {
        asked.lock().unwrap().push(request.title.clone());
        let kind = match user {
            User::Allows => Kind::AllowOnce,
            User::AllowsAlways => Kind::AllowAlways,
            User::Rejects => Kind::RejectOnce,
            User::Waits => return ply_client::Decision::Ask,
        };
        let option = request.options.iter().find(|option| option.kind == kind);
        let option = option.unwrap_or(&request.options[0]);
        ply_client::Decision::Select(option.option_id.clone())
    }
}
