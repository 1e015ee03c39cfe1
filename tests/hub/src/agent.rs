//! The scripted agent: each prompt says word by word what is to be done about it, and everything that it is sent is in its log.
//!
//! | Word | What it does |
//! |---|---|
//! | `say:TEXT` | says the text |
//! | `ask:NAME` | asks for permission, waits for the answer and says `NAME=ANSWER` |
//! | `at:FIFO` | waits until somebody writes to the named pipe |
//! | `nap:MILLISECONDS` | takes its time |
//! | `die` | ends without a word |

use std::fs::File;
use std::io::{self, StdinLock, Write as _};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// The agent, which speaks one version.
struct Agent {
    version: u16,
    log: File,
    input: io::Lines<StdinLock<'static>>,
    /// Numbers its requests and messages, together with its process.
    last: u64,
}

/// Serves until its input ends.
///
/// # Errors
///
/// A line cannot be read or written.
pub fn run(version: u16, log: &Path) -> io::Result<()> {
    let log = File::options().create(true).append(true).open(log)?;
    let mut agent = Agent {
        version,
        log,
        input: io::stdin().lines(),
        last: 0,
    };
    agent.note("start", "")?;
    while let Some(message) = agent.next()? {
        agent.serve(&message)?;
    }
    agent.note("end", "")
}

impl Agent {
    /// Writes a line to the log at once: the process that wrote it, what it is and the rest.
    fn note(&mut self, what: &str, rest: &str) -> io::Result<()> {
        let line = format!("{} {what} {rest}\n", std::process::id());
        self.log.write_all(line.as_bytes())
    }

    fn next(&mut self) -> io::Result<Option<Value>> {
        let Some(line) = self.input.next() else {
            return Ok(None);
        };
        let line = line?;
        self.note("got", &line)?;
        Ok(Some(serde_json::from_str(&line)?))
    }

    fn send(&mut self, mut message: Value) -> io::Result<()> {
        if let Some(members) = message.as_object_mut() {
            members.insert("jsonrpc".to_owned(), json!("2.0"));
        }
        let mut out = io::stdout().lock();
        out.write_all(format!("{message}\n").as_bytes())?;
        out.flush()
    }

    fn answer(&mut self, id: &Value, result: &Value) -> io::Result<()> {
        self.send(json!({"id": id, "result": result}))
    }

    fn update(&mut self, update: &Value) -> io::Result<()> {
        let params = json!({"sessionId": "down", "update": update});
        self.send(json!({"method": "session/update", "params": params}))
    }

    fn serve(&mut self, message: &Value) -> io::Result<()> {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str() {
            Some("initialize") => {
                let info = json!({"name": "scripted", "version": "1"});
                let hello = match self.version {
                    1 => {
                        json!({"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"resume": {}}}, "agentInfo": info})
                    }
                    _ => {
                        json!({"protocolVersion": 2, "info": info, "capabilities": {"session": {}}})
                    }
                };
                self.answer(id, &hello)
            }
            Some("session/new") => self.answer(id, &json!({"sessionId": "down"})),
            Some("session/resume" | "session/close") => self.answer(id, &json!({})),
            Some("session/prompt") => {
                let text = params["prompt"][0]["text"].as_str().unwrap_or_default();
                self.work(id, text)
            }
            Some(_) if id.is_null() => Ok(()),
            Some(_) => {
                let error = json!({"code": -32601, "message": "unknown"});
                self.send(json!({"id": id, "error": error}))
            }
            None => Ok(()),
        }
    }

    fn work(&mut self, id: &Value, text: &str) -> io::Result<()> {
        self.last += 1;
        let message = format!("u{}-{}", std::process::id(), self.last);
        if self.version == 2 {
            self.answer(id, &json!({"messageId": message}))?;
            self.update(&json!({"sessionUpdate": "user_message", "messageId": message}))?;
            self.update(&json!({"sessionUpdate": "state_update", "state": "running"}))?;
        }
        for word in text.split_whitespace() {
            match word.split_once(':') {
                Some(("say", text)) => self.say(text)?,
                Some(("ask", name)) => self.ask(name)?,
                Some(("at", fifo)) => drop(std::fs::read(fifo)?),
                Some(("nap", time)) => nap(Duration::from_millis(time.parse().unwrap_or_default())),
                _ if word == "die" => std::process::exit(7),
                _ => {}
            }
        }
        self.note("done", text)?;
        match self.version {
            1 => self.answer(id, &json!({"stopReason": "end_turn"})),
            _ => self.update(
                &json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
            ),
        }
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        let content = json!({"type": "text", "text": format!("{text} ")});
        let message = format!("m{}-{}", std::process::id(), self.last);
        self.update(
            &json!({"sessionUpdate": "agent_message_chunk", "messageId": message, "content": content}),
        )
    }

    fn ask(&mut self, name: &str) -> io::Result<()> {
        let options = json!([
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]);
        let call = json!({"toolCallId": name, "title": name, "status": "pending", "kind": "edit"});
        let params = match self.version {
            1 => json!({"sessionId": "down", "toolCall": call, "options": options}),
            _ => {
                json!({"sessionId": "down", "title": name, "options": options, "subject": {"type": "tool_call", "toolCall": call}})
            }
        };
        let request = format!("{}-{name}", std::process::id());
        self.send(
            json!({"id": request, "method": "session/request_permission", "params": params}),
        )?;
        let answer = loop {
            let Some(message) = self.next()? else {
                return Ok(());
            };
            if message["id"] == request && message["method"].is_null() {
                break message["result"]["outcome"]["optionId"].clone();
            }
            self.serve(&message)?;
        };
        let done =
            json!({"sessionUpdate": "tool_call_update", "toolCallId": name, "status": "completed"});
        self.update(&done)?;
        self.say(&format!("{name}={}", answer.as_str().unwrap_or("none")))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "an agent that takes its time, so that things are killed meanwhile"
)]
fn nap(time: Duration) {
    std::thread::sleep(time);
}
