//! One life of the agent: the witness asks, hears, and notes what it was told.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};

use crate::Version;
use crate::failure::{Failure, Result};
use crate::fault::{Board, Fault};
use crate::process::{Next, Process};
use crate::replay;
use crate::scratch::Scratch;
use crate::script::{Script, Tag, tokens_in};
use crate::told::{Fate, Told};
use crate::tools::Tools;
use crate::wire::{self, Stop};

/// One life of the agent, from its start to its end.
#[derive(Debug)]
pub(crate) struct Life<'a> {
    process: Process,
    pub(crate) version: Version,
    pub(crate) told: &'a mut Told,
    asked: HashMap<i64, Asked>,
    next_id: i64,
    /// What is shown of sessions that are being opened.
    replays: HashMap<u32, Vec<Value>>,
    /// Turns that have not ended, by session, in order.
    running: HashMap<u32, VecDeque<Tag>>,
    /// Turns of which it was told that they failed. What is known of them later is shown when the disk works again.
    failed: HashSet<Tag>,
    /// Turns whose questions get no answer.
    pub(crate) ignored: HashSet<Tag>,
    /// Lines that were heard.
    pub(crate) lines: u64,
    /// Turns that were compared with what was told of them.
    pub(crate) compared: usize,
}

/// What the agent was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Initialize,
    New,
    Load(u32),
    Prompt(Tag),
    Delete(u32),
    List,
}

/// What was heard.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Something that is noted and needs no more.
    Something,
    /// Nothing, for as long as was asked for.
    Nothing,
    /// The agent is initialized.
    Ready,
    /// There is a new session.
    Made(u32),
    /// A session was opened and compared.
    Shown(u32),
    /// A session was deleted.
    Deleted,
    /// The ids of all sessions.
    Listed(Vec<String>),
    /// A question was put that gets no answer.
    Ignored(Tag),
    /// A turn ended.
    Ended(Tag, Stop),
    /// Something was refused, with these words.
    Refused(Asked, String),
    /// The agent is gone, and all that it wrote was heard.
    Gone,
}

impl<'a> Life<'a> {
    /// Starts an agent and asks it to be ready.
    pub(crate) fn start(
        tools: &Tools,
        scratch: &Scratch,
        version: Version,
        fault: Option<Fault>,
        told: &'a mut Told,
    ) -> Result<Self> {
        let mut life = Self {
            process: Process::start(tools, scratch, fault)?,
            version,
            told,
            asked: HashMap::new(),
            next_id: 0,
            replays: HashMap::new(),
            running: HashMap::new(),
            failed: HashSet::new(),
            ignored: HashSet::new(),
            lines: 0,
            compared: 0,
        };
        life.ask(Asked::Initialize, "initialize", &wire::initialize(version));
        Ok(life)
    }

    pub(crate) fn board(&self) -> &Board {
        &self.process.board
    }

    fn ask(&mut self, what: Asked, method: &str, params: &Value) {
        self.next_id += 1;
        self.asked.insert(self.next_id, what);
        self.process
            .write(&wire::request(self.next_id, method, params));
    }

    pub(crate) fn make_session(&mut self) {
        self.told.strays += 1;
        self.ask(Asked::New, "session/new", &wire::new_session());
    }

    pub(crate) fn load(&mut self, session: u32) -> Result<()> {
        let (method, params) = wire::load(self.version, &self.told.session(session)?.id);
        self.replays.insert(session, Vec::new());
        self.ask(Asked::Load(session), method, &params);
        Ok(())
    }

    pub(crate) fn prompt(&mut self, script: Script) -> Result<()> {
        let tag = script.tag;
        let params = wire::prompt(&self.told.session(tag.session)?.id, &script.to_string());
        self.told.sent(script)?;
        self.running.entry(tag.session).or_default().push_back(tag);
        self.ask(Asked::Prompt(tag), "session/prompt", &params);
        Ok(())
    }

    pub(crate) fn cancel(&mut self, tag: Tag) -> Result<()> {
        self.told.turn(tag)?.cancelled = true;
        let params = wire::of_session(&self.told.session(tag.session)?.id);
        self.process
            .write(&wire::notification("session/cancel", &params));
        Ok(())
    }

    pub(crate) fn delete(&mut self, session: u32) -> Result<()> {
        let gone = self.told.session(session)?;
        gone.fate = Fate::Leaving;
        let params = wire::of_session(&gone.id);
        self.ask(Asked::Delete(session), "session/delete", &params);
        Ok(())
    }

    pub(crate) fn list(&mut self) {
        self.ask(Asked::List, "session/list", &json!({}));
    }

    /// Returns whether an answer is still to come, other than to a prompt.
    pub(crate) fn awaits(&self) -> bool {
        let mut asked = self.asked.values();
        asked.any(|asked| !matches!(asked, Asked::Prompt(_)))
    }

    /// Returns the turns of a session that have not ended.
    pub(crate) fn running(&self, session: u32) -> impl Iterator<Item = Tag> {
        self.running.get(&session).into_iter().flatten().copied()
    }

    /// Hears the next line.
    pub(crate) fn hear(&mut self) -> Result<Heard> {
        match self.process.next()? {
            Some(line) => self.take(&line),
            None => Ok(Heard::Gone),
        }
    }

    /// Hears the next line, if it comes within the time.
    pub(crate) fn hear_within(&mut self, time: Duration) -> Result<Heard> {
        match self.process.next_within(time) {
            Next::Line(line) => self.take(&line),
            Next::Nothing => Ok(Heard::Nothing),
            Next::End => Ok(Heard::Gone),
        }
    }

    /// Kills the agent, and hears all that it had said.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.process.kill()?;
        self.hear_out()
    }

    /// Hears everything up to the end of the agent, which is certain to come.
    pub(crate) fn hear_out(&mut self) -> Result<()> {
        while !matches!(self.hear()?, Heard::Gone) {}
        self.process.ended()?;
        Ok(())
    }

    /// Tells the agent that nothing more will come.
    pub(crate) fn hang_up(&mut self) {
        self.process.hang_up();
    }

    /// Hangs up, and makes sure that the agent ends by itself and well.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.hang_up();
        while !matches!(self.hear()?, Heard::Gone) {}
        let status = self.process.ended()?;
        match status.success() {
            true => Ok(()),
            false => Err(Failure::other(format!("the agent ended with {status}"))),
        }
    }

    fn take(&mut self, line: &str) -> Result<Heard> {
        self.lines += 1;
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            if line.ends_with('\n') {
                return Err(Failure::other(format!("the agent wrote {line:?}")));
            }
            // Cut off by a kill. It was told as far as it goes.
            self.told.live(line)?;
            return Ok(Heard::Something);
        };
        match message.get("method").and_then(Value::as_str) {
            Some("session/update") => self.update(line, message),
            Some("session/request_permission") => self.question(line, &message),
            // A question that needs no answer any more.
            Some("$/cancel_request") => Ok(Heard::Something),
            Some(method) => Err(Failure::other(format!("the agent asks for {method}"))),
            None => self.answer(&message),
        }
    }

    fn session_of(&self, message: &Value) -> Result<u32> {
        let id = wire::text(message, "/params/sessionId");
        let unknown = || Failure::other("something is told of a session that was not made yet");
        self.told.by_id(&id).ok_or_else(unknown)
    }

    fn update(&mut self, line: &str, message: Value) -> Result<Heard> {
        let number = self.session_of(&message)?;
        let session = self.told.session(number)?;
        for id in ["/params/update/messageId", "/params/update/toolCallId"] {
            if let Some(id) = message.pointer(id).and_then(Value::as_str) {
                session.note_id(id, line)?;
            }
        }
        if let Some(replay) = self.replays.get_mut(&number) {
            replay.push(message);
            self.told.shown(line)?;
            return Ok(Heard::Something);
        }
        self.is_of_running_turn(number, line)?;
        self.told.live(line)?;
        match wire::idle(&message) {
            Some(stop) => {
                let running = self.running.entry(number).or_default();
                // The end of a turn that failed may be told when the next prompt is not accepted yet.
                let next = running.front().copied();
                let is_accepted = match next {
                    Some(tag) => self.told.turn(tag)?.accepted,
                    None => false,
                };
                match next
                    .filter(|_| is_accepted)
                    .and_then(|_| running.pop_front())
                {
                    Some(tag) => self.ended(tag, stop),
                    None => Ok(Heard::Something),
                }
            }
            None => Ok(Heard::Something),
        }
    }

    /// Makes sure that what is told belongs to a turn of this life that has not ended.
    fn is_of_running_turn(&self, session: u32, line: &str) -> Result<()> {
        let runs = |tag: Tag| self.running(session).any(|running| running == tag);
        let is_known = |tag: Tag| runs(tag) || self.failed.contains(&tag);
        match tokens_in(line).find(|token| !is_known(token.tag)) {
            Some(token) => Err(Failure::other(format!(
                "{token} is told of a turn that is over"
            ))),
            None => Ok(()),
        }
    }

    fn ended(&mut self, tag: Tag, stop: Stop) -> Result<Heard> {
        self.told.ended(tag, stop.clone())?;
        if let Stop::Failed(_) = &stop {
            self.failed.insert(tag);
        }
        Ok(Heard::Ended(tag, stop))
    }

    fn question(&mut self, line: &str, message: &Value) -> Result<Heard> {
        let number = self.session_of(message)?;
        self.is_of_running_turn(number, line)?;
        self.told.live(line)?;
        let token = tokens_in(line).max();
        let token = token.ok_or_else(|| Failure::other("a question of no turn"))?;
        if self.ignored.contains(&token.tag) {
            return Ok(Heard::Ignored(token.tag));
        }
        let turn = self.told.turn(token.tag)?;
        let choice = turn.script.answer(token.atom);
        let choice = choice.ok_or_else(|| Failure::other(format!("{token} is no question")))?;
        turn.answered.push(token.atom);
        let id = message.get("id").unwrap_or(&Value::Null);
        self.process.write(&wire::permission(id, choice));
        Ok(Heard::Something)
    }

    fn answer(&mut self, message: &Value) -> Result<Heard> {
        let id = message.get("id").and_then(Value::as_i64);
        let asked = id.and_then(|id| self.asked.remove(&id));
        let asked = asked.ok_or_else(|| Failure::other("an answer to nothing, or a second one"))?;
        let result = match (message.get("result"), message.get("error")) {
            (Some(result), _) => Ok(result),
            (None, error) => Err(error.unwrap_or(&Value::Null).to_string()),
        };
        match (asked, result) {
            (Asked::Prompt(tag), Ok(_)) if self.version == Version::V2 => {
                self.told.turn(tag)?.accepted = true;
                Ok(Heard::Something)
            }
            (Asked::Prompt(tag), result) => {
                self.running
                    .entry(tag.session)
                    .or_default()
                    .retain(|open| *open != tag);
                match result {
                    Ok(result) => self.ended(tag, Stop::Done(wire::text(result, "/stopReason"))),
                    Err(words) => self.ended(tag, Stop::Failed(words)),
                }
            }
            (Asked::Load(number), result) => {
                let messages = self.replays.remove(&number).unwrap_or_default();
                if let Err(words) = result {
                    return Ok(Heard::Refused(asked, words));
                }
                let session = self.told.session(number)?;
                self.compared += replay::compare(session, &messages, self.version)?;
                Ok(Heard::Shown(number))
            }
            (Asked::New, Ok(result)) => {
                self.told.strays -= 1;
                Ok(Heard::Made(
                    self.told.made(wire::text(result, "/sessionId")),
                ))
            }
            (_, Err(words)) => Ok(Heard::Refused(asked, words)),
            (Asked::Initialize, Ok(_)) => Ok(Heard::Ready),
            (Asked::Delete(number), Ok(_)) => {
                self.told.session(number)?.fate = Fate::Gone;
                Ok(Heard::Deleted)
            }
            (Asked::List, Ok(result)) => {
                let sessions = result.get("sessions").and_then(Value::as_array);
                let ids = sessions.into_iter().flatten();
                let ids = ids.map(|session| wire::text(session, "/sessionId"));
                Ok(Heard::Listed(ids.collect()))
            }
        }
    }
}
