//! The owner of the session: one job at a time, from the message to what the engine makes of it.

use ply_session::{Input, Prompt};

use super::{SYNC_TIME_MAX_MS, World};
use crate::ledger::Broken;
use crate::message::{Down, PromptOutcome, Up};
use crate::process::{Job, appended};
use crate::queue::Due;
use crate::view::View;

impl World<'_> {
    /// Gives the owner something to do, now or when it is done with what it does.
    pub(super) fn job(&mut self, job: Job) -> Result<(), Broken> {
        match (&mut self.process, job) {
            (Some(process), job) => process.inbox.push_back(job),
            (
                None,
                Job::Client {
                    client,
                    epoch,
                    message,
                },
            ) => self.refuse_late(client, epoch, &message),
            (None, _) => {}
        }
        self.work()
    }

    fn refuse_late(&mut self, client: usize, epoch: u64, message: &Up) {
        if let Up::Prompt { request, .. } = message {
            let (request, outcome) = (*request, PromptOutcome::Refused);
            self.send_down(client, epoch, vec![Down::Answer { request, outcome }]);
        }
    }

    /// Handles jobs until there is none, or one waits for the store.
    pub(super) fn work(&mut self) -> Result<(), Broken> {
        loop {
            let Some(process) = &mut self.process else {
                return Ok(());
            };
            if process.unsynced.is_some() {
                return Ok(());
            }
            let Some(job) = process.inbox.pop_front() else {
                return Ok(());
            };
            match job {
                Job::Do(input) => self.step(*input)?,
                Job::LinkLost { client, epoch } => self.detach(client, epoch)?,
                Job::Client {
                    client,
                    epoch,
                    message,
                } => self.message(client, epoch, message)?,
            }
        }
    }

    fn detach(&mut self, client: usize, epoch: u64) -> Result<(), Broken> {
        let Some(process) = &mut self.process else {
            return Ok(());
        };
        let Some(view) = process.view_of(client, epoch).map(|view| view.id) else {
            return Ok(());
        };
        process.views.retain(|other| other.id != view);
        self.step(Input::Detach { view })
    }

    fn message(&mut self, client: usize, epoch: u64, message: Up) -> Result<(), Broken> {
        if let Up::Attach { resumes } = message {
            return self.attach(client, epoch, resumes);
        }
        let Some(process) = &mut self.process else {
            return Ok(());
        };
        let fresh = match message {
            Up::Prompt { .. } => process.fresh_prompt(),
            _ => ply_session::PromptId(0),
        };
        let Some(view) = process.view_of(client, epoch) else {
            // The session was closed while this was on its way.
            self.refuse_late(client, epoch, &message);
            return Ok(());
        };
        let id = view.id;
        let mut out = Vec::new();
        let input = match message {
            Up::Attach { .. } => return Ok(()),
            Up::Detach => return self.detach(client, epoch),
            Up::Prompt { request, content } => {
                view.requests.insert(fresh, request);
                view.prompt_sent(fresh, &content);
                Input::Prompt(Prompt {
                    id: fresh,
                    view: id,
                    content,
                })
            }
            Up::Withdraw { request } => {
                let mut requests = view.requests.iter();
                match requests.find(|(_, known)| **known == request) {
                    Some((prompt, _)) => Input::Withdraw { prompt: *prompt },
                    None => return Ok(()),
                }
            }
            Up::Cancel => {
                view.cancel_sent();
                Input::Cancel
            }
            Up::CancelTurn => Input::CancelTurn,
            Up::Close => Input::Close,
            Up::Answer { ask, reply } => {
                let reply = view.reply(ask, reply, &mut out);
                Input::Answer {
                    ask,
                    view: id,
                    reply,
                }
            }
        };
        self.send_down(client, epoch, out);
        self.step(input)
    }

    fn attach(&mut self, index: usize, epoch: u64, resumes: bool) -> Result<(), Broken> {
        let expects = self.choices.percent(50);
        let (Some(process), Some(client)) = (&mut self.process, self.clients.get(index)) else {
            return Ok(());
        };
        if client.epoch != epoch {
            return Ok(());
        }
        let id = process.fresh_view();
        let (history, mut out) = (process.engine.history(), Vec::new());
        let view = View::attach((id, index), client, history, (resumes, expects), &mut out);
        process.views.push(view);
        let answers = client.answers;
        self.send_down(index, epoch, out);
        self.step(Input::Attach { view: id, answers })
    }

    /// Steps the engine, writes what it appends, and does the rest when that is safe.
    pub(super) fn step(&mut self, input: Input) -> Result<(), Broken> {
        let Some(process) = &mut self.process else {
            return Ok(());
        };
        let now = self.queue.now_ms();
        self.trace.note(now, || format!("    in  {input:?}"));
        let mut out = Vec::new();
        let checked = process.ledger.step(&mut process.engine, input, &mut out);
        for action in &out {
            self.trace.note(now, || format!("    out {action:?}"));
        }
        checked?;
        let mut is_durable = false;
        for event in out.iter().filter_map(appended) {
            let line = self.store.write(event)?;
            self.trace.mix(line.as_bytes());
            is_durable |= event.is_durable();
        }
        process.unsynced = Some(out);
        if !is_durable {
            if self.choices.percent(10) {
                let life = process.life;
                self.queue.after(30, Due::GroupCommitted { life });
            }
            return self.synced();
        }
        let life = process.life;
        let is_ok = self.is_ending || !self.choices.percent(1);
        let delay = self.choices.below(SYNC_TIME_MAX_MS);
        self.queue.after(delay, Due::Synced { life, is_ok });
        Ok(())
    }

    /// Does what waited for the store, and then the next jobs.
    pub(super) fn synced(&mut self) -> Result<(), Broken> {
        let Some(process) = &mut self.process else {
            return Ok(());
        };
        let Some(actions) = process.unsynced.take() else {
            return Ok(());
        };
        self.perform(actions)?;
        self.work()
    }
}
