//! A turn as seen from outside: a prompt, what comes of it, and how it ends.

mod calls;
mod permit;
mod place;
mod signs;

use std::time::Duration;

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::{Value, json};
use tokio::time::Instant;

pub(super) use self::calls::{Life, asked_about, lives};
pub(super) use self::permit::{Choice, allowed, offers, permit};
pub(super) use self::place::Place;
pub(super) use self::signs::{is_of_turn, is_user_message, new_user_message, state, word};
use super::bench::{Agent, Bench};
use super::hearing::Wish;
use crate::peer::{Answer, Call, Held, Stopped};
use crate::recording::Frame;

/// How long an agent that is told to stop may take.
pub(super) const STOP_TIME_MAX: Duration = Duration::from_millis(2500);
/// How long an agent that is told to stop is waited for, before it counts as one that never does.
pub(super) const STOP_PATIENCE: Duration = Duration::from_secs(8);
/// How long nothing more of a turn must come after its end.
pub(super) const QUIET: Duration = Duration::from_millis(120);

/// A prompt that was sent.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) session: String,
    pub(super) call: Call,
    version: Version,
}

/// A turn that is over.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) session: String,
    pub(super) version: Version,
    /// The frame of the prompt.
    pub(super) prompt: usize,
    /// The answer to the prompt, which in version 1 is the end and in version 2 the acceptance.
    pub(super) answer: Answer,
    /// The frame that ends the turn.
    pub(super) end: usize,
    /// Why it ended; none if the agent does not say, or refused the prompt.
    pub(super) stop: Option<String>,
    /// Everything from the prompt to the end, of both sides.
    pub(super) frames: Vec<Frame>,
}

/// Sends a prompt of one text.
pub(super) async fn begin(agent: &mut Agent, session: &str, text: &str) -> Result<Turn, Stopped> {
    begin_with(agent, session, json!([said(text)])).await
}

/// Sends a prompt of these blocks.
pub(super) async fn begin_with(
    agent: &mut Agent,
    session: &str,
    blocks: Value,
) -> Result<Turn, Stopped> {
    agent.may_prompt().await?;
    let params = json!({"sessionId": session, "prompt": blocks});
    let call = agent.begin("session/prompt", params).await?;
    Ok(Turn {
        session: session.to_owned(),
        call,
        version: agent.version,
    })
}

/// Sends a prompt of one text and waits for the end of its turn.
pub(super) async fn run(
    bench: &mut Bench,
    agent: &mut Agent,
    session: &str,
    text: &str,
) -> Result<Course, Stopped> {
    let turn = begin(agent, session, text).await?;
    turn.complete(bench, agent).await
}

/// Returns a block of text.
pub(super) fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

impl Turn {
    /// Waits for the end of the turn as long as turns may take.
    pub(super) async fn complete(
        &self,
        bench: &mut Bench,
        agent: &mut Agent,
    ) -> Result<Course, Stopped> {
        let waited = bench.subject.turn_patience;
        let silent = || Stopped::Silent {
            method: "session/prompt".to_owned(),
            waited,
        };
        let course = self.finish(agent, waited).await?.ok_or_else(silent);
        agent.hearing.learn(Wish::Turn, &course);
        course
    }

    /// Waits for the end of the turn; none if it does not come in time.
    pub(super) async fn finish(
        &self,
        agent: &mut Agent,
        within: Duration,
    ) -> Result<Option<Course>, Stopped> {
        let deadline = Instant::now() + within;
        loop {
            if let Some(course) = self.course(agent) {
                agent.hearing.learn(Wish::Turn, &Ok(()));
                return Ok(Some(course));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let could_end = |frame: &Frame| frame.is_answer() || state(frame).is_some();
            if agent.until(left, could_end).await?.is_none() {
                return Ok(self.course(agent));
            }
        }
    }

    /// Waits for a frame of the agent since the prompt that fits, which may have come already.
    pub(super) async fn wait_for(
        &self,
        agent: &mut Agent,
        within: Duration,
        fits: impl Fn(&Frame) -> bool,
    ) -> Result<Option<Frame>, Stopped> {
        let fits = |frame: &Frame| frame.direction == Direction::ToClient && fits(frame);
        match agent.seen_since(self.call.frame, fits) {
            Some(frame) => Ok(Some(frame)),
            None => agent.until(within, fits).await,
        }
    }

    /// Waits for a question for permission that the service holds; none if the turn ends without one, or the time is over.
    pub(super) async fn question(
        &self,
        agent: &mut Agent,
        within: Duration,
    ) -> Result<Option<Held>, Stopped> {
        let deadline = Instant::now() + within;
        loop {
            let held = agent.service.take_held("session/request_permission");
            if held.is_some() || self.course(agent).is_some() {
                return Ok(held);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let could_be =
                |frame: &Frame| frame.is_request() || frame.is_answer() || state(frame).is_some();
            if agent.until(left, could_be).await?.is_none() {
                agent.hearing.miss(Wish::Turn);
                return Ok(None);
            }
        }
    }

    /// Waits until the agent is at work on something that takes a while: a tool runs, or it has said something and still goes on.
    pub(super) async fn under_way(
        &self,
        agent: &mut Agent,
        patience: Duration,
    ) -> Result<usize, Stopped> {
        /// How long a tool is waited for after the first sign of work.
        const STARTED_AFTER: Duration = Duration::from_millis(700);
        let is_work =
            |frame: &Frame| is_of_turn(frame) && frame.session() == Some(self.session.as_str());
        let runs = |frame: &Frame| {
            let status = frame.update().and_then(|update| update.get("status"));
            is_work(frame) && status.and_then(Value::as_str) == Some("in_progress")
        };
        let first = self.wait_for(agent, patience, is_work).await?;
        let first = first.ok_or_else(|| Stopped::Silent {
            method: self.call.method.clone(),
            waited: patience,
        });
        // Work that was seen says that the agent hears, not that its turns end.
        if first.is_err() {
            agent.hearing.miss(Wish::Turn);
        }
        let first = first?;
        let running = self.wait_for(agent, STARTED_AFTER, runs).await?;
        if self.course(agent).is_some() {
            let why =
                "the turn was over before it could be cancelled; give a prompt that takes longer";
            return Err(Stopped::Other(why.to_owned()));
        }
        Ok(running.unwrap_or(first).number)
    }

    /// Returns whether the prompt was answered yet.
    pub(super) fn answered(&self, agent: &Agent) -> Option<Frame> {
        let id = &self.call.id;
        agent.seen_since(self.call.frame, |frame| {
            frame.direction == Direction::ToClient && frame.is_answer() && frame.id() == Some(id)
        })
    }

    /// Returns the turn if it is over by what was seen.
    pub(super) fn course(&self, agent: &Agent) -> Option<Course> {
        let answered = self.answered(agent)?;
        let message = answered.json.clone().unwrap_or_default();
        let answer = Answer {
            request: self.call.frame,
            frame: answered.number,
            message,
        };
        let (end, stop) = match (self.version, answer.result()) {
            (_, None) => (answer.frame, None),
            (Version::V1, Some(result)) => (answer.frame, word(result, "stopReason")),
            (Version::V2, Some(result)) => self.idle(agent, result)?,
        };
        let frames = agent.recording().with_frames(|frames| {
            let all = frames.iter().skip(self.call.frame);
            let end = end.max(answer.frame);
            all.take(end + 1 - self.call.frame).cloned().collect()
        });
        Some(Course {
            session: self.session.clone(),
            version: self.version,
            prompt: self.call.frame,
            answer,
            end,
            stop,
            frames,
        })
    }

    /// Returns the idle that ends the work on this prompt. One that was on its way before the prompt was inserted does not.
    fn idle(&self, agent: &Agent, result: &Value) -> Option<(usize, Option<String>)> {
        let id = result.get("messageId").and_then(Value::as_str);
        let session = Some(self.session.as_str());
        let ours =
            |frame: &&Frame| frame.direction == Direction::ToClient && frame.session() == session;
        agent.recording().with_frames(|frames| {
            let later = || frames.iter().skip(self.call.frame).filter(ours);
            let is_inserted = |frame: &&Frame| is_user_message(frame, id);
            let is_active = |frame: &&Frame| matches!(state(frame), Some("running"));
            let begun = later()
                .find(is_inserted)
                .or_else(|| later().find(is_active))?;
            let mut since = later().filter(|frame| frame.number >= begun.number);
            let idle = since.find(|frame| state(frame) == Some("idle"))?;
            let stop = idle.update().and_then(|update| word(update, "stopReason"));
            Some((idle.number, stop))
        })
    }
}

impl Course {
    /// Returns the updates of the session in the turn, with their frames.
    pub(super) fn updates(&self) -> impl Iterator<Item = (usize, &Value)> {
        let session = Some(self.session.as_str());
        let ours = self.frames.iter().filter(move |frame| {
            frame.direction == Direction::ToClient && frame.session() == session
        });
        ours.filter_map(|frame| Some((frame.number, frame.update()?)))
    }

    /// Returns the agent's requests of the turn for a method.
    pub(super) fn requests(&self, method: &str) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(move |frame| {
            frame.direction == Direction::ToClient
                && frame.is_request()
                && frame.method() == Some(method)
        })
    }

    /// Returns the agent's questions for permission in this session.
    pub(super) fn asks(&self) -> impl Iterator<Item = &Frame> {
        self.requests("session/request_permission")
            .filter(|frame| frame.session() == Some(self.session.as_str()))
    }

    /// Returns the tool calls that began in the turn.
    pub(super) fn calls(&self, agent: &Agent) -> Vec<Life> {
        let mut lives = lives(agent, &self.session, self.end);
        lives.retain(|life| life.first >= self.prompt);
        lives
    }

    /// Returns whether it ended for this reason.
    pub(super) fn ended(&self, reason: &str) -> bool {
        self.stop.as_deref() == Some(reason)
    }

    /// Returns the frames of the prompt and of the end.
    pub(super) fn ends(&self) -> [usize; 2] {
        [self.prompt, self.end]
    }

    /// Returns how the turn ended, in a few words.
    pub(super) fn how(&self) -> String {
        match (&self.stop, self.answer.error_code()) {
            (Some(stop), _) => format!("the turn ended with `{stop}`"),
            (None, Some(code)) => format!("the prompt returned error {code}"),
            (None, None) => "the turn ended without a stop reason".to_owned(),
        }
    }
}
