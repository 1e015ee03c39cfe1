//! `cargo xtask tasks`: the coding agent solves small repositories, with a scripted model.

use std::path::PathBuf;
use std::process::Command;

use crate::Result;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The tasks to run, by their directories in tests/coder/tasks; all if none is named
    names: Vec<String>,
    /// Keeps the trees that the tasks left, each in the directory of its name
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut tasks = Command::new("cargo");
    tasks.args(["run", "--quiet", "--package", "coder-tests"]);
    tasks.args(["--bin", "coder-tasks", "--"]);
    if let Some(keep) = &arguments.keep {
        tasks.arg("--keep").arg(keep);
    }
    tasks.args(&arguments.names);
    let status = tasks.status();
    match status
        .map_err(|error| format!("cargo cannot be run: {error}"))?
        .success()
    {
        true => Ok(()),
        false => Err("a task is not as it has to be; the lines above say how".into()),
    }
}
