//! `ply serve`: the hub.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use ply_hub::connect::READY;
use ply_hub::down::Holders;
use ply_hub::{Daemon, Ended, Hub, Stop, hold};

use super::arguments::Serve;
use super::control::How;
use super::factory::Agents;
use super::{config, control, place, unit};
use crate::program::error::FAILED;
use crate::program::run::signals::{Signal, Signals};
use crate::program::{Error, agent, home, output, store};

/// How much of what a hub says first is passed on.
const WORDS_BYTES_MAX: u64 = 4096;

/// Variables of whoever starts the hub that say nothing about its other clients. By the last one a client finds the processes of
/// its agent, to end them; the hub is not one of them.
const SCRUBBED: &[&str] = &[
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOWID",
    "TERM_SESSION_ID",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    ply_rpc::transport::child::TREE_VARIABLE,
];

/// Serves clients until the hub is told to end.
pub(crate) async fn run(arguments: Serve) -> Result<ExitCode, Error> {
    if arguments.install {
        return unit::install(arguments.store.as_deref());
    }
    if arguments.drain {
        return control::stop(arguments.store, How::HandOver).await;
    }
    if arguments.background {
        return launch(arguments.store.as_deref());
    }
    agent::keep_secrets();
    if arguments.detached {
        // It outlives the terminal.
        if let Err(error) = rustix::process::setsid() {
            output::tell(&format!(
                "warning: the hub may end with its terminal: {error}"
            ));
        }
    }
    let (daemon, hub) = match start(arguments.store).await {
        Ok(served) => served,
        Err(error) => {
            if arguments.detached {
                // Whoever started it reads this, and nothing else.
                output::line(&error.to_string());
            }
            return Err(error);
        }
    };
    let mut signals = Signals::listen().map_err(Error::Start)?;
    let daemon = if arguments.detached {
        output::line(READY);
        let_go()?;
        daemon.leaves_when_idle()
    } else {
        output::tell("the hub runs; Ctrl-C stops it and cancels the current turns");
        daemon
    };
    let stops = Arc::clone(&hub);
    tokio::spawn(async move {
        loop {
            stops.stop(match signals.next().await {
                Signal::Interrupt => Stop::Now,
                Signal::Terminate | Signal::HangUp => Stop::Terminate,
            });
        }
    });
    if daemon.run(hub).await == Ended::HandedOver {
        // Nothing of this process may notice that other parts of it end, and end an agent that the next hub goes on with.
        std::process::exit(0);
    }
    Ok(ExitCode::SUCCESS)
}

async fn start(given: Option<PathBuf>) -> Result<(Daemon, Arc<Hub<Agents>>), Error> {
    let place = place::find()?;
    let store = store::path(given, home::variable)?;
    let store = std::path::absolute(&store).map_err(Error::Start)?;
    if hold::is_held(&place.holders(), std::process::id()) {
        let problem =
            "an agent of the hub cannot be the hub; run `ply serve` from a shell of your own";
        return Err(Error::Hub(problem.to_owned()));
    }
    let daemon = Daemon::bind_after_another(place.clone()).await;
    let daemon = daemon.map_err(|error| Error::Hub(error.to_string()))?;
    let holders = Holders {
        program: std::env::current_exe().map_err(Error::Start)?,
        directory: place.holders(),
        epoch: daemon.epoch(),
        store: store.clone(),
    };
    // A hub that cannot tell of questions is better than none.
    let notify = config::notify().unwrap_or_else(|error| {
        output::tell(&format!("warning: nobody is told of questions: {error}"));
        Vec::new()
    });
    let hub = Hub::new(Agents::new(place, holders), store.clone(), store).notify(notify);
    Ok((daemon, Arc::new(hub)))
}

/// Starts the hub so that it descends from nobody here, and passes on what it says first.
fn launch(store: Option<&Path>) -> Result<ExitCode, Error> {
    let place = place::find()?;
    let program = std::env::current_exe().map_err(Error::Start)?;
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(place.log())
        .map_err(Error::Start)?;
    let mut command = Command::new(program);
    command.args(["serve", "--detached"]);
    if let Some(store) = store {
        command
            .arg("--store")
            .arg(std::path::absolute(store).map_err(Error::Start)?);
    }
    for name in SCRUBBED {
        command.env_remove(name);
    }
    // In a directory that cannot be unmounted anyway.
    command.current_dir("/").stdin(Stdio::null()).stderr(log);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(Error::Start)?;
    let mut said = String::new();
    if let Some(out) = child.stdout.take() {
        let mut out = BufReader::new(out.take(WORDS_BYTES_MAX));
        out.read_line(&mut said).map_err(Error::Start)?;
    }
    output::line(said.trim());
    let is_ready = said.trim() == READY;
    Ok(if is_ready {
        ExitCode::SUCCESS
    } else {
        FAILED.into()
    })
}

/// Lets go of the standard output of whoever started the hub, which would wait for its end.
fn let_go() -> Result<(), Error> {
    let nothing = std::fs::File::options()
        .write(true)
        .open("/dev/null")
        .map_err(Error::Start)?;
    rustix::stdio::dup2_stdout(nothing).map_err(|error| Error::Start(error.into()))
}

/// Returns the command that starts the hub in the background with this program.
pub(super) fn command(program: &Path, store: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["serve", "--background", "--store"])
        .arg(store);
    command
}
