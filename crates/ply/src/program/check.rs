//! `ply check`: who keeps the rules.

mod agent;
mod arguments;
mod client;
mod report;
mod rules;
mod trace;

use std::process::ExitCode;

pub(crate) use self::arguments::Check;
use self::arguments::Target;
use crate::program::error::Error;

/// The exit code when a rule is broken.
const BROKEN: u8 = 20;
/// The exit code when no rule is broken, and some could not be judged.
const UNCLEAR: u8 = 21;

/// Checks what the arguments name.
pub(crate) async fn run(arguments: Check) -> Result<ExitCode, Error> {
    match arguments.target {
        Target::Agent(arguments) => agent::run(arguments).await,
        Target::Client(arguments) if arguments.serve => client::serve_person(arguments).await,
        Target::Client(arguments) => client::run(arguments).await,
        Target::Trace(arguments) => trace::run(&arguments),
        Target::Rules(arguments) => rules::run(&arguments),
        Target::Serve(arguments) => client::serve(&arguments).await,
    }
}
