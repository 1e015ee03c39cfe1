//! `ply agents`: which agents there are, and their installation from the ACP registry.

mod arguments;
mod doctor;
mod download;
mod index;
mod install;
mod list;
pub(crate) mod lock;
mod login;
mod package;
mod tool;
mod unpack;

use std::process::ExitCode;

pub(crate) use self::arguments::Agents;
use self::arguments::AgentsCommand;
use self::index::Index;
use crate::program::error::Error;
use crate::program::home;

/// Runs the command.
pub(crate) async fn run(arguments: Agents) -> Result<ExitCode, Error> {
    let registry = arguments.registry;
    match arguments.command.unwrap_or_default() {
        AgentsCommand::List(arguments) => list::run(&arguments, registry).await?,
        AgentsCommand::Add(arguments) => {
            let index = Index::fetch(registry).await?;
            install::add(&index, &arguments).await?;
        }
        AgentsCommand::Update(arguments) => {
            let index = Index::fetch(registry).await?;
            install::update(&index, &arguments).await?;
        }
        AgentsCommand::Remove(arguments) => install::remove(&arguments)?,
        AgentsCommand::Login(arguments) => login::run(&arguments).await?,
        AgentsCommand::Doctor(arguments) => return doctor::run(&arguments).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns where agents are installed.
fn place() -> Result<lock::Place, Error> {
    lock::Place::find(home::variable).ok_or_else(|| {
        Error::agents(
            "there is no directory to install agents in",
            "set HOME or XDG_DATA_HOME to an absolute path",
        )
    })
}
