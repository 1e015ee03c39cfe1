//! What can go wrong with a command, apart from the command itself.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use ply_rpc::transport::child::SpawnError;

use super::BACKGROUND_MAX;

/// How a helper says that there are no namespaces; the reason follows.
pub(super) const NOT_APART: &str = "there are no namespaces for the command: ";

/// A command could not be run, or a process not be dealt with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// Commands may only read now, and nothing can hold them to it.
    #[error(
        "commands may not change anything now, and without a sandbox nothing holds them to it: {0}; \
         use the tools that read files instead"
    )]
    ReadOnlyUnconfined(String),
    /// Nobody knows yet whether commands are confined here.
    #[error(
        "it could not be found out whether commands can be confined: {0}; try again, and if this \
         lasts, tell the user about the sandbox"
    )]
    SandboxUnknown(String),
    /// The sandbox must be complete and is not.
    #[error(
        "the sandbox is required here and is not complete: {0} Tell the user; they can repair it, or set \
         `required = false` in `[sandbox]` of Ply's configuration to run commands with less protection"
    )]
    SandboxRequired(String),
    /// The command was to run outside of the sandbox, and commands may only read now.
    #[error("commands may not change anything now, so none runs outside of the sandbox")]
    ReadOnlyOutside,
    /// The process was started when more was allowed.
    #[error(
        "commands may not change anything now, and this process was started when they could; \
         it can be read and stopped, not written to"
    )]
    ReadOnlyWrite,
    /// Too many processes run in the background.
    #[error("{BACKGROUND_MAX} processes run in the background already; stop one of them first")]
    TooMany,
    /// The session is being closed.
    #[error("the session is being closed; no process is started any more")]
    Closed,
    /// There is no process or log of this name.
    #[error("there is no such id; the action `list` names those there are")]
    UnknownId,
    /// There is no signal of this name, or it is not for background processes.
    #[error(
        "there is no such signal here; INT, TERM, HUP, QUIT, KILL, USR1, USR2, STOP and CONT are"
    )]
    UnknownSignal,
    /// The process has ended.
    #[error("the process has ended: {0}")]
    Ended(String),
    /// The input was closed before.
    #[error("the input of the process is closed; start it again to write to it")]
    InputClosed,
    /// The process does not read its input.
    #[error("the process did not read its input in time; part of it may be written")]
    InputFull,
    /// Writing to the process failed.
    #[error("the process no longer reads its input")]
    Write(#[source] io::Error),
    /// The log cannot be read.
    #[error("the log cannot be read")]
    Log(#[source] io::Error),
    /// The arguments of the sandbox's helper make no sense.
    #[error("this word starts a sandboxed command and is not meant for people")]
    HelperArguments,
    /// The rules cannot be made, or powers not be given up.
    #[error("the sandbox cannot be set up")]
    Ruleset(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The roots are not those of the session's first command.
    #[error("the roots of the workspace changed; start another session for them")]
    OtherRoots,
    /// What was a directory when the session began no longer is.
    #[error("`{}` was replaced, so nothing is run that may write to it", .path.display())]
    Writable {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// There are no namespaces for the command, or they cannot be arranged.
    #[error("{NOT_APART}{0}")]
    NotApart(String),
    /// There is no way to the hosts that are allowed.
    #[error("the proxy to the allowed hosts cannot be opened")]
    Gate(#[source] io::Error),
    /// The kernel does not confine the command.
    #[error("the kernel does not enforce the sandbox")]
    NotEnforced,
    /// The program in the sandbox could not be started.
    #[error("cannot run `{}` in the sandbox", .program.to_string_lossy())]
    Exec {
        /// The program.
        program: OsString,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}
