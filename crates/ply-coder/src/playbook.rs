//! What the user and the project wrote down for the agent to do.

use std::path::{Path, PathBuf};

use ply_agent::v2;

use crate::Config;
use crate::commands::arguments;
use crate::commands::markdown::{self, MarkdownCommand};
use crate::commands::{self, Command};
use crate::context::files::Levels;
use crate::mcp::ServerPrompt;
use crate::skills::Skills;

/// Commands and skills, as they are on disk at the moment.
#[derive(Debug, Default)]
pub(crate) struct Playbook {
    commands: Vec<MarkdownCommand>,
    skills: Skills,
}

/// A prompt that stands for a longer text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Expansion<'p> {
    /// What the user typed to begin with, without the slash.
    pub(crate) name: &'p str,
    /// The file that the text is from; none for a prompt of an MCP server.
    pub(crate) path: Option<&'p Path>,
    /// The text for the model.
    pub(crate) text: String,
}

impl Playbook {
    /// Reads it on a thread where that may take its time.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it reads on for nobody.
    pub(crate) async fn load(cwd: &Path, config: &Config) -> Self {
        let (commands, skills) = (config.commands.clone(), config.skills.clone());
        let cwd = cwd.to_path_buf();
        let read = tokio::task::spawn_blocking(move || Self::read(&cwd, &commands, &skills));
        // Reading files does not panic; if it did, there is nothing.
        read.await.unwrap_or_default()
    }

    /// Reads it. Names of the agent's own commands are not for others.
    fn read(cwd: &Path, commands: &[PathBuf], skills: &[PathBuf]) -> Self {
        let levels = Levels::find(cwd);
        let mut commands = markdown::find(&levels, commands);
        commands.retain(|command| !Command::is_own(&command.name));
        let skills = Skills::find(&levels, skills);
        Self { commands, skills }
    }

    /// Returns the skills.
    pub(crate) fn skills(&self) -> &Skills {
        &self.skills
    }

    /// Returns all commands for clients, the agent's own first and the prompts of MCP servers last.
    pub(crate) fn available(&self, prompts: &[ServerPrompt]) -> Vec<v2::AvailableCommand> {
        let others = self.listed(prompts);
        let others =
            others.map(|(name, description, hint)| commands::available(name, &description, hint));
        Command::all().into_iter().chain(others).collect()
    }

    /// Returns name, description and hint of each command that is not the agent's own.
    pub(crate) fn listed<'p>(
        &'p self,
        prompts: &'p [ServerPrompt],
    ) -> impl Iterator<Item = (&'p str, String, Option<&'p str>)> {
        let commands = self.commands.iter().map(|command| {
            let description = command.description.clone();
            (command.name.as_str(), description, command.hint.as_deref())
        });
        let skills = self.skills.all.iter();
        let skills = skills.filter(|skill| !self.is_command(&skill.name));
        let skills = skills.map(|skill| {
            let description = skill.command_description();
            (skill.name.as_str(), description, skill.hint.as_deref())
        });
        let prompts = prompts.iter().filter(|prompt| !self.has(&prompt.command));
        commands.chain(skills).chain(prompts.map(|prompt| {
            let description = prompt.description.clone();
            (prompt.command.as_str(), description, prompt.hint.as_deref())
        }))
    }

    /// Says whether there is a command or a skill of that name.
    fn has(&self, name: &str) -> bool {
        self.is_command(name) || self.skills.all.iter().any(|skill| skill.name == name)
    }

    /// Says whether a command has a name, which no skill has as a command then.
    fn is_command(&self, name: &str) -> bool {
        Command::is_own(name) || self.commands.iter().any(|command| command.name == name)
    }

    /// Returns what a prompt stands for, if it is one of the commands or skills.
    ///
    /// # Errors
    ///
    /// It stands for too much; the words are for the user.
    pub(crate) fn expand(&self, prompt: &str) -> Result<Option<Expansion<'_>>, String> {
        let Some(line) = prompt.trim().strip_prefix('/') else {
            return Ok(None);
        };
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if let Some(command) = self.commands.iter().find(|command| command.name == name) {
            return Ok(Some(Expansion {
                name: &command.name,
                path: Some(&command.path),
                text: arguments::expand(&command.body, rest)?,
            }));
        }
        let mut skills = self.skills.all.iter();
        let Some(skill) = skills.find(|skill| skill.name == name && !Command::is_own(name)) else {
            return Ok(None);
        };
        Ok(Some(Expansion {
            name: &skill.name,
            path: Some(&skill.path),
            text: skill.text(&arguments::expand(&skill.body, rest)?),
        }))
    }
}
