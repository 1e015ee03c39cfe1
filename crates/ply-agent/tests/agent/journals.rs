//! Journals that are slow, or broken.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ply_journal::{
    Answer, Description, Durability, Error, Filter, Head, Journal, Log, Memory, Page, Records,
};
use tokio::sync::watch;

/// How often others may run while a session is deleted.
const DELETE_YIELDS: usize = 20;

/// A journal whose writes wait until a gate is open, or fail. Clones are the same journal.
#[derive(Debug, Clone)]
pub(crate) struct Gated(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    inner: Memory,
    open: watch::Sender<bool>,
    fails: AtomicBool,
    describe_fails: AtomicBool,
    calls: AtomicUsize,
    /// Writes that wait at the gate, as the text they hold.
    waiting: Mutex<Vec<String>>,
    /// Records that cannot be read any more.
    damaged: Mutex<Vec<u64>>,
}

impl Gated {
    pub(crate) fn open() -> Self {
        Self(Arc::new(Shared {
            inner: Memory::new(),
            open: watch::Sender::new(true),
            fails: AtomicBool::new(false),
            describe_fails: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
            waiting: Mutex::default(),
            damaged: Mutex::default(),
        }))
    }

    pub(crate) fn closed() -> Self {
        let journal = Self::open();
        journal.set_open(false);
        journal
    }

    pub(crate) fn set_open(&self, open: bool) {
        self.0.open.send_replace(open);
    }

    pub(crate) fn set_fails(&self, fails: bool) {
        self.0.fails.store(fails, Ordering::Relaxed);
    }

    /// Has it fail at what listings show, and at nothing else.
    pub(crate) fn set_describe_fails(&self, fails: bool) {
        self.0.describe_fails.store(fails, Ordering::Relaxed);
    }

    /// Has records unreadable from now on.
    pub(crate) fn damage(&self, records: impl IntoIterator<Item = u64>) {
        self.0.damaged.lock().unwrap().extend(records);
    }

    /// How often it was asked for anything.
    pub(crate) fn calls(&self) -> usize {
        self.0.calls.load(Ordering::Relaxed)
    }

    /// Waits until something waits at the gate, and returns what.
    pub(crate) async fn waiting(&self) -> String {
        loop {
            let waiting = self.0.waiting.lock().unwrap().join("\n");
            if !waiting.is_empty() {
                return waiting;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }

    fn called(&self) {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn failure(&self) -> Result<(), Error> {
        fail_if(&self.0.fails)
    }
}

fn fail_if(fails: &AtomicBool) -> Result<(), Error> {
    match fails.load(Ordering::Relaxed) {
        true => Err(Error::Io(std::io::Error::other("the disk is full"))),
        false => Ok(()),
    }
}

impl Journal for Gated {
    fn create(&self, head: Head) -> Answer<'_, Box<dyn Log>> {
        self.called();
        Box::pin(async move {
            self.failure()?;
            let log = self.0.inner.create(head).await?;
            Ok(self.log(log))
        })
    }

    fn open<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Log>)>> {
        self.called();
        Box::pin(async move {
            self.failure()?;
            let opened = self.0.inner.open(id).await?;
            Ok(opened.map(|(head, log)| (head, self.log(log))))
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Records>)>> {
        self.called();
        self.0.inner.look(id)
    }

    fn list(&self, filter: Filter) -> Answer<'_, Page> {
        self.called();
        self.0.inner.list(filter)
    }

    fn delete<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
        self.called();
        Box::pin(async move {
            // A disk takes its time, in which others run.
            for _ in 0..DELETE_YIELDS {
                tokio::task::yield_now().await;
            }
            self.0.inner.delete(id).await
        })
    }
}

impl Gated {
    fn log(&self, inner: Box<dyn Log>) -> Box<dyn Log> {
        Box::new(GatedLog {
            journal: self.clone(),
            inner,
        })
    }
}

#[derive(Debug)]
struct GatedLog {
    journal: Gated,
    inner: Box<dyn Log>,
}

impl Records for GatedLog {
    fn read(&mut self, from: u64, bytes_max: usize) -> Answer<'_, Vec<Vec<u8>>> {
        Box::pin(async move {
            let damaged = self.journal.0.damaged.lock().unwrap().clone();
            if damaged.contains(&from) {
                let next = from + 1;
                return Err(Error::Damaged { from, next });
            }
            let mut page = self.inner.read(from, bytes_max).await?;
            if let Some(next) = damaged.into_iter().filter(|at| *at > from).min() {
                page.truncate(usize::try_from(next - from).unwrap());
            }
            Ok(page)
        })
    }
}

impl Log for GatedLog {
    fn append(&mut self, records: Vec<Vec<u8>>, durability: Durability) -> Answer<'_, ()> {
        self.journal.called();
        Box::pin(async move {
            self.journal.failure()?;
            let mut gate = self.journal.0.open.subscribe();
            if !*gate.borrow() {
                let text = records
                    .iter()
                    .map(|record| String::from_utf8_lossy(record).into_owned());
                self.journal.0.waiting.lock().unwrap().extend(text);
                gate.wait_for(|open| *open).await.unwrap();
                self.journal.0.waiting.lock().unwrap().clear();
                self.journal.failure()?;
            }
            self.inner.append(records, durability).await
        })
    }

    fn describe(&mut self, change: Description) -> Answer<'_, ()> {
        Box::pin(async move {
            fail_if(&self.journal.0.describe_fails)?;
            self.inner.describe(change).await
        })
    }

    fn close(self: Box<Self>) -> Answer<'static, ()> {
        self.inner.close()
    }
}
