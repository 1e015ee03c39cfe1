//! Slash commands: prompts that the agent answers itself.

pub(crate) mod arguments;
pub(crate) mod markdown;

use ply_agent::v2;

/// A command, with what the user wrote behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Make the conversation short, with an eye on something.
    Compact(Option<String>),
    /// Show what the session did to files.
    Diff,
    /// Take back the last turn that changed files.
    Undo(Anyway),
    /// Do again what was taken back.
    Redo(Anyway),
    /// Say what there is.
    Help,
    /// Say or change the model.
    Model(Option<String>),
    /// Say or change the mode.
    Mode(Option<String>),
}

/// Whether files that somebody changed since are overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Anyway(pub(crate) bool);

impl Command {
    /// Says whether the model should hear what came of it.
    pub(crate) fn changes_files(&self) -> bool {
        matches!(self, Self::Undo(_) | Self::Redo(_))
    }

    /// Reads a prompt. One that is no command of ours is for the model.
    pub(crate) fn parse(prompt: &str) -> Option<Self> {
        let line = prompt.trim().strip_prefix('/')?;
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let rest = (!rest.is_empty()).then(|| rest.to_owned());
        let anyway = match rest.as_deref() {
            None => Some(Anyway(false)),
            Some("anyway") => Some(Anyway(true)),
            Some(_) => None,
        };
        match word {
            "diff" if rest.is_none() => Some(Self::Diff),
            "undo" => anyway.map(Self::Undo),
            "redo" => anyway.map(Self::Redo),
            "compact" => Some(Self::Compact(rest)),
            "help" if rest.is_none() => Some(Self::Help),
            "model" => Some(Self::Model(rest)),
            "mode" => Some(Self::Mode(rest)),
            _ => None,
        }
    }

    /// Returns the commands, for clients.
    pub(crate) fn all() -> Vec<v2::AvailableCommand> {
        let command = available;
        vec![
            command(
                "compact",
                "Shortens the conversation to a summary",
                Some("what to keep in mind"),
            ),
            command("diff", "Shows what this session did to files", None),
            command(
                "undo",
                "Takes back what the last turn did to files",
                Some("anyway, if you changed them since"),
            ),
            command("redo", "Does again what was taken back", Some("anyway")),
            command("model", "Shows or changes the model", Some("model")),
            command(
                "mode",
                "Shows or changes the mode",
                Some("plan, ask, auto-edit or full"),
            ),
            command("help", "Says what Ply can do", None),
        ]
    }

    /// Says whether a name is that of one of these commands.
    pub(crate) fn is_own(name: &str) -> bool {
        let is_it = |command: &v2::AvailableCommand| match command {
            v2::AvailableCommand::Command(command) => command.name == name,
            _ => false,
        };
        Self::all().iter().any(is_it)
    }
}

/// Returns a command, for clients.
pub(crate) fn available(name: &str, description: &str, hint: Option<&str>) -> v2::AvailableCommand {
    let mut command = v2::Command::new(name, description);
    if let Some(hint) = hint {
        let input = v2::TextCommandInput::new(hint);
        command = command.input(v2::AvailableCommandInput::Text(input));
    }
    v2::AvailableCommand::Command(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_prompts() {
        let check = |prompt: &str, expected: Option<Command>| {
            assert_eq!(Command::parse(prompt), expected, "{prompt}");
        };
        check("/help", Some(Command::Help));
        check(
            " /model  offline ",
            Some(Command::Model(Some("offline".to_owned()))),
        );
        check("/mode", Some(Command::Mode(None)));
        check(
            "/compact\nthe parser",
            Some(Command::Compact(Some("the parser".to_owned()))),
        );
        check("/etc/passwd is world readable, why?", None);
        check("/undo", Some(Command::Undo(Anyway(false))));
        check("/redo anyway", Some(Command::Redo(Anyway(true))));
        check("/undo the rename in a.rs", None);
        check("/helpful", None);
        check("help", None);
    }
}
