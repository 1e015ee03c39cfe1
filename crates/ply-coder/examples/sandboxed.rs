//! The smallest helper that runs commands in the sandbox; tests use it.

use std::error::Error as _;
use std::io::Write as _;
use std::process::ExitCode;

use ply_coder::shell::{HELPER_WORD, enter_and_exec};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|word| word != HELPER_WORD) {
        return ExitCode::FAILURE;
    }
    let error = enter_and_exec(arguments);
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    // There is nobody to tell if this fails too.
    drop(writeln!(std::io::stderr(), "{error}: {source}"));
    ExitCode::from(u8::try_from(error.helper_code()).unwrap_or(u8::MAX))
}
