//! Slash commands: version 2 tags commands and their input with a `type`, version 1 does not.

use crate::{v1, v2};

/// Turns version 2 commands into version 1 commands.
///
/// Lost: a command of an unknown type becomes a plain one without input, and an unknown kind of
/// input is left out, because version 1 knows only free text.
#[must_use]
pub fn down(commands: &[v2::AvailableCommand]) -> Vec<v1::AvailableCommand> {
    commands.iter().map(command_down).collect()
}

/// Turns version 1 commands into version 2 commands. Nothing is lost.
#[must_use]
pub fn up(commands: &[v1::AvailableCommand]) -> Vec<v2::AvailableCommand> {
    commands.iter().map(command_up).collect()
}

fn command_down(command: &v2::AvailableCommand) -> v1::AvailableCommand {
    let input = match command {
        v2::AvailableCommand::Command(known) => known.input.as_ref().and_then(input_down),
        _ => None,
    };
    v1::AvailableCommand::new(command.name(), command.description())
        .input(input)
        .meta(command.meta().cloned())
}

fn input_down(input: &v2::AvailableCommandInput) -> Option<v1::AvailableCommandInput> {
    match input {
        v2::AvailableCommandInput::Text(text) => Some(v1::AvailableCommandInput::Unstructured(
            v1::UnstructuredCommandInput::new(text.hint.clone()).meta(text.meta.clone()),
        )),
        _ => None,
    }
}

fn command_up(command: &v1::AvailableCommand) -> v2::AvailableCommand {
    let input = command.input.as_ref().and_then(|input| match input {
        v1::AvailableCommandInput::Unstructured(text) => Some(v2::AvailableCommandInput::Text(
            v2::TextCommandInput::new(text.hint.clone()).meta(text.meta.clone()),
        )),
        _ => None,
    });
    v2::AvailableCommand::Command(
        v2::Command::new(command.name.clone(), command.description.clone())
            .input(input)
            .meta(command.meta.clone()),
    )
}
