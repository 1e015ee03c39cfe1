//! The newest records of a session, for views that are not far behind and for a journal that is.

mod hand_over;

use std::collections::{BTreeSet, VecDeque};

use ply_wire::v2;

use super::mark::At;
use super::record::Record;
use crate::{Event, Level, Settings};

/// What is counted for a slot besides its JSON.
const SLOT_BYTES: usize = size_of::<Slot>();

/// One event in its place.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) kind: Kind,
    pub(crate) record: Record,
    /// How far it must have come before views may see it.
    level: Level,
    /// How many records of the journal end before or with it, once that is known.
    pub(crate) records: u64,
    /// Bytes of text in the same record before it.
    pub(crate) text_before: usize,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Event(Event),
    /// An update that is shown and not kept.
    Told(v2::SessionUpdate),
}

impl Slot {
    pub(crate) fn update(&self) -> Option<&v2::SessionUpdate> {
        match &self.kind {
            Kind::Event(event) => event.update(),
            Kind::Told(update) => Some(update),
        }
    }

    fn is_told(&self) -> bool {
        matches!(self.kind, Kind::Told(_))
    }

    fn bytes(&self) -> usize {
        SLOT_BYTES + 2 * self.record.json.len()
    }
}

/// Slots in a row. Places are counted from the first event of this life of the core.
#[derive(Debug, Default)]
pub(crate) struct Window {
    slots: VecDeque<Slot>,
    /// The place of the first slot, and how many records end before it.
    start: u64,
    start_records: u64,
    bytes: usize,
    /// Up to where views may see.
    visible: u64,
    /// Up to where records were handed to the journal, and how many those are in all.
    handed: u64,
    records: u64,
    /// Up to where the journal has reported each level.
    written: u64,
    durable: u64,
    unwritten_bytes: usize,
    /// Bytes of text that are joined to one record.
    record_text_bytes: usize,
    /// Places at which a record begins, however much could be joined: a client was told their numbers.
    seals: BTreeSet<u64>,
    /// Whether there is no journal yet, so that nothing can be read from it.
    is_unkept: bool,
}

impl Window {
    /// Returns the window of a session that has so many records in its journal.
    pub(crate) fn new(records: u64, record_text_bytes: usize) -> Self {
        Self {
            records,
            start_records: records,
            record_text_bytes,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, event: Event, settings: &Settings) {
        let (level, record) = (event.level(settings), Record::new(&event));
        self.push_slot(Kind::Event(event), record, level);
    }

    pub(crate) fn tell(&mut self, update: v2::SessionUpdate) {
        let record = Record::new(&Event::Update(update.clone()));
        self.push_slot(Kind::Told(update), record, Level::Accepted);
    }

    fn push_slot(&mut self, kind: Kind, record: Record, level: Level) {
        let slot = Slot {
            kind,
            record,
            level,
            records: 0,
            text_before: 0,
        };
        self.bytes += slot.bytes();
        self.unwritten_bytes += slot.bytes();
        self.slots.push_back(slot);
    }

    /// Returns the place after the last slot.
    pub(crate) fn head(&self) -> u64 {
        self.start + self.slots.len() as u64
    }

    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    pub(crate) fn start_records(&self) -> u64 {
        self.start_records
    }

    pub(crate) fn visible(&self) -> u64 {
        self.visible
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn unwritten_bytes(&self) -> usize {
        self.unwritten_bytes
    }

    /// Returns how many records the journal has been given.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Returns whether everything that ever happened in the session is here.
    pub(crate) fn has_all(&self) -> bool {
        self.start == 0 && self.start_records == 0
    }

    pub(crate) fn set_unkept(&mut self, is_unkept: bool) {
        self.is_unkept = is_unkept;
    }

    /// Returns up to where everything can be read again by whoever comes back: it survives the process, or nothing does.
    pub(crate) fn safe(&self) -> u64 {
        match self.is_unkept {
            true => self.head(),
            false => self.written,
        }
    }

    /// Returns where a place is in the journal, and sees to it that it stays there.
    pub(crate) fn position(&mut self, place: u64) -> At {
        let end = self.seal();
        match self.get(place) {
            Some(slot) if slot.is_told() => At {
                record: slot.records,
                skip: 0,
            },
            Some(slot) => At {
                record: slot.records.saturating_sub(1),
                skip: slot.text_before,
            },
            None => At {
                record: end,
                skip: 0,
            },
        }
    }

    /// Numbers everything, and returns how many records there are. What comes later is joined to none of them.
    pub(crate) fn seal(&mut self) -> u64 {
        let head = self.head();
        self.seals.extend([self.handed, head]);
        let records = self.records;
        self.number(self.handed, head);
        std::mem::replace(&mut self.records, records)
    }

    pub(crate) fn get(&self, place: u64) -> Option<&Slot> {
        let at = place.checked_sub(self.start)?;
        self.slots.get(usize::try_from(at).ok()?)
    }

    /// Returns how many bytes are between a place and the head.
    pub(crate) fn bytes_from(&self, place: u64, enough: usize) -> usize {
        if place <= self.start {
            return self.bytes;
        }
        let mut bytes = 0;
        for at in (place..self.head()).rev() {
            bytes += self.get(at).map_or(0, Slot::bytes);
            if bytes >= enough {
                break;
            }
        }
        bytes
    }

    /// Returns how far the journal has to come with what it was given before views see all of it.
    pub(crate) fn unsafe_level(&self) -> Option<Level> {
        let end = self.handed.saturating_sub(self.visible);
        let given = self.slots_from(self.visible);
        given
            .take(usize::try_from(end).unwrap_or(usize::MAX))
            .map(|slot| slot.level)
            .max()
    }

    /// Returns whether the journal was given something that it has not reported as written.
    pub(crate) fn has_unreported(&self) -> bool {
        self.written < self.handed
    }

    /// Returns whether something waits to be handed to the journal; what is only shown does not count.
    pub(crate) fn has_unhanded(&self) -> bool {
        self.slots_from(self.handed).any(|slot| !slot.is_told())
    }

    /// Returns whether something may be lost that is to be kept.
    pub(crate) fn has_unwritten(&self) -> bool {
        self.slots_from(self.written).any(|slot| !slot.is_told())
    }

    /// Returns whether something waits that must be safe.
    pub(crate) fn needs_journal(&self) -> bool {
        self.slots_from(self.handed)
            .any(|slot| slot.level > Level::Accepted)
    }

    fn slots_from(&self, place: u64) -> impl Iterator<Item = &Slot> {
        let skip = place.saturating_sub(self.start);
        self.slots
            .iter()
            .skip(usize::try_from(skip).unwrap_or(usize::MAX))
    }

    /// Moves the place up to which views may see.
    pub(crate) fn advance(&mut self) {
        while let Some(slot) = self.get(self.visible) {
            let is_safe = match slot.level {
                Level::Accepted => true,
                Level::Written => self.visible < self.written,
                Level::Durable => self.visible < self.durable,
            };
            if !is_safe {
                return;
            }
            self.visible += 1;
        }
    }

    /// Returns the events from one place to another.
    pub(crate) fn events_between(&self, place: u64, upto: u64) -> impl Iterator<Item = &Event> {
        let upto = usize::try_from(upto.saturating_sub(place)).unwrap_or(usize::MAX);
        self.slots_from(place)
            .take(upto)
            .filter_map(|slot| match &slot.kind {
                Kind::Event(event) => Some(event),
                Kind::Told(_) => None,
            })
    }

    pub(crate) fn handed(&self) -> u64 {
        self.handed
    }

    /// Returns the place up to which slots have to go for the rest to be within a limit; some of the newest need not.
    pub(crate) fn above(&self, limit: usize, newest: usize) -> u64 {
        let older = self.slots.len().saturating_sub(newest);
        let (mut bytes, mut place) = (self.bytes, self.start);
        for slot in self.slots.iter().take(older) {
            if bytes <= limit {
                break;
            }
            bytes -= slot.bytes();
            place += 1;
        }
        place
    }

    /// Returns the first place that is still needed: by the journal, or because views may not see it yet.
    pub(crate) fn pinned(&self) -> u64 {
        self.written.min(self.visible).min(self.handed)
    }

    /// Lets go of slots before a place, whole records at a time, and says what goes.
    pub(crate) fn evict(&mut self, upto: u64, mut goes: impl FnMut(u64, &Slot)) {
        let upto = upto.min(self.pinned());
        // A record goes as a whole, so that whoever needs a part of it can read it again.
        let mut end = upto;
        while end > self.start {
            let splits = match (self.get(end), self.get(end - 1)) {
                (Some(next), Some(last)) => {
                    !next.is_told() && next.text_before > 0 && next.records == last.records
                }
                _ => false,
            };
            if !splits {
                break;
            }
            end -= 1;
        }
        while self.start < end {
            let Some(slot) = self.slots.pop_front() else {
                return;
            };
            self.bytes -= slot.bytes();
            goes(self.start, &slot);
            self.start_records = slot.records;
            self.start += 1;
        }
        if self.slots.is_empty() {
            // The next slot goes where the first one was: in a ring each would take memory that was not used before.
            self.slots.clear();
        }
        if !self.seals.is_empty() {
            self.seals = self.seals.split_off(&self.start);
        }
    }

    /// Gives back memory that is only kept to be used again.
    pub(crate) fn rest(&mut self) {
        self.slots.shrink_to_fit();
    }

    /// Returns where a reader that has all records before number `record` goes on here; none if it has to read on in the
    /// journal.
    pub(crate) fn place_of(&self, record: u64) -> Option<u64> {
        let first = self.slots.front().filter(|_| self.start < self.handed);
        let kept_from = match first {
            Some(slot) if slot.is_told() => slot.records,
            Some(slot) => slot.records.saturating_sub(1),
            None => self.records,
        };
        if record < kept_from {
            return None;
        }
        let handed = self.slots.iter().zip(self.start..self.handed);
        let mut after = handed.filter(|(slot, _)| slot.records > record);
        Some(after.next().map_or(self.handed, |(_, place)| place))
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]
mod tests;
