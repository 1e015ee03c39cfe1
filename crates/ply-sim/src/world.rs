//! One simulated world, from its first client to the last check.

mod owner;
mod perform;
mod quiesce;

use std::collections::BTreeMap;

use ply_session::{Answers, Input, TurnId};

use crate::choice::Choices;
use crate::client::{Client, Deed, Link, Version};
use crate::ledger::Broken;
use crate::message::{Down, Up};
use crate::process::{Job, Process};
use crate::queue::{Due, Queue};
use crate::store::Store;
use crate::trace::Trace;

/// Things that happen before a world comes to rest.
const STEPS_MAX: u64 = 400;
/// Things that may happen until it is at rest, which no honest world needs.
const DRAIN_STEPS_MAX: u64 = 20_000;
/// How long a message takes at most, in milliseconds; a slow one takes ten times as long.
const MESSAGE_TIME_MAX_MS: u64 = 20;
/// How long the store takes to sync at most, in milliseconds.
const SYNC_TIME_MAX_MS: u64 = 50;

pub(crate) struct World<'a> {
    choices: Choices<'a>,
    queue: Queue,
    trace: Trace,
    store: Store,
    process: Option<Process>,
    lives: u64,
    clients: Vec<Client>,
    /// When the last message of each link arrives, there and back: links keep their order.
    arrivals: Vec<(u64, u64)>,
    /// Ids that the engine made, the life it made them in, and whether that was in a turn.
    ids: BTreeMap<String, (u64, bool)>,
    /// No more faults and no more wishes: the world comes to rest.
    is_ending: bool,
}

impl<'a> World<'a> {
    /// Runs a world to its end.
    pub(crate) fn run(choices: Choices<'a>, is_kept: bool) -> (Trace, Result<(), Broken>) {
        let mut world = Self {
            choices,
            queue: Queue::default(),
            trace: Trace::new(is_kept),
            store: Store::default(),
            process: None,
            lives: 0,
            clients: Vec::new(),
            arrivals: Vec::new(),
            ids: BTreeMap::new(),
            is_ending: false,
        };
        let done = world.live().and_then(|()| world.quiesce());
        if let Err(broken) = &done {
            let now = world.queue.now_ms();
            world.trace.note(now, || format!("BROKEN: {broken}"));
        }
        (world.trace, done)
    }

    fn live(&mut self) -> Result<(), Broken> {
        let count = self.choices.below(3) + 1;
        for index in 0..count {
            let version = match self.choices.percent(50) {
                true => Version::V1,
                false => Version::V2,
            };
            let answers = Answers {
                form: self.choices.percent(50),
                url: self.choices.percent(30),
            };
            let name = format!("client {index}");
            self.clients.push(Client::new(name, version, answers));
            self.arrivals.push((0, 0));
            let client = usize::try_from(index).unwrap_or(0);
            self.queue.after(index, Due::ClientActs { client });
        }
        self.start()?;
        while self.trace.steps < STEPS_MAX && !self.choices.is_exhausted() {
            if !self.next()? {
                break;
            }
        }
        Ok(())
    }

    /// Handles the next thing that is due; returns whether there was one.
    fn next(&mut self) -> Result<bool, Broken> {
        let Some(due) = self.queue.next() else {
            return Ok(false);
        };
        self.trace.steps += 1;
        let now = self.queue.now_ms();
        self.trace.mix(&now.to_le_bytes());
        self.trace.note(now, || {
            let mut line = format!("{due:?}");
            line.truncate(line.floor_char_boundary(300));
            line
        });
        self.handle(due)?;
        Ok(true)
    }

    fn handle(&mut self, due: Due) -> Result<(), Broken> {
        match due {
            Due::ClientActs { client } => self.client_acts(client),
            Due::FromClient {
                client,
                epoch,
                message,
            } => self.job(Job::Client {
                client,
                epoch,
                message,
            }),
            Due::LinkLost { client, epoch } => self.job(Job::LinkLost { client, epoch }),
            Due::ToClient {
                client,
                epoch,
                message,
            } => match self.clients.get_mut(client) {
                Some(client) if client.epoch == epoch => client.receive(*message),
                _ => Ok(()),
            },
            Due::AgentActs { life, turn } => self.agent_acts(life, turn),
            Due::BackgroundActs { life } => self.background_acts(life),
            Due::Synced { life, is_ok } if self.is_alive(life) => match is_ok {
                true => {
                    self.store.sync();
                    self.synced()
                }
                // What did not reach the disk was promised to nobody, and this process no longer
                // knows what did.
                false => self.crash(),
            },
            Due::GroupCommitted { life } if self.is_alive(life) => {
                self.store.sync();
                Ok(())
            }
            Due::Overdue { life, turn } if self.is_alive(life) => {
                self.job(Job::from(Input::TurnOverdue { turn }))
            }
            Due::Crash { life } if self.is_alive(life) => self.crash(),
            Due::Restart => self.start(),
            _ => Ok(()),
        }
    }

    fn is_alive(&self, life: u64) -> bool {
        self.process.as_ref().is_some_and(|own| own.life == life)
    }

    /// Starts the process, unless it runs.
    fn start(&mut self) -> Result<(), Broken> {
        if self.process.is_some() {
            return Ok(());
        }
        self.lives += 1;
        let process = Process::open(self.lives, &mut self.store, &mut self.choices)?;
        self.process = Some(process);
        let life = self.lives;
        if !self.is_ending {
            self.queue.after(5, Due::BackgroundActs { life });
            if self.choices.percent(25) {
                let time = self.choices.below(3000);
                self.queue.after(time, Due::Crash { life });
            }
        }
        Ok(())
    }

    /// Ends the process at this instant: its links break and what was not synced may be lost.
    fn crash(&mut self) -> Result<(), Broken> {
        self.process = None;
        self.trace.crashes += 1;
        self.store.crash(&mut self.choices);
        // Words outside any turn that are lost leave nothing that keeps their ids from coming again.
        let store = &self.store;
        self.ids
            .retain(|id, (_, in_turn)| *in_turn || store.holds(id));
        for client in &mut self.clients {
            client.disconnect();
        }
        self.queue.after(10, Due::Restart);
        Ok(())
    }

    fn client_acts(&mut self, index: usize) -> Result<(), Broken> {
        if self.is_ending {
            return Ok(());
        }
        let again = self.choices.below(60);
        self.queue
            .after(again + 1, Due::ClientActs { client: index });
        if self.choices.percent(1) {
            // The machine sleeps, or its clock is set.
            let jump = self.choices.below(100_000);
            self.queue.jump(jump);
        }
        let is_up = self.process.is_some();
        let Some(client) = self.clients.get_mut(index) else {
            return Ok(());
        };
        if !is_up && client.link == Link::Down {
            return Ok(());
        }
        let epoch = client.epoch;
        match client.act(&mut self.choices) {
            Deed::Nothing => {}
            Deed::Crash => {
                client.disconnect();
                let client = index;
                let delay = self.choices.below(40);
                self.queue.after(delay, Due::LinkLost { client, epoch });
            }
            Deed::Send(messages) => {
                // Attaching begins a new connection; detaching is the last word of an old one.
                let is_last = matches!(messages.first(), Some(Up::Detach));
                let epoch = if is_last { epoch } else { client.epoch };
                for message in messages {
                    self.send_up(index, epoch, message);
                }
            }
        }
        Ok(())
    }

    fn send_up(&mut self, client: usize, epoch: u64, message: Up) {
        let time = self.message_time();
        let Some((up, _)) = self.arrivals.get_mut(client) else {
            return;
        };
        *up = time.max(*up);
        let due = Due::FromClient {
            client,
            epoch,
            message,
        };
        self.queue.at(*up, due);
    }

    fn send_down(&mut self, client: usize, epoch: u64, messages: Vec<Down>) {
        if messages.is_empty() {
            return;
        }
        let time = self.message_time();
        let Some((_, down)) = self.arrivals.get_mut(client) else {
            return;
        };
        *down = time.max(*down);
        for message in messages {
            let due = Due::ToClient {
                client,
                epoch,
                message: Box::new(message),
            };
            self.queue.at(*down, due);
        }
    }

    fn message_time(&mut self) -> u64 {
        let slow = if self.choices.percent(5) { 10 } else { 1 };
        self.queue.now_ms() + self.choices.below(MESSAGE_TIME_MAX_MS) * slow
    }

    fn agent_acts(&mut self, life: u64, turn: TurnId) -> Result<(), Broken> {
        if !self.is_alive(life) {
            return Ok(());
        }
        let Some(process) = &mut self.process else {
            return Ok(());
        };
        let Some(code) = process.turns.get_mut(&turn) else {
            return Ok(());
        };
        // Code that was given up goes on for a while and is not heard.
        let is_over = code.done || (code.abandoned && self.choices.percent(30));
        let inputs = match is_over {
            true => Vec::new(),
            false => code.act(&process.engine, &mut process.asks, &mut self.choices),
        };
        if is_over {
            process.turns.remove(&turn);
        } else {
            let again = self.choices.below(25);
            self.queue.after(again + 1, Due::AgentActs { life, turn });
        }
        for input in inputs {
            self.job(Job::from(input))?;
        }
        Ok(())
    }

    fn background_acts(&mut self, life: u64) -> Result<(), Broken> {
        if self.is_ending || !self.is_alive(life) {
            return Ok(());
        }
        let again = self.choices.below(200);
        self.queue.after(again + 20, Due::BackgroundActs { life });
        let Some(process) = &mut self.process else {
            return Ok(());
        };
        let inputs = match self.choices.weighted(&[3, 5]) {
            0 => vec![Input::Begin {
                prompt: process.fresh_prompt(),
            }],
            _ => {
                let (engine, asks) = (&process.engine, &mut process.asks);
                process.background.act(engine, asks, &mut self.choices)
            }
        };
        for input in inputs {
            self.job(Job::from(input))?;
        }
        Ok(())
    }
}
