//! The journal of a session, as its task uses it: one thing at a time, and nothing waits for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ply_journal::{
    Answer, Batch, Description, Durability, Error, ErrorKind, Head, Journal, Log, Loss, Records,
};
use ply_session::{Input, Level, Opened, Opening, Persist, ViewId};
use ply_wire::v2;
use tokio::task::JoinSet;

use crate::clock;

/// Bytes read from a journal at a time to open a session.
const READ_BYTES: usize = 256 * 1024;
/// Bytes read from a journal at a time for a client that is behind.
const PAGE_BYTES: usize = 64 * 1024;
/// How long the end of a session waits for a journal that does not answer.
const RELEASE_TIME_MAX: Duration = Duration::from_secs(5);

/// The journal of one session.
pub(super) struct Store {
    journal: Arc<dyn Journal>,
    head: Head,
    log: Option<Box<dyn Log>>,
    appending: Option<Answer<'static, Durability>>,
    work: Option<Work<Done>>,
    /// What was opened again and could not be read. Opened once more it would look as if another owner had had it.
    unread: Option<ply_journal::Opened>,
    /// Pages for views that are behind.
    reading: JoinSet<Input>,
    lost: Option<Loss>,
}

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What came of something that took its time.
enum Done {
    Opened(Result<(Box<dyn Log>, Opened), Error>),
    Unread(ply_journal::Opened, Error),
    Released(Result<(), Error>),
}

/// What becomes of a session that is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    Archive,
    Delete,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Returns the store of a session that is not in the journal.
    pub(super) fn new(journal: Arc<dyn Journal>, head: Head) -> Self {
        Self {
            journal,
            head,
            log: None,
            appending: None,
            work: None,
            unread: None,
            reading: JoinSet::new(),
            lost: None,
        }
    }

    /// Opens a session that is in the journal and reads it; none if there is no such session.
    pub(super) async fn open(
        journal: Arc<dyn Journal>,
        id: &str,
    ) -> Result<Option<(Self, Opening, Opened)>, Error> {
        let Some(opened) = crate::host::open_stored(&*journal, id).await? else {
            return Ok(None);
        };
        let opening = read_back(&*opened.log).await?;
        let mut store = Self::new(journal, opened.head);
        store.take(opened.log);
        let opened = Opened {
            epoch: opened.epoch,
            records: opened.records,
            tail: Vec::new(),
        };
        Ok(Some((store, opening, opened)))
    }

    pub(super) fn head(&self) -> &Head {
        &self.head
    }

    /// Returns what the journal keeps for the host: what the host said, which is one line, and who runs the turns.
    fn host_with(&self, runner: &str) -> String {
        let kept = self
            .head
            .host
            .as_deref()
            .and_then(|kept| kept.lines().next());
        // Without a host of its own the line is that of a runner.
        match kept.filter(|kept| !kept.starts_with('{')) {
            Some(kept) => format!("{kept}\n{runner}"),
            None => runner.to_owned(),
        }
    }

    fn take(&mut self, log: Box<dyn Log>) {
        self.lost = Some(log.lost());
        self.log = Some(log);
    }

    /// Creates the session in the journal.
    pub(super) fn create(&mut self, title: Option<String>) {
        let (journal, mut head) = (Arc::clone(&self.journal), self.head.clone());
        head.title = title;
        self.work = Some(Box::pin(async move {
            // The id names the creation too, since nobody else knows it.
            let key = head.id.clone();
            match journal.create(head, &key).await {
                Ok(opened) => with_tail(opened, 0).await,
                Err(error) => Done::Opened(Err(error)),
            }
        }));
    }

    /// Opens the session again and reads its records from a number on.
    pub(super) fn reopen(&mut self, from: u64) {
        let (journal, id) = (Arc::clone(&self.journal), self.head.id.clone());
        let (log, unread) = (self.log.take(), self.unread.take());
        (self.appending, self.lost) = (None, None);
        self.work = Some(Box::pin(async move {
            if let Some(opened) = unread {
                return with_tail(opened, from).await;
            }
            if let Some(log) = log
                && let Err(error) = log.close().await
            {
                // The session is not given back, so it cannot be opened either.
                return Done::Opened(Err(error));
            }
            match journal.open(&id).await {
                Ok(Some(opened)) => with_tail(opened, from).await,
                Ok(None) => Done::Opened(Err(Error::Deleted)),
                Err(error) => Done::Opened(Err(error)),
            }
        }));
    }

    /// Appends records.
    pub(super) fn append(&mut self, persist: Persist) {
        let Some(log) = &self.log else {
            return;
        };
        let durability = match persist.level {
            Level::Accepted => Durability::Accepted,
            Level::Written => Durability::Written,
            Level::Durable => Durability::Durable,
        };
        let description = persist.description.map(|change| {
            let mut description = Description::updated(clock::now_ms());
            description.title = change.title;
            description.unfinished = change.unfinished;
            description.host = change.host.map(|runner| Some(self.host_with(&runner)));
            description
        });
        self.appending = Some(log.append_shared(persist.records, durability, description));
    }

    /// Completes when others can read so many records too.
    #[cfg(feature = "unstable_session_fork")]
    pub(super) fn readable(&self, records: u64) -> Answer<'static, Batch> {
        match &self.log {
            // To its owner a store shows everything that it has accepted, and what was read once stays.
            Some(log) => log.read(records.saturating_sub(1), 1),
            None => Box::pin(std::future::ready(Err(Error::Closed))),
        }
    }

    /// Notes that the session is not archived; none if it is not in the journal.
    #[cfg(feature = "unstable_session_archive")]
    pub(super) fn unarchive(&self) -> Option<Answer<'static, Durability>> {
        let description = Description::default().archived(false);
        let log = self.log.as_ref()?;
        Some(log.append(Vec::new(), Durability::Durable, Some(description)))
    }

    /// Archives the session if that is wanted and gives it back, once `first` is done, or deletes it.
    pub(super) fn release(&mut self, first: impl Future<Output = ()> + Send + 'static, then: Then) {
        let (journal, id) = (Arc::clone(&self.journal), self.head.id.clone());
        let unread = self.unread.take().map(|opened| opened.log);
        let log = self.log.take().or(unread);
        (self.appending, self.lost) = (None, None);
        let before = self.work.take();
        self.work = Some(Box::pin(async move {
            first.await;
            let released = async move {
                // A creation or opening that is under way may still have its effect.
                let log = match before {
                    Some(work) => match work.await {
                        Done::Opened(Ok((log, _))) => Some(log),
                        Done::Unread(opened, _) => Some(opened.log),
                        _ => log,
                    },
                    None => log,
                };
                if then == Then::Archive {
                    return archive(&*journal, &id, log).await;
                }
                let closed = match log {
                    Some(log) => log.close().await,
                    None => Ok(()),
                };
                match then {
                    Then::Delete => journal.delete(&id).await.map(drop),
                    Then::Archive | Then::Nothing => closed,
                }
            };
            // It goes on when nobody waits for it any more: what is to be deleted must not come back.
            let released = tokio::time::timeout(RELEASE_TIME_MAX, tokio::spawn(released));
            Done::Released(match released.await {
                Ok(Ok(done)) => done,
                Ok(Err(broken)) => Err(Error::Io(broken.into())),
                Err(_) => Err(Error::Io(std::io::Error::other("it does not answer"))),
            })
        }));
    }

    /// Gives back a session that was opened in vain.
    pub(super) async fn give_back(self) -> Result<(), Error> {
        match self.log {
            Some(log) => log.close().await,
            None => Ok(()),
        }
    }

    /// Reads records for a view that is behind.
    pub(super) fn read(&mut self, view: ViewId, from: u64) {
        let read = self.log.as_ref().map(|log| log.read(from, PAGE_BYTES));
        let (journal, id) = (Arc::clone(&self.journal), self.head.id.clone());
        self.reading.spawn(async move {
            let read = match read {
                Some(read) => read.await,
                None => look(&*journal, &id, from).await,
            };
            let (records, next) = match read {
                Ok(batch) => (batch.records, batch.next),
                Err(Error::Damaged { next, .. }) => (Vec::new(), next),
                Err(error) => {
                    tracing::warn!(%error, "records for a client that is behind cannot be read");
                    (Vec::new(), u64::MAX)
                }
            };
            Input::Page {
                view,
                from,
                records,
                next,
            }
        });
    }

    /// Returns whether the journal has nothing to do for the session.
    pub(super) fn is_still(&self) -> bool {
        self.appending.is_none() && self.work.is_none() && self.reading.is_empty()
    }

    /// Returns whether records are being read.
    pub(super) fn is_reading(&self) -> bool {
        !self.reading.is_empty()
    }

    /// Returns what the journal says next.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Input> {
        if let Some(appending) = &mut self.appending
            && let Poll::Ready(done) = appending.as_mut().poll(cx)
        {
            self.appending = None;
            return Poll::Ready(match done {
                Ok(reached) => Input::Persisted {
                    reached: level(reached),
                },
                Err(error) => failed(&error),
            });
        }
        if let Some(work) = &mut self.work
            && let Poll::Ready(done) = work.as_mut().poll(cx)
        {
            self.work = None;
            return Poll::Ready(match done {
                Done::Opened(Ok((log, opened))) => {
                    self.take(log);
                    Input::Opened(opened)
                }
                Done::Opened(Err(error)) => Input::NotOpened {
                    error: told(&error),
                },
                Done::Unread(opened, error) => {
                    self.unread = Some(opened);
                    Input::NotOpened {
                        error: told(&error),
                    }
                }
                Done::Released(Ok(())) => Input::Released,
                Done::Released(Err(error)) => {
                    tracing::error!(session = %self.head.id, %error, "the end of a session is not safe");
                    Input::NotReleased {
                        error: told(&error),
                    }
                }
            });
        }
        while let Poll::Ready(Some(page)) = self.reading.poll_join_next(cx) {
            match page {
                Ok(page) => return Poll::Ready(page),
                Err(error) => tracing::error!(%error, "reading from the journal broke off"),
            }
        }
        if let Some(lost) = &mut self.lost
            && let Poll::Ready(error) = lost.as_mut().poll(cx)
        {
            self.lost = None;
            return Poll::Ready(Input::Lost {
                error: told(&error),
            });
        }
        Poll::Pending
    }

    /// Returns what the journal says at once.
    pub(super) fn poll_now(&mut self) -> Option<Input> {
        if self.appending.is_none() && self.reading.is_empty() {
            return None;
        }
        let mut cx = Context::from_waker(Waker::noop());
        match self.poll(&mut cx) {
            Poll::Ready(input) => Some(input),
            Poll::Pending => None,
        }
    }
}

/// Archives a session and gives it back.
async fn archive(journal: &dyn Journal, id: &str, log: Option<Box<dyn Log>>) -> Result<(), Error> {
    let archived = Description::default().archived(true);
    if let Some(log) = log {
        // By its owner, so that nobody else can have it in between.
        let written = log.append(Vec::new(), Durability::Durable, Some(archived.clone()));
        let written = written.await;
        let closed = log.close().await;
        match written {
            Ok(_) => return closed,
            Err(error) if matches!(error.kind(), ErrorKind::Taken | ErrorKind::Gone) => {
                return Err(error);
            }
            // A log that failed may take nothing more.
            Err(_) => closed?,
        }
    }
    match crate::host::change(journal, id, Vec::new(), archived).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::Deleted),
        Err(error) => Err(error),
    }
}

async fn look(journal: &dyn Journal, id: &str, from: u64) -> Result<Batch, Error> {
    match journal.look(id).await? {
        Some((_, records)) => records.read(from, PAGE_BYTES).await,
        None => Err(Error::Deleted),
    }
}

/// Reads the records of a session that was opened from a number on.
async fn with_tail(opened: ply_journal::Opened, from: u64) -> Done {
    let mut tail = Vec::new();
    let mut next = from;
    while next < opened.records {
        let batch = match opened.log.read(next, READ_BYTES).await {
            Ok(batch) if batch.records.is_empty() => break,
            Ok(batch) => batch,
            Err(error) => {
                return match error.kind() {
                    ErrorKind::Taken | ErrorKind::Gone => Done::Opened(Err(error)),
                    _ => Done::Unread(opened, error),
                };
            }
        };
        next = batch.next;
        tail.extend(batch.records);
    }
    let as_opened = Opened {
        epoch: opened.epoch,
        records: opened.records,
        tail,
    };
    Done::Opened(Ok((opened.log, as_opened)))
}

fn level(durability: Durability) -> Level {
    match durability {
        Durability::Accepted => Level::Accepted,
        Durability::Written => Level::Written,
        Durability::Durable => Level::Durable,
    }
}

fn failed(error: &Error) -> Input {
    match error.kind() {
        ErrorKind::Taken | ErrorKind::Gone => Input::Lost { error: told(error) },
        kind => Input::NotPersisted {
            error: told(error),
            may_pass: kind == ErrorKind::TryAgain,
        },
    }
}

/// Returns what clients are told about a journal that failed.
pub(super) fn told(error: &Error) -> v2::Error {
    let message = format!(
        "The session cannot go on: {error}. It goes on with the next prompt once that is solved."
    );
    v2::Error::new(v2::ErrorCode::InternalError.into(), message)
}

/// Reads a session, and counts the records that cannot be read. Everything else of it is kept.
pub(crate) async fn read_back<R>(records: &R) -> Result<Opening, Error>
where
    R: Records + ?Sized,
{
    let mut opening = Opening::default();
    let mut from = 0;
    loop {
        match records.read(from, READ_BYTES).await {
            Ok(batch) if batch.records.is_empty() => return Ok(opening),
            Ok(batch) => {
                batch
                    .records
                    .iter()
                    .for_each(|record| opening.record(record));
                from = batch.next;
            }
            // A journal that does not go on would keep us here for ever.
            Err(Error::Damaged { next, .. }) if next > from => {
                opening.missing(next - from);
                from = next;
            }
            Err(error) => return Err(error),
        }
    }
}
