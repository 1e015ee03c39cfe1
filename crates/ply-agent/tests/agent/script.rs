//! Agents made of one closure, and turns that are followed to their end on either version.
//!
//! Every message that is read here is checked against the official types, and for paths that are
//! not absolute and lines that do not count from 1, so every test of a turn is a test of those.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use ply_agent::transcript::{Transcript, what_v1_can_carry};
use ply_agent::{About, Agent, Result, Server, Stop, Turn};
use serde_json::{Value, json};

use crate::fold::{v1_fold, v2_fold};
use crate::shapes::check;
use crate::support::{self, Client, update};

/// Longer than anything that still comes would take, under paused time.
const QUIET: Duration = Duration::from_secs(10);

pub(crate) type Work<'t> = Pin<Box<dyn Future<Output = Result<Stop>> + Send + 't>>;

/// An agent whose every turn runs one closure.
pub(crate) struct Script<F> {
    about: About,
    prompt: F,
}

pub(crate) fn script<F>(prompt: F) -> Script<F>
where
    F: for<'t> Fn(&'t mut Turn) -> Work<'t> + Send + Sync + 'static,
{
    let about = About::new("script", "1");
    Script { about, prompt }
}

impl<F> Script<F> {
    pub(crate) fn about(mut self, about: About) -> Self {
        self.about = about;
        self
    }
}

impl<F> Agent for Script<F>
where
    F: for<'t> Fn(&'t mut Turn) -> Work<'t> + Send + Sync + 'static,
{
    fn about(&self) -> About {
        self.about.clone()
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        (self.prompt)(turn).await
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V2,
}

pub(crate) const BOTH: [Version; 2] = [Version::V1, Version::V2];

/// A client with one session, and everything it has read since the session was made.
pub(crate) struct Talk {
    pub(crate) client: Client,
    pub(crate) version: Version,
    pub(crate) session: String,
    pub(crate) log: Vec<Value>,
    /// How long the log was when each prompt was sent.
    marks: HashMap<i64, usize>,
}

/// Connects a client and has it load a session that there is already.
pub(crate) async fn join(version: Version, server: &Server, session: &str) -> Talk {
    let (mut client, method) = match version {
        Version::V1 => {
            let shows = json!({"session": {"notices": {}, "configOptions": {"boolean": {}}}});
            (support::v1_with(server, shows).await, "session/load")
        }
        Version::V2 => (support::v2_with(server, json!({})).await, "session/resume"),
    };
    let params = json!({"sessionId": session, "cwd": "/work", "mcpServers": [],
        "replayFrom": {"type": "start"}});
    let load = client.ask(method, params).await;
    let mut talk = Talk {
        client,
        version,
        session: session.to_owned(),
        log: Vec::new(),
        marks: HashMap::new(),
    };
    let answer = talk.answered(load).await;
    assert!(answer["result"].is_object(), "{answer}");
    talk
}

/// A turn that is over.
pub(crate) struct Ended {
    /// What came from the prompt to the end.
    pub(crate) seen: Vec<Value>,
    /// The stop reason; `error` also stands for a version 1 prompt that failed.
    pub(crate) stop: String,
    /// The error of a turn that failed.
    pub(crate) error: Value,
}

/// Connects a client and makes a session.
pub(crate) async fn talk(version: Version, agent: impl Agent) -> Talk {
    talk_with(version, &ply_agent::serve(agent), json!({})).await
}

/// The same for a client of `server` with these capabilities.
pub(crate) async fn talk_with(version: Version, server: &Server, capabilities: Value) -> Talk {
    let mut client = match version {
        Version::V1 => support::v1_with(server, capabilities).await,
        Version::V2 => support::v2_with(server, capabilities).await,
    };
    let session = client.session().await;
    Talk {
        client,
        version,
        session,
        log: Vec::new(),
        marks: HashMap::new(),
    }
}

impl Talk {
    /// Reads the next message.
    pub(crate) async fn next(&mut self) -> Value {
        let message = self.client.next().await;
        let message = message.unwrap_or_else(|| panic!("the agent left after {:#?}", self.log));
        check(self.version, &message);
        self.log.push(message.clone());
        message
    }

    /// Reads up to and including the message that `is` looks for, and returns it.
    pub(crate) async fn until(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await;
            if is(&message) {
                return message;
            }
        }
    }

    /// Reads up to and including the next message with this method.
    pub(crate) async fn method(&mut self, method: &str) -> Value {
        self.until(|message| message["method"] == method).await
    }

    /// Reads until the agent has said `text` in one chunk.
    pub(crate) async fn hears(&mut self, text: &str) {
        self.until(|message| update(message)["content"]["text"] == text)
            .await;
    }

    /// Reads up to and including the answer to a request of ours.
    pub(crate) async fn answered(&mut self, id: i64) -> Value {
        if let Some(answer) = self.answer_to(id) {
            return answer.clone();
        }
        self.until(|message| is_answer(message, id)).await
    }

    pub(crate) async fn prompt(&mut self, text: &str) -> i64 {
        self.prompt_with(json!([{"type": "text", "text": text}]))
            .await
    }

    pub(crate) async fn prompt_with(&mut self, content: Value) -> i64 {
        let params = json!({"sessionId": self.session, "prompt": content});
        let id = self.client.ask("session/prompt", params).await;
        self.marks.insert(id, self.log.len());
        id
    }

    pub(crate) async fn cancel(&mut self) {
        self.client.cancel(&self.session).await;
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.client.answer(request, result).await;
    }

    /// Chooses an option of a permission request.
    pub(crate) async fn choose(&mut self, request: &Value, option: &str) {
        let outcome = json!({"outcome": "selected", "optionId": option});
        self.answer(request, json!({"outcome": outcome})).await;
    }

    /// Sends a prompt and reads to the end of its turn.
    pub(crate) async fn turn(&mut self, text: &str) -> Ended {
        let prompt = self.prompt(text).await;
        self.end(prompt).await
    }

    /// Reads to the end of a prompt's turn: its answer on version 1, the idle after its answer on
    /// version 2.
    pub(crate) async fn end(&mut self, prompt: i64) -> Ended {
        loop {
            if let Some(ended) = self.ended(prompt) {
                return ended;
            }
            let may_end = |message: &Value| {
                is_answer(message, prompt) || update(message)["stopReason"].is_string()
            };
            self.until(may_end).await;
        }
    }

    fn ended(&self, prompt: i64) -> Option<Ended> {
        let from = self.marks[&prompt];
        let log = &self.log[from..];
        let answered = log.iter().position(|message| is_answer(message, prompt))?;
        let (at, stop, error) = match self.version {
            Version::V1 => {
                let answer = &log[answered];
                (answered, &answer["result"]["stopReason"], &answer["error"])
            }
            Version::V2 => {
                let answer = &log[answered];
                assert!(answer["result"]["messageId"].is_string(), "{answer}");
                let mut after = log.iter().skip(answered);
                let idle = after.position(|message| update(message)["stopReason"].is_string())?;
                let at = answered + idle;
                let idle = update(&log[at]);
                (at, &idle["stopReason"], &idle["error"])
            }
        };
        let seen = log[..=at].to_vec();
        Some(Ended {
            seen,
            stop: stop.as_str().unwrap_or("error").to_owned(),
            error: error.clone(),
        })
    }

    fn answer_to(&self, id: i64) -> Option<&Value> {
        self.log.iter().find(|message| is_answer(message, id))
    }

    /// Returns how many answers a request got so far.
    pub(crate) fn answers(&self, id: i64) -> usize {
        let log = self.log.iter();
        log.filter(|message| is_answer(message, id)).count()
    }

    /// Returns what the client knows of the session, as far as both versions can carry it. A client of
    /// version 1 is not told its own prompts.
    pub(crate) fn knows(&self) -> Transcript {
        what_v1_can_carry(&match self.version {
            Version::V1 => v1_fold(&self.log, &self.session),
            Version::V2 => v2_fold(&self.log, &self.session),
        })
    }

    /// Forgets what was read, where a test reads very much.
    pub(crate) fn forget(&mut self) {
        self.log.clear();
        self.marks.clear();
    }

    /// Asserts that nothing more comes.
    pub(crate) async fn is_quiet(&mut self) {
        if let Ok(message) = tokio::time::timeout(QUIET, self.client.next()).await {
            panic!("nothing was to come, but {message:?}");
        }
    }

    /// Reads until nothing more comes.
    pub(crate) async fn settle(&mut self) {
        while let Ok(message) = tokio::time::timeout(QUIET, self.client.next()).await {
            let message = message.expect("the agent stays");
            check(self.version, &message);
            self.log.push(message);
        }
    }

    /// Asserts that nothing more comes but updates of this kind.
    pub(crate) async fn is_quiet_but(&mut self, kind: &str) {
        while let Ok(message) = tokio::time::timeout(QUIET, self.client.next()).await {
            let message = message.expect("the agent stays");
            assert_eq!(update(&message)["sessionUpdate"], kind, "{message}");
            self.log.push(message);
        }
    }

    /// Returns the updates of one tool call that were read, oldest first.
    pub(crate) fn call(&self, title: &str) -> Vec<Value> {
        let updates = self.log.iter().map(update);
        let named = updates.clone().find(|update| update["title"] == title);
        let id = &named.expect("a tool call of this title")["toolCallId"];
        updates
            .filter(|update| update["toolCallId"] == *id)
            .cloned()
            .collect()
    }
}

/// Returns the last status that the updates of a tool call report.
pub(crate) fn status(call: &[Value]) -> &str {
    let mut statuses = call.iter().rev();
    let status = statuses.find_map(|update| update["status"].as_str());
    status.unwrap_or("pending")
}

fn is_answer(message: &Value, id: i64) -> bool {
    message["id"] == id && message.get("method").is_none()
}
