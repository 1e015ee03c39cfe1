//! The end of a world: everything is drained, cancelled and closed, and must be at rest then.

use ply_session::Input;

use super::{DRAIN_STEPS_MAX, World};
use crate::ledger::Broken;
use crate::process::Job;

/// Steps between two cancels on the way to rest.
const STEPS_PER_CANCEL: u64 = 100;

impl World<'_> {
    pub(super) fn quiesce(&mut self) -> Result<(), Broken> {
        self.is_ending = true;
        let now = self.queue.now_ms();
        self.trace
            .note(now, || "the world comes to rest".to_owned());
        self.job(Job::from(Input::Cancel))?;
        self.drain()?;
        self.start()?;
        self.tell_all(|view, _, out| view.flush(out));
        self.drain()?;
        self.compare()?;
        let Some(process) = &self.process else {
            return Ok(());
        };
        process.ledger.at_rest()?;
        if process.ledger.transcript() != process.engine.history().transcript() {
            return Err("the engine's history is not the fold of what it appended".into());
        }
        for client in &self.clients {
            client.waits_for_prompts()?;
        }
        self.job(Job::from(Input::Close))?;
        self.drain()?;
        for client in &self.clients {
            client.at_rest()?;
        }
        self.start()
    }

    /// Lets everything happen that is on its way.
    fn drain(&mut self) -> Result<(), Broken> {
        let until = self.trace.steps + DRAIN_STEPS_MAX;
        while self.next()? {
            if self.trace.steps > until {
                return Err("the world does not come to rest".into());
            }
            // Prompts that were on their way begin turns that may wait for answers nobody gives.
            if self.trace.steps.is_multiple_of(STEPS_PER_CANCEL) {
                self.job(Job::from(Input::Cancel))?;
            }
        }
        match self.process.as_ref().is_none_or(|own| own.is_idle()) {
            true => Ok(()),
            false => Err("the process waits for something that does not come".into()),
        }
    }

    /// Checks that every client has seen what the journal says.
    fn compare(&self) -> Result<(), Broken> {
        let Some(process) = &self.process else {
            return Ok(());
        };
        for view in &process.views {
            if let Some(client) = self.clients.get(view.client) {
                view.compare(client, process.engine.history())?;
            }
        }
        Ok(())
    }
}
