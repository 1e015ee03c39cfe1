//! Which messages, calls and terminals a projector no longer knows anything about.
//!
//! A view lives as long as its client and a session may go on for days, so what is remembered of
//! each thing in it has to end. Only that there was such a thing is remembered for good, in a few
//! bytes, so that a late change of it is not taken for the first sight of something new.

use std::{
    collections::HashSet,
    hash::{BuildHasher, Hash, RandomState},
};

/// How many messages, and how many finished calls, are remembered with all that a late change may need, unless
/// [`Projector::remember`](super::Projector::remember) says otherwise.
pub(super) const REMEMBERED_MAX: usize = 1024;

/// Fingerprints of ids. Two ids with the same one are possible and harmless: a new thing is then
/// shown like one that was forgotten, which sends more than is needed and loses nothing.
#[derive(Debug, Default)]
pub(super) struct Gone {
    prints: HashSet<u64>,
    hasher: RandomState,
}

impl Gone {
    pub(super) fn insert(&mut self, id: &impl Hash) {
        self.prints.insert(self.hasher.hash_one(id));
    }

    pub(super) fn contains(&self, id: &impl Hash) -> bool {
        !self.prints.is_empty() && self.prints.contains(&self.hasher.hash_one(id))
    }

    /// Takes a thing out that is remembered again, and returns whether it was gone.
    pub(super) fn take(&mut self, id: &impl Hash) -> bool {
        !self.prints.is_empty() && self.prints.remove(&self.hasher.hash_one(id))
    }
}
