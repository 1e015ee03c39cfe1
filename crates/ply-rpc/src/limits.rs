//! Every limit of a link, in one place.

use std::time::Duration;

/// Longest line taken in; a longer one is skipped in constant memory.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A line that goes on past this many times the line limit closes the link.
pub const ENDLESS_LINE_FACTOR: u64 = 10;
/// How much of a skipped line is searched for its id.
pub const HEAD_BYTES_MAX: usize = 4 * 1024;
/// Deepest nesting of arrays and objects taken in.
pub const NESTING_MAX: usize = 128;
/// Longest request id echoed; a longer one is refused.
pub const ID_BYTES_MAX: usize = 1024;
/// Bytes waiting to be written before callers and notifiers wait.
pub const OUTBOX_BYTES_MAX: usize = 1024 * 1024;
/// Bytes waiting to be written before the peer's requests are refused; at twice as much the link closes.
///
/// Answers never wait, because they are given from the link's own task, and reading never stops for them, because two peers
/// that both stop reading would wait for each other for ever.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Requests of the peer being served at once; more are refused.
pub const SERVED_REQUESTS_MAX: usize = 4096;
/// After the peer closed its side: how long answers to its requests may still be written. After a write failed: how long what
/// the peer sends may still be read.
pub const DRAIN_TIME_MAX: Duration = Duration::from_secs(5);
/// After we closed our side: how long what is queued may still be written.
pub const CLOSE_TIME_MAX: Duration = Duration::from_secs(5);
/// After a write failed: how long to wait for more input. Input that comes renews it, up to [`DRAIN_TIME_MAX`] in all.
pub const READ_IDLE_TIME_MAX: Duration = Duration::from_millis(100);
/// Deadlines missed in a row before a method counts as not offered by the peer.
pub const DEADLINES_MISSED_MAX: u8 = 3;
/// Error answers to input that is no message; each well-formed message earns one back.
pub const GARBAGE_ANSWERS_MAX: u8 = 10;
/// Noise lines kept for display.
pub const NOISE_LINES_KEPT: usize = 20;
/// Characters kept of one noise line.
pub const NOISE_LINE_CHARS_MAX: usize = 200;
/// Noise before the first message that closes the link: whatever this is, it does not speak the protocol.
pub const NOISE_BYTES_MAX: u64 = 1024 * 1024;
/// Notifications that wait in a [`Postbox`](crate::Postbox); more are dropped.
pub const POSTED_MAX: usize = 256;
/// Bytes of their params; more are dropped, unless nothing else waits.
pub const POSTED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes asked of the transport in one read.
pub(crate) const READ_BYTES: usize = 64 * 1024;
/// Messages handed over before the other tasks of the thread have their turn: about a millisecond's worth.
pub(crate) const BURST_MESSAGES_MAX: usize = 512;
/// Small frames are joined up to this size, so that many of them cost one write.
pub(crate) const SEGMENT_BYTES: usize = 64 * 1024;

/// Limits of one link that a program may want to change.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Longest line taken in. Default [`LINE_BYTES_MAX`].
    pub line_bytes: usize,
    /// Bytes waiting to be written before callers wait. Default [`OUTBOX_BYTES_MAX`].
    pub outbox_bytes: usize,
    /// Bytes waiting before requests are refused. Default [`ANSWER_BYTES_MAX`].
    pub answer_bytes: usize,
    /// Requests of the peer served at once. Default [`SERVED_REQUESTS_MAX`].
    pub served_requests: usize,
    /// Time for last answers after the peer closed its side. Default [`DRAIN_TIME_MAX`].
    pub drain_time: Duration,
    /// Time to write what is queued after we closed our side. Default [`CLOSE_TIME_MAX`].
    pub close_time: Duration,
    /// Noise before the first message that closes the link. Default [`NOISE_BYTES_MAX`].
    pub noise_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: LINE_BYTES_MAX,
            outbox_bytes: OUTBOX_BYTES_MAX,
            answer_bytes: ANSWER_BYTES_MAX,
            served_requests: SERVED_REQUESTS_MAX,
            drain_time: DRAIN_TIME_MAX,
            close_time: CLOSE_TIME_MAX,
            noise_bytes: NOISE_BYTES_MAX,
        }
    }
}
/// While no more calls than this wait, each is written by whoever makes it; more of them are better written together.
pub(crate) const DIRECT_CALLS_MAX: usize = 4;
