//! A home, a project and a store of a test's own, and the agent started there.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use coder_tests::{Api, ModelServer};
use ply_client::{Agent, AllowAll, Client, Command, Permissions, Session, Supported};
use tempfile::TempDir;

use crate::raw::Raw;

/// The program.
pub(crate) const PLY: &str = env!("CARGO_BIN_EXE_ply");

/// How long anything may take before it counts as hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something that must come.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, what).await;
    done.expect("this hangs")
}

/// A home, a project and a store.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        for name in ["home/.config/ply", "project", "tmp"] {
            std::fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        Self { directory }
    }

    /// Returns a path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    /// Returns the directory that sessions work in.
    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Returns the store.
    pub(crate) fn store(&self) -> PathBuf {
        self.path("data/sessions.db")
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Reads a file of the project.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.project().join(name)).unwrap()
    }

    /// Writes the configuration.
    pub(crate) fn configure(&self, text: &str) {
        std::fs::write(self.path("home/.config/ply/config.toml"), text).unwrap();
    }

    /// Makes a scripted model the only one, with these lines before its own.
    pub(crate) fn configure_model(&self, model: &ModelServer, first: &str) {
        self.configure_model_of(Api::Anthropic, model, first);
    }

    /// Makes a scripted model that speaks an API the only one, with these lines before its own.
    pub(crate) fn configure_model_of(&self, api: Api, model: &ModelServer, first: &str) {
        let name = match api {
            Api::Anthropic => "anthropic",
            Api::Gemini => "gemini",
            Api::Ollama => "ollama",
            Api::Chat => "openai",
            Api::Responses => "openai-responses",
        };
        self.configure(&format!(
            "model = \"scripted/claude-sonnet-4-5\"\n{first}\n[providers.scripted]\n\
             api = \"{name}\"\nbase_url = \"{}\"\nkey_env = \"SCRIPTED_KEY\"\n",
            model.url(api)
        ));
    }

    /// Returns the agent, about to be started with nothing in its environment but this place.
    pub(crate) fn agent(&self) -> Launch {
        let launch = Launch {
            arguments: vec!["agent".into()],
            variables: Vec::new(),
        };
        launch
            .set("PATH", std::env::var_os("PATH").unwrap())
            .set("HOME", self.path("home"))
            .set("TMPDIR", self.path("tmp"))
            .set("PLY_STORE", self.store())
            .set("SCRIPTED_KEY", "test-key")
    }

    /// Starts the agent with a client that allows everything.
    pub(crate) async fn client(&self) -> Agent {
        self.agent().client(Client::new()).await
    }

    /// Starts the agent with such a client and opens a session in the project.
    pub(crate) async fn session(&self) -> Session {
        let agent = self.client().await;
        soon(agent.new_session(self.project())).await.unwrap()
    }
}

/// The agent, about to be started.
#[derive(Clone)]
pub(crate) struct Launch {
    arguments: Vec<OsString>,
    variables: Vec<(String, OsString)>,
}

impl Launch {
    /// Adds arguments.
    pub(crate) fn with<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        self.arguments
            .extend(arguments.into_iter().map(OsString::from));
        self
    }

    /// Sets a variable.
    pub(crate) fn set(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables
            .push((name.to_owned(), value.as_ref().into()));
        self
    }

    /// Starts it with a client that allows everything.
    pub(crate) async fn client(&self, client: Client) -> Agent {
        self.client_with(client, AllowAll).await
    }

    /// Starts it with a client whose user decides like this.
    pub(crate) async fn client_with(
        &self,
        client: Client,
        user: impl Permissions + 'static,
    ) -> Agent {
        let mut command = Command::new(PLY).args(&self.arguments);
        for (name, _) in std::env::vars_os() {
            command = command.env_remove(name);
        }
        for (name, value) in &self.variables {
            command = command.env(name, value);
        }
        let client = client.permissions(user);
        soon(client.spawn(command)).await.unwrap()
    }

    /// Starts it with a client of each version in turn, as a list to go through.
    pub(crate) async fn each_version(&self) -> [Agent; 2] {
        let v1 = self.client(Client::new().versions(Supported::V1)).await;
        let v2 = self.client(Client::new().versions(Supported::V2)).await;
        [v1, v2]
    }

    /// Starts it with nobody at the other end but the test.
    pub(crate) fn raw(&self) -> Raw {
        let mut command = tokio::process::Command::new(PLY);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(Path::new("/"));
        Raw::start(command)
    }
}
