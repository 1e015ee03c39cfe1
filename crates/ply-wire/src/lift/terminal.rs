//! Terminals that a client runs for a v1 agent: version 2 tells of them in updates, version 1 leaves showing them to the client.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::Lifter;
use crate::{v1, v2};

/// Returns the update that tells what runs in a terminal.
#[must_use]
pub fn started(terminal: &v1::TerminalId, command: &str, cwd: &Path) -> v2::SessionUpdate {
    let update = v2::TerminalUpdate::new(terminal.0.clone())
        .command(command.to_owned())
        .cwd(v2::AbsolutePath::new(cwd));
    v2::SessionUpdate::TerminalUpdate(update)
}

/// Returns the update that tells what a terminal printed.
#[must_use]
pub fn output(terminal: &v1::TerminalId, text: &str) -> v2::SessionUpdate {
    let chunk = v2::TerminalOutputChunk::new(terminal.0.clone(), STANDARD.encode(text));
    v2::SessionUpdate::TerminalOutputChunk(chunk)
}

/// Returns the update that tells how the command of a terminal ended.
#[must_use]
pub fn exited(terminal: &v1::TerminalId, status: &v1::TerminalExitStatus) -> v2::SessionUpdate {
    let mut exit = v2::TerminalExitStatus::new();
    exit.exit_code = status.exit_code.map(i64::from);
    exit.signal.clone_from(&status.signal);
    let update = v2::TerminalUpdate::new(terminal.0.clone()).exit_status(exit);
    v2::SessionUpdate::TerminalUpdate(update)
}

impl Lifter {
    /// Notes that a terminal was made for the agent, and tells what runs in it. Only such terminals become v2 terminals of the same
    /// id; any other id is the name of something in another process (V2-TERM-12).
    pub fn terminal_started(
        &mut self,
        terminal: &v1::TerminalId,
        command: &str,
        cwd: &Path,
        out: &mut Vec<v2::SessionUpdate>,
    ) {
        self.terminal_created(terminal.clone());
        out.push(started(terminal, command, cwd));
    }

    /// Tells what a terminal printed.
    pub fn terminal_output(
        &self,
        terminal: &v1::TerminalId,
        text: &str,
        out: &mut Vec<v2::SessionUpdate>,
    ) {
        out.push(output(terminal, text));
    }

    /// Tells how the command of a terminal ended.
    pub fn terminal_exited(
        &self,
        terminal: &v1::TerminalId,
        status: &v1::TerminalExitStatus,
        out: &mut Vec<v2::SessionUpdate>,
    ) {
        out.push(exited(terminal, status));
    }
}
