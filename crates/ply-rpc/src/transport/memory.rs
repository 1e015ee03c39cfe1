//! Two ends in one process, joined by bounded pipes; for tests and for peers that need no process of their own.
//!
//! Like any transport it carries lines of JSON: what one end writes the other reads, in order, and a full pipe makes the writer
//! wait. Dropping an end closes it for the other.

use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// The reader and the writer of one end.
pub type End = (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>);

/// Returns two joined ends, each direction holding up to `pipe_bytes`.
#[must_use]
pub fn pair(pipe_bytes: usize) -> (End, End) {
    let (here, there) = tokio::io::duplex(pipe_bytes);
    (tokio::io::split(here), tokio::io::split(there))
}
