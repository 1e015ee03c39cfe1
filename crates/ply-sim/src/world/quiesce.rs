//! The end of a world: everything is drained, cancelled and closed, and must be at rest then.

use ply_session::{Close, Input, Keep};
use ply_wire::negotiate::Version;

use super::World;
use crate::Broken;
use crate::client::{Client, Link};
use crate::compare::compare;

/// Things that may happen until the world is at rest, which no honest world needs.
const DRAIN_STEPS_MAX: u64 = 20_000;
/// Steps between two cancels on the way to rest.
const STEPS_PER_CANCEL: u64 = 100;

impl World<'_> {
    pub(super) fn quiesce(&mut self) -> Result<(), Broken> {
        self.is_ending = true;
        let now = self.queue.now_ms();
        self.trace
            .note(now, || "the world comes to rest".to_owned());
        // Sooner or later an owner hears that it no longer is one.
        if let Some(number) = self.life.as_ref().map(|life| life.number)
            && self.journal.is_created
            && self.life.as_ref().is_some_and(|life| !life.core.is_new())
        {
            self.lost(number)?;
        }
        self.cancel()?;
        self.drain()?;
        self.all_answered()?;
        self.add(Client::auditor(Version::V1));
        self.add(Client::auditor(Version::V2));
        // The first may find that the session has to be opened again, or has moved.
        for _ in 0..3 {
            self.connect_all();
            self.drain()?;
        }
        if self
            .clients
            .iter()
            .any(|client| client.link != Link::Attached)
        {
            return Err("a client cannot attach to a session at rest".into());
        }
        self.all_answered()?;
        self.compare()?;
        if let Some(life) = &self.life {
            let close = Input::Close(Close {
                request: None,
                view: None,
                journal: Keep::All,
            });
            self.feed(life.number, close)?;
        }
        self.drain()?;
        if self.life.is_some() || !self.ended.is_empty() || self.waiting.is_some() {
            return Err("a session that is closed goes on".into());
        }
        self.all_answered()?;
        self.journal.is_at_rest()
    }

    fn cancel(&mut self) -> Result<(), Broken> {
        match &self.life {
            Some(life) => self.feed(life.number, Input::Cancel { view: None }),
            None => Ok(()),
        }
    }

    /// Lets everything happen that is on its way.
    fn drain(&mut self) -> Result<(), Broken> {
        let until = self.trace.steps + DRAIN_STEPS_MAX;
        let lives = self.life.iter().chain(&self.ended).map(|life| life.number);
        for number in lives.collect::<Vec<_>>() {
            self.after(number)?;
        }
        loop {
            while self.next()? {
                if self.trace.steps > until {
                    return Err("the world does not come to rest".into());
                }
                // Prompts that were on their way begin turns that may wait for answers nobody gives.
                if self.trace.steps.is_multiple_of(STEPS_PER_CANCEL) {
                    self.cancel()?;
                }
            }
            if !self.resume_queue()? {
                return Ok(());
            }
        }
    }

    /// Checks that nobody waits for an answer.
    fn all_answered(&self) -> Result<(), Broken> {
        for client in &self.clients {
            client.at_rest()?;
        }
        let Some(life) = &self.life else {
            return match self.asks.keys().next() {
                Some(ask) => Err(format!("{ask:?} of a session that is over got no answer")),
                None => Ok(()),
            };
        };
        if let Some(request) = life.own.first() {
            return Err(format!("the agent's own turn {request:?} never settled"));
        }
        if let Some(barrier) = life.barriers.first() {
            return Err(format!("barrier {barrier} was never passed"));
        }
        let engine = life.core.engine();
        let is_open = |ask| engine.question(ask).is_some();
        let mut lost = self.asks.iter().filter(|(ask, _)| !is_open(**ask));
        // The code of a turn that is over no longer listens.
        if let Some((ask, _)) = lost.find(|(_, (_, turn))| turn.is_none()) {
            return Err(format!("{ask:?} of the agent's code got no answer"));
        }
        let shown = self
            .clients
            .iter()
            .filter(|client| client.link == Link::Attached);
        if let Some(ask) = shown.flat_map(Client::shown).find(|ask| !is_open(*ask)) {
            return Err(format!("{ask:?} is over and a client still shows it"));
        }
        let is_paused = life.core.is_paused() && !life.core.has_failed();
        if engine.running().is_some() || is_paused {
            return Err("the session does not come to rest".into());
        }
        Ok(())
    }

    /// Checks that every client has seen what the journal says.
    fn compare(&self) -> Result<(), Broken> {
        let Some(life) = &self.life else {
            return Err("clients are attached to no session".into());
        };
        let history = life.core.history();
        let events = if life.core.is_new() {
            Vec::new()
        } else {
            self.journal.agrees_with(history)?;
            let events = self.journal.events()?;
            self.held_agrees(&events)?;
            events
        };
        for client in &self.clients {
            if client.version == Version::V2 || !life.core.is_new() {
                compare(client, history, &events)?;
            }
        }
        Ok(())
    }
}
