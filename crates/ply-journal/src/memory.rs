//! The store that lasts as long as the process.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::listing::{cursor, place, place_of};
use crate::{Answer, Description, Durability, Error, Filter, Head, Journal, Log, Page, Records};

/// Sessions in memory. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<HashMap<String, Stored>>>);

#[derive(Debug)]
struct Stored {
    head: Head,
    records: Kept,
    /// Tells the session from another that had its id before.
    made: Arc<()>,
    /// Who writes it. Another session may have the same id later, and its writer is another.
    owner: Option<Arc<()>>,
}

/// Records back to back, since there are many small ones.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (records, bytes) = (self.ends.len(), self.bytes.len());
        write!(f, "{records} records of {bytes} bytes")
    }
}

impl Kept {
    fn push(&mut self, record: &[u8]) {
        self.bytes.extend_from_slice(record);
        self.ends.push(self.bytes.len());
    }

    fn read(&self, from: u64, bytes_max: usize) -> Vec<Vec<u8>> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let mut read = Vec::new();
        let mut start = match from.checked_sub(1) {
            None => 0,
            Some(before) => match self.ends.get(before) {
                Some(end) => *end,
                None => return read,
            },
        };
        let first = start;
        for end in self.ends.iter().skip(from) {
            if !read.is_empty() && end - first > bytes_max {
                break;
            }
            read.push(self.bytes.get(start..*end).unwrap_or_default().to_vec());
            start = *end;
        }
        read
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

    fn log(&self, id: &str, owner: Arc<()>) -> Box<dyn Log> {
        Box::new(MemoryLog {
            store: self.clone(),
            id: id.to_owned(),
            owner,
        })
    }

    fn page(&self, filter: &Filter) -> Result<Page, Error> {
        let after = filter.cursor.as_deref().map(place_of).transpose()?;
        let sessions = self.lock();
        let mut found: Vec<&Head> = sessions
            .values()
            .map(|stored| &stored.head)
            .filter(|head| filter.cwd.as_ref().is_none_or(|cwd| head.cwd == *cwd))
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
    fn create(&self, head: Head) -> Answer<'_, Box<dyn Log>> {
        Box::pin(async move {
            let mut sessions = self.lock();
            if sessions.contains_key(&head.id) {
                return Err(Error::Exists);
            }
            let (id, owner) = (head.id.clone(), Arc::new(()));
            let stored = Stored {
                head,
                records: Kept::default(),
                made: Arc::new(()),
                owner: Some(Arc::clone(&owner)),
            };
            sessions.insert(id.clone(), stored);
            Ok(self.log(&id, owner))
        })
    }

    fn open<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Log>)>> {
        Box::pin(async move {
            let mut sessions = self.lock();
            let Some(stored) = sessions.get_mut(id) else {
                return Ok(None);
            };
            if stored.owner.is_some() {
                return Err(Error::InUse("this process".to_owned()));
            }
            let owner = Arc::new(());
            stored.owner = Some(Arc::clone(&owner));
            Ok(Some((stored.head.clone(), self.log(id, owner))))
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Records>)>> {
        Box::pin(async move {
            let sessions = self.lock();
            Ok(sessions.get(id).map(|stored| {
                let look = MemoryLook {
                    store: self.clone(),
                    id: id.to_owned(),
                    made: Arc::clone(&stored.made),
                };
                (stored.head.clone(), Box::new(look) as Box<dyn Records>)
            }))
        })
    }

    fn list(&self, filter: Filter) -> Answer<'_, Page> {
        Box::pin(async move { self.page(&filter) })
    }

    fn delete<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
        Box::pin(async move { Ok(self.lock().remove(id).is_some()) })
    }
}

struct MemoryLog {
    store: Memory,
    id: String,
    owner: Arc<()>,
}

impl fmt::Debug for MemoryLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLog")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl MemoryLog {
    fn with<T>(&self, then: impl FnOnce(&mut Stored) -> T) -> Result<T, Error> {
        let mut sessions = self.store.lock();
        let stored = sessions.get_mut(&self.id).filter(|stored| {
            let owner = stored.owner.as_ref();
            owner.is_some_and(|owner| Arc::ptr_eq(owner, &self.owner))
        });
        stored.map(then).ok_or(Error::Deleted)
    }
}

impl Records for MemoryLog {
    fn read(&mut self, from: u64, bytes_max: usize) -> Answer<'_, Vec<Vec<u8>>> {
        let read = self.with(|stored| stored.records.read(from, bytes_max));
        Box::pin(std::future::ready(read))
    }
}

impl Log for MemoryLog {
    fn append(&mut self, records: Vec<Vec<u8>>, _: Durability) -> Answer<'_, ()> {
        let done = self.with(|stored| {
            for record in &records {
                stored.records.push(record);
            }
        });
        Box::pin(std::future::ready(done))
    }

    fn describe(&mut self, change: Description) -> Answer<'_, ()> {
        let done = self.with(|stored| {
            if let Some(title) = change.title {
                stored.head.title = title;
            }
            if let Some(updated_ms) = change.updated_ms {
                stored.head.updated_ms = updated_ms;
            }
        });
        Box::pin(std::future::ready(done))
    }

    fn close(self: Box<Self>) -> Answer<'static, ()> {
        drop(self);
        Box::pin(std::future::ready(Ok(())))
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

impl Records for MemoryLook {
    fn read(&mut self, from: u64, bytes_max: usize) -> Answer<'_, Vec<Vec<u8>>> {
        let sessions = self.store.lock();
        let stored = sessions.get(&self.id);
        let read = stored
            .filter(|stored| Arc::ptr_eq(&stored.made, &self.made))
            .map(|stored| stored.records.read(from, bytes_max))
            .ok_or(Error::Deleted);
        Box::pin(std::future::ready(read))
    }
}
