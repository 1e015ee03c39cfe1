//! `ply hub`: how the hub is.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ply_client::text::{self, Line};
use ply_hub::ask::{Ask, Busy, Live, Status, Stopping, Told};

use super::arguments::{Hub, HubCommand};
use super::{doctor, logs, place};
use crate::program::{Error, json, output};

/// Does what the arguments ask for.
pub(crate) async fn run(arguments: Hub) -> Result<ExitCode, Error> {
    let Hub { store, command } = arguments;
    let mut out = output::stdout();
    let written = match command {
        HubCommand::Doctor => return doctor::run(store).await,
        HubCommand::Stop { now } => {
            let how = if now { How::Now } else { How::WhenIdle };
            return stop(store, how).await;
        }
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
        HubCommand::Logs => return logs::run(),
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}

/// How a hub is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// With its agents, once nothing goes on.
    WhenIdle,
    /// With its agents.
    Now,
    /// Without them.
    HandOver,
}

/// Ends the hub that runs, and says what it waits for.
pub(super) async fn stop(store: Option<PathBuf>, how: How) -> Result<ExitCode, Error> {
    let ask = match how {
        How::WhenIdle => Ask::Stop { drain: true },
        How::Now => Ask::Stop { drain: false },
        How::HandOver => Ask::HandOver,
    };
    if place::ask(store.clone(), ask).await?.is_none() {
        output::line("no hub runs");
        return Ok(ExitCode::SUCCESS);
    }
    // One that does not answer any more has nothing left to wait for.
    let told = place::ask(store, Ask::Status).await.ok().flatten();
    match told {
        Some(Told::Status(Status {
            stopping: Some(stopping),
            ..
        })) => output::line(&stopping_in_words(&stopping)),
        _ => output::line("the hub is stopping"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Says how a hub ends, and what it waits for.
fn stopping_in_words(stopping: &Stopping) -> String {
    let mut words = match (stopping.hands_over, stopping.waits_for.is_empty()) {
        (_, true) => return "the hub is stopping".to_owned(),
        (false, false) => "the hub is stopping; it is waiting for:".to_owned(),
        (true, false) => {
            "the hub is stopping and leaves its agents running; it is waiting up to a minute for:"
                .to_owned()
        }
    };
    for wait in &stopping.waits_for {
        let what = match wait.what {
            Busy::Question => "a question to be answered (`ply permits ls`)",
            Busy::Queue => "queued prompts (`ply queue ls`)",
            _ => "a turn to end",
        };
        words += &format!("\n  {}  {what}", Line(&wait.session));
    }
    words + "\n`ply hub stop --now` cancels them and stops it at once"
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
        stopping,
    } = status;
    let mut words = format!(
        "the hub runs: process {pid}, version {version}, store {}\n\
         open sessions: {sessions}, busy: {busy}, unanswered questions: {questions}",
        text::path(store)
    );
    if let Some(stopping) = stopping {
        words += "\n";
        words += &stopping_in_words(stopping);
    }
    words
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
