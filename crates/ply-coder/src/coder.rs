//! The agent.

use std::sync::{Arc, Mutex, PoisonError};

use ply_agent::{
    About, Accepts, Agent, Error, History, Mcp, Result, Session, SessionSetup, Stop, Turn, v2,
};

use crate::config::{Config, ModelList, Places};
use crate::model::offline::{self, Offline};
use crate::model::service::Service;
use crate::model::{Facts, Model, service};
use crate::options::{self, Choice};
use crate::playbook::Playbook;
use crate::session::State;
use crate::turn::TurnLoop;

/// How long a client has a new session for itself before servers are asked for their models.
const ASK_AFTER: std::time::Duration = std::time::Duration::from_millis(200);

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
    /// Whether the user chose the offline model, so that nothing takes its place.
    offline_is_named: bool,
    /// Why servers did not tell their models, when they were last asked.
    failed: Mutex<Vec<String>>,
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
        if !has(&models, &model.facts().id) {
            let place = self.last_place(&models);
            models.insert(place, model);
        }
    }

    /// Returns where a model is put that is the last choice but for the offline one.
    fn last_place(&self, models: &[Arc<dyn Model>]) -> usize {
        match self.offline_is_named {
            true => models.len(),
            false => models.len().saturating_sub(1),
        }
    }

    /// Offers the models that a server says it has. Those that were only assumed to be there give way.
    fn learn(&self, list: &ModelList, found: Vec<Service>) {
        if found.is_empty() {
            return;
        }
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let is_assumed = |id: &String| list.assumed.contains(id);
        let first = models
            .iter()
            .position(|model| is_assumed(&model.facts().id));
        models.retain(|model| {
            let id = &model.facts().id;
            !is_assumed(id) || found.iter().any(|found| found.facts.id == *id)
        });
        let kept = models.iter().filter(|model| is_assumed(&model.facts().id));
        let place = first.map(|first| first + kept.count());
        let mut place = place.unwrap_or_else(|| self.last_place(&models));
        for service in found {
            if !has(&models, &service.facts.id) {
                models.insert(place, service::open(service));
                place += 1;
            }
        }
    }

    /// Asks servers for their models. A session whose model was nobody's choice goes on with the first that
    /// there is. It was told of these models.
    async fn ask(&self, session: &Session, lists: &[ModelList], told: &[String]) -> Result<()> {
        let answers = futures::future::join_all(lists.iter().map(ModelList::ask)).await;
        let mut failed = Vec::new();
        for (list, answer) in lists.iter().zip(answers) {
            match answer {
                Ok(found) if found.is_empty() => failed.push(no_models(list, "it lists none.")),
                Ok(found) => self.learn(list, found),
                Err(failure) => failed.push(no_models(list, &failure.message)),
            }
        }
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = failed;
        let models = self.models();
        let first = models.first().filter(|_| !self.offline_is_named);
        let switched = first.is_some_and(|first| session.state::<State>().prefer(first, &models));
        match ids(&models) == told && !switched {
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

/// Tells the client of the prompts of MCP servers as soon as these have started, and holds nobody up.
fn tell_prompts_in_background(session: &Session, config: &Arc<Config>) {
    let (session, config) = (session.clone(), Arc::clone(config));
    tokio::spawn(async move {
        let state: &State = session.state();
        state.servers.ready().await;
        let prompts = state.servers.prompts();
        if prompts.is_empty() {
            return;
        }
        // The files may have changed meanwhile, and a turn may have told of that.
        let playbook = Playbook::load(&state.cwd, &config).await;
        if let Err(error) = session.set_commands(playbook.available(&prompts)).await {
            tracing::debug!(%error, "the session was closed before its servers had started");
        }
    });
}

/// Says why the models of a server are not known, and what to do.
fn no_models(list: &ModelList, why: &str) -> String {
    let provider = list.provider();
    format!(
        "The models of `{provider}` are not known: {why} Name one with `--model {provider}/NAME`, or `model` in \
         `config.toml`."
    )
}

fn ids(models: &[Arc<dyn Model>]) -> Vec<String> {
    models
        .iter()
        .map(|model| model.facts().id.clone())
        .collect()
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
                failed: Mutex::default(),
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

    /// Returns the servers that are asked for their models. Whoever chose to be offline wants nobody asked.
    fn lists(&self) -> &[ModelList] {
        match self.shared.offline_is_named {
            true => &[],
            false => &self.config.lists,
        }
    }

    /// Offers the models of servers as soon as these have told them, and holds nobody up. The session was told
    /// of some models.
    fn ask_in_background(&self, session: &Session, told: Vec<String>) {
        if self.lists().is_empty() {
            return;
        }
        let (session, shared) = (session.clone(), Arc::clone(&self.shared));
        let config = Arc::clone(&self.config);
        tokio::spawn(async move {
            tokio::time::sleep(ASK_AFTER).await;
            if let Err(error) = shared.ask(&session, &config.lists, &told).await {
                tracing::debug!(%error, "the session was closed before its models were known");
            }
        });
    }

    /// Settles which model a session has, before its first prompt: one that nobody chose may give way to one
    /// that a server has.
    async fn settle(&self, session: &Session, state: &State) -> Result<()> {
        let assumed: Vec<_> = self.lists().iter().flat_map(|list| &list.assumed).collect();
        let is_assumed = |id: &String| id == offline::ID || assumed.contains(&id);
        if !self.lists().is_empty() && state.is_open_choice(is_assumed) {
            let told = ids(&self.shared.models());
            self.shared.ask(session, self.lists(), &told).await?;
        }
        state.settle();
        Ok(())
    }

    /// Tells the user, once, what was found and cannot be used, where the offline model answers for that
    /// reason alone.
    async fn tell_problems(&self, session: &Session, state: &State) -> Result<()> {
        let is_offline = state.choice().model.facts().id == offline::ID;
        if !is_offline || self.shared.offline_is_named {
            return Ok(());
        }
        let failed = self
            .shared
            .failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let problems: Vec<_> = self.config.problems.iter().cloned().chain(failed).collect();
        if problems.is_empty() || !state.begin_telling_problems() {
            return Ok(());
        }
        for problem in problems {
            let words = format!("{problem} The offline model answers instead.");
            session.notice(v2::NoticeSeverity::Warning, words).await?;
        }
        Ok(())
    }

    /// Returns what a session was left with. A model that is there no more is told by its id.
    fn last_choice(&self, history: &History) -> Result<(Choice, Option<String>)> {
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
        let models = self.shared.models();
        let takes = |takes: fn(&Facts) -> bool| models.iter().any(|model| takes(model.facts()));
        let mut accepts = Accepts::default();
        (accepts.image, accepts.audio) = (takes(|facts| facts.images), takes(|facts| facts.audio));
        accepts.embedded_context = true;
        About::new("ply", env!("CARGO_PKG_VERSION"))
            .title("Ply")
            .accepts(accepts)
            .mcp(Mcp {
                stdio: true,
                http: true,
            })
            .additional_directories()
            .steering()
            .session_fork()
    }

    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        if let Some(problem) = &self.problem {
            return Err(Error::msg(problem.clone()));
        }
        let history = match setup.reopened {
            true => Some(session.history().await?),
            false => None,
        };
        let (choice, lost) = match &history {
            Some(history) => self.last_choice(history)?,
            None => (self.first_choice()?, None),
        };
        let playbook = Playbook::load(&setup.cwd, &self.config).await;
        let state = State::new(&self.config, session, setup, &playbook, choice, lost)?;
        if let Some(history) = &history {
            state.settle();
            state.ledger.resume(history.transcript().usage());
            if let Some(forked) = &setup.forked_from {
                let entries = history.transcript().entries();
                let messages = entries.filter_map(|entry| entry.as_message());
                let messages = messages.map(|message| message.id.0.to_string());
                state
                    .checkpoints
                    .inherit(&forked.0, messages.collect())
                    .await;
            }
        }
        session.set_state(state);
        let told = ids(&self.shared.models());
        self.shared.tell_options(session).await?;
        session.set_commands(playbook.available(&[])).await?;
        tell_prompts_in_background(session, &self.config);
        self.ask_in_background(session, told);
        if let Some(opened) = self.config.opened {
            opened();
        }
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
        self.tell_problems(&session, state).await?;
        let models = self.shared.models();
        let stop = TurnLoop::new(&self.config, state, &models, turn)
            .run()
            .await;
        // A command may have told the models of the turn's beginning.
        if ids(&self.shared.models()) != ids(&models)
            && let Err(error) = self.shared.tell_options(&session).await
        {
            tracing::debug!(%error, "the session was closed at the end of a turn");
        }
        stop
    }
}
