//! Copies of the session: what is in one, and that it can be used like any other session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use ply_session::{
    Core, Effect, Event, Forking, History, How, Input, Message, Opened, Opening, Outcome, Prompt,
    Pull, RequestId, Response, Settings, Setup, Stop, fork_record, is_forked,
};
use ply_wire::negotiate::Version;
use ply_wire::v2;

use super::World;
use crate::Broken;
use crate::agent::Numbers;
use crate::client::Client;
use crate::compare::compare;
use crate::message::Down;

/// Epochs of copies, which begin anew.
const EPOCH: u64 = 2;

impl World<'_> {
    /// Notes which turns are safely over when a client wants a copy: they are part of it.
    pub(super) fn fork_asked(&mut self, request: RequestId) {
        let ended = self.journal.safe.ended.clone();
        self.forks.insert(request, (self.deleted, ended));
    }

    /// Makes a copy of the first records, as an agent does, and checks it.
    pub(super) fn fork(&mut self, request: RequestId, records: u64) -> Result<(), Broken> {
        let asked = self.forks.remove(&request);
        let source = self.journal.page(0, records);
        let mut forking = Forking::default();
        source.iter().for_each(|record| forking.record(record));
        let point = forking.point();
        let upto = usize::try_from(point.records).unwrap_or(usize::MAX);
        let past = source.get(..upto).ok_or("a copy ends behind its source")?;
        let mut copy = vec![fork_record(&v2::SessionId::new("s"))];
        copy.extend(past.iter().filter(|record| is_forked(record)).cloned());

        let (of_source, of_copy) = (History::fold(&read(past)?), History::fold(&read(&copy)?));
        if of_source.transcript().normalized() != of_copy.transcript().normalized() {
            return Err("a copy is not what its source was at the cut".into());
        }
        if point.title != of_copy.transcript().info().title {
            return Err("a copy is listed with another title than its own".into());
        }
        // Whatever was deleted meanwhile is not in it.
        if let Some((_, ended)) = asked.filter(|(deleted, _)| *deleted == self.deleted) {
            let has = messages(&copy);
            if let Some(missing) = ended.iter().find(|message| !has.contains(*message)) {
                return Err(format!("{missing} was over and is not in the copy"));
            }
        }
        Fork::open(self.settings, copy).check()
    }
}

/// Reads records as events.
fn read(records: &[Vec<u8>]) -> Result<Vec<Event>, Broken> {
    let read = |record: &Vec<u8>| {
        serde_json::from_slice(record).map_err(|error| format!("a record does not read: {error}"))
    };
    records.iter().map(read).collect()
}

/// Returns the ids of the user's messages in some records.
fn messages(records: &[Vec<u8>]) -> BTreeSet<String> {
    let events = records
        .iter()
        .filter_map(|record| serde_json::from_slice::<Event>(record).ok());
    let ids = events.filter_map(|event| match event.update() {
        Some(v2::SessionUpdate::UserMessage(message)) => Some(message.message_id.to_string()),
        _ => None,
    });
    ids.collect()
}

/// A copy that is open, with a journal that answers at once.
struct Fork {
    core: Core,
    records: Vec<Vec<u8>>,
    clients: Vec<Client>,
    numbers: Numbers,
    /// Answers to requests without a view.
    refused: Vec<RequestId>,
}

impl Fork {
    fn open(settings: Settings, records: Vec<Vec<u8>>) -> Self {
        let mut opening = Opening::default();
        records.iter().for_each(|record| opening.record(record));
        let opened = Opened {
            epoch: EPOCH,
            records: records.len() as u64,
            tail: Vec::new(),
        };
        let (id, setup) = (v2::SessionId::new("fork"), Arc::new(Setup::new("/work")));
        let mut core = Core::open(id, settings, setup, opening, &opened);
        core.set_unknown();
        Self {
            core,
            records,
            clients: Vec::new(),
            numbers: Numbers::default(),
            refused: Vec::new(),
        }
    }

    /// Checks that clients of both versions can use the copy and see the same, and that it makes no id of its past again.
    fn check(mut self) -> Result<(), Broken> {
        let past = messages(&self.records);
        self.step(Input::Prepared { outcome: Ok(()) })?;
        for (version, how) in [
            (Version::V2, How::Fork),
            (Version::V1, How::Fork),
            (Version::V2, How::Replay),
            (Version::V1, How::Replay),
        ] {
            let mut client = Client::auditor(version);
            let attach = client.connect(how, &mut self.numbers);
            self.clients.push(client);
            self.step(attach)?;
        }
        self.compare()?;
        self.numbers.requests += 1;
        let request = RequestId(self.numbers.requests);
        let view = self.core.view_at(0).ok_or("nobody sees a copy")?;
        self.step(Input::Prompt(Prompt {
            request,
            view,
            content: vec!["and now?".into()],
            operation: None,
            steers: false,
        }))?;
        self.compare()?;
        if !self.refused.is_empty() {
            return Err(format!("a copy refuses {:?}", self.refused));
        }
        let now = messages(&self.records);
        match now.len() == past.len() + 1 && past.is_subset(&now) {
            true => Ok(()),
            false => Err("a copy uses a message id of its past again".into()),
        }
    }

    /// Takes an input and everything that comes of it.
    fn step(&mut self, input: Input) -> Result<(), Broken> {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let mut out = Vec::new();
            self.core.step(Duration::ZERO, input, &mut out);
            self.pull(&mut out)?;
            for effect in out {
                match effect {
                    Effect::Start(start) => inputs.push(Input::Ended {
                        turn: start.turn,
                        outcome: Outcome::Stopped(Stop::EndTurn),
                    }),
                    Effect::Respond { request, .. } => self.refused.push(request),
                    _ => {}
                }
            }
            if let Some(persist) = self.core.persist() {
                self.records
                    .extend(persist.records.into_iter().map(Vec::from));
                let reached = persist.level;
                inputs.push(Input::Persisted { reached });
            }
        }
        Ok(())
    }

    /// Shows clients what there is for them.
    fn pull(&mut self, out: &mut Vec<Effect>) -> Result<(), Broken> {
        for client in &mut self.clients {
            loop {
                let message = match self.core.pull(Duration::ZERO, client.view, out) {
                    Pull::Message(message) => message,
                    Pull::Read { from } => {
                        let skip = usize::try_from(from).unwrap_or(usize::MAX);
                        let records: Vec<_> = self.records.iter().skip(skip).cloned().collect();
                        let next = from + records.len() as u64;
                        let page = Input::Page {
                            view: client.view,
                            from,
                            records,
                            next,
                        };
                        self.core.step(Duration::ZERO, page, out);
                        continue;
                    }
                    _ => break,
                };
                match message {
                    // The prompt is not one of those that clients remember.
                    Message::Respond {
                        response: Ok(Response::Prompt(_) | Response::PromptV1(_)),
                        ..
                    }
                    | Message::Passed { .. } => {}
                    message => {
                        client.receive(Down::Message(Box::new(message), None), None)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn compare(&self) -> Result<(), Broken> {
        let events = read(&self.records)?;
        self.clients.iter().try_for_each(|client| {
            client.at_rest()?;
            compare(client, self.core.history(), &events)
        })
    }
}

/// Copies that were asked for: what was deleted by then, and the turns that were safely over.
pub(super) type Forks = BTreeMap<RequestId, (u64, BTreeSet<String>)>;
