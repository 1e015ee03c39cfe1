//! The entries of a transcript in their order, in blocks that clones share.

use std::sync::Arc;

use super::Slot;

/// Slots in a block. A change after a clone copies one block and the list of blocks, so both are to be small.
const BLOCK_SLOTS: usize = 128;

/// Slots, of which a clone shares all that neither of the two changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    /// Blocks that are full.
    full: Arc<Vec<Arc<Vec<Slot>>>>,
    /// The slots after those, fewer than a block has.
    last: Arc<Vec<Slot>>,
}

impl Slots {
    pub(super) fn len(&self) -> usize {
        self.full.len() * BLOCK_SLOTS + self.last.len()
    }

    pub(super) fn get(&self, place: usize) -> Option<&Slot> {
        let block = self.full.get(place / BLOCK_SLOTS).unwrap_or(&self.last);
        block
            .get(place % BLOCK_SLOTS)
            .filter(|_| place < self.len())
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut Slot> {
        if place >= self.len() {
            return None;
        }
        let (block, place) = (place / BLOCK_SLOTS, place % BLOCK_SLOTS);
        let block = match block < self.full.len() {
            true => Arc::make_mut(&mut self.full).get_mut(block)?,
            false => &mut self.last,
        };
        Arc::make_mut(block).get_mut(place)
    }

    pub(super) fn push(&mut self, slot: Slot) {
        let last = Arc::make_mut(&mut self.last);
        last.push(slot);
        if last.len() == BLOCK_SLOTS {
            let block = std::mem::take(&mut self.last);
            Arc::make_mut(&mut self.full).push(block);
        }
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Slot> + DoubleEndedIterator {
        let slot = |place| self.get(place);
        (0..self.len()).map(move |place| slot(place).expect("a place below the length has a slot"))
    }

    pub(super) fn for_each_mut(&mut self, edit: impl FnMut(&mut Slot)) {
        let full = Arc::make_mut(&mut self.full).iter_mut();
        let blocks = full.chain([&mut self.last]).map(Arc::make_mut);
        blocks.flatten().for_each(edit);
    }

    /// Changes all slots at once, which copies what is shared.
    pub(super) fn edit_all(&mut self, edit: impl FnOnce(&mut Vec<Slot>)) {
        let mut slots = self.iter().cloned().collect();
        // Whatever only we had is ours alone again, so that the entries need not be copied.
        *self = Self::default();
        edit(&mut slots);
        slots.into_iter().for_each(|slot| self.push(slot));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Entry, Message, MessageKind, Stamp};
    use super::*;

    fn slot(number: u64) -> Slot {
        let message = Message::new(MessageKind::User, number.to_string().into());
        Slot {
            entry: Arc::new(Entry::from(message)),
            shown_at: Some(number),
            stamp: Stamp::default(),
        }
    }

    fn numbers(slots: &Slots) -> Vec<u64> {
        slots.iter().filter_map(|slot| slot.shown_at).collect()
    }

    fn of(size: u64) -> Slots {
        let mut slots = Slots::default();
        (0..size).for_each(|number| slots.push(slot(number)));
        slots
    }

    /// Returns how many slots and blocks are in one but not in the other.
    fn copied(one: &Slots, other: &Slots) -> usize {
        let blocks = one.full.iter().zip(other.full.iter());
        let blocks = blocks.filter(|(one, other)| !Arc::ptr_eq(one, other));
        let blocks = blocks.map(|(one, _)| one.len()).sum::<usize>();
        let list = match Arc::ptr_eq(&one.full, &other.full) {
            true => 0,
            false => one.full.len(),
        };
        let last = match Arc::ptr_eq(&one.last, &other.last) {
            true => 0,
            false => one.last.len(),
        };
        blocks + list + last
    }

    #[test]
    fn slots_are_where_they_were_put() {
        for size in [0, 1, 127, 128, 129, 256, 300] {
            let mut slots = of(size);
            assert_eq!(numbers(&slots), (0..size).collect::<Vec<_>>());
            let len = usize::try_from(size).unwrap();
            assert_eq!(slots.len(), len);
            assert!(slots.get(len).is_none() && slots.get_mut(len).is_none());
            for place in 0..len {
                slots.get_mut(place).unwrap().shown_at = Some(size);
                assert_eq!(slots.get(place).unwrap().shown_at, Some(size));
            }
            slots.edit_all(|slots| slots.truncate(len / 2));
            assert_eq!(slots.len(), len / 2);
        }
    }

    #[test]
    fn a_change_after_a_clone_copies_little_of_a_long_session() {
        let before = of(40_000);
        for place in [None, Some(0), Some(20_000), Some(39_999)] {
            let mut after = before.clone();
            assert_eq!(copied(&after, &before), 0);
            match place {
                None => after.push(slot(0)),
                Some(place) => after.get_mut(place).unwrap().shown_at = None,
            }
            assert!(copied(&after, &before) < 500, "{place:?}");
        }
        assert_eq!(numbers(&before), (0..40_000).collect::<Vec<_>>());
    }
}
