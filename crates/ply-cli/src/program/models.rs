//! `ply models`: which models there are to choose from.

mod listener;

use std::io::{self, Write};
use std::process::ExitCode;

use ply_client::text::Line;
use ply_coder::config::{Config, ModelList};
use ply_coder::model::offline;
use ply_coder::model::service::{Service, ollama_models};
use serde::Serialize;

use crate::program::agent;
use crate::program::arguments::Models;
use crate::program::error::Error;
use crate::program::{json, output};

/// What is said of the built-in model.
const BUILT_IN: &str = "built in; looks things up, no language model";

/// Everything that there is. The names are promised to scripts.
#[derive(Debug, Default, Serialize)]
struct Document {
    models: Vec<Row>,
    problems: Vec<String>,
}

/// One model.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    /// Who has it, and where.
    at: String,
    is_default: bool,
    /// Whether it can be used as it is.
    is_ready: bool,
    /// Whether it was found on this machine and is not used unless somebody chooses it.
    is_found: bool,
}

/// Lists the models. Servers of the user's own are asked for theirs, and so is an Ollama on this machine.
pub(crate) async fn run(arguments: Models) -> Result<ExitCode, Error> {
    let setup = agent::Setup::read(arguments.config.as_deref(), None).map_err(Error::Argument)?;
    let config = setup.config().map_err(Error::Argument)?;
    let services = setup.services().map_err(Error::Argument)?;
    let document = gather(&config, services).await;
    let mut out = output::stdout();
    let written = match arguments.json {
        true => json::write(&mut out, &document),
        false => write(&mut out, &document),
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    if !arguments.json {
        for problem in &document.problems {
            output::tell(&format!("warning: {}", Line(problem)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn gather(config: &Config, mut services: Vec<Service>) -> Document {
    let mut problems = config.problems.clone();
    for list in &config.lists {
        match list.ask().await {
            Ok(found) if found.is_empty() => {
                problems.push(format!("`{}` lists no models.", list.provider()));
            }
            Ok(found) => merge(&mut services, list, found),
            Err(failure) => problems.push(failure.message),
        }
    }
    let is_offline = config
        .models
        .first()
        .map(|model| model.facts().id == offline::ID);
    let is_offline = is_offline.unwrap_or(services.is_empty());
    let rows = services.iter().enumerate().map(|(place, service)| Row {
        id: service.facts.id.clone(),
        at: at(service),
        is_default: place == 0 && !is_offline,
        is_ready: service.key.is_some() || service.base_url.is_some(),
        is_found: false,
    });
    let mut models: Vec<Row> = rows.collect();
    models.push(Row {
        id: offline::ID.to_owned(),
        at: BUILT_IN.to_owned(),
        is_default: is_offline,
        is_ready: true,
        is_found: false,
    });
    let is_listed = config.lists.iter().any(|list| list.provider() == "ollama");
    if let Some(url) = config.ollama_url.as_deref().filter(|_| !is_listed) {
        let user = listener::user_of(url);
        let user = user.map(|user| format!(", run by the user {user}"));
        let user = user.unwrap_or_default();
        let found = ollama_models(url).await.into_iter();
        models.extend(found.map(|service| Row {
            at: format!("{}{user}", at(&service)),
            id: service.facts.id,
            is_default: false,
            is_ready: true,
            is_found: true,
        }));
    }
    Document { models, problems }
}

/// Puts the models that a server has in the place of those that were only assumed.
fn merge(services: &mut Vec<Service>, list: &ModelList, found: Vec<Service>) {
    let first = services
        .iter()
        .position(|it| list.assumed.contains(&it.facts.id));
    let is_found = |id: &String| found.iter().any(|it| it.facts.id == *id);
    services.retain(|it| !list.assumed.contains(&it.facts.id) || is_found(&it.facts.id));
    let is_known = |it: &Service| services.iter().any(|known| known.facts.id == it.facts.id);
    let new: Vec<_> = found.iter().filter(|it| !is_known(it)).cloned().collect();
    let kept = services
        .iter()
        .filter(|it| list.assumed.contains(&it.facts.id))
        .count();
    let place = first.map_or(services.len(), |first| first + kept);
    services.splice(place..place, new);
}

fn at(service: &Service) -> String {
    let who = &service.service;
    match &service.base_url {
        Some(url) if service.own_address || who == "Ollama" => format!("{who} at {url}"),
        _ if service.key.is_none() && service.base_url.is_none() => {
            format!("{who}; {}", service.key_hint)
        }
        _ => who.clone(),
    }
}

fn write(out: &mut impl Write, document: &Document) -> io::Result<()> {
    let width = document
        .models
        .iter()
        .map(|row| row.id.chars().count())
        .max();
    let width = width.unwrap_or_default();
    let (found, own): (Vec<_>, Vec<_>) = document.models.iter().partition(|row| row.is_found);
    let line = |out: &mut dyn Write, row: &Row| {
        let mark = if row.is_default { '*' } else { ' ' };
        let id = Line(&row.id).to_string();
        writeln!(out, "{mark} {id:width$}  {}", Line(&row.at))
    };
    for row in &own {
        line(out, row)?;
    }
    if !found.is_empty() {
        writeln!(
            out,
            "\nFound on this machine, and used only if you choose it:"
        )?;
        for row in &found {
            line(out, row)?;
        }
    }
    writeln!(
        out,
        "\n* is the default. Choose another with `--model ID`, `PLY_MODEL=ID`, `/model ID` in a session, or\n\
         `model = \"ID\"` in config.toml."
    )?;
    if own.len() == 1 {
        writeln!(
            out,
            "For a language model, set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or another provider's key\n\
             (see `ply agent --help`), or name a model of Ollama: `--model ollama/NAME`."
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ply_coder::model::Facts;
    use ply_coder::model::service::Api;

    use super::*;

    fn service(id: &str) -> Service {
        let name = id.split('/').next_back().unwrap();
        Service::new(Api::OpenAi, name, Facts::new(id))
    }

    #[test]
    fn what_a_server_has_takes_the_place_of_what_was_assumed() {
        let mut list = ModelList::new(service("openai/-"));
        list.assumed = vec!["openai/a".to_owned(), "openai/b".to_owned()];
        let mut services = ["openai/a", "openai/b", "groq/x"].map(service).to_vec();
        merge(
            &mut services,
            &list,
            ["openai/b", "openai/c"].map(service).to_vec(),
        );
        let ids: Vec<_> = services.iter().map(|it| it.facts.id.as_str()).collect();
        assert_eq!(ids, ["openai/b", "openai/c", "groq/x"]);
    }
}
