//! `ply completions`: what a shell needs to complete command lines, made from the definition of the arguments.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, ValueEnum};

use crate::program::arguments::Arguments;
use crate::program::error::Error;
use crate::program::output;

/// Prints a completion script for your shell.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        ply completions bash > ~/.local/share/bash-completion/completions/ply\n  \
        ply completions zsh > \"${fpath[1]}/_ply\"\n  \
        ply completions fish > ~/.config/fish/completions/ply.fish")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Fish,
    Zsh,
}

/// Runs the command.
pub(crate) fn run(arguments: &Completions) -> Result<ExitCode, Error> {
    let mut out = output::stdout();
    let script = script(arguments.shell);
    let written = out.write_all(&script).and_then(|()| out.flush());
    written.map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}

fn script(shell: Shell) -> Vec<u8> {
    use clap_complete::{generate, shells};
    let mut program = Arguments::command();
    // Without a command, the words are those of `chat`.
    let chat = program.find_subcommand("chat");
    let options = chat.into_iter().flat_map(clap::Command::get_arguments);
    let options: Vec<_> = options.filter(|it| !it.is_positional()).cloned().collect();
    program = program.args(options);
    let (mut script, name) = (Vec::new(), "ply");
    match shell {
        Shell::Bash => generate(shells::Bash, &mut program, name, &mut script),
        Shell::Fish => generate(shells::Fish, &mut program, name, &mut script),
        Shell::Zsh => generate(shells::Zsh, &mut program, name, &mut script),
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_completes_commands_and_their_options() {
        for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
            let script = String::from_utf8(script(shell)).unwrap();
            for word in [
                "sessions",
                "permits",
                "completions",
                "idle-timeout",
                "permit",
            ] {
                assert!(script.contains(word), "{shell:?}: {word}");
            }
        }
    }

    #[test]
    fn options_of_the_terminal_client_need_no_command() {
        let script = String::from_utf8(script(Shell::Fish)).unwrap();
        let top = script.lines().filter(|line| line.contains("needs_command"));
        assert!(top.into_iter().any(|line| line.contains("-l continue")));
    }
}
