//! The logs of a store's sessions, as their owners and as others see them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Store;
use super::job::{Job, Lease};
use super::reader::Session;
use super::run::Frames;
use super::trouble::Trouble;
use crate::{Answer, Description, Durability, Log, Records};

/// The right to write a session.
pub(super) struct SqliteLog {
    // Dropped first: the session is given back while there is a writer.
    lease: Lease,
    store: Arc<Store>,
}

impl SqliteLog {
    pub(super) fn new(lease: Lease, store: Arc<Store>) -> Self {
        Self { lease, store }
    }

    async fn write(&self, records: Vec<Vec<u8>>, durability: Durability) -> Result<(), Trouble> {
        let held = &self.lease.held;
        held.check()?;
        let frames = Frames::new(&records)?;
        drop(records);
        self.store.queue.append(held, frames, durability).await
    }

    async fn page(&self, from: u64, bytes_max: usize) -> Result<Vec<Vec<u8>>, Trouble> {
        let held = &self.lease.held;
        held.check()?;
        if held.unwritten.load(Ordering::Acquire) > 0 {
            self.store.flush().await?;
            held.check()?;
        }
        let session = Session {
            number: held.number,
            key: held.key,
        };
        self.store.reader.read(session, from, bytes_max).await
    }

    async fn change(&self, change: Description) -> Result<(), Trouble> {
        let held = Arc::clone(&self.lease.held);
        held.check()?;
        let title = change.title.as_ref().and_then(Option::as_deref);
        let bytes = title.map_or(0, str::len);
        let job = |tell| Job::Describe { held, change, tell };
        self.store.queue.ask(bytes, job).await
    }
}

impl fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLog")
            .field("session", &self.lease.held.number)
            .finish_non_exhaustive()
    }
}

impl Records for SqliteLog {
    fn read(&mut self, from: u64, bytes_max: usize) -> Answer<'_, Vec<Vec<u8>>> {
        Box::pin(async move { Ok(self.page(from, bytes_max).await?) })
    }
}

impl Log for SqliteLog {
    fn append(&mut self, records: Vec<Vec<u8>>, durability: Durability) -> Answer<'_, ()> {
        Box::pin(async move { Ok(self.write(records, durability).await?) })
    }

    fn describe(&mut self, change: Description) -> Answer<'_, ()> {
        Box::pin(async move { Ok(self.change(change).await?) })
    }

    fn close(self: Box<Self>) -> Answer<'static, ()> {
        let Self { lease, store } = *self;
        // Queued before the flush, so it is done when that is.
        drop(lease);
        Box::pin(async move { Ok(store.flush().await?) })
    }
}

/// A session that somebody reads, whoever writes it.
pub(super) struct Look {
    session: Session,
    store: Arc<Store>,
}

impl Look {
    pub(super) fn new(session: Session, store: Arc<Store>) -> Self {
        Self { session, store }
    }
}

impl fmt::Debug for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Look")
            .field("session", &self.session.number)
            .finish_non_exhaustive()
    }
}

impl Records for Look {
    fn read(&mut self, from: u64, bytes_max: usize) -> Answer<'_, Vec<Vec<u8>>> {
        Box::pin(async move {
            self.store.flush_if_needed().await;
            let page = self.store.reader.read(self.session, from, bytes_max);
            Ok(page.await?)
        })
    }
}
