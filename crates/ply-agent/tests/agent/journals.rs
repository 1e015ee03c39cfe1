//! Journals that are slow, or broken.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ply_journal::{
    Answer, Batch, Bytes, Description, Durability, Error, Filter, Head, Journal, Log, Loss, Memory,
    Opened, Page, Records,
};
use tokio::sync::watch;

/// How often others may run while sessions are listed or one is deleted.
pub(crate) const DISK_YIELDS: usize = 20;

/// A journal whose writes wait until a gate is open, or fail. Clones are the same journal.
#[derive(Debug, Clone)]
pub(crate) struct Gated(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    inner: Memory,
    /// Whether appends answer.
    open: watch::Sender<bool>,
    /// Whether creating and opening a session answers.
    opens: watch::Sender<bool>,
    /// Whether reading answers.
    readable: watch::Sender<bool>,
    /// Whether the journal itself ends.
    closes: watch::Sender<bool>,
    fails: AtomicBool,
    reads_fail: AtomicBool,
    calls: AtomicUsize,
    reads: AtomicUsize,
    /// What waits at a gate: appends as the text they hold, other calls by their name.
    waiting: Mutex<Vec<String>>,
    /// Records that cannot be read any more.
    damaged: Mutex<Vec<u64>>,
}

impl Gated {
    pub(crate) fn open() -> Self {
        Self(Arc::new(Shared {
            inner: Memory::new(),
            open: watch::Sender::new(true),
            opens: watch::Sender::new(true),
            readable: watch::Sender::new(true),
            closes: watch::Sender::new(true),
            fails: AtomicBool::new(false),
            reads_fail: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
            reads: AtomicUsize::new(0),
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

    /// Has sessions be created and opened only once this is set again.
    pub(crate) fn set_opens(&self, opens: bool) {
        self.0.opens.send_replace(opens);
    }

    /// Has records be read only once this is set again.
    pub(crate) fn set_reads(&self, reads: bool) {
        self.0.readable.send_replace(reads);
    }

    /// Has the journal end only once this is set again.
    pub(crate) fn set_closes(&self, closes: bool) {
        self.0.closes.send_replace(closes);
    }

    pub(crate) fn set_fails(&self, fails: bool) {
        self.0.fails.store(fails, Ordering::Relaxed);
    }

    /// Has reading fail though everything else works.
    pub(crate) fn set_reads_fail(&self, fails: bool) {
        self.0.reads_fail.store(fails, Ordering::Relaxed);
    }

    /// Has records unreadable from now on.
    pub(crate) fn damage(&self, records: impl IntoIterator<Item = u64>) {
        self.0.damaged.lock().unwrap().extend(records);
    }

    /// How often it was asked for anything.
    pub(crate) fn calls(&self) -> usize {
        self.0.calls.load(Ordering::Relaxed)
    }

    /// How often records were read.
    pub(crate) fn reads(&self) -> usize {
        self.0.reads.load(Ordering::Relaxed)
    }

    /// Waits until something waits at a gate, and returns what.
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

    /// Waits until the gate is open.
    async fn pass(&self, gate: &watch::Sender<bool>, what: impl IntoIterator<Item = String>) {
        let mut gate = gate.subscribe();
        if !*gate.borrow() {
            self.0.waiting.lock().unwrap().extend(what);
            gate.wait_for(|open| *open).await.unwrap();
            self.0.waiting.lock().unwrap().clear();
        }
    }
}

/// Lets others run, as they do while a disk takes its time.
async fn take_time() {
    for _ in 0..DISK_YIELDS {
        tokio::task::yield_now().await;
    }
}

fn fail_if(fails: &AtomicBool) -> Result<(), Error> {
    match fails.load(Ordering::Relaxed) {
        true => Err(Error::Io(std::io::Error::other("the disk is full"))),
        false => Ok(()),
    }
}

impl Journal for Gated {
    fn create<'a>(&'a self, head: Head, key: &'a str) -> Answer<'a, Opened> {
        self.called();
        Box::pin(async move {
            self.pass(&self.0.opens, ["create".to_owned()]).await;
            self.failure()?;
            Ok(self.gated(self.0.inner.create(head, key).await?))
        })
    }

    fn open<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Opened>> {
        self.called();
        Box::pin(async move {
            self.pass(&self.0.opens, ["open".to_owned()]).await;
            self.failure()?;
            let opened = self.0.inner.open(id).await?;
            Ok(opened.map(|opened| self.gated(opened)))
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<(Head, Box<dyn Records>)>> {
        self.called();
        self.0.inner.look(id)
    }

    fn list(&self, filter: Filter) -> Answer<'_, Page> {
        self.called();
        Box::pin(async move {
            take_time().await;
            self.0.inner.list(filter).await
        })
    }

    fn delete<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
        self.called();
        Box::pin(async move {
            take_time().await;
            self.0.inner.delete(id).await
        })
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            self.pass(&self.0.closes, ["close".to_owned()]).await;
            self.0.inner.close().await
        })
    }
}

impl Gated {
    fn gated(&self, opened: Opened) -> Opened {
        let log = Box::new(GatedLog {
            journal: self.clone(),
            inner: Arc::from(opened.log),
        });
        Opened::new(opened.head, opened.epoch, opened.records, log)
    }
}

#[derive(Debug)]
struct GatedLog {
    journal: Gated,
    inner: Arc<dyn Log>,
}

impl Records for GatedLog {
    fn read(&self, from: u64, bytes_max: usize) -> Answer<'static, Batch> {
        self.journal.0.reads.fetch_add(1, Ordering::Relaxed);
        let damaged = self.journal.0.damaged.lock().unwrap().clone();
        let inner = self.inner.read(from, bytes_max);
        let journal = self.journal.clone();
        Box::pin(async move {
            journal.pass(&journal.0.readable, ["read".to_owned()]).await;
            fail_if(&journal.0.reads_fail)?;
            if damaged.contains(&from) {
                let next = from + 1;
                return Err(Error::Damaged { from, next });
            }
            let mut records = inner.await?.records;
            if let Some(next) = damaged.into_iter().filter(|at| *at > from).min() {
                records.truncate(usize::try_from(next - from).unwrap());
            }
            Ok(Batch::new(from, records))
        })
    }

    fn wait(&self, from: u64) -> Answer<'static, ()> {
        self.inner.wait(from)
    }
}

impl Log for GatedLog {
    fn append_shared(
        &self,
        records: Vec<Bytes>,
        durability: Durability,
        description: Option<Description>,
    ) -> Answer<'static, Durability> {
        self.journal.called();
        let (journal, inner) = (self.journal.clone(), Arc::clone(&self.inner));
        Box::pin(async move {
            journal.failure()?;
            let text = records.iter();
            let text = text.map(|record| String::from_utf8_lossy(record).into_owned());
            journal.pass(&journal.0.open, text).await;
            journal.failure()?;
            inner
                .append_shared(records, durability, description)
                .await?;
            Ok(durability)
        })
    }

    fn lost(&self) -> Loss {
        self.inner.lost()
    }

    fn close(self: Box<Self>) -> Answer<'static, ()> {
        // The session is given back when the last who knows the log lets go of it.
        drop(self);
        Box::pin(std::future::ready(Ok(())))
    }
}
