//! Keeping the conversation within the model's window.

use futures::StreamExt as _;
use ply_agent::{Result, v2};

use super::{TurnLoop, user_says};
use crate::context::{budget, compaction};
use crate::model::{Content, Delta, Failure, FailureClass, Message, Request, Usage};
use crate::options::Choice;

/// Tokens that a summary may have.
const SUMMARY_TOKENS_MAX: u64 = 4_000;

impl TurnLoop<'_> {
    /// Returns the next request, made short enough for the model: old outputs are left out first, then
    /// the conversation is summed up.
    pub(super) async fn fitting_request(
        &self,
        choice: &Choice,
        talk: &mut Vec<Message>,
    ) -> Result<Request> {
        self.refresh_tools().await?;
        let room = budget::room(choice.model.facts());
        let mut request = self.request(choice, talk.clone());
        let tokens = self.state.scaled(budget::tokens(&request));
        if tokens <= room || !self.config.compact {
            return Ok(request);
        }
        if budget::elide(&mut request.messages, tokens, room) {
            return Ok(request);
        }
        self.compact(talk, None).await?;
        Ok(self.request(choice, talk.clone()))
    }

    /// Sums the conversation up, with an eye on what the user named. It always ends with a shorter
    /// conversation: where no model can sum it up, what the user said and what was called is kept.
    pub(super) async fn compact(&self, talk: &mut Vec<Message>, hint: Option<&str>) -> Result<()> {
        let id = v2::CompactionId::new(self.fresh_id("compaction"));
        let begin = v2::CompactionUpdate::new(id.clone(), v2::CompactionStatus::InProgress);
        self.turn
            .update(v2::SessionUpdate::CompactionUpdate(begin))
            .await?;
        let summary = match self.summary(talk, hint).await? {
            Ok(summary) => summary,
            Err(failure) => {
                tracing::warn!(class = ?failure.class, "no summary of the conversation");
                compaction::without_model(talk)
            }
        };
        let kept = compaction::kept(&summary, talk);
        let end = v2::CompactionUpdate::new(id, v2::CompactionStatus::Completed)
            .summary(vec![v2::ContentBlock::from(kept.clone())]);
        self.turn
            .update(v2::SessionUpdate::CompactionUpdate(end))
            .await?;
        *talk = vec![Message::User(vec![Content::Text(kept)])];
        let choice = self.state.choice();
        let request = self.request(&choice, talk.clone());
        let input_tokens = self.state.scaled(budget::tokens(&request));
        let usage = Usage {
            input_tokens,
            ..Usage::default()
        };
        self.report_usage(usage).await
    }

    async fn summary(
        &self,
        talk: &[Message],
        hint: Option<&str>,
    ) -> Result<std::result::Result<String, Failure>> {
        let choice = self.state.choice();
        let mut messages = talk.to_vec();
        let mut ask = compaction::ASK.to_owned();
        if let Some(hint) = hint {
            ask.push_str("\nThe user asks to keep in mind: ");
            ask.push_str(hint);
        }
        user_says(&mut messages, &ask);
        let mut request = self.request(&choice, messages);
        // The tools stay in the request: services want those that the conversation calls.
        request.output_tokens_max = Some(SUMMARY_TOKENS_MAX);
        let window = choice.model.facts().window_tokens;
        let room = window.saturating_sub(SUMMARY_TOKENS_MAX.min(window / 4) * 3 / 2);
        let tokens = self.state.scaled(budget::tokens(&request));
        budget::squeeze(&mut request.messages, tokens, room);
        let work = async {
            let mut deltas = choice.model.stream(&request).await?;
            let mut text = String::new();
            while let Some(delta) = deltas.next().await {
                match delta? {
                    Delta::Text(more) => text.push_str(&more),
                    Delta::Stopped(_) => break,
                    _ => {}
                }
            }
            match text.trim() {
                "" => Err(Failure::new(
                    FailureClass::Malformed,
                    "The summary is empty.",
                )),
                _ => Ok(text),
            }
        };
        self.turn.unless_cancelled(work).await
    }
}
