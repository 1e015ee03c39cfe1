//! What jobs do within a transaction.
//!
//! Nothing outside the transaction changes here: [`Work`] collects what comes of each job, and the
//! writer acts on it once the transaction is safe.

mod appends;

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _};

use super::head::{self, Stored, path_bytes};
use super::held::Held;
use super::job::{Append, Job};
use super::lease::{self, Owner};
use super::records::end_of_runs;
use super::run::Key;
use super::schema::{RECORDS_MAX, SESSION_NUMBER_MAX};
use super::trouble::Trouble;
use crate::Head;

/// What came of a job.
#[derive(Debug)]
pub(super) enum Outcome {
    Done,
    Held(Grant),
    None,
    Deleted(bool),
    Failed(Trouble),
}

/// A session that was given out.
#[derive(Debug)]
pub(super) struct Grant {
    pub(super) held: Arc<Held>,
    pub(super) head: Head,
    pub(super) epoch: u64,
    pub(super) records: u64,
}

/// The leases that this store knows of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leases<'a> {
    /// Where the logs that are held end, by lease.
    pub(super) ends: &'a HashMap<i64, u64>,
    /// Those whose transaction failed.
    pub(super) doubtful: &'a [i64],
}

/// One transaction's work.
#[derive(Debug)]
pub(super) struct Work<'a> {
    transaction: &'a Connection,
    this: &'a Owner,
    known: Leases<'a>,
    /// Appends that are not written yet, by lease, in order.
    waiting: Vec<(&'a Held, Vec<&'a Append>)>,
    /// Leases that were given out in this transaction.
    pub(super) fresh: Vec<i64>,
    /// This store's number as an owner, if it has one.
    pub(super) owner: Option<i64>,
    /// Where logs end after this, by lease.
    pub(super) moved: HashMap<i64, u64>,
    /// Leases that are over, and why.
    pub(super) over: HashMap<i64, Trouble>,
    /// What came of the jobs, in their order.
    pub(super) outcomes: Vec<Outcome>,
    /// Sessions were deleted whose runs are there yet.
    pub(super) has_trash: bool,
    /// Bytes of runs that were written.
    pub(super) bytes: usize,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        transaction: &'a Connection,
        this: &'a Owner,
        owner: Option<i64>,
        known: Leases<'a>,
    ) -> Self {
        Self {
            transaction,
            this,
            known,
            waiting: Vec::new(),
            fresh: Vec::new(),
            owner,
            moved: HashMap::new(),
            over: HashMap::new(),
            outcomes: Vec::new(),
            has_trash: false,
            bytes: 0,
        }
    }

    /// Does all jobs, in order. Appends of a session are written together.
    pub(super) fn all(&mut self, jobs: &'a [Job]) -> rusqlite::Result<()> {
        // Leases with appends that fail here, so that those behind them fail as well.
        let mut failing: HashMap<i64, Trouble> = HashMap::new();
        for job in jobs {
            let outcome = match job {
                Job::Append(append) => match append.overtaken(&failing) {
                    Some(trouble) => {
                        failing.insert(append.held.lease, trouble.clone());
                        Outcome::Failed(trouble)
                    }
                    None => {
                        self.gather(append);
                        Outcome::Done
                    }
                },
                job => {
                    self.write()?;
                    self.one(job)?
                }
            };
            self.outcomes.push(outcome);
        }
        self.write()?;
        // An append is done only if its lease is not over.
        for (job, outcome) in jobs.iter().zip(&mut self.outcomes) {
            if let Job::Append(append) = job
                && let Some(over) = self.over.get(&append.held.lease)
            {
                *outcome = Outcome::Failed(over.clone());
            }
        }
        Ok(())
    }

    fn one(&mut self, job: &'a Job) -> rusqlite::Result<Outcome> {
        match job {
            job if job.is_in_vain() => Ok(Outcome::None),
            Job::Create { head, key, .. } => self.create(head, key),
            Job::Open { id, .. } => self.open(id),
            Job::Delete { id, .. } => self.delete(id),
            Job::Release { held } => {
                self.transaction.execute(
                    "UPDATE sessions SET lease = NULL, owner = NULL WHERE number = ? AND lease = ?",
                    (held.number, held.lease),
                )?;
                Ok(Outcome::Done)
            }
            Job::Append(_) | Job::Flush { .. } => Ok(Outcome::Done),
        }
    }

    /// Returns this store's number as an owner.
    fn owner(&mut self) -> rusqlite::Result<i64> {
        if let Some(owner) = self.owner {
            return Ok(owner);
        }
        let owner = self.this.enter(self.transaction)?;
        self.owner = Some(owner);
        Ok(owner)
    }

    fn create(&mut self, head: &Head, key: &str) -> rusqlite::Result<Outcome> {
        if let Some(found) = self.find(&head.id)? {
            // Tried again, since nobody knew what came of it.
            return match found.key.as_deref() == Some(key) {
                true => self.take(found),
                false => Ok(Outcome::Failed(Trouble::Exists)),
            };
        }
        let (owner, lease) = (self.owner()?, lease::fresh_lease());
        self.transaction.execute(
            "INSERT INTO sessions
                 (id, cwd, title, created_ms, updated_ms, unfinished, archived, host, next,
                  lease, owner, epoch, key)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 1, ?)",
            (
                &head.id,
                path_bytes(&head.cwd),
                &head.title,
                head.created_ms,
                head.updated_ms,
                head.unfinished,
                head.archived,
                &head.host,
                lease,
                owner,
                key,
            ),
        )?;
        let number = self.transaction.last_insert_rowid();
        if number > SESSION_NUMBER_MAX {
            let words = "the journal holds as many sessions as it can";
            let trouble = Trouble::io(std::io::ErrorKind::QuotaExceeded, words);
            let delete = "DELETE FROM sessions WHERE number = ?";
            self.transaction.execute(delete, [number])?;
            return Ok(Outcome::Failed(trouble));
        }
        let (head, epoch) = (head.clone(), 1);
        Ok(self.grant(head, epoch, number, lease, 0))
    }

    fn open(&mut self, id: &str) -> rusqlite::Result<Outcome> {
        match self.find(id)? {
            Some(found) => self.take(found),
            None => Ok(Outcome::None),
        }
    }

    /// Takes a session that is there, unless somebody has it.
    fn take(&mut self, found: Found) -> rusqlite::Result<Outcome> {
        if let Some(holder) = self.holder(&found)? {
            return Ok(Outcome::Failed(Trouble::InUse(holder)));
        }
        let Stored { number, next, head } = found.stored;
        let next = self.end_of_records(number, next);
        let epoch = found.epoch.saturating_add(1);
        let (owner, lease) = (self.owner()?, lease::fresh_lease());
        self.transaction.execute(
            "UPDATE sessions SET lease = ?, owner = ?, next = ?, epoch = ? WHERE number = ?",
            (lease, owner, signed(next), signed(epoch), number),
        )?;
        Ok(self.grant(head, epoch, number, lease, next))
    }

    /// Returns the number of the next record. The row of the session says it; but if that is damaged
    /// and too small, records would be written over others.
    fn end_of_records(&self, number: i64, next: u64) -> u64 {
        // Where the runs cannot be read, the row is all there is.
        let end = end_of_runs(self.transaction, number, RECORDS_MAX).unwrap_or(0);
        match next > RECORDS_MAX {
            true => end,
            false => next.max(end),
        }
    }

    fn delete(&mut self, id: &str) -> rusqlite::Result<Outcome> {
        let Some(found) = self.find(id)? else {
            return Ok(Outcome::Deleted(false));
        };
        let ours = found.owner.is_some() && found.owner == self.owner;
        if !ours && let Some(holder) = self.holder(&found)? {
            return Ok(Outcome::Failed(Trouble::InUse(holder)));
        }
        let number = found.stored.number;
        if let Some(lease) = found.lease {
            self.over.insert(lease, Trouble::Deleted);
        }
        // Its records follow little by little, however many they are.
        let delete = "DELETE FROM sessions WHERE number = ?";
        self.transaction.execute(delete, [number])?;
        let insert = "INSERT OR IGNORE INTO trash (session) VALUES (?)";
        self.transaction.execute(insert, [number])?;
        self.has_trash = true;
        Ok(Outcome::Deleted(true))
    }

    fn find(&self, id: &str) -> rusqlite::Result<Option<Found>> {
        let found = self.transaction.query_row(
            &format!(
                "SELECT {}, lease, owner, epoch, key FROM sessions WHERE id = ?",
                head::COLUMNS
            ),
            [id],
            |row| {
                Ok(Found {
                    stored: head::read(row)?,
                    lease: row.get("lease")?,
                    owner: row.get("owner")?,
                    epoch: row.get::<_, i64>("epoch")?.unsigned_abs(),
                    key: row.get("key")?,
                })
            },
        );
        found.optional()
    }

    fn grant(&mut self, head: Head, epoch: u64, number: i64, lease: i64, records: u64) -> Outcome {
        self.fresh.push(lease);
        let key = Key::new(&head.id, number);
        Outcome::Held(Grant {
            held: Arc::new(Held::new(number, lease, key)),
            head,
            epoch,
            records,
        })
    }

    /// Returns who writes a session, if anybody does who lives.
    fn holder(&self, found: &Found) -> rusqlite::Result<Option<String>> {
        let is_known = |lease| self.known.ends.contains_key(&lease) || self.fresh.contains(&lease);
        if found
            .lease
            .is_some_and(|lease| self.known.doubtful.contains(&lease))
        {
            // It was given out here, and whoever asked for it was told that this failed.
            return Ok(None);
        }
        match found.owner {
            // It was to be given back, and that failed.
            Some(owner) if self.owner == Some(owner) && !found.lease.is_some_and(is_known) => {
                Ok(None)
            }
            Some(owner) => lease::holder(self.transaction, owner, self.this),
            None => Ok(None),
        }
    }
}

/// A session as it was found, with who holds it.
#[derive(Debug)]
struct Found {
    stored: Stored,
    lease: Option<i64>,
    owner: Option<i64>,
    epoch: u64,
    key: Option<String>,
}

/// SQLite has signed numbers only; those of records are far below their end.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
