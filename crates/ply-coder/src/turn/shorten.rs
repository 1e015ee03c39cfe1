//! Keeping the conversation within the model's window.

use std::sync::atomic::Ordering;

use futures::StreamExt as _;
use ply_agent::{Result, v2};

use super::{TurnLoop, user_says};
use crate::context::{budget, compaction};
use crate::model::retry::{self, Next, Received};
use crate::model::{
    Content, Delta, Effort, Failure, FailureClass, Message, Request, Stopped, Usage,
};
use crate::options::Choice;

/// Tokens that a summary may have, with the thoughts before it.
const SUMMARY_TOKENS_MAX: u64 = 8_000;

/// Why a conversation is made short.
#[derive(Debug, Clone, Copy)]
pub(super) enum Why<'w> {
    /// It does not fit any more, so it must become short, with a model's help or without.
    TooLong,
    /// The user asked for it, perhaps with something to keep in mind.
    Asked(Option<&'w str>),
}

impl TurnLoop<'_> {
    /// Returns the next request, made short enough for the model. What is lost grows from step to step:
    /// old outputs, the middle of large new ones, then all but a summary.
    pub(super) async fn fitting_request(
        &self,
        choice: &Choice,
        talk: &mut Vec<Message>,
    ) -> Result<Request> {
        self.refresh_tools().await?;
        let facts = choice.model.facts();
        let room = self.state.in_our_tokens(&facts.id, budget::room(facts));
        let mut request = self.request(choice, talk.clone());
        let tokens = budget::tokens(&request);
        if tokens <= room || !self.config.compact {
            return Ok(request);
        }
        if budget::elide(&mut request.messages, tokens, room) {
            return Ok(request);
        }
        let tokens = budget::tokens(&request);
        if budget::cut_large(&mut request.messages, tokens, room) <= room {
            return Ok(request);
        }
        if !self.crowded.load(Ordering::Relaxed) {
            self.compact(talk, Why::TooLong).await?.ok();
            request = self.request(choice, talk.clone());
        }
        let tokens = budget::tokens(&request);
        if tokens > room {
            // Instructions, tools and the prompt alone fill the window; another summary would not help.
            self.crowded.store(true, Ordering::Relaxed);
            budget::squeeze(&mut request.messages, tokens, room);
        }
        Ok(request)
    }

    /// Sums the conversation up. What the user said to begin the turn stays as it is.
    pub(super) async fn compact(
        &self,
        talk: &mut Vec<Message>,
        why: Why<'_>,
    ) -> Result<std::result::Result<(), Failure>> {
        let id = v2::CompactionId::new(self.fresh_id("compaction"));
        let begin = v2::CompactionUpdate::new(id.clone(), v2::CompactionStatus::InProgress);
        self.report_compaction(begin).await?;
        let summary = match (self.summary(talk, why).await?, why) {
            (Ok(summary), _) => summary,
            (Err(failure), Why::Asked(_)) => {
                let end = v2::CompactionUpdate::new(id, v2::CompactionStatus::Failed)
                    .error(failure.message.clone());
                self.report_compaction(end).await?;
                return Ok(Err(failure));
            }
            (Err(failure), Why::TooLong) => {
                let words =
                    "No summary could be had, so only your words and a list of calls are kept.";
                self.notice(format!("{} {words}", failure.message)).await?;
                compaction::without_model(talk)
            }
        };
        let facts = self.state.choice().model.facts().clone();
        let prompt = match why {
            Why::TooLong => self.prompted(&facts),
            Why::Asked(_) => Vec::new(),
        };
        // The prompt is kept whole, and need not be there twice.
        talk.retain(|message| !matches!(message, Message::User(contents) if *contents == prompt));
        let kept = compaction::kept(&summary, talk, facts.window_tokens);
        let blocks: Vec<_> = kept.iter().cloned().map(v2::ContentBlock::from).collect();
        let end = v2::CompactionUpdate::new(id, v2::CompactionStatus::Completed).summary(blocks);
        self.report_compaction(end).await?;
        // What it was told of directories is gone with the rest.
        self.forget_instructions();
        let contents = kept.into_iter().map(Content::Text).chain(prompt);
        *talk = vec![Message::User(contents.collect())];
        let request = self.request(&self.state.choice(), talk.clone());
        if self.is_kept() {
            let tokens = budget::tokens(&request);
            let tokens = self.state.in_tokens_of(&facts.id, tokens);
            self.state.ledger.fill(tokens);
        }
        self.report_usage().await?;
        Ok(Ok(()))
    }

    async fn report_compaction(&self, update: v2::CompactionUpdate) -> Result<()> {
        if !self.is_kept() {
            // It would take the place of the session's own conversation.
            return Ok(());
        }
        self.turn
            .update(v2::SessionUpdate::CompactionUpdate(update))
            .await
    }

    /// Has the model sum up, as often as it takes.
    async fn summary(
        &self,
        talk: &[Message],
        why: Why<'_>,
    ) -> Result<std::result::Result<String, Failure>> {
        let request = self.summary_request(talk, why);
        let mut tries = retry::History::default();
        loop {
            let model = self.state.choice().model;
            let mut spent = Usage::default();
            let work = async {
                let mut deltas = model.stream(&request).await?;
                let mut text = String::new();
                while let Some(delta) = deltas.next().await {
                    match delta? {
                        Delta::Text(more) => text.push_str(&more),
                        Delta::Usage(usage) => spent = usage,
                        Delta::Stopped(Stopped::End) if !text.trim().is_empty() => return Ok(text),
                        Delta::Stopped(_) => break,
                        _ => {}
                    }
                }
                let words = "The model did not sum the conversation up.";
                Err(Failure::new(FailureClass::Malformed, words))
            };
            let done = self.turn.unless_cancelled(work).await;
            // The summary takes the place of what fills the window.
            let price = self.config.prices.of(&model.facts().id);
            self.state.ledger.add(spent, price, false);
            let failure = match done? {
                Ok(text) => return Ok(Ok(text)),
                Err(failure) => failure,
            };
            let next = retry::decide(
                tries,
                &failure,
                Received::Nothing,
                super::failures::jitter(),
            );
            tries = tries.with(next);
            match next {
                Next::Retry { after } => self.wait(&failure, tries.retries, after).await?,
                _ => return Ok(Err(failure)),
            }
        }
    }

    fn summary_request(&self, talk: &[Message], why: Why<'_>) -> Request {
        let choice = self.state.choice();
        let facts = choice.model.facts();
        let mut messages = talk.to_vec();
        let mut ask = compaction::ASK.to_owned();
        if let Why::Asked(Some(hint)) = why {
            ask.push_str("\nThe user asks to keep in mind: ");
            ask.push_str(hint);
        }
        user_says(&mut messages, ask);
        // The tools stay in the request: services want those that the conversation calls.
        let mut request = self.request(&choice, messages);
        request.output_tokens_max = Some(SUMMARY_TOKENS_MAX.min(facts.output_tokens_max));
        request.effort = facts.efforts.then_some(Effort::Low);
        let answer = SUMMARY_TOKENS_MAX.min(facts.window_tokens / 4);
        let room = facts.window_tokens.saturating_sub(answer * 5 / 4);
        let room = self.state.in_our_tokens(&facts.id, room);
        let tokens = budget::tokens(&request);
        budget::squeeze(&mut request.messages, tokens, room);
        request
    }
}
