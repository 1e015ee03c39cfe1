//! What happens in a terminal, for whoever shows it.

use std::path::Path;
use std::sync::Arc;

use ply_wire::lift::terminal;
use ply_wire::{v1, v2};
use tokio::sync::watch;

use super::run::State;

/// What happens in a terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scene<'a> {
    Started {
        command: &'a str,
        cwd: &'a Path,
    },
    Output(&'a str),
    /// All that the command itself printed was shown before.
    Exited(&'a v1::TerminalExitStatus),
}

impl Scene<'_> {
    /// Returns it as version 2 tells it.
    pub(crate) fn update(self, id: &v1::TerminalId) -> v2::SessionUpdate {
        match self {
            Self::Started { command, cwd } => terminal::started(id, command, cwd),
            Self::Output(text) => terminal::output(id, text),
            Self::Exited(status) => terminal::exited(id, status),
        }
    }
}

/// Who is shown it.
pub(crate) type Show = Arc<dyn Fn(&v1::TerminalId, Scene<'_>) + Send + Sync>;

/// Shows how a command exited, once it has.
pub(super) async fn show_exit(id: v1::TerminalId, mut state: watch::Receiver<State>, show: Show) {
    let exit = match state.wait_for(|state| state.exit.is_some()).await {
        Ok(state) => state.exit.clone(),
        // It is not known how it ended.
        Err(_) => None,
    };
    if let Some(exit) = exit {
        show(&id, Scene::Exited(&exit));
    }
}

/// Returns a command as people write it, more or less.
pub(super) fn line(request: &v1::CreateTerminalRequest) -> String {
    let words = std::iter::once(&request.command).chain(&request.args);
    let words: Vec<_> = words.map(String::as_str).collect();
    words.join(" ")
}
