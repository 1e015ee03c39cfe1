//! `ply agent`: the coding agent, as editors start it.

pub(super) mod places;
pub(super) mod sandbox;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ply_coder::config::ConfigError;
use ply_coder::permission::Mode;
use ply_coder::{Coder, Config};
use ply_rpc::transport::child::{Grace, end_leftovers};

use self::places::Places;
use crate::program::arguments::Agent;
use crate::program::error::Error;
use crate::program::run::signals::Signals;
use crate::program::{home, output, store};

/// The variable that names the model.
const MODEL: &str = "PLY_MODEL";

/// How long the client has the agent for itself before leftovers are looked for.
const LEFTOVERS_AFTER: Duration = Duration::from_millis(300);

/// Serves the agent until the client closes its end or the system says stop.
pub(crate) async fn run(arguments: Agent) -> Result<ExitCode, Error> {
    keep_secrets();
    let mut signals = Signals::listen().map_err(Error::Start)?;
    let places = Places::find(home::variable);
    let store = store::path(arguments.store.clone(), home::variable).ok();
    let scratch = scratch();
    let coder = match configure(&arguments, &places, store.as_deref(), &scratch) {
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
    // Where it was not needed there is none.
    drop(std::fs::remove_dir(&scratch));
    served.map(|()| ExitCode::SUCCESS)
}

/// Returns a place for logs where there is no home, under a name that nobody can take first.
fn scratch() -> PathBuf {
    let name = RandomState::new().build_hasher().finish();
    std::env::temp_dir().join(format!("ply-{name:016x}"))
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
fn configure(
    arguments: &Agent,
    places: &Places,
    store: Option<&Path>,
    scratch: &Path,
) -> Result<Config, String> {
    let path = arguments.config.as_ref().or(places.config.as_ref());
    // Whoever names a file wants that one.
    let is_named = arguments.config.is_some() || places.config_is_named;
    let text = match path.map(|path| (path, std::fs::read_to_string(path))) {
        None => None,
        Some((_, Ok(text))) => Some(text),
        Some((_, Err(error))) if error.kind() == std::io::ErrorKind::NotFound && !is_named => None,
        Some((path, Err(error))) => {
            return Err(format!("{} cannot be read: {error}.", path.display()));
        }
    };
    let variable = |name: &str| match (name, &arguments.model) {
        (MODEL, Some(model)) => Some(model.clone()),
        _ => {
            let value = home::variable(name).and_then(|value| value.into_string().ok());
            value.filter(|value| !value.is_empty())
        }
    };
    let config = Config::read(text.as_deref(), &variable, places.for_agent(scratch));
    let mut config = config.map_err(|error| match error {
        ConfigError::Variable { name: MODEL, what } if arguments.model.is_some() => {
            format!("The argument `--model`: {what}.")
        }
        error @ ConfigError::Variable { .. } => error.to_string(),
        error => match path {
            Some(path) => format!("{}: {error}", path.display()),
            None => error.to_string(),
        },
    })?;
    let own = [path.map(PathBuf::as_path), Some(&config.logs), store];
    config.own = absolute(own.into_iter().flatten())
        .map_err(|error| format!("The working directory is not known: {error}."))?;
    config.sandbox.cache.clone_from(&places.cache);
    let own = config.own.iter().chain(&config.user_rules);
    let hidden: Vec<_> = own.map(|path| whole_directory(path)).collect();
    config.sandbox.hidden.extend(hidden);
    if let Some(mode) = &arguments.mode {
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
