//! Requests that fail: try again, make the conversation shorter, or say why not.

use std::time::Duration;

use ply_agent::{Error, Result};

use super::answer::{Answer, Attempt};
use super::shorten::Why;
use super::{TurnLoop, user_says};
use crate::context::notes;
use crate::model::retry::{self, Next, Received};
use crate::model::{Failure, FailureClass, Message, Part, Stopped};

/// The code of "authentication required".
const AUTH_REQUIRED: i64 = -32000;
/// The code of "internal error", which stands for everything that a service does to us.
const FAILED: i64 = -32603;

impl TurnLoop<'_> {
    /// Asks the model what comes next, as often as it takes. None means that the user cancelled.
    pub(super) async fn answer(
        &self,
        talk: &mut Vec<Message>,
        step: u64,
    ) -> Result<Option<Answer>> {
        let mut tries = retry::History::default();
        loop {
            let choice = self.state.choice();
            let request = self.fitting_request(&choice, talk).await?;
            let attempt = self.attempt(&*choice.model, &request, step).await?;
            let (parts, results, failure) = match attempt {
                Attempt::Complete(answer) => return Ok(Some(answer)),
                Attempt::Cancelled => return Ok(None),
                Attempt::Failed(parts, results, failure) => (parts, results, failure),
            };
            if !results.is_empty() {
                // What was called was run; the model hears what came of it and goes on from there.
                self.notice_of(&failure).await?;
                let stopped = Stopped::End;
                return Ok(Some(Answer {
                    parts,
                    results,
                    stopped,
                }));
            }
            let text = text_of(&parts);
            let received = match text.is_empty() {
                true => Received::Nothing,
                false => Received::Something,
            };
            let next = retry::decide(tries, &failure, received, jitter());
            tries = tries.with(next);
            match next {
                Next::Retry { after } => self.wait(&failure, tries.retries, after).await?,
                Next::Continue { after } => {
                    self.wait(&failure, tries.retries, after).await?;
                    talk.push(Message::Assistant(vec![Part::Text(text)]));
                    let words = "your answer was cut off here; go on exactly where it ended";
                    user_says(talk, notes::note(words));
                }
                Next::Compact if self.config.compact => {
                    self.compact(talk, Why::TooLong).await?.ok();
                }
                Next::Compact => return Err(error_of(&failure)),
                Next::Repair => crate::context::conversation::repair(talk),
                Next::GiveUp => return Err(error_of(&failure)),
            }
        }
    }

    /// Tells the user why nothing comes, and waits.
    pub(super) async fn wait(&self, failure: &Failure, tries: u32, after: Duration) -> Result<()> {
        self.notice(waiting(failure, tries, after)).await?;
        self.turn.unless_cancelled(tokio::time::sleep(after)).await
    }

    async fn notice_of(&self, failure: &Failure) -> Result<()> {
        self.notice(failure.message.clone()).await
    }
}

/// Says what happened and what comes next. Without a network, what counts is that it is waited for, and
/// not how often it was tried.
fn waiting(failure: &Failure, tries: u32, after: Duration) -> String {
    let (message, after) = (&failure.message, seconds(after));
    match failure.class {
        FailureClass::Network => {
            format!("{message} Waiting for the network; the next try is in {after}.")
        }
        _ => format!(
            "{message} Retrying {}/{} in {after}.",
            tries.max(1),
            retry::TRIES_MAX
        ),
    }
}

/// Returns the error that ends the turn.
fn error_of(failure: &Failure) -> Error {
    match failure.class {
        FailureClass::Unauthorized => Error::rpc(AUTH_REQUIRED, failure.message.clone()),
        _ => Error::rpc(FAILED, failure.message.clone()),
    }
}

fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn seconds(time: Duration) -> String {
    match time.as_millis() {
        millis @ ..1_000 => format!("{millis} ms"),
        millis => format!("{} s", millis.div_ceil(1_000)),
    }
}

/// Returns a number from 0 to 1, so that many agents do not come back at the same moment.
pub(super) fn jitter() -> f64 {
    use std::hash::{BuildHasher as _, RandomState};
    // The standard library's keys are random; nothing here needs more than that.
    let random = RandomState::new().hash_one(0u8);
    (random >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_waited_for_and_not_counted() {
        let words = |class, tries| {
            let failure = Failure::new(class, "It failed.");
            waiting(&failure, tries, Duration::from_secs(16))
        };
        assert_eq!(
            words(FailureClass::Network, 7),
            "It failed. Waiting for the network; the next try is in 16 s."
        );
        assert_eq!(
            words(FailureClass::Unreachable, 2),
            "It failed. Retrying 2/5 in 16 s."
        );
        assert_eq!(
            words(FailureClass::Busy, 0),
            "It failed. Retrying 1/5 in 16 s."
        );
    }
}
