//! One transaction, and what follows from how it went.

use std::sync::Arc;

use rusqlite::TransactionBehavior;

use super::{OpenFile, Sync, Writer};
use crate::Durability;
use crate::sqlite::job::{Append, Given, Job, Lease, Tell};
use crate::sqlite::schema::pragma;
use crate::sqlite::trouble::{Failure, Remedy, Trouble};
use crate::sqlite::work::{Leases, Outcome, Work};

/// Leases that are remembered though their transaction failed.
const DOUBTFUL_MAX: usize = 1024;

/// What a transaction did that counts once it is safe.
#[derive(Debug, Default)]
struct Done {
    outcomes: Vec<Outcome>,
    owner: Option<i64>,
    moved: Vec<(i64, u64)>,
    over: Vec<(i64, Trouble)>,
    has_trash: bool,
    bytes: usize,
}

impl Writer {
    /// Does jobs, those that are kept first.
    pub(super) fn batch(&mut self, jobs: Vec<Job>) {
        // First, since it may find that what is kept is written already.
        let prepared = self.prepare().map(drop);
        let mut all = std::mem::take(&mut self.kept);
        all.extend(jobs);
        match prepared {
            Ok(()) if all.is_empty() => {}
            Ok(()) => drop(self.together(all)),
            Err(trouble) => self.fail(all, &trouble, Remedy::Retry),
        }
    }

    /// Does jobs in one transaction; returns why nothing can be done after them.
    fn together(&mut self, jobs: Vec<Job>) -> Option<Trouble> {
        match self.transact(&jobs) {
            Ok(done) => {
                self.settle(jobs, done);
                None
            }
            // Whoever touches what is broken must not take the others along.
            Err(failure) if failure.remedy == Remedy::Isolate && jobs.len() > 1 => {
                let mut jobs = jobs.into_iter();
                while let Some(job) = jobs.next() {
                    if let Some(trouble) = self.together(vec![job]) {
                        // What follows must not overtake what is kept.
                        self.fail(jobs.collect(), &trouble, Remedy::Retry);
                        return Some(trouble);
                    }
                }
                None
            }
            Err(failure) => {
                self.fail(jobs, &failure.trouble, failure.remedy);
                self.note_failure(failure.remedy, &failure.trouble);
                (failure.remedy != Remedy::Isolate).then_some(failure.trouble)
            }
        }
    }

    fn transact(&mut self, jobs: &[Job]) -> Result<Done, Failure> {
        let prepared = self.prepare().map(drop);
        prepared.map_err(|trouble| Failure {
            // What there was to do about it was done.
            remedy: Remedy::Retry,
            trouble,
        })?;
        let path = &self.path;
        let failed = |error: rusqlite::Error| Failure::sqlite(&error, path);
        let Some(file) = &mut self.file else {
            return Err(Failure {
                trouble: Trouble::Closed,
                remedy: Remedy::Retry,
            });
        };
        file.sync(sync_of(jobs)).map_err(failed)?;
        let connection = &mut file.connection;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let known = Leases {
            ends: &self.ends,
            doubtful: &self.doubtful,
        };
        let mut work = Work::new(&transaction, &self.this, self.owner, known);
        let worked = work.all(jobs);
        let fresh = std::mem::take(&mut work.fresh);
        let done = Done {
            outcomes: std::mem::take(&mut work.outcomes),
            owner: work.owner,
            moved: work.moved.drain().collect(),
            over: work.over.drain().collect(),
            has_trash: work.has_trash,
            bytes: work.bytes,
        };
        drop(work);
        let committed = worked.and_then(|()| transaction.commit());
        if let Err(error) = committed {
            self.attempted = done.moved.into_iter().collect();
            self.doubtful.extend(fresh);
            let too_many = self.doubtful.len().saturating_sub(DOUBTFUL_MAX);
            self.doubtful.drain(..too_many);
            return Err(failed(error));
        }
        Ok(done)
    }

    /// Tells everybody what came of a transaction that is safe.
    fn settle(&mut self, jobs: Vec<Job>, done: Done) {
        self.failing = None;
        self.attempted.clear();
        self.owner = done.owner;
        self.has_trash |= done.has_trash;
        // Records were written, or sessions deleted.
        let is_stirred = !done.moved.is_empty() || done.has_trash;
        self.ends.extend(done.moved);
        for (lease, why) in done.over {
            self.ends.remove(&lease);
            if let Some(held) = self.held.remove(&lease) {
                held.end(&why);
            }
        }
        if is_stirred {
            self.tail.stir();
        }
        for (job, outcome) in jobs.into_iter().zip(done.outcomes) {
            self.tell(job, outcome);
        }
        self.note_written(done.bytes);
    }

    fn tell(&mut self, job: Job, outcome: Outcome) {
        match job {
            Job::Create { tell, .. } => {
                let made = self.granted(outcome);
                if let Err(Ok(given)) = tell.send(made) {
                    given.lease.give_back();
                }
            }
            Job::Open { tell, .. } => {
                let opened = match outcome {
                    Outcome::None => Ok(None),
                    outcome => self.granted(outcome).map(Some),
                };
                if let Err(Ok(Some(given))) = tell.send(opened) {
                    given.lease.give_back();
                }
            }
            Job::Delete { tell, .. } => {
                let deleted = match outcome {
                    Outcome::Deleted(deleted) => Ok(deleted),
                    outcome => plain(outcome).map(|()| false),
                };
                give(tell, deleted);
            }
            Job::Append(Append { held, tell, .. }) => match tell {
                Some(tell) => held.tell(tell, plain(outcome)),
                None => held.note_written(),
            },
            Job::Flush { tell } => give(tell, plain(outcome)),
            Job::Release { held } => {
                self.held.remove(&held.lease);
                self.ends.remove(&held.lease);
            }
        }
    }

    fn granted(&mut self, outcome: Outcome) -> Result<Given, Trouble> {
        match outcome {
            Outcome::Held(grant) => {
                let held = grant.held;
                self.held.insert(held.lease, Arc::clone(&held));
                self.ends.insert(held.lease, grant.records);
                Ok(Given {
                    head: grant.head,
                    epoch: grant.epoch,
                    records: grant.records,
                    lease: Lease::new(held, Arc::clone(&self.queue)),
                })
            }
            outcome => Err(plain(outcome).err().unwrap_or(Trouble::Closed)),
        }
    }

    /// Tells everybody that a transaction failed, and keeps what was accepted before.
    fn fail(&mut self, jobs: Vec<Job>, trouble: &Trouble, remedy: Remedy) {
        let keeps = matches!(remedy, Remedy::Retry | Remedy::Reopen) && self.stopped.is_none();
        if keeps {
            self.failing = Some(trouble.clone());
        }
        for job in jobs {
            match job {
                Job::Append(append) if append.tell.is_none() => match keeps {
                    true => self.kept.push(Job::Append(append)),
                    // It was accepted and is lost, so nothing may follow it.
                    false => append.held.end(trouble),
                },
                Job::Release { .. } if keeps => self.kept.push(job),
                Job::Release { held } => {
                    self.held.remove(&held.lease);
                    self.ends.remove(&held.lease);
                }
                job => self.tell(job, Outcome::Failed(trouble.clone())),
            }
        }
    }
}

/// Returns whether the commit of some jobs has to wait for the disk.
///
/// With `synchronous = NORMAL` a commit only writes to the log, which outlives the process but not
/// the machine. With `FULL` it syncs the log after its own frames: the whole file, so that all
/// commits before it are safe as well (`walFrames` in SQLite's `wal.c`). Recovery takes frames up to
/// the first whose chained checksum is wrong, so what is there has no gap.
fn sync_of(jobs: &[Job]) -> Sync {
    let is_durable = |job: &Job| match job {
        Job::Create { .. } | Job::Delete { .. } | Job::Release { .. } => true,
        Job::Append(append) => append.durability == Durability::Durable,
        _ => false,
    };
    match jobs.iter().any(is_durable) {
        true => Sync::Now,
        false => Sync::Later,
    }
}

impl OpenFile {
    /// Has the next commit wait for the disk, or not.
    pub(super) fn sync(&mut self, sync: Sync) -> rusqlite::Result<()> {
        if sync != self.sync {
            let value = match sync {
                Sync::Now => "full",
                Sync::Later => "normal",
            };
            pragma(&self.connection, "synchronous", value)?;
            self.sync = sync;
        }
        Ok(())
    }
}

fn plain(outcome: Outcome) -> Result<(), Trouble> {
    match outcome {
        Outcome::Failed(trouble) => Err(trouble),
        _ => Ok(()),
    }
}

fn give<T>(tell: Tell<T>, outcome: Result<T, Trouble>) {
    // Whoever asked may have gone away.
    drop(tell.send(outcome));
}

#[cfg(test)]
mod tests;
