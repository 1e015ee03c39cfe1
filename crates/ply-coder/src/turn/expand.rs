//! Prompts that stand for a longer text, which the user or the project wrote down.

use std::sync::Arc;

use ply_agent::{History, Result, v2};

use super::TurnLoop;
use crate::context::conversation::{self, Tells};
use crate::model::{Content, Facts};
use crate::playbook::Playbook;

impl TurnLoop<'_> {
    /// Returns the commands and skills as they were when the turn first looked.
    pub(super) async fn playbook(&self) -> Result<Arc<Playbook>> {
        if let Some(read) = self.shared.playbook.get() {
            return Ok(Arc::clone(read));
        }
        let read = Playbook::load(&self.state.cwd, self.config);
        let read = self.turn.unless_cancelled(read).await?;
        Ok(Arc::clone(
            self.shared.playbook.get_or_init(|| Arc::new(read)),
        ))
    }

    /// Tells the client which commands there are, if that has changed since it was told.
    pub(super) async fn tell_commands(&self, history: &History) -> Result<()> {
        let commands = self.playbook().await?.available();
        match history.transcript().commands() == commands {
            true => Ok(()),
            false => self.turn.session().set_commands(commands).await,
        }
    }

    /// Finds out what the prompt stands for, and keeps it: the file may say something else, or be gone, when the
    /// model is told of the prompt again. The user sees it, and so does everybody who reads the history.
    ///
    /// Returns what to say if the prompt cannot be used.
    pub(super) async fn expand(&self, prompt: &str) -> Result<std::result::Result<(), String>> {
        let playbook = self.playbook().await?;
        let expansion = match playbook.expand(prompt) {
            Ok(Some(expansion)) => expansion,
            Ok(None) => return Ok(Ok(())),
            Err(words) => return Ok(Err(words)),
        };
        let card = self
            .turn
            .tool_call(format!("Command `/{}`", expansion.name))
            .kind(v2::ToolKind::Other)
            .location(expansion.path, None)
            .meta(conversation::tells(Tells::Prompt))
            .await?;
        card.finish_with(expansion.text.as_str()).await?;
        self.shared.expanded.get_or_init(|| expansion.text);
        Ok(Ok(()))
    }

    /// Returns the prompt as the model is told.
    pub(super) fn prompt(&self, facts: &Facts) -> Vec<Content> {
        let expanded = self.shared.expanded.get().map(String::as_str);
        conversation::prompt(self.turn.prompt().content(), expanded, facts)
    }
}
