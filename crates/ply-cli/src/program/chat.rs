//! `ply chat`: the terminal client.

mod arguments;
mod branch;
mod settings;
pub(crate) mod surroundings;

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ply_tui::{AgentChoice, Exported, Open, Options};

pub(crate) use self::arguments::Chat;
use self::settings::Settings;
use crate::program::agent::places::Places;
use crate::program::error::Error;
use crate::program::hub::through;
use crate::program::roster::{Choice, Roster};
use crate::program::run::mcp;
use crate::program::sessions::export::markdown;
use crate::program::{home, store, time};

/// Runs the command.
pub(crate) async fn run(arguments: Chat) -> Result<ExitCode, Error> {
    let variable = home::variable;
    // First of all, so that whoever has no terminal is told that and nothing else.
    let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if !has_terminal || surroundings::is_dumb(variable) {
        return Err(Error::NoTerminal);
    }
    let places = Places::find(variable);
    let config = places.config.as_deref();
    let settings = config.map_or_else(|| Ok(Settings::default()), Settings::read)?;
    let named = config.filter(|_| places.config_is_named);
    let roster = Roster::read(named)?;
    let chosen = roster.choose(arguments.agent.as_deref(), &arguments.command)?;
    let model = arguments.model.as_deref();
    let is_hubs = !arguments.no_hub && chosen.suits_hub(model) && through::runs().await;
    let mut agents = agents(chosen.with_model(model), &roster);
    if is_hubs {
        agents = agents
            .into_iter()
            .map(|(choice, resume)| Ok((choice.through_hub()?, resume)))
            .collect::<Result<_, Error>>()?;
    }
    let agents = agents.into_iter().map(offered).collect();
    let mut options = Options::new(agents, directory(arguments.cwd.as_deref())?);
    for root in &arguments.add_dir {
        options.roots.push(directory(Some(root))?);
    }
    if let Some(file) = &arguments.mcp {
        let search = variable("PATH");
        let servers = mcp::servers(file, search.as_deref());
        options.mcp_servers = servers.map_err(|what| Error::Config {
            path: file.clone(),
            what,
        })?;
    }
    options.open = match (arguments.session, arguments.continue_latest, arguments.pick) {
        (Some(id), _, _) => Open::Session(id),
        (None, true, _) => Open::Latest,
        (None, false, true) => Open::Picker,
        (None, false, false) => Open::New,
    };
    let offers = arguments.offer.unwrap_or_default();
    (options.files, options.terminals) = (offers.files, offers.terminals);
    options.prompt = (!arguments.prompt.is_empty()).then(|| arguments.prompt.join(" "));
    let named = [("mode", arguments.mode), ("model", arguments.model)];
    let named = named
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    options.set = named.chain(arguments.set).collect();
    let file = config.unwrap_or(Path::new("config.toml"));
    options.keys = settings.keys(file)?;
    options.themes = settings.themes(file)?;
    options.theme = settings::known_theme(arguments.theme, settings.theme, &options.themes, file)?;
    options.shell = surroundings::shell(variable);
    options.export = Some(export);
    options.diff_style = settings.diff.into();
    options.mouse = settings.mouse;
    options.notify = settings.notify.into();
    options.colors = surroundings::colors(variable);
    options.background = surroundings::background(variable);
    options.editor = surroundings::editor(variable);
    options.home = variable("HOME").map(PathBuf::from);
    options.branch = branch::of(&options.cwd);
    options.ago = time::ago_of;
    let state = places.logs.as_deref().and_then(Path::parent);
    let state = state.map(Path::to_owned);
    options.recent = store::recent(None, variable);
    options.history = state.as_ref().map(|state| state.join("history"));
    options.drafts = state.map(|state| state.join("drafts"));
    ply_tui::run(options).await?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the agents to choose from, the chosen one first, and how to come back to a session of each.
fn agents(chosen: Choice, roster: &Roster) -> Vec<(Choice, String)> {
    let others = roster.choices().iter();
    let others = others.filter(|choice| choice.name != chosen.name).cloned();
    let others: Vec<Choice> = others.collect();
    let all = std::iter::once(chosen).chain(others);
    all.map(|choice| (choice.clone(), choice.resume()))
        .collect()
}

fn offered((choice, resume): (Choice, String)) -> AgentChoice {
    AgentChoice {
        resume: Some(resume),
        name: choice.name,
        key: choice.key,
        command: choice.command,
        install: choice.install,
    }
}

/// Writes a session as a Markdown document.
fn export(session: &Exported<'_>) -> Vec<u8> {
    let heading = markdown::Heading {
        title: (!session.title.is_empty()).then_some(session.title),
        id: session.id,
        cwd: session.cwd,
        times: None,
        damaged: 0,
    };
    let mut document = Vec::new();
    // Memory takes everything.
    drop(markdown::write(
        &mut document,
        &heading,
        session.transcript,
        &|_| false,
    ));
    document
}

/// Returns a directory as an absolute path.
fn directory(given: Option<&Path>) -> Result<PathBuf, Error> {
    let path = given.unwrap_or(Path::new("."));
    let failed = |source| Error::Directory {
        path: path.to_owned(),
        source,
    };
    let found = path.canonicalize().map_err(failed)?;
    match found.is_dir() {
        true => Ok(found),
        false => Err(failed(io::ErrorKind::NotADirectory.into())),
    }
}
