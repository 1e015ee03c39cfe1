//! The tool `shell`.

use std::path::Path;
use std::time::Duration;

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Access, Order, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::permission::{Effect, names_secret, shown};
use crate::shell::{Cause, Line, TIME_DEFAULT, TIME_MAX};
use crate::text::short;

/// How long a title may get.
const TITLE_CHARS_MAX: usize = 120;
/// How long the first output of a process in the background is waited for.
const FIRST_OUTPUT_TIME_MAX: Duration = Duration::from_millis(250);

/// Runs command lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shell;

impl Tool for Shell {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "shell".to_owned(),
            description: format!(
                "Runs a command line with bash and returns its output and exit code. It has no terminal \
                 and no input, so pass every answer as an argument. Everything it started is ended when \
                 it ends; for servers and watchers use `background`, and the tool `process` from then \
                 on. It may take {} seconds unless `timeout_ms` says otherwise, and {} at most. Prefer \
                 the tools for files to cat, sed, find and grep.",
                TIME_DEFAULT.as_secs(),
                TIME_MAX.as_secs()
            ),
            schema: json!({
                "type": "object",
                "properties": {
                    "command": { "type": "string", "description": "The command line." },
                    "cwd": {
                        "type": "string",
                        "description": "The directory to run it in; the working directory if absent."
                    },
                    "timeout_ms": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": TIME_MAX.as_millis() as u64,
                        "description": "How long it may take."
                    },
                    "background": {
                        "type": "boolean",
                        "description": "Whether it goes on while you do other things."
                    },
                    "description": {
                        "type": "string",
                        "description": "What it does, in five to ten words."
                    },
                    "outside_sandbox": {
                        "type": "string",
                        "description": "Why this command has to run outside of the sandbox, in a sentence \
                            for the user, who is asked each time. Only for a command that failed because \
                            of the sandbox."
                    }
                },
                "required": ["command"]
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Execute
    }

    fn tidies_up(&self) -> bool {
        true
    }

    fn prepare<'t>(&'t self, arguments: Value, context: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(prepare(arguments, context))
    }
}

async fn prepare<'t>(arguments: Value, context: ToolContext<'t>) -> Result<Prepared<'t>, Outcome> {
    let arguments = Arguments::new(arguments)?;
    let command = arguments.text("command")?;
    if command.trim().is_empty() {
        return Err(arguments.wrong("command", "is empty; give a command line"));
    }
    // A null byte would cut the line, and people would be asked about more than is run.
    if command.contains('\0') {
        return Err(arguments.wrong("command", "has a null byte; leave it out"));
    }
    let time = arguments.count("timeout_ms")?;
    let time = time.map(|time| Duration::from_millis(u64::try_from(time).unwrap_or(u64::MAX)));
    let description = arguments.optional_text("description")?;
    let background = arguments.switch("background")?;
    let cwd = match &arguments.optional_text("cwd")? {
        Some(cwd) => context.workspace.directory(cwd).await,
        None => Ok(context.workspace.cwd().to_owned()),
    };
    let cwd = cwd.map_err(|error| Outcome::failed(format!("`cwd` cannot be used: {error}")))?;
    let mut line = Line::new(command, cwd);
    let roots = context.workspace.roots().into_iter();
    line.roots = roots.map(Path::to_path_buf).collect();
    line.time = time
        .unwrap_or(TIME_DEFAULT)
        .clamp(Duration::from_millis(1), TIME_MAX);
    line.looks = Effect::of(&line.command) == Ok(Effect::Reads);
    line.secrets = names_secret(&line.command, &line.cwd);
    let (command, cwd) = (line.command.clone(), line.cwd.clone());
    let (title, access) = match arguments.optional_text("outside_sandbox")? {
        None => (title(&command), Access::Shell { command, cwd }),
        Some(reason) if reason.trim().is_empty() => {
            let what = "is empty; say why the command has to run outside of the sandbox";
            return Err(arguments.wrong("outside_sandbox", what));
        }
        Some(reason) => {
            line.outside = true;
            let title = title(&format!("Outside of the sandbox: {command}"));
            let access = Access::Outside {
                command,
                cwd,
                reason,
            };
            (title, access)
        }
    };
    Ok(Prepared {
        title,
        kind: v2::ToolKind::Execute,
        locations: Vec::new(),
        changes: Vec::new(),
        access: vec![access],
        order: Order::Alone,
        work: if background {
            Box::pin(start(line, description, context))
        } else {
            Box::pin(run(line, context))
        },
    })
}

async fn run(line: Line, context: ToolContext<'_>) -> Outcome {
    match context.processes.run(&line, context.surface).await {
        Ok(ran) => Outcome {
            text: ran.text(),
            failed: ran.cause != Cause::Itself || !ran.exit.is_success(),
            // The terminal shows the rest.
            shown: Some(ran.notes.join("\n")),
            ..Outcome::default()
        },
        Err(error) => Outcome::failed(format!("The command was not run: {error}.")),
    }
}

async fn start(line: Line, description: Option<String>, context: ToolContext<'_>) -> Outcome {
    let id = match context.processes.start(&line).await {
        Ok(id) => id,
        Err(error) => return Outcome::failed(format!("The command was not run: {error}.")),
    };
    if let Some(description) = description {
        context.surface.progress(&description).await;
    }
    let listed = context.processes.list();
    let log = listed.into_iter().find(|process| process.id == id);
    let log = match log.and_then(|process| process.log) {
        Some(log) => format!(" All of its output goes to {}.", log.display()),
        None => String::new(),
    };
    let started = format!(
        "Started in the background as {id}; use the tool `process` with this id to read it, write to \
         it and stop it.{log}"
    );
    match context.processes.output(&id, FIRST_OUTPUT_TIME_MAX).await {
        Ok(output) => Outcome::done(format!("{started}\n{output}")),
        Err(_) => Outcome::done(started),
    }
}

/// Returns a command line on one line, cut to a length that fits a card.
pub(super) fn title(command: &str) -> String {
    short(&shown(command.trim()), TITLE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(
            title("cargo  test\n\t-p `x`\x1b[31m\u{202e}\n"),
            "cargo  test⏎\\t-p `x`\\u{1b}[31m\\u{202e}"
        );
        assert_eq!(title(&"x".repeat(120)).chars().count(), 120);
        let long = title(&"\u{20ac}".repeat(200));
        assert_eq!(long.chars().count(), 120);
        assert!(long.ends_with("\u{20ac}\u{2026}"));
    }
}
