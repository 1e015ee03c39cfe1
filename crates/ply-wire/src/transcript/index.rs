//! Where entries are, by their keys, in parts that clones share.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::BuildHasher as _,
    sync::Arc,
};

use super::Key;

/// Parts of an index that is not empty.
const PARTS_MIN: usize = 8;

/// The places of entries. A clone shares all parts that neither of the two changes.
///
/// An insertion after a clone copies the list of parts and one part. There are about as many parts as keys in a part, so that
/// either is short however long the session is.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    parts: Arc<Vec<Part>>,
    len: usize,
    chooser: RandomState,
    /// What was found last. Text comes in small pieces, and most are for the entry of the piece before.
    last: Option<(Key, usize)>,
}

type Part = Arc<HashMap<Key, usize>>;

impl Index {
    pub(super) fn get(&self, key: &Key) -> Option<usize> {
        self.parts.get(self.part_of(key)?)?.get(key).copied()
    }

    /// Does the same as [`Index::get`], faster for the key that was found last.
    pub(super) fn find(&mut self, key: &Key) -> Option<usize> {
        if let Some((last, place)) = &self.last
            && last == key
        {
            return Some(*place);
        }
        let place = self.get(key)?;
        self.last = Some((key.clone(), place));
        Some(place)
    }

    pub(super) fn insert(&mut self, key: Key, place: usize) {
        self.last = None;
        if self.len >= self.parts.len() * self.parts.len() {
            self.grow();
        }
        let part = self.part_of(&key);
        let parts = Arc::make_mut(&mut self.parts);
        if let Some(part) = part.and_then(|part| parts.get_mut(part))
            && Arc::make_mut(part).insert(key, place).is_none()
        {
            self.len += 1;
        }
    }

    fn part_of(&self, key: &Key) -> Option<usize> {
        let parts = u64::try_from(self.parts.len()).ok()?;
        let part = self.chooser.hash_one(key).checked_rem(parts)?;
        usize::try_from(part).ok()
    }

    /// Spreads the keys over twice as many parts.
    fn grow(&mut self) {
        let count = (self.parts.len() * 2).max(PARTS_MIN);
        let mut parts: Vec<HashMap<Key, usize>> = vec![HashMap::new(); count];
        let old = std::mem::replace(&mut self.parts, Arc::new(vec![Part::default(); count]));
        for (key, place) in old.iter().flat_map(|part| part.iter()) {
            if let Some(part) = self.part_of(key).and_then(|part| parts.get_mut(part)) {
                part.insert(key.clone(), *place);
            }
        }
        self.parts = Arc::new(parts.into_iter().map(Arc::new).collect());
    }
}

impl FromIterator<(Key, usize)> for Index {
    fn from_iter<I: IntoIterator<Item = (Key, usize)>>(places: I) -> Self {
        let mut index = Self::default();
        for (key, place) in places {
            index.insert(key, place);
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v2;

    fn key(number: usize) -> Key {
        Key::ToolCall(v2::ToolCallId::new(format!("call-{number}")))
    }

    #[test]
    fn keys_are_found_after_every_insertion() {
        let mut index = Index::default();
        assert_eq!(index.get(&key(0)), None);
        for number in 0..2_000 {
            index.insert(key(number), number);
            index.insert(key(number / 2), number / 2);
            assert_eq!(index.get(&key(number / 3)), Some(number / 3));
            assert_eq!(index.get(&key(number + 1)), None);
            assert_eq!(index.find(&key(number)), Some(number));
            assert_eq!(index.find(&key(number)), Some(number));
            assert_eq!(index.find(&key(number + 1)), None);
        }
        index.insert(key(1_999), 7);
        assert_eq!(index.find(&key(1_999)), Some(7), "a key that was moved");
        index.insert(key(1_999), 1_999);
        assert_eq!(index.len, 2_000);
        assert!((0..2_000).all(|number| index.get(&key(number)) == Some(number)));
    }

    #[test]
    fn an_insertion_after_a_clone_copies_little_of_a_long_session() {
        let before: Index = (0..40_000).map(|number| (key(number), number)).collect();
        let mut after = before.clone();
        after.insert(key(40_000), 40_000);
        let parts = after.parts.iter().zip(before.parts.iter());
        let copied = parts.filter(|(after, before)| !Arc::ptr_eq(after, before));
        let copied = copied.map(|(part, _)| part.len()).sum::<usize>();
        assert!(copied + after.parts.len() < 1_000, "{copied} keys");
        assert_eq!(before.get(&key(40_000)), None);
        assert_eq!(after.get(&key(40_000)), Some(40_000));
    }
}
