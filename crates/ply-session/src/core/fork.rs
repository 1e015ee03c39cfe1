//! A copy of the session.

use super::Core;
use super::effect::Effect;
use super::response::request_cancelled;
use super::store::State;
use crate::RequestId;

/// A client that wants a copy, and the place up to which it saw the session.
pub(super) type Fork = (u64, RequestId);

impl Core {
    /// Has the driver copy the session once its journal has everything up to here. A turn that runs goes on.
    pub(super) fn fork(&mut self, request: RequestId) {
        if self.store.is_new() {
            // There is something to copy when it is in the journal.
            self.store.is_wanted = true;
        }
        self.forks.push((self.window.head(), request));
    }

    /// Has the driver copy what is in the journal now.
    pub(super) fn release_forks(&mut self, out: &mut Vec<Effect>) {
        let State::Open { under_way, .. } = &self.store.state else {
            return;
        };
        let has_all = under_way.is_none() && !self.window.has_unhanded();
        let (confirmed, records) = self.store.confirmed;
        self.forks.retain(|(place, request)| {
            let waits = *place > confirmed && !has_all;
            if !waits {
                out.push(Effect::Fork {
                    request: *request,
                    records,
                });
            }
            waits
        });
    }

    /// Takes back a copy that waits for the journal; returns whether there was one.
    pub(super) fn withdraw_fork(&mut self, request: RequestId, out: &mut Vec<Effect>) -> bool {
        let before = self.forks.len();
        self.forks.retain(|(_, of)| *of != request);
        let is_it = self.forks.len() < before;
        if is_it {
            let response = Err(request_cancelled());
            out.push(Effect::Respond { request, response });
        }
        is_it
    }

    /// Refuses those who wait for a copy, since the journal failed.
    pub(super) fn fail_forks(&mut self, error: &ply_wire::v2::Error, out: &mut Vec<Effect>) {
        for (_, request) in std::mem::take(&mut self.forks) {
            let response = Err(error.clone());
            out.push(Effect::Respond { request, response });
        }
    }
}
