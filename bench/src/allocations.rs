//! How much memory the two programs ask for, in the mode that counts it. Otherwise nothing is counted, and a call of the
//! allocator costs one look at a flag.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use ply_sys::Counted;

use crate::Result;

#[global_allocator]
static ALLOCATOR: Counted = Counted::new();

/// Bytes of messages that this program made itself, before it gave them to an SDK.
static OWN: AtomicU64 = AtomicU64::new(0);

/// Where the agent notes how far it is.
static NOTES: OnceLock<PathBuf> = OnceLock::new();

/// Counts from now on. The agent notes its count in this file, from which the client reads it.
pub(crate) fn start(notes: PathBuf) -> Result<()> {
    NOTES.set(notes).map_err(|_| "counting has begun already")?;
    ALLOCATOR.start();
    Ok(())
}

/// Returns what was allocated so far, without the messages that this program made itself.
pub(crate) fn so_far() -> u64 {
    ALLOCATOR
        .bytes()
        .saturating_sub(OWN.load(Ordering::Relaxed))
}

/// Leaves out a message that this program made.
pub(crate) fn own(message: String) -> String {
    if NOTES.get().is_some() {
        OWN.fetch_add(message.capacity() as u64, Ordering::Relaxed);
    }
    message
}

/// Notes the count, in the agent at the start of each turn.
pub(crate) fn note() -> Result<()> {
    let Some(notes) = NOTES.get() else {
        return Ok(());
    };
    let mut file = OpenOptions::new().create(true).append(true).open(notes)?;
    Ok(writeln!(file, "{}", so_far())?)
}

/// Returns the newest count that the agent noted.
pub(crate) fn newest_note() -> Result<u64> {
    let notes: Option<&Path> = NOTES.get().map(PathBuf::as_path);
    let text = std::fs::read_to_string(notes.ok_or("nothing is counted")?)?;
    let newest = text.lines().last().ok_or("the agent noted nothing")?;
    Ok(newest.parse()?)
}
