//! What the program does with its arguments.

mod agent;
mod agents;
mod arguments;
mod chat;
mod check;
mod completions;
mod demo;
mod error;
mod hold;
mod home;
mod hub;
mod json;
mod man;
mod mcp;
mod models;
mod output;
mod permits;
mod roster;
mod run;
mod sessions;
mod store;
mod time;
mod trace;
mod words;

use std::process::ExitCode;

use self::arguments::{Arguments, Command};
use self::error::{Error, USAGE};
use self::words::Unread;

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    if let Some(code) = agent::sandbox::enter_if_asked() {
        return code;
    }
    if let Some(code) = hold::hold_if_asked() {
        return code;
    }
    let arguments = match words::parse(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        Err(Unread::NoCommand(error)) => {
            error.tell();
            return ExitCode::from(error.exit_code());
        }
        Err(Unread::Words(error)) => {
            // Help, or what is wrong with the arguments. If that cannot be printed, nobody listens.
            drop(error.print());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE));
        }
    };
    match start(arguments) {
        Ok(code) => code,
        // Whoever read our output has seen enough, as `head` does.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            error.tell();
            ExitCode::from(error.exit_code())
        }
    }
}

/// Returns what the hub runs on: it does many things at a time.
fn serving() -> Result<tokio::runtime::Runtime, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.map_err(Error::Start)
}

fn start(arguments: Arguments) -> Result<ExitCode, Error> {
    // One thread: a command waits for one thing at a time, and is to start at once.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(Error::Start)?;
    let command = arguments.command;
    match command.unwrap_or_else(|| Command::Chat(chat::Chat::default())) {
        Command::Run(arguments) => runtime.block_on(run::run(*arguments)),
        Command::Chat(arguments) => runtime.block_on(chat::run(arguments)),
        Command::Agent(arguments) => runtime.block_on(agent::run(arguments)),
        Command::Agents(arguments) => runtime.block_on(agents::run(arguments)),
        Command::Attach(arguments) => runtime.block_on(hub::attach(arguments)),
        Command::Serve(arguments) => serving()?.block_on(hub::serve(arguments)),
        Command::Hub(arguments) => runtime.block_on(hub::control(arguments)),
        Command::Mcp(arguments) => runtime.block_on(mcp::run(arguments)),
        Command::Models(arguments) => runtime.block_on(models::run(arguments)),
        Command::Permits(arguments) => runtime.block_on(permits::run(arguments)),
        Command::Send(arguments) => runtime.block_on(hub::send(arguments)),
        Command::Watch(arguments) => runtime.block_on(hub::watch(arguments)),
        Command::Queue(arguments) => runtime.block_on(hub::queue(arguments)),
        Command::Sessions(arguments) => runtime.block_on(sessions::run(arguments)),
        Command::Demo(arguments) => runtime.block_on(demo::run(arguments)),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
        Command::Trace(arguments) => runtime.block_on(trace::run(arguments)),
        Command::Check(arguments) => runtime.block_on(check::run(arguments)),
    }
}
