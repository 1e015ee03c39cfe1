//! The agent's standard error, passed on to ours.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Pieces of at most 16 KiB that wait for whoever reads our standard error.
const PIECES_MAX: usize = 256;
/// How long the last words wait for a reader.
const FINISH_TIME_MAX: Duration = Duration::from_secs(2);

/// Passes standard error on from a thread of its own: a reader that stopped reading it must not stop
/// the messages. What does not fit is left out here; the recording has it.
pub(super) struct ShownStderr {
    done: Receiver<()>,
}

impl ShownStderr {
    /// Starts the thread, and returns where pieces go.
    pub(super) fn start() -> std::io::Result<(Self, SyncSender<Vec<u8>>)> {
        let (queue, pieces) = sync_channel::<Vec<u8>>(PIECES_MAX);
        let (tell, done) = sync_channel(1);
        std::thread::Builder::new()
            .name("stderr".to_owned())
            .spawn(move || {
                for piece in pieces {
                    // Nobody has to read it.
                    drop(std::io::stderr().write_all(&piece));
                }
                tell.send(()).ok();
            })?;
        Ok((Self { done }, queue))
    }

    /// Waits until everything was passed on, within limits; the sender must be gone.
    pub(super) fn finish(&self) {
        // If it takes longer, nobody reads.
        self.done.recv_timeout(FINISH_TIME_MAX).ok();
    }
}
