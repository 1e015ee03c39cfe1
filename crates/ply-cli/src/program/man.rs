//! `ply man`: the manual pages, made from the definition of the arguments.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};

use crate::program::arguments::Arguments;
use crate::program::error::Error;
use crate::program::output;

/// Writes the manual pages.
///
/// Into DIR one page for each command: ply.1, ply-run.1 and so on. Without DIR, prints ply.1.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
        ply man ~/.local/share/man/man1\n  \
        ply man | man -l -")]
pub(crate) struct Man {
    /// The directory; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Man) -> Result<ExitCode, Error> {
    let program = Arguments::command();
    match &arguments.directory {
        Some(directory) => write_all(program, directory)?,
        None => {
            let mut out = output::stdout();
            let written = clap_mangen::Man::new(program).render(&mut out);
            written.and_then(|()| out.flush()).map_err(Error::Output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_all(program: clap::Command, directory: &Path) -> Result<(), Error> {
    let made = std::fs::create_dir_all(directory);
    let written = made.and_then(|()| clap_mangen::generate_to(program, directory));
    written.map_err(|source| Error::File {
        path: directory.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_that_names_its_options() {
        let place = tempfile::tempdir().unwrap();
        let pages = place.path().join("man1");
        write_all(Arguments::command(), &pages).unwrap();
        for name in ["ply", "ply-chat", "ply-sessions-ls", "ply-trace-view"] {
            assert!(pages.join(format!("{name}.1")).is_file(), "{name}");
        }
        let run = std::fs::read_to_string(pages.join("ply-run.1")).unwrap();
        for option in ["permit", "timeout", "output"] {
            assert!(run.contains(option), "{option}");
        }
    }
}
