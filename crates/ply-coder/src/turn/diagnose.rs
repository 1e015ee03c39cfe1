//! What the project's checker says, after files were changed.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use ply_agent::{Result, v2};

use super::TurnLoop;
use crate::BoxFuture;
use crate::context::conversation::{self, Tells};
use crate::context::notes;
use crate::diagnostics::{self, TIME_MAX};
use crate::permission::{Mode, Verdict};
use crate::shell::{Cause, Line};
use crate::text::first_line;
use crate::tool::{Access, Surface};

/// Characters of what a shell says about a checker that cannot be run.
const WHY_CHARS_MAX: usize = 200;

impl TurnLoop<'_> {
    /// Notes that a call changed files.
    pub(super) fn changed(&self, paths: Vec<PathBuf>) {
        let edited = self.shared.edited.lock();
        edited.unwrap_or_else(PoisonError::into_inner).extend(paths);
    }

    /// Has the files checked that were changed since this was last done, all at once. Returns what the model is told of them. The
    /// history keeps it, as the model will be asked what it did about it.
    pub(super) async fn diagnose(&self) -> Result<Option<String>> {
        let Some(wanted) = self.config.diagnostics.as_ref().filter(|_| self.is_kept()) else {
            return Ok(None);
        };
        let edited = {
            let mut edited = self
                .shared
                .edited
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *edited)
        };
        let cwd = self.state.workspace.cwd();
        let own = wanted.command.as_deref();
        let Some(command) = own.or_else(|| diagnostics::checker(cwd)) else {
            return Ok(None);
        };
        if edited.is_empty() || !self.may_check(command, own.is_some()) {
            return Ok(None);
        }
        let mut line = Line::new(command, cwd);
        line.roots = self
            .state
            .workspace
            .roots()
            .iter()
            .map(|root| root.to_path_buf())
            .collect();
        line.time = wanted.time.min(TIME_MAX);
        let unseen = Unseen(self);
        let running = self.state.processes.run(&line, &unseen);
        let ran = match self.turn.unless_cancelled(running).await? {
            Ok(ran) => ran,
            Err(error) => {
                tracing::debug!(%error, "the project was not checked");
                return Ok(None);
            }
        };
        if ran.cause == Cause::Time {
            if self.state.begin_telling_slow_check() {
                let seconds = line.time.as_secs();
                let words = format!(
                    "The check of changed files (`{}`) was ended after {seconds} s. Give it more with `timeout_seconds` in \
                     `[diagnostics]`.",
                    crate::permission::shown(command)
                );
                self.notice(words).await?;
            }
            return Ok(None);
        }
        let Some(found) = diagnostics::about(&ran.output, cwd, &edited) else {
            // By these codes a shell says that it found nothing to run.
            if own.is_some() && matches!(ran.exit.code(), Some(126 | 127)) {
                self.tell_useless_check(command, &ran.output).await?;
            }
            return Ok(None);
        };
        let note = notes::note(&format!(
            "`{command}` says about the files that you changed:\n{found}"
        ));
        let card = self
            .turn
            .tool_call("Problems in changed files")
            .kind(v2::ToolKind::Other)
            .meta(conversation::tells(Tells::Note))
            .await?;
        card.finish_with(note.as_str()).await?;
        Ok(Some(note))
    }

    /// Tells the user once that there is no such checker: the model would take silence for praise.
    async fn tell_useless_check(&self, command: &str, output: &str) -> Result<()> {
        if !self.state.begin_telling_useless_check() {
            return Ok(());
        }
        let command = crate::permission::shown(command);
        let why = crate::permission::shown(&first_line(output, WHY_CHARS_MAX));
        self.notice(format!(
            "Changed files are not checked: `{command}` in `[diagnostics]` cannot be run: {why}"
        ))
        .await
    }

    /// Says whether the checker may run. Nobody is asked: the user set the command up, or the rules and the mode allow it.
    fn may_check(&self, command: &str, is_own: bool) -> bool {
        let mode = self.state.choice().mode;
        if mode == Mode::Plan {
            return false;
        }
        let access = [Access::Shell {
            command: command.to_owned(),
            cwd: self.state.workspace.cwd().to_owned(),
        }];
        match self.state.permissions.decide(mode, &access) {
            Verdict::Allow => true,
            Verdict::Deny(_) => false,
            _ => is_own,
        }
    }
}

/// The surface of a command that nobody looks at.
#[derive(Debug)]
struct Unseen<'t>(&'t TurnLoop<'t>);

impl Surface for Unseen<'_> {
    fn open_terminal<'t>(&'t self, _: &'t str, _: &'t Path) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn terminal_output<'t>(&'t self, _: &'t [u8]) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn close_terminal<'t>(&'t self, _: Option<i32>, _: Option<&'t str>) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn progress<'t>(&'t self, _: &'t str) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn has_files(&self) -> bool {
        false
    }

    fn read_text<'t>(&'t self, _: &'t Path) -> BoxFuture<'t, std::result::Result<String, String>> {
        Box::pin(std::future::ready(Err("there is no client".to_owned())))
    }

    fn write_text<'t>(
        &'t self,
        _: &'t Path,
        _: String,
    ) -> BoxFuture<'t, std::result::Result<(), String>> {
        Box::pin(std::future::ready(Err("there is no client".to_owned())))
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.turn.cancelled())
    }
}
