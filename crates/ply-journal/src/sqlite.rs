//! The store in SQLite, for several processes at once.
//!
//! One thread writes ([`writer`]), fed through a bounded queue ([`queue`]): what waits in it becomes
//! one transaction. One thread reads ([`reader`]) and one makes checkpoints ([`checkpoint`]), each
//! with a connection of its own; another waits for records ([`tail`]). A session is held by a lease
//! ([`lease`]). What its rows hold is
//! told by [`schema`] and [`run`].

mod checkpoint;
mod head;
mod held;
mod job;
mod lease;
mod log;
mod place;
mod queue;
mod reader;
mod records;
mod run;
mod schema;
mod tail;
mod trouble;
mod work;
mod writer;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::sync::{OnceCell, oneshot};

use self::job::{Given, Job};
use self::log::{Look, SqliteLog};
use self::queue::Queue;
use self::reader::Reader;
use self::tail::Tail;
use self::trouble::Trouble;
use self::writer::{Missing, Ready};
use crate::listing::place_of;
use crate::{Answer, Error, Filter, Head, Journal, Opened, Page, Records};

/// How long the last one who drops a store waits for what was accepted to be written.
const DROP_TIME_MAX: Duration = Duration::from_secs(2);

/// Sessions in a file. Clones share it, and so may other processes.
///
/// Nothing is opened before it is needed, and no file is made before a session is.
///
/// # Durability
///
/// What is [`Durable`](crate::Durability::Durable) is synced to the disk. What is
/// [`Written`](crate::Durability::Written) is committed at once, without a sync; the next sync
/// makes it durable. What is [`Accepted`](crate::Durability::Accepted) is written within 20 ms, or
/// when 128 KiB wait. A crash leaves all records up to some point, never one without those before
/// it.
///
/// # Other processes
///
/// An owner that was taken for dead hears of it with its next append, and within about five seconds
/// without one ([`Log::lost`](crate::Log::lost)). Records that another process writes end a
/// [`wait`](crate::Records::wait) within about 100 ms.
///
/// # Failures
///
/// When the disk is full or fails, nothing is accepted: every call says so, until one succeeds.
/// Records that had been accepted before are kept, and written before anything else.
///
/// [`Journal::close`], or dropping the last clone and the last log, writes what waits. Dropping
/// blocks for up to two seconds for it, closing does not block.
#[derive(Clone)]
pub struct Sqlite(Arc<Inner>);

struct Inner {
    path: PathBuf,
    store: OnceCell<Arc<Store>>,
    is_closed: AtomicBool,
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sqlite").field(&self.0.path).finish()
    }
}

impl Sqlite {
    /// Returns the store in the file `path`, which need not exist yet, and does nothing else.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Inner {
            path: path.into(),
            store: OnceCell::new(),
            is_closed: AtomicBool::new(false),
        }))
    }

    /// Returns the open store, none if there is no file and none is to be made.
    async fn store(&self, missing: Missing) -> Result<Option<Arc<Store>>, Trouble> {
        if self.0.is_closed.load(Ordering::Relaxed) {
            return Err(Trouble::Closed);
        }
        let opening = || async {
            match Store::open(self.0.path.clone(), missing).await {
                Ok(Some(store)) => Ok(store),
                Ok(None) => Err(None),
                Err(trouble) => Err(Some(trouble)),
            }
        };
        match self.0.store.get_or_try_init(opening).await {
            Ok(store) => Ok(Some(Arc::clone(store))),
            Err(None) => Ok(None),
            Err(Some(trouble)) => Err(trouble),
        }
    }
}

/// A store that is open.
#[derive(Debug)]
struct Store {
    queue: Arc<Queue>,
    reader: Reader,
    tail: Arc<Tail>,
}

impl Store {
    async fn open(path: PathBuf, missing: Missing) -> Result<Option<Arc<Self>>, Trouble> {
        // Absolute, so that it is the same file whatever becomes of the working directory, and so
        // that SQLite takes no name for anything but a name.
        let absolute = std::path::absolute(&path);
        let path = absolute.map_err(|error| Trouble::system("finding", &path, &error))?;
        let no_thread = |error: std::io::Error| {
            Trouble::io(error.kind(), format!("a thread cannot be started: {error}"))
        };
        let (reader, reading) = Reader::start(path.clone()).map_err(no_thread)?;
        let queue = Queue::new();
        let (tell, told) = oneshot::channel();
        let tail = Tail::new(path.clone());
        let (writing, waking) = (Arc::clone(&queue), Arc::clone(&tail));
        thread::Builder::new()
            .name("ply-journal".to_owned())
            .spawn(move || writer::run(path, writing, waking, missing, tell, reading))
            .map_err(no_thread)?;
        let mut opening = Opening(Some(queue));
        match told.await.unwrap_or(Err(Trouble::Closed))? {
            Ready::Missing => Ok(None),
            Ready::Yes => {
                let queue = opening.0.take();
                Ok(queue.map(|queue| {
                    Arc::new(Self {
                        queue,
                        reader,
                        tail,
                    })
                }))
            }
        }
    }

    /// Waits until all that was accepted is written.
    async fn flush(&self) -> Result<(), Trouble> {
        self.queue.ask(0, |tell| Job::Flush { tell }).await
    }

    /// The same, for readers to whom it is nothing but a courtesy.
    async fn flush_if_needed(&self) {
        if !self.queue.is_idle() {
            // What cannot be written cannot be read by others either; the rest can.
            drop(self.flush().await);
        }
    }

    async fn close(&self) -> Result<(), Trouble> {
        self.reader.end().await;
        self.queue.close();
        self.queue.ended().await
    }
}

/// Has the writer end if whoever opens the store gives up meanwhile.
struct Opening(Option<Arc<Queue>>);

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(queue) = &self.0 {
            queue.close();
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.queue.close();
        self.queue.wait_settled(DROP_TIME_MAX);
    }
}

impl Journal for Sqlite {
    fn create<'a>(&'a self, head: Head, key: &'a str) -> Answer<'a, Opened> {
        Box::pin(async move {
            let store = self.store(Missing::Make).await?.ok_or(Error::Closed)?;
            let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
            let bytes = head.id.len() + head.cwd.as_os_str().len() + key.len();
            let bytes = bytes + text(&head.title) + text(&head.host);
            let key = key.to_owned();
            let job = |tell| Job::Create { head, key, tell };
            let given = store.queue.ask(bytes, job).await?;
            Ok(opened(given, store))
        })
    }

    fn open<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Opened>> {
        Box::pin(async move {
            let Some(store) = self.store(Missing::Leave).await? else {
                return Ok(None);
            };
            let job = |tell| Job::Open {
                id: id.to_owned(),
                tell,
            };
            let given = store.queue.ask(id.len(), job).await?;
            Ok(given.map(|given| opened(given, store)))
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Records>)>> {
        Box::pin(async move {
            let Some(store) = self.store(Missing::Leave).await? else {
                return Ok(None);
            };
            let found = store.reader.find(id).await?;
            Ok(found.map(|(head, session)| {
                let look: Box<dyn Records> = Box::new(Look::new(session, store));
                (head, look)
            }))
        })
    }

    fn list(&self, filter: Filter) -> Answer<'_, Page> {
        Box::pin(async move {
            if let Some(cursor) = &filter.cursor {
                place_of(cursor)?;
            }
            match self.store(Missing::Leave).await? {
                Some(store) => Ok(store.reader.list(filter).await?),
                None => Ok(Page::default()),
            }
        })
    }

    fn delete<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
        Box::pin(async move {
            let Some(store) = self.store(Missing::Leave).await? else {
                return Ok(false);
            };
            let job = |tell| Job::Delete {
                id: id.to_owned(),
                tell,
            };
            Ok(store.queue.ask(id.len(), job).await?)
        })
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            self.0.is_closed.store(true, Ordering::Relaxed);
            match self.0.store.get() {
                Some(store) => Ok(store.close().await?),
                None => Ok(()),
            }
        })
    }
}

fn opened(given: Given, store: Arc<Store>) -> Opened {
    let log = SqliteLog::new(given.lease, store);
    Opened::new(given.head, given.epoch, given.records, Box::new(log))
}
