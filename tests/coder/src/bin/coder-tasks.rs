//! The tasks as a program: `cargo xtask tasks` runs it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use coder_tests::tasks::{self, Report};

#[derive(Parser)]
struct Arguments {
    /// The tasks to run; all if none is named
    names: Vec<String>,
    /// Keeps the trees that the tasks left, each in the directory of its name
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    let tasks = tasks::load(&arguments.names)?;
    if let Some(keep) = &arguments.keep {
        // A tree among the remains of another would say nothing.
        let kept = tasks.iter().map(|task| keep.join(&task.name));
        if let Some(old) = kept.into_iter().find(|path| path.exists()) {
            return Err(format!("`{}` is there already", old.display()));
        }
    }
    let reports = tasks::run_all(&tasks, arguments.keep.as_deref(), |report| {
        say(&report.to_string());
    });
    let well = reports
        .iter()
        .filter(|report| Report::is_well(report))
        .count();
    say(&format!("{well} of {} tasks are well", reports.len()));
    Ok(well == reports.len())
}

#[expect(clippy::print_stdout, reason = "a program tells what it found")]
fn say(words: &str) {
    println!("{words}");
}
