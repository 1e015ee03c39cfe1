//! The program as the holder of an agent, which the hub starts.

use std::process::ExitCode;

use ply_hub::hold::{WORD, run};

use crate::program::output;

/// Holds an agent, if the first argument says so. Neither arguments are read nor a runtime is made before: a holder is to be small.
pub(crate) fn hold_if_asked() -> Option<ExitCode> {
    std::env::args_os().nth(1).filter(|word| word == WORD)?;
    let Err(error) = run() else {
        return Some(ExitCode::SUCCESS);
    };
    output::tell(&format!("error: {error}"));
    Some(ExitCode::FAILURE)
}
