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
    /// The session, once there is one.
    session: Value,
    calls: u64,
    /// Ends with the pipes.
    _process: Option<Agent>,
}

impl Editor {
    /// Starts an agent, greets it, opens a session in a directory, looks at its memory and ends it.
    pub(super) fn start(launch: &Launch, cwd: &Path) -> Result<Start> {
        let begun = Instant::now();
        let (process, input, output) = launch.spawn()?;
        let output = BufReader::new(output);
        let mut editor = Editor::new(input, output);
        editor.greet()?;
        let greeted = begun.elapsed();
        editor.begin(cwd)?;
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

    /// Starts an agent and opens a session in a directory.
    pub(super) fn open(launch: &Launch, cwd: &Path) -> Result<Self> {
        let (process, input, output) = launch.spawn()?;
        let mut editor = Editor::new(input, BufReader::new(output));
        editor._process = Some(process);
        editor.greet()?;
        editor.begin(cwd)?;
        Ok(editor)
    }

    /// Sends a prompt and waits for the end of its turn.
    pub(super) fn turn(&mut self, text: &str) -> Result<()> {
        let prompt = json!([{ "type": "text", "text": text }]);
        let params = json!({ "sessionId": self.session, "prompt": prompt });
        self.call("session/prompt", &params).map(drop)
    }

    fn new(input: ChildStdin, output: BufReader<ChildStdout>) -> Self {
        Editor {
            input,
            output,
            session: Value::Null,
            calls: 0,
            _process: None,
        }
    }

    fn greet(&mut self) -> Result<()> {
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        self.call("initialize", &hello).map(drop)
    }

    fn begin(&mut self, cwd: &Path) -> Result<()> {
        let setup = json!({ "cwd": cwd, "mcpServers": [] });
        let mut session = self.call("session/new", &setup)?;
        let id = session.get_mut("sessionId").map(Value::take);
        self.session = id.ok_or("the agent opened a session without an id")?;
        Ok(())
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.calls;
        self.calls += 1;
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.input.write_all(format!("{call}\n").as_bytes())?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err(format!("the agent ended instead of answering {method}").into());
            }
            let mut answer: Value = serde_json::from_str(&line)?;
            let is_call = answer.get("method").is_some();
            if is_call || answer.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            return match answer.get_mut("result") {
                Some(result) => Ok(result.take()),
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
