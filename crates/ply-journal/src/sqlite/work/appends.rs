//! Appends: gathered as they come, and written by session.

use super::{Work, signed};
use crate::sqlite::job::Held;
use crate::sqlite::run::{Frames, pack};
use crate::sqlite::schema::{RECORDS_MAX, run_key};
use crate::sqlite::trouble::Trouble;

impl<'a> Work<'a> {
    pub(super) fn gather(&mut self, held: &'a Held, frames: &'a Frames) {
        let known = self
            .waiting
            .iter_mut()
            .find(|(known, _)| known.lease == held.lease);
        match known {
            Some((_, all)) => all.push(frames),
            None => self.waiting.push((held, vec![frames])),
        }
    }

    /// Writes the appends that were gathered.
    pub(super) fn write(&mut self) -> rusqlite::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut guard = self.transaction.prepare(
            "UPDATE sessions SET next = ?1 WHERE number = ?2 AND lease = ?3 AND next = ?4",
        )?;
        let mut insert = self
            .transaction
            .prepare("INSERT INTO runs (id, count, bytes) VALUES (?, ?, ?)")?;
        for (held, all) in std::mem::take(&mut self.waiting) {
            let Some(end) = self.end(held) else {
                let why = held.check().err().unwrap_or(Trouble::Closed);
                self.over.entry(held.lease).or_insert(why);
                continue;
            };
            let count: u64 = all.iter().map(|frames| frames.count()).sum();
            let next = end + count;
            if next > RECORDS_MAX {
                let words = "the session holds as many records as it can";
                let trouble = Trouble::io(std::io::ErrorKind::QuotaExceeded, words);
                self.over.insert(held.lease, trouble);
                continue;
            }
            // One row changes only if the lease is ours and no record is missing or written twice.
            if guard.execute((signed(next), held.number, held.lease, signed(end)))? != 1 {
                let why = self.why_over(held)?;
                self.over.insert(held.lease, why);
                continue;
            }
            let bytes = &mut self.bytes;
            pack(held.key, end, all.into_iter(), |first, count, run| {
                *bytes += run.len();
                insert.execute((run_key(held.number, first), count, run))?;
                Ok::<_, rusqlite::Error>(())
            })?;
            self.moved.insert(held.lease, next);
        }
        Ok(())
    }

    /// Returns where a log ends, none if it is over.
    fn end(&self, held: &Held) -> Option<u64> {
        if self.over.contains_key(&held.lease) || held.check().is_err() {
            return None;
        }
        let moved = self.moved.get(&held.lease);
        moved.or_else(|| self.ends.get(&held.lease)).copied()
    }
}
