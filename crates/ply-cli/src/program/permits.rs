//! `ply permits`: questions that wait, and the rules by which the coding agent goes without asking.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ply_client::text::{self, Line};
use ply_coder::Config;
use ply_coder::permission::{self, Decision, KeptRule};
use serde::Serialize;

use crate::program::agent::places::Places;
use crate::program::arguments::{ListRules, Permits, PermitsCommand, Revoke};
use crate::program::hub::questions::{self, Verdict};
use crate::program::{Error, home, json, output};

/// A rule as it is listed. The names are promised to scripts.
#[derive(Debug, Serialize)]
struct Listed {
    decision: &'static str,
    rule: String,
    project: Option<PathBuf>,
    source: &'static str,
}

/// Does what the arguments ask for.
pub(crate) async fn run(arguments: Permits) -> Result<ExitCode, Error> {
    let places = Places::find(home::variable);
    match arguments.command {
        PermitsCommand::Ls { json } => questions::list(None, json).await?,
        PermitsCommand::Allow { id, always } => {
            questions::answer(None, id.as_deref(), Verdict::Allow { always }).await?;
        }
        PermitsCommand::Deny { id, always } => {
            questions::answer(None, id.as_deref(), Verdict::Deny { always }).await?;
        }
        PermitsCommand::Rules(arguments) => list(&places, &arguments)?,
        PermitsCommand::Revoke(arguments) => revoke(&places, &arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(places: &Places, arguments: &ListRules) -> Result<(), Error> {
    let cwd = arguments.cwd.as_deref().map(real).transpose()?;
    let mut rules = configured(places)?;
    if let Some(file) = places.rules() {
        let kept = permission::kept_rules(file).map_err(|error| broken(file, &error))?;
        rules.extend(kept.into_iter().map(Listed::from));
    }
    let holds = |rule: &Listed| match (&rule.project, &cwd) {
        (Some(project), Some(cwd)) => project == cwd,
        _ => true,
    };
    rules.retain(holds);
    let mut out = output::stdout();
    let written = match arguments.json {
        true => json::write(&mut out, &rules),
        false => rules.iter().try_for_each(|rule| {
            let place = match (&rule.project, rule.source) {
                (Some(project), _) => text::path(project),
                (None, "config") => "config.toml".to_owned(),
                (None, _) => "everywhere".to_owned(),
            };
            writeln!(out, "{}\t{}\t{place}", rule.decision, Line(&rule.rule))
        }),
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    if rules.is_empty() {
        output::tell("no rules: everything is decided by the mode, or asked about");
    }
    Ok(())
}

fn revoke(places: &Places, arguments: &Revoke) -> Result<(), Error> {
    let cwd = arguments.cwd.as_deref().map(real).transpose()?;
    let mut out = output::stdout();
    for rule in &arguments.rules {
        let gone = match places.rules() {
            None => Vec::new(),
            Some(file) => permission::revoke(file, rule, cwd.as_deref())
                .map_err(|error| broken(file, &error))?,
        };
        if gone.is_empty() {
            let text = Line(rule);
            return Err(Error::Argument(format!(
                "no rule `{text}` is kept; `ply permits rules` lists them, and those of config.toml are \
                 changed in that file"
            )));
        }
        for rule in gone.into_iter().map(Listed::from) {
            let place = rule.project.as_deref().map(text::path);
            let place = place.unwrap_or_else(|| "everywhere".to_owned());
            let line = writeln!(
                out,
                "revoked\t{}\t{}\t{place}",
                rule.decision,
                Line(&rule.rule)
            );
            line.map_err(Error::Output)?;
        }
    }
    out.flush().map_err(Error::Output)
}

/// Returns the rules of the configuration.
fn configured(places: &Places) -> Result<Vec<Listed>, Error> {
    let Some(path) = &places.config else {
        return Ok(Vec::new());
    };
    let Ok(text) = std::fs::read_to_string(path) else {
        return Ok(Vec::new());
    };
    let none = |_: &str| None;
    let config = Config::read(Some(&text), &none, ply_coder::config::Places::default());
    let config = config.map_err(|error| Error::Config {
        path: path.clone(),
        what: error.to_string(),
    })?;
    let rules = config.rules.iter().map(|rule| Listed {
        decision: word(rule.decision),
        rule: rule.to_string(),
        project: None,
        source: "config",
    });
    Ok(rules.collect())
}

impl From<KeptRule> for Listed {
    fn from(rule: KeptRule) -> Self {
        Self {
            decision: word(rule.decision),
            rule: rule.text,
            project: rule.project,
            source: "rules",
        }
    }
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

fn broken(file: &Path, error: &permission::StoreError) -> Error {
    Error::Config {
        path: file.to_owned(),
        what: error.to_string(),
    }
}

/// Returns where a directory really is: rules of a project follow no link.
fn real(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize().map_err(|source| Error::Directory {
        path: path.to_owned(),
        source,
    })
}
