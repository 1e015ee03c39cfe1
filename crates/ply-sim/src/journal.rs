//! A simulated journal: slow, stuck, failing, forgetful, and at times somebody else's.

use std::collections::BTreeSet;

use ply_session::engine::{Action, Engine};
use ply_session::{
    AskId, Description, Event, History, Level, Opened, Opening, Persist, Question, Settings,
};
use ply_wire::{MaybeUndefined, v2};

use crate::Broken;
use crate::choice::Choices;

/// The journal of one session.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) is_created: bool,
    records: Vec<Vec<u8>>,
    /// With how many records each append ended: one is kept as a whole or not at all.
    ends: Vec<usize>,
    /// How many records survive the death of the process.
    written: usize,
    /// How many records survive the loss of power.
    synced: usize,
    epoch: u64,
    /// Until when another owner has it.
    taken_until_ms: u64,
    /// Who may write it.
    owner: u64,
    /// What listings say.
    listed: Listed,
    /// The same as it was with so many records, since it is lost with them.
    listed_with: Vec<(usize, Listed)>,
    pub(crate) safe: Safe,
}

/// What listings say of a session.
#[derive(Debug, Clone, Default)]
struct Listed {
    title: Option<String>,
    is_unfinished: bool,
}

/// What no crash takes away.
#[derive(Debug, Default)]
pub(crate) struct Safe {
    pub(crate) prompts: BTreeSet<String>,
    /// Prompts whose turn has ended.
    pub(crate) ended: BTreeSet<String>,
    pub(crate) answered: BTreeSet<AskId>,
    pub(crate) calls: BTreeSet<String>,
    pub(crate) idles: u64,
    pub(crate) titles: BTreeSet<String>,
    running: Vec<String>,
}

/// How an append ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Done,
    /// Nothing was written, and trying again may help.
    Busy,
    /// Nothing was written, and what was only accepted may be lost.
    Broken,
    /// Everything was written, and the answer is an error all the same.
    Doubtful,
}

impl Journal {
    pub(crate) fn len(&self) -> u64 {
        self.records.len() as u64
    }

    pub(crate) fn is_owner(&self, life: u64) -> bool {
        self.owner == life
    }

    pub(crate) fn is_taken(&self, now_ms: u64) -> bool {
        now_ms < self.taken_until_ms
    }

    /// Returns the records from a number on, at most `count`.
    pub(crate) fn page(&self, from: u64, count: u64) -> Vec<Vec<u8>> {
        let skip = usize::try_from(from).unwrap_or(usize::MAX);
        let take = usize::try_from(count).unwrap_or(usize::MAX);
        self.records.iter().skip(skip).take(take).cloned().collect()
    }

    /// Gives the session to an owner.
    ///
    /// That there is a new owner is safe before it is told, and so is everything before it.
    pub(crate) fn open(&mut self, life: u64, from: u64) -> Result<Opened, Broken> {
        self.is_created = true;
        self.sync()?;
        self.owner = life;
        self.epoch += 1;
        Ok(Opened {
            epoch: self.epoch,
            records: self.len(),
            tail: self.page(from, u64::MAX),
        })
    }

    /// Does what comes of an append.
    pub(crate) fn append(
        &mut self,
        persist: Persist,
        fate: Fate,
        choices: &mut Choices<'_>,
    ) -> Result<(), Broken> {
        match fate {
            Fate::Busy => return Ok(()),
            Fate::Broken => {
                self.lose(self.written, choices);
                return Ok(());
            }
            Fate::Done | Fate::Doubtful => {}
        }
        self.records
            .extend(persist.records.into_iter().map(Vec::from));
        self.ends.push(self.records.len());
        if let Some(description) = persist.description {
            self.describe(description);
        }
        if persist.level >= Level::Written {
            self.written = self.records.len();
        }
        // What was written and then reported as failed is as safe as the store likes.
        if persist.level == Level::Durable && fate == Fate::Done {
            self.sync()?;
        }
        Ok(())
    }

    fn describe(&mut self, description: Description) {
        let listed = &mut self.listed;
        if let Some(title) = description.title {
            listed.title = title;
        }
        listed.is_unfinished = description.unfinished.unwrap_or(listed.is_unfinished);
        self.listed_with.push((self.records.len(), listed.clone()));
    }

    /// Writes what was only accepted.
    pub(crate) fn commit(&mut self) {
        self.written = self.records.len();
    }

    /// Makes everything safe.
    pub(crate) fn sync(&mut self) -> Result<(), Broken> {
        self.commit();
        for record in self.records.iter().skip(self.synced) {
            let event = serde_json::from_slice(record)
                .map_err(|error| format!("a record does not read: {error}"))?;
            self.safe.note(&event);
        }
        self.synced = self.records.len();
        Ok(())
    }

    /// Loses some of the newest records with the process, or with the power; returns whether there still is power.
    pub(crate) fn crash(&mut self, choices: &mut Choices<'_>) -> bool {
        let has_power = choices.percent(50);
        let kept = match has_power {
            true => self.written,
            false => self.synced,
        };
        self.lose(kept, choices);
        self.owner = 0;
        has_power
    }

    /// Loses some of the newest records with the process alone: what is written stays, and clients that live on rely on it.
    pub(crate) fn killed(&mut self, choices: &mut Choices<'_>) {
        self.lose(self.written, choices);
        self.owner = 0;
    }

    fn lose(&mut self, kept: usize, choices: &mut Choices<'_>) {
        let newer = self.ends.iter().copied().filter(|end| *end > kept);
        let newer: Vec<usize> = [kept].into_iter().chain(newer).collect();
        let kept = choices.pick(&newer).copied().unwrap_or(kept);
        self.records.truncate(kept);
        self.ends.retain(|end| *end <= kept);
        let len = self.records.len();
        self.written = self.written.min(len);
        self.listed_with.retain(|(with, _)| *with <= len);
        let listed = self.listed_with.last().map(|(_, listed)| listed);
        self.listed = listed.cloned().unwrap_or_default();
    }

    pub(crate) fn delete(&mut self) {
        *self = Self {
            epoch: self.epoch,
            ..Self::default()
        };
    }

    /// Lets another owner take the session: it ends what was cut off and adds something of its own.
    pub(crate) fn take_over(&mut self, until_ms: u64, writes: bool) -> Result<(), Broken> {
        self.taken_until_ms = until_ms;
        self.owner = u64::MAX;
        self.epoch += 1;
        if writes {
            let mut out = Vec::new();
            drop(Engine::open(
                Settings::default(),
                self.epoch,
                self.events()?,
                &mut out,
            ));
            let info = v2::SessionInfoUpdate::new().title(format!("owner {}", self.epoch));
            let own = Event::Update(v2::SessionUpdate::SessionInfoUpdate(info));
            // As every owner does that finds nothing.
            let owner = self.epoch;
            let begun = self.records.is_empty().then_some(Event::Begun { owner });
            let repair = out.into_iter().filter_map(|action| match action {
                Action::Append(event) => Some(event),
                _ => None,
            });
            for event in begun.into_iter().chain(repair).chain([own]) {
                let record = serde_json::to_vec(&event).map_err(|error| error.to_string())?;
                self.records.push(record);
            }
            self.describe(Description {
                title: Some(Some(format!("owner {}", self.epoch))),
                unfinished: Some(false),
                host: None,
            });
        }
        self.sync()
    }

    pub(crate) fn opening(&self) -> Opening {
        let mut opening = Opening::default();
        for record in &self.records {
            opening.record(record);
        }
        opening
    }

    pub(crate) fn events(&self) -> Result<Vec<Event>, Broken> {
        let events = self.records.iter().map(|record| {
            serde_json::from_slice(record)
                .map_err(|error| format!("a record does not read: {error}"))
        });
        events.collect()
    }

    /// Returns the questions that were asked and not answered.
    pub(crate) fn asked(&self) -> Result<BTreeSet<AskId>, Broken> {
        let mut open = BTreeSet::new();
        for event in self.events()? {
            match event {
                Event::Asked { ask, .. } => open.insert(ask),
                Event::Answered { ask, .. } => open.remove(&ask),
                _ => false,
            };
        }
        Ok(open)
    }

    /// Checks that the journal says what the session in memory does.
    pub(crate) fn agrees_with(&self, history: &History) -> Result<(), Broken> {
        let events = self.events()?;
        let folded = History::fold(&events);
        if folded.transcript().normalized() != history.transcript().normalized() {
            let (kept, known) = (
                folded.transcript().normalized(),
                history.transcript().normalized(),
            );
            let entries = kept.entries().zip(known.entries());
            let other = entries.into_iter().find(|(kept, known)| kept != known);
            return Err(format!(
                "the journal says otherwise than the session in memory: {other:?}, {} and {} entries, {:?} and {:?}",
                kept.entries().len(),
                known.entries().len(),
                kept.state(),
                known.state(),
            ));
        }
        if self.listed.title != history.transcript().info().title {
            return Err("the listed title is not the session's".into());
        }
        let is_unfinished = history.is_active() || !history.queued().is_empty();
        if self.listed.is_unfinished != is_unfinished {
            return Err("the session is listed as unfinished and is not, or the reverse".into());
        }
        Ok(())
    }

    /// Checks that the session is at rest as it is kept, and that opening it changes nothing.
    pub(crate) fn is_at_rest(&self) -> Result<(), Broken> {
        let events = self.events()?;
        let open = self.asked()?;
        if !open.is_empty() {
            return Err(format!("questions are open in a closed session: {open:?}"));
        }
        let mut out = Vec::new();
        let engine = Engine::open(Settings::default(), self.epoch + 1, events, &mut out);
        if !out.is_empty() {
            return Err(format!("a closed session is not at rest: {out:?}"));
        }
        let transcript = engine.history().transcript();
        let again = ply_wire::transcript::Transcript::fold(&transcript.to_updates());
        if again.normalized() != transcript.normalized() {
            return Err("a replay gives another transcript than the journal".into());
        }
        Ok(())
    }
}

impl Safe {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Update(v2::SessionUpdate::UserMessage(message)) => {
                self.prompts.insert(message.message_id.to_string());
                self.running.push(message.message_id.to_string());
            }
            // Without a reason it only says again that nothing runs.
            Event::Update(v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)))
                if idle.stop_reason.is_some() =>
            {
                self.idles += 1;
                self.ended.extend(self.running.drain(..));
            }
            Event::Answered { ask, .. } => {
                self.answered.insert(*ask);
            }
            Event::Asked {
                question: Question::Permission(request),
                ..
            } => {
                if let Some(v2::RequestPermissionSubject::ToolCall(subject)) = &request.subject {
                    self.note_call(&subject.tool_call);
                }
            }
            event => match event.update() {
                Some(v2::SessionUpdate::ToolCallUpdate(call)) => self.note_call(call),
                Some(v2::SessionUpdate::SessionInfoUpdate(info)) => {
                    self.titles.extend(info.title.value().cloned());
                }
                _ => {}
            },
        }
    }

    fn note_call(&mut self, call: &v2::ToolCallUpdate) {
        if call.status == MaybeUndefined::Value(v2::ToolCallStatus::InProgress) {
            self.calls.insert(call.tool_call_id.to_string());
        }
    }
}
