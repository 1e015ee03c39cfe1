//! An editor that follows a script, the agent that it talks to, and the wires between them and the shim.

use std::collections::VecDeque;

use ply_agent::{About, Agent, Permission, Result, Server, Stop, Turn};
use ply_hub::shim::{Line, Shim};
use ply_rpc::transport::memory;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::io::{Lines, ReadHalf, WriteHalf};

/// An agent that says, does and asks something of everything.
#[derive(Debug)]
pub(crate) struct Busy;

impl Agent for Busy {
    fn about(&self) -> About {
        About::new("busy", "1")
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        turn.think("Let me see. ").await?;
        for word in ["One ", "two \"\u{1}é ", "three. "] {
            turn.say(word).await?;
        }
        let call = turn.tool_call("Remove the tree").await?;
        let decision = call.ask_with("Remove it?").await?;
        turn.say(format!("Allowed: {}. ", decision.is_allowed()))
            .await?;
        call.start().await?;
        call.finish_with("gone").await?;
        let command = Permission::new("Run it?").command("make");
        let decision = turn.ask(command).await?;
        turn.say(format!("Made: {}.", decision.is_allowed()))
            .await?;
        Ok(Stop::EndTurn)
    }
}

/// What the editor does next.
#[derive(Debug)]
pub(crate) struct Editor {
    pub(crate) version: u64,
    /// Everything that it was sent.
    pub(crate) seen: Vec<Value>,
    session: String,
    prompts: usize,
    pub(crate) is_done: bool,
}

impl Editor {
    pub(crate) fn new(version: u64) -> Self {
        Self {
            version,
            seen: Vec::new(),
            session: String::new(),
            prompts: 0,
            is_done: false,
        }
    }

    pub(crate) fn begin(&self) -> Value {
        let params = match self.version {
            1 => json!({"protocolVersion": 1, "clientCapabilities": {}}),
            _ => json!({"protocolVersion": 2, "capabilities": {},
                "info": {"name": "editor", "version": "1"}}),
        };
        request(1, "initialize", &params)
    }

    /// Takes a line and returns what the editor says to it.
    pub(crate) fn take(&mut self, line: &[u8]) -> Vec<Value> {
        let message: Value = serde_json::from_slice(line).unwrap();
        self.seen.push(message.clone());
        if let Some(method) = message["method"].as_str() {
            return match method {
                "session/request_permission" => vec![self.choose(&message)],
                "session/update" if self.is_end_of_turn(&message) && self.prompts < 3 => {
                    self.go_on()
                }
                _ => Vec::new(),
            };
        }
        match message["id"].as_i64().unwrap() {
            1 => {
                let params = json!({"cwd": "/work", "mcpServers": []});
                vec![request(2, "session/new", &params)]
            }
            2 => {
                self.session = message["result"]["sessionId"].as_str().unwrap().to_owned();
                self.go_on()
            }
            97 => vec![self.load()],
            98 => {
                let params = json!({"sessionId": self.session});
                vec![request(99, "session/close", &params)]
            }
            99 => {
                self.is_done = true;
                Vec::new()
            }
            _ if self.version == 1 => self.go_on(),
            _ => Vec::new(),
        }
    }

    fn is_end_of_turn(&self, message: &Value) -> bool {
        let update = &message["params"]["update"];
        self.version == 2 && update["state"] == "idle" && update["stopReason"].is_string()
    }

    fn choose(&self, question: &Value) -> Value {
        let option = match self.prompts {
            1 => "allow_once",
            _ => "reject_once",
        };
        let outcome = json!({"outcome": "selected", "optionId": option});
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"outcome": outcome}})
    }

    /// Sees everything once more, from the beginning.
    fn load(&self) -> Value {
        let mut params = json!({"sessionId": self.session, "cwd": "/work", "mcpServers": []});
        if self.version == 1 {
            return request(98, "session/load", &params);
        }
        params["replayFrom"] = json!({"type": "start"});
        request(98, "session/resume", &params)
    }

    fn go_on(&mut self) -> Vec<Value> {
        self.prompts += 1;
        let session = &self.session;
        if self.prompts > 2 {
            return vec![request(97, "session/close", &json!({"sessionId": session}))];
        }
        let text = json!([{"type": "text", "text": format!("prompt {}", self.prompts)}]);
        let params = json!({"sessionId": session, "prompt": text});
        let id = 10 + i64::try_from(self.prompts).unwrap();
        vec![request(id, "session/prompt", &params)]
    }
}

fn request(id: i64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A connection to a server.
pub(crate) struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl Wire {
    pub(crate) fn new(server: &Server) -> Self {
        let ((reader, writer), (input, output)) = memory::pair(64 * 1024);
        let server = server.clone();
        tokio::spawn(async move { server.over(input, output).await });
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
        }
    }

    pub(crate) async fn send(&mut self, line: &[u8]) {
        let line = [line, b"\n"].concat();
        // The server may have gone away.
        drop(self.writer.write_all(&line).await);
    }

    pub(crate) async fn read(&mut self) -> Option<Vec<u8>> {
        let line = self.lines.next_line().await.ok()??;
        Some(line.into_bytes())
    }
}

/// Where the connection is cut: after so many lines, counted in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) after: usize,
    /// Whether the last line for the hub is lost with the connection.
    pub(crate) loses_last: bool,
}

/// An editor, a shim and a connection.
pub(crate) struct Scene {
    pub(crate) editor: Editor,
    pub(crate) shim: Shim,
    pub(crate) passed: usize,
}

impl Scene {
    pub(crate) fn new(version: u64) -> Self {
        Self {
            editor: Editor::new(version),
            shim: Shim::new("test"),
            passed: 0,
        }
    }

    /// Begins: the editor speaks first, before there is a connection.
    pub(crate) fn begin(&mut self) -> Vec<Line> {
        let mut out = Vec::new();
        let first = self.editor.begin().to_string();
        self.shim.from_editor(first.as_bytes(), &mut out);
        out
    }

    /// Passes lines until the editor is done or the connection is cut; returns whether it was cut.
    pub(crate) async fn pass(
        &mut self,
        wire: &mut Wire,
        lines: Vec<Line>,
        cut: Option<Cut>,
    ) -> bool {
        let mut lines = VecDeque::from(lines);
        loop {
            while let Some(line) = lines.pop_front() {
                match line {
                    Line::Editor(line) => self.tell_editor(&line, &mut lines),
                    Line::Hub(line) => {
                        self.passed += 1;
                        let is_last = cut.is_some_and(|cut| cut.after == self.passed);
                        if !(is_last && cut.is_some_and(|cut| cut.loses_last)) {
                            wire.send(&line).await;
                        }
                        if is_last {
                            return true;
                        }
                    }
                }
            }
            if self.editor.is_done {
                return false;
            }
            let Some(line) = wire.read().await else {
                panic!("the server closed the connection");
            };
            let mut out = Vec::new();
            self.shim.from_hub(&line, &mut out);
            lines.extend(out);
            self.passed += 1;
            if cut.is_some_and(|cut| cut.after == self.passed) {
                // What it was sent by then it has.
                let mut unsent = VecDeque::new();
                for line in lines {
                    if let Line::Editor(line) = line {
                        self.tell_editor(&line, &mut unsent);
                    }
                }
                return true;
            }
        }
    }

    /// Gives the editor a line; what it says to it goes to the shim.
    pub(crate) fn tell_editor(&mut self, line: &[u8], lines: &mut VecDeque<Line>) {
        for said in self.editor.take(line) {
            let mut out = Vec::new();
            self.shim.from_editor(said.to_string().as_bytes(), &mut out);
            lines.extend(out);
        }
    }

    pub(crate) fn lose(&mut self) {
        let mut out = Vec::new();
        self.shim.lost(&mut out);
        let mut lines = VecDeque::new();
        for line in out {
            if let Line::Editor(line) = line {
                self.tell_editor(&line, &mut lines);
            }
        }
    }

    pub(crate) fn connect(&mut self) -> Vec<Line> {
        let mut out = Vec::new();
        self.shim.connected(&mut out);
        out
    }
}

/// Returns what an editor saw, with texts of one message that follow each other joined: how they are cut is for the hub. The
/// session is called `s`. Answers to prompts of version 2 come last: a prompt that is sent again is answered when everything was
/// shown that came of it by then.
pub(crate) fn joined(seen: &[Value]) -> Vec<Value> {
    let session = seen
        .iter()
        .find_map(|message| message["result"]["sessionId"].as_str());
    let seen = serde_json::to_string(seen).unwrap();
    let seen = renamed(&seen.replace(session.unwrap(), "s"));
    let seen: Vec<Value> = serde_json::from_str(&seen).unwrap();
    let mut out: Vec<Value> = Vec::new();
    for message in &seen {
        if let Some(last) = out.last_mut()
            && let Some(text) = follows(last, message)
        {
            let joined = last["params"]["update"]["content"]["text"]
                .as_str()
                .unwrap();
            let joined = format!("{joined}{text}");
            last["params"]["update"]["content"]["text"] = joined.into();
            continue;
        }
        out.push(message.clone());
    }
    let is_prompt = |message: &Value| message["result"]["messageId"].is_string();
    let (prompts, mut others): (Vec<Value>, Vec<Value>) = out.into_iter().partition(is_prompt);
    others.extend(prompts);
    others
}

/// Returns the text with ids that the hub makes up numbered in the order in which they come: a session that was closed and opened
/// again has others.
fn renamed(text: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let is_id = |part: &&str| {
        ["msg-e", "call-e", "ply/permission/"]
            .iter()
            .any(|head| part.starts_with(head))
    };
    let parts = text.split('"').map(|part| {
        if !is_id(&part) {
            return part.to_owned();
        }
        let known = names.iter().position(|name| *name == part);
        let number = known.unwrap_or_else(|| {
            names.push(part);
            names.len() - 1
        });
        format!("id {number}")
    });
    parts.collect::<Vec<_>>().join("\"")
}

fn follows<'a>(last: &Value, next: &'a Value) -> Option<&'a str> {
    let (last, next) = (&last["params"]["update"], &next["params"]["update"]);
    let kind = next["sessionUpdate"].as_str()?;
    let is_chunk = matches!(kind, "agent_message_chunk" | "agent_thought_chunk");
    let is_same = last["sessionUpdate"] == next["sessionUpdate"]
        && last["messageId"] == next["messageId"]
        && last["content"]["text"].is_string();
    next["content"]["text"]
        .as_str()
        .filter(|_| is_chunk && is_same)
}
