//! The driver of the core: inputs in, appends and messages out. It decides nothing.

use std::sync::Arc;

use ply_session::{Core, Input, Pull, RequestId, Response, Setup, ViewId, no_such_session};
use ply_wire::v2;

use super::World;
use super::held::Driver;
use super::life::{Life, at, ms};
use super::shell::is_shells;
use crate::Broken;
use crate::agent::AgentTurn;
use crate::client::Client;
use crate::message::{Cursor, Down};
use crate::queue::Due;

/// How much a slow client takes at once.
const READS_MAX: u64 = 6;

impl World<'_> {
    /// Takes what a client sent to the session, or opens it for those who want to attach.
    pub(super) fn take_from(
        &mut self,
        client: usize,
        epoch: u64,
        input: Input,
    ) -> Result<(), Broken> {
        let is_late = self
            .clients
            .get(client)
            .is_none_or(|client| client.epoch != epoch)
            && !matches!(input, Input::Detach { .. });
        if is_late {
            // The link is gone, and what was on it with it.
            return Ok(());
        }
        if let Input::Detach { view } = input {
            return self.link_lost(view);
        }
        if self.life.is_some() {
            return self.seat(client, epoch, input);
        }
        match (&mut self.waiting, &input) {
            (Some(waiting), _) => waiting.push(input),
            (None, Input::Attach(_)) => self.open_for(input),
            _ => self.refuse(&input)?,
        }
        Ok(())
    }

    fn open_for(&mut self, input: Input) {
        self.waiting.get_or_insert_default().push(input);
        let delay = self.choices.below(30);
        self.queue.after(delay, Due::Host);
    }

    /// Answers a request for a session that is not open.
    fn refuse(&mut self, input: &Input) -> Result<(), Broken> {
        let Some(request) = input.request() else {
            return Ok(());
        };
        let error = no_such_session(&v2::SessionId::new("s"));
        self.respond(request, Err(error))
    }

    pub(super) fn respond(
        &mut self,
        request: RequestId,
        response: Result<Response, v2::Error>,
    ) -> Result<(), Broken> {
        if is_shells(request) {
            return Ok(());
        }
        // Who is not attached is not told what became of anything.
        let sent = self.answered(request, &response, 0)?;
        let response = Box::new(response);
        self.send_down(sent.client, sent.epoch, Down::Respond { request, response });
        Ok(())
    }

    fn seat(&mut self, client: usize, epoch: u64, input: Input) -> Result<(), Broken> {
        let Some(life) = &mut self.life else {
            return Ok(());
        };
        let number = life.number;
        let known = self.clients.get(client).and_then(Client::generation);
        if let Input::Attach(attach) = &input {
            if attach.after.is_some() && known != Some(self.generation) {
                // What it has seen was deleted, and this is another session of the same name.
                return self.refuse(&input);
            }
            life.seats.insert(attach.view, (client, epoch));
        }
        self.feed(number, input)
    }

    /// Opens the session for those who wait for it.
    pub(super) fn host(&mut self) -> Result<(), Broken> {
        let Some(waiting) = self.waiting.take() else {
            return Ok(());
        };
        let now = self.queue.now_ms();
        let refuses = self.journal.is_taken(now) || (!self.is_ending && self.fails());
        if self.journal.is_created && refuses {
            if self.is_ending {
                self.waiting = Some(waiting);
                self.queue.after(100, Due::Host);
                return Ok(());
            }
            return waiting.iter().try_for_each(|input| self.refuse(input));
        }
        self.lives += 1;
        let (number, setup) = (self.lives, Arc::new(Setup::new("/work")));
        let session = v2::SessionId::new("s");
        let mut handover = None;
        let core = if self.journal.is_created {
            let opened = self.journal.open(number, 0)?;
            let mut opening = self.journal.opening();
            handover = self.handover(opening.take_handover());
            let open = match handover {
                Some(_) => Core::adopt,
                None => Core::open,
            };
            open(session, self.settings, setup, opening, &opened)
        } else {
            self.generation += 1;
            Core::new(session, self.settings, setup)
        };
        let background = AgentTurn::new(number, None, &mut self.choices);
        let mut life = Life::new(number, self.generation, core, background);
        life.driver = self.is_held.then(Driver::default);
        self.life = Some(life);
        if let Some(handover) = handover {
            self.meet(number, handover);
        }
        let delay = self.choices.below(60);
        self.queue.after(delay, Due::Prepared { life: number });
        if !self.is_ending {
            if !self.is_held {
                self.queue.after(5, Due::BackgroundActs { life: number });
            }
            if self.choices.percent(25) {
                let time = self.choices.below(3000);
                self.queue.after(time, Due::Crash { life: number });
            }
            if self.choices.percent(self.faults) {
                let time = self.choices.below(3000);
                self.queue.after(time, Due::Taken { life: number });
            }
        }
        self.after(number)?;
        for input in waiting {
            let request = input.request();
            let sent = request.and_then(|request| self.requests.get(&request).copied());
            match sent {
                Some(sent) => self.seat(sent.client, sent.epoch, input)?,
                None => self.feed(number, input)?,
            }
        }
        Ok(())
    }

    /// Steps the core and does what comes of it.
    pub(super) fn feed(&mut self, number: u64, input: Input) -> Result<(), Broken> {
        self.feed_all(number, vec![input])
    }

    /// The same with several inputs, between which nothing is appended.
    pub(super) fn feed_all(&mut self, number: u64, inputs: Vec<Input>) -> Result<(), Broken> {
        let mut was_tick = false;
        for input in inputs {
            was_tick = matches!(input, Input::Tick);
            self.step(number, input)?;
        }
        self.after(number)?;
        let now = self.queue.now_ms();
        let Some(life) = self.get(number) else {
            return Ok(());
        };
        match life.core.deadline() {
            Some(deadline) if was_tick && deadline <= at(now) => {
                Err("a deadline that has passed stays a deadline".into())
            }
            _ => Ok(()),
        }
    }

    fn step(&mut self, number: u64, input: Input) -> Result<(), Broken> {
        let now = self.queue.now_ms();
        self.trace.note(now, || {
            let mut line = format!("    in  {input:?}");
            line.truncate(line.floor_char_boundary(400));
            line
        });
        self.noted(number, &input);
        let kept = self.kept_open(number, &input);
        let Some(life) = self.get(number) else {
            return Ok(());
        };
        let mut out = Vec::new();
        life.core.step(at(now), input, &mut out);
        if let Some(ask) = kept.filter(|ask| life.core.engine().question(*ask).is_none()) {
            return Err(format!("{ask:?} was ended by a client that only looked on"));
        }
        self.perform(number, out)
    }

    pub(super) fn get(&mut self, number: u64) -> Option<&mut Life> {
        let lives = self.life.iter_mut().chain(&mut self.ended);
        lives.into_iter().find(|life| life.number == number)
    }

    /// Appends what is to be appended, sends what can be sent, and sees to the clock.
    pub(super) fn after(&mut self, number: u64) -> Result<(), Broken> {
        self.persist(number)?;
        let views: Vec<ViewId> = match self.get(number) {
            Some(life) => life.core.views().collect(),
            None => return Ok(()),
        };
        for view in views {
            let is_slow = self
                .get(number)
                .and_then(|life| life.seats.get(&view).copied())
                .and_then(|(client, _)| self.clients.get(client))
                .is_some_and(|client| client.reads_every_ms.is_some());
            if !is_slow || self.is_ending {
                self.pull(number, view, u64::MAX)?;
            }
        }
        self.persist(number)?;
        self.plan_tick(number);
        self.check(number)
    }

    fn plan_tick(&mut self, number: u64) {
        let now = self.queue.now_ms();
        let Some(life) = self.get(number) else {
            return;
        };
        let Some(deadline) = life.core.deadline() else {
            return;
        };
        let due = ms(deadline).max(now);
        if life.ticks_at.is_none_or(|planned| due < planned) {
            life.ticks_at = Some(due);
            self.queue.at(due, Due::Tick { life: number });
        }
    }

    pub(super) fn tick(&mut self, number: u64) -> Result<(), Broken> {
        let now = self.queue.now_ms();
        let Some(life) = self.get(number) else {
            return Ok(());
        };
        if life.ticks_at.is_some_and(|planned| planned <= now) {
            life.ticks_at = None;
        }
        match life.core.deadline() {
            Some(deadline) if deadline <= at(now) => self.feed(number, Input::Tick),
            _ => {
                self.plan_tick(number);
                Ok(())
            }
        }
    }

    pub(super) fn client_reads(&mut self, index: usize) -> Result<(), Broken> {
        let Some(client) = self.clients.get(index) else {
            return Ok(());
        };
        let Some(every) = client.reads_every_ms else {
            return Ok(());
        };
        let view = client.view;
        if !self.is_ending {
            let again = self.choices.below(every) + 1;
            self.queue.after(again, Due::ClientReads { client: index });
        }
        let count = self.choices.below(READS_MAX) + 1;
        let lives = self.life.iter().chain(&self.ended).map(|life| life.number);
        for number in lives.collect::<Vec<_>>() {
            self.pull(number, view, count)?;
            self.after(number)?;
        }
        Ok(())
    }

    /// Sends a view's client what it has next.
    fn pull(&mut self, number: u64, view: ViewId, count: u64) -> Result<(), Broken> {
        for _ in 0..count {
            let now = self.queue.now_ms();
            let Some(life) = self.get(number) else {
                return Ok(());
            };
            let mut out = Vec::new();
            let pull = life.core.pull(at(now), view, &mut out);
            let seat = life.seats.get(&view).copied();
            let (cursor, generation) = (life.core.cursor(view), life.generation);
            let is_in_memory = self.journal.len() == 0;
            let cursor = cursor.map(|text| Cursor {
                text,
                is_in_memory,
                generation,
            });
            self.perform(number, out)?;
            match pull {
                Pull::Message(message) => {
                    self.trace.note(now, || {
                        let mut line = format!("    to {view:?} {message:?}");
                        line.truncate(line.floor_char_boundary(400));
                        line
                    });
                    self.pulled(number, &message)?;
                    self.asked_rightly(number, view, &message)?;
                    if let Some((client, epoch)) = seat {
                        let message = Down::Message(Box::new(message), cursor);
                        self.send_down(client, epoch, message);
                    }
                }
                Pull::Read { from } => {
                    self.trace.reads += 1;
                    let works = self.get(number).is_some_and(|life| !life.core.has_failed());
                    if works && from >= self.journal.len() && self.journal.is_owner(number) {
                        return Err(format!("a view wants record {from}, which is not there"));
                    }
                    let mut delay = self.choices.below(20);
                    if self.fails() {
                        delay *= 50;
                    }
                    if let Some(life) = self.get(number) {
                        life.reading.insert(view);
                    }
                    let life = number;
                    self.queue.after(delay, Due::Page { life, view, from });
                    return Ok(());
                }
                _ => {
                    self.leave(number, view);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn over(&mut self, number: u64) -> Result<(), Broken> {
        let Some(mut life) = self.life.take_if(|life| life.number == number) else {
            return Err("a session ended twice".into());
        };
        life.is_over = true;
        self.end_program();
        life.turns.clear();
        let views: Vec<ViewId> = life.core.views().collect();
        life.seats.retain(|view, _| views.contains(view));
        self.asks.retain(|_, (of, _)| *of != number);
        let waiting = life.core.take_waiting();
        if !life.seats.is_empty() {
            self.ended.push(life);
        }
        for input in waiting {
            match &mut self.waiting {
                Some(others) => others.push(input),
                None => self.open_for(input),
            }
        }
        self.trace.closes += 1;
        Ok(())
    }

    /// Lets go of a client that was sent everything of a session that is over.
    fn leave(&mut self, number: u64, view: ViewId) {
        let Some(life) = self.get(number).filter(|life| life.is_over) else {
            return;
        };
        if life.reading.contains(&view) {
            return;
        }
        let seat = life.seats.remove(&view);
        self.ended.retain(|life| !life.seats.is_empty());
        if let Some((client, epoch)) = seat {
            self.send_down(client, epoch, Down::Over);
        }
    }
}
