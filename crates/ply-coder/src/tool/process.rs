//! The tool `process`.

use std::time::Duration;

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::shell::title;
use super::{Access, Order, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::shell::{Error, Listed, Processes, SIGNALS};

/// How long output may be waited for.
const WAIT_TIME_MAX: Duration = Duration::from_secs(60);

/// Deals with processes in the background, and with logs of commands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Process;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    List,
    Output,
    Write,
    Signal,
    Stop,
    Log,
}

const ACTIONS: &[(&str, Action)] = &[
    ("list", Action::List),
    ("output", Action::Output),
    ("write", Action::Write),
    ("signal", Action::Signal),
    ("stop", Action::Stop),
    ("log", Action::Log),
];

/// What is to be done.
#[derive(Debug)]
struct Wanted {
    action: Action,
    id: String,
    input: Option<String>,
    signal: Option<String>,
    offset: usize,
    limit: Option<usize>,
    wait: Duration,
}

impl Wanted {
    fn read(arguments: Value) -> Result<Self, Outcome> {
        let arguments = Arguments::new(arguments)?;
        let action = arguments.word("action", ACTIONS)?;
        let wait_ms = arguments.count("wait_ms")?.unwrap_or(0);
        let wanted = Self {
            action: action.ok_or_else(|| arguments.wrong("action", "is missing"))?,
            id: arguments.optional_text("id")?.unwrap_or_default(),
            input: arguments.optional_text("input")?,
            signal: arguments.optional_text("signal")?,
            offset: arguments.count("offset")?.unwrap_or(0),
            limit: arguments.count("limit")?,
            wait: Duration::from_millis(u64::try_from(wait_ms).unwrap_or(u64::MAX))
                .min(WAIT_TIME_MAX),
        };
        if wanted.id.is_empty() && wanted.action != Action::List {
            return Err(arguments.wrong("id", "is missing; `list` names the processes"));
        }
        Ok(wanted)
    }

    /// Returns the name of the signal to send.
    fn signal(&self) -> &str {
        self.signal.as_deref().unwrap_or("INT")
    }
}

impl Tool for Process {
    fn spec(&self) -> ToolSpec {
        let signals: Vec<&str> = SIGNALS.iter().map(|(name, _)| *name).collect();
        ToolSpec {
            name: "process".to_owned(),
            description: "Manages processes that `shell` started in the background, and reads the logs of long \
                 outputs. Actions: `list` lists the processes; `output` returns the output since the last \
                 call and waits up to `wait_ms` for it; `write` writes `input` to the process unchanged, so \
                 include a newline if one is needed, and without `input` closes its standard input; \
                 `signal` sends `signal`; `stop` ends the process and everything it started; `log` returns \
                 `limit` lines of a log, starting at line `offset`, counted from 1."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "action": {
                        "type": "string",
                        "enum": ["list", "output", "write", "signal", "stop", "log"]
                    },
                    "id": { "type": "string", "description": "Such as p1, or c2 for a log." },
                    "input": { "type": "string" },
                    "signal": { "type": "string", "enum": signals },
                    "offset": { "type": "integer", "minimum": 1 },
                    "limit": { "type": "integer", "minimum": 1 },
                    "wait_ms": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": WAIT_TIME_MAX.as_millis() as u64
                    }
                },
                "required": ["action"]
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
        Box::pin(std::future::ready(prepare(arguments, context)))
    }
}

fn prepare(arguments: Value, context: ToolContext<'_>) -> Result<Prepared<'_>, Outcome> {
    let arguments = Wanted::read(arguments)?;
    let Wanted { action, id, .. } = &arguments;
    let process = known(context.processes, id);
    let named = match &process {
        Some(process) => format!("{id} ({})", process.command),
        None => id.clone(),
    };
    let (title, kind) = match action {
        Action::List => ("List background processes".to_owned(), v2::ToolKind::Read),
        Action::Output => (format!("Read output of {id}"), v2::ToolKind::Read),
        Action::Log => (format!("Read log {id}"), v2::ToolKind::Read),
        Action::Stop => (format!("Stop {named}"), v2::ToolKind::Execute),
        Action::Signal => (
            format!("Send {} to {named}", arguments.signal()),
            v2::ToolKind::Execute,
        ),
        Action::Write => {
            let input = arguments.input.as_deref().unwrap_or("(end of input)");
            (format!("Write to {id}: {input}"), v2::ToolKind::Execute)
        }
    };
    let access = input(&arguments, process)?;
    let order = match action {
        Action::List | Action::Output | Action::Log => Order::Shared,
        Action::Write | Action::Signal | Action::Stop => Order::Alone,
    };
    Ok(Prepared {
        title: self::title(&title),
        kind,
        locations: Vec::new(),
        changes: Vec::new(),
        access,
        order,
        work: Box::pin(async move {
            match act(arguments, context).await {
                Ok(text) => Outcome::done(text),
                Err(error) => failed(&error),
            }
        }),
    })
}

/// Waits for output, but not once the user has cancelled.
async fn output(context: ToolContext<'_>, id: &str, wait: Duration) -> Result<String, Error> {
    tokio::select! {
        biased;
        output = context.processes.output(id, wait) => output,
        () = context.surface.cancelled() => context.processes.output(id, Duration::ZERO).await,
    }
}

/// Returns what the call needs permission for: whatever a process notices.
fn input(arguments: &Wanted, process: Option<Listed>) -> Result<Vec<Access>, Outcome> {
    let text = match arguments.action {
        Action::List | Action::Output | Action::Log => return Ok(Vec::new()),
        Action::Write => arguments.input.clone().unwrap_or_default(),
        Action::Signal => arguments.signal().to_owned(),
        Action::Stop => String::new(),
    };
    let process = process.ok_or_else(|| failed(&Error::UnknownId))?;
    let Listed {
        id,
        command,
        beyond,
        ..
    } = process;
    Ok(vec![match arguments.action {
        Action::Stop => Access::Stop {
            process: id,
            command,
        },
        _ => Access::Input {
            process: id,
            command,
            text,
            beyond,
        },
    }])
}

fn known(processes: &Processes, id: &str) -> Option<Listed> {
    let listed = processes.list();
    listed.into_iter().find(|known| known.id == id)
}

fn failed(error: &Error) -> Outcome {
    Outcome::failed(format!("That did not work: {error}."))
}

async fn act(arguments: Wanted, context: ToolContext<'_>) -> Result<String, Error> {
    let processes: &Processes = context.processes;
    let id = arguments.id.as_str();
    let wait = arguments.wait;
    match arguments.action {
        Action::List => Ok(list(&processes.list())),
        Action::Output => output(context, id, wait).await,
        Action::Write => {
            processes.write(id, arguments.input.as_deref()).await?;
            output(context, id, wait).await
        }
        Action::Signal => {
            processes.signal(id, arguments.signal()).await?;
            output(context, id, wait).await
        }
        Action::Stop => {
            let command = known(processes, id).map(|process| process.command);
            let rest = processes.stop(id).await?;
            let command = command.unwrap_or_default();
            Ok(format!("Stopped {id} (`{command}`).\n{rest}"))
        }
        Action::Log => {
            let (first, count) = (arguments.offset, arguments.limit);
            processes.log(id, first, count).await
        }
    }
}

fn list(processes: &[Listed]) -> String {
    if processes.is_empty() {
        return "No process was started in the background.".to_owned();
    }
    let line = |process: &Listed| {
        let state = match process.exit {
            Some(exit) => exit.to_string(),
            None => "running".to_owned(),
        };
        format!("{}: {state}: {}", process.id, title(&process.command))
    };
    processes.iter().map(line).collect::<Vec<_>>().join("\n")
}
