//! The lines of the protocol, on their way to standard output.

use std::sync::{Arc, Mutex, PoisonError};

use ply_client::Direction;
use tokio::sync::Notify;

/// Lines that wait for a reader that is slower than the agent. Most of them make events, and those are not
/// taken while much waits; this is for lines that make none.
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The lines that were seen and not yet written.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    lines: Mutex<Lines>,
    more: Notify,
}

#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Wire {
    /// Returns a wire, and what its client is to call for each line.
    pub(crate) fn new() -> (Arc<Self>, impl Fn(Direction, &[u8]) + Send + Sync + 'static) {
        let wire = Arc::new(Self::default());
        let seen = Arc::clone(&wire);
        (wire, move |_, line: &[u8]| seen.add(line))
    }

    fn add(&self, line: &[u8]) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_cut || lines.bytes.len() + line.len() > WAITING_BYTES_MAX {
            lines.is_cut = true;
            return;
        }
        lines.bytes.extend_from_slice(line);
        lines.bytes.push(b'\n');
        self.more.notify_one();
    }

    /// Takes what was seen, and whether there was more than could be kept.
    pub(crate) fn take(&self) -> (Vec<u8>, bool) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut lines.bytes), lines.is_cut)
    }

    /// Waits for a line.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub(crate) async fn more(&self) {
        self.more.notified().await;
    }
}
