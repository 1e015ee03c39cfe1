//! The agent.

use std::sync::{Arc, Mutex, PoisonError};

use ply_agent::{About, Accepts, Agent, Error, Mcp, Result, Session, SessionSetup, Stop, Turn, v2};

use crate::commands::Command;
use crate::config::{Config, Places};
use crate::model::offline::{self, Offline};
use crate::model::{Model, service};
use crate::options::{self, Choice};
use crate::session::State;
use crate::turn::TurnLoop;

/// How long a client has a new session for itself before Ollama is looked for.
const LOOK_AFTER: std::time::Duration = std::time::Duration::from_millis(200);

/// The coding agent.
#[derive(Debug)]
pub struct Coder {
    config: Arc<Config>,
    shared: Arc<Shared>,
    /// Why there are no sessions.
    problem: Option<String>,
}

/// What changes while the agent runs.
#[derive(Debug)]
struct Shared {
    models: Mutex<Vec<Arc<dyn Model>>>,
    /// Whether the user wants the offline model, and has it not only for want of another.
    offline_is_named: bool,
}

impl Shared {
    fn models(&self) -> Vec<Arc<dyn Model>> {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.clone()
    }

    /// Offers a model, unless it is offered. The offline one stays the last choice, unless the user named
    /// it.
    fn offer(&self, model: Arc<dyn Model>) {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if has(&models, &model.facts().id) {
            return;
        }
        let place = match self.offline_is_named {
            true => models.len(),
            false => models.len().saturating_sub(1),
        };
        models.insert(place, model);
    }

    /// Offers the models of a running Ollama. A session that has the offline model for want of another
    /// goes on with the first of them. It was told of so many models.
    async fn ask_ollama(&self, session: &Session, url: &str, told: usize) -> Result<()> {
        for found in service::ollama_models(url).await {
            self.offer(service::open(found));
        }
        let models = self.models();
        let first = models.first().filter(|_| !self.offline_is_named);
        let switched = first.is_some_and(|first| session.state::<State>().prefer(first));
        match models.len() == told && !switched {
            true => Ok(()),
            false => self.tell_options(session).await,
        }
    }

    /// Tells the client what is chosen and what there is to choose from.
    async fn tell_options(&self, session: &Session) -> Result<()> {
        let state: &State = session.state();
        loop {
            let options = state.choice().options(&self.models());
            session.set_options(options.clone()).await?;
            // Somebody may have chosen in the meantime and told it before us; the last word must be
            // the choice that holds.
            if state.choice().options(&self.models()) == options {
                return Ok(());
            }
        }
    }
}

fn has(models: &[Arc<dyn Model>], id: &str) -> bool {
    models.iter().any(|model| model.facts().id == id)
}

impl Coder {
    /// Returns an agent with this configuration. It has the offline model besides those that it is
    /// given.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let mut models = config.models.clone();
        let offline_is_named = has(&models, offline::ID);
        if !offline_is_named {
            models.push(Arc::new(Offline::new()));
        }
        Self {
            config: Arc::new(config),
            shared: Arc::new(Shared {
                models: Mutex::new(models),
                offline_is_named,
            }),
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

    /// Returns where Ollama is to be looked for. Who wants to be offline wants nothing to be asked.
    fn ollama_url(&self) -> Option<&str> {
        let url = self.config.ollama_url.as_deref();
        url.filter(|_| !self.shared.offline_is_named)
    }

    /// Offers the models of a running Ollama as soon as it has told them, and holds nobody up. The
    /// session was told of some models.
    fn look_for_ollama(&self, session: &Session, told: usize) {
        let Some(url) = self.ollama_url().map(str::to_owned) else {
            return;
        };
        let (session, shared) = (session.clone(), Arc::clone(&self.shared));
        tokio::spawn(async move {
            tokio::time::sleep(LOOK_AFTER).await;
            if let Err(error) = shared.ask_ollama(&session, &url, told).await {
                tracing::debug!(%error, "the session was closed before Ollama answered");
            }
        });
    }

    /// Settles which model a session has, before its first prompt. One that would go to the offline model
    /// for want of another may have come before Ollama was looked for.
    async fn settle(&self, session: &Session, state: &State) -> Result<()> {
        if let Some(url) = self.ollama_url()
            && state.is_offline_for_now()
        {
            let told = self.shared.models().len();
            self.shared.ask_ollama(session, url, told).await?;
        }
        state.settle();
        Ok(())
    }

    /// Returns what a session was left with. A model that is there no more is told by its id.
    async fn last_choice(&self, session: &Session) -> Result<(Choice, Option<String>)> {
        let history = session.history().await?;
        let stored = options::model_of(history.transcript());
        let ollama = self.config.ollama_url.as_deref();
        let name = stored.and_then(|id| id.strip_prefix("ollama/"));
        if let (Some(url), Some(name)) = (ollama, name.filter(|name| !name.is_empty())) {
            // It may not have answered yet, or not be running: that is told when the model is used,
            // and no reason to go to another one.
            self.shared
                .offer(service::open(service::ollama_model(url, name)));
        }
        let models = self.shared.models();
        let mut choice = self.first_choice()?;
        choice.restore(history.transcript(), &models);
        let lost = stored.filter(|id| !has(&models, id));
        Ok((choice, lost.map(str::to_owned)))
    }

    fn first_choice(&self) -> Result<Choice> {
        let models = self.shared.models();
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
        accepts.audio = self.shared.models().iter().any(|model| model.facts().audio);
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
        let (choice, lost) = match setup.reopened {
            true => self.last_choice(session).await?,
            false => (self.first_choice()?, None),
        };
        let state = State::new(&self.config, setup, choice, lost)?;
        if setup.reopened {
            state.settle();
        }
        session.set_state(state);
        let told = self.shared.models().len();
        self.shared.tell_options(session).await?;
        session.set_commands(Command::all()).await?;
        self.look_for_ollama(session, told);
        Ok(())
    }

    async fn close(&self, session: &Session) {
        // One that was refused has none.
        if let Some(state) = session.try_state::<State>() {
            state.end().await;
        }
    }

    async fn set_option(
        &self,
        session: &Session,
        option: &v2::SessionConfigId,
        value: &v2::SessionConfigOptionValue,
    ) -> Result<()> {
        let state: &State = session.state();
        let value = value.as_id().map_or("", |id| &*id.0);
        let models = self.shared.models();
        let changed = state.choose(|choice| choice.set(&option.0, value, &models));
        changed.map_err(Error::invalid_params)?;
        if &*option.0 == options::MODEL {
            state.settle();
        }
        // Another model may have other options.
        self.shared.tell_options(session).await
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let session = turn.session().clone();
        let state: &State = session.state();
        // Nobody listens while a session opens, and a notice is not kept.
        if let Some(lost) = state.take_lost_model() {
            let words = format!(
                "The model `{lost}` of this session is not there any more; it goes on with `{}`.",
                state.choice().model.facts().id
            );
            session.notice(v2::NoticeSeverity::Warning, words).await?;
        }
        self.settle(&session, state).await?;
        let models = self.shared.models();
        let stop = TurnLoop::new(&self.config, state, &models, turn)
            .run()
            .await;
        // A command may have told the models of the turn's beginning.
        if self.shared.models().len() > models.len()
            && let Err(error) = self.shared.tell_options(&session).await
        {
            tracing::debug!(%error, "the session was closed at the end of a turn");
        }
        stop
    }
}
