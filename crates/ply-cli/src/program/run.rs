//! `ply run`: one prompt, to any agent, without a screen.

mod arguments;
mod ask;
mod attach;
mod detach;
mod ending;
mod events;
mod failure;
mod file;
mod form;
mod judge;
pub(super) mod mcp;
mod offer;
mod open;
mod options;
pub(crate) mod out;
mod paint;
mod permit;
mod progress;
mod prose;
mod report;
mod request;
mod rules;
pub(crate) mod signals;
mod stage;
mod stdin;
mod streams;
mod subject;
mod text;
mod turn;
mod view;
pub(crate) mod wire;

use std::process::ExitCode;

use ply_client::text::Line;
use ply_client::{Agent, Version};
use tokio::time::Instant;

use self::arguments::Format;
pub(crate) use self::arguments::Run;
use self::ending::{Conclusion, Confirmed, Cut, Ended};
use self::open::Opened;
use self::paint::Look;
use self::report::Report;
use self::request::Request;
use self::signals::Signals;
use self::stage::{LAST_WORDS_TIME_MAX, Stage};
use self::streams::Streams;
use self::turn::Following;
use self::view::View;
use crate::program::error::Error;
use crate::program::hub::through;
use crate::program::sessions::content;

/// Runs the command. Whatever goes wrong is told in the chosen format too.
pub(crate) async fn run(arguments: Run) -> Result<ExitCode, Error> {
    let began = Instant::now();
    let streams = Streams::look(arguments.color);
    let mut request = Request::read(&arguments, streams);
    if let Ok(read) = &mut request
        && let Err(failure) = read.find_hub(&arguments).await
    {
        request = Err(failure);
    }
    let signals = Signals::listen().map_err(Error::Start)?;
    let mut stage = Stage::new(signals, streams, arguments.quiet, arguments.timeout, began);
    let mut report = Report::default();
    if arguments.detach {
        return detach::run(request, stage, report, began).await;
    }
    let mut view = View::new(arguments.output, streams);
    let sees_wire = arguments.output == Format::Acp;
    let (request, opened, ended) = match request {
        Err(failure) => (None, None, Ended::Failed(failure)),
        Ok(mut request) => {
            let opened = match complete(&mut request, &mut stage).await {
                Ok(()) => open::open(&request, &mut stage, &mut report, sees_wire).await,
                Err(ended) => Err(ended),
            };
            match opened {
                Err(ended) => (Some(request), None, ended),
                Ok(opened) => {
                    request.work_in(opened.session.cwd());
                    greet(&mut stage, &opened, &report, arguments.output);
                    view.opened(&request, &report, &mut stage.out);
                    let following =
                        Following::new(&request, &opened, &mut stage, &mut report, &mut view);
                    let ended = following.follow().await;
                    (Some(request), Some(opened), ended)
                }
            }
        }
    };
    // It may have been another one by the end.
    if let Some(opened) = &opened {
        report.model = content::model(&opened.session.config_options()).or(report.model);
    }
    let haste = Haste::from(&ended);
    let conclusion = Conclusion::new(ended, &report.permissions, began.elapsed());
    let session = opened.as_ref().map(|opened| &opened.session);
    stage.progress.clear();
    view.end(
        &conclusion,
        &report,
        request.as_ref(),
        session,
        &mut stage.out,
    );
    let mut last = finish(&mut stage, haste).await;
    if let Some(failure) = &conclusion.failure {
        failure.tell();
    }
    if let Some(opened) = &opened {
        end_agent(&mut stage, &opened.agent, haste).await;
        if request.as_ref().is_some_and(Request::ends_session) {
            through::close(&opened.session.id().0).await;
        }
        if sees_wire {
            last = last.and(finish(&mut stage, haste).await);
        }
    }
    let unwritten = match (stage.out.failure(), last) {
        (Some(error), _) if conclusion.is_good() => return Err(Error::Output(error)),
        (Some(error), _) => {
            Error::Output(error).tell();
            None
        }
        (None, Err(cut)) => Conclusion::unwritten(&cut),
        (None, Ok(())) => None,
    };
    // One that has ended the same way has been told.
    if let Some(failure) = unwritten.as_ref().filter(|it| it.exit != conclusion.exit) {
        failure.tell();
    }
    // A reader that went away makes no success of what failed.
    let exit = unwritten.map_or(conclusion.exit, |failure| failure.exit);
    Ok(ExitCode::from(exit))
}

/// Waits for what is still missing before the agent is started.
async fn complete(request: &mut Request, stage: &mut Stage) -> Result<(), Ended> {
    let read = stage.during("reading the prompt", request.complete());
    if let Some(told) = read.await?? {
        stage.tell(told);
    }
    Ok(())
}

/// How the agent is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Haste {
    /// It may put its things in order.
    Polite,
    /// At once.
    Now,
}

impl From<&Ended> for Haste {
    fn from(ended: &Ended) -> Self {
        match ended {
            Ended::Cut(_, Confirmed::No) => Self::Now,
            // Who interrupts the start does not want to wait for its end.
            Ended::Cut(Cut::Signal(_), Confirmed::Before) => Self::Now,
            _ => Self::Polite,
        }
    }
}

/// Says who is spoken to, which model answers, and how to come back to it.
fn greet(stage: &mut Stage, opened: &Opened, report: &Report, format: Format) {
    let model = report.model.as_deref().map(Line);
    if stage.streams.error_columns.is_none() {
        // The other formats name it themselves.
        if let (Format::Final, Some(model)) = (format, model) {
            stage.tell(&format!("model: {model}"));
        }
        return;
    }
    let info = opened.agent.info();
    let version = match opened.agent.version() {
        Version::V1 => 1,
        Version::V2 => 2,
    };
    let session = report.session_id.as_deref().unwrap_or_default();
    let model = model.map(|model| format!(" · model {model}"));
    let words = format!(
        "{} {}{} · protocol {version} · session {}",
        Line(info.title.as_deref().unwrap_or(&info.name)),
        Line(&info.version),
        model.unwrap_or_default(),
        Line(session),
    );
    let words = stage.streams.error_paint.paint(Look::Dim, &words);
    stage.tell(&format!("{words}\n"));
}

/// Writes what is left, within reason if it has to be quick.
async fn finish(stage: &mut Stage, haste: Haste) -> Result<(), Cut> {
    match haste {
        Haste::Polite => stage.finish().await,
        Haste::Now => {
            let written = tokio::time::timeout(LAST_WORDS_TIME_MAX, stage.finish());
            // The run was cut already, and its end says so.
            written.await.unwrap_or(Ok(()))
        }
    }
}

/// Ends the agent and everything it started. A signal makes that quick.
async fn end_agent(stage: &mut Stage, agent: &Agent, haste: Haste) {
    if haste == Haste::Polite {
        stage.progress.begin("waiting for the agent to end");
        let mut closed = std::pin::pin!(agent.close());
        loop {
            tokio::select! {
                biased;
                _ = stage.signals.next() => break,
                _ = &mut closed => {
                    stage.progress.clear();
                    return;
                }
                _ = stage.tick.tick() => stage.progress.tick(),
            }
        }
        stage.progress.clear();
    }
    // Not started again either way; what does not end by this is not waited for.
    let killed = tokio::time::timeout(LAST_WORDS_TIME_MAX, agent.kill());
    drop(killed.await);
}
