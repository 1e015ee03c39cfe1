//! Takes what passed by and writes it down, on a thread of its own.
//!
//! The proxy only leaves copies in a bounded queue. When the disk is slow and the queue is full, the
//! recording loses something and says so; the proxy never waits.

use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ply_check::trace::{Direction, Entry, Event, Exit, Header, Lost, Redactor, Writer};
use tokio::time::Instant;

use super::lines::{Lines, Part};
use crate::program::output;

/// What waits for the disk at most.
const QUEUE_BYTES_MAX: usize = 128 * 1024 * 1024;
/// The same in pieces, which may be small.
const QUEUE_PIECES_MAX: usize = 64 * 1024;
/// The longest line of standard error that is kept whole.
const ERR_LINE_BYTES_MAX: usize = 64 * 1024;
/// How long the end of a recording is waited for.
const FINISH_TIME_MAX: Duration = Duration::from_secs(30);

const QUEUE_FULL: &str = "the disk was too slow";

/// Where a piece comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    ToAgent,
    ToClient,
    Stderr,
}

#[derive(Debug)]
struct Piece {
    t: f64,
    stream: Stream,
    /// Bytes of the stream that were dropped before it.
    gap: u64,
    /// `None` at the end of the stream.
    bytes: Option<Vec<u8>>,
}

/// Takes copies of what passes by.
#[derive(Debug)]
pub(super) struct Recorder {
    begun: Instant,
    queue: Mutex<Option<SyncSender<Piece>>>,
    queued: Arc<AtomicUsize>,
    gaps: Mutex<[u64; 3]>,
    exit: Arc<Mutex<Option<(f64, Exit)>>>,
    done: Mutex<Receiver<Lost>>,
}

impl Recorder {
    /// Starts the thread that writes.
    pub(super) fn start(
        file: File,
        header: &Header,
        redactor: Option<Redactor>,
    ) -> std::io::Result<Self> {
        let (queue, pieces) = sync_channel(QUEUE_PIECES_MAX);
        let (tell, done) = sync_channel(1);
        let queued = Arc::new(AtomicUsize::new(0));
        let exit = Arc::new(Mutex::new(None));
        let writer = Writer::new(file, header, redactor);
        let mut scribe = Scribe::new(writer, Arc::clone(&queued), Arc::clone(&exit));
        std::thread::Builder::new()
            .name("trace".to_owned())
            .spawn(move || {
                let lost = scribe.run(&pieces);
                // Whoever waited may have given up.
                drop(tell.send(lost));
            })?;
        Ok(Self {
            begun: Instant::now(),
            queue: Mutex::new(Some(queue)),
            queued,
            gaps: Mutex::new([0; 3]),
            exit,
            done: Mutex::new(done),
        })
    }

    fn t(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Takes bytes that have passed.
    pub(super) fn bytes(&self, stream: Stream, bytes: &[u8]) {
        self.offer(stream, Some(bytes));
    }

    /// Notes the end of a stream.
    pub(super) fn closed(&self, stream: Stream) {
        self.offer(stream, None);
    }

    fn offer(&self, stream: Stream, bytes: Option<&[u8]>) {
        let mut gaps = self.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        let [to_agent, to_client, stderr] = &mut *gaps;
        let gap = match stream {
            Stream::ToAgent => to_agent,
            Stream::ToClient => to_client,
            Stream::Stderr => stderr,
        };
        let count = bytes.map_or(0, <[u8]>::len);
        let piece = |bytes| Piece {
            t: self.t(),
            stream,
            gap: *gap,
            bytes,
        };
        let has_room = self.queued.load(Ordering::Relaxed) + count <= QUEUE_BYTES_MAX;
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = match &*queue {
            Some(queue) if has_room => {
                self.queued.fetch_add(count, Ordering::Relaxed);
                let sent = queue.try_send(piece(bytes.map(<[u8]>::to_vec))).is_ok();
                if !sent {
                    self.queued.fetch_sub(count, Ordering::Relaxed);
                }
                sent
            }
            _ => false,
        };
        match sent {
            true => *gap = 0,
            false => *gap += u64::try_from(count).unwrap_or(u64::MAX),
        }
    }

    /// Notes how the agent ended, and waits until everything is written, within limits.
    pub(super) fn finish(&self, exit: Exit) {
        let mut end = self.exit.lock().unwrap_or_else(PoisonError::into_inner);
        *end = Some((self.t(), exit));
        drop(end);
        // Without a sender the thread comes to its end.
        drop(
            self.queue
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        match done.recv_timeout(FINISH_TIME_MAX) {
            Ok(lost) if lost.entries > 0 => output::tell(&format!(
                "warning: the trace lacks {} entries, {} bytes: {}",
                lost.entries, lost.bytes, lost.why
            )),
            Ok(_) => {}
            Err(_) => {
                output::tell("warning: the disk is too slow, and the end of the trace is missing")
            }
        }
    }
}

/// Writes what the recorder took.
struct Scribe {
    writer: Writer<File>,
    queued: Arc<AtomicUsize>,
    exit: Arc<Mutex<Option<(f64, Exit)>>>,
    to_agent: Lines,
    to_client: Lines,
    stderr: Lines,
    has_told: bool,
    last_t: f64,
}

impl Scribe {
    fn new(
        writer: Writer<File>,
        queued: Arc<AtomicUsize>,
        exit: Arc<Mutex<Option<(f64, Exit)>>>,
    ) -> Self {
        Self {
            writer,
            queued,
            exit,
            to_agent: Lines::default(),
            to_client: Lines::default(),
            stderr: Lines::new(ERR_LINE_BYTES_MAX),
            has_told: false,
            last_t: 0.0,
        }
    }

    fn run(&mut self, pieces: &Receiver<Piece>) -> Lost {
        loop {
            let piece = match pieces.try_recv() {
                Ok(piece) => piece,
                Err(TryRecvError::Disconnected) => break,
                Err(TryRecvError::Empty) => {
                    // There is time, and somebody may be reading along.
                    let flushed = self.writer.flush();
                    self.note(flushed);
                    match pieces.recv() {
                        Ok(piece) => piece,
                        Err(_) => break,
                    }
                }
            };
            self.last_t = piece.t;
            self.take(piece);
        }
        for stream in [Stream::ToAgent, Stream::ToClient, Stream::Stderr] {
            self.finish(stream, self.last_t);
        }
        let exit = self
            .exit
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some((t, exit)) = exit {
            let written = self.writer.write(&Entry::new(t, Event::Exit(exit)));
            self.note(written);
        }
        let flushed = self.writer.flush();
        self.note(flushed);
        self.writer.lost().clone()
    }

    fn lines(&mut self, stream: Stream) -> &mut Lines {
        match stream {
            Stream::ToAgent => &mut self.to_agent,
            Stream::ToClient => &mut self.to_client,
            Stream::Stderr => &mut self.stderr,
        }
    }

    fn take(&mut self, piece: Piece) {
        let Piece {
            t,
            stream,
            gap,
            bytes,
        } = piece;
        if gap > 0 {
            self.lines(stream).skip(gap, QUEUE_FULL);
        }
        match bytes {
            Some(bytes) => {
                self.queued.fetch_sub(bytes.len(), Ordering::Relaxed);
                let mut parts = Vec::new();
                self.lines(stream).push(&bytes, |part| parts.push(part));
                self.write(t, stream, parts);
            }
            None => {
                self.finish(stream, t);
                let dir = direction(stream);
                if let Some(dir) = dir {
                    let written = self.writer.write(&Entry::new(t, Event::Closed(dir)));
                    self.note(written);
                }
            }
        }
    }

    fn finish(&mut self, stream: Stream, t: f64) {
        let mut parts = Vec::new();
        self.lines(stream).finish(|part| parts.push(part));
        self.write(t, stream, parts);
    }

    fn write(&mut self, t: f64, stream: Stream, parts: Vec<Part>) {
        for part in parts {
            let written = match (part, direction(stream)) {
                (Part::Lost(lost), _) => self.writer.note_lost(t, lost),
                (Part::Line(line), Some(dir)) => self.writer.write(&Entry::line(t, dir, &line)),
                (Part::Line(line), None) => {
                    let text = String::from_utf8_lossy(&line).into_owned();
                    self.writer.write(&Entry::new(t, Event::Stderr(text)))
                }
            };
            self.note(written);
        }
    }

    /// Says once that the recording has trouble. The proxy goes on, and so does the attempt to write.
    fn note(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written
            && !std::mem::replace(&mut self.has_told, true)
        {
            output::tell(&format!(
                "warning: the trace cannot be written: {error}; the agent goes on without"
            ));
        }
    }
}

fn direction(stream: Stream) -> Option<Direction> {
    match stream {
        Stream::ToAgent => Some(Direction::ToAgent),
        Stream::ToClient => Some(Direction::ToClient),
        Stream::Stderr => None,
    }
}
