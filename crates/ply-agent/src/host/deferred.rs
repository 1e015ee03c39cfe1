//! Sessions that are not written before there is something to keep.
//!
//! Editors make a session whenever they show their panel, and most of those never see a prompt. A new
//! session therefore waits in memory, and costs no file and no sync: it is written with the first
//! record that must be safe, or when its client closes it. Otherwise it goes with its process, and
//! leaves nothing in which nothing was said.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_journal::{
    Answer, Description, Durability, Error, Filter, Head, Journal, Log, Page, Records,
};

/// Sessions that wait at once; more are written as they are made.
const WAITING_MAX: usize = 16;
/// Bytes of records that wait with an unwritten session.
const WAITING_BYTES_MAX: usize = 64 * 1024;

/// A journal that makes sessions when they have something to keep.
#[derive(Debug, Clone)]
pub(crate) struct Deferred(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    journal: Arc<dyn Journal>,
    waiting: Mutex<HashMap<String, Place>>,
}

/// A session on its way into the journal. Locked while it is written.
type Place = Arc<tokio::sync::Mutex<State>>;

enum State {
    Waiting(Waiting),
    /// Written, and not yet asked for by its owner.
    Written(Box<dyn Log>),
    /// With its owner, or given up.
    Gone,
}

/// A session that is not written.
struct Waiting {
    head: Head,
    /// It was tried to write it, and nobody knows how far that came.
    is_tried: bool,
    records: Vec<Vec<u8>>,
    bytes: usize,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting(_) => "Waiting",
            Self::Written(_) => "Written",
            Self::Gone => "Gone",
        })
    }
}

impl Deferred {
    pub(crate) fn new(journal: Arc<dyn Journal>) -> Self {
        Self(Arc::new(Shared {
            journal,
            waiting: Mutex::default(),
        }))
    }

    /// Writes a session, if it waits.
    pub(crate) async fn keep(&self, id: &str) -> Result<(), Error> {
        match self.0.place(id) {
            Some(place) => self.0.write(id, &mut *place.lock().await).await,
            None => Ok(()),
        }
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Place>> {
        // No code that can panic runs under the lock, so a poisoned map is whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, id: &str) -> Option<Place> {
        self.waiting().get(id).map(Arc::clone)
    }

    /// Returns the heads of the sessions that wait in a directory.
    async fn heads(&self, cwd: Option<&Path>) -> Vec<Head> {
        let places: Vec<Place> = self.waiting().values().map(Arc::clone).collect();
        let mut heads = Vec::new();
        for place in places {
            if let State::Waiting(waiting) = &*place.lock().await
                && cwd.is_none_or(|cwd| cwd == waiting.head.cwd)
            {
                heads.push(waiting.head.clone());
            }
        }
        heads
    }

    /// Makes the session in the journal, with what waits with it.
    async fn write(&self, id: &str, state: &mut State) -> Result<(), Error> {
        let State::Waiting(waiting) = state else {
            return Ok(());
        };
        let was_tried = std::mem::replace(&mut waiting.is_tried, true);
        let mut log = match self.journal.create(waiting.head.clone()).await {
            // A sync that failed may have left it there.
            Err(Error::Exists) if was_tried => {
                let opened = self.journal.open(id).await?;
                opened.ok_or(Error::Deleted)?.1
            }
            made => made?,
        };
        let records = std::mem::take(&mut waiting.records);
        *state = State::Gone;
        self.waiting().remove(id);
        if !records.is_empty() {
            log.append(records, Durability::Soon).await?;
        }
        *state = State::Written(log);
        Ok(())
    }
}

impl Journal for Deferred {
    fn create(&self, head: Head) -> Answer<'_, Box<dyn Log>> {
        if self.0.waiting().len() >= WAITING_MAX {
            return self.0.journal.create(head);
        }
        let id = head.id.clone();
        let waiting = Waiting {
            head,
            is_tried: false,
            records: Vec::new(),
            bytes: 0,
        };
        let place = Arc::new(tokio::sync::Mutex::new(State::Waiting(waiting)));
        self.0.waiting().insert(id.clone(), Arc::clone(&place));
        let log = DeferredLog {
            shared: Arc::clone(&self.0),
            id,
            place,
            log: None,
        };
        Box::pin(std::future::ready(Ok(Box::new(log) as Box<dyn Log>)))
    }

    fn open<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Log>)>> {
        Box::pin(async move {
            // One that could not be written when it had to be is opened again once the store works.
            if let Some(place) = self.0.place(id) {
                let mut state = place.lock().await;
                self.0.write(id, &mut state).await?;
                // The lease is with whoever writes the session, so it has to be given back first.
                if let State::Written(log) = std::mem::replace(&mut *state, State::Gone) {
                    log.close().await?;
                }
            }
            self.0.journal.open(id).await
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Records>)>> {
        Box::pin(async move {
            self.keep(id).await?;
            self.0.journal.look(id).await
        })
    }

    fn list(&self, filter: Filter) -> Answer<'_, Page> {
        Box::pin(async move {
            // Those that wait are on the first page, in their place. What is listed stays as it is.
            let waiting = match filter.cursor {
                None => self.0.heads(filter.cwd.as_deref()).await,
                Some(_) => Vec::new(),
            };
            let mut page = self.0.journal.list(filter).await?;
            if !waiting.is_empty() {
                page.sessions.extend(waiting);
                page.sessions
                    .sort_by_key(|head| std::cmp::Reverse(head.updated_ms));
            }
            Ok(page)
        })
    }

    fn delete<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
        self.0.journal.delete(id)
    }

    fn close(&self) -> Answer<'_, ()> {
        self.0.journal.close()
    }
}

/// The right to write a session that may not be written yet.
struct DeferredLog {
    shared: Arc<Shared>,
    id: String,
    place: Place,
    /// The real one, once there is one.
    log: Option<Box<dyn Log>>,
}

impl fmt::Debug for DeferredLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferredLog")
            .field("id", &self.id)
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}

impl DeferredLog {
    /// Returns the real log; the session is written for it if it was not.
    async fn written(&mut self) -> Result<&mut Box<dyn Log>, Error> {
        if self.log.is_none() {
            let mut state = self.place.lock().await;
            self.shared.write(&self.id, &mut state).await?;
            if let State::Written(log) = std::mem::replace(&mut *state, State::Gone) {
                self.log = Some(log);
            }
        }
        self.log.as_mut().ok_or(Error::Deleted)
    }
}

/// Keeps records with a session that waits, if there is room; gives them back otherwise.
async fn keep(place: &Place, records: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
    let mut state = place.lock().await;
    let State::Waiting(waiting) = &mut *state else {
        return Some(records);
    };
    let bytes: usize = records.iter().map(Vec::len).sum();
    if waiting.bytes + bytes > WAITING_BYTES_MAX {
        return Some(records);
    }
    waiting.bytes += bytes;
    waiting.records.extend(records);
    None
}

impl Records for DeferredLog {
    fn read(&mut self, from: u64, bytes_max: usize) -> Answer<'_, Vec<Vec<u8>>> {
        Box::pin(async move { self.written().await?.read(from, bytes_max).await })
    }
}

impl Log for DeferredLog {
    fn append(&mut self, records: Vec<Vec<u8>>, durability: Durability) -> Answer<'_, ()> {
        Box::pin(async move {
            if let Some(log) = &mut self.log {
                return log.append(records, durability).await;
            }
            let records = match durability {
                Durability::Now => Some(records),
                Durability::Soon => keep(&self.place, records).await,
            };
            match records {
                Some(records) => self.written().await?.append(records, durability).await,
                None => Ok(()),
            }
        })
    }

    fn describe(&mut self, change: Description) -> Answer<'_, ()> {
        Box::pin(async move {
            if self.log.is_none()
                && let State::Waiting(waiting) = &mut *self.place.lock().await
            {
                if let Some(title) = change.title {
                    waiting.head.title = title;
                }
                waiting.head.updated_ms = change.updated_ms.unwrap_or(waiting.head.updated_ms);
                return Ok(());
            }
            self.written().await?.describe(change).await
        })
    }

    fn close(self: Box<Self>) -> Answer<'static, ()> {
        Box::pin(async move {
            if let Some(log) = self.log {
                return log.close().await;
            }
            let mut state = self.place.lock().await;
            if matches!(&*state, State::Waiting(waiting) if waiting.is_tried) {
                // There was something to keep, and the store could not: it can be opened again once it works.
                return Ok(());
            }
            self.shared.waiting().remove(&self.id);
            match std::mem::replace(&mut *state, State::Gone) {
                State::Written(log) => log.close().await,
                State::Waiting(_) | State::Gone => Ok(()),
            }
        })
    }
}
