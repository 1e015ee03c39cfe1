//! The least that an editor does: greet the agent and open a session.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::time::Instant;

use serde_json::{Value, json};

use super::{Memory, Start};
use crate::Result;
use crate::measure::to_f64;
use crate::process::{Agent, Launch};

/// The client's end of the pipes.
pub(super) struct Editor {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Editor {
    /// Starts an agent, greets it, opens a session in a directory, looks at its memory and ends it.
    pub(super) fn start(launch: &Launch, cwd: &Path) -> Result<Start> {
        let begun = Instant::now();
        let (process, input, output) = launch.spawn()?;
        let output = BufReader::new(output);
        let mut editor = Editor { input, output };
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        editor.call(0, "initialize", &hello)?;
        let greeted = begun.elapsed();
        let setup = json!({ "cwd": cwd, "mcpServers": [] });
        editor.call(1, "session/new", &setup)?;
        let opened = begun.elapsed();
        let memory = Memory::of(&process)?;
        drop(editor);
        process.finish()?;
        Ok(Start {
            greeted,
            opened,
            memory,
        })
    }

    fn call(&mut self, id: u64, method: &str, params: &Value) -> Result<()> {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.input.write_all(format!("{call}\n").as_bytes())?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err(format!("the agent ended instead of answering {method}").into());
            }
            let answer: Value = serde_json::from_str(&line)?;
            if answer.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            return match answer.get("result") {
                Some(_) => Ok(()),
                None => Err(format!("{method} was refused: {answer}").into()),
            };
        }
    }
}

impl Memory {
    fn of(agent: &Agent) -> Result<Self> {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", agent.id()));
        let (status, rollup) = (read("status")?, read("smaps_rollup")?);
        Ok(Memory {
            resident: field(&status, "VmRSS:")?,
            proportional: field(&rollup, "Pss:")?,
            own: field(&status, "RssAnon:")?,
        })
    }
}

/// Returns a field in MiB.
fn field(text: &str, name: &str) -> Result<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next());
    let kib: u64 = kib.ok_or("no memory figures in /proc")?.parse()?;
    Ok(to_f64(kib) / 1024.0)
}
