//! What the agent keeps for a session besides its journal.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ply_agent::{Error, Result, Session, SessionSetup};

use tokio::sync::OnceCell;

use crate::Config;
use crate::checkpoint::Checkpoints;
use crate::context::agents_md::Nested;
use crate::context::files::Levels;
use crate::context::git::{self, GitState};
use crate::ledger::Ledger;
use crate::mcp::project::Undecided;
use crate::mcp::search::Taken;
use crate::mcp::{Failed, Servers};
use crate::model::{Model, offline};
use crate::options::Choice;
use crate::permission::{Mode, Permissions, Stores};
use crate::playbook::Playbook;
use crate::shell::{Confinement, Processes, Support};
use crate::workspace::Workspace;

/// A session while it is open.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) cwd: PathBuf,
    pub(crate) additional: Vec<PathBuf>,
    pub(crate) workspace: Workspace,
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) processes: Arc<Processes>,
    pub(crate) servers: Servers,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) ledger: Ledger,
    /// The MCP servers of the project that the user is to be asked about.
    pub(crate) undecided: Undecided,
    /// The tools of MCP servers that the model looked for.
    pub(crate) found_tools: Arc<Taken>,
    choice: Mutex<Choice>,
    /// Whether the model is the user's choice, or has been asked something.
    settled: AtomicBool,
    /// The model that the session had and that is there no more, until the user is told.
    lost_model: Mutex<Option<String>>,
    /// How many tokens a model counted for one of ours.
    scale: Mutex<(String, f64)>,
    /// The failures of MCP servers that the user knows of.
    failures_told: Mutex<Vec<Failed>>,
    /// Whether the user knows that nobody could be asked about the project's MCP servers.
    unasked_told: AtomicBool,
    /// Whether the user knows how commands are confined.
    sandbox_told: AtomicBool,
    /// Whether the user knows what is set up and cannot be used.
    problems_told: AtomicBool,
    /// Whether the user knows that checking changed files takes too long.
    slow_check_told: AtomicBool,
    useless_check_told: AtomicBool,
    /// Directories whose instructions the model has, or that have none.
    pub(crate) nested: Arc<Mutex<Nested>>,
    /// The surroundings, as they were when a model was first asked.
    found: OnceCell<Found>,
}

/// What was found out about a session's surroundings.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) support: Support,
    pub(crate) git: Option<GitState>,
}

/// How far the service's count may be from ours before we believe a mistake.
const SCALE: std::ops::RangeInclusive<f64> = 0.5..=4.0;

impl State {
    pub(crate) fn new(
        config: &Config,
        session: &Session,
        setup: &SessionSetup,
        playbook: &Playbook,
        choice: Choice,
        lost_model: Option<String>,
    ) -> Result<Self> {
        let cwd = setup.cwd.clone();
        let additional = setup.additional_directories.clone();
        // What the workspace would say is for a model to read.
        let mut places = std::iter::once(&cwd).chain(&additional);
        if let Some(missing) = places.find(|place| !place.is_dir()) {
            return Err(Error::invalid_params(format!(
                "There is no directory {}; open one that exists.",
                missing.display()
            )));
        }
        let workspace = Workspace::new(cwd.clone(), additional.clone())
            .map_err(|error| Error::invalid_params(error.to_string()))?
            .reading([&*config.readable, &playbook.skills().directories].concat());
        let stores = Stores {
            user: config.user_rules.clone(),
            // As the directory is, not as it was called: rules of a project follow no link.
            project: Some(workspace.cwd().to_path_buf()),
            own: config.own.clone(),
        };
        let roots = workspace.roots().into_iter().map(Path::to_path_buf);
        let roots: Vec<_> = roots.collect();
        let kept = config.checkpoints.as_deref();
        let checkpoints = Checkpoints::new(kept, &session.id().0, roots.clone());
        let permissions =
            Permissions::new(roots, config.rules.clone(), stores).reading(workspace.library());
        let processes = Processes::new(config.sandbox.clone(), config.logs.clone())
            .withholding(config.mcp.withheld.clone());
        processes.confine(confinement(choice.mode));
        if let Some(unsupported) = Servers::unsupported(&setup.mcp_servers) {
            return Err(Error::invalid_params(unsupported.to_string()));
        }
        let servers = Servers::start(&setup.mcp_servers, &cwd, config.mcp.clone());
        servers.add_configured(&config.mcp_servers, &config.variables);
        let undecided = servers.add_project(
            &cwd,
            Levels::find(&cwd).repository.as_deref(),
            &config.mcp_servers,
            &permissions,
            &config.variables,
        );
        Ok(Self {
            cwd,
            additional,
            workspace,
            permissions: Arc::new(permissions),
            processes: Arc::new(processes),
            servers,
            checkpoints,
            ledger: Ledger::default(),
            undecided,
            found_tools: Arc::default(),
            choice: Mutex::new(choice),
            settled: AtomicBool::new(false),
            lost_model: Mutex::new(lost_model),
            scale: Mutex::new((String::new(), 1.0)),
            failures_told: Mutex::default(),
            unasked_told: AtomicBool::new(false),
            sandbox_told: AtomicBool::new(false),
            problems_told: AtomicBool::new(false),
            slow_check_told: AtomicBool::new(false),
            useless_check_told: AtomicBool::new(false),
            nested: Arc::default(),
            found: OnceCell::new(),
        })
    }

    pub(crate) fn choice(&self) -> Choice {
        lock(&self.choice).clone()
    }

    pub(crate) fn choose<T>(&self, change: impl FnOnce(&mut Choice) -> T) -> T {
        let mut choice = lock(&self.choice);
        let changed = change(&mut choice);
        self.processes.confine(confinement(choice.mode));
        changed
    }

    /// Says whether nobody has chosen the model yet, and it is one that may give way.
    pub(crate) fn is_open_choice(&self, gives_way: impl Fn(&String) -> bool) -> bool {
        !self.settled.load(Ordering::Relaxed) && gives_way(&self.choice().model.facts().id)
    }

    /// Keeps the session with its model from now on.
    pub(crate) fn settle(&self) {
        self.settled.store(true, Ordering::Relaxed);
    }

    /// Takes a model instead of the session's, if nobody chose that and it is the offline one or gone. Says
    /// whether it did.
    pub(crate) fn prefer(&self, model: &Arc<dyn Model>, models: &[Arc<dyn Model>]) -> bool {
        let gives_way = |id: &String| {
            let is_there = models.iter().any(|model| model.facts().id == *id);
            !is_there || id == offline::ID && model.facts().id != offline::ID
        };
        let prefers = self.is_open_choice(gives_way);
        if prefers {
            self.choose(|choice| choice.model = Arc::clone(model));
        }
        prefers
    }

    /// Says whether the user is still to be told what cannot be used; from now on they have been.
    pub(crate) fn begin_telling_problems(&self) -> bool {
        !self.problems_told.swap(true, Ordering::Relaxed)
    }

    /// Says whether the user is still to be told that nobody could be asked; from now on they have been.
    pub(crate) fn begin_telling_unasked(&self) -> bool {
        !self.unasked_told.swap(true, Ordering::Relaxed)
    }

    /// Says whether the user is still to be told that checks take too long; from now on they have been.
    pub(crate) fn begin_telling_slow_check(&self) -> bool {
        !self.slow_check_told.swap(true, Ordering::Relaxed)
    }

    /// Says whether the user is still to be told that the checker cannot be run; from now on they have been.
    pub(crate) fn begin_telling_useless_check(&self) -> bool {
        !self.useless_check_told.swap(true, Ordering::Relaxed)
    }

    /// Returns the model that the session has lost, once.
    pub(crate) fn take_lost_model(&self) -> Option<String> {
        lock(&self.lost_model).take()
    }

    /// Notes how many tokens a model counted where we estimated some.
    pub(crate) fn counted(&self, model: &str, estimate: u64, counted: u64) {
        if estimate > 0 && counted > 0 {
            let scale = counted as f64 / estimate as f64;
            let scale = scale.clamp(*SCALE.start(), *SCALE.end());
            *lock(&self.scale) = (model.to_owned(), scale);
        }
    }

    /// Returns how many of our tokens so many of a model's are.
    pub(crate) fn in_our_tokens(&self, model: &str, tokens: u64) -> u64 {
        let scale = lock(&self.scale);
        match scale.0 == model {
            true => (tokens as f64 / scale.1) as u64,
            false => tokens,
        }
    }

    /// Returns how many of a model's tokens so many of ours are.
    pub(crate) fn in_tokens_of(&self, model: &str, estimate: u64) -> u64 {
        let scale = lock(&self.scale);
        match scale.0 == model {
            true => (estimate as f64 * scale.1) as u64,
            false => estimate,
        }
    }

    /// Returns the failures of MCP servers that the user has not heard of.
    pub(crate) fn take_failures(&self) -> Vec<Failed> {
        let mut told = lock(&self.failures_told);
        let failures = self.servers.failures().into_iter();
        let new: Vec<_> = failures.filter(|failed| !told.contains(failed)).collect();
        told.extend(new.iter().cloned());
        new
    }

    /// Returns what the user should know about how commands are confined, once.
    pub(crate) fn take_sandbox_notice(&self) -> Option<String> {
        let notice = self.processes.sandbox_notice()?;
        let told = self.sandbox_told.swap(true, Ordering::Relaxed);
        (!told).then_some(notice)
    }

    /// Finds out about the surroundings, unless that was done.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub(crate) async fn look_around(&self, repository: Option<PathBuf>) {
        let look = || async {
            let git = tokio::task::spawn_blocking(move || git::read(&repository?));
            Found {
                support: self.processes.support().await,
                // Reading files does not panic; if it did, nothing is known.
                git: git.await.unwrap_or_default(),
            }
        };
        self.found.get_or_init(look).await;
    }

    /// Returns the surroundings, if they were looked at.
    pub(crate) fn found(&self) -> Option<&Found> {
        self.found.get()
    }

    /// Ends everything that runs for the session.
    pub(crate) async fn end(&self) {
        tokio::join!(self.processes.end_all(), self.servers.end());
    }
}

/// Returns how commands are confined in a mode.
pub(crate) fn confinement(mode: Mode) -> Confinement {
    match mode {
        Mode::Plan => Confinement::ReadOnly,
        Mode::Ask | Mode::AutoEdit => Confinement::Workspace,
        Mode::Full => Confinement::Unattended,
    }
}

/// A panic elsewhere leaves these values whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
