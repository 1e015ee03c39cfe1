//! The beginning of a session in this process: new, from its journal, or around a runner that is already there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ply_wire::v2;

use super::Core;
use super::close::Closing;
use super::input::{Opened, Setup};
use super::operations::Operations;
use super::options::Options;
use super::store::Store;
use super::window::Window;
use crate::engine::{Action, Engine, Opening};
use crate::{Event, Settings};

/// The number of the owner that makes a session.
const FIRST_OWNER: u64 = 1;

impl Core {
    /// Returns the core of a session that is new, and kept in memory until there is something to keep.
    #[must_use]
    pub fn new(session: v2::SessionId, settings: Settings, setup: Arc<Setup>) -> Self {
        let engine = Engine::new(settings, FIRST_OWNER);
        Self::with(session, setup, engine, FIRST_OWNER, Store::new(), 0)
    }

    /// Returns the core of a session that was read from its journal. What was cut off in it is ended.
    #[must_use]
    pub fn open(
        session: v2::SessionId,
        settings: Settings,
        setup: Arc<Setup>,
        mut opening: Opening,
        opened: &Opened,
    ) -> Self {
        let mut actions = Vec::new();
        let (damaged, mut operations) = (opening.damaged, std::mem::take(&mut opening.operations));
        let first_owner = opening.first_owner;
        let engine = opening.finish(settings, opened.epoch, &mut actions);
        let store = Store::open(opened.records);
        let mut core = Self::with(session, setup, engine, opened.epoch, store, opened.records);
        (core.damaged, core.was_answered) = (damaged, true);
        core.first_written_by(first_owner, opened);
        // A prompt whose turn was cut off has its answer now.
        for action in &actions {
            if let Action::Append(event) = action {
                operations.recorded(event);
            }
        }
        operations.queued_as(|key| core.engine.prompt_named(key));
        core.operations = operations;
        core.actions = actions;
        let mut out = Vec::new();
        core.act(&mut out);
        core.repaired = core.window.head();
        core
    }

    /// Returns the core of a session that was read from its journal and whose runner is still alive. Nothing in it is ended:
    /// the turn that [`Core::engine`] names goes on, and the first clients that come are asked what it waits for.
    #[must_use]
    pub fn adopt(
        session: v2::SessionId,
        settings: Settings,
        setup: Arc<Setup>,
        mut opening: Opening,
        opened: &Opened,
    ) -> Self {
        let (damaged, mut operations) = (opening.damaged, std::mem::take(&mut opening.operations));
        let first_owner = opening.first_owner;
        let engine = opening.adopt(settings, opened.epoch, operations.adopt());
        operations.queued_as(|key| engine.prompt_named(key));
        let store = Store::open(opened.records);
        let mut core = Self::with(session, setup, engine, opened.epoch, store, opened.records);
        (core.damaged, core.operations, core.was_answered) = (damaged, operations, true);
        core.first_written_by(first_owner, opened);
        core
    }

    /// Notes who wrote the first record. A journal that was created and never written to gets one that says so: whoever created it
    /// may have told a client places in what it kept in memory.
    fn first_written_by(&mut self, owner: Option<u64>, opened: &Opened) {
        self.first_owner = owner.unwrap_or(FIRST_OWNER);
        if opened.records == 0 && opened.epoch > FIRST_OWNER {
            self.first_owner = opened.epoch;
            let owner = opened.epoch;
            self.mark(Event::Begun { owner });
        }
    }

    /// Notes that nobody was told of the session, though it was read from its journal. If it cannot be prepared, or whoever asked
    /// for it goes away first, it is deleted.
    pub fn set_unknown(&mut self) {
        self.was_answered = false;
    }

    fn with(
        session: v2::SessionId,
        setup: Arc<Setup>,
        engine: Engine,
        epoch: u64,
        store: Store,
        records: u64,
    ) -> Self {
        Self {
            session,
            setup,
            window: Window::new(records, engine.settings().limits.record_text_bytes),
            engine,
            store,
            views: Vec::new(),
            gated: VecDeque::new(),
            prompts: BTreeMap::new(),
            left: BTreeMap::new(),
            edited: BTreeSet::new(),
            own: Vec::new(),
            options: Options::default(),
            waiting: VecDeque::new(),
            is_prepared: false,
            repaired: 0,
            closing: Closing::default(),
            was_seen: false,
            was_answered: false,
            is_unattended: false,
            overdue: None,
            operations: Operations::default(),
            forks: Vec::new(),
            damaged: 0,
            epoch,
            first_owner: FIRST_OWNER,
            actions: Vec::new(),
            now: Duration::ZERO,
        }
    }
}
