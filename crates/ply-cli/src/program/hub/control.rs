//! `ply hub`: how the hub is.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ply_client::text::{self, Line};
use ply_hub::ask::{Ask, Live, Status, Told};

use super::arguments::{Hub, HubCommand};
use super::{doctor, place};
use crate::program::{Error, json, output};

/// Does what the arguments ask for.
pub(crate) async fn run(arguments: Hub) -> Result<ExitCode, Error> {
    let Hub { store, command } = arguments;
    let mut out = output::stdout();
    let written = match command {
        HubCommand::Doctor => return doctor::run(store).await,
        HubCommand::Stop { now } => return stop(store, now).await,
        HubCommand::Status { json } => {
            let told = place::ask(store, Ask::Status).await?;
            let status = told.and_then(|told| match told {
                Told::Status(status) => Some(status),
                _ => None,
            });
            match json {
                true => json::write(&mut out, &status),
                false => writeln!(out, "{}", in_words(status.as_ref())),
            }
        }
        HubCommand::Sessions { json } => {
            let sessions = match place::ask(store, Ask::Sessions).await? {
                Some(Told::Sessions(sessions)) => sessions,
                _ => Vec::new(),
            };
            match json {
                true => json::write(&mut out, &sessions),
                false => sessions
                    .iter()
                    .try_for_each(|live| writeln!(out, "{}", line(live))),
            }
        }
        HubCommand::Logs => writeln!(out, "{}", text::path(&place::find()?.log())),
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}

/// Ends the hub that runs, now or once its turns are done.
pub(super) async fn stop(store: Option<PathBuf>, now: bool) -> Result<ExitCode, Error> {
    let stopped = place::ask(store, Ask::Stop { drain: !now }).await?;
    output::line(match stopped {
        Some(_) if now => "the hub ends",
        Some(_) => "the hub ends when the turns that run are done",
        None => "no hub runs",
    });
    Ok(ExitCode::SUCCESS)
}

fn in_words(status: Option<&Status>) -> String {
    let Some(status) = status else {
        return "no hub runs; `ply attach` starts one".to_owned();
    };
    let Status {
        pid,
        version,
        store,
        sessions,
        busy,
        questions,
    } = status;
    format!(
        "the hub runs: process {pid}, version {version}, store {}\n\
         open sessions: {sessions}, busy: {busy}, unanswered questions: {questions}",
        text::path(store)
    )
}

fn line(live: &Live) -> String {
    let agent = live.agent.as_deref().unwrap_or("-");
    let title = live.title.as_deref().unwrap_or("-");
    format!(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
        Line(&live.id),
        Line(agent),
        live.state,
        live.clients,
        live.queue.len(),
        live.questions.len(),
        Line(title),
        text::path(&live.cwd)
    )
}
