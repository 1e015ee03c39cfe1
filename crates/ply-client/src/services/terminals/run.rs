//! One command and its process tree, from start to end.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ply_rpc::transport::child::{Child, Grace, Merged};
use ply_wire::v1;
use tokio::io::AsyncReadExt as _;
use tokio::sync::watch;

use super::OnOutput;
use super::output::Output;
use crate::lock::lock;

/// Time for a command to end by itself after SIGTERM; SIGKILL follows.
const TERM_TIME_MAX: Duration = Duration::from_millis(500);
/// Bytes read from a command at a time.
const CHUNK_BYTES: usize = 16 * 1024;
/// What is still read when a command has exited: more than its pipe can hold. What the processes it left behind write after that
/// comes in as it did before.
const REST_BYTES_MAX: usize = 1024 * 1024;

/// What is known of a command.
#[derive(Debug, Default)]
pub(super) struct State {
    /// How it exited. Everything it had written by then is in the output.
    pub(super) exit: Option<v1::TerminalExitStatus>,
    /// Whether it has been ended with everything it had started.
    pub(super) ended: bool,
}

/// The task that owns a command.
pub(super) struct Run {
    pub(super) child: Child,
    pub(super) reader: Reader,
    /// Becomes true, or loses its sender, when the command is to end.
    pub(super) stop: watch::Receiver<bool>,
    pub(super) state: watch::Sender<State>,
}

impl Run {
    /// Runs until it is told to stop, and ends the whole tree then.
    pub(super) async fn run(mut self) {
        let mut has_exited = false;
        loop {
            tokio::select! {
                biased;
                _ = self.stop.wait_for(|stop| *stop) => break,
                status = self.child.wait(), if !has_exited => {
                    has_exited = true;
                    self.reader.read_rest();
                    exited(&self.state, status);
                }
                () = self.reader.read(), if self.reader.is_open => {}
            }
        }
        let Self {
            mut child,
            mut reader,
            state,
            ..
        } = self;
        let mut grace = Grace::default();
        grace.after_close = Duration::ZERO;
        grace.after_term = TERM_TIME_MAX;
        let result = {
            let mut end = std::pin::pin!(child.end(grace));
            loop {
                // A command that is asked to end may have last words, and must not wait for room to write them.
                tokio::select! {
                    biased;
                    result = &mut end => break result,
                    () = reader.read(), if reader.is_open => {}
                }
            }
        };
        reader.read_rest();
        reader.finish();
        let has_ended = result.is_ok();
        exited(&state, result);
        if has_ended {
            state.send_modify(|state| state.ended = true);
        } else {
            // Dropping it tries once more to kill the tree, and reads the process table for it.
            tokio::task::spawn_blocking(move || drop(child));
        }
    }
}

/// Takes in what a command writes.
pub(super) struct Reader {
    id: v1::TerminalId,
    pipe: Merged,
    output: Arc<Mutex<Output>>,
    on_output: Option<OnOutput>,
    buf: Vec<u8>,
    is_open: bool,
}

impl Reader {
    pub(super) fn new(
        id: v1::TerminalId,
        pipe: Merged,
        output: Arc<Mutex<Output>>,
        on_output: Option<OnOutput>,
    ) -> Self {
        Self {
            id,
            pipe,
            output,
            on_output,
            buf: vec![0; CHUNK_BYTES],
            is_open: true,
        }
    }

    /// Waits for the next piece and takes it. Nothing is lost when it is dropped.
    async fn read(&mut self) {
        let read = self.pipe.read(&mut self.buf).await;
        self.take(read.unwrap_or(0));
    }

    /// Takes what lies in the pipe already.
    fn read_rest(&mut self) {
        let mut bytes = 0;
        while self.is_open && bytes < REST_BYTES_MAX {
            // The system is asked, and not the runtime, which may not have heard yet that there is something to read.
            match rustix::io::read(&self.pipe, &mut *self.buf) {
                Ok(read) => {
                    bytes += read;
                    self.take(read);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Takes the first `bytes` of the buffer; none are the end.
    fn take(&mut self, bytes: usize) {
        if bytes == 0 {
            return self.finish();
        }
        let fresh = self.buf.get(..bytes).unwrap_or_default();
        let mut output = lock(&self.output);
        let text = output.push(fresh);
        drop(output);
        self.show(&text);
    }

    fn finish(&mut self) {
        self.is_open = false;
        let mut output = lock(&self.output);
        let rest = output.finish();
        drop(output);
        self.show(rest);
    }

    fn show(&mut self, text: &str) {
        let Some(on_output) = self.on_output.as_ref().filter(|_| !text.is_empty()) else {
            return;
        };
        let call = std::panic::AssertUnwindSafe(|| on_output(&self.id, text));
        if std::panic::catch_unwind(call).is_err() {
            // The command must not be ended for a fault of ours.
            tracing::error!("the receiver of a terminal's output panicked and is not called again");
            self.on_output = None;
        }
    }
}

fn exited(state: &watch::Sender<State>, status: std::io::Result<ExitStatus>) {
    match status {
        Ok(status) => state.send_modify(|state| {
            state.exit.get_or_insert_with(|| told(status));
        }),
        Err(error) => tracing::warn!(%error, "a command could not be ended"),
    }
}

/// Returns an exit status in the words of the protocol.
fn told(status: ExitStatus) -> v1::TerminalExitStatus {
    let code = status.code().and_then(|code| u32::try_from(code).ok());
    v1::TerminalExitStatus::new()
        .exit_code(code)
        .signal(status.signal().map(signal_name))
}

fn signal_name(signal: i32) -> String {
    /// The signals that end a process by default, by number.
    const NAMES: [(i32, &str); 20] = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (5, "SIGTRAP"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (10, "SIGUSR1"),
        (11, "SIGSEGV"),
        (12, "SIGUSR2"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
        (24, "SIGXCPU"),
        (25, "SIGXFSZ"),
        (26, "SIGVTALRM"),
        (29, "SIGIO"),
        (31, "SIGSYS"),
    ];
    let named = NAMES.iter().find(|(number, _)| *number == signal);
    named.map_or_else(
        || format!("signal {signal}"),
        |(_, name)| (*name).to_owned(),
    )
}
