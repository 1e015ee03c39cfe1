//! What happens in terminals of the hub's own, on its way to the session.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use ply_wire::lift::terminal;
use ply_wire::{v1, v2};
use tokio::sync::Notify;

/// Bytes of output that wait to be shown; what comes beyond is left out, and that is shown.
const SCREEN_BYTES_MAX: usize = 256 * 1024;

/// What was not shown yet.
#[derive(Debug, Default)]
pub(super) struct Screen {
    waiting: Mutex<Waiting>,
    came: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    updates: VecDeque<v2::SessionUpdate>,
    bytes: usize,
    /// Whether output is left out just now.
    leaves_out: bool,
}

impl Screen {
    /// Takes something that happened.
    pub(super) fn show(&self, update: v2::SessionUpdate) {
        let mut waiting = self.lock();
        if let v2::SessionUpdate::TerminalOutputChunk(chunk) = &update {
            if waiting.bytes > SCREEN_BYTES_MAX {
                if !std::mem::replace(&mut waiting.leaves_out, true) {
                    let id = v1::TerminalId::new(chunk.terminal_id.0.clone());
                    let words = "\r\n[output came too fast; some is not shown]\r\n";
                    waiting.updates.push_back(terminal::output(&id, words));
                }
                return;
            }
            waiting.bytes += chunk.data.len();
        }
        waiting.updates.push_back(update);
        drop(waiting);
        self.came.notify_one();
    }

    /// Waits for something to show.
    pub(super) async fn came(&self) {
        self.came.notified().await;
    }

    /// Takes what there is to show.
    pub(super) fn take(&self) -> VecDeque<v2::SessionUpdate> {
        let mut waiting = self.lock();
        (waiting.bytes, waiting.leaves_out) = (0, false);
        std::mem::take(&mut waiting.updates)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        // No code that can panic runs under the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
