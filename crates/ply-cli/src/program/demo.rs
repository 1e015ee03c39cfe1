//! `ply demo`: a tour of the terminal client with an agent that follows a script.

mod agent;
mod place;
mod script;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::Args;
use ply_tui::{AgentChoice, Options};

use self::place::Place;
use crate::program::chat::surroundings;
use crate::program::error::Error;
use crate::program::{home, output, time};

/// Shows the terminal client in a tour of about 80 seconds.
///
/// The tour is scripted: its agent follows a script, and no model, API key or network is involved. The client, the
/// protocol, the hub, the files and the second client are real; they work in a temporary directory that is removed in
/// the end. The right arrow key skips ahead, Esc ends the tour.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Serves the scripted agent on standard input and output.
    #[arg(long, hide = true)]
    agent: bool,
}

/// Runs the command.
pub(crate) async fn run(arguments: Demo) -> Result<ExitCode, Error> {
    if arguments.agent {
        return agent::serve().await;
    }
    let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if !has_terminal || surroundings::is_dumb(home::variable) {
        return Err(Error::NoTerminal);
    }
    let place = Place::new()?;
    let choice = AgentChoice {
        name: "script".to_owned(),
        key: "script".to_owned(),
        command: place.agent(),
        install: None,
        resume: None,
    };
    let mut options = Options::new(vec![choice], place.project());
    options.colors = surroundings::colors(home::variable);
    options.background = surroundings::background(home::variable);
    options.home = Some(place.home());
    options.branch = Some("main".to_owned());
    options.ago = time::ago_of;
    options.tour = script::steps(&place);
    let shown = ply_tui::run(options).await;
    place.end().await;
    shown?;
    output::tell("That was a script. For a real agent: `ply`, or `ply -a claude`.");
    Ok(ExitCode::SUCCESS)
}
