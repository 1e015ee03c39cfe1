//! `ply agent`: the coding agent, as editors start it.

pub(super) mod places;
pub(super) mod sandbox;

use std::ffi::OsString;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ply_coder::config::ConfigError;
use ply_coder::mcp::Variables;
use ply_coder::model::service::Service;
use ply_coder::permission::Mode;
use ply_coder::{Coder, Config};
use ply_rpc::transport::child::{Grace, end_leftovers};

use self::places::Places;
use crate::program::arguments::Agent;
use crate::program::error::Error;
use crate::program::run::signals::Signals;
use crate::program::{home, hub, output, store, time};

/// The variable that names the model.
const MODEL: &str = "PLY_MODEL";

/// The file with prices of models, beside the configuration.
const PRICES: &str = "prices.toml";

/// How long the client has the agent for itself before leftovers are looked for.
const LEFTOVERS_AFTER: Duration = Duration::from_millis(300);

/// Serves the agent until the client closes its end or the system says stop.
pub(crate) async fn run(arguments: Agent) -> Result<ExitCode, Error> {
    keep_secrets();
    let mut signals = Signals::listen().map_err(Error::Start)?;
    let store = store::path(arguments.store.clone(), home::variable).ok();
    let setup = Setup::read(arguments.config.as_deref(), arguments.model.clone());
    let config = setup
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|setup| configure(arguments.mode.as_deref(), setup, store.as_deref()));
    let coder = match config {
        Ok(config) => Coder::new(config),
        // An editor shows what a session is refused with, and hides what goes to standard error.
        Err(problem) => Coder::refusing(problem),
    };
    let server = ply_agent::serve(coder);
    let server = match store {
        Some(store) => server.journal(store),
        None => {
            output::tell(
                "notice: there is no home directory, so sessions are kept in memory and end with this \
                 program\n  hint: set HOME or PLY_STORE, or give `--store FILE`",
            );
            server
        }
    };
    // What an agent that was killed left behind is ended, when there is time for it: looking at every
    // process of the system takes longer than greeting the client.
    tokio::spawn(async {
        tokio::time::sleep(LEFTOVERS_AFTER).await;
        end_leftovers(Grace::default()).await
    });
    let served = tokio::select! {
        served = server.clone().stdio() => served.map_err(|error| Error::Serve(error.to_string())),
        _ = signals.next() => {
            server.shutdown().await;
            Ok(())
        }
    };
    if let Ok(setup) = &setup {
        // Where it was not needed there is none.
        drop(std::fs::remove_dir(&setup.scratch));
    }
    served.map(|()| ExitCode::SUCCESS)
}

/// Returns a place for logs where there is no home, under a name that nobody can take first.
fn scratch() -> PathBuf {
    let name = RandomState::new().build_hasher().finish();
    std::env::temp_dir().join(format!("ply-{name:016x}"))
}

/// Gives back the code that it took to start and to open the first session. Most of what is in memory by then
/// is code that is not used again, or lies next to some that was.
fn give_back_code() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(ply_sys::give_back_code);
}

/// Keeps other programs of the same user, such as commands that a model runs, from reading keys out of
/// our memory and environment.
pub(super) fn keep_secrets() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        output::tell(&format!(
            "warning: keys are not kept from other programs: {error}"
        ));
    }
}

/// Where variables of the environment come from.
pub(super) type Variable = Arc<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// What the configuration is read from. Errors are for the user of an editor to read.
pub(super) struct Setup {
    variable: Variable,
    places: Places,
    path: Option<PathBuf>,
    text: Option<String>,
    model: Option<String>,
    scratch: PathBuf,
}

impl Setup {
    /// Reads the file, which `config` may name. `model` takes the place of the variable.
    pub(super) fn read(config: Option<&Path>, model: Option<String>) -> Result<Self, String> {
        Self::read_with(config, model, Arc::new(home::variable))
    }

    /// Reads the file like [`read`](Self::read), in an environment that need not be this program's.
    pub(super) fn read_with(
        config: Option<&Path>,
        model: Option<String>,
        variable: Variable,
    ) -> Result<Self, String> {
        let places = Places::find(&*variable);
        let path = config.map(Path::to_owned).or_else(|| places.config.clone());
        // Whoever names a file wants that one.
        let is_named = config.is_some() || places.config_is_named;
        let text = match path
            .as_ref()
            .map(|path| (path, std::fs::read_to_string(path)))
        {
            None => None,
            Some((_, Ok(text))) => Some(text),
            Some((_, Err(error))) if error.kind() == std::io::ErrorKind::NotFound && !is_named => {
                None
            }
            Some((path, Err(error))) => {
                return Err(format!("{} cannot be read: {error}.", path.display()));
            }
        };
        Ok(Self {
            variable,
            places,
            path,
            text,
            model,
            scratch: scratch(),
        })
    }

    /// Reads the file with prices, if there is one beside the configuration.
    fn prices(&self) -> Result<Option<String>, String> {
        let Some(path) = self.prices_path() else {
            return Ok(None);
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{} cannot be read: {error}.", path.display())),
        }
    }

    fn prices_path(&self) -> Option<PathBuf> {
        Some(self.path.as_ref()?.with_file_name(PRICES))
    }

    fn variable(&self, name: &str) -> Option<String> {
        match (name, &self.model) {
            (MODEL, Some(model)) => Some(model.clone()),
            _ => {
                let value = (self.variable)(name).and_then(|value| value.into_string().ok());
                value.filter(|value| !value.is_empty())
            }
        }
    }

    fn problem(&self, error: &ConfigError) -> String {
        match (error, &self.path) {
            (ConfigError::Variable { name: MODEL, what }, _) if self.model.is_some() => {
                format!("The argument `--model`: {what}.")
            }
            (ConfigError::Variable { .. }, _) | (_, None) => error.to_string(),
            (ConfigError::Prices { .. }, Some(path)) => {
                let path = path.with_file_name(PRICES);
                format!("{}: {error}", path.display())
            }
            (error, Some(path)) => format!("{}: {error}", path.display()),
        }
    }

    /// Returns the configuration of the agent.
    pub(super) fn config(&self) -> Result<Config, String> {
        let places = self.places.for_agent(&self.scratch);
        let config = Config::read(self.text.as_deref(), &|name| self.variable(name), places);
        let mut config = config.map_err(|error| self.problem(&error))?;
        if let Some(prices) = self.prices()? {
            let added = config.add_prices(&prices);
            added.map_err(|error| self.problem(&error))?;
        }
        config.sandbox.cache.clone_from(&self.places.cache);
        config.readable.clone_from(&self.places.libraries);
        config
            .instructions_file
            .clone_from(&self.places.instructions);
        config.commands.clone_from(&self.places.commands);
        config.skills.clone_from(&self.places.skills);
        config.today = Some(time::today);
        config.mcp.tokens.clone_from(&self.places.tokens);
        let variable = Arc::clone(&self.variable);
        config.variables = Variables::new(move |name| variable(name)?.into_string().ok());
        Ok(config)
    }

    /// Returns the models of services, with what is needed to reach them.
    pub(super) fn services(&self) -> Result<Vec<Service>, String> {
        let services = Config::services(self.text.as_deref(), &|name| self.variable(name));
        services.map_err(|error| self.problem(&error))
    }
}

/// Reads the configuration of the agent.
pub(super) fn configure(
    mode: Option<&str>,
    setup: &Setup,
    store: Option<&Path>,
) -> Result<Config, String> {
    let mut config = setup.config()?;
    let own = [
        setup.path.as_deref(),
        Some(&config.logs),
        config.checkpoints.as_deref(),
        config.mcp.tokens.as_deref(),
        store,
    ];
    config.opened = Some(give_back_code);
    config.own = absolute(own.into_iter().flatten())
        .map_err(|error| format!("The working directory is not known: {error}."))?;
    let own = config.own.iter().chain(&config.user_rules);
    let hidden: Vec<_> = own.map(|path| whole_directory(path)).collect();
    config.sandbox.hidden.extend(hidden);
    // Commands that a model runs must not reach the hub, which could approve them.
    let hub = hub::directory(&*setup.variable);
    config.sandbox.hidden.extend(hub);
    if let Some(mode) = mode {
        config.mode = Mode::from_id(mode).ok_or_else(|| {
            format!("There is no mode `{mode}`; use plan, ask, auto-edit or full.")
        })?;
    }
    Ok(config)
}

/// Returns the directory of Ply's own that a file lies in, or the file itself if somebody put it elsewhere.
/// Next to it may be journals of a database, sockets and what later versions keep.
fn whole_directory(path: &Path) -> PathBuf {
    let parent = path.parent();
    let own = parent.filter(|parent| parent.file_name().is_some_and(|name| name == "ply"));
    // Caches of commands lie next to logs.
    let own = own.filter(|own| path.extension().is_some() && !own.join("cache").is_dir());
    own.unwrap_or(path).to_owned()
}

/// Returns paths as they are from the root: what is guarded in a session is compared with such paths, and
/// a session has a working directory of its own.
fn absolute<'a>(paths: impl Iterator<Item = &'a Path>) -> std::io::Result<Vec<PathBuf>> {
    paths.map(std::path::absolute).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_named_from_here_are_guarded_from_the_root() {
        let here = std::env::current_dir().unwrap();
        let paths = ["mine.toml", "/state/logs"].map(Path::new);
        let paths = absolute(paths.into_iter()).unwrap();
        assert_eq!(paths, [here.join("mine.toml"), "/state/logs".into()]);
    }

    #[test]
    fn commands_see_none_of_the_directories_that_are_wholly_our_own() {
        for (path, hidden) in [
            ("/home/me/.config/ply/config.toml", "/home/me/.config/ply"),
            (
                "/home/me/.local/share/ply/sessions.db",
                "/home/me/.local/share/ply",
            ),
            (
                "/home/me/.local/state/ply/logs",
                "/home/me/.local/state/ply/logs",
            ),
            ("/srv/mine.toml", "/srv/mine.toml"),
        ] {
            assert_eq!(whole_directory(Path::new(path)), Path::new(hidden));
        }
    }
}
