//! `ply agent`: the coding agent, as editors start it.

pub(super) mod places;
pub(super) mod sandbox;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ply_coder::config::ConfigError;
use ply_coder::permission::Mode;
use ply_coder::{Coder, Config};
use ply_rpc::transport::child::{Grace, end_leftovers};
use tokio::signal::unix::{SignalKind, signal};

use self::places::Places;
use crate::program::arguments::Agent;
use crate::program::error::Error;
use crate::program::{output, store};

/// The variable that names the model.
const MODEL: &str = "PLY_MODEL";

/// How long the client has the agent for itself before leftovers are looked for.
const LEFTOVERS_AFTER: Duration = Duration::from_millis(300);

/// Serves the agent until the client closes its end or the system says stop.
pub(crate) async fn run(arguments: Agent) -> Result<ExitCode, Error> {
    keep_secrets();
    let variable = |name: &str| std::env::var_os(name);
    let places = Places::find(variable)?;
    let store = store::path(arguments.store.clone(), variable)?;
    let coder = match configure(&arguments, &places, &store) {
        Ok(config) => Coder::new(config),
        // An editor shows what a session is refused with, and hides what goes to standard error.
        Err(problem) => Coder::refusing(problem),
    };
    let server = ply_agent::serve(coder).journal(store);
    // What an agent that was killed left behind is ended, when there is time for it: looking at every
    // process of the system takes longer than greeting the client.
    tokio::spawn(async {
        tokio::time::sleep(LEFTOVERS_AFTER).await;
        end_leftovers(Grace::default()).await
    });
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Start)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Start)?;
    tokio::select! {
        served = server.clone().stdio() => served.map_err(|error| Error::Serve(error.to_string()))?,
        _ = terminate.recv() => server.shutdown().await,
        _ = interrupt.recv() => server.shutdown().await,
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps other programs of the same user, such as commands that a model runs, from reading keys out of
/// our memory and environment.
fn keep_secrets() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        output::tell(&format!(
            "warning: keys are not kept from other programs: {error}"
        ));
    }
}

/// Reads the configuration; an error is for the user of an editor to read.
fn configure(arguments: &Agent, places: &Places, store: &Path) -> Result<Config, String> {
    let path = arguments.config.as_ref().unwrap_or(&places.config);
    // Whoever names a file wants that one.
    let is_named = arguments.config.is_some() || places.config_is_named;
    let text = match std::fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_named => None,
        Err(error) => return Err(format!("{} cannot be read: {error}.", path.display())),
    };
    let variable = |name: &str| match (name, &arguments.model) {
        (MODEL, Some(model)) => Some(model.clone()),
        _ => std::env::var(name).ok().filter(|value| !value.is_empty()),
    };
    let config = Config::read(text.as_deref(), &variable, places.for_agent());
    let mut config = config.map_err(|error| match error {
        ConfigError::Variable { name: MODEL, what } if arguments.model.is_some() => {
            format!("The argument `--model`: {what}.")
        }
        error @ ConfigError::Variable { .. } => error.to_string(),
        error => format!("{}: {error}", path.display()),
    })?;
    config.own = absolute([path, &places.logs, store])
        .map_err(|error| format!("The working directory is not known: {error}."))?;
    config.sandbox.cache = Some(places.cache.clone());
    if let Some(mode) = &arguments.mode {
        config.mode = Mode::from_id(mode).ok_or_else(|| {
            format!("There is no mode `{mode}`; use plan, ask, auto-edit or full.")
        })?;
    }
    Ok(config)
}

/// Returns paths as they are from the root: what is guarded in a session is compared with such paths, and
/// a session has a working directory of its own.
fn absolute<const N: usize>(paths: [&Path; N]) -> std::io::Result<Vec<PathBuf>> {
    paths.into_iter().map(std::path::absolute).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_named_from_here_are_guarded_from_the_root() {
        let here = std::env::current_dir().unwrap();
        let paths = absolute([Path::new("mine.toml"), Path::new("/state/logs")]).unwrap();
        assert_eq!(paths, [here.join("mine.toml"), "/state/logs".into()]);
    }
}
