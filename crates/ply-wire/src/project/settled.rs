//! Which prompts were answered, so that none is answered twice.

use std::collections::BTreeSet;

use super::{Down, PromptTicket};
use crate::v1;

/// How many answered tickets are remembered one by one. What is older is known by its number alone,
/// since callers count tickets up.
const SETTLED_TICKETS_MAX: usize = 1024;

/// An answered prompt.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) prompt: PromptTicket,
    pub(super) outcome: Result<v1::PromptResponse, v1::Error>,
}

impl From<Settled> for Down {
    fn from(settled: Settled) -> Self {
        Self::Settle {
            prompt: settled.prompt,
            outcome: settled.outcome,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct SettledTickets {
    recent: BTreeSet<PromptTicket>,
    /// This ticket and all below it count as answered.
    forgotten: Option<PromptTicket>,
}

impl SettledTickets {
    pub(super) fn contains(&self, ticket: PromptTicket) -> bool {
        self.recent.contains(&ticket) || self.forgotten.is_some_and(|last| ticket <= last)
    }

    pub(super) fn insert(&mut self, ticket: PromptTicket) {
        self.recent.insert(ticket);
        if self.recent.len() > SETTLED_TICKETS_MAX {
            self.forgotten = self.recent.pop_first().max(self.forgotten);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answered_tickets_stay_answered_in_bounded_memory() {
        let mut settled = SettledTickets::default();
        // Prompt 1 waits for long while many others come and go.
        for ticket in 2..10_000 {
            settled.insert(PromptTicket(ticket));
        }
        assert!(settled.recent.len() <= SETTLED_TICKETS_MAX);
        assert!((2..10_000).all(|ticket| settled.contains(PromptTicket(ticket))));
        assert!(!settled.contains(PromptTicket(10_000)));
    }
}
