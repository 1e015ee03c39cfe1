//! Which user messages the client wrote itself.

use std::collections::VecDeque;

use crate::v2;

/// How many messages of the client's own are remembered, well above the number of prompts that a
/// session queues. Above it the oldest is forgotten.
const OWN_MESSAGES_MAX: usize = 1024;

/// The messages that are not echoed, in the order in which they were named.
#[derive(Debug, Default)]
pub(super) struct Own {
    messages: VecDeque<OwnMessage>,
}

#[derive(Debug)]
struct OwnMessage {
    id: v2::MessageId,
    /// Whether the message came, so that the work that goes on, or that begins now, includes it.
    came: bool,
}

impl Own {
    pub(super) fn insert(&mut self, id: v2::MessageId) {
        if self.messages.iter().any(|own| own.id == id) {
            return;
        }
        if self.messages.len() >= OWN_MESSAGES_MAX {
            self.messages.pop_front();
        }
        self.messages.push_back(OwnMessage { id, came: false });
    }

    /// Returns whether the message that an update came for is one of them, and notes that it came.
    pub(super) fn comes(&mut self, id: &v2::MessageId) -> bool {
        let own = self.messages.iter_mut().find(|own| own.id == *id);
        own.map(|own| own.came = true).is_some()
    }

    /// Forgets the messages of the work that ended. Those that did not come yet are still queued.
    pub(super) fn work_ended(&mut self) {
        self.messages.retain(|own| !own.came);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_never_come_are_forgotten_in_the_end() {
        let mut own = Own::default();
        for number in 0..10 * OWN_MESSAGES_MAX {
            own.insert(v2::MessageId::new(format!("u{number}")));
            own.work_ended();
        }
        assert_eq!(own.messages.len(), OWN_MESSAGES_MAX);
        assert!(!own.comes(&v2::MessageId::new("u0")));
        let last = v2::MessageId::new(format!("u{}", 10 * OWN_MESSAGES_MAX - 1));
        assert!(own.comes(&last));
        own.work_ended();
        assert!(!own.comes(&last));
    }
}
