//! Where a scene is played: our end of the connection, as an agent.

mod house;
mod lines;
mod trial;

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::time::Duration;

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

pub(crate) use self::house::{House, bare, merge};
use super::report::{Note, beside};
use super::scene::is_of;
use crate::findings::Found;
use crate::passive;
use crate::peer::{Answer, Call, Held, Peer, Stopped};
use crate::recording::Frame;
use crate::rule::Side;

/// How long a client may take to come to its prompt.
const PROMPT_TIME_MAX: Duration = Duration::from_secs(15);
/// How long a person may take to say something.
const PERSON_PROMPT_TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a client may take to answer what it need not think about.
const PING_TIME_MAX: Duration = Duration::from_secs(3);
/// How long a client may take to stop what it does once it is interrupted.
const INTERRUPT_TIME_MAX: Duration = Duration::from_secs(4);
/// The same for a person.
const PERSON_TIME_MAX: Duration = Duration::from_secs(60);

/// Why a scene stops at a client that does not come to its prompt.
pub(super) const NO_PROMPT: &str = "the client sent no prompt";

/// Where a scene is played.
#[derive(Debug)]
pub(crate) struct Stage {
    peer: Peer,
    /// The version that is spoken.
    pub(crate) version: Version,
    /// What the agent offers and knows.
    pub(crate) house: House,
    pub(super) notes: Vec<Note>,
    /// The session of the prompt.
    pub(crate) session: String,
    /// The prompt that waits for its answer (version 1) or whose work goes on (version 2).
    pub(crate) prompt: Option<Held>,
    /// Whether requests that nobody knows are answered, once that is known.
    answers_pings: Option<bool>,
    /// The file of the report; wishes go beside it.
    out: Option<PathBuf>,
    /// Whether a person sits at the client.
    pub(crate) is_interactive: bool,
    /// A process that a terminal of the client runs, with the frame that shows it.
    pub(crate) left_running: Option<(u32, usize)>,
    /// Whether the client was interrupted, so that its end says nothing about it.
    pub(crate) is_interrupted: bool,
    /// What the client has to bear right now, and the rules that say so.
    burden: Option<(Vec<String>, String)>,
    numbers: u32,
}

impl Deref for Stage {
    type Target = Peer;

    fn deref(&self) -> &Peer {
        &self.peer
    }
}

impl DerefMut for Stage {
    fn deref_mut(&mut self) -> &mut Peer {
        &mut self.peer
    }
}

/// Returns the number of a version.
pub(crate) fn number(version: Version) -> u64 {
    match version {
        Version::V1 => 1,
        Version::V2 => 2,
    }
}

impl Stage {
    pub(super) fn new(mut peer: Peer, version: Version, out: Option<PathBuf>) -> Self {
        let house = House::new(version);
        house.open(&mut peer.service);
        peer.patience = PING_TIME_MAX;
        Self {
            peer,
            version,
            house,
            notes: Vec::new(),
            session: String::new(),
            prompt: None,
            answers_pings: None,
            out,
            is_interactive: false,
            left_running: None,
            is_interrupted: false,
            burden: None,
            numbers: 0,
        }
    }

    /// Returns a number that was not used before.
    pub(crate) fn fresh(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// Waits for the client's prompt, and does what is asked before it. It is not answered yet.
    pub(crate) async fn receive_prompt(&mut self) -> Result<(), Stopped> {
        let within = match self.is_interactive {
            true => PERSON_PROMPT_TIME_MAX,
            false => PROMPT_TIME_MAX,
        };
        let deadline = tokio::time::Instant::now() + within;
        loop {
            self.version = self.house.lock().version;
            if self.house.lock().is_other_version {
                let number = number(self.version);
                let why = format!("the client does not support version {number}");
                return Err(Stopped::Other(why));
            }
            self.bring_back().await?;
            if let Some(prompt) = self.peer.service.take_held("session/prompt") {
                let session = prompt.params.get("sessionId").and_then(Value::as_str);
                self.session = session.unwrap_or_default().to_owned();
                self.prompt = Some(prompt);
                return Ok(());
            }
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            let asked = self.peer.until(left, Frame::is_request).await?;
            let Some(asked) = asked else {
                return Err(Stopped::Other(NO_PROMPT.to_owned()));
            };
            if asked.method() == Some("session/new") {
                self.welcome_to_session(&asked).await?;
            }
        }
    }

    /// Waits for the prompt and begins its turn.
    pub(crate) async fn reach_prompt(&mut self) -> Result<(), Stopped> {
        self.receive_prompt().await?;
        self.begin_turn().await?;
        if self.answers_pings.is_none() {
            self.answers_pings = Some(self.ping().await?.is_some());
        }
        Ok(())
    }

    /// Tells the commands of a session that was made, as agents do once it is.
    async fn welcome_to_session(&mut self, asked: &Frame) -> Result<(), Stopped> {
        let answer = self.peer.seen_since(asked.number, |frame| {
            frame.is_answer() && frame.id() == asked.id()
        });
        let answer = answer.and_then(|answer| answer.json);
        let session = answer
            .as_ref()
            .and_then(|answer| answer.pointer("/result/sessionId"));
        if let (Version::V1, Some(session)) = (self.version, session.and_then(Value::as_str)) {
            let commands = json!([{"name": "plan", "description": "Makes a plan"}]);
            let update = json!({"sessionUpdate": "available_commands_update", "availableCommands": commands});
            self.update_in(session, update).await?;
        }
        Ok(())
    }

    /// Brings back sessions that the client asked for, with a replay where that is due.
    async fn bring_back(&mut self) -> Result<(), Stopped> {
        loop {
            let held = self.peer.service.take_held("session/load");
            let is_load = held.is_some();
            let held = held.or_else(|| self.peer.service.take_held("session/resume"));
            let Some(held) = held else { return Ok(()) };
            let session = held.params.get("sessionId").and_then(Value::as_str);
            let session = session.unwrap_or_default().to_owned();
            if is_load || held.params.get("replayFrom").is_some_and(Value::is_object) {
                for (kind, id, text) in [
                    ("user", "old-1", "What is here?"),
                    ("agent", "old-2", "Little."),
                ] {
                    let update = json!({
                        "sessionUpdate": format!("{kind}_message_chunk"),
                        "messageId": id,
                        "content": {"type": "text", "text": text}
                    });
                    self.update_in(&session, update).await?;
                }
            }
            if self.version == Version::V2 {
                let idle = json!({"sessionUpdate": "state_update", "state": "idle"});
                self.update_in(&session, idle).await?;
            }
            // Either is lawful in version 1, and the null is the one that clients stumble over.
            let result = match is_load {
                true => Value::Null,
                false => json!({}),
            };
            self.peer.respond(&held.id, result).await?;
        }
    }

    /// Begins the turn of the prompt: in version 2 it is accepted, shown and reported as running.
    pub(crate) async fn begin_turn(&mut self) -> Result<(), Stopped> {
        let Some(prompt) = self.prompt.clone().filter(|_| self.version == Version::V2) else {
            return Ok(());
        };
        let id = format!("user-{}", self.fresh());
        self.peer
            .respond(&prompt.id, json!({"messageId": id}))
            .await?;
        let content = prompt.params.get("prompt").cloned().unwrap_or(json!([]));
        let message = json!({"sessionUpdate": "user_message", "messageId": id, "content": content});
        self.update(message).await?;
        self.state("running").await.map(drop)
    }

    /// Ends the turn, and returns the frame that does.
    pub(crate) async fn end_turn(&mut self, reason: &str) -> Result<usize, Stopped> {
        let prompt = self.prompt.take();
        match (self.version, prompt) {
            (Version::V1, Some(prompt)) => {
                let result = json!({"stopReason": reason});
                self.peer.respond(&prompt.id, result).await
            }
            (Version::V2, _) => {
                let idle =
                    json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": reason});
                self.update(idle).await
            }
            (Version::V1, None) => Ok(0),
        }
    }

    /// Asks the client to cancel: the harness interrupts it, or the person at it is told to.
    ///
    /// Returns the frame of its `session/cancel`, none if it did not.
    pub(crate) async fn interrupt(&mut self) -> Result<Option<Frame>, Stopped> {
        let within = match self.is_interactive {
            true => PERSON_TIME_MAX,
            false => INTERRUPT_TIME_MAX,
        };
        if self.is_interactive {
            self.say("Please cancel this turn now.").await?;
        } else if let Some(out) = &self.out {
            let wish = std::fs::write(beside(out, "interrupt"), b"");
            wish.map_err(|error| Stopped::Other(error.to_string()))?;
            self.is_interrupted = true;
        }
        let is_cancel = |frame: &Frame| frame.method() == Some("session/cancel");
        self.peer.until(within, is_cancel).await
    }

    /// How long an answer may take that a person may have to give.
    pub(crate) fn decision_time(&self) -> Duration {
        match self.is_interactive {
            true => PERSON_TIME_MAX,
            false => Duration::from_secs(6),
        }
    }

    /// Waits for an answer that a person may have to give.
    pub(crate) async fn decision(&mut self, call: &Call) -> Result<Answer, Stopped> {
        let longer = self.decision_time();
        let patience = std::mem::replace(&mut self.peer.patience, longer);
        let answer = self.peer.answer(call).await;
        self.peer.patience = patience;
        answer
    }

    /// Waits for a frame that fits, as long as for an answer; none if there is none.
    pub(crate) async fn listen_for(
        &mut self,
        fits: impl Fn(&Frame) -> bool,
    ) -> Result<Option<Frame>, Stopped> {
        let patience = self.peer.patience;
        self.peer.until(patience, fits).await
    }

    /// Returns whether the client offers something, such as `/fs/readTextFile`.
    pub(crate) fn offers(&self, pointer: &str) -> bool {
        !matches!(
            self.house.lock().offer(pointer),
            Value::Null | Value::Bool(false)
        )
    }

    /// Notes that rules were kept or broken, those of the version that is spoken.
    pub(crate) fn judge(
        &mut self,
        rules: &[&str],
        is_kept: bool,
        frames: &[usize],
        saw: impl Into<String>,
    ) {
        let saw = saw.into();
        let (found, saw) = match is_kept {
            true => (Found::Kept, ""),
            false => (Found::Broken, saw.as_str()),
        };
        self.note(rules, found, frames, saw);
    }

    /// Notes that rules were kept or broken by an answer, which says what was seen.
    pub(crate) fn expect(&mut self, rules: &[&str], is_kept: bool, answer: &Answer) {
        self.judge(rules, is_kept, &answer.frames(), answer.said());
    }

    /// Notes what everything that the client sent so far shows.
    pub(crate) fn judge_messages(&mut self) {
        let judged = passive::judged(self.recording(), self.version);
        for finding in judged.findings {
            if finding.side == Side::Client {
                // A recording counts its frames from 0.
                let frames = finding.frames.iter().map(|frame| frame.saturating_sub(1));
                let frames: Vec<_> = frames.collect();
                self.judge(&[finding.rule], false, &frames, finding.what);
            }
        }
        for (rule, side) in judged.looked_at {
            if side == Side::Client {
                self.judge(&[rule], true, &[], "");
            }
        }
    }

    /// Notes that what rules are about is not offered.
    pub(crate) fn not_offered(&mut self, rules: &[&str], what: &str) {
        let saw = format!("the client does not offer {what}");
        self.note(rules, Found::NotOffered, &[], &saw);
    }

    /// Notes that it could not be found out.
    pub(crate) fn unclear(&mut self, rules: &[&str], why: &str) {
        self.note(rules, Found::Unclear, &[], why);
    }

    fn note(&mut self, rules: &[&str], found: Found, frames: &[usize], saw: &str) {
        for rule in rules.iter().filter(|rule| is_of(rule, self.version)) {
            self.notes.push(Note::new(rule, found, frames, saw));
        }
    }
}
