//! Answers to slash commands. Each of them ends the turn.

use ply_agent::{Result, Stop};

use super::TurnLoop;
use super::shorten::Why;
use crate::commands::Command;
use crate::context::conversation;
use crate::options;
use crate::permission::Mode;
use crate::playbook::Playbook;

impl TurnLoop<'_> {
    pub(super) async fn command(&self, command: Command) -> Result<Stop> {
        let words = match command {
            Command::Help => {
                self.refresh_tools().await?;
                self.help(&*self.playbook().await?)
            }
            Command::Diff => self.show_diff().await?,
            Command::Undo(anyway) => self.undo(anyway).await,
            Command::Redo(anyway) => self.redo(anyway).await,
            Command::Compact(hint) => self.compact_now(hint.as_deref()).await?,
            Command::Mode(None) => format!("The mode is {}.", self.state.choice().mode.id()),
            Command::Model(None) => self.list_models(),
            Command::Mode(Some(mode)) => self.set(options::MODE, &mode).await?,
            Command::Model(Some(model)) => self.set(options::MODEL, &model).await?,
        };
        self.turn.say(words).await?;
        Ok(Stop::EndTurn)
    }

    async fn set(&self, option: &str, value: &str) -> Result<String> {
        let changed = self
            .state
            .choose(|choice| choice.set(option, value, self.models));
        if let Err(words) = changed {
            return Ok(words);
        }
        let choice = self.state.choice();
        self.turn
            .session()
            .set_options(choice.options(self.models))
            .await?;
        Ok(format!("The {option} is {value} now."))
    }

    async fn compact_now(&self, hint: Option<&str>) -> Result<String> {
        let history = self.turn.history().await?;
        let facts = self.state.choice().model.facts().clone();
        let mut talk = conversation::project(&history, &facts);
        if talk.is_empty() {
            return Ok("There is nothing to shorten yet.".to_owned());
        }
        let before = talk.len();
        self.refresh_tools().await?;
        Ok(match self.compact(&mut talk, Why::Asked(hint)).await? {
            Ok(()) => format!("{before} messages became a summary. The history still has them."),
            Err(failure) => format!("The conversation stays as it is. {}", failure.message),
        })
    }

    fn list_models(&self) -> String {
        let current = self.state.choice().model.facts().id.clone();
        let mut words = format!("The model is {current}.");
        if self.models.len() > 1 {
            words.push_str(" There are also:\n");
            for model in self
                .models
                .iter()
                .filter(|model| model.facts().id != current)
            {
                words.push_str(&format!("- `/model {}`\n", model.facts().id));
            }
        }
        words
    }

    fn help(&self, playbook: &Playbook) -> String {
        let choice = self.state.choice();
        let modes =
            Mode::ALL.map(|mode| format!("- `/mode {}`: {}", mode.id(), mode.description()));
        let tools = self.tools();
        let prompts = self.state.servers.prompts();
        let written = playbook.listed(&prompts).map(|(name, description, hint)| {
            let hint = hint.map(|hint| format!(" {hint}")).unwrap_or_default();
            format!("- `/{name}{hint}`: {description}\n")
        });
        let written: String = written.collect();
        format!(
            "I am Ply, a coding agent. Model: {}. Mode: {}.\n\n\
             - `/model NAME`: changes the model\n\
             {}\n\
             - `/diff`, `/undo`, `/redo`: show, take back and do again what I did to files\n\
             - `/compact`: shortens the conversation to a summary\n\
             - `/help`: this\n\
             {written}\n\
             Tools: {}.",
            choice.model.facts().id,
            choice.mode.id(),
            modes.join("\n"),
            tools.names().join(", ")
        )
    }
}
