//! A client in raw JSON that is right by default and has one fault if it is told so:
//! `mutant_client [--version 1|2] [--fault NAME] -- COMMAND…`.
//!
//! It makes a session, sends one prompt, decides questions after a moment, cancels when it is interrupted, and ends with its turn.

#[path = "mutant_client/answers.rs"]
mod answers;
#[path = "mutant_client/faults.rs"]
mod faults;
#[path = "mutant_client/files.rs"]
mod files;
#[path = "mutant_client/flow.rs"]
mod flow;
#[path = "mutant_client/terminals.rs"]
mod terminals;
#[path = "mutant_client/updates.rs"]
mod updates;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How long a question is thought about.
const THINKING: Duration = Duration::from_millis(700);
/// How long the agent may take to end.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// Lines that wait to be written.
const LINES_WAITING_MAX: usize = 4096;

/// What happens after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The client goes on.
    Go,
    /// The client ends, with this exit code.
    End(i32),
}

/// A question that is not decided.
struct Question {
    id: Value,
    params: Value,
    due: Instant,
}

/// The client.
struct Client {
    fault: String,
    version: u64,
    cwd: String,
    out: mpsc::Sender<Vec<u8>>,
    /// Our requests that wait for their answers, by id.
    pending: BTreeMap<String, &'static str>,
    last_id: u64,
    /// What the agent answered to `initialize`.
    welcome: Value,
    session: String,
    /// The turn: whether the prompt was sent, and whether its work was seen.
    is_prompted: bool,
    is_working: bool,
    is_cancelled: bool,
    questions: Vec<Question>,
    calls: BTreeSet<String>,
    /// Ids of messages, in the order in which they were first heard of, and the last one of the agent.
    messages: BTreeSet<String>,
    last_message: String,
    /// Whether the state was told to be running.
    is_running: bool,
    terminals: terminals::Terminals,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut fault, mut version) = (String::new(), 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--fault" => fault = words.next().unwrap_or_default(),
            "--version" if words.next().as_deref() == Some("2") => version = 2,
            "--" => break,
            _ => {}
        }
    }
    if !fault.is_empty() && !faults::FAULTS.iter().any(|(name, ..)| *name == fault) {
        return Err("there is no such fault".into());
    }
    let code = run(fault, version, words.collect()).await?;
    std::process::exit(code);
}

async fn run(
    fault: String,
    version: u64,
    command: Vec<String>,
) -> Result<i32, Box<dyn std::error::Error>> {
    let [program, arguments @ ..] = command.as_slice() else {
        return Err("no command was given".into());
    };
    let stderr = match fault.as_str() {
        "stderr-not-read" => Stdio::piped(),
        _ => Stdio::null(),
    };
    let mut agent = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .process_group(0)
        .spawn()?;
    let (Some(mut stdin), Some(stdout)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err("the agent came without pipes".into());
    };
    let (out, mut waiting) = mpsc::channel::<Vec<u8>>(LINES_WAITING_MAX);
    let writing = tokio::spawn(async move {
        while let Some(line) = waiting.recv().await {
            if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
                break;
            }
        }
    });
    let cwd = std::env::current_dir()?.display().to_string();
    let mut client = Client::new(fault, version, cwd, out);
    client.hello();
    let code = converse(&mut client, BufReader::new(stdout)).await?;
    if client.has("kills-agent")
        && let Some(process) = agent.id()
    {
        let mut kill = tokio::process::Command::new("kill");
        kill.args(["-TERM", &process.to_string()]).status().await?;
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    let leaves = client.has("leaves-processes");
    if !leaves {
        client.terminals.end();
    }
    // Closes the agent's input.
    drop(client);
    if tokio::time::timeout(END_TIME_MAX, agent.wait())
        .await
        .is_err()
    {
        agent.kill().await?;
    }
    writing.abort();
    Ok(code)
}

async fn converse(
    client: &mut Client,
    mut reader: BufReader<tokio::process::ChildStdout>,
) -> Result<i32, Box<dyn std::error::Error>> {
    // Kept over the rounds: a wait that is dropped early leaves the beginning of a line in it.
    let mut line = Vec::new();
    loop {
        let due = client.questions.iter().map(|question| question.due).min();
        let thinking = tokio::time::sleep_until(
            due.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600)),
        );
        let next = tokio::select! {
            read = reader.read_until(b'\n', &mut line) => match read? {
                // The agent is gone.
                0 if client.has("hangs-on-exit") => std::future::pending().await,
                0 => Next::End(1),
                _ => client.on_line(&std::mem::take(&mut line)),
            },
            () = thinking => {
                client.decide();
                Next::Go
            }
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                client.cancel();
                Next::Go
            }
        };
        if let Next::End(code) = next {
            return Ok(code);
        }
    }
}

impl Client {
    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn write(&self, message: &Value) {
        let mut message = message.clone();
        if self.has("no-jsonrpc")
            && let Some(message) = message.as_object_mut()
        {
            message.remove("jsonrpc");
        }
        self.write_bytes(format!("{message}\n").into_bytes());
    }

    fn write_bytes(&self, bytes: Vec<u8>) {
        // A full queue means that the agent does not read; then nothing helps.
        drop(self.out.try_send(bytes));
    }

    fn notify(&self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request under the next id.
    fn ask(&mut self, method: &'static str, params: Value) {
        self.last_id += 1;
        let id = match self.has("fractional-ids") {
            true => json!(self.last_id as f64 + 0.5),
            false => json!(self.last_id),
        };
        self.ask_as(id, method, params);
    }

    fn ask_as(&mut self, id: Value, method: &'static str, params: Value) {
        self.pending.insert(id.to_string(), method);
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn respond(&self, id: &Value, result: Value) {
        let id = self.answer_id(id);
        let mut answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        if self.has("null-results") {
            answer = json!({"jsonrpc": "2.0", "id": id, "result": null});
        }
        if self.has("result-and-error") {
            answer = json!({"jsonrpc": "2.0", "id": id, "result": result, "error": {"code": 1, "message": "both"}});
        }
        self.write(&answer);
    }

    fn fail(&self, id: &Value, code: i64, message: &str) {
        let id = self.answer_id(id);
        let error = json!({"code": code, "message": message});
        match self.has("result-and-error") {
            true => self.write(&json!({"jsonrpc": "2.0", "id": id, "error": error, "result": {}})),
            false => self.write(&json!({"jsonrpc": "2.0", "id": id, "error": error})),
        }
    }

    fn answer_id(&self, id: &Value) -> Value {
        match self.has("id-as-text") {
            true => json!(id.to_string()),
            false => id.clone(),
        }
    }
}
