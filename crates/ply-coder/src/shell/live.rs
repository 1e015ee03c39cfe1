//! Output on the call's card while the command runs: a few updates a second, and not without end.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use super::clean::complete_utf8;
use super::{Exit, LIVE_BYTES_MAX};
use crate::tool::Surface;

/// The least time between two updates, which makes twenty a second.
const UPDATE_TIME_MIN: Duration = Duration::from_millis(50);
/// How long the client has to take the last of it; a client that reads nothing holds nobody up.
const FLUSH_TIME_MAX: Duration = Duration::from_millis(500);

/// What waits to be shown. Never more than [`LIVE_BYTES_MAX`] and a note.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// How much was taken in so far.
    taken: usize,
    full: bool,
    end: Option<Exit>,
}

/// Output on its way to the client.
#[derive(Debug, Default)]
pub(super) struct Live {
    waiting: Mutex<Waiting>,
    more: Notify,
    ended: Notify,
}

impl Live {
    /// Takes output in. Beyond the limit it is dropped, and the card says so.
    pub(super) fn push(&self, bytes: &[u8]) {
        self.change(|waiting| {
            let room = LIVE_BYTES_MAX - waiting.taken;
            let fits = bytes.get(..room.min(bytes.len())).unwrap_or_default();
            waiting.taken += fits.len();
            waiting.bytes.extend_from_slice(fits);
            if fits.len() < bytes.len() && !waiting.full {
                waiting.full = true;
                let note = b"\r\n[more output is not shown here]\r\n";
                waiting.bytes.extend_from_slice(note);
            }
        });
    }

    /// Says that the command ended.
    pub(super) fn end(&self, exit: Exit) {
        self.change(|waiting| waiting.end = Some(exit));
        self.ended.notify_one();
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.more.notify_one();
    }

    /// Shows everything until the end was shown, or the client does not take it.
    pub(super) async fn show(&self, surface: &dyn Surface, command: &str, cwd: &Path) {
        let late = async {
            self.ended.notified().await;
            sleep(FLUSH_TIME_MAX).await;
        };
        tokio::select! {
            () = self.pump(surface, command, cwd) => {}
            () = late => tracing::debug!("the client does not take the output of a command"),
        }
    }

    async fn pump(&self, surface: &dyn Surface, command: &str, cwd: &Path) {
        surface.open_terminal(command, cwd).await;
        loop {
            self.more.notified().await;
            let (bytes, end) = self.take();
            if !bytes.is_empty() {
                surface.terminal_output(&bytes).await;
            }
            if let Some(exit) = end {
                let signal = exit.signal_name();
                return surface.close_terminal(exit.code(), signal.as_deref()).await;
            }
            self.pause(Instant::now() + UPDATE_TIME_MIN).await;
        }
    }

    /// Lets output gather, unless the command ends.
    async fn pause(&self, until: Instant) {
        let gather = sleep_until(until);
        tokio::pin!(gather);
        let mut news = false;
        while !(news && self.has_ended()) {
            tokio::select! {
                () = &mut gather => break,
                () = self.more.notified() => news = true,
            }
        }
        if news {
            self.more.notify_one();
        }
    }

    fn has_ended(&self) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.end.is_some()
    }

    /// Takes what can be shown: all but the beginning of a character whose rest is to come.
    fn take(&self) -> (Vec<u8>, Option<Exit>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let complete = match waiting.end {
            Some(_) => waiting.bytes.len(),
            None => complete_utf8(&waiting.bytes),
        };
        let rest = waiting.bytes.split_off(complete);
        (std::mem::replace(&mut waiting.bytes, rest), waiting.end)
    }
}
