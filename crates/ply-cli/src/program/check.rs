//! `ply check`: who keeps the rules.

mod agent;
mod arguments;
mod client;
mod place;
mod record;
mod report;
mod rules;
mod trace;

use std::process::ExitCode;

pub(crate) use self::arguments::Check;
use self::arguments::Target;
use crate::program::error::Error;
use crate::program::run::signals::{Signal, Signals};

/// The exit code when a rule is broken.
const BROKEN: u8 = 20;
/// The exit code when no rule is broken, and some could not be judged.
const UNCLEAR: u8 = 21;

/// Checks what the arguments name.
pub(crate) async fn run(arguments: Check) -> Result<ExitCode, Error> {
    match arguments.target {
        Target::Agent(arguments) => agent::run(arguments).await,
        Target::Client(arguments) if arguments.serve => {
            until_signal(client::serve_person(arguments)).await
        }
        Target::Client(arguments) => client::run(arguments).await,
        Target::Trace(arguments) => trace::run(&arguments),
        Target::Rules(arguments) => rules::run(&arguments),
        Target::Serve(arguments) => client::serve(&arguments).await,
    }
}

/// Waits for a signal that asks to end, and keeps which one it was.
pub(crate) async fn stopped(signals: &mut Signals, heard: &mut Option<Signal>) {
    *heard = Some(signals.next().await);
}

/// Returns the exit code of a check: that of the signal which ended it, or of what it found.
pub(crate) fn exit_code(heard: Option<Signal>, found: ExitCode) -> ExitCode {
    heard.map_or(found, |signal| ExitCode::from(signal.exit_code()))
}

/// Runs a check until it is done, or a signal asks to end. Dropped, a check ends what it started and removes its directories, which
/// a process that a signal ends does not.
async fn until_signal(
    check: impl Future<Output = Result<ExitCode, Error>>,
) -> Result<ExitCode, Error> {
    let mut signals = Signals::listen().map_err(Error::Start)?;
    tokio::select! {
        ended = check => ended,
        signal = signals.next() => Ok(ExitCode::from(signal.exit_code())),
    }
}
