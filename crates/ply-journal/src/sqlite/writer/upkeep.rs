//! What the writer does beside its jobs: beats, recovery, trash, checkpoints, and the end.

use std::sync::Arc;
use std::thread::JoinHandle;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::{OpenFile, Sync, Writer};
use crate::sqlite::checkpoint::{self, LOG_ALARM_BYTES, Report};
use crate::sqlite::held::Held;
use crate::sqlite::job::Job;
use crate::sqlite::lease::{self, now_ms};
use crate::sqlite::schema::{PAGE_BYTES, RECORDS_MAX, run_key};
use crate::sqlite::trouble::{Failure, Trouble};

/// Runs taken away in one transaction, at most about a megabyte.
const TRASH_RUNS: u32 = 16;
/// Transactions for which closing waits to take runs away; the rest is for the next who opens.
const TRASH_ROUNDS_AT_END: u32 = 256;
/// Pages that a commit writes beside those of the runs, about.
const PAGES_PER_COMMIT: u64 = 3;

impl Writer {
    /// Says that this store is alive, and finds out which sessions others took over meanwhile.
    pub(super) fn beat(&mut self) {
        self.beat_ms = now_ms();
        let Some(owner) = self.owner else { return };
        let held: Vec<Arc<Held>> = self.held.values().map(Arc::clone).collect();
        let this = self.this.clone();
        let beaten = self.aside(Sync::Later, |transaction| {
            let is_known = lease::beat(transaction, owner)?;
            let mut lost = Vec::new();
            for held in held {
                if let Some(why) = lease::why_lost(transaction, &held, &this)? {
                    lost.push((held.lease, why));
                }
            }
            Ok((is_known, lost))
        });
        let Some((is_known, lost)) = beaten else {
            return;
        };
        if !is_known {
            // Somebody took this store for dead. To hold more it enters itself anew.
            self.owner = None;
        }
        for (lease, why) in lost {
            self.forget(lease, &why);
        }
    }

    /// Takes a part of the trash away.
    pub(super) fn empty_trash(&mut self) {
        let left = self.aside(Sync::Later, |transaction| {
            let session = transaction.query_row("SELECT session FROM trash LIMIT 1", [], |row| {
                row.get::<_, i64>(0)
            });
            let Some(session) = session.optional()? else {
                return Ok(false);
            };
            let deleted = transaction.execute(
                "DELETE FROM runs WHERE id IN
                     (SELECT id FROM runs WHERE id BETWEEN ? AND ? LIMIT ?)",
                (
                    run_key(session, 0),
                    run_key(session, RECORDS_MAX),
                    TRASH_RUNS,
                ),
            )?;
            if deleted == 0 {
                transaction.execute("DELETE FROM trash WHERE session = ?", [session])?;
            }
            Ok(true)
        });
        // If it cannot be done now, it is there for the next who opens.
        self.has_trash = left.unwrap_or(false);
        if self.has_trash {
            self.note_written(TRASH_RUNS as usize * 64 * 1024);
        }
    }

    /// Does something that nobody waits for. If it fails, so will the next who writes.
    fn aside<T>(
        &mut self,
        sync: Sync,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Option<T> {
        let path = self.path.clone();
        let done = match self.prepare() {
            Ok(file) => file.aside(sync, work),
            Err(trouble) => {
                self.failing = Some(trouble);
                return None;
            }
        };
        match done {
            Ok(done) => Some(done),
            Err(error) => {
                let failure = Failure::sqlite(&error, &path);
                self.note_failure(failure.remedy, &failure.trouble);
                self.failing = Some(failure.trouble);
                None
            }
        }
    }

    /// Has checkpoints made as the log grows.
    pub(super) fn note_written(&mut self, bytes: usize) {
        let pages = bytes as u64 / u64::from(PAGE_BYTES) + PAGES_PER_COMMIT;
        let report = self.checkpointer.written(pages * u64::from(PAGE_BYTES));
        match report {
            Report::Quiet => {}
            // The other thread never catches up with a stream; without this pause in it, the log
            // would not begin again at its start.
            Report::Long => {
                let Some(file) = &self.file else { return };
                if file.files.log_bytes() > LOG_ALARM_BYTES {
                    tracing::warn!(
                        bytes = file.files.log_bytes(),
                        "the log of the journal grows: a program reads it without end"
                    );
                }
                let made = checkpoint::make(&file.connection, "PASSIVE");
                self.note_checkpoint(made.map(drop));
            }
            // The log may hold commits that never reached the disk, and no later sync would tell.
            Report::Failed(failure) => self.note_failure(failure.remedy, &failure.trouble),
        }
    }

    fn note_checkpoint(&mut self, made: rusqlite::Result<()>) {
        if let Err(error) = made {
            let failure = Failure::sqlite(&error, &self.path);
            self.note_failure(failure.remedy, &failure.trouble);
        }
    }

    /// Opens the file anew after an error of the disk (F6), and finds out what is there.
    pub(super) fn reopen(&mut self) -> Result<(), Trouble> {
        let failed = |error: rusqlite::Error| Trouble::sqlite(&error, &self.path);
        let file = OpenFile::new(&self.path)?;
        // A sync that failed may have left pages that look written and are not. So nothing goes on
        // before all that was committed is in the file itself and synced there.
        let made = checkpoint::make(&file.connection, "TRUNCATE").map_err(failed)?;
        if !made.is_whole {
            let words = "other processes keep it busy after an error of the disk; try again";
            return Err(Trouble::io(std::io::ErrorKind::TimedOut, words));
        }
        let (mut found, mut over) = (Vec::new(), Vec::new());
        for held in self.held.values() {
            let row = file.connection.query_row(
                "SELECT next, lease FROM sessions WHERE number = ?",
                [held.number],
                |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?)),
            );
            match row.optional().map_err(failed)? {
                None => over.push((held.lease, Trouble::Deleted)),
                Some((_, lease)) if lease != Some(held.lease) => {
                    over.push((held.lease, Trouble::Lost("another program".to_owned())));
                }
                Some((next, _)) => found.push((held.lease, next.unsigned_abs())),
            }
        }
        self.file = Some(file);
        for (lease, next) in found {
            self.verify(lease, next, &mut over);
        }
        for (lease, why) in over {
            self.forget(lease, &why);
        }
        self.attempted.clear();
        Ok(())
    }

    /// Compares where a log ends on the disk with where it should.
    fn verify(&mut self, lease: i64, next: u64, over: &mut Vec<(i64, Trouble)>) {
        if self.ends.get(&lease) == Some(&next) {
            return;
        }
        if self.attempted.get(&lease) == Some(&next) {
            // What was reported as failed is there after all; what was accepted since is not.
            let before = self.ends.insert(lease, next);
            let mut there = next.saturating_sub(before.unwrap_or(next));
            self.kept.retain(|job| match job {
                Job::Append(append) if append.held.lease == lease && there > 0 => {
                    // Appends are written whole, so this comes out even.
                    there = there.saturating_sub(append.frames.count());
                    append.held.note_written();
                    false
                }
                _ => true,
            });
            return;
        }
        let words = "records that were written are gone after an error of the disk";
        over.push((lease, Trouble::io(std::io::ErrorKind::InvalidData, words)));
    }

    fn forget(&mut self, lease: i64, why: &Trouble) {
        self.ends.remove(&lease);
        if let Some(held) = self.held.remove(&lease) {
            held.end(why);
        }
        let is_other = |held: &Held| held.lease != lease;
        self.kept.retain(|job| match job {
            Job::Append(append) => is_other(&append.held),
            Job::Release { held } => is_other(held),
            _ => true,
        });
    }

    /// Returns why it cannot write.
    fn trouble(&self) -> Trouble {
        let trouble = self.stopped.as_ref().or(self.failing.as_ref());
        trouble.cloned().unwrap_or(Trouble::Closed)
    }

    /// Gives everything back, brings all into the file itself and closes it.
    pub(super) fn finish(mut self, reader: JoinHandle<()>) {
        let is_unwritten = |job: &Job| matches!(job, Job::Append(_));
        let mut outcome = match self.kept.iter().any(is_unwritten) {
            true => Err(self.trouble()),
            false => Ok(()),
        };
        if let Some(owner) = self.owner.take() {
            // Also makes all that was committed before safe.
            let left = self.aside(Sync::Now, |transaction| lease::leave(transaction, owner));
            if left.is_none() && outcome.is_ok() {
                outcome = Err(self.trouble());
            }
        }
        if let Err(trouble) = &outcome {
            tracing::error!(error = ?trouble, "the journal ends without all that was accepted");
        }
        self.queue.settle(outcome);
        self.end_all(&Trouble::Closed);
        for _ in 0..TRASH_ROUNDS_AT_END {
            if !self.has_trash {
                break;
            }
            self.empty_trash();
        }
        self.checkpointer.end();
        self.tail.end();
        if reader.join().is_err() {
            tracing::error!("the journal's reader broke off");
        }
        if self.prepare().is_ok()
            && let Some(file) = self.file.take()
        {
            // What is not in the file itself is in the log, for the next who opens.
            let made = checkpoint::make(&file.connection, "TRUNCATE");
            if let Err(error) = made {
                tracing::warn!(%error, "the last checkpoint of the journal failed");
            }
            drop(file);
        }
    }
}

impl OpenFile {
    fn aside<T>(
        &mut self,
        sync: Sync,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.sync(sync)?;
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}
