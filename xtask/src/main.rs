//! What the repository does to itself. Each command is one file; adding one means a file, a variant and a line.

mod api;
mod bench;
mod build;
mod crash;
mod demo;
mod fuzz;
mod matrix;
mod prop;
mod registry;
mod requirements;
mod sim;
mod tasks;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "What the repository does to itself")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the public items of the library crates in docs/api.
    Api(api::Arguments),
    /// Measures this project against its alternatives.
    #[command(subcommand)]
    Bench(bench::Command),
    /// Kills agents at any moment and fails their disks, and checks that nothing is lost.
    Crash(crash::Arguments),
    /// Records terminal sessions of the program as pictures.
    Demo(demo::Arguments),
    /// Fuzzes one target, or replays one input through it.
    Fuzz(fuzz::Arguments),
    /// Installs real agents, checks them with a scripted model and writes docs/MATRIX.md.
    Matrix(matrix::Arguments),
    /// Runs the property tests with many cases.
    Prop(prop::Arguments),
    /// Prints the entry for the registry of ACP agents.
    Registry(registry::Arguments),
    /// Shows which protocol rules have a test that names them.
    Requirements(requirements::Arguments),
    /// Runs simulated worlds, or shows one.
    Sim(sim::Arguments),
    /// Has the coding agent solve small repositories with a scripted model.
    Tasks(tasks::Arguments),
}

#[expect(clippy::print_stderr, reason = "a program reports its failure")]
fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Api(arguments) => api::run(&arguments),
        Command::Bench(command) => bench::run(&command),
        Command::Crash(arguments) => crash::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Matrix(arguments) => matrix::run(&arguments),
        Command::Prop(arguments) => prop::run(&arguments),
        Command::Registry(arguments) => registry::run(&arguments),
        Command::Requirements(arguments) => requirements::run(&arguments),
        Command::Sim(arguments) => sim::run(&arguments),
        Command::Tasks(arguments) => tasks::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
