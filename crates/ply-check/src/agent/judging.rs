//! What the probes of several topics need: to judge more than one rule at once, and to see whether an agent still answers.

use std::time::Duration;

use ply_client::Direction;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::hearing::Wish;
use crate::peer::{Answer, Stopped};
use crate::recording::Frame;

/// How long nothing must come.
pub(super) const QUIET: Duration = Duration::from_millis(150);

/// The code of an error that is not about the request.
const INTERNAL: i64 = -32603;

/// A request that no agent knows, so that every agent can answer it at once.
pub(super) const PING: &str = "_ply/check";

impl Bench {
    /// Judges several rules by the same evidence: those of the other version, and those the run does not look at, are left out.
    pub(super) fn judge_all(
        &mut self,
        rules: &[&str],
        is_kept: bool,
        agent: &Agent,
        frames: &[usize],
        saw: impl Into<String>,
    ) {
        let saw = saw.into();
        for rule in rules {
            self.judge(rule, is_kept, agent, frames, saw.as_str());
        }
    }

    /// Notes that what several rules are about is not offered.
    pub(super) fn none_offered(&mut self, rules: &[&str], what: &str) {
        for rule in rules {
            self.not_offered(rule, what);
        }
    }
}

impl Agent {
    /// Returns whether it still answers. What it answers does not matter here.
    pub(super) async fn is_alive(&mut self) -> bool {
        self.ask(PING, json!({})).await.is_ok()
    }

    /// Returns what it has sent after a frame, as far as it was read.
    pub(super) fn heard_since(&self, frame: usize) -> Vec<Frame> {
        self.recording().with_frames(|frames| {
            let later = frames.iter().skip(frame + 1);
            later
                .filter(|frame| frame.direction == Direction::ToClient)
                .cloned()
                .collect()
        })
    }

    /// Asks for a session with these parameters beside those that every session has.
    pub(super) async fn new_session_with(&mut self, more: &Value) -> Result<Answer, Stopped> {
        let mut setup = self.setup();
        if let (Some(setup), Some(more)) = (setup.as_object_mut(), more.as_object()) {
            setup.extend(more.clone());
        }
        self.hearing.try_for(Wish::Session)?;
        let came = self.ask("session/new", setup).await;
        self.hearing.learn(Wish::Session, &came);
        let code = came.as_ref().ok().and_then(Answer::error_code);
        if code == Some(INTERNAL) {
            // An agent that makes no session at all says nothing about these parameters.
            let setup = self.setup();
            self.need("session/new", setup).await?;
        }
        came
    }
}

/// Says how a request was answered, for a finding.
pub(super) fn tell(method: &str, answer: &Answer) -> String {
    match answer.error_code() {
        Some(code) => format!("`{method}` returned error {code}"),
        None if answer.result().is_some() => format!("`{method}` returned a result"),
        None => format!("`{method}` returned neither a result nor an error code"),
    }
}

/// Returns whether a prompt was refused: by an error, or in version 1 by a turn that says so.
pub(super) fn is_refused(answer: &Answer) -> bool {
    let stop = answer.message.pointer("/result/stopReason");
    answer.is_error() || stop.and_then(Value::as_str) == Some("refusal")
}

/// Returns whether an answer says that a session is not known, in the words of version 2.
pub(super) fn is_not_found(answer: &Answer, session: &str) -> bool {
    let named = answer.message.pointer("/error/data/sessionId");
    answer.error_code() == Some(-32002) && named.and_then(Value::as_str) == Some(session)
}
