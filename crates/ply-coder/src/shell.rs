//! Commands: process trees of their own, bounded output, a sandbox.
//!
//! A command line runs with `/bin/bash -c`, or `/bin/sh -c` where there is no bash: models write bash.
//! It leads a session of its own without a terminal, its input is the null device, and its two outputs
//! come as one stream in the order they were written. Nothing that asks a person can hold it up, and
//! nothing it started outlives it.
//!
//! # Environment
//!
//! Commands inherit the environment of the program with these differences. Pagers, editors and prompts
//! are turned off. Variables that would run a file first (`BASH_ENV`, `ENV`), lead `cd` astray or name a
//! terminal of the user are removed. So are variables that look like secrets, by a word of their name such
//! as `KEY`, `TOKEN` and `PASSWORD` or by their value, such as an address with a password or a token of a
//! well-known service: they are the agent's own, and the output of commands goes to a model. Those that
//! hold keys of models are removed whatever they are called. In the sandbox, the session bus, windows and
//! the agents for SSH and GnuPG keys are removed too, and compilers and package managers keep their caches
//! in [`Sandbox::cache`].
//!
//! # Sandbox
//!
//! See [`Sandbox`] for what it confines and what it cannot.

mod background;
mod clean;
mod denial;
mod environment;
mod error;
mod exit;
mod kept;
mod line;
mod live;
mod log;
mod output;
mod own;
mod processes;
mod run;
mod sandbox;
mod secret;

use std::time::Duration;

pub use self::denial::Denial;
pub(crate) use self::environment::without_secrets;
pub use self::error::Error;
pub use self::exit::Exit;
pub use self::line::Line;
pub(crate) use self::line::shell as program;
pub(crate) use self::own::Ended;
pub(crate) use self::processes::SIGNALS;
pub use self::processes::{Listed, Processes};
pub use self::run::{Cause, Ran};
pub use self::sandbox::{
    Bounds, Confinement, HELPER_WORD, Host, Network, Sandbox, Support, enter_and_exec,
};

/// How long a command may run unless the call says so.
pub const TIME_DEFAULT: Duration = Duration::from_secs(120);
/// How long a command may run at most.
pub const TIME_MAX: Duration = Duration::from_secs(600);
/// How long a command tree has between SIGTERM and SIGKILL.
pub const TERM_TIME: Duration = Duration::from_millis(200);
/// How long output is waited for once the command itself has ended.
pub const DRAIN_TIME_MAX: Duration = Duration::from_millis(500);
/// How long the end of a session waits for its processes.
pub const END_TIME_MAX: Duration = Duration::from_secs(1);
/// How much output of a call the model sees, head and tail together.
pub const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// How much output of a call the client is shown while it runs.
pub const LIVE_BYTES_MAX: usize = 256 * 1024;
/// How much of a call's output its log file keeps.
pub const LOG_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How many logs a session keeps; the oldest goes first.
pub const LOGS_MAX: usize = 64;
/// How many background processes of a session may run at once.
pub const BACKGROUND_MAX: usize = 16;
/// How many background processes that have ended are remembered.
pub const FINISHED_MAX: usize = 32;
