//! What jobs do within a transaction.
//!
//! Nothing outside the transaction changes here: [`Work`] collects what comes of each job, and the
//! writer acts on it once the transaction is safe.

mod appends;

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use rusqlite::{Connection, OptionalExtension as _};

use super::head::{self, Stored, path_bytes};
use super::job::{Held, Job};
use super::lease::{self, Owner};
use super::records::end_of_runs;
use super::run::{Frames, Key};
use super::schema::{RECORDS_MAX, SESSION_NUMBER_MAX};
use super::trouble::Trouble;
use crate::{Description, Head};

/// What came of a job.
#[derive(Debug)]
pub(super) enum Outcome {
    Done,
    Held(Head, Grant),
    None,
    Deleted(bool),
    Failed(Trouble),
}

/// A session that was given out.
#[derive(Debug)]
pub(super) struct Grant {
    pub(super) held: Arc<Held>,
    pub(super) next: u64,
}

/// One transaction's work.
#[derive(Debug)]
pub(super) struct Work<'a> {
    transaction: &'a Connection,
    this: &'a Owner,
    /// Where the logs that are held end, by lease.
    ends: &'a HashMap<i64, u64>,
    /// Appends that are not written yet, by lease, in order.
    waiting: Vec<(&'a Held, Vec<&'a Frames>)>,
    /// Leases that were given out in this transaction.
    fresh: Vec<i64>,
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
        ends: &'a HashMap<i64, u64>,
    ) -> Self {
        Self {
            transaction,
            this,
            ends,
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
        for job in jobs {
            let outcome = match job {
                Job::Append { held, frames, .. } => {
                    self.gather(held, frames);
                    Outcome::Done
                }
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
            if let Job::Append { held, .. } = job
                && let Some(over) = self.over.get(&held.lease)
            {
                *outcome = Outcome::Failed(over.clone());
            }
        }
        Ok(())
    }

    fn one(&mut self, job: &'a Job) -> rusqlite::Result<Outcome> {
        match job {
            job if job.is_in_vain() => Ok(Outcome::None),
            Job::Create { head, .. } => self.create(head),
            Job::Open { id, .. } => self.open(id),
            Job::Delete { id, .. } => self.delete(id),
            Job::Describe { held, change, .. } => self.describe(held, change),
            Job::Release { held } => {
                self.transaction.execute(
                    "UPDATE sessions SET lease = NULL, owner = NULL WHERE number = ? AND lease = ?",
                    (held.number, held.lease),
                )?;
                Ok(Outcome::Done)
            }
            Job::Append { .. } | Job::Flush { .. } => Ok(Outcome::Done),
        }
    }

    /// Returns why a lease does not hold any more.
    fn why_over(&self, held: &Held) -> rusqlite::Result<Trouble> {
        let row = self.transaction.query_row(
            "SELECT lease, owner FROM sessions WHERE number = ?",
            [held.number],
            |row| Ok((row.get(0)?, row.get(1)?)),
        );
        let (lease, owner): (Option<i64>, Option<i64>) = match row.optional()? {
            Some(row) => row,
            None => return Ok(Trouble::Deleted),
        };
        if lease == Some(held.lease) {
            let words = "the number of a session's records has changed";
            return Ok(Trouble::Unreadable(words.to_owned()));
        }
        let holder = match owner {
            Some(owner) => lease::holder(self.transaction, owner, self.this)?,
            None => None,
        };
        let nobody = || "another program, which has closed it again".to_owned();
        Ok(Trouble::Lost(holder.unwrap_or_else(nobody)))
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

    fn create(&mut self, head: &Head) -> rusqlite::Result<Outcome> {
        if self.find(&head.id)?.is_some() {
            return Ok(Outcome::Failed(Trouble::Exists));
        }
        let (owner, lease) = (self.owner()?, lease::fresh_lease());
        self.transaction.execute(
            "INSERT INTO sessions
                 (id, cwd, title, created_ms, updated_ms, next, lease, owner)
             VALUES (?, ?, ?, ?, ?, 0, ?, ?)",
            (
                &head.id,
                path_bytes(&head.cwd),
                &head.title,
                head.created_ms,
                head.updated_ms,
                lease,
                owner,
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
        Ok(Outcome::Held(
            head.clone(),
            self.grant(&head.id, number, lease, 0),
        ))
    }

    fn open(&mut self, id: &str) -> rusqlite::Result<Outcome> {
        let Some(found) = self.find(id)? else {
            return Ok(Outcome::None);
        };
        if let Some(holder) = self.holder(&found)? {
            return Ok(Outcome::Failed(Trouble::InUse(holder)));
        }
        let Stored { number, next, head } = found.stored;
        let next = self.end_of_records(number, next);
        let (owner, lease) = (self.owner()?, lease::fresh_lease());
        self.transaction.execute(
            "UPDATE sessions SET lease = ?, owner = ?, next = ? WHERE number = ?",
            (lease, owner, signed(next), number),
        )?;
        let grant = self.grant(id, number, lease, next);
        Ok(Outcome::Held(head, grant))
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

    fn describe(&mut self, held: &Held, change: &Description) -> rusqlite::Result<Outcome> {
        let described = self.transaction.execute(
            "UPDATE sessions SET title = iif(?1, ?2, title), updated_ms = ifnull(?3, updated_ms)
             WHERE number = ?4 AND lease = ?5",
            (
                change.title.is_some(),
                change.title.as_ref().and_then(Option::as_deref),
                change.updated_ms,
                held.number,
                held.lease,
            ),
        )?;
        match described {
            0 => {
                let why = self.why_over(held)?;
                self.over.insert(held.lease, why.clone());
                Ok(Outcome::Failed(why))
            }
            _ => Ok(Outcome::Done),
        }
    }

    fn find(&self, id: &str) -> rusqlite::Result<Option<Found>> {
        let found = self.transaction.query_row(
            &format!(
                "SELECT {}, lease, owner FROM sessions WHERE id = ?",
                head::COLUMNS
            ),
            [id],
            |row| {
                Ok(Found {
                    stored: head::read(row)?,
                    lease: row.get("lease")?,
                    owner: row.get("owner")?,
                })
            },
        );
        found.optional()
    }

    fn grant(&mut self, id: &str, number: i64, lease: i64, next: u64) -> Grant {
        self.fresh.push(lease);
        let held = Held {
            number,
            lease,
            key: Key::new(id, number),
            over: OnceLock::new(),
            unwritten: AtomicUsize::new(0),
        };
        Grant {
            held: Arc::new(held),
            next,
        }
    }

    /// Returns who writes a session, if anybody does who lives.
    fn holder(&self, found: &Found) -> rusqlite::Result<Option<String>> {
        let is_known = |lease| self.ends.contains_key(&lease) || self.fresh.contains(&lease);
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
}

/// SQLite has signed numbers only; those of records are far below their end.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
