//! The lines between the hub and one agent's process, numbered in both directions.

use bytes::Bytes;
use tokio::sync::mpsc;

/// How many lines may wait in each direction before the sender waits.
pub const PIPE_LINES_MAX: usize = 256;

/// An agent's process, as whoever speaks to it sees it: behind a holder, or a child of this process.
#[derive(Debug)]
pub struct Pipe {
    /// Where the process stands, if it is older than this connection to it.
    pub hello: Hello,
    /// What comes from the process. Its end without [`FromAgent::Exit`] means that the way to the process is lost, not that the
    /// process ended.
    pub from: mpsc::Receiver<FromAgent>,
    /// What is for the process.
    pub to: mpsc::Sender<ToAgent>,
}

impl Pipe {
    /// Returns a pipe that leads nowhere.
    pub(crate) fn closed() -> Self {
        Self {
            hello: Hello::default(),
            from: mpsc::channel(1).1,
            to: mpsc::channel(1).0,
        }
    }
}

/// Where a process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hello {
    /// The number of the last line that was written to the process; 0 if none was.
    pub last_in: u64,
    /// The number of the first line of the process that has not been acknowledged.
    pub first_out: u64,
    /// The number of the last line that the process has written; 0 if it has written none.
    pub last_out: u64,
}

/// Something that comes from a process.
#[derive(Debug)]
pub enum FromAgent {
    /// A line of its standard output, without the line feed.
    Line {
        /// Its number; the first is 1.
        number: u64,
        /// The line.
        line: Bytes,
    },
    /// Lines up to this one were written to it.
    Wrote {
        /// The number of the last one.
        number: u64,
    },
    /// It ended.
    Exit(Exit),
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exit {
    /// Its exit status.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The last of its standard error.
    pub stderr: String,
    /// The number of the last line that was written to it as a whole; later ones never reached it.
    pub written: u64,
}

/// Something for a process.
#[derive(Debug)]
pub enum ToAgent {
    /// A line for its standard input, without the line feed. One whose number was written before is dropped.
    Line {
        /// Its number; the first is 1.
        number: u64,
        /// The line.
        line: Bytes,
    },
    /// What its lines up to this one mean is journaled; they need not be kept.
    Acknowledge {
        /// The number of the last one.
        upto: u64,
    },
    /// End the process: close its input, then ask it to end, then kill it and its descendants.
    Stop,
}
