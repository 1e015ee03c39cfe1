//! The store that lasts as long as the process.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;

use crate::listing::{cursor, place, place_of};
use crate::{
    Answer, Batch, Description, Durability, Error, Filter, Head, Journal, Log, Loss, Opened, Page,
    Records,
};

/// Sessions in memory. Clones share them.
///
/// Closing it takes all sessions from their owners. They stay for whoever opens them next.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<HashMap<String, Stored>>>);

#[derive(Debug)]
struct Stored {
    head: Head,
    /// Names the creation of the session.
    key: String,
    records: Kept,
    /// Tells the session from another that had its id before.
    made: Arc<()>,
    /// How often it had an owner.
    epoch: u64,
    /// What its owner is told; none if nobody writes it. Dropped when the session is given back.
    owner: Option<watch::Sender<Told>>,
    /// What those who wait for records are told. Dropped when the store is closed.
    tail: watch::Sender<Tail>,
}

/// Why a session has no owner any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Deleted,
    Closed,
}

/// How far a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    Records(u64),
    Deleted,
}

/// Records from this size on are kept as they come, instead of being copied.
const LARGE_BYTES: usize = 64 * 1024;

/// Records back to back, since there are many small ones.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    /// Where each record ends; a large one has no bytes there.
    ends: Vec<usize>,
    /// The large ones, by their number.
    large: BTreeMap<usize, Bytes>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records", self.ends.len())
    }
}

impl Kept {
    fn push(&mut self, record: Bytes) {
        if record.len() < LARGE_BYTES {
            self.bytes.extend_from_slice(&record);
        } else {
            self.large.insert(self.ends.len(), record);
        }
        self.ends.push(self.bytes.len());
    }

    fn count(&self) -> u64 {
        self.ends.len() as u64
    }

    fn read(&self, from: u64, bytes_max: usize) -> Batch {
        Batch::new(from, self.page(from, bytes_max))
    }

    fn page(&self, from: u64, bytes_max: usize) -> Vec<Vec<u8>> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let mut read = Vec::new();
        let mut start = match from.checked_sub(1) {
            None => 0,
            Some(before) => match self.ends.get(before) {
                Some(end) => *end,
                None => return read,
            },
        };
        let mut bytes = 0;
        for (number, end) in self.ends.iter().enumerate().skip(from) {
            let record = match self.large.get(&number) {
                Some(large) => large,
                None => self.bytes.get(start..*end).unwrap_or_default(),
            };
            bytes += record.len();
            if !read.is_empty() && bytes > bytes_max {
                break;
            }
            read.push(record.to_vec());
            start = *end;
        }
        read
    }
}

impl Stored {
    fn tail(&self) -> watch::Sender<Tail> {
        watch::Sender::new(Tail::Records(self.records.count()))
    }

    /// Tells the owner and all who wait for records that the session is gone.
    fn end(&self) {
        if let Some(owner) = &self.owner {
            owner.send_replace(Told::Deleted);
        }
        self.tail.send_replace(Tail::Deleted);
    }
}

impl Memory {
    /// Returns an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Stored>> {
        // No code that can panic runs under the lock, so a poisoned map is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a session to a new owner.
    fn own(&self, stored: &mut Stored) -> Result<Opened, Error> {
        if stored.owner.is_some() {
            return Err(Error::InUse("this process".to_owned()));
        }
        let (tell, told) = watch::channel(Told::Nothing);
        stored.owner = Some(tell);
        stored.epoch += 1;
        let log = MemoryLog {
            look: self.look_at(stored),
            epoch: stored.epoch,
            told,
        };
        let (head, records) = (stored.head.clone(), stored.records.count());
        Ok(Opened::new(head, stored.epoch, records, Box::new(log)))
    }

    fn look_at(&self, stored: &Stored) -> MemoryLook {
        MemoryLook {
            store: self.clone(),
            id: stored.head.id.clone(),
            made: Arc::clone(&stored.made),
        }
    }

    fn page(&self, filter: &Filter) -> Result<Page, Error> {
        let after = filter.cursor.as_deref().map(place_of).transpose()?;
        let sessions = self.lock();
        let mut found: Vec<&Head> = sessions
            .values()
            .map(|stored| &stored.head)
            .filter(|head| filter.cwd.as_ref().is_none_or(|cwd| head.cwd == *cwd))
            .filter(|head| filter.unfinished.is_none_or(|is| head.unfinished == is))
            .filter(|head| filter.archived.is_none_or(|is| head.archived == is))
            .filter(|head| after.is_none_or(|after| place(head) > after))
            .collect();
        found.sort_by(|a, b| place(a).cmp(&place(b)));
        let more = found.len() > filter.limit;
        found.truncate(filter.limit);
        let next = found.last().filter(|_| more);
        Ok(Page {
            next: next.map(|head| cursor(head)),
            sessions: found.into_iter().cloned().collect(),
        })
    }
}

impl Journal for Memory {
    fn create<'a>(&'a self, head: Head, key: &'a str) -> Answer<'a, Opened> {
        Box::pin(async move {
            let mut sessions = self.lock();
            let id = head.id.clone();
            let stored = sessions.entry(id).or_insert_with(|| Stored {
                head,
                key: key.to_owned(),
                records: Kept::default(),
                made: Arc::new(()),
                epoch: 0,
                owner: None,
                tail: watch::Sender::new(Tail::Records(0)),
            });
            if stored.key != key {
                return Err(Error::Exists);
            }
            self.own(stored)
        })
    }

    fn open<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Opened>> {
        Box::pin(async move {
            let mut sessions = self.lock();
            let stored = sessions.get_mut(id);
            stored.map(|stored| self.own(stored)).transpose()
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Records>)>> {
        Box::pin(async move {
            let sessions = self.lock();
            Ok(sessions.get(id).map(|stored| {
                let look: Box<dyn Records> = Box::new(self.look_at(stored));
                (stored.head.clone(), look)
            }))
        })
    }

    fn list(&self, filter: Filter) -> Answer<'_, Page> {
        Box::pin(async move { self.page(&filter) })
    }

    fn delete<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
        Box::pin(async move {
            let deleted = self.lock().remove(id);
            deleted.iter().for_each(Stored::end);
            Ok(deleted.is_some())
        })
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            for stored in self.lock().values_mut() {
                if let Some(owner) = stored.owner.take() {
                    owner.send_replace(Told::Closed);
                }
                stored.tail = stored.tail();
            }
            Ok(())
        })
    }
}

struct MemoryLog {
    look: MemoryLook,
    epoch: u64,
    told: watch::Receiver<Told>,
}

impl fmt::Debug for MemoryLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLog")
            .field("id", &self.look.id)
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

impl MemoryLog {
    fn with<T>(&self, then: impl FnOnce(&mut Stored) -> T) -> Result<T, Error> {
        let why = match *self.told.borrow() {
            // It was deleted, and is being told.
            Told::Nothing | Told::Deleted => Error::Deleted,
            Told::Closed => Error::Closed,
        };
        self.look.with(|stored| {
            // Each owner has another number.
            let is_owner = stored.owner.is_some() && stored.epoch == self.epoch;
            is_owner.then(|| then(stored)).ok_or(why)
        })?
    }

    fn write(&self, records: Vec<Bytes>, description: Option<Description>) -> Result<(), Error> {
        self.with(|stored| {
            for record in records {
                stored.records.push(record);
            }
            if let Some(change) = description {
                stored.head.describe(change);
            }
            stored
                .tail
                .send_replace(Tail::Records(stored.records.count()));
        })
    }
}

impl Records for MemoryLog {
    fn read(&self, from: u64, bytes_max: usize) -> Answer<'static, Batch> {
        Box::pin(ready(
            self.with(|stored| stored.records.read(from, bytes_max)),
        ))
    }

    fn wait(&self, from: u64) -> Answer<'static, ()> {
        match self.with(|_| ()) {
            Ok(()) => self.look.wait(from),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }
}

impl Log for MemoryLog {
    fn append_shared(
        &self,
        records: Vec<Bytes>,
        _: Durability,
        description: Option<Description>,
    ) -> Answer<'static, Durability> {
        // There is no better place than where they are.
        let written = self.write(records, description);
        Box::pin(ready(written.map(|()| Durability::Durable)))
    }

    fn lost(&self) -> Loss {
        let mut told = self.told.clone();
        Box::pin(async move {
            let why = told.wait_for(|told| *told != Told::Nothing).await;
            match why.as_deref() {
                Ok(Told::Deleted) => Error::Deleted,
                // Nobody tells an owner that gave the session back.
                Ok(Told::Closed | Told::Nothing) | Err(_) => Error::Closed,
            }
        })
    }

    fn close(self: Box<Self>) -> Answer<'static, ()> {
        drop(self);
        Box::pin(ready(Ok(())))
    }
}

impl Drop for MemoryLog {
    fn drop(&mut self) {
        // A session that was deleted has nothing to give back.
        let _deleted = self.with(|stored| stored.owner = None).is_err();
    }
}

struct MemoryLook {
    store: Memory,
    id: String,
    made: Arc<()>,
}

impl fmt::Debug for MemoryLook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLook")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl MemoryLook {
    fn with<T>(&self, then: impl FnOnce(&mut Stored) -> T) -> Result<T, Error> {
        let mut sessions = self.store.lock();
        let stored = sessions.get_mut(&self.id);
        let stored = stored.filter(|stored| Arc::ptr_eq(&stored.made, &self.made));
        stored.map(then).ok_or(Error::Deleted)
    }
}

impl Records for MemoryLook {
    fn read(&self, from: u64, bytes_max: usize) -> Answer<'static, Batch> {
        let read = self.with(|stored| stored.records.read(from, bytes_max));
        Box::pin(ready(read))
    }

    fn wait(&self, from: u64) -> Answer<'static, ()> {
        let tail = self.with(|stored| stored.tail.subscribe());
        Box::pin(async move {
            let is_there = |tail: &Tail| match tail {
                Tail::Records(count) => *count > from,
                Tail::Deleted => true,
            };
            match tail?.wait_for(is_there).await.as_deref() {
                Ok(Tail::Records(_)) => Ok(()),
                Ok(Tail::Deleted) => Err(Error::Deleted),
                Err(_) => Err(Error::Closed),
            }
        })
    }
}
