//! What tools see of the client: the card of their call.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ply_agent::{Elicited, ToolCall, v2};
use tokio::time::Instant;

use super::TurnLoop;
use crate::BoxFuture;
use crate::tool::task::Delegated;
use crate::tool::{Outcome, Readable, Surface};

/// How often a line of progress may change.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// The name of the only field in a question to the user.
const ANSWER: &str = "answer";

/// The card of a call that runs.
#[derive(Debug)]
pub(super) struct Live<'t> {
    within: &'t TurnLoop<'t>,
    card: &'t ToolCall,
    /// When progress was last shown.
    progressed: Mutex<Option<Instant>>,
}

impl<'t> Live<'t> {
    pub(super) fn new(within: &'t TurnLoop<'t>, card: &'t ToolCall) -> Self {
        Self {
            within,
            card,
            progressed: Mutex::new(None),
        }
    }

    /// Returns the call's id.
    pub(super) fn call(&self) -> &v2::ToolCallId {
        self.card.id()
    }

    /// A call shows one terminal at most, so its name may be the call's.
    fn terminal(&self) -> v2::TerminalId {
        v2::TerminalId::new(format!("terminal-{}", self.card.id().0))
    }

    async fn tell(&self, update: v2::SessionUpdate) {
        if let Err(error) = self.card.update(update).await {
            tracing::trace!(%error, "nobody looks at the card");
        }
    }

    /// Says whether the card shows how far the call is.
    pub(super) fn has_progress(&self) -> bool {
        self.progressed
            .lock()
            .is_ok_and(|progressed| progressed.is_some())
    }

    /// Says whether enough time has passed to show progress again.
    fn may_progress(&self) -> bool {
        let Ok(mut progressed) = self.progressed.lock() else {
            return false;
        };
        let now = Instant::now();
        let due = progressed.is_none_or(|last| now - last >= PROGRESS_EVERY);
        if due {
            *progressed = Some(now);
        }
        due
    }
}

impl Surface for Live<'_> {
    fn open_terminal<'a>(&'a self, command: &'a str, cwd: &'a Path) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let id = self.terminal();
            let update = v2::TerminalUpdate::new(id.clone())
                .command(command.to_owned())
                .cwd(v2::AbsolutePath::new(cwd.to_path_buf()));
            self.tell(v2::SessionUpdate::TerminalUpdate(update)).await;
            let shown = v2::ToolCallContent::Terminal(v2::Terminal::new(id));
            let chunk = v2::ToolCallContentChunk::new(self.card.id().clone(), shown);
            self.tell(v2::SessionUpdate::ToolCallContentChunk(chunk))
                .await;
        })
    }

    fn terminal_output<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let chunk = v2::TerminalOutputChunk::new(self.terminal(), STANDARD.encode(bytes));
            self.tell(v2::SessionUpdate::TerminalOutputChunk(chunk))
                .await;
        })
    }

    fn close_terminal<'a>(
        &'a self,
        code: Option<i32>,
        signal: Option<&'a str>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let status = v2::TerminalExitStatus::new()
                .exit_code(code.map(i64::from))
                .signal(signal.map(str::to_owned));
            let update = v2::TerminalUpdate::new(self.terminal()).exit_status(status);
            self.tell(v2::SessionUpdate::TerminalUpdate(update)).await;
        })
    }

    fn progress<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if !self.may_progress() {
                return;
            }
            let text = v2::Content::new(v2::ContentBlock::from(text));
            let content = vec![v2::ToolCallContent::Content(Box::new(text))];
            if let Err(error) = self.card.set_content(content).await {
                tracing::trace!(%error, "nobody looks at the card");
            }
        })
    }

    fn has_files(&self) -> bool {
        self.within.turn.can_read_files() && self.within.turn.can_write_files()
    }

    fn read_text<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let read = self.within.turn.read_text_file(path).await;
            read.map_err(|error| error.to_string())
        })
    }

    fn write_text<'a>(&'a self, path: &'a Path, text: String) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let written = self.within.turn.write_text_file(path, text).await;
            written.map_err(|error| error.to_string())
        })
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.within.turn.cancelled())
    }

    fn may_reach_private(&self, address: &str) -> bool {
        self.within.state.permissions.names_host(address)
    }

    fn readable(&self) -> Readable {
        let (mode, permissions) = (
            self.within.state.choice().mode,
            Arc::clone(&self.within.state.permissions),
        );
        Arc::new(move |path| permissions.may_read(mode, path))
    }

    fn notice<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let told = self.within.notice(text.to_owned());
            if let Err(error) = told.await {
                tracing::debug!(%error, "nobody to tell that the client is silent");
            }
        })
    }

    fn plan(&self, entries: Vec<v2::PlanEntry>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Err(error) = self.within.turn.plan(entries).await {
                tracing::trace!(%error, "nobody looks at the plan");
            }
        })
    }

    fn delegate(&self, task: Delegated) -> BoxFuture<'_, Outcome> {
        Box::pin(self.within.delegate(task, self))
    }

    fn ask<'a>(
        &'a self,
        question: &'a str,
        choices: &'a [String],
    ) -> BoxFuture<'a, Result<Option<String>, String>> {
        Box::pin(async move {
            let schema = v2::ElicitationSchema::new();
            let field = v2::StringPropertySchema::new().title("Answer".to_owned());
            let schema = match choices.is_empty() {
                true => schema.property(ANSWER, field, true),
                false => schema.property(ANSWER, field.enum_values(choices.to_vec()), true),
            };
            match self.card.elicit_form(question, schema).await {
                Ok(Elicited::Accepted(mut content)) => Ok(match content.remove(ANSWER) {
                    Some(v2::ElicitationContentValue::String(answer)) => Some(answer),
                    _ => None,
                }),
                Ok(_) => Ok(None),
                Err(error) => Err(error.to_string()),
            }
        })
    }
}
