//! What a program tells the agent.

pub(crate) mod credentials;
mod diagnostics;
mod file;
mod hooks;
mod mcp_servers;
mod prices;
mod providers;
mod proxy;
mod rules;
mod sandbox;
mod table;

use std::path::PathBuf;
use std::sync::Arc;

use crate::diagnostics::Diagnostics;
use crate::hooks::Hook;
use crate::mcp;
use crate::model::offline::Offline;
use crate::model::prices::Prices;
use crate::model::service::{self, Service};
use crate::model::{Effort, Failure, Model};
use crate::permission::{Mode, Rule};
use crate::shell::Sandbox;

pub use self::credentials::places as credentials;
pub use crate::model::service::ollama_models;

/// How many requests a turn may make of the model.
pub const TURN_REQUESTS_MAX: u32 = 200;

/// What a program tells the agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The models to choose from, the default first. The built-in one of [`crate::model::offline`] is
    /// offered after them, unless it is among them.
    pub models: Vec<Arc<dyn Model>>,
    /// How hard models are to think at first.
    pub effort: Option<Effort>,
    /// The mode in which sessions begin.
    pub mode: Mode,
    /// The user's permission rules.
    pub rules: Vec<Rule>,
    /// The file that keeps rules which the user allows for good, absolute.
    pub user_rules: Option<PathBuf>,
    /// How many requests a turn may make of the model.
    pub turn_requests_max: u32,
    /// Whether the conversation is shortened by itself before it is too long.
    pub compact: bool,
    /// Whether pages may be fetched from the web.
    pub web_fetch: bool,
    /// How commands are confined.
    pub sandbox: Sandbox,
    /// Where whole outputs of commands are kept.
    pub logs: PathBuf,
    /// Where it is kept what files were like before each turn, absolute. Without it no turn can be taken back.
    pub checkpoints: Option<PathBuf>,
    /// What requests to models cost.
    pub prices: Prices,
    /// Further instructions of the user, for every session.
    pub instructions: Option<String>,
    /// A file with more of them, absolute. It need not be there.
    pub instructions_file: Option<PathBuf>,
    /// Directories with the user's own commands, each a Markdown file, absolute. The first one wins.
    pub commands: Vec<PathBuf>,
    /// Directories with the user's own skills, each a directory with `SKILL.md`, absolute. The first one wins.
    pub skills: Vec<PathBuf>,
    /// Commands of the user's own that are told what the agent does, and may object.
    pub hooks: Vec<Hook>,
    /// How changed files are checked; they are not if there is nothing.
    pub diagnostics: Option<Diagnostics>,
    /// Files and directories of Ply's own, absolute, which are asked about before they are changed.
    pub own: Vec<PathBuf>,
    /// Directories outside of a session's own that may be read and not changed, absolute: sources of
    /// dependencies, headers, toolchains.
    pub readable: Vec<PathBuf>,
    /// How MCP servers are started and how long they may take.
    pub mcp: mcp::Settings,
    /// MCP servers of the user's, besides those that a client names.
    pub mcp_servers: Vec<mcp::Configured>,
    /// The variables that entries of MCP servers may name.
    pub variables: mcp::Variables,
    /// Says what day it is, such as `2026-11-17`, for models to know.
    pub today: Option<fn() -> String>,
    /// Called each time a session is open, before its client is told; for programs that give memory back.
    pub opened: Option<fn()>,
    /// Servers that are asked which models they have.
    pub lists: Vec<ModelList>,
    /// What was found in the file or the environment and cannot be used, and what to do about it. The user is
    /// told where the offline model takes its place.
    pub problems: Vec<String>,
    /// Where Ollama is, for sessions that go on with a model of it. It is not asked for others unless it is
    /// among `lists`.
    pub ollama_url: Option<String>,
}

/// A server that is asked which models it has.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelList {
    /// How it is reached; its own model does not matter.
    pub service: Service,
    /// Models that are offered until the server has said which it has.
    pub assumed: Vec<String>,
}

impl ModelList {
    /// Returns a server of which no models are known.
    #[must_use]
    pub fn new(service: Service) -> Self {
        let assumed = Vec::new();
        Self { service, assumed }
    }

    /// Returns its provider's name.
    #[must_use]
    pub fn provider(&self) -> &str {
        self.service.facts.id.split('/').next().unwrap_or_default()
    }

    /// Asks the server.
    ///
    /// # Errors
    ///
    /// It cannot be reached in time, refuses, or answers something else.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the request.
    pub async fn ask(&self) -> Result<Vec<Service>, Failure> {
        service::models(&self.service).await
    }
}

/// Where the program keeps things.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Where whole outputs of commands are kept.
    pub logs: PathBuf,
    /// Where it is kept what files were like before each turn.
    pub checkpoints: Option<PathBuf>,
    /// The file that keeps rules which the user allows for good.
    pub user_rules: Option<PathBuf>,
    /// The program that confines itself and becomes a command; see [`Sandbox::helper`].
    pub helper: Option<PathBuf>,
}

/// What is wrong with the configuration, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is not TOML.
    #[error("`config.toml` cannot be read from line {line} on: {what}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The file says something that is not understood.
    #[error("line {line} of `config.toml`: {what}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The file with prices says something that is not understood.
    #[error("line {line} of `prices.toml`: {what}")]
    Prices {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong, and what to do.
        what: String,
    },
    /// A permission rule is not understood.
    #[error("line {line} of `config.toml`: the permission rule `{rule}`: {what}")]
    Rule {
        /// The line, counted from 1.
        line: usize,
        /// The rule, as it was written.
        rule: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// A variable of the environment says something that is not understood.
    #[error("the environment variable `{name}`: {what}")]
    Variable {
        /// Its name.
        name: &'static str,
        /// What is wrong, and what to do.
        what: String,
    },
}

impl Config {
    /// Returns a configuration with some models, the default first, and the defaults for the rest.
    #[must_use]
    pub fn new(models: Vec<Arc<dyn Model>>, places: Places) -> Self {
        let sandbox = Sandbox {
            helper: places.helper,
            ..Sandbox::default()
        };
        Self {
            models,
            effort: None,
            mode: Mode::default(),
            rules: Vec::new(),
            user_rules: places.user_rules,
            turn_requests_max: TURN_REQUESTS_MAX,
            compact: true,
            web_fetch: false,
            sandbox,
            own: Vec::new(),
            readable: Vec::new(),
            mcp: mcp::Settings::default(),
            mcp_servers: Vec::new(),
            variables: mcp::Variables::default(),
            logs: places.logs,
            checkpoints: places.checkpoints,
            prices: Prices::default(),
            instructions: None,
            instructions_file: None,
            commands: Vec::new(),
            skills: Vec::new(),
            hooks: Vec::new(),
            diagnostics: None,
            today: None,
            opened: None,
            lists: Vec::new(),
            problems: Vec::new(),
            ollama_url: None,
        }
    }

    /// Reads the text of `config.toml` and the environment.
    ///
    /// The models are, in this order and each once: the one that `PLY_MODEL` or `model` names, those of
    /// `[[models]]`, and some of every provider that there is a key or an address for. With none of these
    /// there are no models. `offline` names the built-in model. Nothing is asked of any service, and no key is
    /// looked at: a model without a key, or with a wrong one, says so when it is used.
    ///
    /// # Errors
    ///
    /// The file or a variable says something that is not understood.
    pub fn read(
        file: Option<&str>,
        env: &dyn Fn(&str) -> Option<String>,
        places: Places,
    ) -> Result<Self, ConfigError> {
        let file = file::parse(file.unwrap_or_default())?;
        let found = providers::read(&file, env)?;
        let prices = prices::of(&file, &found);
        let mut models: Vec<Arc<dyn Model>> = Vec::new();
        if providers::is_offline(&file, env) {
            models.push(Arc::new(Offline::new()));
        }
        models.extend(found.services.into_iter().map(service::open));
        let new = Self::new(models, places);
        let sandbox = file.sandbox.apply(new.sandbox.clone(), env)?;
        // What a server needs of the environment it is given; these are not for it.
        let clients = file
            .mcp_servers
            .iter()
            .filter_map(|server| server.client.as_ref());
        let secrets = clients.filter_map(|client| client.secret_env.clone());
        let mut withheld = providers::key_variables(&file.providers);
        withheld.extend(secrets);
        let mcp = mcp::Settings {
            withheld,
            search_path: env("PATH"),
            ..mcp::Settings::default()
        };
        Ok(Self {
            effort: file.effort,
            mode: file.mode,
            rules: file.rules.parse()?,
            turn_requests_max: file.turn_requests_max,
            compact: file.compact,
            web_fetch: file.web_fetch,
            sandbox,
            mcp,
            mcp_servers: file.mcp_servers,
            prices,
            instructions: file.instructions,
            hooks: file.hooks,
            diagnostics: file.diagnostics,
            lists: found.lists,
            problems: found.problems,
            ollama_url: Some(providers::ollama_url(&file.providers, env)),
            ..new
        })
    }

    /// Adds the prices of the text of `prices.toml`. Those of `[[models]]` come before them.
    ///
    /// # Errors
    ///
    /// The file says something that is not understood.
    pub fn add_prices(&mut self, file: &str) -> Result<(), ConfigError> {
        for (id, price) in prices::parse(file)? {
            self.prices.add(id, price);
        }
        Ok(())
    }

    /// Returns the models of services that [`Config::read`] would open, with what is needed to reach
    /// them.
    ///
    /// # Errors
    ///
    /// Those of [`Config::read`].
    pub fn services(
        file: Option<&str>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<Service>, ConfigError> {
        let file = file::parse(file.unwrap_or_default())?;
        Ok(providers::read(&file, env)?.services)
    }
}

#[cfg(test)]
mod tests;
