//! The process of the agent: one engine, its views, and the rules of a driver.
//!
//! One input at a time. Everything a step appends is written, and synced if it must be durable,
//! before anything of the step is done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ply_session::{Action, Engine, Event, Input, PromptId, Settings, TurnId, ViewId};
use ply_wire::transcript::Transcript;

use crate::agent::AgentTurn;
use crate::choice::Choices;
use crate::ledger::{Broken, Ledger};
use crate::message::Up;
use crate::store::Store;
use crate::view::View;

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) life: u64,
    pub(crate) engine: Engine,
    pub(crate) ledger: Ledger,
    pub(crate) views: Vec<View>,
    /// What waits until the step before it is done.
    pub(crate) inbox: VecDeque<Job>,
    /// What is done as soon as the store is.
    pub(crate) unsynced: Option<Vec<Action>>,
    pub(crate) turns: BTreeMap<TurnId, AgentTurn>,
    pub(crate) background: AgentTurn,
    pub(crate) turn_of: BTreeMap<PromptId, TurnId>,
    /// When turns were cancelled, and how far the clock had jumped then.
    pub(crate) cancelled_at: BTreeMap<TurnId, (u64, u64)>,
    pub(crate) asks: u64,
    pub(crate) views_seen: u64,
    pub(crate) prompts_seen: u64,
}

/// Something for the owner of the session to handle.
#[derive(Debug)]
pub(crate) enum Job {
    Client {
        client: usize,
        epoch: u64,
        message: Up,
    },
    LinkLost {
        client: usize,
        epoch: u64,
    },
    Do(Box<Input>),
}

impl From<Input> for Job {
    fn from(input: Input) -> Self {
        Self::Do(Box::new(input))
    }
}

impl Process {
    /// Opens the session from what the store kept, and checks that it is at rest and stays so.
    pub(crate) fn open(
        life: u64,
        store: &mut Store,
        choices: &mut Choices<'_>,
    ) -> Result<Self, Broken> {
        let events = store.read(choices.percent(30))?;
        let mut out = Vec::new();
        let engine = Engine::open(Settings::default(), events.clone(), &mut out);
        let ledger = Ledger::new(&engine, &out)?;
        let mut whole = events;
        for action in &out {
            if let Action::Append(event) = action {
                store.write(event)?;
                whole.push(event.clone());
            }
        }
        // The repair is safe before anybody attaches.
        store.sync();
        for event in out.iter().filter_map(appended) {
            store.acknowledge(event)?;
        }
        let mut open = BTreeSet::new();
        for event in &whole {
            match event {
                Event::Asked { ask, .. } => open.insert(*ask),
                Event::Answered { ask, .. } => open.remove(ask),
                _ => false,
            };
        }
        if !open.is_empty() {
            return Err("a question is open in a session that was opened".into());
        }
        let mut again = Vec::new();
        let reopened = Engine::open(Settings::default(), whole.clone(), &mut again);
        if !again.is_empty() {
            return Err(format!("opening a session twice changes it: {again:?}"));
        }
        let folded = ply_session::History::fold(&whole);
        let transcript = engine.history().transcript();
        if folded.transcript() != transcript || reopened.history().transcript() != transcript {
            return Err("opening a session gives another transcript than its journal".into());
        }
        if Transcript::fold(&transcript.to_updates()).normalized() != transcript.normalized() {
            return Err("a replay gives another transcript than the journal".into());
        }
        Ok(Self {
            life,
            engine,
            ledger,
            views: Vec::new(),
            inbox: VecDeque::new(),
            unsynced: None,
            turns: BTreeMap::new(),
            background: AgentTurn::new(life, None, choices),
            turn_of: BTreeMap::new(),
            cancelled_at: BTreeMap::new(),
            asks: 0,
            // No view of any life is called like another.
            views_seen: life * 1000,
            prompts_seen: 0,
        })
    }

    pub(crate) fn fresh_prompt(&mut self) -> PromptId {
        self.prompts_seen += 1;
        PromptId(self.prompts_seen)
    }

    pub(crate) fn fresh_view(&mut self) -> ViewId {
        self.views_seen += 1;
        ViewId(self.views_seen)
    }

    pub(crate) fn view_of(&mut self, client: usize, epoch: u64) -> Option<&mut View> {
        let mut views = self.views.iter_mut();
        views.find(|view| view.client == client && view.epoch == epoch)
    }

    /// Returns whether nothing is on its way here.
    pub(crate) fn is_idle(&self) -> bool {
        self.unsynced.is_none() && self.inbox.is_empty()
    }
}

/// Returns the event that an action writes.
pub(crate) fn appended(action: &Action) -> Option<&Event> {
    match action {
        Action::Append(event) => Some(event),
        _ => None,
    }
}
