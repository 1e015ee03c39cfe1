//! The agent.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ply_agent::{About, Accepts, Agent, Error, Mcp, Result, Session, SessionSetup, Stop, Turn, v2};

use crate::commands::Command;
use crate::config::{Config, Places};
use crate::model::{Model, service};
use crate::options::Choice;
use crate::session::State;
use crate::turn::TurnLoop;

/// The coding agent.
#[derive(Debug)]
pub struct Coder {
    config: Arc<Config>,
    models: Arc<Mutex<Vec<Arc<dyn Model>>>>,
    /// Whether Ollama was looked for.
    looked: AtomicBool,
    sessions: Mutex<HashMap<v2::SessionId, Arc<State>>>,
    /// Why there are no sessions.
    problem: Option<String>,
}

impl Coder {
    /// Returns an agent with this configuration. Without a model it has the offline one.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let mut models = config.models.clone();
        if models.is_empty() {
            models.push(Arc::new(crate::model::offline::Offline::new()));
        }
        Self {
            config: Arc::new(config),
            models: Arc::new(Mutex::new(models)),
            looked: AtomicBool::new(false),
            sessions: Mutex::default(),
            problem: None,
        }
    }

    /// Returns an agent that refuses every session with these words: its configuration is wrong, and
    /// the user of an editor sees no other place to read that.
    #[must_use]
    pub fn refusing(problem: impl Into<String>) -> Self {
        Self {
            problem: Some(problem.into()),
            ..Self::new(Config::new(Vec::new(), Places::default()))
        }
    }

    fn models(&self) -> Vec<Arc<dyn Model>> {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.clone()
    }

    fn state(&self, session: &Session) -> Result<Arc<State>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let state = sessions.get(session.id()).cloned();
        state.ok_or_else(|| Error::msg("The session is not open."))
    }

    fn swap(&self, session: &Session, state: Option<Arc<State>>) -> Option<Arc<State>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        match state {
            Some(state) => sessions.insert(session.id().clone(), state),
            None => sessions.remove(session.id()),
        }
    }

    /// Offers the models of a running Ollama as soon as it has told them, and holds nobody up.
    fn look_for_ollama(&self, session: &Session) {
        let Some(url) = self.config.ollama_url.clone() else {
            return;
        };
        let Ok(state) = self.state(session) else {
            return;
        };
        if self.looked.swap(true, Ordering::Relaxed) {
            return;
        }
        let (session, models) = (session.clone(), Arc::clone(&self.models));
        tokio::spawn(async move {
            let found = service::ollama_models(&url).await;
            if found.is_empty() {
                return;
            }
            let all = {
                let mut models = models.lock().unwrap_or_else(PoisonError::into_inner);
                let known: Vec<_> = models
                    .iter()
                    .map(|model| model.facts().id.clone())
                    .collect();
                let new = found
                    .into_iter()
                    .filter(|found| !known.contains(&found.facts.id));
                models.extend(new.map(service::open));
                models.clone()
            };
            if let Err(error) = session.set_options(state.choice().options(&all)).await {
                tracing::debug!(%error, "the session was closed before Ollama answered");
            }
        });
    }

    fn first_choice(&self) -> Result<Choice> {
        let models = self.models();
        let model = models.first().cloned();
        Ok(Choice {
            mode: self.config.mode,
            model: model.ok_or_else(|| Error::msg("There is no model; set one in config.toml."))?,
            effort: self.config.effort,
        })
    }
}

impl Agent for Coder {
    fn about(&self) -> About {
        let mut accepts = Accepts::default();
        // A model that cannot take them is told that they are there.
        (accepts.image, accepts.embedded_context) = (true, true);
        accepts.audio = self.models().iter().any(|model| model.facts().audio);
        About::new("ply", env!("CARGO_PKG_VERSION"))
            .title("Ply")
            .accepts(accepts)
            .mcp(Mcp {
                stdio: true,
                http: true,
            })
            .additional_directories()
    }

    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        if let Some(problem) = &self.problem {
            return Err(Error::msg(problem.clone()));
        }
        let models = self.models();
        let mut choice = self.first_choice()?;
        if setup.reopened {
            choice.restore(session.history().await?.transcript(), &models);
        }
        let options = choice.options(&models);
        let state = Arc::new(State::new(&self.config, setup, choice)?);
        if let Some(old) = self.swap(session, Some(state)) {
            // A session whose journal failed comes back without having been closed.
            old.end().await;
        }
        session.set_options(options).await?;
        session.set_commands(Command::all()).await?;
        self.look_for_ollama(session);
        Ok(())
    }

    async fn close(&self, session: &Session) {
        if let Some(state) = self.swap(session, None) {
            state.end().await;
        }
    }

    async fn set_option(
        &self,
        session: &Session,
        option: &v2::SessionConfigId,
        value: &v2::SessionConfigOptionValue,
    ) -> Result<()> {
        let state = self.state(session)?;
        let value = value.as_id().map_or("", |id| &*id.0);
        let models = self.models();
        let changed = state.choose(|choice| choice.set(&option.0, value, &models));
        changed.map_err(Error::invalid_params)?;
        // Another model may have other options.
        session.set_options(state.choice().options(&models)).await
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let state = self.state(turn.session())?;
        let models = self.models();
        TurnLoop::new(&self.config, &state, &models, turn)
            .run()
            .await
    }
}
