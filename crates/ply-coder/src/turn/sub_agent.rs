//! Sub-agents: a task of the agent's, done in a conversation of its own.
//!
//! A sub-agent is a second [`TurnLoop`] of the same turn. It has the turn's permissions, questions, sandbox
//! and cancel, and a part of its tools. What it says is the result of the call that started it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use ply_agent::Stop;

use super::surface::Live;
use super::voice::{SubAgent, Voice};
use super::{End, TurnLoop};
use crate::model::Message;
use crate::text;
use crate::tool::Outcome;
use crate::tool::Surface as _;
use crate::tool::task::Delegated;

/// How many sub-agents may work at the same time.
pub(super) const SIDE_BY_SIDE_MAX: usize = 4;
/// Bytes of a sub-agent's report that the agent gets.
const REPORT_BYTES_MAX: usize = 32 * 1024;

impl TurnLoop<'_> {
    /// Has a sub-agent do a task for a call, and returns what it reports. Whatever happens to it is a
    /// result, and no error of the turn.
    pub(super) async fn delegate(&self, task: Delegated, call: &Live<'_>) -> Outcome {
        let places = &self.shared.sub_agents;
        if places.available_permits() == 0 {
            call.progress("Waits for other sub-agents to finish.").await;
        }
        let Ok(place) = self.turn.unless_cancelled(places.acquire()).await else {
            return Outcome::failed("The user cancelled before the sub-agent began.");
        };
        let _place = place.expect("the semaphore is never closed");
        let built_in = self
            .built_in
            .iter()
            .filter(|tool| task.access.includes(&tool.spec().name));
        let child = TurnLoop {
            config: self.config,
            state: self.state,
            models: self.models,
            turn: self.turn,
            built_in: built_in.cloned().collect(),
            tools: Mutex::default(),
            project: match self.project.get() {
                Some(project) => OnceLock::from(project.clone()),
                None => OnceLock::new(),
            },
            shared: Arc::clone(&self.shared),
            crowded: AtomicBool::new(false),
            voice: Voice::SubAgent(SubAgent::new(task, call)),
        };
        child.report_back().await
    }

    async fn report_back(&self) -> Outcome {
        let Voice::SubAgent(sub) = &self.voice else {
            return Outcome::failed("This is not a sub-agent.");
        };
        let facts = self.state.choice().model.facts().clone();
        let mut talk = vec![Message::User(self.prompted(&facts))];
        let end = self.talk(&mut talk).await;
        let words = text::middle_cut(sub.take_words().trim(), REPORT_BYTES_MAX);
        let why = match end {
            Ok(End::Stopped(Stop::EndTurn)) if !words.is_empty() => return Outcome::done(words),
            Ok(End::Stopped(Stop::EndTurn)) => "it ended without a word.".to_owned(),
            Ok(End::Stopped(Stop::MaxTokens)) => {
                "its answer reached the model's limit of tokens.".to_owned()
            }
            Ok(End::Stopped(Stop::MaxTurnRequests)) => format!(
                "it reached its limit of {} requests to the model. Give it a smaller task.",
                self.requests_max()
            ),
            Ok(End::Stopped(Stop::Refusal)) => "the model refused.".to_owned(),
            Ok(End::Stopped(_)) => "the user cancelled.".to_owned(),
            Ok(End::Stuck(why)) => why.to_owned(),
            Err(error) => error.to_string(),
        };
        Outcome::failed(match words.is_empty() {
            true => format!("The sub-agent did not finish: {why}"),
            false => format!("The sub-agent did not finish: {why}\nIts last words:\n{words}"),
        })
    }
}
