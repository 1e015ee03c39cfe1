//! A client of version 1 that does as little as possible: lines on blocking streams.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use ply_hub::Wanted;
use ply_hub::ask::{Ask, Told};
use ply_hub::hello::{Hello, PROTOCOL, Welcome};
use serde_json::{Value, json};

use super::Result;
use crate::factory::BARE;

/// Bytes that are read at a time.
const INPUT_BYTES: usize = 64 * 1024;
/// Within so many bytes a message says whether it is an answer.
const HEAD_BYTES: usize = 60;

pub(super) struct Client {
    to: Box<dyn Write + Send>,
    from: Box<dyn BufRead + Send>,
    last: u64,
    line: Vec<u8>,
}

/// An answer, and how many messages came before it.
pub(super) struct Answered {
    pub(super) result: Value,
    pub(super) before: u64,
}

impl Client {
    pub(super) fn new(to: impl Write + Send + 'static, from: impl Read + Send + 'static) -> Self {
        Self {
            to: Box::new(to),
            from: Box::new(BufReader::with_capacity(INPUT_BYTES, from)),
            last: 0,
            line: Vec::new(),
        }
    }

    /// Connects to the hub itself, for an agent that is its child.
    pub(super) fn to_hub(place: &Path, store: &str, program: &str) -> Result<Self> {
        let wanted = Wanted {
            name: BARE.to_owned(),
            key: BARE.to_owned(),
            command: [program, "agent", "1", "-fast"].map(str::to_owned).to_vec(),
            env: std::env::vars().collect(),
            cwd: "/".into(),
        };
        let stream = UnixStream::connect(socket(place)?)?;
        let mut client = Self::new(stream.try_clone()?, stream);
        match client.hello(store, Some(wanted), None)? {
            Welcome::Ready { .. } => Ok(client),
            other => Err(format!("{other:?}").into()),
        }
    }

    fn hello(&mut self, store: &str, agent: Option<Wanted>, ask: Option<Ask>) -> Result<Welcome> {
        let hello = Hello {
            protocol: PROTOCOL,
            version: "0".to_owned(),
            store: store.into(),
            agent,
            ask,
            principal: None,
        };
        self.send(&json!({ "ply": hello }))?;
        self.read()?;
        let mut said: Value = serde_json::from_slice(&self.line)?;
        Ok(serde_json::from_value(said["ply"].take())?)
    }

    pub(super) fn greet(&mut self) -> Result<()> {
        self.call("initialize", json!({"protocolVersion": 1}))?;
        Ok(())
    }

    /// Makes a session and returns its id.
    pub(super) fn new_session(&mut self, cwd: &str) -> Result<String> {
        let params = json!({"cwd": cwd, "mcpServers": []});
        let made = self.call("session/new", params)?.result;
        let id = made["sessionId"].as_str();
        Ok(id.ok_or("a session has no id")?.to_owned())
    }

    pub(super) fn load(&mut self, session: &str, cwd: &str) -> Result<Answered> {
        let params = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
        self.call("session/load", params)
    }

    /// Has the agent say something so many times.
    pub(super) fn updates(&mut self, session: &str, count: u64) -> Result<Answered> {
        let text = json!({"type": "text", "text": format!("updates:{count}")});
        let params = json!({"sessionId": session, "prompt": [text]});
        self.call("session/prompt", params)
    }

    pub(super) fn echo(&mut self, session: &str) -> Result<()> {
        self.call("_bench/echo", json!({ "sessionId": session }))?;
        Ok(())
    }

    pub(super) fn call(&mut self, method: &str, params: Value) -> Result<Answered> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut before = 0;
        loop {
            self.read()?;
            if !is_answer(&self.line) {
                before += 1;
                continue;
            }
            let mut message: Value = serde_json::from_slice(&self.line)?;
            if message["id"] != id {
                continue;
            }
            if !message["error"].is_null() {
                return Err(format!("{method}: {}", message["error"]).into());
            }
            let result = message["result"].take();
            return Ok(Answered { result, before });
        }
    }

    /// Reads until bytes of text of the agent's have come, however they are cut.
    pub(super) fn read_text(&mut self, bytes: usize) -> Result<u64> {
        let (mut read, mut messages) = (0, 0);
        while read < bytes {
            self.read()?;
            let message: Value = serde_json::from_slice(&self.line)?;
            let update = &message["params"]["update"];
            if update["sessionUpdate"] == "agent_message_chunk" {
                read += update["content"]["text"].as_str().map_or(0, str::len);
                messages += 1;
            }
        }
        Ok(messages)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        self.to.write_all(format!("{message}\n").as_bytes())?;
        Ok(self.to.flush()?)
    }

    fn read(&mut self) -> Result<()> {
        self.line.clear();
        match self.from.read_until(b'\n', &mut self.line)? {
            0 => Err("the other side is gone".into()),
            _ => Ok(()),
        }
    }
}

fn is_answer(line: &[u8]) -> bool {
    let head = line.get(..HEAD_BYTES).unwrap_or(line);
    head.windows(5).any(|part| part == b"\"id\":")
}

fn socket(place: &Path) -> Result<std::path::PathBuf> {
    Ok(ply_hub::Place::at(place)?.socket())
}

fn ask(place: &Path, store: &str, ask: Ask) -> Result<Told> {
    let stream = UnixStream::connect(socket(place)?)?;
    let mut client = Client::new(stream.try_clone()?, stream);
    match client.hello(store, None, Some(ask))? {
        Welcome::Told(told) => Ok(told),
        other => Err(format!("{other:?}").into()),
    }
}

/// Returns the process of the hub.
pub(super) fn hub_process(place: &Path, store: &str) -> Result<u32> {
    match ask(place, store, Ask::Status)? {
        Told::Status(status) => Ok(status.pid),
        other => Err(format!("{other:?}").into()),
    }
}

/// Ends the hub with everything behind it.
pub(super) fn stop_hub(place: &Path, store: &str) -> Result<()> {
    ask(place, store, Ask::Stop { drain: false }).map(drop)
}
