//! What every message of a client shows, whatever the scene: its habits.

mod envelope;
mod gates;
mod lifecycle;
mod prompts;
mod rules;
mod setup;

use std::collections::{BTreeMap, BTreeSet};

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::Value;

use super::scene::{Scene, Start, Topic, is_of};
use super::stage::{Stage, bare};
use crate::peer::Stopped;
use crate::recording::Frame;

pub(super) const TOPIC: Topic = Topic {
    rules: rules::v1::RULES,
    scenes: &[
        Scene {
            name: "plain-turn",
            start: Start::AtPrompt,
            rules: rules::EVERYWHERE,
            leaves: false,
            run: |stage| Box::pin(plain_turn(stage)),
        },
        Scene {
            name: "bare-agent",
            start: Start::AtBeginning,
            rules: rules::GATED,
            leaves: false,
            run: |stage| Box::pin(bare_agent(stage)),
        },
    ],
};

/// The same of version 2, which the same scenes show.
pub(super) const TOPIC_V2: Topic = Topic {
    rules: rules::v2::RULES,
    scenes: &[],
};

/// A turn as it should be. What the client is like is seen from its messages.
async fn plain_turn(stage: &mut Stage) -> Result<(), Stopped> {
    stage.say("Hello. All is as it should be.").await?;
    stage
        .tool_call("plain-1", serde_json::json!({"status": "in_progress"}))
        .await?;
    stage
        .tool_update("plain-1", serde_json::json!({"status": "completed"}))
        .await?;
    // Nothing is lost by hearing what the client does about it.
    stage.listen(std::time::Duration::from_millis(50)).await?;
    stage.end_turn("end_turn").await.map(drop)
}

/// An agent that offers no more than it must: whatever is optional is not to be called.
async fn bare_agent(stage: &mut Stage) -> Result<(), Stopped> {
    let welcome = bare(stage.version);
    stage.house.lock().welcome = welcome;
    stage.house.lock().setup = serde_json::json!({});
    stage.reach_prompt().await?;
    let saw = "";
    stage.judge(&["V1-INIT-12", "V2-INIT-21"], true, &[], saw);
    stage.say("Hello from an agent that can do little.").await?;
    stage.end_turn("end_turn").await.map(drop)
}

/// Looks through everything that the client sent so far, and judges it.
pub(super) fn judge(stage: &mut Stage) {
    let version = stage.version;
    let recording = stage.recording().clone();
    let tally = recording.with_frames(|frames| look_through(version, frames));
    for (rule, seen) in tally.0 {
        match seen {
            Seen::Kept(frames) => stage.judge(&[rule], true, &frames, ""),
            Seen::Broken(frames, saw) => stage.judge(&[rule], false, &frames, saw),
        }
    }
}

enum Seen {
    Kept(Vec<usize>),
    Broken(Vec<usize>, String),
}

/// What was seen of each rule: the first break, or else the first time that it was kept.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, Seen>);

impl Tally {
    fn see(&mut self, rule: &'static str, is_kept: bool, frames: &[usize], saw: &str) {
        let known = self.0.get(rule);
        match (known, is_kept) {
            (None, true) => self.0.insert(rule, Seen::Kept(frames.to_vec())),
            (None | Some(Seen::Kept(_)), false) => {
                let saw = ply_rpc::clean::for_display(saw.as_bytes(), 300);
                self.0.insert(rule, Seen::Broken(frames.to_vec(), saw))
            }
            _ => None,
        };
    }
}

/// A request that waits for its answer.
#[derive(Debug, Clone)]
struct Waiting {
    frame: usize,
    method: String,
    params: Value,
}

/// What is known while the messages are looked through in order.
struct Watcher {
    version: Version,
    tally: Tally,
    /// Requests of the client, by their id as JSON text.
    theirs: BTreeMap<String, Waiting>,
    /// Our requests, by their id as JSON text.
    ours: BTreeMap<String, Waiting>,
    /// Our requests that were answered.
    answered: BTreeSet<String>,
    /// What we answered to `initialize`, once we did.
    welcome: Option<Value>,
    /// Sessions that the client made or brought back.
    sessions: BTreeSet<String>,
    /// Cursors that we gave.
    cursors: BTreeSet<String>,
    /// Tool calls and terminals that we said can be cancelled.
    cancellable: BTreeSet<String>,
}

fn look_through(version: Version, frames: &[Frame]) -> Tally {
    let mut watcher = Watcher {
        version,
        tally: Tally::default(),
        theirs: BTreeMap::new(),
        ours: BTreeMap::new(),
        answered: BTreeSet::new(),
        welcome: None,
        sessions: BTreeSet::new(),
        cursors: BTreeSet::new(),
        cancellable: BTreeSet::new(),
    };
    for frame in frames {
        match frame.direction {
            Direction::ToAgent => watcher.heard(frame),
            Direction::ToClient => watcher.said(frame),
        }
    }
    watcher.tally
}

impl Watcher {
    /// Looks at a message of the client.
    fn heard(&mut self, frame: &Frame) {
        if !self.envelope(frame) {
            return;
        }
        if let Some(method) = frame.method() {
            let params = frame.params().cloned().unwrap_or_default();
            self.lifecycle(frame.number, method, &params);
            self.gates(frame.number, method, &params);
            self.setup(frame.number, method, &params);
            self.prompts(frame.number, method, &params);
            self.members(frame.number, method, &params);
        }
        if frame.is_request() {
            let waiting = Waiting {
                frame: frame.number,
                method: frame.method().unwrap_or_default().to_owned(),
                params: frame.params().cloned().unwrap_or_default(),
            };
            self.theirs.insert(key(frame), waiting);
        }
    }

    /// Takes in a message of ours.
    fn said(&mut self, frame: &Frame) {
        if frame.is_request() {
            let waiting = Waiting {
                frame: frame.number,
                method: frame.method().unwrap_or_default().to_owned(),
                params: frame.params().cloned().unwrap_or_default(),
            };
            self.answered.remove(&key(frame));
            self.ours.insert(key(frame), waiting);
        }
        if let Some(update) = frame.update() {
            self.note_cancellable(update);
        }
        if !frame.is_answer() {
            return;
        }
        let Some(asked) = self.theirs.remove(&key(frame)) else {
            return;
        };
        let result = frame.json.as_ref().and_then(|json| json.get("result"));
        let Some(result) = result else { return };
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        match asked.method.as_str() {
            "initialize" => self.welcome = Some(result.clone()),
            "session/new" => self.sessions.extend(text(result.get("sessionId"))),
            "session/load" | "session/resume" => {
                self.sessions.extend(text(asked.params.get("sessionId")));
            }
            "session/list" => self.cursors.extend(text(result.get("nextCursor"))),
            _ => {}
        }
    }

    fn note_cancellable(&mut self, update: &Value) {
        let id = update
            .get("toolCallId")
            .or_else(|| update.get("terminalId"));
        let (Some(id), Some(capabilities)) =
            (id.and_then(Value::as_str), update.get("capabilities"))
        else {
            return;
        };
        match capabilities.get("cancel").is_some_and(Value::is_object) {
            true => self.cancellable.insert(id.to_owned()),
            false => self.cancellable.remove(id),
        };
    }

    /// Notes what was seen of rules, those of the version that is spoken.
    fn see(&mut self, rules: &[&'static str], is_kept: bool, frames: &[usize], saw: &str) {
        for rule in rules.iter().filter(|rule| is_of(rule, self.version)) {
            self.tally.see(rule, is_kept, frames, saw);
        }
    }

    /// Returns a member of what we answered to `initialize`, by its pointer in either version; null if it is not there.
    fn offered(&self, v1: &str, v2: &str) -> Value {
        let pointer = match self.version {
            Version::V1 => v1,
            Version::V2 => v2,
        };
        let welcome = self.welcome.as_ref();
        let found = welcome.and_then(|welcome| welcome.pointer(pointer));
        found.cloned().unwrap_or_default()
    }

    /// Returns whether we offer something: a `true` in version 1, an object in both.
    fn offers(&self, v1: &str, v2: &str) -> bool {
        match self.offered(v1, v2) {
            Value::Bool(is_offered) => is_offered && self.version == Version::V1,
            Value::Object(_) => true,
            _ => false,
        }
    }
}

/// Returns an id as a key: numbers and texts that look alike are not the same.
fn key(frame: &Frame) -> String {
    frame.id().map(Value::to_string).unwrap_or_default()
}
