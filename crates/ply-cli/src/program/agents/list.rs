//! `ply agents list`.

use std::io::{self, Write};

use ply_client::text::Line;
use serde::Serialize;

use super::arguments::List;
use super::index::Index;
use super::tool;
use crate::program::error::Error;
use crate::program::roster::{Choice, Origin, Roster, known_name};
use crate::program::{json, output};

/// An agent as it is listed. The names are promised to scripts.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    about: String,
    state: State,
    version: Option<String>,
    command: Option<String>,
    /// How to get it.
    install: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    BuiltIn,
    Config,
    Installed,
    Path,
    Missing,
    Registry,
}

/// Lists the agents.
pub(super) async fn run(arguments: &List, registry: Option<String>) -> Result<(), Error> {
    let roster = Roster::read(None)?;
    let mut rows: Vec<Row> = roster.choices().iter().map(row).collect();
    if arguments.all {
        let index = Index::fetch(registry).await?;
        let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        let more = index.agents.iter().filter(|entry| {
            let name = known_name(&entry.id);
            !names.iter().any(|known| known == name)
        });
        rows.extend(more.map(|entry| Row {
            name: entry.id.clone(),
            about: entry.description.clone(),
            state: State::Registry,
            version: Some(entry.version.clone()),
            command: None,
            install: Some(format!("ply agents add {}", entry.id)),
        }));
    }
    let mut out = output::stdout();
    let written = match arguments.json {
        true => json::write(&mut out, &rows),
        false => write(&mut out, &rows),
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)
}

fn row(choice: &Choice) -> Row {
    let program = choice.command.program();
    let is_there = tool::find(program).is_some();
    let state = match &choice.origin {
        Origin::BuiltIn => State::BuiltIn,
        _ if !is_there => State::Missing,
        Origin::Config | Origin::Command => State::Config,
        Origin::Installed(_) => State::Installed,
        Origin::Known => State::Path,
    };
    let words = choice.command.words().map(|word| word.to_string_lossy());
    Row {
        name: choice.name.clone(),
        about: choice.about.clone(),
        state,
        version: match &choice.origin {
            Origin::Installed(version) => Some(version.clone()),
            _ => None,
        },
        command: Some(words.collect::<Vec<_>>().join(" ")),
        install: match (state, &choice.install) {
            (State::Missing, Some(install)) => Some(install.clone()),
            (State::Missing, None) => {
                let program = program.to_string_lossy();
                let how = match choice.origin {
                    Origin::Installed(_) => tool::how_to_get(&program).to_owned(),
                    _ => format!("config.toml names `{program}`, which is not found"),
                };
                Some(how)
            }
            _ => None,
        },
    }
}

fn write(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    let width = rows.iter().map(|row| row.name.chars().count()).max();
    let width = width.unwrap_or_default();
    let of = |states: &[State]| {
        let states = states.to_vec();
        rows.iter().filter(move |row| states.contains(&row.state))
    };
    let usable = [State::BuiltIn, State::Config, State::Installed, State::Path];
    for row in of(&usable) {
        let state = match row.state {
            State::BuiltIn => "built in".to_owned(),
            State::Installed => format!("installed {}", row.version.as_deref().unwrap_or_default()),
            State::Config => "in config.toml".to_owned(),
            _ => "on PATH".to_owned(),
        };
        let (name, state) = (Line(&row.name).to_string(), Line(&state).to_string());
        writeln!(out, "  {name:width$}  {state:18}  {}", Line(&row.about))?;
    }
    if of(&[State::Missing]).next().is_some() {
        writeln!(out, "\nNot installed:")?;
    }
    for row in of(&[State::Missing]) {
        let name = Line(&row.name).to_string();
        let how = row.install.as_deref().unwrap_or_default();
        writeln!(out, "  {name:width$}  {}", Line(how))?;
    }
    if of(&[State::Registry]).next().is_some() {
        writeln!(
            out,
            "\nIn the registry, installed by `ply agents add NAME`:"
        )?;
    }
    for row in of(&[State::Registry]) {
        let name = Line(&row.name).to_string();
        let version = row.version.as_deref().unwrap_or_default();
        writeln!(out, "  {name:width$}  {version:10}  {}", Line(&row.about))?;
    }
    writeln!(
        out,
        "\nChoose one with `ply -a NAME`. `ply agents list --all` also lists the registry; any other command works as\n\
         `ply -- COMMAND`, and `[agents.NAME]` in config.toml gives it a name."
    )
}
