//! Slash commands: prompts that the agent answers itself.

use ply_agent::v2;

/// A command, with what the user wrote behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Make the conversation short, with an eye on something.
    Compact(Option<String>),
    /// Say what there is.
    Help,
    /// Say or change the model.
    Model(Option<String>),
    /// Say or change the mode.
    Mode(Option<String>),
}

impl Command {
    /// Reads a prompt. One that is no command of ours is for the model.
    pub(crate) fn parse(prompt: &str) -> Option<Self> {
        let line = prompt.trim().strip_prefix('/')?;
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let rest = (!rest.is_empty()).then(|| rest.to_owned());
        match word {
            "compact" => Some(Self::Compact(rest)),
            "help" if rest.is_none() => Some(Self::Help),
            "model" => Some(Self::Model(rest)),
            "mode" => Some(Self::Mode(rest)),
            _ => None,
        }
    }

    /// Returns the commands, for clients.
    pub(crate) fn all() -> Vec<v2::AvailableCommand> {
        let command = |name: &str, description: &str, hint: Option<&str>| {
            let mut command = v2::Command::new(name, description);
            if let Some(hint) = hint {
                let input = v2::TextCommandInput::new(hint);
                command = command.input(v2::AvailableCommandInput::Text(input));
            }
            v2::AvailableCommand::Command(command)
        };
        vec![
            command(
                "compact",
                "Shortens the conversation to a summary",
                Some("what to keep in mind"),
            ),
            command("model", "Shows or changes the model", Some("model")),
            command(
                "mode",
                "Shows or changes the mode",
                Some("plan, ask, auto-edit or full"),
            ),
            command("help", "Says what Ply can do", None),
        ]
    }
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
        check("/helpful", None);
        check("help", None);
    }
}
