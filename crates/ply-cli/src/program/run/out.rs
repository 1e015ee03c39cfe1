//! Standard output, written beside everything else: a reader that is slow or gone stops no signal.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

/// Pieces that wait for the thread that writes.
const PIECES_MAX: usize = 16;
/// Bytes that wait here before no more events are looked at.
const PENDING_BYTES_MAX: usize = 256 * 1024;

enum Job {
    Write(Vec<u8>),
    Flush(oneshot::Sender<()>),
}

/// Standard output. What is pushed is written in order, by a thread of its own.
#[derive(Debug)]
pub(crate) struct Out {
    pending: Vec<u8>,
    sender: mpsc::Sender<Job>,
    failure: Arc<Mutex<Option<io::Error>>>,
    is_over: bool,
}

/// Standard output takes nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Over;

impl Out {
    /// Starts the thread.
    pub(crate) fn start() -> Self {
        let (sender, receiver) = mpsc::channel(PIECES_MAX);
        let failure = Arc::default();
        let told = Arc::clone(&failure);
        std::thread::spawn(move || {
            if let Err(error) = write_all(receiver) {
                *lock(&told) = Some(error);
            }
        });
        Self {
            pending: Vec::new(),
            sender,
            failure,
            is_over: false,
        }
    }

    /// Adds bytes to what is to be written; after the end they are dropped, since nobody reads them.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if !self.is_over {
            self.pending.extend_from_slice(bytes);
        }
    }

    /// Whether so much waits that no more should be made.
    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() >= PENDING_BYTES_MAX
    }

    /// Hands on what waits as soon as there is room; without any it waits for the end of the output.
    ///
    /// # Cancel safety
    ///
    /// What was not handed on still waits.
    pub(crate) async fn pump(&mut self) -> Result<(), Over> {
        if self.is_over {
            return std::future::pending().await;
        }
        if self.pending.is_empty() {
            // What was handed on before may have been the first that nobody reads.
            self.sender.closed().await;
            return Err(self.end());
        }
        if let Ok(place) = self.sender.reserve().await {
            place.send(Job::Write(std::mem::take(&mut self.pending)));
            return Ok(());
        }
        Err(self.end())
    }

    /// Waits until everything was written.
    pub(crate) async fn written(&mut self) -> Result<(), Over> {
        if self.is_over {
            return Err(Over);
        }
        if !self.pending.is_empty() {
            self.pump().await?;
        }
        let (done, waits) = oneshot::channel();
        // What could not be sent is dropped here, or its answer would be waited for in vain.
        let is_sent = self.sender.send(Job::Flush(done)).await.is_ok();
        match is_sent && waits.await.is_ok() {
            true => Ok(()),
            false => Err(self.end()),
        }
    }

    fn end(&mut self) -> Over {
        self.is_over = true;
        self.pending = Vec::new();
        Over
    }

    /// Returns why it is over; none if its reader closed it, as `head` does when it has seen enough.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        let failure = lock(&self.failure).take();
        failure.filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }
}

fn write_all(mut jobs: mpsc::Receiver<Job>) -> io::Result<()> {
    let mut stdout = io::stdout();
    while let Some(job) = jobs.blocking_recv() {
        match job {
            Job::Write(bytes) => {
                stdout.write_all(&bytes)?;
                stdout.flush()?;
            }
            // Whoever asked may be gone.
            Job::Flush(done) => drop(done.send(())),
        }
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
