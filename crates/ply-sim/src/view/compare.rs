//! Whether a client has seen what the journal says.

use ply_session::History;
use ply_wire::transcript::{Transcript, what_v1_can_carry};
use ply_wire::{v1, v2};

use super::{Kind, View};
use crate::client::{Client, Link};
use crate::ledger::Broken;

impl View {
    /// Checks that the client has seen what the journal says: live equals replay, and version 1
    /// equals version 2 but for what it cannot carry.
    pub(crate) fn compare(&self, client: &Client, history: &History) -> Result<(), Broken> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        if client.epoch != self.epoch || client.link != Link::Attached {
            return Ok(());
        }
        let journal = history.transcript().normalized();
        if Transcript::fold(&self.shown).normalized() != journal {
            return Err("what a client was shown is not what the journal says".into());
        }
        if !self.is_whole {
            return Ok(());
        }
        match &self.kind {
            Kind::V2 if client.transcript.normalized() != journal => {
                Err("the transcript of a v2 client is not what the journal says".into())
            }
            Kind::V2 => Ok(()),
            Kind::V1(v1) => {
                let not_own = |update: &&v2::SessionUpdate| match update {
                    v2::SessionUpdate::UserMessage(message) => {
                        !v1.own.contains(&*message.message_id.0)
                    }
                    _ => true,
                };
                let shown = Transcript::fold(self.shown.iter().filter(not_own));
                let (expected, seen) = (
                    what_v1_can_carry(&shown),
                    what_v1_can_carry(&client.transcript),
                );
                if seen != expected {
                    return Err(format!(
                        "the transcript of a v1 client is not what the journal says:\n{}",
                        difference(&expected, &seen)
                    ));
                }
                Ok(())
            }
        }
    }
}

/// Returns whether an answer of version 1 says why the turn ended.
pub(super) fn fits(
    outcome: &Result<v1::PromptResponse, v1::Error>,
    stop: Option<&v2::StopReason>,
) -> bool {
    let expected = match stop {
        Some(v2::StopReason::EndTurn) => v1::StopReason::EndTurn,
        Some(v2::StopReason::MaxTokens) => v1::StopReason::MaxTokens,
        Some(v2::StopReason::MaxTurnRequests) => v1::StopReason::MaxTurnRequests,
        Some(v2::StopReason::Refusal) => v1::StopReason::Refusal,
        Some(v2::StopReason::Cancelled) => v1::StopReason::Cancelled,
        _ => return outcome.is_err(),
    };
    matches!(outcome, Ok(response) if response.stop_reason == expected)
}

/// Returns the first entries that differ.
fn difference(expected: &Transcript, seen: &Transcript) -> String {
    let mut pairs = expected.entries().zip(seen.entries());
    match pairs.find(|(expected, seen)| expected != seen) {
        Some((expected, seen)) => format!("expected {expected:?}\nand saw {seen:?}"),
        None => format!(
            "expected {} entries and saw {}",
            expected.entries().len(),
            seen.entries().len()
        ),
    }
}
