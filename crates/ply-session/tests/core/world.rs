//! A core driven by hand: a journal that does what it is told, clients that read or do not, and time that stands still.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ply_session::{Core, Effect, Input, Opened, Opening, Pull, Settings, Setup, TurnId, ViewId};
use ply_wire::v2;

use crate::client::{self, Client};
use crate::journal::{Journal, Mode};

pub(crate) use ply_wire::negotiate::Version::{V1, V2};

pub(crate) struct World {
    pub(crate) core: Core,
    pub(crate) now: Duration,
    pub(crate) journal: Journal,
    pub(crate) clients: BTreeMap<u64, Client>,
    /// Effects in words, since they were last looked at.
    done: Vec<String>,
    /// The turn that was started last.
    pub(crate) turn: Option<TurnId>,
    pub(crate) requests: u64,
    /// From where the journal was last opened.
    opened_from: Option<u64>,
}

/// Returns the setup of every session.
pub(crate) fn setup() -> Setup {
    Setup::new("/work")
}

pub(crate) fn failure() -> v2::Error {
    v2::Error::new(v2::ErrorCode::InternalError.into(), "the disk is full")
}

impl World {
    /// Returns a session that is new, with its runner ready.
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let mut world = Self::unprepared(settings);
        world.step(Input::Prepared { outcome: Ok(()) });
        world
    }

    pub(crate) fn unprepared(settings: Settings) -> Self {
        let core = Core::new("s".into(), settings, Arc::new(setup()));
        Self::of(core, Journal::default())
    }

    fn of(core: Core, journal: Journal) -> Self {
        Self {
            core,
            now: Duration::ZERO,
            journal,
            clients: BTreeMap::new(),
            done: Vec::new(),
            turn: None,
            requests: 0,
            opened_from: None,
        }
    }

    /// Returns the session as another process opens it from its journal.
    pub(crate) fn reopen(self) -> Self {
        self.taken_over(Core::open).prepared()
    }

    /// The same before its runner is ready.
    pub(crate) fn reopen_unprepared(self) -> Self {
        self.taken_over(Core::open)
    }

    /// Returns the session as another process opens it while its runner goes on.
    pub(crate) fn adopt(self) -> Self {
        self.taken_over(Core::adopt).prepared()
    }

    fn prepared(mut self) -> Self {
        self.step(Input::Prepared { outcome: Ok(()) });
        self
    }

    fn taken_over(
        self,
        open: fn(v2::SessionId, Settings, Arc<Setup>, Opening, &Opened) -> Core,
    ) -> Self {
        let mut journal = self.journal;
        journal.epoch += 1;
        let mut opening = Opening::default();
        for record in &journal.records {
            opening.record(record);
        }
        let opened = Opened {
            epoch: journal.epoch,
            records: journal.records.len() as u64,
            tail: Vec::new(),
        };
        let (settings, setup) = (Settings::default(), Arc::new(setup()));
        let core = open("s".into(), settings, setup, opening, &opened);
        let mut world = Self::of(core, journal);
        world.turn = world.core.engine().running();
        world.requests = self.requests;
        world
    }

    /// Returns a session with one client of each version, 1 and 2, and the turn of a prompt of the first.
    pub(crate) fn running() -> Self {
        Self::running_with(Settings::default())
    }

    pub(crate) fn running_with(settings: Settings) -> Self {
        let mut world = Self::with(settings);
        world.attach(1, V1);
        world.attach(2, V2);
        world.prompt(1, "one");
        world.forget();
        world
    }

    /// Takes one input and does everything that comes of it.
    pub(crate) fn step(&mut self, input: Input) {
        let mut out = Vec::new();
        self.core.step(self.now, input, &mut out);
        self.drive(out);
    }

    fn drive(&mut self, out: Vec<Effect>) {
        for effect in out {
            self.perform(effect);
        }
        self.append();
        let reading: Vec<u64> = self
            .clients
            .iter()
            .filter(|(_, client)| client.reads)
            .map(|(id, _)| *id)
            .collect();
        for view in reading {
            self.pull(view, usize::MAX);
        }
    }

    fn perform(&mut self, effect: Effect) {
        if let Some(words) = client::effect(&effect) {
            self.done.push(words);
        }
        match effect {
            Effect::Create => match self.journal.creates {
                Mode::Answers => self.step(Input::Opened(Opened {
                    epoch: self.journal.epoch,
                    records: 0,
                    tail: Vec::new(),
                })),
                Mode::Fails => self.step(Input::NotOpened { error: failure() }),
                _ => {}
            },
            Effect::Open { from } => self.open(from),
            Effect::Start(start) => self.turn = Some(start.turn),
            Effect::Release { .. } if self.journal.releases => self.step(Input::Released),
            _ => {}
        }
    }

    fn open(&mut self, from: u64) {
        self.opened_from = Some(from);
        match self.journal.opens {
            Mode::Answers => {
                self.journal.epoch += 1;
                let from = usize::try_from(from).unwrap();
                let tail = self.journal.records.get(from..).unwrap_or_default();
                let opened = Opened {
                    epoch: self.journal.epoch,
                    records: self.journal.records.len() as u64,
                    tail: tail.to_vec(),
                };
                self.step(Input::Opened(opened));
            }
            Mode::Fails => self.step(Input::NotOpened { error: failure() }),
            _ => {}
        }
    }

    fn append(&mut self) {
        let Some(persist) = self.core.persist() else {
            return;
        };
        if let Some(answer) = self.journal.append(persist) {
            self.step(answer);
        }
    }

    /// Opens the journal, as it was asked to.
    pub(crate) fn reopen_journal(&mut self) {
        let from = self.opened_from.expect("the journal is to be opened");
        self.open(from);
    }

    /// Lets the journal answer again, beginning with what it did not answer.
    pub(crate) fn unstick(&mut self) {
        self.journal.appends = Mode::Answers;
        if let Some(persist) = self.journal.under_way.take() {
            let answer = self.journal.append(persist).unwrap();
            self.step(answer);
        }
    }

    /// Answers the append that waits; what comes next waits again.
    pub(crate) fn answer_append(&mut self) {
        let persist = self.journal.under_way.take().expect("an append waits");
        self.journal.write(persist);
        self.step(Input::Persisted {
            reached: ply_session::Level::Accepted,
        });
    }

    /// Fails the append that waits.
    pub(crate) fn fail_append(&mut self) {
        assert!(self.journal.under_way.take().is_some(), "an append waits");
        self.journal.lose();
        let (error, may_pass) = (failure(), false);
        self.step(Input::NotPersisted { error, may_pass });
    }

    /// Lets time pass, up to every deadline on the way.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        let mut ticks = 0;
        while let Some(at) = self.core.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.step(Input::Tick);
            ticks += 1;
            assert!(ticks < 1000, "a deadline that never passes: {at:?}");
        }
        self.now = end;
        self.step(Input::Tick);
    }

    /// Sends a client up to so many messages.
    pub(crate) fn pull(&mut self, view: u64, most: usize) -> usize {
        for count in 0..most {
            let mut out = Vec::new();
            let pulled = self.core.pull(self.now, ViewId(view), &mut out);
            assert!(out.is_empty() || matches!(pulled, Pull::Message(_) | Pull::Nothing));
            let Some(client) = self.clients.get_mut(&view) else {
                return count;
            };
            match pulled {
                Pull::Message(message) => client.take(message),
                Pull::Read { from } => {
                    let page = self.journal.page(ViewId(view), from);
                    self.step(page);
                }
                _ => return count,
            }
            for effect in out {
                self.perform(effect);
            }
        }
        most
    }

    /// Takes what was done since the last look, in words.
    pub(crate) fn done(&mut self) -> Vec<String> {
        std::mem::take(&mut self.done)
    }

    /// Takes what a client was sent since the last look, in words.
    pub(crate) fn seen(&mut self, view: u64) -> Vec<String> {
        let client = self.clients.get_mut(&view).expect("the client is known");
        std::mem::take(&mut client.seen)
    }

    /// Forgets what was done and sent so far.
    pub(crate) fn forget(&mut self) {
        self.done.clear();
        self.clients
            .values_mut()
            .for_each(|client| client.seen.clear());
    }

    /// Checks that clients have folded what the session is.
    #[track_caller]
    pub(crate) fn assert_same(&self, views: &[u64]) {
        let kept = self.core.history().transcript();
        for view in views {
            self.clients
                .get(view)
                .expect("the client is known")
                .assert_has(kept);
        }
    }
}
