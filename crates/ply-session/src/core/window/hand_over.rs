//! Records on their way to the journal.

use bytes::Bytes;
use ply_wire::v2;

use super::{Kind, Slot, Window};
use crate::core::record::Record;
use crate::{Event, Level, Settings};

/// What is to be appended to the journal.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) level: Level,
    pub(crate) records: Vec<Bytes>,
}

impl Window {
    /// Takes what waits for the journal, with texts of one message joined.
    pub(crate) fn hand_over(&mut self) -> Option<Run> {
        let (from, upto) = (self.handed, self.head());
        let level = self.slots_from(from).map(|slot| slot.level).max()?;
        let records = self.number(from, upto);
        self.handed = upto;
        if records.is_empty() && self.written >= from {
            // There is nothing to write.
            self.persisted(upto, Level::Written);
        }
        (!records.is_empty()).then_some(Run { level, records })
    }

    /// Numbers the slots and returns their records.
    pub(super) fn number(&mut self, from: u64, upto: u64) -> Vec<Bytes> {
        let skip = usize::try_from(from - self.start).unwrap_or(usize::MAX);
        let take = usize::try_from(upto - from).unwrap_or(usize::MAX);
        let mut records = Vec::new();
        let mut group: Vec<&Record> = Vec::new();
        let mut last: Option<(Option<v2::MessageId>, bool, usize)> = None;
        let slots = self.slots.iter_mut().skip(skip).take(take);
        for (slot, place) in slots.zip(from..) {
            if self.seals.contains(&place) {
                flush(&mut group, &mut records);
                last = None;
            }
            if let Kind::Told(_) = &slot.kind {
                // It stands between records, so that a view that goes on in the journal from here misses nothing.
                flush(&mut group, &mut records);
                last = None;
                slot.records = self.records;
                continue;
            }
            let (message, thought) = chunk_of(&slot.kind);
            let text = slot.record.text_bytes();
            let follows = last.as_ref().is_some_and(|(of, was_thought, before)| {
                of.is_some()
                    && *of == message
                    && *was_thought == thought
                    && before + text <= self.record_text_bytes
            });
            if follows {
                let before = last.as_ref().map_or(0, |(_, _, before)| *before);
                slot.text_before = before;
                last = Some((message, thought, before + text));
            } else {
                flush(&mut group, &mut records);
                self.records += 1;
                slot.text_before = 0;
                last = Some((message, thought, text));
            }
            slot.records = self.records;
            group.push(&slot.record);
        }
        flush(&mut group, &mut records);
        records
    }

    /// Notes how far the journal has come.
    pub(crate) fn persisted(&mut self, upto: u64, level: Level) {
        if level >= Level::Written {
            let newly = self.slots_between(self.written, upto);
            self.unwritten_bytes = self.unwritten_bytes.saturating_sub(newly);
            self.written = self.written.max(upto);
        }
        if level == Level::Durable {
            self.durable = self.durable.max(upto);
        }
        self.advance();
    }

    fn slots_between(&self, from: u64, upto: u64) -> usize {
        (from..upto)
            .filter_map(|place| self.get(place))
            .map(Slot::bytes)
            .sum()
    }

    /// Forgets what is at a place and after it.
    pub(crate) fn truncate(&mut self, place: u64) {
        let kept = usize::try_from(place.saturating_sub(self.start)).unwrap_or(usize::MAX);
        for slot in self.slots.drain(kept.min(self.slots.len())..) {
            self.bytes -= slot.bytes();
            self.unwritten_bytes = self.unwritten_bytes.saturating_sub(slot.bytes());
        }
        self.handed = self.handed.min(self.head());
        self.seals.split_off(&(self.head() + 1));
        let last = self.handed.checked_sub(1).and_then(|last| self.get(last));
        self.records = last.map_or(self.start_records, |slot| slot.records);
    }

    /// Adds an event that the journal has already; so many records end with it.
    pub(crate) fn restore(&mut self, event: Event, records: u64, settings: &Settings) {
        // What was only shown since stands before it. Without its number, a view that has not passed it would go on at the
        // journal's beginning.
        let before = records.saturating_sub(1);
        let shown = usize::try_from(self.handed - self.start).unwrap_or(usize::MAX);
        for slot in self.slots.iter_mut().skip(shown) {
            slot.records = before;
        }
        self.push(event, settings);
        if let Some(slot) = self.slots.back_mut() {
            slot.records = records;
        }
        self.handed = self.head();
    }

    /// Begins again with the journal: what was handed over and not confirmed is handed over once more.
    ///
    /// `confirmed` is the place up to which the journal has everything, and `records` how many records that is.
    pub(crate) fn rewind(&mut self, confirmed: u64, records: u64) {
        // What was only shown after it may be gone.
        self.handed = confirmed.max(self.start);
        self.records = records;
    }

    /// Returns the records that were handed to the journal from a place on, each with the place after it.
    pub(crate) fn handed_from(&self, place: u64) -> Vec<(Bytes, u64)> {
        // What was only shown after it may be gone.
        let place = place.max(self.start);
        let slots = self.slots_from(place).zip(place..self.handed);
        let mut kept = slots.filter(|(slot, _)| !slot.is_told()).peekable();
        let mut records = Vec::new();
        while let Some((first, at)) = kept.next() {
            let (mut more, mut after) = (Vec::new(), at + 1);
            while let Some((slot, at)) = kept.next_if(|(slot, _)| slot.records == first.records) {
                more.push(&slot.record);
                after = at + 1;
            }
            records.push((first.record.joined(&more), after));
        }
        records
    }
}

pub(super) fn flush(group: &mut Vec<&Record>, records: &mut Vec<Bytes>) {
    if let Some((first, more)) = group.split_first() {
        records.push(first.joined(more));
    }
    group.clear();
}

fn chunk_of(kind: &Kind) -> (Option<v2::MessageId>, bool) {
    let Kind::Event(Event::Update(update)) = kind else {
        return (None, false);
    };
    match ply_wire::encode::PlainChunk::of(update) {
        Some(chunk) => (Some(chunk.message().clone()), chunk.is_thought()),
        None => (None, false),
    }
}
