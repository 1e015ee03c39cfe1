//! Appends: gathered as they come, and written by session.

use super::{Work, signed};
use crate::Description;
use crate::sqlite::held::Held;
use crate::sqlite::job::Append;
use crate::sqlite::lease;
use crate::sqlite::run::pack;
use crate::sqlite::schema::{RECORDS_MAX, run_key};
use crate::sqlite::trouble::Trouble;

impl<'a> Work<'a> {
    pub(super) fn gather(&mut self, append: &'a Append) {
        let held = &append.held;
        let known = self
            .waiting
            .iter_mut()
            .find(|(known, _)| known.lease == held.lease);
        match known {
            Some((_, all)) => all.push(append),
            None => self.waiting.push((held, vec![append])),
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
            let count: u64 = all.iter().map(|append| append.frames.count()).sum();
            let next = end + count;
            if next > RECORDS_MAX {
                let words = "the session holds as many records as it can";
                let trouble = Trouble::io(std::io::ErrorKind::QuotaExceeded, words);
                self.over.insert(held.lease, trouble);
                continue;
            }
            // One row changes only if the lease is ours and no record is missing or written twice.
            if guard.execute((signed(next), held.number, held.lease, signed(end)))? != 1 {
                let why = lease::why_lost(self.transaction, held, self.this)?;
                let changed = || {
                    let words = "the number of a session's records has changed";
                    Trouble::Unreadable(words.to_owned())
                };
                self.over.insert(held.lease, why.unwrap_or_else(changed));
                continue;
            }
            for change in all.iter().filter_map(|append| append.description.as_ref()) {
                self.describe(held, change)?;
            }
            let bytes = &mut self.bytes;
            let frames = all.into_iter().map(|append| &append.frames);
            pack(held.key, end, frames, |first, count, run| {
                *bytes += run.len();
                insert.execute((run_key(held.number, first), count, run))?;
                Ok::<_, rusqlite::Error>(())
            })?;
            self.moved.insert(held.lease, next);
        }
        Ok(())
    }

    fn describe(&self, held: &Held, change: &Description) -> rusqlite::Result<()> {
        let text = |text: &'_ Option<Option<String>>| text.clone().flatten();
        let mut update = self.transaction.prepare(
            "UPDATE sessions SET
                 title = iif(?1, ?2, title),
                 updated_ms = ifnull(?3, updated_ms),
                 unfinished = ifnull(?4, unfinished),
                 archived = ifnull(?5, archived),
                 host = iif(?6, ?7, host)
             WHERE number = ?8",
        )?;
        update.execute((
            change.title.is_some(),
            text(&change.title),
            change.updated_ms,
            change.unfinished,
            change.archived,
            change.host.is_some(),
            text(&change.host),
            held.number,
        ))?;
        Ok(())
    }

    /// Returns where a log ends, none if it is over.
    fn end(&self, held: &Held) -> Option<u64> {
        if self.over.contains_key(&held.lease) || held.check().is_err() {
            return None;
        }
        let moved = self.moved.get(&held.lease);
        moved.or_else(|| self.known.ends.get(&held.lease)).copied()
    }
}
