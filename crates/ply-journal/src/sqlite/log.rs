//! The logs of a store's sessions, as their owners and as others see them.

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use bytes::Bytes;

use super::Store;
use super::held::Held;
use super::job::{Append, Lease};
use super::queue::outcome;
use super::reader::Session;
use super::run::Frames;
use super::trouble::Trouble;
use crate::{Answer, Batch, Description, Durability, Error, Log, Loss, Records};

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
}

impl fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLog")
            .field("session", &self.lease.held.number)
            .finish_non_exhaustive()
    }
}

async fn page(
    held: Arc<Held>,
    store: Arc<Store>,
    from: u64,
    bytes_max: usize,
) -> Result<Batch, Trouble> {
    held.check()?;
    if held.unwritten() > 0 {
        store.flush().await?;
        held.check()?;
    }
    let session = Session {
        number: held.number,
        key: held.key,
    };
    let records = store.reader.read(session, from, bytes_max).await?;
    Ok(Batch::new(from, records))
}

impl Records for SqliteLog {
    fn read(&self, from: u64, bytes_max: usize) -> Answer<'static, Batch> {
        let (held, store) = (Arc::clone(&self.lease.held), Arc::clone(&self.store));
        Box::pin(async move { Ok(page(held, store, from, bytes_max).await?) })
    }

    fn wait(&self, from: u64) -> Answer<'static, ()> {
        let held = &self.lease.held;
        if let Err(trouble) = held.check() {
            return failed(trouble);
        }
        let told = self.store.tail.wait(held.number, from);
        Box::pin(async move { Ok(outcome(told).await?) })
    }
}

impl Log for SqliteLog {
    fn append_shared(
        &self,
        records: Vec<Bytes>,
        durability: Durability,
        description: Option<Description>,
    ) -> Answer<'static, Durability> {
        let held = &self.lease.held;
        let queued = held.check().and_then(|()| {
            let frames = Frames::new(&records)?;
            let append = Append::new(held, frames, description, durability);
            self.store.queue.append(append)
        });
        match queued {
            Ok(Some(told)) => Box::pin(async move {
                outcome(told).await?;
                Ok(durability)
            }),
            Ok(None) => Box::pin(ready(Ok(durability))),
            Err(trouble) => failed(trouble),
        }
    }

    fn lost(&self) -> Loss {
        let lost = self.lease.held.lost();
        Box::pin(async move { lost.await.into() })
    }

    fn close(self: Box<Self>) -> Answer<'static, ()> {
        let Self { lease, store } = *self;
        // Queued before the flush, so it is done when that is.
        drop(lease);
        Box::pin(async move { Ok(store.flush().await?) })
    }
}

fn failed<T: Send + 'static>(trouble: Trouble) -> Answer<'static, T> {
    Box::pin(ready(Err(Error::from(trouble))))
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
    fn read(&self, from: u64, bytes_max: usize) -> Answer<'static, Batch> {
        let (session, store) = (self.session, Arc::clone(&self.store));
        Box::pin(async move {
            store.flush_if_needed().await;
            let records = store.reader.read(session, from, bytes_max).await?;
            Ok(Batch::new(from, records))
        })
    }

    fn wait(&self, from: u64) -> Answer<'static, ()> {
        let told = self.store.tail.wait(self.session.number, from);
        Box::pin(async move { Ok(outcome(told).await?) })
    }
}
