//! The program as the helper that confines itself and becomes a command.

use std::error::Error as _;
use std::process::ExitCode;

use ply_coder::shell::{HELPER_WORD, enter_and_exec};

use crate::program::output;
use ply_client::text::Line;

/// Becomes the command that the arguments name, if the first one says so. It returns only if that
/// failed, or was not asked for.
pub(crate) fn enter_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().filter(|word| word == HELPER_WORD)?;
    let error = enter_and_exec(arguments);
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    output::tell(&format!("{}: {}", Line(&error.to_string()), Line(&source)));
    Some(ExitCode::from(
        u8::try_from(error.helper_code()).unwrap_or(u8::MAX),
    ))
}
