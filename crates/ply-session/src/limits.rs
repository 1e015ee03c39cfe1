//! Every limit of a session's core, in one place.

use std::time::Duration;

/// Prompts that may be queued; more are refused.
pub const PROMPTS_QUEUED_MAX: usize = 256;
/// Bytes of queued prompts; more are refused, but one may be as large as a message can be.
pub const PROMPTS_QUEUED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Questions that may wait for an answer at once; more are answered as unanswered.
pub const ASKS_OPEN_MAX: usize = 256;
/// How long a cancelled turn may take to end before it is ended without its code.
pub const CANCEL_TIME_MAX: Duration = Duration::from_secs(2);
/// How long the author's code may take to change an option before later requests go on without it.
pub const OPTION_TIME_MAX: Duration = Duration::from_secs(30);
/// How long closing waits for a journal that does not answer.
pub const CLOSE_TIME_MAX: Duration = Duration::from_secs(5);
/// How often streamed tool output is sent to clients that get it only as a whole.
pub const FLUSH_EVERY: Duration = Duration::from_millis(100);
/// How long after a passing failure an append is tried again, and for how long.
pub const RETRY_EVERY: Duration = Duration::from_millis(200);
/// How long appends are tried again before the journal counts as failed.
pub const RETRY_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of the newest records that are kept for views that are behind; older ones are read from the journal.
pub const WINDOW_BYTES_MAX: usize = 1024 * 1024;
/// Newest records that are kept however large they are: a client that keeps up has not had the time to read them.
pub const WINDOW_RECORDS_MIN: usize = 4;
/// Bytes that every attached view may be behind before the author's code waits.
pub const PACE_BYTES_MAX: usize = 32 * 1024;
/// Bytes that the journal may be behind before the author's code waits.
pub const UNWRITTEN_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes after which records that need not be safe are written all the same.
pub const WRITE_BYTES: usize = 1024 * 1024;
/// Bytes of records that a session in which nothing was said keeps in memory before it is created in the journal.
pub const UNCREATED_BYTES_MAX: usize = 64 * 1024;
/// Bytes of text that are joined to one record.
pub const RECORD_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Bytes of texts of edited files that are kept in memory.
pub const EDITS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Requests of clients that may wait until the session can serve them; more are refused. Prompts among them are bounded in bytes
/// as queued ones are.
pub const WAITING_MAX: usize = 1024;
/// Keys of prompts that are remembered, so that a prompt sent twice is carried out once.
pub const OPERATIONS_MAX: usize = 1000;
/// Longest title that a client can give a session; the rest of a longer one is cut off.
pub const TITLE_CHARS_MAX: usize = 256;
/// Longest key of a prompt; one with a longer key is refused.
pub const OPERATION_KEY_BYTES_MAX: usize = 1024;

/// How much of a session may be in memory before something waits or is read from the journal. The default is what the
/// constants of this module say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// See [`WINDOW_BYTES_MAX`].
    pub window_bytes: usize,
    /// See [`WINDOW_RECORDS_MIN`].
    pub window_records: usize,
    /// See [`PACE_BYTES_MAX`].
    pub pace_bytes: usize,
    /// See [`UNWRITTEN_BYTES_MAX`].
    pub unwritten_bytes: usize,
    /// See [`WRITE_BYTES`].
    pub write_bytes: usize,
    /// See [`UNCREATED_BYTES_MAX`].
    pub uncreated_bytes: usize,
    /// See [`RECORD_TEXT_BYTES_MAX`].
    pub record_text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            window_bytes: WINDOW_BYTES_MAX,
            window_records: WINDOW_RECORDS_MIN,
            pace_bytes: PACE_BYTES_MAX,
            unwritten_bytes: UNWRITTEN_BYTES_MAX,
            write_bytes: WRITE_BYTES,
            uncreated_bytes: UNCREATED_BYTES_MAX,
            record_text_bytes: RECORD_TEXT_BYTES_MAX,
        }
    }
}
