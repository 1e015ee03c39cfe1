//! One client of the shared session. It does as little as possible, so that the agent is what is measured: lines on a blocking
//! socket, and a fold.

use std::io::{Read, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::fold::{Fold, Transcript, Update};
use crate::Result;
use crate::peer::floor::encode_call;
use crate::peer::floor::lines::Lines;

/// How often a slow client reads a byte.
const BYTE_EVERY: Duration = Duration::from_secs(1);
/// How often it looks whether it may read as fast as the others.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The protocol a client speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

/// A client whose connection is greeted, with a session that is open here.
pub(super) struct Client {
    lines: Lines<Source>,
    stream: UnixStream,
    version: Version,
    session: String,
    next_id: u64,
    fold: Fold,
}

/// What came of reading a turn to its end.
pub(super) struct Seen {
    pub(super) transcript: Transcript,
    /// Updates as this client got them; several chunks may come as one.
    pub(super) updates: u64,
    pub(super) ended: Instant,
}

#[derive(Deserialize)]
struct Line<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Option<Update<'a>>,
}

impl Client {
    /// Connects and opens a new session.
    pub(super) fn open(socket: &Path, version: Version) -> Result<Self> {
        let mut client = Client::greet(socket, version)?;
        let setup = json!({ "cwd": "/", "mcpServers": [] });
        let opened: Value = serde_json::from_str(&client.call("session/new", &setup)?)?;
        let id = opened.get("sessionId").and_then(Value::as_str);
        client.session = id.ok_or("a session has no id")?.to_owned();
        Ok(client)
    }

    /// Connects and attaches to the session of another client.
    pub(super) fn attach(socket: &Path, version: Version, other: &Client) -> Result<Self> {
        let mut client = Client::greet(socket, version)?;
        client.session.clone_from(&other.session);
        let method = match version {
            Version::V1 => "session/load",
            Version::V2 => "session/resume",
        };
        let setup = json!({ "sessionId": client.session, "cwd": "/", "mcpServers": [] });
        client.call(method, &setup)?;
        Ok(client)
    }

    fn greet(socket: &Path, version: Version) -> Result<Self> {
        let stream = UnixStream::connect(socket)?;
        let source = Source {
            stream: stream.try_clone()?,
            slow: None,
            slow_bytes: 0,
        };
        let mut client = Client {
            lines: Lines::new(source),
            stream,
            version,
            session: String::new(),
            next_id: 0,
            fold: Fold::default(),
        };
        let hello = match version {
            Version::V1 => json!({ "protocolVersion": 1, "clientCapabilities": {} }),
            Version::V2 => json!({
                "protocolVersion": 2,
                "info": { "name": "ply-bench", "version": "0.1.0" },
                "capabilities": {},
            }),
        };
        client.call("initialize", &hello)?;
        Ok(client)
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// Has it read one byte a second for as long as `slow` says so.
    pub(super) fn slow_down(&mut self, slow: Arc<AtomicBool>) {
        self.lines.source().slow = Some(slow);
    }

    /// Returns how many bytes it has read slowly.
    pub(super) fn slow_bytes(&mut self) -> u64 {
        self.lines.source().slow_bytes
    }

    /// Sends a prompt and waits for nothing.
    pub(super) fn prompt(&mut self, text: &str) -> Result<()> {
        let prompt = json!([{ "type": "text", "text": text }]);
        let params = json!({ "sessionId": self.session, "prompt": prompt });
        self.send("session/prompt", &params)
    }

    /// Reads until the agent has said its last words.
    pub(super) fn read_turn(&mut self) -> Result<Seen> {
        while !self.fold.is_complete {
            self.next()?;
        }
        let fold = std::mem::take(&mut self.fold);
        Ok(Seen {
            updates: fold.updates,
            ended: Instant::now(),
            transcript: fold.finish(),
        })
    }

    fn send(&mut self, method: &str, params: &Value) -> Result<()> {
        self.next_id += 1;
        let mut line = Vec::new();
        encode_call(&mut line, self.next_id, method, params)?;
        Ok(self.stream.write_all(&line)?)
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<String> {
        self.send(method, params)?;
        loop {
            let id = self.next_id;
            match self.next()? {
                Some((answered, result)) if answered == id => return Ok(result),
                _ => {}
            }
        }
    }

    /// Takes the next message; returns the id and the result if it is an answer.
    fn next(&mut self) -> Result<Option<(u64, String)>> {
        let line: Line<'_> = serde_json::from_slice(self.lines.expect_next()?)?;
        if let Some(error) = line.error {
            return Err(format!("the agent answered with an error: {}", error.get()).into());
        }
        if let Some(update) = line.params.and_then(|params| params.update) {
            self.fold.apply(&update)?;
        }
        Ok(line
            .id
            .zip(line.result.map(|result| result.get().to_owned())))
    }
}

/// The socket, read by the byte while its client is slow.
struct Source {
    stream: UnixStream,
    slow: Option<Arc<AtomicBool>>,
    slow_bytes: u64,
}

impl Read for Source {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let start = Instant::now();
        while self
            .slow
            .as_ref()
            .is_some_and(|slow| slow.load(Ordering::Acquire))
        {
            if start.elapsed() >= BYTE_EVERY
                && let Some(byte) = room.get_mut(..1)
            {
                self.slow_bytes += 1;
                return self.stream.read(byte);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        self.stream.read(room)
    }
}
