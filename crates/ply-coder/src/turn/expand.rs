//! Prompts that stand for a longer text, which the user or the project wrote down.

use std::sync::Arc;

use ply_agent::{Result, v2};

use super::TurnLoop;
use crate::context::conversation::{self, Tells};
use crate::model::{Content, Facts};
use crate::playbook::{Expansion, Playbook};

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

    /// Tells the client which commands there are, if it was told of others. Returns what it knows then.
    pub(super) async fn tell_commands(
        &self,
        told: &[v2::AvailableCommand],
    ) -> Result<Vec<v2::AvailableCommand>> {
        let playbook = self.playbook().await?;
        let commands = playbook.available(&self.state.servers.prompts());
        if commands != told {
            self.turn.session().set_commands(commands.clone()).await?;
        }
        Ok(commands)
    }

    /// Finds out what the prompt stands for, and keeps it: the file may say something else, or be gone, when the
    /// model is told of the prompt again. The user sees it, and so does everybody who reads the history.
    ///
    /// Returns what to say if the prompt cannot be used.
    pub(super) async fn expand(&self, prompt: &str) -> Result<std::result::Result<(), String>> {
        let playbook = self.playbook().await?;
        let expansion = match playbook.expand(prompt) {
            Ok(Some(expansion)) => Some(Ok(expansion)),
            Ok(None) => self.expand_with_server(prompt).await?,
            Err(words) => Some(Err(words)),
        };
        let expansion = match expansion {
            Some(Ok(expansion)) => expansion,
            Some(Err(words)) => return Ok(Err(words)),
            None => return Ok(Ok(())),
        };
        let card = self
            .turn
            .tool_call(format!("Command `/{}`", expansion.name))
            .kind(v2::ToolKind::Other)
            .meta(conversation::tells(Tells::Prompt));
        let card = match expansion.path {
            Some(path) => card.location(path, None),
            None => card,
        };
        let card = card.await?;
        card.finish_with(expansion.text.as_str()).await?;
        self.shared.expanded.get_or_init(|| expansion.text);
        Ok(Ok(()))
    }

    /// Asks an MCP server what a prompt stands for, if it looks like a prompt of one: `/server:prompt`. A server that still
    /// starts, or that the user has not decided about, may have it.
    async fn expand_with_server<'p>(
        &self,
        prompt: &'p str,
    ) -> Result<Option<std::result::Result<Expansion<'p>, String>>> {
        let Some((name, given)) = server_prompt(prompt) else {
            return Ok(None);
        };
        self.start_servers().await?;
        let expanded = self.state.servers.expand_prompt(name, given);
        let expanded = self.turn.unless_cancelled(expanded).await?;
        let path = None;
        Ok(expanded.map(|text| text.map(|text| Expansion { name, path, text })))
    }

    /// Returns the prompt as the model is told.
    pub(super) fn prompt(&self, facts: &Facts) -> Vec<Content> {
        let expanded = self.shared.expanded.get().map(String::as_str);
        conversation::prompt(self.turn.prompt().content(), expanded, facts)
    }
}

/// Returns the name of the prompt and what is given to it, if a text looks like a prompt of an MCP server.
fn server_prompt(prompt: &str) -> Option<(&str, &str)> {
    let line = prompt.trim().strip_prefix('/')?;
    let (name, given) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (server, prompt) = name.split_once(':')?;
    (!server.is_empty() && !prompt.is_empty()).then_some((name, given))
}
