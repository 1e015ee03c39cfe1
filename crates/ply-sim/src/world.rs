//! One simulated world, from its first client to the last check.

mod driver;
mod effects;
mod fork;
mod held;
mod life;
mod questions;
mod quiesce;
mod runner;
mod shell;
mod store;

use std::collections::{BTreeMap, BTreeSet};

use ply_session::{
    AskId, CancelScope, CloseEffect, How, Input, Keep, LastClient, Level, Pace, Questions,
    QueuedPrompts, RequestId, Settings, TurnId, ViewId,
};

use self::fork::Forks;
use self::life::Life;
use crate::agent::Numbers;
use crate::choice::Choices;
use crate::client::{Client, Deed, Link, Tag};
use crate::journal::Journal;
use crate::message::Down;
use crate::program::Program;
use crate::queue::{Due, Queue};
use crate::trace::Trace;
use crate::{Broken, Kind};

/// Things that happen before a world comes to rest.
const STEPS_MAX: u64 = 400;
/// How long a message takes at most, in milliseconds; a slow one takes ten times as long.
const MESSAGE_TIME_MAX_MS: u64 = 20;

pub(crate) struct World<'a> {
    choices: Choices<'a>,
    queue: Queue,
    trace: Trace,
    settings: Settings,
    /// How often the journal fails, in percent.
    faults: u64,
    journal: Journal,
    /// The session, if it is open.
    life: Option<Life>,
    /// Those that are over and still have something for slow clients.
    ended: Vec<Life>,
    lives: u64,
    /// How many sessions of the same name there were.
    generation: u64,
    /// What waits until the host has opened the session.
    waiting: Option<Vec<Input>>,
    clients: Vec<Client>,
    /// When the last message of each link arrives, there and back: links keep their order.
    arrivals: Vec<(u64, u64)>,
    numbers: Numbers,
    /// Requests without an answer, and who waits for it.
    requests: BTreeMap<RequestId, Sent>,
    /// The turns of prompts.
    turns: BTreeMap<RequestId, Tag>,
    /// Turns whose end somebody relies on.
    ended_turns: BTreeSet<Tag>,
    /// Closes without an answer, each with its place among all closes.
    closes: BTreeMap<RequestId, (Keep, u64)>,
    /// Which life was last asked to delete the session, and the place of that among all closes.
    delete_asked: (u64, u64),
    /// How many closes sessions have heard of.
    closings: u64,
    /// Copies that were asked for.
    forks: Forks,
    /// The last life whose journal was deleted.
    deleted: u64,
    /// The last life whose session was archived.
    archived: u64,
    /// Questions that the agent's code waits for, with the life and the turn.
    asks: BTreeMap<AskId, (u64, Option<TurnId>)>,
    /// Ids that the core made, and the life it made them in.
    ids: BTreeMap<String, u64>,
    /// Whether a program behind a holder runs the turns.
    is_held: bool,
    /// That program, if it runs; those that are gone; and how many there were.
    program: Option<Program>,
    gone: Vec<Program>,
    programs: u64,
    /// Prompts that programs were sent.
    prompted: BTreeSet<String>,
    /// No more faults and no more requests: the world comes to rest.
    is_ending: bool,
}

/// A request that was sent.
#[derive(Debug, Clone, Copy)]
struct Sent {
    client: usize,
    epoch: u64,
}

impl<'a> World<'a> {
    /// Runs a world to its end.
    pub(crate) fn run(
        choices: Choices<'a>,
        kind: Kind,
        is_kept: bool,
    ) -> (Trace, Result<(), Broken>) {
        let mut world = Self {
            choices,
            queue: Queue::default(),
            trace: Trace::new(is_kept),
            settings: Settings::default(),
            faults: 0,
            journal: Journal::default(),
            life: None,
            ended: Vec::new(),
            lives: 0,
            generation: 0,
            waiting: None,
            clients: Vec::new(),
            arrivals: Vec::new(),
            numbers: Numbers::default(),
            requests: BTreeMap::new(),
            turns: BTreeMap::new(),
            ended_turns: BTreeSet::new(),
            closes: BTreeMap::new(),
            delete_asked: (0, 0),
            closings: 0,
            forks: Forks::new(),
            deleted: 0,
            archived: 0,
            asks: BTreeMap::new(),
            ids: BTreeMap::new(),
            is_held: kind == Kind::Hub,
            program: None,
            gone: Vec::new(),
            programs: 0,
            prompted: BTreeSet::new(),
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
        self.choose_settings();
        if self.is_held {
            self.choose_hub();
        }
        let count = self.choices.below(3) + 1;
        for index in 0..count {
            let client = Client::random(format!("client {index}"), &mut self.choices);
            self.add(client);
            let client = usize::try_from(index).unwrap_or(0);
            self.queue.after(index, Due::ClientActs { client });
            self.queue.after(index + 1, Due::ClientReads { client });
        }
        while self.trace.steps < STEPS_MAX && !self.choices.is_exhausted() {
            if !self.next()? {
                break;
            }
        }
        Ok(())
    }

    fn choose_settings(&mut self) {
        let choices = &mut self.choices;
        self.faults = match choices.weighted(&[4, 3, 2]) {
            0 => 0,
            1 => 1,
            _ => 6,
        };
        let settings = &mut self.settings;
        if choices.percent(60) {
            // Small enough for a slow client to fall behind.
            settings.limits.window_bytes = 8 * 1024;
            settings.limits.window_records = 0;
            settings.limits.pace_bytes = 16 * 1024;
            settings.limits.unwritten_bytes = 48 * 1024;
            settings.limits.write_bytes = 2 * 1024;
            settings.limits.uncreated_bytes = 4 * 1024;
            settings.limits.record_text_bytes = 200;
        }
        if !choices.percent(30) {
            return;
        }
        if choices.percent(50) {
            settings.last_client = LastClient::Stays;
        }
        if choices.percent(50) {
            settings.queued_prompts = QueuedPrompts::Stay;
        }
        if choices.percent(30) {
            settings.close = CloseEffect::Detaches;
        }
        if choices.percent(50) {
            settings.questions = Questions::Wait;
        }
        if choices.percent(50) {
            settings.cancel = CancelScope::Own;
        }
        if choices.percent(30) {
            settings.pace = Pace::Journal;
        }
        if choices.percent(30) {
            settings.shows = Level::Written;
        }
        settings.steering = choices.percent(50);
        settings.accepts.image = choices.percent(50);
    }

    fn add(&mut self, client: Client) {
        self.clients.push(client);
        self.arrivals.push((0, 0));
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
            Due::ClientReads { client } => self.client_reads(client),
            Due::FromClient {
                client,
                epoch,
                input,
            } => self.take_from(client, epoch, *input),
            Due::LinkLost { view } => self.link_lost(view),
            Due::ToClient {
                client,
                epoch,
                message,
            } => self.deliver(client, epoch, message),
            Due::AgentActs { life, turn } => self.agent_acts(life, turn),
            Due::DriverActs { life } => self.driver_acts(life),
            Due::ProgramActs { program } => self.program_acts(program),
            Due::BackgroundActs { life } => self.background_acts(life),
            Due::Prepared { life } => self.prepared(life),
            Due::OptionSet { life, request } => self.option_set(life, request),
            Due::Host => self.host(),
            Due::Appended { life, append, fate } => self.appended(life, append, fate),
            Due::Committed { life } => {
                if self.journal.is_owner(life) {
                    self.journal.commit();
                }
                Ok(())
            }
            Due::Opened { life, from } => self.opened(life, from),
            Due::Page { life, view, from } => self.page(life, view, from),
            Due::Taken { life } => self.taken(life),
            Due::Lost { life } => self.lost(life),
            Due::Released { life, then } => self.released(life, then),
            Due::Tick { life } => self.tick(life),
            Due::Crash { life } => {
                if self.is_alive(life) {
                    self.crash();
                }
                Ok(())
            }
        }
    }

    fn is_alive(&self, life: u64) -> bool {
        self.life.as_ref().is_some_and(|own| own.number == life)
    }

    /// Ends the process at this instant: its links break and what was not safe may be lost.
    fn crash(&mut self) {
        self.life = None;
        self.ended.clear();
        self.waiting = None;
        self.requests.clear();
        self.closes.clear();
        self.forks.clear();
        self.asks.clear();
        self.trace.crashes += 1;
        let has_power = self.journal.crash(&mut self.choices);
        if !has_power {
            self.end_program();
        }
        for client in &mut self.clients {
            client.disconnect();
            if !has_power {
                // Nobody on the same machine has seen anything either.
                client.forget();
            }
        }
    }

    fn client_acts(&mut self, index: usize) -> Result<(), Broken> {
        if self.is_ending {
            return Ok(());
        }
        self.shell_acts()?;
        let again = self.choices.below(60);
        self.queue
            .after(again + 1, Due::ClientActs { client: index });
        if self.choices.percent(1) {
            // The machine sleeps, or its clock is set.
            let jump = self.choices.below(100_000);
            self.queue.jump(jump);
        }
        let exists = self.journal.is_created || self.life.is_some();
        let Some(client) = self.clients.get_mut(index) else {
            return Ok(());
        };
        let (epoch, view) = (client.epoch, client.view);
        match client.act(exists, &mut self.numbers, &mut self.choices) {
            Deed::Crash => {
                client.disconnect();
                let delay = self.choices.below(40);
                self.queue.after(delay, Due::LinkLost { view });
            }
            Deed::Leave(input) => self.send_up(index, epoch, vec![*input]),
            Deed::Send(inputs) => {
                if client.view != view {
                    // A new link; the old one is noticed to be gone at some time.
                    let delay = self.choices.below(40);
                    self.queue.after(delay, Due::LinkLost { view });
                }
                if let Some(Input::HungUp { .. }) = inputs.first() {
                    let delay = self.choices.below(4000);
                    self.queue.after(delay + 200, Due::LinkLost { view });
                }
                let epoch = self.clients.get(index).map_or(epoch, |client| client.epoch);
                self.send_up(index, epoch, inputs);
            }
        }
        Ok(())
    }

    /// Connects every client that is not there, to see everything from the beginning.
    fn connect_all(&mut self) {
        let exists = self.journal.is_created || self.life.is_some();
        for index in 0..self.clients.len() {
            let Some(client) = self.clients.get_mut(index) else {
                return;
            };
            if client.link == Link::Down && client.waiting.is_empty() {
                let view = client.view;
                let how = if exists { How::Replay } else { How::New };
                let inputs = match client.is_away() {
                    true => client.come_back(&mut self.numbers),
                    false => vec![client.connect(how, &mut self.numbers)],
                };
                let epoch = client.epoch;
                self.queue.after(0, Due::LinkLost { view });
                self.send_up(index, epoch, inputs);
            }
        }
    }

    fn send_up(&mut self, client: usize, epoch: u64, inputs: Vec<Input>) {
        for input in inputs {
            if let Some(request) = input.request() {
                self.requests.insert(request, Sent { client, epoch });
            }
            let time = self.message_time();
            let Some((up, _)) = self.arrivals.get_mut(client) else {
                return;
            };
            *up = time.max(*up);
            let due = Due::FromClient {
                client,
                epoch,
                input: Box::new(input),
            };
            self.queue.at(*up, due);
        }
    }

    fn send_down(&mut self, client: usize, epoch: u64, message: Down) {
        let time = self.message_time();
        let Some((_, down)) = self.arrivals.get_mut(client) else {
            return;
        };
        *down = time.max(*down);
        let due = Due::ToClient {
            client,
            epoch,
            message,
        };
        self.queue.at(*down, due);
    }

    fn message_time(&mut self) -> u64 {
        let slow = if self.choices.percent(5) { 10 } else { 1 };
        self.queue.now_ms() + self.choices.below(MESSAGE_TIME_MAX_MS) * slow
    }

    fn deliver(&mut self, index: usize, epoch: u64, message: Down) -> Result<(), Broken> {
        let request = match &message {
            Down::Message(message, _) => match &**message {
                ply_session::Message::Respond { request, .. } => Some(*request),
                _ => None,
            },
            Down::Respond { request, .. } => Some(*request),
            _ => None,
        };
        let turn = request.and_then(|request| self.turns.get(&request).copied());
        match self.clients.get_mut(index) {
            Some(client) if client.epoch == epoch => client.receive(message, turn),
            _ => Ok(()),
        }
    }

    fn link_lost(&mut self, view: ViewId) -> Result<(), Broken> {
        for client in &mut self.clients {
            let waits = client.link != Link::Down || !client.waiting.is_empty();
            if client.view == view && waits {
                // It hung up and is gone now.
                client.disconnect();
            }
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.retain(|input| !is_of(input, view));
        }
        for life in &mut self.ended {
            life.seats.remove(&view);
        }
        match &mut self.life {
            Some(life) => {
                life.seats.remove(&view);
                let number = life.number;
                self.feed(number, Input::Detach { view })
            }
            None => Ok(()),
        }
    }
}

fn is_of(input: &Input, view: ViewId) -> bool {
    match input {
        Input::Attach(attach) => attach.view == view,
        Input::Prompt(prompt) => prompt.view == view,
        Input::SetOption { view: of, .. } => *of == view,
        Input::Close(close) => close.view == Some(view),
        _ => false,
    }
}
