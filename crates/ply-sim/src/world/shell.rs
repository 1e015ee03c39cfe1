//! Somebody at a shell, who changes the queue of prompts without seeing the session.

use ply_session::{Input, QueueChange, QueuedPrompts, RequestId};

use super::World;
use crate::Broken;

/// From here on requests are of the shell: clients do not count that far.
const SHELL: u64 = 1 << 60;

impl World<'_> {
    /// Changes the queue now and then, where it is kept.
    pub(super) fn shell_acts(&mut self) -> Result<(), Broken> {
        if self.settings.queued_prompts != QueuedPrompts::Stay || !self.choices.percent(15) {
            return Ok(());
        }
        let Some(life) = &self.life else {
            return Ok(());
        };
        if self.choices.percent(30) {
            let number = life.number;
            let request = self.shells_request();
            let content = vec!["from a shell".to_owned().into()];
            return self.feed(number, Input::Post { request, content });
        }
        let queued = life.core.history().queued();
        let key = |at: u64| {
            let at = usize::try_from(at).unwrap_or(0);
            queued.get(at).map(|queued| queued.key.clone())
        };
        let count = queued.len() as u64;
        let some = match count {
            0 => None,
            count => key(self.choices.below(count)),
        };
        let change = match (self.choices.weighted(&[5, 2, 2, 2, 2]), some) {
            (1, _) => QueueChange::Paused,
            (2, Some(key)) => QueueChange::Left { key },
            (3, Some(key)) => QueueChange::Moved { key, to: 0 },
            (4, Some(key)) => QueueChange::Edited {
                key,
                content: vec!["edited".to_owned().into()],
            },
            _ => QueueChange::Resumed,
        };
        self.change_queue(change)
    }

    /// Lets queued prompts begin; returns whether there were any that did not.
    pub(super) fn resume_queue(&mut self) -> Result<bool, Broken> {
        let life = self.life.as_ref();
        let is_paused = life.is_some_and(|life| life.core.history().is_paused());
        if is_paused {
            self.change_queue(QueueChange::Resumed)?;
        }
        Ok(is_paused)
    }

    fn shells_request(&mut self) -> RequestId {
        self.numbers.requests += 1;
        RequestId(SHELL + self.numbers.requests)
    }

    fn change_queue(&mut self, change: QueueChange) -> Result<(), Broken> {
        let Some(life) = &self.life else {
            return Ok(());
        };
        let number = life.number;
        let request = self.shells_request();
        self.feed(number, Input::Queue { request, change })
    }
}

/// Returns whether a request is the shell's, which nobody waits for.
pub(super) fn is_shells(request: RequestId) -> bool {
    request.0 >= SHELL
}
