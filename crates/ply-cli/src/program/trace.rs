//! `ply trace`: records a connection, and shows recordings.

mod arguments;
mod file;
mod lines;
mod proxy;
mod recorder;
mod shown_stderr;
mod view;

use std::process::ExitCode;

pub(crate) use self::arguments::Trace;
use self::arguments::TraceCommand;
use crate::program::error::Error;

/// Runs the command.
pub(crate) async fn run(arguments: Trace) -> Result<ExitCode, Error> {
    match arguments.command {
        Some(TraceCommand::View(view)) => view::run(view),
        None => proxy::run(arguments).await,
    }
}
